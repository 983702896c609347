"""The ten setups of Johansson et al. (forests, 2019) on one data set: their Tables 1, 2, 4 and 6 as one picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.calibrators import label_of
from calib.figures.axes import padded
from calib.figures.base import FigureEntry, Record
from calib.figures.metrics import starred
from calib.figures.panels import panels, set_axes
from calib.figures.theme import LIGHT, Theme, error_bars, rgba
from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.wording import brief, listed, number, some_of
from calib.metrics import METRICS

SETUP_PANELS = (
    ("brier", "Brier score", "left is better"),
    ("accuracy_gap", "Estimate − accuracy", "right of 0: overconfident"),
    ("reliability", "Reliability (100 bins)", "left is better"),
    ("accuracy", "Accuracy and interval", "of the predicted label"),
)
RAW = "“Raw” is the uncalibrated model. "
THICK = " Thick bars show the mean interval for the predicted label, which should include the accuracy."
PANEL_HEIGHT = 340  # height in pixels of a single panel
PAIR = 1  # distance of the two placements of a method; methods are 2 apart, for large names


@dataclass(frozen=True, eq=False)
class Setups(Record):
    """The table of ``setup_table``, the words around it, and the ``metrics`` of the panels.

    ``sure`` states how clear the lowest Brier score is.
    """

    table: pd.DataFrame
    sure: str
    metrics: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per setup."""
        return self.table.rename_axis("setup").reset_index()


def prepare(table: pd.DataFrame, few: bool = False, metric: str | None = None) -> Setups:
    """Prepare the picture of a table of setups.

    Parameters
    ----------
    table : DataFrame
        The result of ``setup_table``.
    few
        Whether the rows are too few to name a winner.
    metric
        Metric of the only panel; None: all four panels.

    Raises
    ------
    InputError
        If the table is empty, or no panel shows this metric.
    """
    if table.empty:
        raise InputError("No setup can be built for these data. Choose another model.")
    names = [name for name, _, _ in SETUP_PANELS]
    summary = "; ".join(
        f"{name} Brier {number(row.brier)}, reliability {number(row.reliability)}, accuracy {number(row.accuracy)}"
        for name, row in table.iterrows()
    )
    return Setups(
        table,
        title="Too few rows to compare the setups" if few else _finding(table),
        caption=RAW
        * ("Raw-cal" in table.index)
        + "Hollow marks show setups with held-out calibration rows (-cal), filled marks setups with "
        "out-of-bag rows (-oob). Bars are 95 % intervals for these test rows, treating clusters as "
        "independent. All setups share these rows, so differences are more certain than the bars "
        "suggest. Reliability alone can be misleading: bins with few rows inflate reliability, so methods "
        "with many different probabilities look worse than they "
        "are." + THICK * (metric in (None, "accuracy")),
        alt=f"Ten setups. {summary}.",
        sure="" if few else _how_sure(table),
        metrics=tuple(names) if metric is None else (checks.one_of(metric, names, "metric"),),
    )


def _finding(table: pd.DataFrame) -> str:
    """State whether out of bag is clearly more accurate, and name the setup with the lowest Brier score, in one line.

    Reliability is left out: its 100 bins with few rows add chance, less so for methods with few distinct
    probabilities.
    """
    lowest = table.index[METRICS["brier"].best(table["brier"])].tolist()
    has = "has" if len(lowest) == 1 else "have"
    least = f"{listed(lowest, 2)} {has} the lowest Brier score ({brief(table.brier[lowest[0]])})"
    gained = table.dropna(subset=["accuracy_gained_low"])
    if gained.empty:
        return least
    more, less = (gained["accuracy_gained_low"] > 0).sum(), (gained["accuracy_gained_high"] < 0).sum()
    text = f"Out of bag is clearly more accurate with {some_of(int(more), len(gained), 'method')}"
    text += f", less with {less:,}" if less else ""
    return f"{text}; {least}"


def _how_sure(table: pd.DataFrame) -> str:
    """State how many setups have a clearly higher Brier score than the lowest."""
    others = len(table) - 1
    if not others or table["brier_above_lowest_low"].isna().all():
        return ""
    higher = int((table["brier_above_lowest_low"] > 0).sum())
    verb = "has" if higher < 2 else "have"
    return (
        f"Adjusted for the comparison of all {len(table)} setups, {some_of(higher, others, 'other')} {verb} "
        "a clearly higher Brier score."
    )


def draw(record: Setups, theme: Theme = LIGHT) -> go.Figure:
    """Draw panels with the same lines, one per setup in the paper's order."""
    table, shown = record.table, [one for one in SETUP_PANELS if one[0] in record.metrics]
    order = {key: i for i, key in enumerate(dict.fromkeys(table["calibrator"]))}
    y = np.array([2 * order[row.calibrator] + PAIR * (row.placement == "oob") for row in table.itertuples()])
    figure = panels(
        theme,
        [(title, note) for _, title, note in shown],
        min(2, len(shown)),
        height=260 if shown[1:] else PANEL_HEIGHT,
        between=34,
        xaxis={"nticks": 4, "tickangle": 0},
        yaxis={
            "range": [y.max() + 0.6, -0.6],
            "tickvals": y.tolist(),
            "ticktext": list(table.index),
            "ticks": "",
            "showgrid": False,
        },
        showlegend=False,
        uirevision="setups",
    )
    figure.update_layout(margin={"l": 76, "b": 40})
    for i, (metric, _, _) in enumerate(shown):
        place_x, place_y = set_axes(figure, i, x={"showticklabels": True, "range": _limits(table, metric)})
        if metric == "accuracy_gap":
            figure.add_vline(x=0, line={"color": theme.diagonal, "width": 1}, row=None, col=None)
        if metric == "accuracy":
            figure.add_traces([t.update(xaxis=place_x, yaxis=place_y) for t in _intervals(table, y, theme)])
        figure.add_traces([t.update(xaxis=place_x, yaxis=place_y) for t in _marks(table, metric, y, theme)])
    return figure


def _limits(table: pd.DataFrame, metric: str) -> list[float]:
    ends = [f"{metric}_low", f"{metric}_high", *(["low", "high"] if metric == "accuracy" else [])]
    values = table[[metric, *(end for end in ends if end in table)]].to_numpy(dtype=float)
    return padded(np.append(values, 0.0) if metric in ("accuracy_gap", "reliability") else values)


def _marks(table: pd.DataFrame, metric: str, y: np.ndarray, theme: Theme) -> list[go.Scatter]:
    """Return one mark per setup: the calibrator's, hollow for a held-out share."""
    traces = []
    for (name, row), place in zip(table.iterrows(), y, strict=True):
        mark, hollow = theme.mark(row.calibrator), row.placement == "split"
        ends = [row.get(f"{metric}_{end}", np.nan) for end in ("low", "high")]
        interval = "" if np.isnan(row["low"]) else f"<br>interval [{row['low']:.4f}, {row['high']:.4f}]"
        traces.append(
            go.Scatter(
                x=[row[metric]],
                y=[place],
                mode="markers",
                name=str(name),
                error_x=None
                if np.isnan(ends[0])
                else error_bars(row[metric], ends[0], ends[1], rgba(mark.color, 0.7), 1.2, 3),
                marker={
                    "symbol": f"{mark.symbol}-open" if hollow else mark.symbol,
                    "size": 10 if hollow else 12,
                    "color": mark.color,
                    "line": {"color": mark.color if hollow else theme.paper, "width": 2 if hollow else 0.8},
                },
                hovertemplate=f"{name} ({label_of(row.calibrator)})<br>{METRICS[metric].label} %{{x:.4f}}"
                + (interval if metric == "accuracy" else "")
                + "<extra></extra>",
            )
        )
    return traces


def _intervals(table: pd.DataFrame, y: np.ndarray, theme: Theme) -> list[go.Scatter]:
    """Return lines from mean low to mean high of the predicted label, for setups with intervals."""
    return [
        go.Scatter(
            x=[row["low"], row["high"]],
            y=[place, place],
            mode="lines",
            line={"color": rgba(theme.mark(row.calibrator).color, 0.35), "width": 11},
            hoverinfo="skip",
        )
        for (_, row), place in zip(table.iterrows(), y, strict=True)
        if not np.isnan(row["low"])
    ]


def formatted_setups(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table for readers; the best of each column has a star.

    Parameters
    ----------
    table : DataFrame
        The result of ``setup_table``.
    """
    shown = pd.DataFrame(index=pd.Index(table.index, name="Setup"))
    shown["Estimate − accuracy"] = starred(METRICS["accuracy_gap"], table["accuracy_gap"], _signed_percent)
    shown["Reliability (100 bins)"] = starred(METRICS["reliability"], table["reliability"])
    shown["Brier score"] = starred(METRICS["brier"], table["brier"])
    shown["Interval of the label"] = [
        "–" if np.isnan(row["low"]) else f"[{number(row['low'])}, {number(row['high'])}]"
        for _, row in table.iterrows()
    ]
    shown["Size"] = starred(METRICS["width"], table["size"])
    shown["Accuracy"] = starred(METRICS["accuracy"], table["accuracy"], _percent)
    shown["Accuracy in interval"] = [
        "–" if np.isnan(row["low"]) else ("yes" if row["valid"] else "no") for _, row in table.iterrows()
    ]
    return shown


def _percent(value: float, digits: int) -> str:
    return f"{number(100 * value, digits)} %"


def _signed_percent(value: float, digits: int) -> str:
    """Format a difference with one decimal by default, so that the values of a column have the same decimals."""
    return f"{100 * value:+.{digits - 2}f} %".replace("-", "−")


SETUPS = FigureEntry("setups", "Ten setups", prepare, draw)

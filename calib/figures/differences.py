"""Every calibrator's difference to the uncalibrated model, metric by metric, with its interval, and its splits if any.

A lane a calibrator, an axis of its own a metric; left of the line or right of it is better as the axis says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.differences import Differences
from calib.analysis.differences import differences as bootstrapped
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, itself
from calib.figures.theme import LIGHT, MARKS, Theme, layout, rgba
from calib.kernel.wording import change, listed, number
from calib.metrics import METRICS

LANE, HEAD = 26, 64  # pixels


@dataclass(frozen=True, eq=False)
class DifferenceLanes:
    """The differences drawn, and the words around them."""

    differences: Differences
    title: str
    caption: str
    alt: str

    def to_frame(self) -> pd.DataFrame:
        """One row a metric and calibrator; with splits also one row each."""
        found = self.differences
        table = found.table.assign(kind="interval")
        return (
            table
            if found.runs is None
            else pd.concat([table, found.runs.assign(kind="split")], ignore_index=True)
        )


def prepare(source: Differences | Evaluation, calibrators: Sequence[str] | None = None) -> DifferenceLanes:
    """Lanes of these calibrators, all by default; an Evaluation's differences are those of its test rows."""
    differences = bootstrapped(source) if isinstance(source, Evaluation) else source
    table = differences.table
    if calibrators is not None:
        table = table[table["calibrator"].isin(list(calibrators))]
    shown = Differences(table, differences.reference, differences.basis, differences.runs)
    sure = [(row.metric, row.calibrator) for row in table.itertuples() if row.lower > 0 or row.upper < 0]
    brier = table[table["metric"] == "brier"]
    listed = "; ".join(
        f"{label_of(row.calibrator)} {interval_text(row)}" for row in brier.itertuples(index=False)
    )
    dots = (
        ""
        if differences.runs is None
        else " Small dots: single splits; the wider they spread, the less a single split can tell."
    )
    return DifferenceLanes(
        shown,
        _finding(shown),
        f"Difference to {label_of(differences.reference)}, with its 95% interval from {differences.basis}. An "
        f"interval that holds 0 may be sampling variability alone.{dots}",
        f"Differences to {label_of(differences.reference)} in {table['metric'].nunique()} metrics, {len(sure)} of "
        f"{len(table)} beyond sampling variability. Brier score: {listed or 'none'}.",
    )


def _finding(found: Differences) -> str:
    """Which calibrators lower the Brier score beyond sampling variability."""
    brier = found.table[found.table["metric"] == "brier"]
    against = "uncalibrated" if found.reference == "none" else label_of(found.reference)
    beyond = "beyond sampling variability" + ("" if found.runs is None else " of the split")
    if brier.empty:
        return f"There is nothing to set against {against}"
    better = [label_of(str(key)) for key in brier["calibrator"][brier["upper"] < 0]]
    if len(better) == len(brier) > 1:
        return f"All {len(brier)} calibrators lower the Brier score of {against} {beyond}"
    if better:
        lower = "lower" if len(better) > 1 else "lowers"
        rest = "" if len(better) == len(brier) else "; the others do not"
        return f"{listed(better)} {lower} the Brier score of {against} {beyond}{rest}"
    if (brier["lower"] > 0).all():
        raised = (
            "Each calibrator raises"
            if len(brier) > 1
            else f"{label_of(str(brier['calibrator'].iloc[0]))} raises"
        )
        return f"{raised} the Brier score of {against} {beyond}"
    return f"No calibrator lowers the Brier score of {against} {beyond}"


def draw(record: DifferenceLanes, theme: Theme = LIGHT) -> go.Figure:
    """One panel a metric, stacked, each on its own scale with 0 marked."""
    found = record.differences
    metrics, keys = list(dict.fromkeys(found.table["metric"])), list(dict.fromkeys(found.table["calibrator"]))
    panel = LANE * max(len(keys), 1) + HEAD
    height = panel * max(len(metrics), 1)
    margin = {"l": 56, "r": 12, "t": 24, "b": 12}
    figure = go.Figure(layout=layout(theme, height=height, showlegend=False, margin=margin))
    for i, metric in enumerate(metrics):
        _axes(figure, i, found, metric, keys, height, panel, theme)
        _lanes(figure, i, found, metric, keys, theme)
    return figure


def _axis_names(i: int) -> tuple[str, str]:
    return ("x", "y") if i == 0 else (f"x{i + 1}", f"y{i + 1}")


def _range(found: Differences, metric: str) -> list[float]:
    """All that is drawn of a metric, and 0, with some room."""
    lines = found.table[found.table["metric"] == metric]
    ends = lines[["value", "lower", "upper"]].to_numpy().ravel()
    if found.runs is not None:
        ends = np.append(ends, found.runs["value"][found.runs["metric"] == metric])
    known = np.append(ends[np.isfinite(ends)], 0.0)
    room = 0.06 * (np.ptp(known) or 1.0)
    return [float(known.min() - room), float(known.max() + room)]


def _axes(
    figure: go.Figure,
    i: int,
    found: Differences,
    metric: str,
    keys: list[str],
    height: int,
    panel: int,
    theme: Theme,
) -> None:
    """The axes of panel i from the top, a lane a calibrator; its name says which side is better."""
    x, y = _axis_names(i)
    top = 1 - i * panel / height
    known = METRICS[metric]
    better = None if known.higher_is_better is None else "right" if known.higher_is_better else "left"
    figure.layout[x.replace("x", "xaxis")] = {
        "anchor": y,
        "range": _range(found, metric),
        "nticks": 5,
    }
    figure.layout[y.replace("y", "yaxis")] = {
        "anchor": x,
        "domain": [max(top - (panel - HEAD) / height, 0), top],
        "range": [len(keys) - 0.4, -0.6],
        "tickvals": list(range(len(keys))),
        "ticktext": [label_of(key) for key in keys],
        "showgrid": False,
        "ticks": "",
        "automargin": True,
    }
    figure.add_annotation(
        text=f"<b>{known.label}</b>: {f'better to the {better}' if better else 'difference'}",
        x=0, xref="paper", xanchor="left", y=top, yref="paper", yanchor="bottom", showarrow=False,
    )  # fmt: skip
    figure.add_shape(
        type="line",
        xref=x,
        yref=f"{y} domain",
        x0=0,
        x1=0,
        y0=0,
        y1=1,
        line={"color": theme.diagonal, "width": 1},
    )


def _lanes(figure: go.Figure, i: int, found: Differences, metric: str, keys: list[str], theme: Theme) -> None:
    x, y = _axis_names(i)
    for lane, key in enumerate(keys):
        mark = MARKS[key]
        row = found.table[(found.table["metric"] == metric) & (found.table["calibrator"] == key)].iloc[0]
        if found.runs is not None:
            runs = found.runs[(found.runs["metric"] == metric) & (found.runs["calibrator"] == key)]
            known = runs["value"].to_numpy(dtype=float)
            spread = (np.arange(len(known)) % 5 - 2) * 0.09
            figure.add_scatter(
                x=np.where(np.isfinite(known), known, np.nan),
                y=lane + spread,
                xaxis=x,
                yaxis=y,
                mode="markers",
                customdata=runs["seed"],
                hovertemplate="split with seed %{customdata}: %{x:.3g}<extra></extra>",
                marker={"color": rgba(mark.color, 0.45), "symbol": mark.symbol, "size": 6},
            )
        if not np.isfinite(row.value):
            low, high = _range(found, metric)
            right = abs(low) < high  # room beside the line
            figure.add_annotation(
                x=0, y=lane, xref=x, yref=y, text=_unknown(row, found), showarrow=False,
                xanchor="left" if right else "right", xshift=8 if right else -8,
                font={"color": theme.muted, "size": 12},
            )  # fmt: skip
            continue
        ends = [end if np.isfinite(end) else row.value for end in (row.lower, row.upper)]
        figure.add_scatter(
            x=[row.value],
            y=[lane],
            xaxis=x,
            yaxis=y,
            mode="markers",
            name=label_of(key),
            marker={
                "color": mark.color,
                "symbol": mark.symbol,
                "size": 11,
                "line": {"color": theme.paper, "width": 1},
            },
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [ends[1] - row.value],
                "arrayminus": [row.value - ends[0]],
                "color": mark.color,
                "thickness": 3,
                "width": 0,
            },
            hovertemplate=f"{label_of(key)}: {interval_text(row)}<extra></extra>",
        )


def _unknown(row: Any, found: Differences) -> str:
    """Why there is no mark: an infinite score, or one that is not defined."""
    what = "infinite" if np.isinf(row.value) or row.metric == "log_loss" else "not defined"
    return f"{what} in {row.unknown} splits" if found.runs is not None else what


def interval_text(row: Any) -> str:
    """A difference with its sign in three digits, and its interval in two."""
    if not np.isfinite(row.value):
        return number(row.value)
    return change(row.value, row.lower, row.upper)


def formatted_differences(found: Differences) -> pd.DataFrame:
    """Rows by calibrator, columns by metric, "difference [low, high]" as text, ● where the interval leaves out 0.

    Parameters
    ----------
    found
        What ``differences`` returned.
    """
    columns: dict[str, dict[str, str]] = {}
    for row in found.table.itertuples(index=False):
        beyond = " ●" if row.lower > 0 or row.upper < 0 else ""
        columns.setdefault(METRICS[row.metric].label, {})[label_of(row.calibrator)] = (
            interval_text(row) + beyond
        )
    return pd.DataFrame(columns).rename_axis("Calibrator")


DIFFERENCES = FigureEntry("differences", "Differences to uncalibrated", prepare, draw, reported=itself)

"""A metric against depth: tree and forest below each other, frequency and Laplace leaves side by side.

All panels of a kind have one scale; with many panels, one is drawn large above them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.depth import DEPTH_METRICS, GROWTHS, JOINT_METRICS, LEAF_ESTIMATES
from calib.analysis.sample_size import FEWEST_TO_COMPARE
from calib.calibrators import label_of
from calib.figures.axes import padded
from calib.figures.base import FigureEntry, TableRecord
from calib.figures.many import grey_lines_note, in_colour, mute
from calib.figures.panels import panels, set_axes
from calib.figures.theme import LIGHT, Theme, outlined
from calib.kernel.checks import InputError
from calib.kernel.wording import briefly, listed, number, with_clipped, within_a_sentence
from calib.metrics import METRICS, Metric, class_metrics

LEAF_LABELS = {"frequency": "frequency leaves", "laplace": "Laplace leaves"}
NO_DEPTH = "No depth has been computed yet."
HEIGHT_OF_ROWS = {1: 230, 2: 110, 3: 72}  # rows → height of a panel in pixels, so that all fit a window
LARGE_PANEL = 220  # height of the large panel above several rows
TOO_FEW_ROWS = "Too few rows to distinguish between depths"


@dataclass(frozen=True, eq=False)
class DepthCurves(TableRecord):
    """All metrics, one line per growth, leaf, depth and calibrator; one metric is drawn.

    Attributes
    ----------
    spec
        The metric drawn.
    table
        Tables of ``depth_scores``, all depths below each other.
    calibrators
        Calibrators in the Recipe's order.
    lead
        (growth, leaf) of the large panel, or None if there are only two panels.
    coloured
        The calibrators whose lines are coloured if there are many: the first, and the best other one of that panel.
    """

    spec: Metric
    calibrators: tuple[str, ...]
    lead: tuple[str, str] | None
    coloured: tuple[str, ...]

    def panel(self, growth: str, leaf: str) -> pd.DataFrame:
        """Return the metric of one panel, depth by calibrator."""
        panel = self.table[(self.table["growth"] == growth) & (self.table["leaf"] == leaf)]
        return panel.pivot_table(index="depth", columns="calibrator", values=self.spec.key)


def prepare(
    tables: Sequence[pd.DataFrame], metric: str = "brier", growth: str = "tree", leaves: str = "frequency"
) -> DepthCurves:
    """Prepare the curves of one metric; ``growth`` and ``leaves`` select the large panel.

    Raises
    ------
    InputError
        If no depth is grown yet, or no row has the metric.
    """
    table = join(tables)
    spec = metric_of(table, metric)
    if metric not in table or table[metric].isna().all():
        raise InputError(
            f"{spec.label} is not available for these calibrators on these data: choose another metric."
        )
    calibrators = tuple(dict.fromkeys(table.loc[table[metric].notna(), "calibrator"]))
    name = "none" if "none" in calibrators else calibrators[0]
    found = {
        kind: _extremes(table, metric, kind, name)
        for kind in GROWTHS
        if ((table["growth"] == kind) & (table["calibrator"] == name)).any()
    }
    cells = cells_of(table)
    first = (growth, leaves) if (growth, leaves) in cells else cells[0]
    return DepthCurves(
        spec,
        calibrators,
        first if len(cells) > len(LEAF_ESTIMATES) else None,
        in_colour([name, *_best_other(table, metric, first, name)], calibrators),
        table=table,
        title=_finding(found, spec, name) if table["rarer"].min() >= FEWEST_TO_COMPARE else TOO_FEW_ROWS,
        caption=_caption(table, spec) + _full_growth(found, spec, name) + grey_lines_note(calibrators),
        alt=_alt(found, spec, name),
    )


def metric_of(table: pd.DataFrame, metric: str) -> Metric:
    """Return a metric as it is named here: with label and help of all classes if the table is of them together."""
    if set(DEPTH_METRICS) & set(table) <= set(JOINT_METRICS):
        return class_metrics()[metric]
    return METRICS[metric]


def _best_other(table: pd.DataFrame, metric: str, cell: tuple[str, str], name: str) -> list[str]:
    """Return the other calibrator with the best value of a panel, if the metric has a best value."""
    panel = table[(table["growth"] == cell[0]) & (table["leaf"] == cell[1]) & (table["calibrator"] != name)]
    chosen = METRICS[metric].best(panel[metric])
    return panel.loc[chosen, "calibrator"].tolist()[:1]


def join(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return all depths in order.

    Raises
    ------
    InputError
        If there is none yet.
    """
    if not tables:
        raise InputError(NO_DEPTH)
    table = pd.concat(tables, ignore_index=True)
    order = {key: i for i, key in enumerate([*GROWTHS, *LEAF_ESTIMATES])}
    return table.sort_values(
        ["growth", "leaf", "depth"], key=lambda c: c.map(order) if c.name != "depth" else c, kind="stable"
    ).reset_index(drop=True)


Extremes = Mapping[str, tuple[int, float, float]]


def _extremes(table: pd.DataFrame, metric: str, growth: str, calibrator: str) -> Extremes:
    """Return (depth, value, clipped value) at the best depth, the smallest on a tie, and at the largest depth.

    Leaves are frequency leaves. The clipped value is NaN for finite values.
    """
    fits = table[
        (table["growth"] == growth) & (table["leaf"] == "frequency") & (table["calibrator"] == calibrator)
    ]
    values = fits.set_index("depth")[metric]
    finite = fits.set_index("depth")["log_loss_clipped"].where(np.isinf(values) & (metric == "log_loss"))
    chosen = METRICS[metric].best(values)
    at = int(values.index[chosen.argmax()])
    return {
        name: (depth, float(values[depth]), float(finite[depth]))
        for name, depth in (("best", at), ("full", int(values.index[-1])))
    }


def _finding(found: Mapping[str, Extremes], spec: Metric, calibrator: str) -> str:
    """State the best depth of the first calibrator's tree and forest, or their values at both ends, in one line."""
    has_best = spec.target is not None or spec.higher_is_better is not None
    parts: list[str] = []
    for growth in ("tree", "forest"):
        if growth in found:
            (at, value, beside), (full, last, beside_last) = found[growth]["best"], found[growth]["full"]
            there, then = map(with_clipped, briefly(value, last), (beside, beside_last))
            if not has_best:
                parts.append(f"{growth} {there} at depth {at}, {then} at depth {full}")
            elif at == full:
                parts.append(f"{growth} best fully grown ({there})")
            else:
                parts.append(f"{growth} best at depth {at} ({there})")
    who = "uncalibrated" if calibrator == "none" else label_of(calibrator)
    return f"{spec.label}, {who}: {'; '.join(parts)}"


def _full_growth(found: Mapping[str, Extremes], spec: Metric, calibrator: str) -> str:
    """State the values of full growth, for a metric that has a best end."""
    if spec.target is None and spec.higher_is_better is None:
        return ""
    values = []
    for growth in ("tree", "forest"):
        if growth in found:
            (_, value, _), (full, last, beside) = found[growth]["best"], found[growth]["full"]
            then = with_clipped(briefly(value, last)[1], beside)
            values.append(f"{then} for the {growth} (depth {full})")
    who = "uncalibrated" if calibrator == "none" else f"with {label_of(calibrator)}"
    return f" Fully grown and {who}, {within_a_sentence(spec.label)} is {listed(values)}."


def _caption(table: pd.DataFrame, spec: Metric) -> str:
    """Explain the panels that exist, because forests may not be grown yet."""
    kinds = {GROWTHS[growth].forest for growth in table["growth"].unique()}
    better = (
        ""
        if spec.higher_is_better is None
        else f" {'Higher' if spec.higher_is_better else 'Lower'} is better."
    )
    averaging = " the rows to see the effect of averaging many trees," if len(kinds) == 2 else ""
    return (
        f"Each point is a model with one maximum depth; the last model has no depth limit. {spec.label}: "
        f"{spec.help}{better} All models share the same {table['rows'].iloc[0]:,} test rows; small "
        f"fluctuations are due to sampling variability. Compare the columns to see the effect of Laplace's "
        f"correction on small leaves,{averaging} and the lines within a panel to see the effect of "
        f"calibration."
        + (" The tree and the forest have different scales." if len(kinds) == 2 else "")
        + (" Beyond depth 16 only some depths of the forest are shown." if True in kinds else "")
        + (" Triangles at an edge mark infinite values." if np.isinf(table[spec.key]).any() else "")
    )


def _alt(found: Mapping[str, Extremes], spec: Metric, calibrator: str) -> str:
    summary = "; ".join(
        f"{GROWTHS[growth].label}: "
        + ", ".join(
            f"{with_clipped(number(value), beside)} at depth {at}" for at, value, beside in ends.values()
        )
        for growth, ends in found.items()
    )
    return f"{spec.label} by depth, {label_of(calibrator)}. {summary}."


def best_cells(tables: Sequence[pd.DataFrame], metric: str) -> list[tuple[str, float, str]]:
    """Return (growth, best value, place: calibrator, leaves, depth) of each growth; the smallest depth on a tie.

    Metrics without a best end give an empty list; growths whose values are all infinite are left out.
    """
    table, spec = join(tables), METRICS[metric]
    if metric not in table or (spec.higher_is_better is None and spec.target is None):
        return []
    cells = []
    for growth in table["growth"].unique():
        fits = table[(table["growth"] == growth) & table[metric].notna()].sort_values("depth", kind="stable")
        chosen = spec.best(fits[metric])
        if chosen.any():
            line = fits.iloc[chosen.argmax()]
            where = f"{label_of(line.calibrator)}, {LEAF_LABELS[line.leaf]}, depth {line.depth}"
            cells.append((str(growth), float(line[metric]), where))
    return cells


def draw(record: DepthCurves, theme: Theme = LIGHT) -> go.Figure:
    """Draw one panel per growth (rows) and leaf (columns), one line per calibrator, all with the same axes."""
    figure = by_depth(
        record.table,
        theme,
        record.spec.label,
        height=HEIGHT_OF_ROWS.get(len(cells_of(record.table)) // len(LEAF_ESTIMATES), HEIGHT_OF_ROWS[3]),
        lead=record.lead and (_titled(record.lead), LARGE_PANEL),
        uirevision="depth",
        hovermode="closest",
    )
    named: set[str] = set()
    for i, (growth, leaf) in enumerate([*cells_of(record.table), *filter(None, [record.lead])]):
        curves = record.panel(growth, leaf)
        limits = limits_of(record.table, [record.spec.key], growth)
        x, y = set_axes(figure, i, y={"range": limits})
        for key in record.calibrators:
            if key not in curves or curves[key].isna().all():
                continue
            figure.add_traces(
                [
                    trace.update(xaxis=x, yaxis=y)
                    for trace in _line(curves[key].dropna(), key, limits, key not in named, theme)
                ]
            )
            named.add(key)
    return mute(figure, record.coloured, theme)


def cells_of(table: pd.DataFrame) -> list[tuple[str, str]]:
    """Return (growth, leaf) of each panel."""
    return [
        (growth, leaf) for growth in GROWTHS if (table["growth"] == growth).any() for leaf in LEAF_ESTIMATES
    ]


def _titled(cell: tuple[str, str]) -> tuple[str, str]:
    return GROWTHS[cell[0]].label, LEAF_LABELS[cell[1]]


def by_depth(table: pd.DataFrame, theme: Theme, measure: str, *, height: int, **changes: Any) -> go.Figure:
    """Return empty panels over the same depths, a row per growth and a column per leaf."""
    return panels(
        theme,
        [_titled(cell) for cell in cells_of(table)],
        len(LEAF_ESTIMATES),
        height=height,
        xaxis={"title": {"text": "Depth"}, "range": [0.3, float(table["depth"].max()) + 0.7]},
        # Tick labels may be as long as 0.0004, with the title to their left
        yaxis={"title": {"text": measure}, "nticks": 5, "automargin": "left"},
        **changes,
    )


def limits_of(table: pd.DataFrame, columns: Sequence[str], growth: str) -> list[float]:
    """Return the axis range of a panel: one range for the forests, and one for the tree, which may be far worse."""
    kind = [key for key, other in GROWTHS.items() if other.forest == GROWTHS[growth].forest]
    return padded(table.loc[table["growth"].isin(kind), list(columns)])


def _line(
    curve: pd.Series, key: str, limits: Sequence[float], legend: bool, theme: Theme
) -> list[go.Scatter]:
    """Return the finite values as a line with marks, and the infinite ones as triangles at the edge."""
    mark, infinite = theme.mark(key), np.isinf(curve.to_numpy())
    common = {"name": label_of(key), "legendgroup": key}
    line = go.Scatter(
        **common,
        x=curve.index,
        y=curve.where(~infinite),
        mode="lines+markers",
        line={"color": mark.color, "width": 1.8, "dash": mark.dash},
        marker=outlined(mark.color, 6, theme, 0.5, symbol=mark.symbol),
        showlegend=legend,
        hovertemplate="depth %{x}: %{y:.4f}",
    )
    return [line, *([_beyond(curve[infinite], limits, mark.color).update(common)] if infinite.any() else [])]


def _beyond(infinite: pd.Series, limits: Sequence[float], color: str) -> go.Scatter:
    """Return triangles just inside the edge that infinite values exceed."""
    above, (low, high) = infinite.to_numpy() > 0, limits
    symbols = np.where(above, "triangle-up-open", "triangle-down-open").tolist()
    return go.Scatter(
        x=infinite.index,
        y=np.where(above, high - 0.03 * (high - low), low + 0.03 * (high - low)),
        mode="markers",
        marker={"color": color, "symbol": symbols, "size": 9},
        showlegend=False,
        hovertemplate="depth %{x}: infinite",
    )


METRIC_BY_DEPTH = FigureEntry("depth", "A metric by depth", prepare, draw)

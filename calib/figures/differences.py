"""Differences of calibrators from the uncalibrated model by metric, with intervals and single splits if any.

Each calibrator has a lane, and each metric an axis, which says on which side of the line values are better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.differences import Differences
from calib.analysis.differences import differences as on_test_rows
from calib.calibrators import label_of, name_of
from calib.evaluate import Evaluation
from calib.figures.axes import padded
from calib.figures.base import FigureEntry, Record, itself
from calib.figures.panels import axes, heading, set_axes
from calib.figures.theme import LIGHT, Mark, Theme, error_bars, lanes, layout, outlined, rgba, vertical_line
from calib.kernel.wording import counted, listed
from calib.metrics import METRICS

LANE, HEAD = 26, 64  # pixels
CLEAR_MARK = " ●"
BETTER = {None: "difference", True: "better to the right", False: "better to the left"}


@dataclass(frozen=True, eq=False)
class DifferenceLanes(Record):
    """The drawn differences, and the words around them."""

    differences: Differences

    def to_frame(self) -> pd.DataFrame:
        """Return one row per metric and calibrator, and one per split if there are splits."""
        found = self.differences
        table = found.table.assign(kind="interval")
        return (
            table
            if found.runs is None
            else pd.concat([table, found.runs.assign(kind="split")], ignore_index=True)
        )


def prepare(source: Differences | Evaluation, calibrators: Sequence[str] | None = None) -> DifferenceLanes:
    """Prepare lanes of these calibrators, all by default; an Evaluation gives the differences on its test rows."""
    differences = on_test_rows(source) if isinstance(source, Evaluation) else source
    found = [each for each in differences.found if calibrators is None or each.calibrator in calibrators]
    shown = replace(differences, found=tuple(found))
    brier = [f"{label_of(each.calibrator)} {each.text()}" for each in found if each.metric == "brier"]
    dots = (
        ""
        if differences.runs is None
        else " Small dots show individual splits; if they spread widely, a single split is not reliable."
    )
    return DifferenceLanes(
        shown,
        title=_finding(shown),
        caption=f"Marks show the difference from {name_of(differences.reference)}, bars its 95 % interval from "
        f"{differences.basis}. If the interval includes 0, the difference may be due to sampling "
        f"variability.{dots}",
        alt=f"Differences from {name_of(differences.reference)} in {len({each.metric for each in found})} metrics, "
        f"{sum(each.clear for each in found)} of {len(found)} clearly different. Brier score: "
        f"{'; '.join(brier) or 'none'}.",
    )


def _finding(found: Differences) -> str:
    """Name the calibrators that clearly lower the Brier score, with an interval that excludes 0."""
    brier = [each for each in found.found if each.metric == "brier"]
    against = name_of(found.reference)
    splits = "" if found.runs is None else " over splits"
    if not brier:
        return f"There is nothing to compare with {against}"
    better = [label_of(each.calibrator) for each in brier if each.high < 0]
    if len(better) == len(brier) > 1:
        every = "Both" if len(brier) == 2 else f"All {len(brier)}"
        return f"{every} calibrators clearly lower the Brier score of {against}{splits}"
    if better:
        lower = "lower" if len(better) > 1 else "lowers"
        rest = "" if len(better) == len(brier) else "; the other calibrators do not"
        return f"{listed(better)} clearly {lower} the Brier score of {against}{splits}{rest}"
    if all(each.low > 0 for each in brier):
        raised = (
            "Every calibrator clearly raises"
            if len(brier) > 1
            else f"{label_of(brier[0].calibrator)} clearly raises"
        )
        return f"{raised} the Brier score of {against}{splits}"
    return f"No calibrator clearly lowers the Brier score of {against}{splits}"


def draw(record: DifferenceLanes, theme: Theme = LIGHT) -> go.Figure:
    """Draw one panel per metric, stacked, each on its own scale with 0 marked."""
    every = record.differences.found
    metrics = list(dict.fromkeys(each.metric for each in every))
    keys = list(dict.fromkeys(each.calibrator for each in every))
    panel = LANE * max(len(keys), 1) + HEAD
    height = panel * max(len(metrics), 1) - HEAD
    margin = {"l": 56, "r": 12, "t": 24, "b": 44}
    figure = go.Figure(layout=layout(theme, height=height + HEAD, showlegend=False, margin=margin))
    for i, metric in enumerate(metrics):
        found = _of(record.differences, metric=metric)
        top, ends = 1 - i * panel / height, _range(found)
        x, y = axes(i)
        lane_at = {"domain": [max(top - (panel - HEAD) / height, 0), top], "anchor": x}
        lane_at["range"] = [len(keys) - 0.5, -0.5]  # as high as the letters on a projector
        across = {"anchor": y, "range": ends, "nticks": 5}
        set_axes(figure, i, x=across, y=lanes([label_of(key) for key in keys]) | lane_at)
        spec = METRICS[metric]
        figure.add_annotation(heading(spec.label, y, after=f": {BETTER[spec.higher_is_better]}"))
        figure.add_shape(vertical_line(0, x, y, color=theme.diagonal, width=1))
        for lane, key in enumerate(keys):
            _lane(figure, lane, _of(found, calibrator=key), ends, {"xaxis": x, "yaxis": y}, theme)
    return figure


def _of(found: Differences, **chosen: str) -> Differences:
    """Return the differences of one metric, or of one calibrator."""
    ((column, key),) = chosen.items()
    runs = None if found.runs is None else found.runs[found.runs[column] == key]
    return replace(found, found=tuple(e for e in found.found if getattr(e, column) == key), runs=runs)


def _range(found: Differences) -> list[float]:
    """Return the axis range of all drawn values and 0, with some margin."""
    runs = [] if found.runs is None else found.runs["value"]
    return padded([0.0, *found.table[["value", "lower", "upper"]].to_numpy().ravel(), *runs])


def _lane(
    figure: go.Figure, lane: int, found: Differences, ends: list[float], on: dict[str, str], theme: Theme
) -> None:
    """Draw one calibrator's splits if any, and its difference with the interval, or the reason why there is none."""
    one = found.found[0]
    mark, name = theme.mark(one.calibrator), label_of(one.calibrator)
    if found.runs is not None:
        figure.add_trace(_splits(found.runs, lane, mark).update(on))
    if not np.isfinite(one.value):
        what = "infinite" if np.isinf(one.value) or one.metric == "log_loss" else "not defined"
        why = f"{what} in {counted(one.unknown, 'split')}" if found.runs is not None else what
        figure.add_annotation(
            text=why, x=0, y=lane, xref=on["xaxis"], yref=on["yaxis"], showarrow=False,
            **({"xanchor": "left", "xshift": 8} if abs(ends[0]) < ends[1] else {"xanchor": "right", "xshift": -8}),
            font={"color": theme.muted, "size": 12},
        )  # fmt: skip
        return
    lower, upper = (end if np.isfinite(end) else one.value for end in (one.low, one.high))
    figure.add_scatter(
        **on,
        x=[one.value],
        y=[lane],
        mode="markers",
        name=name,
        marker=outlined(mark.color, 11, theme, symbol=mark.symbol),
        error_x=error_bars(one.value, lower, upper, mark.color, 3),
        hovertemplate=f"{name}: {one.text()}<extra></extra>",
    )


def _splits(runs: pd.DataFrame, lane: int, mark: Mark) -> go.Scatter:
    """Return single splits as small dots, spread a little vertically."""
    known = runs["value"].to_numpy(dtype=float)
    return go.Scatter(
        x=np.where(np.isfinite(known), known, np.nan),
        y=lane + (np.arange(len(known)) % 5 - 2) * 0.09,
        mode="markers",
        customdata=runs["seed"],
        hovertemplate="split with seed %{customdata}: %{x:.3g}<extra></extra>",
        marker={"color": rgba(mark.color, 0.45), "symbol": mark.symbol, "size": 6},
    )


def formatted_differences(found: Differences) -> pd.DataFrame:
    """Format differences as "difference [low, high]", rows by calibrator, columns by metric; ● marks clear ones."""
    columns: dict[str, dict[str, str]] = {}
    for each in found.found:
        column = columns.setdefault(METRICS[each.metric].label, {})
        column[label_of(each.calibrator)] = each.text(mark=CLEAR_MARK * each.clear)
    return pd.DataFrame(columns).rename_axis("Calibrator")


DIFFERENCES = FigureEntry("differences", "Differences from uncalibrated", prepare, draw, reported=itself)

"""Figures of an audit: the segments as lanes, all segments by size, and the cumulative differences of one segment.

A funnel of gaps by size shows both the findings and the smallest findings that these rows allow: the threshold of the
search falls with the square root of the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.audit import ALPHA
from calib.analysis.audit.of_evaluation import (
    LOOK_LABELS,
    Audited,
    audited,
    detectable,
    detectable_gap,
    how_off,
    level_limits,
    look_of,
    threshold_gap,
)
from calib.analysis.audit.segments import Conditions, describe_segment
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, ReportOptions, TableRecord, chart_text
from calib.figures.theme import LIGHT, Theme, error_bars, hollow, lanes, layout, outlined, rgba
from calib.kernel.binning import group_sums
from calib.kernel.checks import InputError
from calib.kernel.wording import class_named, counted, number, percent, shortened

MOST_SEGMENT_LANES = 6  # most significant segments that are drawn
FEWEST_LANES = 4  # largest deviations, drawn if none is significant
LANE, HEAD = 68, 104  # pixels
LONGEST_CONDITION = 30  # letters of a condition in a lane
IN_TITLE = 30  # letters of a column and of a group
MOST_SEGMENT_DOTS = 3000
MANY_SEGMENTS = 50  # significant segments, from which on marks are smaller
MOST_STEPS = 2000
WIDEST_STEP = 2.5  # between neighbouring ticks of a logarithmic axis at 1, 2, 5, 10 …


@dataclass(frozen=True, eq=False)
class SegmentLanes(TableRecord):
    """The drawn segments, one line each, and the words around them.

    Attributes
    ----------
    table
        Columns segment, rows, predicted, observed, low, high (observed frequencies that are attributed to chance),
        p_value, look, others (segments with the same cause).
    names
        (column, group) of each segment's conditions.
    """

    names: tuple[Conditions, ...]
    calibrator: str
    label: str


def prepare(source: Audited | Evaluation) -> SegmentLanes:
    """Take one line per cause, worst first; if nothing was found, the largest deviations.

    Parameters
    ----------
    source
        An audit, or an Evaluation whose recommended calibrator is audited.
    """
    made = _audited(source)
    found, causes = made.found, made.causes
    others = {each.line: len(each.others) for each in causes}
    shown = list(others)[:MOST_SEGMENT_LANES] or list(range(min(FEWEST_LANES, len(found.segments))))
    table = found.segments.iloc[shown].reset_index(drop=True)
    limits = np.array([level_limits(found, line) for line in shown])
    table = table.assign(
        low=np.clip(table["predicted"] + limits[:, 0], 0, 1),
        high=np.clip(table["predicted"] + limits[:, 1], 0, 1),
        look=[look_of(found, line) for line in shown],
        others=[others.get(line, 0) for line in shown],
    )
    more = len(causes) - len(shown) if causes else 0
    return SegmentLanes(
        tuple(found.conditions[line] for line in shown),
        made.calibrator,
        made.evaluation.dataset.classes[1],
        table=table,
        title=finding(made),
        caption="Dark bars show observed frequencies, coloured marks mean predictions. The bars show the "
        f"frequency of {class_named(made.evaluation.dataset.classes[1])}. Grey: the range of "
        "frequencies expected by chance, adjusted for the search of "
        f"{counted(len(found.segments), 'segment')} (5 % for all segments together). A significant "
        "segment can lie inside this range if it is overconfident or underconfident, or has errors "
        "in opposite directions."
        + (f" {counted(more, 'more segment')} can be found in the table." if more else "")
        + ("" if causes else " No segment was significant; these segments deviate most."),
        alt=f"{len(shown)} segments of {len(found.segments):,}. "
        + "; ".join(
            f"{line.segment}: predicted {percent(line.predicted)}, observed {percent(line.observed)}, adjusted p "
            f"{number(line.p_value)}"
            for line in table.itertuples()
        )
        + ".",
    )


def _audited(source: Audited | Evaluation) -> Audited:
    return audited(source) if isinstance(source, Evaluation) else source


def finding(made: Audited) -> str:
    """State the finding of the search in one sentence."""
    found, causes = made.found, made.causes
    if not causes:
        return f"None of the {len(found.segments):,} segments searched is clearly miscalibrated"
    worst, line = found.segments.iloc[causes[0].line], causes[0].line
    name = describe_segment(
        tuple(
            (shortened(column, IN_TITLE), shortened(group, IN_TITLE))
            for column, group in found.conditions[line]
        )
    )
    deviation = (
        f"{name}, predicted {100 * worst['predicted']:.0f} %, observed {100 * worst['observed']:.0f} %"
    )
    if how := how_off(found, line):
        deviation = f"{name} ({how})"
    if made.nearly_all_rows:
        return f"Wrong for nearly all rows: {deviation}"
    if made.fit_explains:
        return f"Wrong most clearly for {deviation}; {made.fitted} can explain this error"
    if len(causes) == 1:
        return f"Wrong for one group: {deviation}"
    return f"Wrong for {len(causes)} groups, most clearly for {deviation}"


def draw(record: SegmentLanes, theme: Theme = LIGHT) -> go.Figure:
    """Draw lanes, the worst segment at the top."""
    table, k = record.table, len(record.table)
    height = LANE * k + HEAD
    high = min(1.0, 1.08 * float(table[["high", "observed", "predicted"]].to_numpy().max()))
    low = max(0.0, float(table[["low", "observed", "predicted"]].to_numpy().min()) - 0.06 * high)
    names = [_name(*each) for each in zip(record.names, table.itertuples(), strict=True)]
    figure = go.Figure(
        layout=layout(
            theme,
            height=height,
            xaxis={
                "range": [low, high + 0.02 * (high - low)],
                "nticks": 6,
                "title": {"text": f"Frequency of class {chart_text(record.label, 24)}"},
            },
            yaxis=lanes(names),
            legend={"y": -84 / (height - 60)},
        )
    )
    known = table[["segment", "rows", "p_value"]].to_numpy()
    at, mark = np.arange(k), theme.mark(record.calibrator)
    figure.add_trace(
        go.Scatter(
            x=table["observed"],
            y=at,
            mode="markers",
            name="Observed",
            marker=hollow(theme.ink, 24, 3, "line-ns-open"),
            customdata=known,
            hovertemplate="observed %{x:.3f} in %{customdata[1]:,d} rows<br>adjusted p = %{customdata[2]:.3g}"
            "<extra></extra>",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=table["predicted"],
            y=at,
            mode="markers",
            name=label_of(record.calibrator),
            marker=outlined(mark.color, 12, theme) | {"symbol": mark.symbol},
            error_x=error_bars(table["predicted"], table["low"], table["high"], rgba(theme.muted, 0.35), 8),
            customdata=np.column_stack([known, table[["low", "high"]].to_numpy()]),
            hovertemplate="mean prediction %{x:.3f}<br>range of the observed frequency expected by chance: "
            "%{customdata[3]:.3f} to %{customdata[4]:.3f}<extra></extra>",
        )
    )
    return figure


def _name(conditions: Conditions, line: Any) -> str:
    """Return the conditions on one or two lines, then rows and p-value; a projector shows them on one line."""
    most = LONGEST_CONDITION if len(conditions) < 3 else LONGEST_CONDITION // 2
    first, *rest = (_condition(*each, most) for each in conditions)
    numbers = f"{line.rows:,} rows, p = {line.p_value:.2g}" + {"level": ""}.get(
        line.look, f", {LOOK_LABELS[line.look]}"
    )
    return ",<br>".join(filter(None, [first, ", ".join(rest), numbers]))


def _condition(column: str, group: str, most: int) -> str:
    """Return a condition with at most this many letters; column and group are shortened in their middle."""
    letters = most - 3
    of_column, of_group = (max(letters // 2, letters - len(other)) for other in (group, column))
    return f"{chart_text(column, of_column)} = {chart_text(group, of_group)}"


@dataclass(frozen=True, eq=False)
class SegmentSizes(TableRecord):
    """All segments by size, with the threshold of the search and the gap that would be found in 80 of 100 cases.

    Attributes
    ----------
    table
        As ``Audited.to_frame``, with gap (observed − predicted).
    curves
        Columns rows, threshold, detectable.
    """

    curves: pd.DataFrame
    drawn: int


def prepare_sizes(source: Audited | Evaluation) -> SegmentSizes:
    """Take all segments, and the smallest gap that could be found by size."""
    made = _audited(source)
    table = made.to_frame()
    table = table.assign(gap=table["observed"] - table["predicted"])
    low, high = table["rows"].min(), table["rows"].max() + 1
    if high < WIDEST_STEP * low:  # else the axis might have no tick
        low, high = low / WIDEST_STEP**0.5, high * WIDEST_STEP**0.5
    rows = np.geomspace(low, high, 60)
    curves = pd.DataFrame(
        {
            "rows": rows,
            "threshold": [threshold_gap(made.found, size) for size in rows],
            "detectable": [detectable_gap(made.found, size) for size in rows],
        }
    )
    few, middle = int(table["rows"].min()), int(table["rows"].median())
    gap = " or ".join(detectable(made.found, size) for size in dict.fromkeys((few, middle)))
    drawn = min(MOST_SEGMENT_DOTS, len(table))
    return SegmentSizes(
        curves,
        drawn,
        table=table,
        title=f"The search finds {made.found.found or 'none'} of {counted(len(table), 'segment')} miscalibrated, and "
        f"would usually find a gap of {gap}",
        caption="Each dot is a segment: its number of rows, and its observed frequency minus its mean "
        "prediction. Dashed: the significance threshold of the search, for a segment of average "
        "rows. Dotted: the smallest gap that the search finds in 80 of 100 cases. Large orange "
        "diamonds: segments with an adjusted p-value of at most 5 %. Such a diamond can lie inside "
        "the dashed lines if the segment is overconfident or underconfident, its errors cancel out, "
        "or its variance is smaller."
        + ("" if drawn == len(table) else f" The figure shows the {drawn:,} segments that deviate most."),
        alt=f"Gaps of {len(table):,} segments by number of rows, {made.found.found:,} of them larger than "
        f"chance explains. {gap}.",
    )


def draw_sizes(record: SegmentSizes, theme: Theme = LIGHT) -> go.Figure:
    """Draw a funnel: gaps against numbers of rows, on a log axis."""
    table = record.table.iloc[: record.drawn]
    curves, beyond = record.curves, (table["p_value"] <= ALPHA).to_numpy()
    most = 100 * max(
        float(table["gap"].abs().max()), float(curves["detectable"].iloc[len(curves) // 3]), 0.01
    )
    figure = go.Figure(
        layout=layout(
            theme,
            height=440,
            margin={"t": 12},
            xaxis={
                "type": "log",
                "tickformat": ",d",
                "dtick": "D2",
                "title": {"text": "Rows in the segment"},
            },
            yaxis={"title": {"text": "Observed − predicted (points)"}, "range": [-1.1 * most, 1.1 * most]},
            legend={"y": -0.2},
            hovermode="closest",
        )
    )
    figure.add_hline(y=0, line={"color": theme.diagonal, "width": 1})
    for column, name, dash in (
        ("threshold", "Threshold", "dash"),
        ("detectable", "Found in 80 of 100", "dot"),
    ):
        line = {"color": theme.muted, "width": 1.5, "dash": dash}
        common = {"mode": "lines", "name": name, "legendgroup": column, "line": line, "hoverinfo": "skip"}
        for sign in (1, -1):
            y = sign * 100 * curves[column]
            figure.add_trace(go.Scatter(x=curves["rows"], y=y, showlegend=sign == 1, **common))
    for kind, name, color, size, symbol in (
        (~beyond, "Within chance", rgba(theme.negative, 0.5), 6, "circle"),
        (beyond, "Beyond chance", theme.positive, 11 if beyond.sum() <= MANY_SEGMENTS else 7, "diamond"),
    ):
        if kind.any():
            segments = table[kind]
            figure.add_trace(
                go.Scatter(
                    x=segments["rows"],
                    y=100 * segments["gap"],
                    mode="markers",
                    name=name,
                    marker=outlined(color, size, theme) | {"symbol": symbol},
                    customdata=segments[["segment"]].to_numpy(),
                    text=[chart_text(each, 80) for each in segments["segment"]],
                    hovertemplate="%{text}<br>%{x:,d} rows, gap %{y:.1f} points<extra></extra>",
                )
            )
    return figure


@dataclass(frozen=True, eq=False)
class SegmentWalk(TableRecord):
    """Cumulative differences of one segment in the order of p, with the threshold of its level.

    The table has one line per distinct probability: the share of the segment's rows up to it, and the sum there.
    """

    limits: tuple[float, float]
    calibrator: str


def prepare_walk(source: Audited | Evaluation, segment: str | None = None) -> SegmentWalk:
    """Compute the cumulative differences of a segment, given in words; by default of the one that deviates most."""
    made = _audited(source)
    line = made.line_of(segment)
    found, chosen = made.found, made.found.segments.iloc[line]
    mine = found.members(line)[found.places]
    p, w, y = found.p[mine], found.rows.weights[mine], found.rows.y[mine]
    values, place = np.unique(p, return_inverse=True)
    ends = [group_sums(place, len(values), weights=each) for each in (w, w * (y - p))]
    walk = pd.DataFrame(
        {
            "probability": values,
            "share": np.cumsum(ends[0]) / w.sum(),
            "cumulative": np.cumsum(ends[1]) / w.sum(),
        }
    )
    low, high = level_limits(found, line)
    return SegmentWalk(
        (low, high),
        made.calibrator,
        table=walk,
        title=f"Observed − predicted is {number(100 * (chosen['observed'] - chosen['predicted']))} points",
        caption="The line shows the cumulative sum of label minus probability over the segment’s rows, "
        "sorted by probability. The line climbs where probabilities are too low, and falls where they are "
        "too high; its end is the observed frequency minus the mean prediction. The level of this segment "
        "is significant only if the end of the line lies beyond the dashed lines.",
        alt=f"Cumulative differences of {chosen['segment']}: the end is {number(walk['cumulative'].iloc[-1])}, the "
        f"threshold {number(low)} and {number(high)}.",
    )


def draw_walk(record: SegmentWalk, theme: Theme = LIGHT) -> go.Figure:
    """Draw the cumulative differences against the share of rows."""
    walk, mark = record.table, theme.mark(record.calibrator)
    kept = np.unique(np.linspace(0, len(walk) - 1, min(MOST_STEPS, len(walk))).round().astype(int))
    figure = go.Figure(
        layout=layout(
            theme,
            height=440,
            showlegend=False,
            xaxis={
                "title": {"text": "Share of the segment’s rows, sorted by probability"},
                "range": [0, 1.01],
            },
            yaxis={"title": {"text": "Cumulative label − probability"}},
        )
    )
    figure.add_hline(y=0, line={"color": theme.diagonal, "width": 1})
    for limit in record.limits:
        if np.isfinite(limit):
            figure.add_hline(y=limit, line={"color": theme.positive, "width": 1.5, "dash": "dash"})
    figure.add_trace(
        go.Scatter(
            x=[0, *walk["share"].iloc[kept]],
            y=[0, *walk["cumulative"].iloc[kept]],
            mode="lines",
            name=label_of(record.calibrator),
            line={"color": mark.color, "width": 2},
            hovertemplate="share %{x:.3f}<br>%{y:.4f}<extra></extra>",
        )
    )
    return figure


def _reported(evaluation: Evaluation, options: ReportOptions) -> tuple[Any, dict[str, Any]]:
    if options.search is None:
        raise InputError("The search for segments was not requested for this report.")
    key = options.calibrator if options.calibrator in evaluation.predictions else None
    return audited(evaluation, key, **options.search), {}


AUDIT = FigureEntry("audit", "Segments by search", prepare, draw, reported=_reported)
AUDIT_SIZES = FigureEntry("audit_sizes", "Segments by size", prepare_sizes, draw_sizes)
AUDIT_WALK = FigureEntry("audit_walk", "Cumulative differences of a segment", prepare_walk, draw_walk)

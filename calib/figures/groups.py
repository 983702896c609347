"""Subgroups: a lane per group with the observed frequency and the mean predictions.

A model can be right on average and wrong for parts of the people it judges (Hébert-Johnson et al. 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.curves import FEW_IN_BIN
from calib.analysis.selection import selected_rows
from calib.analysis.subgroups import Grouping, group_rows, judge_groups
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, ReportOptions, TableRecord, chart_text
from calib.figures.theme import LIGHT, Theme, error_bars, hollow, lanes, layout, rgba
from calib.kernel.checks import InputError
from calib.kernel.wording import class_named, counted

LANE, HEAD = 44, 96  # pixels
LONGEST = 24  # letters of a group's name


@dataclass(frozen=True, eq=False)
class GroupLanes(TableRecord):
    """One line per calibrator and group (see ``judge_groups``), and the words around it.

    Attributes
    ----------
    picked
        Number of selected rows in each group.
    label
        The name of class 1.
    """

    grouping: Grouping
    picked: np.ndarray
    label: str


def prepare(
    evaluation: Evaluation,
    values: pd.Series | None = None,
    calibrators: Sequence[str] | None = None,
    *,
    group: str | None = None,
    selection: Sequence[str] = (),
) -> GroupLanes:
    """Group the test rows by a column, for these calibrators (all by default).

    Parameters
    ----------
    values
        The column's values (m,); by default those of the data's column ``group``, or of the first column.
    selection
        Ranges calibrator:low:high whose rows are counted in each group.
    """
    if values is None:
        values = evaluation.column(str(group or evaluation.dataset.X.columns[0]))
    column = str(values.name)
    grouping = group_rows(values)
    table = judge_groups(evaluation, grouping, calibrators).table
    off = table[table["off"]]
    listed = "; ".join(
        f"{g.group} {100 * g.observed:.0f} % of {g.count}" for g in _first(table).itertuples(index=False)
    )
    few = int((_first(table)["count"] < FEW_IN_BIN).sum()) if len(table) else 0
    return GroupLanes(
        grouping,
        _picked(evaluation, grouping, selection),
        evaluation.dataset.classes[1],
        table=table,
        title=_finding(table, column),
        caption="Dark bars show the observed frequency in each group, coloured marks the mean predictions of "
        f"calibrators. The bars show the frequency of {class_named(evaluation.dataset.classes[1])}, with 95 % "
        "Wilson intervals. A calibrator whose mark is far from the bar is wrong for this group, "
        "even if it is right on average. The word “clearly” takes the number of groups into account."
        + (
            ""
            if evaluation.cluster is None
            else " Tests and intervals treat clusters, not rows, as independent."
        )
        + (
            f" Faint marks: {counted(few, 'group')} with fewer than {FEW_IN_BIN} rows, whose frequencies are "
            "uncertain."
            if few
            else ""
        ),
        alt=f"Observed frequency and mean predictions in {len(grouping.names)} groups by {column}: {listed}. "
        f"For {counted(len(off), 'combination')} of calibrator and group, the mean prediction differs from the "
        "observed frequency by more than chance explains.",
    )


def _picked(evaluation: Evaluation, grouping: Grouping, selection: Sequence[str]) -> np.ndarray:
    """Count the selected rows in each group."""
    rows = selected_rows(evaluation, selection)
    weight = None if evaluation.weight is None else evaluation.weight[rows]
    return np.bincount(grouping.index[rows], weight, minlength=len(grouping.names))


def _first(table: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of one calibrator, because counts and observed frequencies are the same for all."""
    return table[table["calibrator"] == table["calibrator"].iloc[0]] if len(table) else table


def _finding(table: pd.DataFrame, column: str) -> str:
    off = table.groupby("calibrator", sort=False)["off"].sum()
    if off.empty:
        return "There are no groups to evaluate"
    total = table["group"].nunique()
    if not off.any():
        return f"Grouped by {column}, no group’s mean prediction is clearly wrong"
    best, most = str(off.idxmin()), str(off.idxmax())
    worst = table[table["off"]].assign(size=lambda t: t["z"].abs()).sort_values("size").iloc[-1]
    if off[best] == off[most]:
        return (
            f"Grouped by {column}, mean predictions are clearly wrong in {off[most]} of {total} groups, "
            f"most of all in {worst['group']}"
        )
    return (
        f"Grouped by {column}, {label_of(most)} is clearly wrong on average in {off[most]} of {total} "
        f"groups, {label_of(best)} in {off[best] or 'none'}"
    )


def draw(record: GroupLanes, theme: Theme = LIGHT) -> go.Figure:
    """Draw lanes, the first group at the top, on the probability axis."""
    height = LANE * len(record.grouping.names) + HEAD + 40
    ends = record.table[["lower", "upper", "mean_p"]].to_numpy()
    low, high = (np.nanmin(ends), np.nanmax(ends)) if ends.size else (0.0, 1.0)
    edge = 0.05 * (high - low) + 0.005
    axis = {"range": [max(-0.02, low - edge), min(1.02, high + edge)], "nticks": 6}
    figure = go.Figure(
        layout=layout(
            theme,
            height=height,
            xaxis={**axis, "title": {"text": f"Frequency of class {chart_text(record.label, LONGEST)}"}},
            yaxis=lanes(_names(record)),
            legend={"y": -HEAD / height * 0.9},
        )
    )
    if record.table.empty:
        return figure
    first = _first(record.table)
    few = (first["count"] < FEW_IN_BIN).to_numpy()
    figure.add_trace(_observed(first, few, theme))
    keys = list(dict.fromkeys(record.table["calibrator"]))
    for i, key in enumerate(keys):
        figure.add_trace(
            _predicted(record.table[record.table["calibrator"] == key], few, i, len(keys), key, theme)
        )
    return figure


def _names(record: GroupLanes) -> list[str]:
    """Return each group's name and rows, and how many of them are selected."""
    counted = zip(record.grouping.count, record.picked, strict=True)
    rows = [f"{n:,} {'row' if n == 1 else 'rows'}" + (f", {k:,} picked" if k else "") for n, k in counted]
    return [
        f"{chart_text(name, LONGEST)}<br>{text}"
        for name, text in zip(record.grouping.names, rows, strict=True)
    ]


def _observed(first: pd.DataFrame, few: np.ndarray, theme: Theme) -> go.Scatter:
    x = first["observed"].to_numpy()
    return go.Scatter(
        x=x,
        y=np.arange(len(x)),
        mode="markers",
        name="Observed",
        marker=hollow(theme.ink, 22, 3, "line-ns-open", opacity=np.where(few, 0.35, 1)),
        error_x=error_bars(x, first["lower"], first["upper"], rgba(theme.muted, 0.4), 6),
        customdata=first[["count", "lower", "upper", "group"]].to_numpy(),
        hovertemplate="observed %{x:.3f} in %{customdata[0]:,d} rows"
        "<br>95 % interval from %{customdata[1]:.3f} to %{customdata[2]:.3f}<extra></extra>",
    )


def _predicted(lines: pd.DataFrame, few: np.ndarray, i: int, of: int, key: str, theme: Theme) -> go.Scatter:
    """Return a calibrator's marks, offset within the lanes; marks of groups that are off have a ring."""
    mark, off = theme.mark(key), lines["off"].to_numpy()
    shift = (i - (of - 1) / 2) * 0.6 / max(of, 4)
    return go.Scatter(
        x=lines["mean_p"],
        y=np.arange(len(lines)) + shift,
        mode="markers",
        name=label_of(key),
        marker={
            "color": mark.color,
            "symbol": mark.symbol,
            "size": np.where(off, 12, 9),
            "line": {
                "color": [theme.ink if ring else theme.paper for ring in off],
                "width": np.where(off, 2, 1),
            },
            "opacity": np.where(few, 0.35, 1),
        },
        customdata=lines[["z", "off", "group"]].to_numpy(),
        text=["clearly different" if ring else "no clear difference" for ring in off],
        hovertemplate="mean prediction %{x:.3f}<br>%{text}, z = %{customdata[0]:.2f}",
    )


def _reported(evaluation: Evaluation, options: ReportOptions) -> tuple[Any, dict[str, Any]]:
    if options.group is None:
        raise InputError("The table has no column for groups.")
    return evaluation, options.stated("group", "selection")


GROUPS = FigureEntry("groups", "Reliability by subgroup", prepare, draw, reported=_reported)

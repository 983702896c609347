"""Pairwise calibration of one row of three or more classes: the shares of each pair of classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.explain import position_of, widest_row
from calib.calibrators import Pairwise, label_of
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, TableRecord, chart_text, itself
from calib.figures.theme import LIGHT, Theme, layout
from calib.kernel.checks import InputError
from calib.kernel.wording import class_named, number, percent

PAIRWISE = "pairwise"
MOST_PAIRED_CLASSES = 8  # largest number of drawn classes, by probability


@dataclass(frozen=True, eq=False)
class ClassPairs(TableRecord):
    """Pairs of classes of a row.

    Attributes
    ----------
    table
        One line per ordered pair, with columns class, against, r (the share of class among the two), r0 and r1.
    names, pairs
        The classes by probability, the largest first, and the same numbers in their order, (K, K, 3).
    """

    row: int
    names: tuple[str, ...]
    pairs: np.ndarray


def _fitted(evaluation: Evaluation) -> tuple[Any, ...]:
    return () if evaluation.whole is None else evaluation.whole.calibrators.get(PAIRWISE, ())


def has_pairs(evaluation: Evaluation) -> bool:
    """Tell whether exactly one pairwise calibrator was fitted, whose pairs can be shown."""
    fitted = _fitted(evaluation)
    return len(fitted) == 1 and isinstance(fitted[0], Pairwise)


def prepare(evaluation: Evaluation, row: int | None = None) -> ClassPairs:
    """Return the pairs of all classes for one test row, by its number; the widest of the view by default.

    Raises
    ------
    InputError
        Of two classes, without pairwise calibration, with several calibration sets, at stated shares of the classes,
        or for a row outside the test set.
    """
    whole, fitted = evaluation.whole, _fitted(evaluation)
    if whole is None or not fitted:
        raise InputError(
            f"Choose three or more classes and {label_of(PAIRWISE)}, which calibrates pairs of classes."
        )
    if not has_pairs(evaluation):
        raise InputError(
            "This figure needs a single calibration set at the table's class shares. Choose one calibration "
            "set, or remove the deployment class shares."
        )
    row = widest_row(evaluation, PAIRWISE) if row is None else row
    at = position_of(evaluation, row)
    pairs = fitted[0].predict_pairs(whole.scores[[at]])[0]
    order = np.argsort(-whole.predictions[PAIRWISE].p[at], kind="stable")
    names = tuple(whole.names[k] for k in order)
    places = [(a, b) for a in order for b in order if a != b]
    table = pd.DataFrame(
        [(whole.names[a], whole.names[b], *pairs[a, b]) for a, b in places],
        columns=["class", "against", "r", "r0", "r1"],
    )
    first, rest = table.iloc[0], len(names) - MOST_PAIRED_CLASSES
    return ClassPairs(
        row,
        table=table,
        names=names,
        pairs=pairs[np.ix_(order, order)],
        title=f"Row {row}: {class_named(first['class'])} has {percent(first.r)} against "
        f"{class_named(first['against'])}",
        caption="Each cell shows the probability (%) of the class at the left if one of its two classes is true. "
        "The interval of this probability is shown below. Together, the cells in a row give the probability of "
        "the class at its left." + (f" {rest} less probable classes are not drawn." if rest > 0 else ""),
        alt=f"Pairs of classes of row {row}: "
        + "; ".join(
            f"{line['class']} against {line['against']} {number(line.r)}, {number(line.r0)} to {number(line.r1)}"
            for _, line in table[: len(names) - 1].iterrows()
        )
        + ".",
    )


def draw(record: ClassPairs, theme: Theme = LIGHT) -> go.Figure:
    """Draw one line and one column per class, the most probable first."""
    names = record.names[:MOST_PAIRED_CLASSES]
    r, r0, r1 = np.moveaxis(record.pairs[: len(names), : len(names)], -1, 0)

    def cells(said: Callable[..., str]) -> list[list[str]]:
        each = range(len(names))
        return [["" if a == b else said(r[a, b], r0[a, b], r1[a, b]) for b in each] for a in each]

    labels = list(map(chart_text, names))
    color = theme.mark(PAIRWISE).color
    figure = go.Figure(
        layout=layout(
            theme,
            height=110 + 52 * len(names),
            margin={"l": 12, "r": 12, "t": 56, "b": 12},
            xaxis={"side": "top", "type": "category", "showgrid": False, "title": {"text": "Against"}},
            yaxis={"autorange": "reversed", "automargin": True, "type": "category", "showgrid": False},
            showlegend=False,
        )
    )
    figure.add_trace(
        go.Heatmap(
            z=r,
            x=labels,
            y=labels,
            text=cells(lambda p, low, high: f"<b>{100 * p:.0f}</b><br>{100 * low:.0f}–{100 * high:.0f}"),
            customdata=cells(lambda p, low, high: f"{number(p)}, {number(low)} to {number(high)}"),
            texttemplate="%{text}",
            textfont={"size": 11},  # else Plotly shrinks the text below what a phone's reader can read
            zmin=0,
            zmax=2,  # only half of the scale is used, so that text stays legible
            colorscale=[[0, theme.paper], [1, color]],
            showscale=False,
            xgap=2,
            ygap=2,
            hovertemplate="%{y} against %{x}: %{customdata}<extra></extra>",  # a phone has no room for so many digits
            hoverongaps=False,
        )
    )
    return figure


CLASS_PAIRS = FigureEntry("class_pairs", "Pairs of classes", prepare, draw, reported=itself)

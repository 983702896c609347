"""Three classes in a triangle: how a calibrator moves the model's probabilities, and the observed frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from calib.analysis.recommendation.advice import recommend
from calib.calibrators import label_of, name_of
from calib.evaluate import Evaluation
from calib.figures.base import FigureEntry, ReportOptions, TableRecord, chart_text
from calib.figures.theme import LIGHT, Theme, hollow, layout
from calib.kernel.checks import InputError
from calib.kernel.weights import or_ones
from calib.kernel.wording import capital, listed, number

CELLS_PER_SIDE = 8  # cells along each side of the triangle
FEW_IN_CELL = 10  # rows; cells with fewer show no observed frequencies
TRIANGLE_HEIGHT = np.sqrt(3) / 2


@dataclass(frozen=True, eq=False)
class Simplex(TableRecord):
    """Rows in cells of similar probabilities of the uncalibrated model.

    Attributes
    ----------
    table
        One line per cell: rows, and for each class the mean probability before and after, and the observed share.
    names
        The three classes, the corners left, right and top.
    """

    calibrator: str
    names: tuple[str, str, str]


def prepare(evaluation: Evaluation, calibrator: str | None = None) -> Simplex:
    """Compute the effect of a calibrator on the probabilities of three classes.

    Parameters
    ----------
    calibrator
        By default the recommended one, or the first that is not the uncalibrated model.

    Raises
    ------
    InputError
        If there are not three classes, or no calibrator.
    """
    whole = _of_three(evaluation)
    others = [key for key in whole.predictions if key != "none"]
    if not others:
        raise InputError("Choose a calibrator to see where it moves the probabilities.")
    choice = recommend(evaluation).choice if calibrator is None else calibrator
    key = others[others.index(choice)] if choice in others else others[0]
    raw, P = whole.scores, whole.predictions[key].p
    weights = or_ones(whole.weight, len(raw))
    distance = float(np.average(np.abs(P - raw).sum(axis=1) / 2, weights=weights))
    names = tuple(map(str, whole.names))
    return Simplex(
        key,
        table=_cells(raw, P, np.eye(3)[whole.y], weights, names),
        names=(names[0], names[1], names[2]),
        title=f"{capital(name_of(key))} moves {number(distance)} of each row’s probability to other classes on average",
        caption=f"Arrows lead from the uncalibrated probabilities to the probabilities of {label_of(key)}, "
        "both averaged within cells. The nearer a point lies to a corner, the more probable the "
        "class of this corner. Thicker arrows represent more rows. Rings show the observed class "
        f"frequencies in cells with at least {FEW_IN_CELL} rows. A calibrator is good if its arrows "
        "end in their rings, apart from sampling variability.",
        alt=f"Triangle of {listed([str(name) for name in names])}: {name_of(key)} moves {number(distance)} of the "
        "probability on average.",
    )


def _of_three(evaluation: Evaluation) -> Any:
    """Return the evaluation of all classes; refuse any other number than three."""
    if evaluation.whole is None or evaluation.whole.classes != 3:
        raise InputError("The triangle is available for exactly three classes.")
    return evaluation.whole


def _cells(
    raw: np.ndarray, P: np.ndarray, came: np.ndarray, weights: np.ndarray, names: tuple[str, ...]
) -> pd.DataFrame:
    """Average rows whose uncalibrated probabilities round to the same eighths."""
    table = pd.DataFrame({"rows": np.ones(len(raw)), "weight": weights})
    for what, values in (("before", raw), ("after", P), ("observed", came)):
        for k, name in enumerate(names):
            table[f"{what}: {name}"] = values[:, k] * weights
    cell = [np.round(raw[:, k] * CELLS_PER_SIDE).astype(int) for k in (0, 1)]
    sums = table.groupby([cell[0], cell[1]], sort=True).sum().reset_index(drop=True)
    means = sums.drop(columns=["rows", "weight"]).div(sums["weight"], axis=0)
    return pd.concat([sums["rows"].astype(int), means], axis=1)


def places(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return x and y (n,) of rows P (n, 3): class 0 is the left corner, class 1 the right, class 2 the top.

    >>> places(np.array([[0.0, 1.0, 0.0], [0.5, 0.5, 0.0]]))
    (array([1. , 0.5]), array([0., 0.]))
    """
    return P[:, 1] + P[:, 2] / 2, P[:, 2] * TRIANGLE_HEIGHT


def draw(record: Simplex, theme: Theme = LIGHT) -> go.Figure:
    """Draw the triangle, one arrow per cell, and rings where enough rows were observed."""
    table, color = record.table, theme.mark(record.calibrator).color
    before, after, observed = (
        places(table[[f"{what}: {name}" for name in record.names]].to_numpy())
        for what in ("before", "after", "observed")
    )
    figure = go.Figure(
        layout=layout(
            theme,
            height=520,
            margin={"l": 8, "r": 8, "t": 36, "b": 36},
            showlegend=False,
            xaxis={"visible": False, "range": [-0.08, 1.08]},
            yaxis={"visible": False, "range": [-0.08, 0.96], "scaleanchor": "x"},
        )
    )
    _frame(figure, record.names, theme)
    most = table["rows"].max()
    for i, rows in enumerate(table["rows"]):
        figure.add_trace(
            go.Scatter(
                x=[before[0][i], after[0][i]],
                y=[before[1][i], after[1][i]],
                mode="lines+markers",
                line={"color": color, "width": 1 + 3 * np.sqrt(rows / most)},
                marker={"symbol": "arrow", "angleref": "previous", "size": [0, 11], "color": color},
                opacity=0.9 if rows >= FEW_IN_CELL else 0.4,
                hovertemplate=_hover(table.iloc[i], record),
            )
        )
    enough = (table["rows"] >= FEW_IN_CELL).to_numpy()
    figure.add_trace(
        go.Scatter(
            x=observed[0][enough],
            y=observed[1][enough],
            mode="markers",
            marker=hollow(theme.ink, 9, 1.4),
            hoverinfo="skip",
        )
    )
    return figure


def _frame(figure: go.Figure, names: tuple[str, str, str], theme: Theme) -> None:
    """Draw the triangle's sides and the names of its corners."""
    x, y = places(np.eye(3)[[0, 1, 2, 0]])
    figure.add_trace(
        go.Scatter(x=x, y=y, mode="lines", line={"color": theme.diagonal, "width": 1}, hoverinfo="skip")
    )
    for k, (name, down) in enumerate(zip(names, (True, True, False), strict=True)):
        figure.add_annotation(
            x=x[k],
            y=y[k],
            text=f"<b>{chart_text(name, 20)}</b>",
            showarrow=False,
            yanchor="top" if down else "bottom",
            font={"color": theme.ink},
        )


def _hover(line: pd.Series, record: Simplex) -> str:
    """Describe a cell: its rows, and for each class the probability before and after, and the observed frequency."""
    each = "<br>".join(
        f"{chart_text(name)}: {line[f'before: {name}']:.2f} → {line[f'after: {name}']:.2f}, observed "
        f"{line[f'observed: {name}']:.2f}"
        for name in record.names
    )
    return f"{int(line['rows']):,} rows<br>{each}<extra></extra>"


def _reported(evaluation: Evaluation, _: ReportOptions) -> tuple[Evaluation, dict[str, str]]:
    _of_three(evaluation)
    return evaluation, {}


SIMPLEX = FigureEntry("simplex", "Three classes in a triangle", prepare, draw, reported=_reported)

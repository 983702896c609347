"""Where one Venn–Abers answer comes from: the isotonic fits with (s, 0) and with (s, 1), whatever the placement.

A held-out share, training scores and out-of-bag have one calibration set for each answer, cross-calibration
one a fold, and the full placement scores the row anew for each of its two labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calib.calibrators.venn_abers import Explanation
from calib.evaluate import Evaluation, Fitted
from calib.kernel.base_rate import BaseRate
from calib.kernel.checks import InputError
from calib.placements.moved import unmoved
from calib.recipe import Recipe

METHOD = "venn_abers"


@dataclass(frozen=True, eq=False)
class Explained:
    """One test row, its answer, and the fits behind it.

    Attributes
    ----------
    recipe
        That of the evaluation, with placement and merge rule.
    row
        Its number, from 1.
    position
        Among the test rows.
    label
        Its class, 0 or 1, called ``name``.
    fits
        One Explanation a calibration set, several only for cross-calibration.
    p0, p1, p
        The answer.
    moved
        At a stated base rate, the move and what it makes of p0, p1, p.
    """

    recipe: Recipe
    row: int
    position: int
    label: int
    name: str
    fits: tuple[Explanation, ...]
    p0: float
    p1: float
    p: float
    moved: tuple[BaseRate, tuple[float, float, float]] | None = None

    def to_frame(self) -> pd.DataFrame:
        """One line a calibration set and label: the pool that the row joins there, and its share of class 1."""
        return pd.DataFrame(
            [
                {
                    "calibration set": number,
                    "score": fit.score,
                    "added label": fit.label,
                    "pool from": fit.pool[0],
                    "pool to": fit.pool[1],
                    "rows": fit.rows,
                    "of class 1": fit.positives,
                    "p": fit.value,
                }
                for number, explanation in enumerate(self.fits, 1)
                for fit in (explanation.zero, explanation.one)
            ]
        )


def widest_row(evaluation: Evaluation) -> int:
    """The number of the test row with the widest Venn–Abers interval: the one to look at first."""
    predictions = evaluation.predictions[METHOD]
    return int(evaluation.dataset.row_numbers[evaluation.rows[np.argmax(predictions.width)]])


def position_of(evaluation: Evaluation, row: int) -> int:
    """The place among the test rows of a row by its number; refused where it is not one of them."""
    found = np.flatnonzero(evaluation.dataset.row_numbers[evaluation.rows] == row)
    if not found.size:
        raise InputError(
            f"Row {row} is not among the {len(evaluation.rows)} test rows of this split: it trained the model or "
            "calibrates, or was left out. Choose one of the test rows."
        )
    return int(found[0])


def explain(evaluation: Evaluation, fitted: Fitted, row: int) -> Explained:
    """The fits behind the Venn–Abers answer for one test row.

    Parameters
    ----------
    evaluation
        With venn_abers among its calibrators.
    fitted
        What it was calibrated from.
    row
        Its number; row 1 is the first below the header.

    Raises
    ------
    InputError
        Where it is no test row, or Venn–Abers cannot answer.

    Examples
    --------
    >>> from calib import Recipe, load_sample
    >>> from calib.evaluate import calibrate, fit
    >>> fitted = fit(Recipe(model="naive_bayes", calibrators=("venn_abers",)), load_sample("digits"))
    >>> evaluation = calibrate(fitted.recipe, fitted)
    >>> found = explain(evaluation, fitted, widest_row(evaluation))
    >>> (found.fits[0].zero.value, found.fits[0].one.value) == (found.p0, found.p1)
    True
    """
    calibrators = evaluation.fitted(METHOD)
    position = position_of(evaluation, row)
    ends = np.cumsum([len(part.test) for part in fitted.parts])
    number = int(np.searchsorted(ends, position, side="right"))
    part, calibrator = fitted.parts[number], calibrators[number]
    answer, moved = _answer(evaluation, position), None
    if evaluation.before is not None:
        moved, answer = (calibrator.rate, answer), _answer(evaluation.before, position)
    label = int(evaluation.y[position])
    return Explained(
        evaluation.recipe,
        row,
        position,
        label,
        evaluation.dataset.classes[label],
        part.placed.explain(unmoved(calibrator), part.tests, position - int(ends[number]) + len(part.test)),
        *answer,
        moved,
    )


def _answer(evaluation: Evaluation, position: int) -> tuple[float, float, float]:
    """p0, p1 and p of a test row."""
    predictions = evaluation.predictions[METHOD]
    p0, p1 = map(float, predictions.pairs[position])
    return p0, p1, float(predictions.p[position])

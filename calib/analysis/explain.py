"""Explanation of one Venn–Abers probability: the isotonic fits with (s, 0) and with (s, 1), for every placement.

A held-out share, training scores and out-of-bag scores give one calibration set per probability, cross-calibration
one per fold; the full placement scores the row again for each of its two labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calib.calibrators.venn_abers import Explanation, VennAbers
from calib.evaluate import Evaluation, Fitted
from calib.kernel.base_rate import BaseRate
from calib.kernel.checks import InputError, moved_rows, place_of
from calib.placements import Scored
from calib.placements.adjusted import unadjusted
from calib.placements.cross_validation import merge_folds
from calib.recipe import Recipe

METHOD = "venn_abers"
COLORS = {"label": "Label", "width": "Width", "score": "Score"}
"""Quantity that the colour of a pair can show → its label."""


@dataclass(frozen=True, eq=False)
class Explained:
    """One test row, its probability, and the fits that give it.

    Attributes
    ----------
    recipe
        The Recipe of the evaluation, with placement and merge rule.
    row
        Number of the row, from 1.
    position
        Position of the row among the test rows.
    label
        Class of the row, 0 or 1; its name is ``name``.
    fits
        One Explanation per calibration set; several for cross-calibration only.
    p0, p1, p
        The interval and the probability.
    adjusted
        At a deployment base rate, the change and the adjusted p0, p1, p.
    what_if
        How the user moved rows of one calibration set, and the number of that set.
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
    adjusted: tuple[BaseRate, tuple[float, float, float]] | None = None
    what_if: tuple[str, int] | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return one line per calibration set and label: the pool that the row joins, and its share of class 1."""
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


def widest_row(evaluation: Evaluation, calibrator: str = METHOD) -> int:
    """Return the number of the test row with the widest interval, which is shown first."""
    predictions = evaluation.predictions[calibrator]
    return int(evaluation.dataset.row_numbers[evaluation.rows[np.argmax(predictions.width)]])


def position_of(evaluation: Evaluation, row: int) -> int:
    """Return a row's position among the test rows by its number; refuse numbers of other rows."""
    numbers = evaluation.dataset.row_numbers[evaluation.rows]
    return place_of(
        row,
        numbers,
        f"the {len(numbers)} test rows of this split. This row is a training or calibration row, or was "
        "excluded. Choose one of the test rows",
    )


def explain(evaluation: Evaluation, fitted: Fitted, row: int) -> Explained:
    """Return the fits that give the Venn–Abers probability of one test row.

    Parameters
    ----------
    evaluation
        An Evaluation with venn_abers among its calibrators.
    fitted
        The fit that was calibrated.
    row
        Number of the row; row 1 is the first below the header.

    Raises
    ------
    InputError
        If it is not a test row, or if Venn–Abers cannot answer.

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
    answer, adjusted = _answer(evaluation, position), None
    if evaluation.unadjusted is not None:
        adjusted, answer = (calibrator.rate, answer), _answer(evaluation.unadjusted, position)
    label = int(evaluation.y[position])
    return Explained(
        evaluation.recipe,
        row,
        position,
        label,
        evaluation.dataset.classes[label],
        part.placed.explain(
            unadjusted(calibrator),
            _of_class(evaluation, part.tests),
            position - int(ends[number]) + len(part.test),
        ),
        *answer,
        adjusted,
    )


def _of_class(evaluation: Evaluation, tests: Scored) -> Scored:
    """Return scored rows for the view of an Evaluation: with K classes, the scores of the class shown."""
    if evaluation.whole is None:
        return tests
    k = evaluation.whole.class_number(str(evaluation.recipe.view_class))
    by_fold = None if tests.by_fold is None else tests.by_fold[:, :, k]
    return replace(tests, scores=tests.scores[:, k], by_fold=by_fold)


def can_move_rows(explained: Explained) -> bool:
    """Tell whether the scores of the calibration sets do not depend on the row's label, so that rows can be moved."""
    return explained.recipe.placement != "full"


def calibration_rows(fit: Explanation) -> pd.DataFrame:
    """Return score, label and rows for every position in the calibration set of an answer, without the row itself."""
    zero = fit.zero
    itself = zero.scores == zero.score  # the row itself is among them, as class 0
    counts = np.concatenate([zero.counts - zero.ones - itself, zero.ones])
    table = pd.DataFrame(
        {
            "score": np.tile(zero.scores, 2),
            "label": np.repeat([0, 1], len(zero.scores)),
            "rows": counts.astype(int),
        }
    )
    return table[table["rows"] > 0].sort_values(["score", "label"], ignore_index=True)


def with_moved_rows(explained: Explained, moves: str, calibration_set: int = 1) -> Explained:
    """Explain the probability after rows of one calibration set are moved.

    Parameters
    ----------
    moves
        Moves as ``checks.moved_rows`` reads them: all rows with one score and label get another; so can the row itself.
    calibration_set
        Number of the calibration set, from 1.

    Raises
    ------
    InputError
        If a row to move does not exist, or if the placement scores the row again for each label.
    """
    if not can_move_rows(explained):
        raise InputError(
            "Full Venn–Abers refits the model for every row, so there is no fixed calibration set whose rows "
            "you could move."
        )
    rows, score = _moved(explained.fits[calibration_set - 1], moves)
    merge = explained.recipe.merge
    fitted = VennAbers(merge)  # type: ignore[arg-type]  # the Recipe has checked it
    fitted.fit(rows["score"], rows["label"], sample_weight=rows["rows"])
    fits = list(explained.fits)
    fits[calibration_set - 1] = fitted.explain(score)
    merged = _merged(fits, merge)
    adjusted = None
    if explained.adjusted is not None:
        rate = explained.adjusted[0]
        lower, upper, single = map(float, rate.adjust(merged))
        adjusted = rate, (lower, upper, single)
    p0, p1, p = merged
    changed = replace(explained, fits=tuple(fits), p0=p0, p1=p1, p=p, adjusted=adjusted)
    return replace(changed, what_if=(moves, calibration_set))


def _moved(explanation: Explanation, moves: str) -> tuple[pd.DataFrame, float]:
    """Return the calibration rows after the moves, and the score of the row itself."""
    rows, score = calibration_rows(explanation), explanation.score
    at = {place: i for i, place in enumerate(zip(rows["score"], rows["label"], strict=True))}
    for place, (new, label) in moved_rows(moves, "what_if"):
        if label is None and place == (explanation.score, None):
            score = new
        elif place in at:
            rows.loc[at[place], ["score", "label"]] = new, label
        else:
            raise InputError(
                "The points that you moved belong to another row, model or calibration set. Undo the moves."
            )
    return rows, score


def _merged(fits: list[Explanation], merge: str) -> tuple[float, float, float]:
    """Return p0, p1 and p of one calibration set, or merged over all folds."""
    if len(fits) == 1:
        return fits[0].zero.value, fits[0].one.value, fits[0].p
    p0, p1 = (np.array([[getattr(fit, end).value] for fit in fits]) for end in ("zero", "one"))
    over = merge_folds(p0, p1, merge)
    assert over.lower is not None
    assert over.upper is not None
    return float(over.lower[0]), float(over.upper[0]), float(over.p[0])


def _answer(evaluation: Evaluation, position: int) -> tuple[float, float, float]:
    """Return p0, p1 and p of a test row."""
    predictions = evaluation.predictions[METHOD]
    p0, p1 = map(float, predictions.pairs[position])
    return p0, p1, float(predictions.p[position])

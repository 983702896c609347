"""A calibrator as formulas of its named scores, the source of every program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from calib.calibrators import CALIBRATORS, JointCalibrator
from calib.export.programs.outward import with_few_steps
from calib.export.saved import SavedCalibrator, own_notes
from calib.kernel.checks import EXACT_SUM_ERROR, OUTSIDE_ERROR, ROW_SUM_ERROR, InputError, text
from calib.kernel.formula import (
    Arithmetic,
    Clip,
    Expression,
    Function,
    Pieces,
    Score,
    first_reaching,
    piecewise,
)
from calib.placements.adjusted import Adjusted, unadjusted
from calib.placements.cross_validation import FoldCalibrators


@dataclass(frozen=True)
class Limits:
    """Where a term must lie so that there is an answer: in [low, high].

    Attributes
    ----------
    term
        A score, or the sum of the probabilities of all classes.
    """

    term: Expression
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Formulas:
    """A calibrator as formulas of its scores.

    Attributes
    ----------
    scores
        The scores that the calibrator needs.
    limits
        Limits of these scores, in order, and then those of other terms; outside them there is no answer.
    joint
        Whether the scores are the probabilities of all classes.
    answers
        The formulas of p, or of p0, p1 and p, by name.
    label, notes
        The calibrator's name, and sentences about its answers.
    """

    scores: tuple[Score, ...]
    limits: tuple[Limits, ...]
    joint: bool
    answers: Mapping[str, Expression]
    label: str
    source: str
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What it is and what it gives."""
        of = (
            "the probability of each class and the ends of its interval"
            if self.joint
            else "the probability of class 1"
        )
        return f"{self.label} ({self.source}): {', '.join(self.answers)}, {of}."

    def check_names(self, language: str) -> None:
        """Raise InputError if a score has the name of an answer."""
        for name in (s.name for s in self.scores):
            if name in self.answers:
                raise InputError(
                    f"score must not be {name!r} in {language}, because an output has this name. Choose another name."
                )


def formulas_of(calibrator: Any, score: str | Sequence[str] = "score") -> Formulas:
    """Return the formulas of a fitted calibrator, of one per fold, of a CalibratedClassifier, or of a file.

    Parameters
    ----------
    score
        The name of the score. A calibrator of several scores, such as cross Venn–Abers, takes a list of names, or one
        prefix for score_1, score_2, …

    Raises
    ------
    InputError
        For a calibrator that cannot be written, by its name; NotFittedError before ``fit``.
    """
    saved = calibrator if isinstance(calibrator, SavedCalibrator) else None
    held = saved.at_base_rate if saved else getattr(calibrator, "calibrator_", calibrator)
    fitted = unadjusted(held)
    if not hasattr(fitted, "formula"):
        raise InputError(
            f"{type(fitted).__name__} cannot be written as SQL, ONNX or a program, because it has no formula."
        )
    folds = fitted.folds if isinstance(fitted, FoldCalibrators) else (fitted,)
    one, columns, notes = folds[0], len(folds), saved.notes if saved else own_notes(fitted)
    method = CALIBRATORS[saved.method] if saved else one
    joint = isinstance(one, JointCalibrator)
    if joint:
        _refuse_folds(folds)
        check_is_fitted(one)
        few, merged = with_few_steps(fitted)
        held = replace(held, calibrator=few) if isinstance(held, Adjusted) else few
        columns, notes = one.columns, (*notes, *merged)
    bounds = (-OUTSIDE_ERROR, 1 + OUTSIDE_ERROR) if one.takes == "probability" else ()
    scores = tuple(Score(name, *bounds) for name in _names(score, columns))
    limits: tuple[Limits, ...] = tuple(Limits(each, each.low, each.high) for each in scores)
    terms: list[Expression] = [each.clip(0.0, 1.0) for each in scores] if bounds else list(scores)
    if joint:
        total = sum(terms[1:], terms[0])
        limits, terms = (*limits, Limits(total, *_near_one(ROW_SUM_ERROR))), _divided(terms, total)
    return Formulas(scores, limits, joint, held.formula(*terms), method.label, method.source, notes)


def _refuse_folds(folds: Sequence[Any]) -> None:
    if len(folds) > 1:
        raise InputError(
            f"{folds[0].label} with placement='cv' needs the probabilities of every fold's model. Choose "
            "placement='split'."
        )


def _divided(terms: Sequence[Expression], total: Expression) -> list[Expression]:
    divisor = _divisor(total)
    return [Arithmetic("/", each, divisor, 0.0, 1.0) for each in terms]


def _divisor(total: Expression) -> Expression:
    """Return the sum of a row, or 1 if it is 1 but for rounding, as in ``class_probabilities``, or no sum of a row."""
    (first, low), (high, last) = zip(_near_one(ROW_SUM_ERROR), _near_one(EXACT_SUM_ERROR), strict=True)
    breaks = np.array([first, low, np.nextafter(last, 2), np.nextafter(high, 2)])
    one, itself = (1.0, 0.0), (0.0, 1.0)
    return piecewise(total, breaks, np.zeros(5), np.array([one, itself, one, itself, one]))


def _near_one(error: float) -> tuple[float, float]:
    """Return the smallest and the largest sum that differ from 1 by at most this error."""
    near, far = np.array([1.0]), np.array([2.0])
    low = first_reaching(lambda s: np.abs(s - 1) <= error, near - near, near)
    beyond = first_reaching(lambda s: np.abs(s - 1) > error, near, far)
    return float(low[0]), float(np.nextafter(beyond[0], 0))


def check_written(calibrator: Any) -> None:
    """Raise InputError, with reason and remedy, if a calibrator can be saved as JSON only.

    Parameters
    ----------
    calibrator
        Fitted, or read from a file.

    Raises
    ------
    InputError
        With reason and remedy.
    """
    formulas_of(calibrator)


def _names(score: str | Sequence[str], columns: int) -> tuple[str, ...]:
    if isinstance(score, str):
        text(score, "score")
        return (score,) if columns == 1 else tuple(f"{score}_{i + 1}" for i in range(columns))
    names = tuple(text(name, "score") for name in score)
    if len(names) != columns or len(set(names)) < columns:
        raise InputError(
            f"score must contain {columns} different names, one per score column, but is {names}."
        )
    return names


def parts(term: Expression) -> tuple[Expression, ...]:
    """Return the direct subterms of a term."""
    if isinstance(term, Arithmetic):
        return term.left, term.right
    return (term.of,) if isinstance(term, (Function, Clip, Pieces)) else ()


def uses(terms: Sequence[Expression]) -> Counter[int]:
    """Count how often each term occurs in these formulas, by its id."""
    counted: Counter[int] = Counter()

    def visit(term: Expression) -> None:
        counted[id(term)] += 1
        if counted[id(term)] == 1:
            for part in parts(term):
                visit(part)

    for term in terms:
        visit(term)
    return counted

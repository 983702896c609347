"""A calibrator as formulas of its named scores, the source of every program.

Calibrators of K classes with intervals, with few enough steps for a small program.

Venn–Abers has a step at nearly every calibration score, for each class or pair of classes: a program with all of them
takes megabytes. Adjacent steps are therefore merged. A merged step has the lowest p0 and the highest p1 of its steps,
so every interval contains the calibrator's own and stays valid; its p is the middle of theirs. Both ends move by at
most ``share · √(p1 (1 − p0))``, so less where a probability is near 0 or 1, with the smallest share that leaves few
enough steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from calib.calibrators import CALIBRATORS, IntervalCalibrator, JointCalibrator, merge_pair
from calib.calibrators.by_class import FromTwoClasses
from calib.export.saved import SavedCalibrator, own_notes
from calib.kernel.checks import EXACT_SUM_ERROR, OUTSIDE_ERROR, ROW_SUM_ERROR, Array, InputError, text
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
from calib.kernel.wording import number
from calib.placements.adjusted import Adjusted, unadjusted
from calib.placements.cross_validation import FoldCalibrators

MOST_STEPS = (
    2000  # of all classes or pairs; SQL, Python and JavaScript then take less than 200 kB for ten classes
)
MERGED_SHARES = 2.0 ** np.arange(-14, 1, 0.125)
PARTS_OF_MOVE = 10  # values are rounded to this fraction of what an end may move, or finer


@dataclass(frozen=True, eq=False)
class StepTable:
    """p0, p1 and p (t + 1,): number i holds if i of the breaks (t,) are at most the score."""

    breaks: Array
    p0: Array
    p1: Array
    p: Array

    def merged(self, share: float) -> StepTable:
        allowed = share * np.sqrt(self.p1 * (1 - self.p0))
        starts = [0]
        while (end := self._end(starts[-1], allowed[starts[-1]])) < len(self.p0):
            starts.append(end)
        first, last = np.array(starts), np.append(starts[1:], len(self.p0)) - 1
        unit = 10.0 ** np.ceil(np.log10(PARTS_OF_MOVE / np.clip(allowed[first], 1e-12, 1.0)))
        p0 = np.minimum(np.floor(self.p0[first] * unit) / unit, self.p0[first])
        p1 = np.maximum(np.ceil(self.p1[last] * unit) / unit, self.p1[last])
        p = np.round((self.p[first] + self.p[last]) / 2 * unit) / unit
        return StepTable(self.breaks[first[1:] - 1], p0, np.minimum(p1, 1.0), np.clip(p, p0, p1))

    def _end(self, start: int, allowed: float) -> int:
        """Return the first step after ``start`` that is further from it than allowed."""
        ends = [np.searchsorted(p, p[start] + allowed, side="right") for p in (self.p0, self.p1)]
        return max(start + 1, int(min(ends)))

    def increases(self) -> bool:
        return all((np.diff(p) >= 0).all() for p in (self.p0, self.p1))

    def distance(self, exact: StepTable) -> Array:
        """Return the largest distances of p0, p1 and p from those of a table with more steps, (3,)."""
        at = np.append(0, np.searchsorted(self.breaks, exact.breaks, side="right"))
        pairs = (self.p0, exact.p0), (self.p1, exact.p1), (self.p, exact.p)
        return np.array([np.abs(of[at] - than).max() for of, than in pairs])


class MergedSteps(IntervalCalibrator):
    """Calibrator of two classes by a table."""

    key, label, source, input = "merged_steps", "Merged steps", "another calibrator", "probability"

    def __init__(self, table: StepTable) -> None:
        self.table = table
        self.notes_ = ()

    def formula(self, *scores: Expression) -> dict[str, Expression]:
        values = {"p0": self.table.p0, "p1": self.table.p1, "p": self.table.p}
        origins = np.zeros(len(self.table.p))
        return {
            name: Pieces(scores[0], self.table.breaks, origins, each[:, None])
            for name, each in values.items()
        }

    def _pairs(self, scores: Array) -> Array:
        at = np.searchsorted(self.table.breaks, scores, side="right")
        return np.column_stack([self.table.p0[at], self.table.p1[at]])

    def _map(self, scores: Array) -> Array:
        return self.table.p[np.searchsorted(self.table.breaks, scores, side="right")]


def with_few_steps(fitted: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a calibrator of K classes with at most ``MOST_STEPS`` steps, and a note if steps were merged.

    All other calibrators, and those whose p0 or p1 decreases somewhere, are returned as they are.
    """
    if not (isinstance(fitted, FromTwoClasses) and fitted.gives_interval):
        return fitted, ()
    exact = {key: _table(each) for key, each in fitted.calibrators_.items()}
    if _steps(exact) <= MOST_STEPS or not all(each.increases() for each in exact.values()):
        return fitted, ()
    few = _merged(exact)
    made = copy(fitted)
    made.calibrators_ = {key: MergedSteps(table) for key, table in few.items()}
    p0, p1, p = np.max([few[key].distance(each) for key, each in exact.items()], axis=0)
    return made, (
        f"The program has only {_steps(few):,} steps instead of {_steps(exact):,}, to keep it small. For each "
        f"{fitted.one_per.split()[2]}, p0 is lower by up to {number(p0)}, p1 is higher by up to {number(p1)}, and p "
        f"differs by up to {number(p)}. The calibrator file (JSON) has all steps.",
    )


def _table(calibrator: Any) -> StepTable:
    breaks, p0, p1 = calibrator.aligned_steps()
    return StepTable(breaks, p0, p1, merge_pair(p0, p1, calibrator.merge))


def _steps(tables: dict[Any, StepTable]) -> int:
    return sum(len(each.p) for each in tables.values())


def _merged(exact: dict[Any, StepTable]) -> dict[Any, StepTable]:
    """Merge steps with the smallest share that leaves few enough, found by bisection."""
    low, high = 0, len(MERGED_SHARES) - 1
    while low < high:
        middle = (low + high) // 2
        few = {key: each.merged(MERGED_SHARES[middle]) for key, each in exact.items()}
        low, high = (low, middle) if _steps(few) <= MOST_STEPS else (middle + 1, high)
    return {key: each.merged(MERGED_SHARES[low]) for key, each in exact.items()}


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

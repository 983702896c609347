"""A calibrator as formulas of its named scores, the source of every program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calib.calibrators import CALIBRATORS, JointCalibrator
from calib.export.saved import SavedCalibrator, own_notes
from calib.kernel.checks import InputError, text
from calib.kernel.formula import Arithmetic, Clip, Expression, Function, Pieces, Score
from calib.placements.adjusted import unadjusted
from calib.placements.cross_validation import FoldCalibrators


@dataclass(frozen=True, eq=False)
class Formulas:
    """A calibrator as formulas of its scores.

    Attributes
    ----------
    scores
        The scores that the calibrator needs.
    answers
        The formulas of p, or of p0, p1 and p, by name.
    label, notes
        The calibrator's name, and sentences about its answers.
    """

    scores: tuple[Score, ...]
    answers: Mapping[str, Expression]
    label: str
    source: str
    notes: tuple[str, ...] = ()


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
    columns = len(folds)
    if isinstance(folds[0], JointCalibrator):
        if len(folds) > 1:
            raise InputError(
                f"{folds[0].label} with placement='cv' needs the probabilities of every fold's model. Choose "
                "placement='split'."
            )
        columns = folds[0].columns
    method = CALIBRATORS[saved.method] if saved else folds[0]
    bounds = (0.0, 1.0) if folds[0].takes == "probability" else ()
    scores = tuple(Score(name, *bounds) for name in _names(score, columns))
    notes = saved.notes if saved else own_notes(fitted)
    return Formulas(scores, held.formula(*scores), method.label, method.source, notes)


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

"""A calibrator read from a file, ready to use on scores or on a table of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from calib.calibrators import CALIBRATORS, count_outside
from calib.data.columns import as_float, is_number
from calib.kernel import checks
from calib.kernel.base_rate import BaseRate, BaseRates
from calib.kernel.checks import Array, InputError
from calib.kernel.wording import outside_range
from calib.placements.adjusted import Adjusted
from calib.placements.base import Outcome
from calib.placements.cross_validation import FoldCalibrators, merge_folds

# Inputs with several scores per row, and the source of each score
ONE_EACH = {"tree_scores": "tree", "fold_scores": "fold's model", "probabilities": "class"}


@dataclass(frozen=True, eq=False)
class Applied:
    """A table with calibrated probabilities.

    Attributes
    ----------
    unanswered
        Rows without a score, or with an infinite one.
    notes
        Notes on the answers, one sentence each.
    """

    table: pd.DataFrame
    unanswered: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class SavedCalibrator:
    """Contents of a calibrator file.

    Parameters
    ----------
    input
        "score", "probability", "tree_scores", "fold_scores" or "features".
    columns
        Number of inputs per row.
    classes
        (class 0, class 1), or all K.
    calibration, made
        The calibration scores, and how it was fitted.
    notes
        Sentences to read first.
    seen
        (lowest, highest) score that it was fitted on, or None if the file does not contain them.
    base_rate
        The adjustment from the calibration base rate (or shares of K classes) to that of deployment, or None.
    """

    method: str
    label: str
    input: str
    columns: int
    calibrator: Any
    classes: tuple[str, ...]
    calibration: Mapping[str, Any]
    seen: tuple[float, float] | None
    made: Mapping[str, Any]
    notes: tuple[str, ...]
    base_rate: BaseRate | BaseRates | None = None

    @property
    def at_base_rate(self) -> Any:
        """Return the calibrator, adjusted to the deployment base rate if there is one."""
        return self.calibrator if self.base_rate is None else Adjusted(self.calibrator, self.base_rate)

    @property
    def gives_interval(self) -> bool:
        return isinstance(self.calibrator, FoldCalibrators) or self.calibrator.gives_interval

    def predict(self, scores: Any) -> Outcome:
        """Return the probability of class 1, with p0 and p1 if the method has them, for scores (m,) or (m, columns).

        With the input "features", scores are a table of the score and the features.

        Raises
        ------
        InputError
            If the scores are invalid, or their number differs from what the calibrator needs.
        """
        if self.input in ONE_EACH:
            scores = checks.score_matrix(scores, "scores")
            if scores.shape[1] != self.columns:
                raise InputError(
                    f"This {self.label} calibrator needs {self.columns} scores per row, one from each "
                    f"{ONE_EACH[self.input]}, but the table has {scores.shape[1]}."
                )
        outcome = self._answer(scores)
        return outcome if self.base_rate is None else outcome.adjusted(self.base_rate)

    def _answer(self, scores: Any) -> Outcome:
        """Return the probabilities at the base rate of the calibration rows."""
        if isinstance(self.calibrator, FoldCalibrators):
            pairs = [
                fold.predict_interval(s) for fold, s in zip(self.calibrator.folds, scores.T, strict=True)
            ]
            p0, p1 = np.moveaxis(np.stack(pairs), 2, 0)
            return merge_folds(p0, p1, self.calibrator.merge)
        if not self.gives_interval:
            return Outcome(self.calibrator.predict(scores))
        return Outcome.of_pair(self.calibrator.predict_interval(scores), self.calibrator.predict(scores))

    def apply(self, frame: pd.DataFrame, columns: Sequence[str]) -> Applied:
        """Return the table with the calibrated probability p, and p0 and p1; a row without a score has no probability.

        Parameters
        ----------
        columns
            The score columns, in the order that the calibrator needs.

        Raises
        ------
        InputError
            If a column has no numbers, or no row has all scores.
        """
        if len(columns) != self.columns:
            raise InputError(
                f"{self.label} needs {self.columns} score columns, but you chose {len(columns)}."
            )
        scores = np.column_stack([_score_column(frame, name) for name in columns])
        whole = np.isfinite(scores).all(axis=1)
        if not whole.any():
            raise InputError(
                f"No row has finite numbers in {', '.join(map(str, columns))}. Choose other columns."
            )
        scores = scores[whole]
        given: Any = scores if self.input in ONE_EACH else scores[:, 0]
        if self.input == "features":
            given = pd.concat([pd.Series(given, name="score"), frame[whole].reset_index(drop=True)], axis=1)
        predicted = self.predict(given)
        answers = {
            name: getattr(predicted, name) for name in (("p0", "p1", "p") if self.gives_interval else ("p",))
        }
        if self.input == "probabilities":
            answers = {
                f"{name}_{each}": values[:, k]
                for name, values in answers.items()
                for k, each in enumerate(self.classes)
            }
        table = frame.copy()
        for name, answer in answers.items():
            column = np.full(len(frame), np.nan)
            column[whole] = answer
            while name in frame.columns:
                name += " (calibrated)"
            table[name] = column
        return Applied(table, int((~whole).sum()), self._outside(scores))

    def _outside(self, scores: Array) -> tuple[str, ...]:
        """Return a note on the scores (m, columns) outside the range of the fit and their probabilities, if any."""
        beyond = CALIBRATORS[self.method].beyond
        if beyond is None or self.seen is None or self.input == "probabilities":
            return ()
        outside = count_outside(scores, *self.seen)
        then = f" Their probabilities are {beyond}." if beyond else ""
        return (outside_range(outside, len(scores), "score", self.seen) + then,) if outside else ()


def own_notes(fitted: Any) -> tuple[str, ...]:
    """Return the notes of a fitted calibrator, or those shared by all folds' calibrators, each after its name.

    >>> from calib.calibrators import Platt
    >>> own_notes(Platt(on="log-odds").fit([0.2, 0.8], [0, 1]))[0]
    'Platt scaling: fitted on the log-odds of the scores.'
    """
    one, *others = getattr(fitted, "folds", (fitted,))
    shared = (note for note in getattr(one, "notes_", ()) if all(note in other.notes_ for other in others))
    return tuple(f"{one.label}: {note}" for note in shared)


def number_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns of a table that can be scores.

    Parameters
    ----------
    frame : DataFrame
        A table from ``read_table``.
    """
    return [name for name in frame.columns if is_number(frame[name])]


def _score_column(frame: pd.DataFrame, name: str) -> Array:
    if name not in frame.columns or not is_number(frame[name]):
        listed = ", ".join(number_columns(frame)) or "none"
        raise InputError(
            f"{name!r} is not a numeric column of this table. The numeric columns are: {listed}."
        )
    return as_float(frame[name]).copy()

"""Calibrators of K classes with intervals, with few enough steps for a small program.

Venn–Abers has a step at nearly every calibration score, for each class or pair of classes: a program with all of them
takes megabytes. Adjacent steps are therefore merged. A merged step has the lowest p0 and the highest p1 of its steps,
so every interval contains the calibrator's own and stays valid; its p is the middle of theirs. Both ends move by at
most ``share · √(p1 (1 − p0))``, so less where a probability is near 0 or 1, with the smallest share that leaves few
enough steps.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from calib.calibrators import IntervalCalibrator, merge_pair
from calib.calibrators.by_class import FromTwoClasses
from calib.kernel.checks import Array
from calib.kernel.formula import Expression, Pieces
from calib.kernel.wording import number

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

"""Calibrators of K classes with intervals, with few enough steps for a small program.

Venn–Abers has a step at nearly every calibration score, for each class or pair of classes: a program with all of them
takes megabytes. Adjacent steps are merged outwards: a merged step has the lowest p0 and the highest p1 of its steps, so
every interval contains the calibrator's own and stays valid. An end moves by at most a share of the interval's width,
the smallest share that leaves few enough steps.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from calib.calibrators import StepPairs
from calib.calibrators.by_class import FromTwoClasses
from calib.kernel.checks import Array
from calib.kernel.wording import number

MOST_STEPS = 1600  # of all classes or pairs: in SQL, Python or JavaScript less than 200 kB
SHARES = 2.0 ** np.arange(-10, 8.25, 0.25)  # of the width, to be tried


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs (p0, p1) of one class or pair of classes: number i holds if i breaks (t,) are at most the score."""

    breaks: Array
    p0: Array
    p1: Array

    def merged(self, share: float) -> Pairs:
        """Merge steps outwards by at most this share of the interval's width."""
        allowed = share * (self.p1 - self.p0)
        starts, start = [], 0
        while start < len(self.p0):
            starts.append(start)
            ends = (np.searchsorted(p, p[start] + allowed[start], side="right") for p in (self.p0, self.p1))
            start = max(start + 1, int(min(ends)))
        first, last = np.array(starts), np.append(starts[1:], len(self.p0)) - 1
        unit = 10.0 ** np.ceil(1 - np.log10(np.clip(allowed[first], 1e-12, 1.0)))
        p0 = np.minimum(np.floor(self.p0[first] * unit) / unit, self.p0[first])
        p1 = np.maximum(np.minimum(np.ceil(self.p1[last] * unit) / unit, 1.0), self.p1[last])
        return Pairs(
            self.breaks[first[1:] - 1],
            np.minimum.accumulate(p0[::-1])[::-1],
            np.maximum.accumulate(p1),
        )

    def moved(self, exact: Pairs) -> float:
        """Return how far an end is from that of the exact pairs at most."""
        at = np.append(0, np.searchsorted(self.breaks, exact.breaks, side="right"))
        return float(max((exact.p0 - self.p0[at]).max(), (self.p1[at] - exact.p1).max()))


def with_few_steps(fitted: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a calibrator of K classes with at most ``MOST_STEPS`` steps, and a note if steps were merged.

    All other calibrators, and those whose p0 or p1 decreases somewhere, are returned as they are.
    """
    if not (isinstance(fitted, FromTwoClasses) and fitted.gives_interval):
        return fitted, ()
    exact = {key: Pairs(*each.aligned_steps()) for key, each in fitted.calibrators_.items()}  # type: ignore[attr-defined]
    if sum(len(each.p0) for each in exact.values()) <= MOST_STEPS or not all(map(_increase, exact.values())):
        return fitted, ()
    merged = _merged(exact)
    made = copy(fitted)
    made.calibrators_ = {key: _calibrator(each, fitted.merge) for key, each in merged.items()}
    moved = max(each.moved(exact[key]) for key, each in merged.items())
    return made, (
        f"Steps are merged, so that the program is small: p0 and p1 of {fitted.one_per.removeprefix('one per ')} "
        f"are moved outwards by up to {number(moved)}. Every interval contains the calibrator's own; the calibrator file "
        "(JSON) has all steps.",
    )


def _increase(pairs: Pairs) -> bool:
    return bool((np.diff(pairs.p0) >= 0).all() and (np.diff(pairs.p1) >= 0).all())


def _merged(exact: dict[Any, Pairs]) -> dict[Any, Pairs]:
    """Merge the steps with the smallest share that leaves few enough, by bisection."""
    low, high = 0, len(SHARES) - 1
    while low < high:
        middle = (low + high) // 2
        few = sum(len(each.merged(SHARES[middle]).p0) for each in exact.values()) <= MOST_STEPS
        low, high = (low, middle) if few else (middle + 1, high)
    return {key: each.merged(SHARES[low]) for key, each in exact.items()}


def _calibrator(pairs: Pairs, merge: str) -> StepPairs:
    p1_breaks = np.nextafter(pairs.breaks, -np.inf)  # a break belongs to the step on its left for p1
    made = StepPairs(merge, "probability").set_steps((pairs.breaks, pairs.p0), (p1_breaks, pairs.p1))
    made.notes_ = ()
    return made

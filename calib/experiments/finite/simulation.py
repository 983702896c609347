"""Every partition of a line of points, with predictions and losses.

Shaker and Hüllermeier (2025), section 3.1 and Figure 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from calib.kernel.checks import Array, cut_line
from calib.kernel.progress import Watch
from calib.synthetic import FiniteExample, Partitions

PRESETS = ("one_leaf", "one_split", "pure_leaves")


@dataclass(frozen=True)
class ForecastLine:
    """Points (position, true probability, label or None) from left to right, and cuts after some of them.

    >>> line = ForecastLine.of("1:0.1:0 2:0.7 | 3:0.9:1")
    >>> str(line.turned(0)), str(line.cut_at([0]))
    ('1:0.1:1 2:0.7 | 3:0.9:1', '1:0.1:0 | 2:0.7 3:0.9:1')
    """

    points: tuple[tuple[float, float, int | None], ...]
    cuts: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> ForecastLine:
        """Parse a line from a text.

        Raises
        ------
        InputError
            If the text is not valid, with the reason.
        """
        points, cuts = cut_line(text, "line")
        return cls(tuple(points), tuple(cuts))

    def __str__(self) -> str:
        parts = []
        for i, (x, pi, label) in enumerate(self.points):
            parts.append(f"{x:.15g}:{pi:.15g}" + ("" if label is None else f":{label}"))
            parts += ["|"] if i in self.cuts else []
        return " ".join(parts)

    def turned(self, point: int) -> ForecastLine:
        """Return the line with a point's label flipped; a point without a label gets 1."""
        points = list(self.points)
        x, pi, label = points[point]
        points[point] = x, pi, 1 - (label or 0)
        return replace(self, points=tuple(points))

    def cut_at(self, cuts: Iterable[int]) -> ForecastLine:
        """Return the line with these cuts."""
        return replace(self, cuts=tuple(sorted(cuts)))

    def moved(self, cut: int, to: int) -> ForecastLine:
        """Return the line with one cut moved."""
        return self.cut_at({*self.cuts} - {cut} | {to})

    @property
    def example(self) -> FiniteExample:
        """Return the points as data with known true probabilities."""
        x, posterior, _ = zip(*self.points, strict=True)
        train_x, train_y = zip(*((at, y) for at, _, y in self.points if y is not None), strict=True)
        return FiniteExample(x, posterior, train_x, train_y)


@dataclass(frozen=True, eq=False)
class EveryPartition:
    """A line with all its partitions, and the rows of a few: "own", the three PRESETS, and "least".

    "one_split" is the single cut with the lowest expected loss, and "pure_leaves" cuts half-way between different
    labels. "least" is the partition with the lowest expected loss among those whose leaves all have a label, as in a
    tree; ties go to the fewest cuts, then to the left.
    """

    line: ForecastLine
    every: Partitions
    rows: dict[str, int]

    def cuts(self, which: str | int) -> tuple[int, ...]:
        """Return the points after which a partition, given by name or row, cuts the line."""
        row = self.rows[which] if isinstance(which, str) else which
        return tuple(np.flatnonzero(self.every.cuts[row]).tolist())


def every_partition(
    settings: Mapping[str, Any], random_state: int = 0, watch: Watch | None = None
) -> EveryPartition:
    """Evaluate all partitions of ``settings["line"]``, a text of points and cuts; nothing is random.

    >>> found = every_partition({"line": "1:0.1:0 2:0.3 | 3:0.9:1"})
    >>> found.every.loss.round(3).tolist(), found.cuts("least")
    ([0.5, 0.6, 0.333, 0.3], (1,))
    """
    line = ForecastLine.of(settings["line"])
    every = line.example.partitions()
    count = every.cuts.sum(axis=1)
    order = np.lexsort((np.arange(len(count)), count, every.loss.round(12), ~every.labelled))
    rows = {
        "own": _row(line.cuts),
        "one_leaf": 0,
        "one_split": int(order[count[order] == 1][0]),
        "pure_leaves": _row(_pure(line)),
        "least": int(order[0]),
    }
    return EveryPartition(line, every, rows)


def _row(cuts: tuple[int, ...]) -> int:
    return sum(1 << cut for cut in cuts)


def _pure(line: ForecastLine) -> tuple[int, ...]:
    """Find the gap at the middle between each two neighbouring labels that differ."""
    x = np.array([at for at, _, _ in line.points])
    labelled = [(at, label) for at, _, label in line.points if label is not None]
    middles = [(a + b) / 2 for (a, y), (b, z) in pairwise(labelled) if y != z]
    return tuple((np.searchsorted(x, middles, side="right") - 1).tolist())


def fewest_cuts(every: Partitions) -> Array:
    """Return row numbers of one partition per place of CL and GL, each with the fewest cuts there.

    Partitions with a leaf without a label are left out, because no tree has one.
    """
    places = np.column_stack([every.calibration, every.grouping]).round(9)
    order = np.argsort(every.cuts.sum(axis=1), kind="stable")
    order = order[every.labelled[order]]
    return order[np.unique(places[order], axis=0, return_index=True)[1]]

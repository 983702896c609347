"""Pool adjacent violators one move at a time, with every intermediate state.

Ayer et al. (1955), in the form of lemma 1 of Vovk and Petej (2014): cells of adjacent scores have a
ratio a/N each. The leftmost pair of cells with falling ratios is joined, until none falls. Counts are whole numbers,
and are compared exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from calib.kernel.checks import Array, labelled_points
from calib.kernel.isotonic_regression import pool_ties
from calib.kernel.progress import Watch


@dataclass(frozen=True, eq=False)
class Moves:
    """All states from single scores to the isotonic fit.

    Attributes
    ----------
    points
        Input points (score, label).
    scores, rows, ones : (k,)
        Distinct scores, with the number of rows and of rows with label 1 for each.
    states
        Bounds of the pools after 0, 1, … moves; pool b holds the scores bounds[b] to bounds[b + 1] − 1.
    joined
        For every move, the index of the left pool of the pair in the state before.
    """

    points: tuple[tuple[float, int], ...]
    scores: Array
    rows: Array
    ones: Array
    states: tuple[tuple[int, ...], ...]
    joined: tuple[int, ...]

    @property
    def moves(self) -> int:
        return len(self.joined)

    def ratio(self, state: int, pool: int) -> tuple[int, int]:
        """Return (a, N) of a pool: its rows with label 1, and its rows."""
        low, high = self.states[state][pool : pool + 2]
        return int(self.ones[low:high].sum()), int(self.rows[low:high].sum())

    def fitted(self, state: int) -> Array:
        """Return the value a/N of every score's pool, (k,)."""
        bounds = np.array(self.states[state])
        return np.repeat(
            np.add.reduceat(self.ones, bounds[:-1]) / np.add.reduceat(self.rows, bounds[:-1]), np.diff(bounds)
        )

    def diagram(self) -> tuple[Array, Array]:
        """Return the cumulative-sum diagram: rows and ones up to each score, (k + 1,), from (0, 0)."""
        return np.append(0, np.cumsum(self.rows)), np.append(0, np.cumsum(self.ones))


def pool_step_by_step(
    settings: Mapping[str, Any], random_state: int = 0, watch: Watch | None = None
) -> Moves:
    """Compute the moves for ``settings["points"]``, a text of score:label; nothing is random.

    >>> moves = pool_step_by_step({"points": "1:0 2:1 3:1 4:0 5:1"})
    >>> [moves.fitted(state).round(2).tolist() for state in range(moves.moves + 1)]
    [[0.0, 1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.5, 0.5, 1.0], [0.0, 0.67, 0.67, 0.67, 1.0]]
    """
    points = labelled_points(settings["points"], "points")
    scores, labels = np.array([score for score, _ in points]), np.array([label for _, label in points])
    tied = pool_ties(scores, labels)
    rows, ones = tied.weights.astype(int), tied.sums.astype(int)
    bounds = list(range(len(tied.scores) + 1))
    states = [tuple(bounds)]
    joined: list[int] = []
    while True:
        ratios = [
            Fraction(int(ones[low:high].sum()), int(rows[low:high].sum())) for low, high in pairwise(bounds)
        ]
        falling = [pool for pool in range(len(ratios) - 1) if ratios[pool] > ratios[pool + 1]]
        if not falling:
            return Moves(tuple(points), tied.scores, rows, ones, tuple(states), tuple(joined))
        joined.append(falling[0])
        del bounds[falling[0] + 1]
        states.append(tuple(bounds))

"""Venn–Abers with one calibration row excluded, a different one for every score.

Out-of-bag calibration (Johansson et al. 2019, eq. 10–11) excludes a random row for each test row, so no fit serves two
test rows. But neighbours may be pooled in any order. The calibration set is therefore cut into runs that are pooled
once. A query pools these blocks again, with single entries only in the runs where a row is removed or added.
"""

from __future__ import annotations

import numpy as np

from calib.kernel.checks import Array
from calib.kernel.isotonic_regression import Tied, places, pool_adjacent_violators

LEFT_OUT_AT_ONCE = 64


def pairs_without(tied: Tied, scores: Array, removed_scores: Array, removed_labels: Array) -> Array:
    """Return p0 and p1 (m, 2) at scores[j], without one calibration row of this score and label, (m,) each."""
    runs = _Runs(tied)
    # (s, 0) is placed above calibration rows of equal score and (s, 1) below them: both are pooled with them.
    below, upto = places(tied.scores, scores)
    group = np.searchsorted(tied.scores, removed_scores)
    queries, which = np.unique(
        np.column_stack([upto, below, group, removed_labels]).astype(np.intp), axis=0, return_inverse=True
    )
    pairs = np.empty((len(queries), 2))
    for j, (after, before, taken, label) in enumerate(queries.tolist()):
        pairs[j] = runs.value(after, 0, taken, label), runs.value(before, 1, taken, label)
    return pairs[which]


class _Runs:
    """Weights and sums, as rows of a table, for every distinct score and for the pools within runs of 64 scores."""

    def __init__(self, tied: Tied):
        self.single = np.stack([tied.weights, tied.sums])
        pools = [
            pool_adjacent_violators(
                tied.sums[first : first + LEFT_OUT_AT_ONCE], tied.weights[first : first + LEFT_OUT_AT_ONCE]
            )
            for first in range(0, len(tied.scores), LEFT_OUT_AT_ONCE)
        ]
        self.pooled = np.concatenate([np.stack([pool.weights, pool.sums]) for pool in pools], axis=1)
        self.starts = np.cumsum([0] + [len(pool.values) for pool in pools])

    def value(self, place: int, label: int, group: int, removed_label: int) -> float:
        """Return the isotonic fit at an added row, without one row of ``removed_label`` at score ``group``."""
        rest = self.single[:, group : group + 1] - [[1], [removed_label]]
        if rest[0, 0] == 0:
            rest = rest[:, :0]
        added = np.array([[1.0], [label]])
        end = self.single.shape[1]
        if place <= group:
            before, after = (
                self._span(0, place),
                [*self._span(place, group), rest, *self._span(group + 1, end)],
            )
        else:
            before, after = (
                [*self._span(0, group), rest, *self._span(group + 1, place)],
                self._span(place, end),
            )
        weights, sums = np.concatenate([*before, added, *after], axis=1)
        blocks = pool_adjacent_violators(sums, weights)
        position = sum(piece.shape[1] for piece in before)
        return blocks.values[np.searchsorted(blocks.bounds, position, side="right") - 1]

    def _span(self, start: int, stop: int) -> list[Array]:
        """Return the distinct scores ``start`` to ``stop`` − 1: pools of whole runs, single entries at the ends."""
        first, last = -(-start // LEFT_OUT_AT_ONCE), stop // LEFT_OUT_AT_ONCE
        if first >= last:
            return [self.single[:, start:stop]]
        return [
            self.single[:, start : first * LEFT_OUT_AT_ONCE],
            self.pooled[:, self.starts[first] : self.starts[last]],
            self.single[:, last * LEFT_OUT_AT_ONCE : stop],
        ]

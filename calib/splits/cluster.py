"""Split by cluster: all rows of one customer, patient or machine are on the same side, with nearly equal class shares.

Clusters are assigned in order of decreasing size. Clusters with equal class counts are interchangeable: the number of
them in each part brings the part's class counts as close as possible to its share (least squares), and the choice
among them is random.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calib.kernel.checks import InputError
from calib.splits.base import RowInfo, Splitter, TrainTestRows

# Random factor of a cluster's size in the order of assignment, so that seeds differ
JITTER = 0.5


class ByCluster(Splitter):
    """Split that puts no cluster into two parts.

    >>> rows = RowInfo(np.array([0, 1, 0, 1, 0, 1]), cluster=np.array([0, 0, 1, 1, 2, 2]))
    >>> len(ByCluster().holdout(rows, 1 / 3, 0).test)
    2
    """

    key = "cluster"
    label = "By cluster"
    help = "Rows of one cluster stay together. Use this split if one person or machine can have several rows."
    needs = "cluster"

    def holdout(self, rows: RowInfo, share: float, random_state: Any) -> TrainTestRows:
        cluster, totals = _totals(rows, self._column(rows), 2)
        part = _assign(totals, np.array([1 - share, share]), random_state)
        return TrainTestRows(np.flatnonzero(part[cluster] == 0), np.flatnonzero(part[cluster] == 1))

    def folds(self, rows: RowInfo, k: int, random_state: Any) -> Sequence[TrainTestRows]:
        cluster, totals = _totals(rows, self._column(rows), k)
        part = _assign(totals, np.full(k, 1 / k), random_state)
        fold_of = part[cluster]
        return [
            TrainTestRows(np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold))
            for fold in range(k)
        ]

    def bag(self, rows: RowInfo) -> np.ndarray | None:
        return self._column(rows)


def _totals(rows: RowInfo, column: np.ndarray, parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (cluster of each row (n,), numbered from 0; rows of each class in every cluster, (clusters, K))."""
    _, cluster = np.unique(column, return_inverse=True)
    k = int(cluster.max()) + 1
    if k < parts:
        raise InputError(
            f"cluster: the rows belong to {k} cluster{'' if k == 1 else 's'}, but at least {parts} are needed. "
            "Choose fewer folds, a column with more clusters, or split='random'."
        )
    labels = range(max(2, int(rows.y.max()) + 1))
    sums = [np.bincount(cluster, weights=rows.weights * (rows.y == label), minlength=k) for label in labels]
    return cluster, np.column_stack(sums)


def _assign(totals: np.ndarray, shares: np.ndarray, random_state: Any) -> np.ndarray:
    """Assign clusters to parts, int (clusters,), with about ``shares`` (parts,) of each class in ``totals``."""
    from sklearn.utils import check_random_state

    rng = check_random_state(random_state)
    kinds, kind = np.unique(totals, axis=0, return_inverse=True)
    shuffled = rng.permutation(len(totals))
    members = np.split(shuffled[np.argsort(kind[shuffled], kind="stable")], np.cumsum(np.bincount(kind))[:-1])
    # All classes count equally, however rare
    sizes = kinds / np.where(totals.any(axis=0), totals.sum(axis=0), 1)
    part, dealt = np.empty(len(totals), dtype=np.intp), np.zeros((len(shares), totals.shape[1]))
    for i in np.argsort(-sizes.sum(axis=1) * rng.uniform(1 - JITTER, 1 + JITTER, len(sizes)), kind="stable"):
        numbers = _numbers(len(members[i]), sizes[i], dealt, shares)
        dealt += numbers[:, None] * sizes[i]
        part[members[i]] = np.repeat(np.arange(len(shares)), numbers)
    return _without_empty(part, len(shares), sizes.sum(axis=1)[kind])


def _numbers(m: int, size: np.ndarray, dealt: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return how many of ``m`` equal clusters go to each part, in whole numbers (least squares to the shares)."""
    wanted, square = m * shares, size @ size
    if square:  # else the weights are zero or their squares underflow
        lacking = shares[:, None] * (dealt.sum(axis=0) + m * size) - dealt
        needed = np.maximum(lacking @ size / square, 0)
        if needed.any():  # else the assigned weights are too large for these to matter
            wanted = needed * (m / needed.sum())
    numbers = np.floor(wanted + 1e-9).astype(np.intp)
    rest = np.argsort(numbers - wanted, kind="stable")[: m - numbers.sum()]
    numbers[rest] += 1
    return numbers


def _without_empty(part: np.ndarray, parts: int, size: np.ndarray) -> np.ndarray:
    """Give each empty part the smallest cluster of the part with the most clusters."""
    for empty in np.flatnonzero(np.bincount(part, minlength=parts) == 0):
        donors = np.flatnonzero(part == np.bincount(part, minlength=parts).argmax())
        part[donors[np.argmin(size[donors])]] = empty
    return part

"""Random split: each class has the same share in every part; use it if rows are independent.

A row that represents w counted rows is divided as they would be, independently (binomial and multinomial draws),
without expanding the counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np

from calib.splits.base import RowInfo, Splitter, TrainTestRows


class AtRandom(Splitter):
    """Random split of scikit-learn, stratified by class; some papers' splits are not stratified.

    >>> AtRandom().holdout(RowInfo(np.array([0, 1, 0, 1])), 0.5, 0).test    # one of each class
    array([3, 0])
    """

    key = "random"
    label = "Random"
    help = "Rows are assigned at random. Use this split if rows are independent of each other."

    def __init__(self, stratified: bool = True):
        self.stratified = stratified

    def holdout(self, rows: RowInfo, share: float, random_state: Any) -> TrainTestRows:
        from sklearn.model_selection import train_test_split

        if rows.counted:
            drawn = np.random.default_rng(random_state).binomial(_counts(rows), share)
            return _cut_of_counts(_counts(rows) - drawn, drawn)
        classes = _strata(rows.y, ceil(1 / min(share, 1 - share))) if self.stratified else None
        train, test = train_test_split(
            np.arange(rows.n), test_size=share, stratify=classes, random_state=random_state
        )
        return TrainTestRows(train, test)

    def folds(self, rows: RowInfo, k: int, random_state: Any) -> Sequence[TrainTestRows]:
        from sklearn.model_selection import KFold, StratifiedKFold

        if rows.counted:
            counts = _counts(rows)
            drawn = np.random.default_rng(random_state).multinomial(counts, np.full(k, 1 / k))
            return [_cut_of_counts(counts - in_part, in_part) for in_part in drawn.T]
        kind = StratifiedKFold if self.stratified else KFold
        splitter = kind(k, shuffle=True, random_state=random_state)
        return [TrainTestRows(train, test) for train, test in splitter.split(rows.y, _strata(rows.y, k))]


def _strata(y: np.ndarray, least: int) -> np.ndarray:
    """Return the classes; if there are more than two, those with fewer rows than ``least`` are pooled."""
    counts = np.bincount(y)
    small = counts < least
    if len(counts) < 3 or not small.any():
        return y
    if counts[small].sum() < least and not small.all():
        small[np.where(small, np.inf, counts).argmin()] = True
    return np.where(small[y], len(counts), y)


def _counts(rows: RowInfo) -> np.ndarray:
    return rows.weights.astype(np.int64)


def _cut_of_counts(train: np.ndarray, test: np.ndarray) -> TrainTestRows:
    """Return a cut from the counts of each row on either side."""
    learn, judge = np.flatnonzero(train), np.flatnonzero(test)
    return TrainTestRows(learn, judge, train[learn].astype(np.float64), test[judge].astype(np.float64))

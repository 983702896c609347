"""Given split: a splitter of scikit-learn, or pairs of index arrays, state which rows train and which calibrate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from calib.splits.base import RowInfo, Splitter, TrainTestRows


class GivenSplit(Splitter):
    """Split by stated cuts; a single cut is the last of them, which in time-series splits trains on the most rows.

    It is not in ``SPLITS``, because a Recipe cannot state it.

    >>> import numpy as np
    >>> first, last = TrainTestRows(np.array([0]), np.array([1])), TrainTestRows(np.array([0, 1]), np.array([2]))
    >>> GivenSplit([first, last]).calibration(RowInfo(np.array([0, 1, 0])), 0.5, None).test
    array([2])
    """

    key = "given"
    label = "Given"
    help = "You specify the training and calibration rows."
    seeded = False
    divides = False
    said = "this cv"
    remedy = "Choose a cv whose training rows have both classes, such as StratifiedKFold."

    def __init__(self, cuts: Sequence[TrainTestRows]) -> None:
        self.cuts = cuts

    def holdout(self, rows: RowInfo, share: float, random_state: Any) -> TrainTestRows:
        return self.cuts[-1]

    def folds(self, rows: RowInfo, k: int, random_state: Any) -> Sequence[TrainTestRows]:
        return self.cuts

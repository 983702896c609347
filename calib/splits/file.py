"""Split by a column that states which rows train, calibrate and test; nothing is random.

If the column names no calibration rows, they are drawn at random from the training rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calib.kernel.checks import InputError
from calib.splits.base import RowInfo, Splitter, TrainTestRows
from calib.splits.random import AtRandom

TRAIN, CALIBRATE, TEST = range(3)  # codes in RowInfo.part


class ByFile(Splitter):
    """Split in which the column ``part`` fixes training, calibration and test rows.

    >>> rows = RowInfo(np.array([0, 1, 0, 1]), part=np.array([0, 0, 2, 2]))
    >>> ByFile().holdout(rows, 0.3, 0).test
    array([2, 3])
    """

    key = "file"
    label = "From a column"
    help = (
        "A column assigns rows to the training, calibration and test sets. Use this split if other people "
        "must be able to reproduce the result."
    )
    needs = "part"
    seeded = False

    @classmethod
    def refuses(cls, asked: str, fixed: bool) -> str | None:
        if asked == "calibration" or not fixed:
            return None
        return "The column fixes the calibration rows."

    def holdout(self, rows: RowInfo, share: float, random_state: Any) -> TrainTestRows:
        part = self._column(rows)
        cut = TrainTestRows(np.flatnonzero(part != TEST), np.flatnonzero(part == TEST))
        for name, found in (("test", cut.test), ("train", cut.train)):
            if not len(found):
                raise InputError(
                    f"part: no row has the value {name!r} in this column. Give some rows this value, or "
                    "choose split='random'."
                )
        return cut

    def folds(self, rows: RowInfo, k: int, random_state: Any) -> Sequence[TrainTestRows]:
        raise InputError(
            "evaluation: split='file' has only one test set, so there are no folds. Choose evaluation='holdout'."
        )

    def calibration(self, rows: RowInfo, share: float, random_state: Any) -> TrainTestRows:
        part = self._column(rows)
        if not (part == CALIBRATE).any():
            return AtRandom().holdout(rows, share, random_state)
        train = np.flatnonzero(part == TRAIN)
        if not len(train):
            raise InputError(
                "part: every row outside the test set is a calibration row, so no training rows are left. Mark some "
                "rows with 'train'."
            )
        return TrainTestRows(train, np.flatnonzero(part == CALIBRATE))

    def calibration_folds(self, rows: RowInfo, k: int, random_state: Any) -> Sequence[TrainTestRows]:
        self._refuse_fixed(rows, "cv")
        return AtRandom().folds(rows, k, random_state)

    def scores_of(self, rows: RowInfo) -> np.ndarray:
        part = self._column(rows)
        fixed = np.flatnonzero(part == CALIBRATE)
        return fixed if len(fixed) else np.arange(rows.n)

    def check_all_train(self, rows: RowInfo, placement: str) -> None:
        self._refuse_fixed(rows, placement)

    def bag(self, rows: RowInfo) -> np.ndarray | None:
        self._refuse_fixed(rows, "oob")
        return None

    def _refuse_fixed(self, rows: RowInfo, placement: str) -> None:
        if (self._column(rows) == CALIBRATE).any():
            raise InputError(
                f"placement: {placement!r} uses training rows to calibrate, but the part column marks "
                "calibration rows. Choose placement='split', or a column that contains only train and test."
            )

"""Split by time: training rows are older than calibration rows, and these older than test rows, as in later use.

Rows with equal times stay together. Folds are an expanding window (forecasting with a rolling origin, Tashman 2000): k
+ 1 blocks of about equally many rows; each block but the first is evaluated with a model of earlier rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calib.kernel.checks import InputError
from calib.kernel.records import Parameter
from calib.splits.base import RowInfo, Splitter, TrainTestRows

DAY = 86_400_000_000_000  # nanoseconds


class InTime(Splitter):
    """Split that holds out the latest rows.

    Parameters
    ----------
    gap
        Training rows are earlier than the first held-out row by more than this, in days for dates, otherwise in units
        of the column. Rows in between are not used.

    Examples
    --------
    >>> years = RowInfo(np.array([0, 1, 0, 1, 0]), time=np.array([3.0, 1.0, 2.0, 3.0, 0.0]))
    >>> cut = InTime().holdout(years, 0.3, 0)         # two rows are of the last year and stay together
    >>> cut.train, cut.test
    (array([1, 2, 4]), array([0, 3]))
    """

    key = "time"
    label = "By time"
    help = (
        "Test rows are later than training rows. Use this split if the model will be applied to later rows."
    )
    needs = "time"
    seeded = False
    parameters = (
        Parameter(
            "gap",
            "Gap",
            "number",
            0.0,
            low=0.0,
            high=1e9,
            help="Minimum gap between training rows and held-out rows: in days for dates, otherwise in "
            "units of the column.",
        ),
    )

    def __init__(self, gap: float = 0.0):
        self.gap = gap

    @classmethod
    def refuses(cls, asked: str, fixed: bool) -> str | None:
        return "Trees trained on later rows would score earlier rows." if asked == "bag" else None

    def holdout(self, rows: RowInfo, share: float, random_state: Any) -> TrainTestRows:
        moments, position, before = _moments(self._column(rows), rows.weights)
        _refuse_fewer(moments, 2, "a split by time")
        begin = 1 + int(np.argmin(np.abs(1 - before[1:] - share)))
        return self._cut(rows, moments, position, begin, len(moments))

    def folds(self, rows: RowInfo, k: int, random_state: Any) -> Sequence[TrainTestRows]:
        moments, position, before = _moments(self._column(rows), rows.weights)
        _refuse_fewer(moments, k + 1, f"a split by time into {k} folds")
        begins = _boundaries(before, k + 1)
        return [
            self._cut(rows, moments, position, begin, end)
            for begin, end in zip(begins, [*begins[1:], len(moments)], strict=True)
        ]

    def bag(self, rows: RowInfo) -> np.ndarray | None:
        raise InputError(
            "placement: with split='time', out-of-bag scores of earlier rows would come from trees trained "
            "on later rows. Choose placement='split' or 'cv'."
        )

    def _cut(
        self, rows: RowInfo, moments: np.ndarray, position: np.ndarray, begin: int, end: int
    ) -> TrainTestRows:
        """Hold out the rows from moment ``begin`` up to, but not including, moment ``end``."""
        known = int(np.searchsorted(moments, _before(moments[begin], self.gap), side="left"))
        if known == 0:
            first = moments[begin]
            written = np.datetime_as_string(first, "D") if isinstance(first, np.datetime64) else f"{first:g}"
            raise InputError(
                f"data_params.gap: a gap of {self.gap:g} before the first held-out row ({written}) "
                "leaves no training rows. Choose a smaller gap, or a smaller test share."
            )
        return TrainTestRows(
            np.flatnonzero(position < known), np.flatnonzero((position >= begin) & (position < end))
        )


def _moments(time: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (distinct times (m,), index of each row's time (n,), share of rows before each time (m,))."""
    moments, position = np.unique(time, return_inverse=True)
    each = np.bincount(position, weights=weights, minlength=len(moments))
    return moments, position, (np.cumsum(each) - each) / each.sum()


def _boundaries(before: np.ndarray, blocks: int) -> list[int]:
    """Return where the second and later blocks begin; each has at least one time, and weights are nearly equal."""
    begins: list[int] = []
    for j in range(1, blocks):
        low, high = (begins[-1] if begins else 0) + 1, len(before) - blocks + j
        begins.append(low + int(np.argmin(np.abs(before[low : high + 1] - j / blocks))))
    return begins


def _before(moment: Any, gap: float) -> Any:
    if not isinstance(moment, np.datetime64):
        return moment - gap
    return moment.astype("datetime64[ns]") - np.timedelta64(round(gap * DAY), "ns")


def _refuse_fewer(moments: np.ndarray, needed: int, what: str) -> None:
    if len(moments) < needed:
        raise InputError(
            f"time: the column has {len(moments)} distinct time{'' if len(moments) == 1 else 's'}, but "
            f"{what} needs at least {needed}. Choose a column with more times, fewer folds, or split='random'."
        )

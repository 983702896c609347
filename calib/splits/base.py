"""Base of the splits: hold out rows once for the test set, and again within the others for calibration.

``holdout`` and ``folds`` hold out test rows, ``calibration`` and ``calibration_folds`` calibration rows; usually they
work alike. Row positions refer to the arrays given to the split.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from calib.kernel.checks import InputError
from calib.kernel.records import Parameter
from calib.kernel.rows import Rows


@dataclass(frozen=True, eq=False)
class RowInfo(Rows):
    """Information about n rows that a split may use.

    Attributes
    ----------
    y, weight, counts, cluster
        Fields of ``Rows``.
    time
        Array (n,) of numbers or of datetime64, or None.
    part
        Int array (n,), index in ``calib.data.PARTS`` of the row's use by the file, or None.
    counted
        Whether a row of weight w represents w rows that a random draw may divide.
    """

    time: np.ndarray | None = None
    part: np.ndarray | None = None
    counted: bool = False

    @property
    def rarest(self) -> int:
        """Number of rows of the minority class, or its weight if that is less: only counted rows can be divided.

        With three or more classes, that of the second largest class, since a part may lack the smaller ones.
        """
        held = [self.weights] if self.counted else [self.weights, None]
        return int(min(np.sort(np.bincount(self.y, weights, minlength=2))[-2] for weights in held))

    def take(self, index: np.ndarray, weight: np.ndarray | None = None) -> RowInfo:
        """Return some of the rows; ``weight`` replaces their own weights."""
        taken = self.of(index)
        return taken if weight is None else replace(taken, weight=weight)


class TrainTestRows(NamedTuple):
    """Positions of the rows that learn and of those held out; weights only if counted rows were divided."""

    train: np.ndarray
    test: np.ndarray
    train_weight: np.ndarray | None = None
    test_weight: np.ndarray | None = None


class Splitter(ABC):
    """Base of the splits. A split defines ``holdout`` and ``folds``, and the other methods if they differ.

    Attributes
    ----------
    key, label, help
        Name in a Recipe, name on pages, and one line on when to use it.
    needs
        Column that it uses, as a field of Recipe and of ``RowInfo``, or None.
    seeded
        Whether another seed gives another split.
    divides
        Whether it divides rows into the stated number of folds.
    said, remedy
        Its name in a message, and what to choose if a part has rows of one class only.
    parameters
        Options of ``__init__``, stored in a Recipe's ``data_params``.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    help: ClassVar[str]
    needs: ClassVar[str | None] = None
    seeded: ClassVar[bool] = True
    divides: ClassVar[bool] = True
    remedy: ClassVar[str] = "Choose fewer folds, another calibration_size, or split='random'."
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    @property
    def said(self) -> str:
        return f"split={self.key!r}"

    @classmethod
    def refuses(cls, asked: str, fixed: bool) -> str | None:
        """Return why a placement is not valid with this split, as a sentence, or None; fitting refuses it too.

        Parameters
        ----------
        asked
            What the placement asks of the split (``Placement.asks``).
        fixed
            Whether the file states which rows calibrate.
        """
        return None

    @abstractmethod
    def holdout(self, rows: RowInfo, share: float, random_state: Any) -> TrainTestRows:
        """Hold out about ``share`` of the rows.

        Raises
        ------
        InputError
            If there are no such rows.
        """

    @abstractmethod
    def folds(self, rows: RowInfo, k: int, random_state: Any) -> Sequence[TrainTestRows]:
        """Return ``k`` cuts for cross-validation; each part is held out once."""

    def calibration(self, rows: RowInfo, share: float, random_state: Any) -> TrainTestRows:
        """Hold out the rows that calibrate from those that train."""
        return self.holdout(rows, share, random_state)

    def calibration_folds(self, rows: RowInfo, k: int, random_state: Any) -> Sequence[TrainTestRows]:
        """Return (train, calibration) positions for every fold of cross-calibration."""
        return self.folds(rows, k, random_state)

    def scores_of(self, rows: RowInfo) -> np.ndarray:
        """Return the positions of the rows that calibrate an existing model, which needs no training rows."""
        return np.arange(rows.n)

    def bag(self, rows: RowInfo) -> np.ndarray | None:
        """Return groups (n,) that bags must draw whole, or None for single rows; InputError if bags are not valid."""
        return None

    def check_all_train(self, rows: RowInfo, placement: str) -> None:  # noqa: B027 – most splits allow it
        """Raise InputError if a placement may not train on all these rows."""

    def _column(self, rows: RowInfo) -> np.ndarray:
        """Return the column that the split uses."""
        assert self.needs is not None
        values = getattr(rows, self.needs)
        if values is None:
            raise InputError(
                f"split={self.key!r} needs the field {self.needs}. Set this field to a column, or choose "
                "split='random'."
            )
        return values


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

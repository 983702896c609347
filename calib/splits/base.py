"""A split says which rows are held out: once for the test set, and again inside the rest for calibration.

``holdout`` and ``folds`` cut off test rows, ``calibration`` and ``calibration_folds`` the rows that
calibrate; most often these are the same. Row positions are those in the arrays that the split is given.
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
        As in ``Rows``.
    time
        Array (n,) of numbers or of datetime64, or None.
    part
        Int array (n,), the place in ``calib.data.PARTS`` of what the file says the row is for, or None.
    counted
        Whether a row of weight w stands for w rows, which a random draw may part from each other.
    """

    time: np.ndarray | None = None
    part: np.ndarray | None = None
    counted: bool = False

    @property
    def rarest(self) -> int:
        """Rows of the minority class, or what they weigh if that is less: only counted ones can be parted.

        Of three or more classes, those of the second largest, since a part may lack the smaller ones.
        """
        held = [self.weights] if self.counted else [self.weights, None]
        return int(min(np.sort(np.bincount(self.y, weights, minlength=2))[-2] for weights in held))

    def take(self, index: np.ndarray, weight: np.ndarray | None = None) -> RowInfo:
        """Some of the rows; ``weight`` takes the place of their own weights."""
        taken = self.of(index)
        return taken if weight is None else replace(taken, weight=weight)


class Cut(NamedTuple):
    """Positions of the rows that learn and of those held out; weights only where counted rows were parted."""

    train: np.ndarray
    test: np.ndarray
    train_weight: np.ndarray | None = None
    test_weight: np.ndarray | None = None


class Splitter(ABC):
    """Base of the splits. A split writes ``holdout`` and ``folds``, and the others if they differ.

    Attributes
    ----------
    key, label, help
        Its name in a Recipe, its name on pages, and one line on when to use it.
    needs
        The column that it is made by: the field of Recipe and of ``RowInfo``, or None.
    drawn
        Whether another seed gives another split.
    parameters
        Options of ``__init__``, held among a Recipe's ``data_params``.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    help: ClassVar[str]
    needs: ClassVar[str | None] = None
    drawn: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    @classmethod
    def refuses(cls, placement: str, fixed: bool) -> str | None:
        """Return why a placement is not valid here, as a sentence, or None; fitting refuses it too.

        Parameters
        ----------
        placement
            Its key.
        fixed
            Whether the file says which rows calibrate.
        """
        return None

    @abstractmethod
    def holdout(self, rows: RowInfo, share: float, random_state: Any) -> Cut:
        """Hold out about ``share`` of the rows.

        Raises
        ------
        InputError
            If there is none.
        """

    @abstractmethod
    def folds(self, rows: RowInfo, k: int, random_state: Any) -> Sequence[Cut]:
        """Return ``k`` cuts for cross-validation; each part is held out once."""

    def calibration(self, rows: RowInfo, share: float, random_state: Any) -> Cut:
        """Hold out the rows that calibrate from those that train."""
        return self.holdout(rows, share, random_state)

    def calibration_folds(self, rows: RowInfo, k: int, random_state: Any) -> Sequence[Cut]:
        """Return (train, calibration) positions for every fold of cross-calibration."""
        return self.folds(rows, k, random_state)

    def scores_of(self, rows: RowInfo) -> np.ndarray:
        """Return the positions of the rows that calibrate an existing model, which needs no training rows."""
        return np.arange(rows.n)

    def bag(self, rows: RowInfo) -> np.ndarray | None:
        """Return the groups (n,) that bags draw whole, or None for single rows. InputError if the model cannot."""
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

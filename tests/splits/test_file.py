"""As the file says: its rows, nothing drawn, and refused where it says something else."""

import numpy as np
import pytest

from calib.kernel.checks import InputError
from calib.splits import SPLITS, RowInfo

SPLIT = SPLITS["file"]()
Y = np.array([0, 1] * 6)
PART = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 0])


def test_the_columns_rows_are_the_parts():
    rows = RowInfo(Y, part=PART)
    cut = SPLIT.holdout(rows, 0.9, 5)
    assert cut.test.tolist() == [7, 8, 9, 10]
    inner = SPLIT.calibration(rows.take(cut.train), 0.9, 5)
    assert cut.train[inner.test].tolist() == [4, 5, 6]
    assert cut.train[inner.train].tolist() == [0, 1, 2, 3, 11]
    assert SPLIT.scores_of(rows.take(cut.train)).tolist() == [4, 5, 6]


def test_without_rows_to_calibrate_they_are_drawn_from_those_that_train():
    rows = RowInfo(Y, part=np.where(PART == 1, 0, PART))
    inner = rows.take(SPLIT.holdout(rows, 0.3, 0).train)
    assert len(SPLIT.calibration(inner, 0.5, 0).test) == 4
    assert len(SPLIT.calibration_folds(inner, 2, 0)) == 2


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (np.zeros(12, dtype=int), "no row has the value 'test'"),
        (np.full(12, 2), "no row has the value 'train'"),
    ],
)
def test_a_part_that_is_missing_is_named(part, message):
    with pytest.raises(InputError, match=f"part: {message}"):
        SPLIT.holdout(RowInfo(Y, part=part), 0.3, 0)


def test_folds_and_placements_that_calibrate_otherwise_are_refused():
    rows = RowInfo(Y, part=PART)
    with pytest.raises(InputError, match="evaluation: .*holdout"):
        SPLIT.folds(rows, 3, 0)
    for refused in (
        lambda: SPLIT.calibration_folds(rows, 3, 0),
        lambda: SPLIT.bag(rows),
        lambda: SPLIT.check_all_train(rows, "train"),
    ):
        with pytest.raises(InputError, match="placement: .*Choose placement='split'"):
            refused()
    with pytest.raises(InputError, match="no training rows are left"):
        SPLIT.calibration(RowInfo(Y, part=np.ones(12, dtype=int)), 0.3, 0)

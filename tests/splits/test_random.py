"""At random: scikit-learn's draws, row for row; counted rows go each its own way."""

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from calib.splits import SPLITS, RowInfo

Y = np.random.default_rng(1).integers(0, 2, 200)


def test_rows_are_those_of_scikit_learn():
    train, test = train_test_split(np.arange(200), test_size=0.3, stratify=Y, random_state=5)
    cut = SPLITS["random"]().holdout(RowInfo(Y), 0.3, 5)
    np.testing.assert_array_equal(cut.train, train)
    np.testing.assert_array_equal(cut.test, test)
    folds = SPLITS["random"]().folds(RowInfo(Y), 4, 5)
    for cut, (train, test) in zip(
        folds, StratifiedKFold(4, shuffle=True, random_state=5).split(Y, Y), strict=True
    ):
        np.testing.assert_array_equal(cut.train, train)
        np.testing.assert_array_equal(cut.test, test)


def test_counts_are_parted_and_none_is_lost():
    weight = np.random.default_rng(2).integers(1, 50, 200).astype(float)
    rows = RowInfo(Y, weight=weight, counted=True)
    for cut in (SPLITS["random"]().holdout(rows, 0.3, 0), *SPLITS["random"]().folds(rows, 5, 0)):
        total = np.zeros(200)
        total[cut.train] += cut.train_weight
        total[cut.test] += cut.test_weight
        np.testing.assert_array_equal(total, weight)
    each = np.zeros(200)
    for cut in SPLITS["random"]().folds(rows, 5, 0):
        each[cut.test] += cut.test_weight
    np.testing.assert_array_equal(each, weight)


def test_the_share_of_counts_held_out_is_binomial():
    """Mean and variance over seeds as of independent draws: a systematic share would make the parts too alike."""
    rows = RowInfo(np.array([0, 1]), weight=np.array([400.0, 400.0]), counted=True)
    held = np.array(
        [
            dict(zip(c.test, c.test_weight, strict=True)).get(0, 0.0)
            for c in (SPLITS["random"]().holdout(rows, 0.3, seed) for seed in range(2000))
        ]
    )
    assert abs(held.mean() - 120) < 4 * np.sqrt(84 / 2000)
    assert abs(held.var() / 84 - 1) < 4 * np.sqrt(2 / 2000)

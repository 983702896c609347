"""At random: stratified parts that a seed decides; counted rows go each its own way."""

import numpy as np

from calib.splits import SPLITS, RowInfo

Y = np.random.default_rng(1).integers(0, 2, 200)


def test_every_row_is_in_one_part_and_the_classes_keep_their_shares():
    cut = SPLITS["random"]().holdout(RowInfo(Y), 0.3, 5)
    folds = [each.test for each in SPLITS["random"]().folds(RowInfo(Y), 4, 5)]
    for parts, sizes in (((cut.train, cut.test), (140, 60)), (folds, (50,) * 4)):
        assert sorted(np.concatenate(parts)) == list(range(200))
        assert tuple(map(len, parts)) == sizes
        assert all(abs(Y[part].sum() - Y.mean() * len(part)) < 1 for part in parts)


def test_the_seed_decides_the_rows():
    one, same, other = (SPLITS["random"]().holdout(RowInfo(Y), 0.3, seed).test.tolist() for seed in (5, 5, 6))
    assert one == same != other


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

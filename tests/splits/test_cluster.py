"""By cluster: never torn, and stratified about as well as any assignment can be, by brute force over all of them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib.kernel.checks import InputError
from calib.splits import SPLITS, RowInfo

SPLIT = SPLITS["cluster"]()


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 1)), min_size=20, max_size=120), st.integers(0, 99)
)
def test_no_cluster_is_in_two_parts(pairs, seed):
    cluster, y = np.array(pairs).T
    if len(set(cluster)) < 4:
        return
    rows = RowInfo(y, cluster=cluster)
    for cut in (SPLIT.holdout(rows, 0.3, seed), *SPLIT.folds(rows, 4, seed)):
        assert set(cluster[cut.train]).isdisjoint(cluster[cut.test])
        assert len(cut.train) + len(cut.test) == rows.n
    tests = np.concatenate([cut.test for cut in SPLIT.folds(rows, 4, seed)])
    assert sorted(tests) == list(range(rows.n))


def off(test_counts, totals, share):
    """How far the class counts held out are from their share, both classes alike."""
    return float(np.sqrt((((test_counts - share * totals) / totals) ** 2).sum()))


@pytest.mark.parametrize("seed", range(8))
def test_few_clusters_are_dealt_nearly_as_well_as_the_best_of_all_assignments(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 40, 10)
    cluster = np.repeat(np.arange(10), sizes)
    y = (rng.random(len(cluster)) < rng.random(10)[cluster]).astype(int)
    totals = np.bincount(y, minlength=2)
    own = SPLIT.holdout(RowInfo(y, cluster=cluster), 0.3, seed)
    counts = np.array([[((cluster == c) & (y == k)).sum() for k in (0, 1)] for c in range(10)])
    best = min(
        off(np.array(pick) @ counts, totals, 0.3) for pick in product((0, 1), repeat=10) if 0 < sum(pick) < 10
    )
    mine = off(np.bincount(y[own.test], minlength=2), totals, 0.3)
    typical = np.median(
        [off(np.array(p) @ counts, totals, 0.3) for p in product((0, 1), repeat=10) if sum(p) == 3]
    )
    assert mine <= max(best + 0.12, typical / 2)


def test_many_clusters_keep_both_class_shares():
    rng = np.random.default_rng(0)
    cluster = rng.integers(0, 3000, 10_000)
    y = (rng.random(10_000) < 0.05).astype(int)
    for cut in (
        SPLIT.holdout(RowInfo(y, cluster=cluster), 0.3, 1),
        *SPLIT.folds(RowInfo(y, cluster=cluster), 5, 1),
    ):
        share = 0.3 if len(cut.test) > 2500 else 0.2
        assert abs(len(cut.test) - share * 10_000) <= 8
        assert abs(y[cut.test].sum() - share * y.sum()) <= 4


def test_clusters_of_one_row_are_a_stratified_split():
    y = np.array([0] * 60 + [1] * 40)
    cut = SPLIT.holdout(RowInfo(y, cluster=np.arange(100)), 0.3, 0)
    assert np.bincount(y[cut.test]).tolist() == [18, 12]
    assert [
        np.bincount(y[c.test]).tolist() for c in SPLIT.folds(RowInfo(y, cluster=np.arange(100)), 5, 0)
    ] == [[12, 8]] * 5


def test_whole_weights_are_dealt_as_the_repeated_rows():
    rng = np.random.default_rng(4)
    cluster, y, weight = rng.integers(0, 12, 80), rng.integers(0, 2, 80), rng.integers(1, 6, 80)
    one = SPLIT.holdout(RowInfo(y, weight=weight.astype(float), cluster=cluster), 0.4, 2)
    many = SPLIT.holdout(RowInfo(np.repeat(y, weight), cluster=np.repeat(cluster, weight)), 0.4, 2)
    assert set(cluster[one.test]) == set(np.repeat(cluster, weight)[many.test])


def test_fewer_clusters_than_parts_are_refused():
    rows = RowInfo(np.array([0, 1] * 10), cluster=np.arange(20) % 3)
    with pytest.raises(InputError, match=r"cluster: .*\b3 clusters.*at least 5\b"):
        SPLIT.folds(rows, 5, 0)
    with pytest.raises(InputError, match="belong to 1 cluster,"):
        SPLIT.holdout(RowInfo(np.array([0, 1] * 10), cluster=np.zeros(20, dtype=int)), 0.3, 0)


def test_two_clusters_give_each_part_one():
    rows = RowInfo(np.array([0, 1] * 10), cluster=np.repeat([0, 1], 10))
    cut = SPLIT.holdout(rows, 0.05, 0)
    assert len(cut.train) == len(cut.test) == 10


@pytest.mark.parametrize("light", [1e-300, 1e-160, 1e-17])
def test_clusters_too_light_to_count_beside_the_others_are_dealt_as_well(light):
    cluster = np.repeat(np.arange(20), 2)
    rows = RowInfo(np.arange(40) % 2, weight=np.where(cluster % 2, 1.0, light), cluster=cluster)
    for seed in range(20):
        cuts = SPLIT.folds(rows, 3, seed)
        assert sorted(np.concatenate([cut.test for cut in cuts])) == list(range(40))
        heavy = [rows.weights[cut.test].sum() for cut in cuts]
        assert max(heavy) < 2 * min(heavy)

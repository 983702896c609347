from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression

from calib.kernel.isotonic_regression import Tied, pool_adjacent_violators, pool_ties
from tests import exact
from tests.vectors import vector

counts = st.lists(
    st.integers(1, 6).flatmap(lambda w: st.tuples(st.just(w), st.integers(0, w))), min_size=1, max_size=9
)


@given(counts)
def test_fit_is_the_min_max_formula_to_the_last_bit(groups):
    weights, sums = (np.array(column, dtype=float) for column in zip(*groups, strict=True))
    expected = exact.isotonic([Fraction(c, w) for w, c in groups], [Fraction(w) for w, _ in groups])
    assert pool_adjacent_violators(sums, weights).fitted.tolist() == [float(value) for value in expected]


@given(counts)
def test_blocks_partition_the_entries_and_increase_strictly(groups):
    weights, sums = (np.array(column, dtype=float) for column in zip(*groups, strict=True))
    blocks = pool_adjacent_violators(sums, weights)
    parts = list(zip(blocks.bounds[:-1], blocks.bounds[1:], strict=True))
    assert (blocks.bounds[0], blocks.bounds[-1]) == (0, len(groups))
    assert blocks.weights.tolist() == [weights[a:b].sum() for a, b in parts]
    assert blocks.sums.tolist() == [sums[a:b].sum() for a, b in parts]
    assert (np.diff(blocks.values) > 0).all()


def isotonic_at(scores, y, weights=None):
    """The fit at the scores themselves, in the order given."""
    tied = pool_ties(scores, y, weights)
    return pool_adjacent_violators(tied.sums, tied.weights).fitted[np.searchsorted(tied.scores, scores)]


def test_fit_minimises_weighted_squares_under_the_order():
    rng = np.random.default_rng(0)
    weights, means = rng.uniform(0.2, 3, 8), rng.random(8)
    order = {"type": "ineq", "fun": np.diff}
    best = minimize(lambda x: weights @ (x - means) ** 2, means, constraints=order, tol=1e-14)
    np.testing.assert_allclose(pool_adjacent_violators(weights * means, weights).fitted, best.x, atol=1e-6)


def test_large_fit_is_exact_against_the_hull_of_whole_numbers():
    """Every corner of the fit lies on, and every other point on or above, the lower hull, in integer arithmetic."""
    rng = np.random.default_rng(1)
    n = 200_000
    sums = (rng.random(n) < 0.5).astype(float)
    blocks = pool_adjacent_violators(sums, np.ones(n))
    cumulative = np.concatenate([[0], np.cumsum(sums)]).astype(np.int64)
    start, stop = blocks.bounds[:-1], blocks.bounds[1:]
    rise, run = cumulative[stop] - cumulative[start], stop - start
    height = (cumulative[:-1] - np.repeat(cumulative[start], run)) * np.repeat(run, run)
    assert (height >= (np.arange(n) - np.repeat(start, run)) * np.repeat(rise, run)).all()
    assert (rise[:-1] * run[1:] < rise[1:] * run[:-1]).all()


def test_near_ties_are_no_ties():
    """scikit-learn's isotonic regression takes scores within 1e-6 (float32) for equal; one unit in the last
    place is enough here."""
    scores = np.array([0.5, np.nextafter(0.5, 1), 0.5])
    tied = pool_ties(scores, np.array([0, 1, 0]))
    assert tied.scores.tolist() == [0.5, np.nextafter(0.5, 1)]
    assert tied.weights.tolist() == [2, 1]
    assert tied.sums.tolist() == [0, 1]


def test_zeros_of_both_signs_are_one_score():
    assert len(pool_ties(np.array([0.0, -0.0]), np.array([0, 1])).scores) == 1


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=20))
def test_pooled_ties_are_sums_over_equal_scores(rows):
    scores, y, weights = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    if not weights.any():
        return
    tied = pool_ties(scores, y.astype(int), weights)
    for i, score in enumerate(tied.scores):
        assert tied.weights[i] == weights[scores == score].sum() > 0
        assert tied.sums[i] == (weights * y)[scores == score].sum()
    assert tied.weights.sum() == weights.sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_fit_at_the_scores_agrees_with_scikit_learn(weighted):
    rng = np.random.default_rng(2)
    scores = rng.integers(0, 30, 200).astype(float)
    y = (rng.random(200) < scores / 30).astype(int)
    weights = rng.uniform(0.1, 2, 200) if weighted else None
    theirs = IsotonicRegression().fit(scores, y, weights).predict(scores)
    np.testing.assert_allclose(isotonic_at(scores, y, weights), theirs, atol=1e-12)


def test_fit_at_the_scores_of_the_reference_vector():
    corp = vector("corp")
    fitted = isotonic_at(np.array(corp["p"]), np.array(corp["y"]))
    assert sorted(set(fitted)) == sorted({float(Fraction(value)) for value in corp["pav"]})


def test_merged_neighbours_are_at_their_weighted_mean():
    tied = Tied(
        np.array([0.1, 0.2, 0.6, 0.9]), np.array([1.0, 3.0, 2.0, 2.0]), np.array([0.0, 2.0, 1.0, 2.0])
    )
    merged = tied.grouped(np.array([0, 2]))
    np.testing.assert_allclose(merged.scores, [0.7 / 4, 3.0 / 4])
    assert merged.weights.tolist() == [4, 4] and merged.sums.tolist() == [2, 3]

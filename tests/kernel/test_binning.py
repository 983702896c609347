from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib.kernel.binning import (
    bin_index,
    binned,
    checked_bins,
    edge_index,
    group_sums,
    quantile_edges,
    uniform_breaks,
)
from calib.kernel.checks import InputError
from tests.vectors import vector


@pytest.mark.parametrize("bins", [1, 2, 3, 7, 10, 20, 50, 100])
@pytest.mark.parametrize("digits", [10, 100, 1000])
def test_decimals_fall_into_the_bin_of_their_written_value(bins, digits):
    written = [Fraction(i, digits) for i in range(digits + 1)]
    expected = [min(bins - 1, floor(value * bins)) for value in written]
    assert bin_index(np.arange(digits + 1) / digits, bins).tolist() == expected


def test_bins_of_the_reference_vector():
    edges = vector("ece20_edges")
    assert bin_index(np.array(edges["p"]), 20).tolist() == edges["bin_left_closed"]


def test_uniform_edges_are_the_correctly_rounded_fractions():
    assert binned(np.array([0.5]), 20).edges.tolist() == [i / 20 for i in range(21)]
    assert binned(np.array([0.15, 1.0]), 20).index.tolist() == [3, 19]


@pytest.mark.parametrize("bins", [1, 2, 3, 7, 10, 20, 100, 1000])
def test_the_next_bin_begins_exactly_at_its_break(bins):
    breaks = uniform_breaks(bins)
    assert bin_index(breaks, bins).tolist() == list(range(1, bins))
    assert bin_index(np.nextafter(breaks, 0), bins).tolist() == list(range(bins - 1))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.integers(1, 12))
def test_quantile_edges_are_linear_quantiles(values, bins):
    edges = quantile_edges(np.array(values), bins)
    expected = np.quantile(values, np.arange(bins + 1) / bins)
    assert (edges[0], edges[-1]) == (min(values), max(values))
    assert all(np.abs(edges - e).min() < 1e-12 for e in expected)
    assert all(np.abs(expected - e).min() < 1e-12 for e in edges)


@given(st.integers(1, 12), st.integers(1, 20), st.randoms(use_true_random=False))
def test_quantile_bins_of_distinct_values_are_equally_full(bins, each, random):
    values = list(range(bins * each))
    random.shuffle(values)
    split = binned(np.array(values, dtype=float), bins, "quantile")
    if len(values) > 1:
        assert group_sums(split.index, split.count).tolist() == [each] * bins


def test_ties_are_never_split_and_coinciding_edges_merge():
    p = np.array([0.1] * 8 + [0.4, 0.9])
    split = binned(p, 5, "quantile")
    assert len(set(split.index[:8])) == 1
    assert (np.diff(split.edges) > 0).all()
    assert split.index.max() < split.count


def test_one_distinct_value_has_one_bin():
    split = binned(np.full(4, 0.3), 10, "quantile")
    assert (split.count, split.index.tolist()) == (1, [0, 0, 0, 0])


@given(st.lists(st.floats(-2, 3), min_size=1, max_size=30))
def test_edge_index_is_the_half_open_bin(values):
    edges = np.array([0.0, 0.25, 0.5, 1.0])
    for value, index in zip(values, edge_index(np.array(values), edges), strict=True):
        lower = -np.inf if index == 0 else edges[index]
        upper = np.inf if index == 2 else edges[index + 1]
        assert lower <= value < upper


def test_group_sums_are_loops():
    rng = np.random.default_rng(0)
    index, values = rng.integers(0, 4, 50), rng.random(50)
    np.testing.assert_allclose(
        group_sums(index, 6, values), [values[index == g].sum() for g in range(6)], atol=1e-12
    )
    assert group_sums(index, 6).tolist() == [float((index == g).sum()) for g in range(6)]


def test_unknown_strategy_is_refused_by_name():
    with pytest.raises(InputError, match=r"strategy.*'uniform', 'quantile'.*'quantiles'"):
        binned(np.array([0.5]), 10, "quantiles")


def test_own_edges_make_at_least_one_bin():
    assert checked_bins([0, 1]) == (0.0, 1.0)
    for edges in ([], [0], [1], [0, 0.5], [0.5, 1], [0, 0.5, 0.5, 1]):
        with pytest.raises(InputError, match="edges that increase from 0 to 1"):
            checked_bins(edges)

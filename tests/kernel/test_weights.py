"""The scale of weights: counts stay, others are worth what the mean of their rows is."""

import numpy as np
import pytest

from calib.kernel.weights import are_whole, effective_weights, squares

RNG = np.random.default_rng(0)
SETS = [RNG.gamma(1, size=40), RNG.lognormal(0, 3, 40), np.full(40, 0.3), np.append(np.ones(39), 0.5)]
SETS += [np.array([0.3])]


@pytest.mark.parametrize("weights", SETS)
@pytest.mark.parametrize("factor", [0.001, 0.37, 250.3, 1e-300, 1e9 / 7])
def test_real_weights_give_the_same_on_any_scale_and_again(weights, factor):
    found = effective_weights(factor * weights)
    np.testing.assert_allclose(found, effective_weights(weights), rtol=1e-12)
    np.testing.assert_allclose(effective_weights(found), found, rtol=1e-12)
    assert found.sum() == pytest.approx(weights.sum() ** 2 / (weights @ weights))


def test_equal_weights_are_none_and_whole_ones_stay():
    np.testing.assert_array_equal(effective_weights(np.full(7, 0.1)), np.ones(7))
    counts = np.array([3.0, 7.0, 1.0])
    assert effective_weights(counts) is counts


def test_a_weight_that_is_no_count_does_not_become_one_by_chance():
    weights = np.array([1, 0.5, 0.5, 0.5, 1.5])  # their effective sample size is their sum, 4
    found = effective_weights(weights)
    np.testing.assert_allclose(found, weights)
    assert not are_whole(found[:1])


def test_rows_that_are_worth_more_or_less_count_as_if_they_were_written_out():
    counts, each = RNG.integers(1, 9, 30), RNG.gamma(2, size=30)
    lines = effective_weights(counts * each, counts)
    np.testing.assert_allclose(lines / counts, effective_weights(each.repeat(counts))[np.cumsum(counts) - 1])
    np.testing.assert_allclose(effective_weights(lines, counts), lines)
    values = RNG.normal(size=(20_000, counts.sum()))
    sums = values @ each.repeat(counts)
    assert squares(counts * each, counts).sum() == pytest.approx(sums.var(), rel=0.03)

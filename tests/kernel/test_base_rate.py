"""Probabilities moved to another base rate, against Bayes' rule with another prior and against rows repeated."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from calib.kernel.base_rate import BaseRate, BaseRates, class_weights, multiply_odds
from calib.kernel.checks import InputError
from calib.kernel.formula import Arithmetic, Number, Pieces, Score, steps
from calib.metrics import brier_score, log_loss
from calib.synthetic import GaussianPair

RATES = st.floats(1e-6, 1 - 1e-6)
SHARES = st.floats(0, 1)


@pytest.mark.parametrize(("fitted", "stated"), [(0.5, 0.01), (0.02, 0.4), (0.3, 0.3)])
def test_a_moved_posterior_is_that_of_bayes_with_the_other_prior(fitted, stated):
    x = np.linspace(-3, 4, 50)
    ones, zeros = norm.pdf(x, 1, 1.2), norm.pdf(x)
    at = [prior * ones / (prior * ones + (1 - prior) * zeros) for prior in (fitted, stated)]
    np.testing.assert_allclose(BaseRate(fitted, stated).adjust(at[0]), at[1], rtol=1e-12)
    np.testing.assert_allclose(BaseRate(stated, fitted).adjust(at[1]), at[0], rtol=1e-12)


@given(RATES, RATES, SHARES, SHARES)
def test_moving_keeps_every_order_and_the_ends(fitted, stated, p, q):
    rate = BaseRate(fitted, stated)
    low, high = rate.adjust([min(p, q), max(p, q)])
    assert 0 <= low <= high <= 1
    assert rate.adjust([0.0, 1.0]).tolist() == [0, 1]


@pytest.mark.parametrize("rates", [(0, 0.5), (0.5, 1), (0.5, float("nan")), ("0.5", 0.5)])
def test_rates_of_none_or_all_are_refused_by_name(rates):
    with pytest.raises(InputError, match="base_rate"):
        BaseRate(*rates)


def test_weighted_rows_stand_for_the_stated_rate_and_are_worth_as_kish_says():
    y = np.array([1, 0, 0, 0, 1, 0])
    counts = np.array([3.0, 1, 2, 5, 1, 4])
    weights = class_weights(y, 0.07, counts)
    assert np.average(y, weights=weights) == pytest.approx(0.07, abs=1e-15)
    rows = np.repeat(np.arange(6), counts.astype(int))
    alone = class_weights(y[rows], 0.07)
    assert alone.sum() == pytest.approx(alone.sum() ** 2 / (alone @ alone), rel=1e-12)
    np.testing.assert_allclose(np.bincount(rows, alone), weights, rtol=1e-12)
    with pytest.raises(InputError, match="are in one class"):
        class_weights(np.ones(3), 0.5)


def test_losses_of_weighted_rows_are_those_where_the_rate_holds():
    """True posteriors on a sample at 30%, moved and weighted, against a sample drawn at 4%."""
    here = GaussianPair([0, 0], np.eye(2), [1.5, 1], np.eye(2)).sample(100_000, random_state=0)
    rng, y = np.random.default_rng(1), here.y
    at_30, at_4 = (
        np.flatnonzero(rng.random(len(y)) < np.where(y == 1, share / (1 - share), 1)) for share in (0.3, 0.04)
    )
    odds = here.posterior / (1 - here.posterior)

    def posterior(rows, share):
        ones = odds[rows] * share / (1 - share)
        return ones / (1 + ones)

    moved = BaseRate(0.3, 0.04).adjust(posterior(at_30, 0.3))
    weights = class_weights(y[at_30], 0.04)
    for loss in (brier_score, log_loss):
        truth = loss(y[at_4], posterior(at_4, 0.04))
        assert loss(y[at_30], moved, sample_weight=weights) == pytest.approx(truth, rel=0.04)


def test_steps_are_moved_in_the_table_and_not_in_the_formula():
    rate = BaseRate(0.5, 0.1)
    moved = rate.adjust_term(steps(Score("s"), np.array([1.0]), np.array([0.25, 0.5])))
    np.testing.assert_array_equal(moved.coefficients[:, 0], rate.adjust([0.25, 0.5]))


K_FITTED, K_STATED = (0.5, 0.3, 0.2), (0.2, 0.3, 0.5)


def test_of_k_classes_a_moved_posterior_is_that_of_bayes_with_other_priors():
    x = np.linspace(-3, 4, 50)
    density = np.stack([norm.pdf(x, at, 1 + at / 4) for at in (0, 1, 2)], axis=1)
    at = [density * prior / (density * prior).sum(axis=1, keepdims=True) for prior in (K_FITTED, K_STATED)]
    rates = BaseRates(K_FITTED, K_STATED)
    np.testing.assert_allclose(rates.adjust(at[0]), at[1], rtol=1e-12)
    np.testing.assert_allclose(multiply_odds(at[0], rates.odds_ratio(at[0])), at[1], rtol=1e-12)


SIGNS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}


def value(of, at):
    """The value of a formula of steps and arithmetic at the scores ``at``, by its definition."""
    match of:
        case Number():
            return of.value
        case Score():
            return at[of.name]
        case Arithmetic():
            return SIGNS[of.operator](value(of.left, at), value(of.right, at))
        case Pieces():
            return of.coefficients[np.searchsorted(of.breaks, value(of.of, at), side="right"), 0]


@pytest.mark.parametrize("row", [(0.5, 0.3, 0.2), (0.01, 0.01, 0.98), (1.0, 0.0, 0.0)])
def test_of_k_classes_the_formulas_give_what_the_arrays_give(row):
    rates, ends = BaseRates(K_FITTED, K_STATED), {"p0": (0.0, 0.25, 0.15), "p1": (0.9, 0.35, 0.7)}
    at = {f"p_{k}": share for k, share in enumerate(row)}
    at |= {f"{end}_{k}": each for end, values in ends.items() for k, each in enumerate(values)}
    moved = rates.adjust_terms({name: Score(name, 0.0, 1.0) for name in at})
    rows = np.array([row])
    expected = dict(zip([f"p_{k}" for k in range(3)], rates.adjust(rows)[0], strict=True))
    for end, values in ends.items():
        moved_ends = multiply_odds(np.array([values]), rates.odds_ratio(rows))[0]
        expected |= {f"{end}_{k}": each for k, each in enumerate(moved_ends)}
    assert {name: value(of, at) for name, of in moved.items()} == pytest.approx(expected, rel=1e-12)


def test_of_two_classes_the_shares_do_what_the_base_rate_does():
    p = np.random.default_rng(0).random(40)
    two, k = BaseRate(0.3, 0.04), BaseRates((0.7, 0.3), (0.96, 0.04))
    rows = np.column_stack([1 - p, p])
    np.testing.assert_allclose(k.adjust(rows)[:, 1], two.adjust(p), rtol=1e-12)
    np.testing.assert_allclose(k.odds_ratio(rows)[:, 1], two.ratio, rtol=1e-12)
    y, counts = np.array([1, 0, 0, 0, 1, 0]), np.array([3.0, 1, 2, 5, 1, 4])
    np.testing.assert_allclose(
        class_weights(y, (0.93, 0.07), counts), class_weights(y, 0.07, counts), rtol=1e-14
    )


def test_rows_that_are_nearly_certain_still_sum_to_one():
    rates, p = (
        BaseRates(K_FITTED, K_STATED),
        np.array([[1 - 3e-9, 1e-9, 2e-9], [1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]),
    )
    moved = multiply_odds(p, rates.odds_ratio(p))
    np.testing.assert_allclose(moved.sum(axis=1), 1, rtol=0, atol=4e-16)
    np.testing.assert_allclose(moved, rates.adjust(p), rtol=1e-12)


def test_rows_of_k_classes_are_weighted_by_class_as_by_repeating_them():
    y = np.array([0, 1, 2, 2, 1, 0, 0])
    counts = np.array([3.0, 1, 2, 5, 1, 4, 1])
    weights = class_weights(y, K_STATED, counts)
    assert [np.average(y == k, weights=weights) for k in range(3)] == pytest.approx(K_STATED)
    alone = class_weights(np.repeat(y, counts.astype(int)), K_STATED)
    np.testing.assert_allclose(
        np.bincount(np.repeat(np.arange(7), counts.astype(int)), alone), weights, rtol=1e-12
    )
    with pytest.raises(InputError, match="cannot represent another base rate"):
        class_weights(np.array([0, 1]), K_STATED)


@pytest.mark.parametrize("wrong", [(0.5, 0.5, 0.0), (0.5, 0.3, 0.3), (0.5, 0.5), (0.2, "x", 0.3)])
def test_shares_that_are_none_are_refused_by_name(wrong):
    with pytest.raises(InputError, match="base_rates"):
        BaseRates(K_FITTED, wrong)

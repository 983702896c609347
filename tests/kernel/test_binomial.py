"""Intervals of a frequency, against scipy's."""

import numpy as np
import pytest
from scipy.stats import binomtest, chi2
from scipy.stats import t as student

from calib.kernel.binomial import SPELT_OUT, binomial_interval, bounded_mean_interval, null_draws

SCIPY = {"wilson": "wilson", "clopper_pearson": "exact"}


@pytest.mark.parametrize("interval", SCIPY)
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_the_ends_are_scipys_also_without_or_with_events_only(interval, level):
    k, n = np.array([0, 1, 3, 9, 10]), 10
    low, high = binomial_interval(k, n, interval=interval, level=level)
    expected = [binomtest(each, n).proportion_ci(level, SCIPY[interval]) for each in k.tolist()]
    np.testing.assert_allclose(low, [each.low for each in expected], atol=1e-12)
    np.testing.assert_allclose(high, [each.high for each in expected], atol=1e-12)


def test_one_trial_has_an_interval_and_no_trial_has_none():
    one = binomtest(1, 1).proportion_ci(method="wilson")
    assert binomial_interval(1, 1) == pytest.approx((one.low, one.high))
    assert np.isnan(binomial_interval(0, 0)).all()


@pytest.mark.parametrize("quantile", [None, 12.7])
def test_hardly_any_and_nearly_all_events_leave_the_ends_between_0_and_1(quantile):
    """Sums of weights may be a rounding error away from none and from all, and the ends then beyond 0 and 1."""
    n = np.linspace(1, 1000, 2000)
    for k in (np.full(2000, 1e-17), np.nextafter(n, 0)):
        low, high = binomial_interval(k, n, quantile=quantile)
        assert 0 <= low.min() < high.max() <= 1


@pytest.mark.parametrize("values", [[0.2, 0.35, 0.9, 0.6, 0.55, 0.8], [0.2, 0.9]], ids=len)
def test_unequal_values_are_worth_as_many_draws_as_have_their_error(values):
    """Wilson's ends by definition: those m at which the observed mean is t standard errors √(m(1 − m)/n') away."""
    mean, error = np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))
    draws = mean * (1 - mean) / error**2
    for end in bounded_mean_interval(np.array(values), 0.9):
        away = abs(mean - end) / np.sqrt(end * (1 - end) / draws)
        assert away == pytest.approx(student.ppf(0.95, len(values) - 1))


def test_one_value_has_no_interval():
    assert np.isnan(bounded_mean_interval(np.array([0.4]))).all()


def test_counted_rows_are_drawn_like_single_ones_and_very_many_by_their_sum():
    p, counts = np.array([0.0, 0.3, 0.8, 1.0]), np.array([2, 5, 1, 3])
    together, single = (
        null_draws(*each, 7, np.random.default_rng(0))
        for each in ((p, counts), (p.repeat(counts), np.ones(11)))
    )
    np.testing.assert_array_equal(together, np.add.reduceat(single, [0, 2, 7, 8], axis=1))
    n = 100_000 * counts
    assert n.sum() * 50 > SPELT_OUT
    many = null_draws(p, n, 50, np.random.default_rng(0))
    assert (many[:, [0, 3]] == n[[0, 3]] * [0, 1]).all()
    away = ((many - n * p)[:, 1:3] ** 2 / (n * p * (1 - p))[1:3]).sum()
    assert chi2.ppf(0.001, 100) < away < chi2.ppf(0.999, 100)

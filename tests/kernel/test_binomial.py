"""Intervals of a frequency, against scipy's."""

import numpy as np
import pytest
from scipy.stats import binomtest

from calib.kernel.binomial import binomial_interval

SCIPY = {"wilson": "wilson", "clopper_pearson": "exact"}


@pytest.mark.parametrize("interval", SCIPY)
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_the_ends_are_scipys_also_without_or_with_events_only(interval, level):
    k, n = np.array([0, 1, 3, 9, 10]), 10
    low, high = binomial_interval(k, n, interval=interval, level=level)
    expected = [binomtest(each, n).proportion_ci(level, SCIPY[interval]) for each in k.tolist()]
    np.testing.assert_allclose(low, [each.low for each in expected], atol=1e-12)
    np.testing.assert_allclose(high, [each.high for each in expected], atol=1e-12)


def test_no_trials_have_no_interval():
    assert np.isnan(binomial_interval(0, 0)).all()

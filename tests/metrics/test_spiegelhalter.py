import math

import numpy as np
import pytest
from scipy.stats import kstest, norm

from calib.metrics import (
    spiegelhalter_test,
)


def test_spiegelhalter_p_values_are_uniform_under_calibration():
    rng = np.random.default_rng(7)
    p = rng.beta(2, 3, size=400)
    pvalues = [spiegelhalter_test(rng.random(p.size) < p, p).pvalue for _ in range(800)]
    assert kstest(pvalues, "uniform").pvalue > 0.01


def test_spiegelhalter_by_its_formula_and_against_a_distorted_forecast():
    rng = np.random.default_rng(8)
    truth = rng.random(3000)
    y = (rng.random(truth.size) < truth).astype(int)
    p = truth**2
    test = spiegelhalter_test(y, p)
    expected = sum(p * (1 - p))
    variance = sum((1 - 2 * p) ** 2 * p * (1 - p))
    assert test.statistic == pytest.approx((sum((y - p) ** 2) - expected) / math.sqrt(variance), rel=1e-9)
    assert test.pvalue == pytest.approx(2 * norm.sf(abs(test.statistic)), rel=1e-9)
    assert test.pvalue < 1e-6


def test_spiegelhalter_without_variance():
    assert math.isnan(spiegelhalter_test([1, 0, 1], [1.0, 0.0, 0.5]).statistic)
    assert spiegelhalter_test([1], [0.0]).statistic == math.inf
    assert spiegelhalter_test([1], [0.0]).pvalue == 0.0

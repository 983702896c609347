"""The area under the curve and its interval, against scikit-learn, scipy's test and simulation."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, norm
from sklearn.metrics import roc_auc_score

from calib.data.ranking import auc_interval, column_aucs

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("decimals", [1, 12])
def test_the_areas_are_scikit_learn_s(decimals):
    y = np.arange(90) % 3 == 0
    columns = (RNG.random((90, 4)) + y[:, None] * [0, 0.1, 0.5, -0.4]).round(decimals)
    expected = [roc_auc_score(y, column) for column in columns.T]
    np.testing.assert_allclose(column_aucs(columns, y.astype(int)), expected, rtol=0, atol=1e-12)
    assert np.isnan(column_aucs(columns, np.zeros(90, dtype=int))).all()


@pytest.mark.parametrize("tiny", [1.0, 1e-200, 1e-320])
def test_weights_count_by_their_ratios_however_small(tiny):
    columns, y = np.array([[0.1], [0.9], [0.4]]), np.array([0, 1, 0])
    assert column_aucs(columns, y, np.full(3, tiny)) == 1.0
    assert column_aucs(-columns, y, np.full(3, tiny)) == 0.0


@pytest.mark.parametrize(("ones", "zeros"), [(8, 5), (30, 30), (20, 300)])
def test_one_half_is_inside_exactly_where_the_rank_test_finds_nothing(ones, zeros):
    for _ in range(100):
        a, b = RNG.normal(0.3, 1, ones), RNG.normal(0, 1, zeros)
        found = mannwhitneyu(a, b, method="asymptotic", use_continuity=False)
        low, high = auc_interval(found.statistic / (ones * zeros), ones, zeros)
        if abs(found.pvalue - 0.05) > 0.002:
            assert (low <= 0.5 <= high) == (found.pvalue > 0.05)


@pytest.mark.parametrize(("shift", "ones", "zeros"), [(0.0, 20, 20), (1.0, 40, 40), (2.0, 30, 100)])
def test_the_interval_holds_the_true_area_about_nineteen_times_in_twenty(shift, ones, zeros):
    truth, runs = norm.cdf(shift / np.sqrt(2)), 400
    y = np.repeat([1, 0], [ones, zeros])
    areas = column_aucs(RNG.normal(size=(ones + zeros, runs)) + shift * y[:, None], y)
    ends = np.array([auc_interval(area, ones, zeros) for area in areas])
    assert 0.92 <= ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean() <= 0.99


def test_few_rows_never_give_a_sure_area():
    for area in (0.0, 1.0):
        low, high = auc_interval(area, 4, 4)
        assert high - low > 0.3
        assert low <= area <= high

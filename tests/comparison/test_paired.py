"""The paired t-test, held against SciPy and at the ends where SciPy has no answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calib.comparison import paired_t
from calib.kernel.checks import InputError

ALTERNATIVES = ("less", "greater", "two-sided")


@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=3, max_size=30),
    st.sampled_from(ALTERNATIVES),
)
def test_it_agrees_with_scipy(pairs, alternative):
    a, b = np.array(pairs).T / 8.0  # eighths: exact differences, so that "no spread" means none
    if np.ptp(a - b) == 0:
        return
    ours, theirs = paired_t(a, b, alternative), stats.ttest_rel(a, b, alternative=alternative)
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.pvalue == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize(
    ("alternative", "smaller", "larger"), [("less", 0, 1), ("greater", 1, 0), ("two-sided", 0, 0)]
)
def test_a_constant_difference_is_certain(alternative, smaller, larger):
    a = np.array([1.0, 2.0, 4.0])
    below, above = paired_t(a, a + 1, alternative), paired_t(a + 1, a, alternative)
    assert (below.statistic, below.pvalue) == (-np.inf, smaller)
    assert (above.statistic, above.pvalue) == (np.inf, larger)


@pytest.mark.parametrize(("alternative", "pvalue"), [("less", 0.5), ("greater", 0.5), ("two-sided", 1)])
def test_no_difference_is_no_evidence(alternative, pvalue):
    test = paired_t([1.0, 2.0], [1.0, 2.0], alternative)
    assert (test.statistic, test.pvalue) == (0, pvalue)


@pytest.mark.parametrize(
    ("a", "b", "alternative", "message"),
    [
        ([1, np.nan], [1, 2], "less", "a must be finite"),
        ([1, 2], [1, np.inf], "less", "b must be finite"),
        ([1, 2], [1, 2, 3], "less", "a has 2, b has 3"),
        ([1], [2], "less", "number of pairs"),
        ([1, 2], [2, 1], "smaller", "alternative must be one of 'less', 'greater', 'two-sided'"),
    ],
)
def test_bad_input_is_refused_by_name(a, b, alternative, message):
    with pytest.raises(InputError, match=message):
        paired_t(a, b, alternative)

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from calib.calibrators import MERGE_RULES, merge_pair
from calib.calibrators.merge import MERGE
from calib.kernel.checks import InputError
from tests.vectors import vector

probability = st.floats(0, 1)
exact_share = st.integers(0, 2**52).map(lambda count: count / 2**52)
"""Of these, 1 − p is no rounded number: 1 − 1e-38 would be 1, and its pair another one."""


def log_regret(p, p0, p1):
    """What p loses, at worst, against the label's own probability: Vovk and Petej 2014, §4, log loss."""
    return max(np.log(p1 / p), np.log((1 - p0) / (1 - p)))


def square_regret(p, p0, p1):
    return max((1 - p) ** 2 - (1 - p1) ** 2, p**2 - p0**2)


@pytest.mark.parametrize(("rule", "regret"), [("log", log_regret), ("square", square_regret)])
@pytest.mark.parametrize(("p0", "p1"), [(0.1, 0.4), (0.3, 0.35), (0.02, 0.99), (0.6, 0.9)])
def test_rules_minimise_the_worst_regret(rule, regret, p0, p1):
    best = minimize_scalar(regret, bounds=(p0, p1), args=(p0, p1), method="bounded", options={"xatol": 1e-10})
    assert merge_pair(p0, p1, rule) == pytest.approx(best.x, abs=1e-6)
    assert regret(float(merge_pair(p0, p1, rule)), p0, p1) <= best.fun + 1e-12


def test_certain_of_both_classes_is_a_half():
    assert merge_pair(1.0, 0.0, "log") == 0.5  # only the full predictor gives this pair


def test_midpoint_is_the_mean():
    assert merge_pair([0.25, 0.5], [0.75, 1.0], "midpoint").tolist() == [0.5, 0.75]


@pytest.mark.parametrize("rule", MERGE_RULES)
@given(probability, probability)
@example(1.0, 0.0)
@example(0.0, 0.0)
@example(1 / 3, 1 / 3)
def test_merged_probability_lies_between_the_two_even_when_they_cross(rule, p0, p1):
    assert min(p0, p1) <= merge_pair(p0, p1, rule) <= max(p0, p1)


@pytest.mark.parametrize("rule", MERGE_RULES)
@given(exact_share, exact_share)
def test_swapping_the_classes_mirrors_the_probability(rule, p0, p1):
    """The pair (p0, p1) of class 1 is the pair (1 − p1, 1 − p0) of class 0."""
    assert merge_pair(1 - p1, 1 - p0, rule) == pytest.approx(1 - merge_pair(p0, p1, rule), abs=1e-12)


@pytest.mark.parametrize("name", ["ivap_basic", "ivap_ties", "ivap_all_zero", "ivap_all_one", "ivap_n1"])
def test_reference_vectors(name):
    case = vector(name)
    np.testing.assert_allclose(
        merge_pair(case["p0_float"], case["p1_float"], "log"), case["p_log_float"], atol=1e-15
    )
    np.testing.assert_allclose(
        merge_pair(case["p0_float"], case["p1_float"], "square"), case["p_brier_float"], atol=1e-15
    )


def test_unknown_rule_is_refused_by_name():
    with pytest.raises(InputError, match="merge must .*'log', 'square', 'midpoint', .*'brier'"):
        merge_pair(0.2, 0.4, "brier")


def test_every_rule_has_a_label():
    assert MERGE.choices.keys() == MERGE_RULES.keys()

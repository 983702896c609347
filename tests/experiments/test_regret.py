"""The merge rules are minimax: no p has a smaller worse regret."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from calib.experiments import EXPERIMENTS

simulate = EXPERIMENTS["regret"].simulate


def worse(loss, p, p0, p1):
    if loss == "log":
        return max(math.log(1 - p0) - math.log(1 - p), math.log(p1) - math.log(p))
    return max(p**2 - p0**2, (1 - p) ** 2 - (1 - p1) ** 2)


@pytest.mark.parametrize("loss", ["log", "square"])
@given(p0=st.floats(0.0, 0.95), gap=st.floats(0.02, 1.0))
def test_the_rule_of_a_loss_has_the_smallest_worse_regret(loss, p0, gap):
    p1 = min(1.0, p0 + gap)
    found = simulate(p0=p0, p1=p1)
    least = minimize_scalar(
        lambda p: worse(loss, p, p0, p1), bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-10}
    )
    assert found.worst(loss, found.rules[loss]) == pytest.approx(least.fun, abs=1e-6)
    assert found.worst(loss, found.rules[loss]) <= found.worst(loss, found.rules["midpoint"]) + 1e-12


def test_the_curves_are_the_regrets():
    found = simulate(p0=0.2, p1=0.6)
    i = 100  # p = 0.25
    assert found.p[i] == 0.25
    assert found.against_p0["square"][i] == pytest.approx(0.25**2 - 0.2**2, abs=1e-12)
    assert found.against_p1["square"][i] == pytest.approx(0.75**2 - 0.4**2, abs=1e-12)
    assert found.against_p0["log"][i] == pytest.approx(math.log(0.8 / 0.75), abs=1e-12)
    assert found.against_p1["log"][i] == pytest.approx(math.log(0.6 / 0.25), abs=1e-12)
    assert found.against_p0["log"][-1] == found.against_p1["log"][0] == math.inf


def test_a_guess_is_a_ring_on_the_larger_regret_that_of_the_right_answer_on_the_star():
    experiment = EXPERIMENTS["regret"]
    usual = experiment.values({})
    at = []
    for sketch in experiment.ghosts:
        ((p, regret),) = sketch["lines"][0]
        assert regret == pytest.approx(worse("log", p, usual["p0"], usual["p1"]), abs=0.002)
        at.append(p)
    best = simulate(p0=usual["p0"], p1=usual["p1"]).rules["log"]
    assert at[experiment.right - 1] == pytest.approx(best, abs=0.005)
    assert at[2] < at[0] == (usual["p0"] + usual["p1"]) / 2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from calib.calibrators import PPA

rows = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 1)), min_size=1, max_size=40)


def adjusted(p, r):
    """(1 − r) p + r q from the words of the definition: all the mass on the most probable class, shared on a tie."""
    q = np.array([1.0 if value > 0.5 else 0.0 if value < 0.5 else 0.5 for value in p])
    return (1 - r) * p + r * q


@given(rows)
def test_constant_r_is_the_least_brier_score(data):
    p, y = np.array([i / 20 for i, _ in data]), np.array([label for _, label in data])
    ppa = PPA().fit(p, y)
    best = minimize_scalar(lambda r: ((adjusted(p, r) - y) ** 2).mean(), bounds=(0, 1), method="bounded")
    np.testing.assert_allclose(ppa.predict(p), adjusted(p, ppa.r_), atol=1e-15)
    assert ((ppa.predict(p) - y) ** 2).mean() <= best.fun + 1e-12


@given(rows)
def test_the_predicted_label_never_changes(data):
    p, y = np.array([i / 20 for i, _ in data]), np.array([label for _, label in data])
    for variant in ("constant", "sigmoid"):
        assert (np.sign(PPA(variant).fit(p, y).predict(p) - 0.5) == np.sign(p - 0.5)).all()


def test_r_stays_in_0_to_1():
    assert PPA().fit([0.6, 0.7], [0, 0]).r_ == 0
    assert PPA().fit([0.6, 0.7], [1, 1]).r_ == 1
    assert PPA().fit([0.0, 1.0, 0.5], [1, 0, 1]).r_ == 0  # q = p: nothing to move


def test_sigmoid_variant_is_the_best_of_the_grid():
    rng = np.random.default_rng(0)
    p = rng.random(60).round(2)
    y = (rng.random(60) < np.clip(1.6 * p - 0.3, 0, 1)).astype(int)
    brier = {
        (a, b): np.mean(
            [(adjusted(p[i : i + 1], 1 / (1 + np.exp(a * p[i] + b)))[0] - y[i]) ** 2 for i in range(60)]
        )
        for a in range(51)
        for b in range(51)
    }
    ppa = PPA("sigmoid").fit(p, y)
    assert (ppa.a_, ppa.b_) == min(brier, key=brier.get)
    assert ((ppa.predict(p) - y) ** 2).mean() == pytest.approx(min(brier.values()))
    assert ppa.r_ == pytest.approx(np.mean([1 / (1 + np.exp(ppa.a_ * value + ppa.b_)) for value in p]))
    assert ppa.predict([0.5]).tolist() == [0.5]

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from sklearn.calibration import _TemperatureScaling

from calib.calibrators import Temperature


def sample(power, seed=0, n=500):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.02, 0.98, n)
    return expit(power * logit(p)), (rng.random(n) < p).astype(int), rng


@pytest.mark.parametrize("power", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_temperature_minimises_log_loss(power, weighted):
    scores, y, rng = sample(power)
    weights = rng.uniform(0.2, 2, len(y)) if weighted else np.ones(len(y))

    def loss(log_t):
        p = expit(logit(scores) / np.exp(log_t))
        return -weights @ np.log(np.where(y, p, 1 - p))

    best = minimize_scalar(loss, bounds=(-4, 4), method="bounded", options={"xatol": 1e-12})
    temperature = Temperature().fit(scores, y, weights)
    assert pytest.approx(np.exp(best.x), rel=1e-6) == temperature.T_
    np.testing.assert_allclose(temperature.predict(scores), expit(logit(scores) / temperature.T_), atol=1e-12)
    assert (temperature.bounded_, temperature.notes_) == (False, ())


def test_temperature_undoes_a_known_one():
    scores, y, _ = sample(3.0, n=100_000)
    assert pytest.approx(3.0, rel=0.03) == Temperature().fit(scores, y).T_


def test_agrees_with_scikit_learn():
    scores, y, _ = sample(2.5)
    theirs = _TemperatureScaling().fit(np.column_stack([1 - scores, scores]), y)
    assert pytest.approx(1 / theirs.beta_, rel=1e-4) == Temperature().fit(scores, y).T_


def test_both_ends_are_bounds_and_said_so():
    sure = Temperature().fit([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1])
    assert (sure.T_, sure.bounded_) == (1e-3, True)
    wrong = Temperature().fit([0.1, 0.4, 0.6, 0.9], [1, 1, 0, 0])
    assert (wrong.T_, wrong.bounded_) == (1e3, True)
    assert "stopped at 1000" in wrong.notes_[0]
    np.testing.assert_allclose(wrong.predict([0.1, 0.9]), 0.5, atol=1e-3)


def test_one_half_throughout_leaves_the_temperature_at_1():
    temperature = Temperature().fit([0.5, 0.5], [0, 1])
    assert (temperature.T_, temperature.predict([0.2])[0]) == (1.0, pytest.approx(0.2))


def test_certain_scores_are_clipped_and_counted():
    temperature = Temperature().fit([0, 0, 1, 1, 1, 0.6], [0, 1, 1, 1, 0, 1])
    assert temperature.n_clipped_ == 5
    assert np.isfinite(temperature.predict([0, 1])).all()

"""Stacking weights are the minimum of their objective on the simplex."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, softmax

from calib.kernel.likelihood import joint_stacking_weights, stacking_weights


def drawn(n, k, seed):
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 2, n)
    logits = truth[:, None] + rng.normal(0, rng.uniform(0.1, 3, k), (n, k))
    return logits, (rng.random(n) < expit(truth)).astype(float), rng.integers(1, 4, n).astype(float)


def objective(free, logits, y, weights, prior):
    w = softmax(np.append(free, 0.0))
    return weights @ (np.logaddexp(0, logits @ w) - y * (logits @ w)) - prior @ np.log(w)


@pytest.mark.parametrize(("n", "k"), [(10, 3), (200, 5), (5000, 4)])
@pytest.mark.parametrize("rows", [0.2, 1.0, 20.0])
@pytest.mark.parametrize("power", [1, -6])
def test_the_weights_are_the_minimum_that_a_general_optimiser_finds(n, k, rows, power):
    prior = rows * np.arange(1.0, k + 1) ** power
    case = drawn(n, k, seed=n)
    found = stacking_weights(*case, prior)
    peer = minimize(objective, np.zeros(k - 1), args=(*case, prior), method="BFGS", options={"gtol": 1e-6})
    assert found.sum() == pytest.approx(1)
    assert found == pytest.approx(softmax(np.append(peer.x, 0.0)), abs=1e-4)


def test_without_rows_that_differ_the_weights_are_the_prior_and_with_many_the_best_candidate_has_all():
    same = np.repeat(np.linspace(-2, 2, 50)[:, None], 3, axis=1)
    y = (np.arange(50) % 2).astype(float)
    assert stacking_weights(same, y, np.ones(50), np.array([1.0, 2.0, 5.0])) == pytest.approx(
        [0.125, 0.25, 0.625]
    )
    rng = np.random.default_rng(0)
    truth = rng.normal(0, 2, 100_000)
    logits = np.column_stack([truth, truth + 3, 3 - truth])
    y = (rng.random(len(truth)) < expit(truth)).astype(float)
    assert stacking_weights(logits, y, np.ones(len(y)), np.ones(3))[0] > 0.98


def test_certain_and_wrong_candidates_leave_finite_weights():
    logits = np.array([[700.0, -1.0], [-700.0, 1.0], [700.0, -700.0]])
    found = stacking_weights(logits, np.array([0.0, 1.0, 0.0]), np.ones(3), np.full(2, 0.5))
    assert np.isfinite(found).all()
    assert found[1] > 0.99


def test_weights_for_k_classes_are_the_minimum_too_and_those_of_log_odds_for_two():
    rng = np.random.default_rng(3)
    logs, y, weights = rng.normal(size=(300, 4, 3)), rng.integers(0, 4, 300), rng.integers(1, 4, 300) * 1.0
    logs[np.arange(300), y, 0] += 1
    logs[np.arange(300), y, 2] += 0.7
    prior = np.array([1.0, 2.0, 0.5])

    def objective(free):
        w = softmax(np.append(free, 0.0))
        p = softmax(logs @ w, axis=1)[np.arange(300), y]
        return -(weights @ np.log(p)) - prior @ np.log(w)

    peer = minimize(objective, np.zeros(2), method="BFGS", options={"gtol": 1e-6})
    found = joint_stacking_weights(logs, y, weights, prior)
    assert found == pytest.approx(softmax(np.append(peer.x, 0.0)), abs=1e-4)
    logits, labels, weights = drawn(200, 3, seed=1)
    two = np.stack([np.zeros(logits.shape), logits], axis=1)
    assert joint_stacking_weights(two, labels.astype(int), weights, prior) == pytest.approx(
        stacking_weights(logits, labels, weights, prior), abs=1e-6
    )

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from calib.kernel.likelihood import fit_logistic, log_loss_sum, ridge_fit, ridge_fits


def sample(seed, n=300, d=2):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n, d)) * [1.0, 30.0][:d] + [0.0, 100.0][:d]
    y = (rng.random(n) < expit(columns[:, 0])).astype(float)
    return columns, y, rng.uniform(0.2, 2, n)


@pytest.mark.parametrize("seed", range(5))
def test_fit_is_scikit_learns_without_a_penalty(seed):
    columns, y, weights = sample(seed)
    fit = fit_logistic(columns, y, weights)
    theirs = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000, solver="newton-cholesky").fit(
        columns, y, weights
    )
    np.testing.assert_allclose(fit.slopes, theirs.coef_[0], rtol=1e-7, atol=1e-9)
    assert fit.intercept == pytest.approx(theirs.intercept_[0], rel=1e-6, abs=1e-7)
    assert not fit.bounded


@pytest.mark.parametrize("seed", range(5))
def test_gradient_vanishes_for_targets_between_0_and_1(seed):
    columns, _, weights = sample(seed)
    targets = np.random.default_rng(seed).random(len(weights))
    fit = fit_logistic(columns, targets, weights)
    residual = weights * (expit(columns @ fit.slopes + fit.intercept) - targets)
    np.testing.assert_allclose(np.column_stack([columns, np.ones(len(weights))]).T @ residual, 0, atol=1e-6)


def test_loss_is_the_cross_entropy():
    logits, targets, weights = (
        np.array([-2.0, 0.5, 800.0]),
        np.array([0.2, 1.0, 1.0]),
        np.array([1.0, 2.0, 3.0]),
    )
    p = expit(logits[:2])
    by_hand = -weights[:2] @ (targets[:2] * np.log(p) + (1 - targets[:2]) * np.log(1 - p))
    assert log_loss_sum(logits, targets, weights) == pytest.approx(by_hand)


@pytest.mark.parametrize(
    ("scores", "y", "separable"),
    [
        ([0, 1, 2, 3], [0, 0, 1, 1], True),
        ([0, 1, 1, 2], [0, 0, 1, 1], True),  # they touch: still no maximum
        ([0, 1, 2, 3], [0, 1, 0, 1], False),
        ([0, 0, 1, 1], [0, 1, 0, 1], False),
        ([0, 1, 2, 30], [1, 0, 1, 0], False),
    ],
)
def test_a_likelihood_without_maximum_is_noticed(scores, y, separable):
    columns, y = np.array(scores, dtype=float)[:, None], np.array(y, dtype=float)
    fit = fit_logistic(columns, y, np.ones(4))
    assert fit.bounded == separable
    assert np.isfinite([*fit.slopes, fit.intercept]).all()
    best = minimize(
        lambda beta: log_loss_sum(columns[:, 0] * beta[0] + beta[1], y, np.ones(4)),
        [0.0, 0.0],
        bounds=[(-40, 40)] * 2,
    )
    assert log_loss_sum(columns @ fit.slopes + fit.intercept, y, np.ones(4)) <= best.fun + 1e-9


def test_a_constant_column_has_slope_zero_and_gives_the_frequency():
    fit = fit_logistic(np.full((5, 1), 3.0), np.array([0.0, 1, 1, 1, 1]), np.ones(5))
    assert fit.slopes.tolist() == [0.0]
    assert expit(fit.intercept) == pytest.approx(0.8)


def test_scores_that_are_large_but_close_keep_their_differences():
    scores, y = np.array([0.0, 1, 2, 3, 4, 5]), np.array([0.0, 1, 0, 1, 0, 1])
    near = fit_logistic(scores[:, None], y, np.ones(6))
    far = fit_logistic(scores[:, None] + 2.0**50, y, np.ones(6))
    assert far.slopes[0] == pytest.approx(near.slopes[0], rel=1e-10)


def test_fits_together_are_those_one_by_one():
    rng = np.random.default_rng(4)
    design = np.column_stack([rng.normal(size=(60, 3)), np.ones(60)])
    targets, weights = rng.uniform(0.02, 0.98, (35, 60)), rng.integers(0, 3, (35, 60)).astype(float)
    targets[20:] **= 8  # rare events
    penalties = np.vstack(
        [
            [[1e6, 1e6, 0, 0], [10, 0, 0, 0], [0.1, 0.1, 0.1, 0], [1e-9] * 3 + [0], [0] * 4],
            10.0 ** rng.uniform(-3, 3, (30, 4)),
        ]
    )
    together = ridge_fits(design, targets, weights, penalties)
    for beta, *each in zip(together, targets, weights, penalties, strict=True):
        assert beta == pytest.approx(ridge_fit(design, *each)[0], abs=1e-7)


def test_a_direction_that_no_row_determines_does_not_move():
    """The learning rows of a fold may have a single score."""
    design = np.array([[0.5, 1.0], [0.5, 1.0], [2.0, 1.0]])
    beta = ridge_fits(design, np.array([[0.2, 0.6, 0.5]]), np.array([[1.0, 1.0, 0.0]]), np.zeros((1, 2)))
    assert design[:2] @ beta[0] == pytest.approx(np.log(0.4 / 0.6))
    assert np.abs(beta).max() < 10

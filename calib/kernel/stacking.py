"""Stacking: weights of several predictions that minimise the log loss of their mixture, with a prior.

Wolpert 1992, "Stacked generalization"; Breiman 1996, "Stacked regressions": weights that are not negative, fitted to
predictions of rows that were held out. The mixture is the weighted mean of log-odds, or of the log-probabilities of K
classes (the logarithmic pool of Genest and Zidek 1986). The prior is a Dirichlet density of the weights: it counts as
much as so many rows, and keeps every weight above 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit, logsumexp, softmax

from calib.kernel.checks import Array
from calib.kernel.likelihood import log_loss_sum

STACKING_FOLDS = 5
PRIOR_ROWS = 1.0  # rows that the prior counts as
LEAST_WEIGHT = 0.01  # candidates with a smaller weight are left out
NATS_LEFT = 1e-9
MOST_STACKING_STEPS = 100  # Newton's method needs about ten


def stacking_weights(logits: Array, targets: Array, weights: Array, prior: Array) -> Array:
    """Return weights w (k,), positive with sum 1, that minimise Σ weights · log loss(logits @ w) − Σ prior · ln w.

    Parameters
    ----------
    logits : (n, k)
        Log-odds of each candidate for rows that it was not fitted on.
    targets : (n,) in [0, 1]
    weights : (n,)
    prior : (k,)
        Positive numbers.

    Examples
    --------
    >>> held_out = np.array([[2.0, -2.0], [-2.0, 2.0]])    # the first candidate is right, the second wrong
    >>> few, many = (stacking_weights(held_out, np.array([1, 0]), np.full(2, n), np.ones(2)) for n in (0.5, 500.0))
    >>> few.round(2), many.round(2)
    (array([0.66, 0.34]), array([1., 0.]))
    """

    def derivatives(w: Array) -> tuple[Array, Array]:
        p = expit(logits @ w)
        curvature = (logits.T * (weights * p * (1 - p))) @ logits
        return logits.T @ (weights * (p - targets)), curvature

    return _least(lambda w: log_loss_sum(logits @ w, targets, weights), derivatives, prior)


def joint_stacking_weights(logs: Array, y: Array, weights: Array, prior: Array) -> Array:
    """Return weights w (k,), positive with sum 1, that minimise the same for the K classes of softmax(logs @ w).

    Parameters
    ----------
    logs : (n, K, k)
        Log-probabilities of each candidate for rows that it was not fitted on.
    y : int (n,) in 0 … K − 1
    weights : (n,)
    prior : (k,)
        Positive numbers.

    Examples
    --------
    >>> odds = np.array([[2.0, -2.0], [-2.0, 2.0]])    # of two classes: as above
    >>> logs = np.stack([np.zeros((2, 2)), odds], axis=1)
    >>> joint_stacking_weights(logs, np.array([1, 0]), np.full(2, 0.5), np.ones(2)).round(2)
    array([0.66, 0.34])
    """
    true = np.take_along_axis(logs, y[:, None, None], axis=1)[:, 0]

    def loss(w: Array) -> float:
        return float(weights @ (logsumexp(logs @ w, axis=1) - true @ w))

    def derivatives(w: Array) -> tuple[Array, Array]:
        P = weights[:, None] * softmax(logs @ w, axis=1)
        means = np.einsum("nc,nck->nk", P, logs)  # times the weights
        squares = np.tensordot(logs * P[:, :, None], logs, axes=([0, 1], [0, 1]))
        return (means - weights[:, None] * true).sum(axis=0), squares - (means.T / weights) @ means

    return _least(loss, derivatives, prior)


def in_folds(weights: Array, random: np.random.Generator, whole: bool) -> Array:
    """Return the weight (n, folds) of each entry of equal rows in each random fold.

    Rows of whole weights are divided one by one, so that repeated rows and weighted ones give the same folds.

    >>> in_folds(np.array([7.0, 0.5]), np.random.default_rng(0), whole=False).sum(axis=1)
    array([7. , 0.5])
    """
    each = weights.astype(np.int64) if whole else 1
    draws = random.multinomial(each, np.full(STACKING_FOLDS, 1 / STACKING_FOLDS), size=len(weights))
    return draws * (1.0 if whole else weights[:, None])


def without_small(weights: Array) -> Array:
    """Return weights (k,) that sum to 1 with those below ``LEAST_WEIGHT`` set to 0.

    >>> without_small(np.array([0.005, 0.199, 0.796]))
    array([0. , 0.2, 0.8])
    """
    kept = np.where(weights < LEAST_WEIGHT, 0.0, weights)
    return kept / kept.sum()


def _least(
    loss: Callable[[Array], float], derivatives: Callable[[Array], tuple[Array, Array]], prior: Array
) -> Array:
    """Return the w that minimises loss(w) − Σ prior · ln w, from the gradient and the Hessian of the loss.

    The function is convex, so Newton's method with step halving finds its only minimum.
    """

    def objective(w: Array) -> float:
        return loss(w) - float(prior @ np.log(w))

    w = prior / prior.sum()
    value = objective(w)
    for _ in range(MOST_STACKING_STEPS):
        gradient, hessian = derivatives(w)
        gradient = gradient - prior / w
        step = _step_on_simplex(w, gradient, hessian + np.diag(prior / w**2))
        gain = -float(gradient @ step)
        if gain <= NATS_LEFT:
            return w + step
        length = min(1.0, 0.95 / float((-step / w).max(initial=0.95)))  # no weight reaches 0
        while (tried := objective(w + length * step)) > value and length > NATS_LEFT:
            length /= 2
        w, value = w + length * step, tried
        w /= w.sum()
    return w


def _step_on_simplex(w: Array, gradient: Array, hessian: Array) -> Array:
    """Return Newton's step (k,) whose entries sum to 0, in units of w, in which the system is well conditioned."""
    k = len(w)
    system = np.zeros((k + 1, k + 1))
    system[:k, :k] = hessian * np.outer(w, w)
    system[:k, k] = system[k, :k] = w
    return w * np.linalg.solve(system, np.append(-gradient * w, 0.0))[:k]

"""Stacking: weights of several predictions that minimise the log loss of their mixture, with a prior.

Wolpert 1992, "Stacked generalization"; Breiman 1996, "Stacked regressions": weights that are not negative, fitted to
predictions of rows that were held out. The mixture is the weighted mean of log-odds (the logarithmic pool of Genest
and Zidek 1986). The prior is a Dirichlet density of the weights: it counts as much as so many rows, and keeps every
weight above 0.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from calib.kernel.checks import Array
from calib.kernel.likelihood import log_loss_sum

NATS_LEFT = 1e-9
STEPS = 100  # Newton's method needs about ten


def stacking_weights(logits: Array, targets: Array, weights: Array, prior: Array) -> Array:
    """Return weights w (k,), positive with sum 1, that minimise Σ weights · log loss(logits @ w) − Σ prior · ln w.

    The function is convex, so Newton's method with step halving finds its only minimum.

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

    def objective(w: Array) -> float:
        return log_loss_sum(logits @ w, targets, weights) - float(prior @ np.log(w))

    w = prior / prior.sum()
    value = objective(w)
    for _ in range(STEPS):
        p = expit(logits @ w)
        gradient = logits.T @ (weights * (p - targets)) - prior / w
        hessian = (logits.T * (weights * p * (1 - p))) @ logits + np.diag(prior / w**2)
        step = _step_on_simplex(w, gradient, hessian)
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

"""Losses of single rows, of which the scores are means."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlog1py, xlogy

from calib.kernel import checks
from calib.kernel.checks import Array

Loss = Callable[[Array, Array], Array]
"""(labels, probabilities) → the loss of each row."""


def squared_errors(y: Array, p: Array) -> Array:
    """Return (p − y)² of each row."""
    return (p - y) ** 2


def log_losses(y: Array, p: Array) -> Array:
    """−ln of the probability given to the label that came, of each row; ∞ where that was 0."""
    return 0.0 - (xlogy(y, p) + xlog1py(1 - y, -p))


def hits(y: Array, p: Array) -> Array:
    """1.0 where the predicted label, 1 when p > 0.5, is the label that came."""
    return ((p > 0.5) == (y == 1)).astype(np.float64)


def overconfidence(y: Array, p: Array) -> Array:
    """Probability of the predicted label minus its hit, of each row."""
    return np.maximum(p, 1 - p) - hits(y, p)


def joint_squared_errors(y: Array, P: Array) -> Array:
    """Return Σ (p_k − [y = k])² of each row of P (n, K); for two classes twice ``squared_errors``."""
    return (P**2).sum(axis=1) + 1 - 2 * _given_to_label(y, P)


def joint_log_losses(y: Array, P: Array) -> Array:
    """−ln of the probability given to the label that came, of each row of P (n, K)."""
    with np.errstate(divide="ignore"):
        return 0.0 - np.log(_given_to_label(y, P))


def joint_hits(y: Array, P: Array) -> Array:
    """1.0 where the label that came is the most probable of P (n, K), or the first of several."""
    return (P.argmax(axis=1) == y).astype(np.float64)


def _given_to_label(y: Array, P: Array) -> Array:
    return P[np.arange(len(y)), y]


def mean(values: Array, weights: Array | None) -> float:
    """The mean of values (n,), each as often as its weight says."""
    return float(np.average(values, weights=weights))


def mean_loss(
    loss: Loss,
    y: ArrayLike,
    p: ArrayLike,
    sample_weight: ArrayLike | None,
    joint: Loss | None = None,
) -> float:
    """Return the mean of ``loss``; of rows of K classes (n, K), of ``joint`` if there is one."""
    if joint is not None and np.ndim(p) == 2:
        loss, (labels, p) = joint, checks.labelled_rows(y, p)
    else:
        labels, p = checks.labelled_probabilities(y, p)
    weights, labels, p = checks.counted_rows(sample_weight, labels, p)
    return mean(loss(labels, p), weights)

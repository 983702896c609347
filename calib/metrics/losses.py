"""Losses of single rows; scores are their means."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlog1py, xlogy

from calib.kernel import checks
from calib.kernel.checks import Array

Loss = Callable[[Array, Array], Array]
"""Function (labels, probabilities) → loss of each row."""


def squared_errors(y: Array, p: Array) -> Array:
    """Return (p − y)² of each row."""
    return (p - y) ** 2


def log_losses(y: Array, p: Array) -> Array:
    """Return −ln of the probability of the true label, for each row; ∞ if it is 0."""
    return 0.0 - (xlogy(y, p) + xlog1py(1 - y, -p))


def hits(y: Array, p: Array) -> Array:
    """Return 1.0 for each row whose predicted label (1 if p > 0.5) is the true label, else 0.0."""
    return ((p > 0.5) == (y == 1)).astype(np.float64)


def overconfidence(y: Array, p: Array) -> Array:
    """Return the probability of the predicted label minus its hit, for each row."""
    return np.maximum(p, 1 - p) - hits(y, p)


def class_squared_errors(y: Array, P: Array) -> Array:
    """Return Σ (p_k − [y = k])² for each row of P (n, K); for two classes, this is twice ``squared_errors``."""
    return (P**2).sum(axis=1) + 1 - 2 * _given_to_label(y, P)


def class_log_losses(y: Array, P: Array) -> Array:
    """Return −ln of the probability of the true label, for each row of P (n, K)."""
    with np.errstate(divide="ignore"):
        return 0.0 - np.log(_given_to_label(y, P))


def class_hits(y: Array, P: Array) -> Array:
    """Return 1.0 for each row whose true label is the (first) most probable one in P (n, K), else 0.0."""
    return (P.argmax(axis=1) == y).astype(np.float64)


def _given_to_label(y: Array, P: Array) -> Array:
    return P[np.arange(len(y)), y]


def mean(values: Array, weights: Array | None) -> float:
    """Return the weighted mean of values (n,)."""
    return float(np.average(values, weights=weights))


def mean_loss(
    loss: Loss,
    y: ArrayLike,
    p: ArrayLike,
    sample_weight: ArrayLike | None,
    joint: Loss | None = None,
) -> float:
    """Return the mean of ``loss``; for rows (n, K) of K classes, of ``joint`` if given."""
    if joint is not None and np.ndim(p) == 2:
        loss, (labels, p) = joint, checks.labelled_rows(y, p)
    else:
        labels, p = checks.labelled_probabilities(y, p)
    weights, labels, p = checks.counted_rows(sample_weight, labels, p)
    return mean(loss(labels, p), weights)

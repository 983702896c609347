"""Losses of single rows, of which the scores are means: of p (n,) for labels 0 and 1, or of P (n, K) for 0 … K − 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlog1py, xlogy

from calib.kernel import checks
from calib.kernel.checks import Array


def squared_errors(y: Array, p: Array) -> Array:
    """Return (p − y)² of each row; of K classes the sum over all of them, for two twice as much."""
    if p.ndim == 2:
        return (p**2).sum(axis=1) + 1 - 2 * given_to_label(y, p)
    return (p - y) ** 2


def log_losses(y: Array, p: Array) -> Array:
    """−ln of the probability given to the label that came, of each row; ∞ where that was 0."""
    if p.ndim == 2:
        with np.errstate(divide="ignore"):
            return 0.0 - np.log(given_to_label(y, p))
    return 0.0 - (xlogy(y, p) + xlog1py(1 - y, -p))


def hits(y: Array, p: Array) -> Array:
    """1.0 where the predicted label, 1 when p > 0.5 or the first of the most probable, is the label that came."""
    if p.ndim == 2:
        return (p.argmax(axis=1) == y).astype(np.float64)
    return ((p > 0.5) == (y == 1)).astype(np.float64)


def overconfidence(y: Array, p: Array) -> Array:
    """Probability of the predicted label minus its hit, of each row."""
    return (p.max(axis=1) if p.ndim == 2 else np.maximum(p, 1 - p)) - hits(y, p)


def given_to_label(y: Array, p: Array) -> Array:
    """Return the probability (n,) that P (n, K) gives to each row's label."""
    return p[np.arange(len(y)), y]


def mean(values: Array, weights: Array | None) -> float:
    """The mean of values (n,), each as often as its weight says."""
    return float(np.average(values, weights=weights))


def mean_loss(
    loss: Callable[[Array, Array], Array], y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None
) -> float:
    read = checks.labelled_rows if np.ndim(p) == 2 else checks.labelled_probabilities
    weights, labels, p = checks.counted_rows(sample_weight, *read(y, p))
    return mean(loss(labels, p), weights)

"""Scores of single predictions: each score is the mean of one loss per row.

Brier score (Brier 1950; eq. 5 of Shaker & Hüllermeier 2025, for one class), log loss (ibid. eq. 6; in base 2
eq. 4.11 of Johansson et al., probability estimation trees, 2019), root mean squared error (eq. 13 of Vovk &
Petej 2014), accuracy, area under the ROC curve, and how far the estimated accuracy is from the observed one
(Table 3 of the trees paper).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlog1py, xlogy

from calib.kernel import checks
from calib.kernel.checks import Array
from calib.kernel.pav import pool_ties, rank_area


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


def mean(values: Array, weights: Array | None) -> float:
    """The mean of values (n,), each as often as its weight says."""
    return float(np.average(values, weights=weights))


def brier_score(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Mean of (p − y)², in [0, 1], the one-class convention; 0 is best.

    Parameters
    ----------
    y : (n,) of 0 and 1
    p : (n,) in [0, 1]
    sample_weight : (n,)
        Not negative. Whole numbers are repeated rows, here and for every metric.

    Raises
    ------
    InputError
        For anything else.

    Examples
    --------
    >>> round(brier_score([1, 0], [0.8, 0.4]), 3)     # (0.04 + 0.16) / 2
    0.1
    """
    return _mean_loss(squared_errors, y, p, sample_weight)


def _mean_loss(
    loss: Callable[[Array, Array], Array], y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None
) -> float:
    weights, labels, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    return mean(loss(labels, p), weights)


def rmse(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Square root of the Brier score, in [0, 1] (Vovk & Petej 2014, eq. 13).

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.

    Examples
    --------
    >>> round(rmse([1, 0], [0.4, 0.8]), 3)            # √((0.36 + 0.64) / 2)
    0.707
    """
    return math.sqrt(brier_score(y, p, sample_weight))


def log_loss(
    y: ArrayLike, p: ArrayLike, base: float = math.e, sample_weight: ArrayLike | None = None
) -> float:
    """Mean of −log of the probability given to the label that came, in [0, ∞]; 0 is best.

    A certain prediction that is wrong costs ∞: nothing is clipped (``log_loss_clipped`` does, and is named
    so).

    Parameters
    ----------
    y : (n,) of 0 and 1
    p : (n,) in [0, 1]
    base
        Of the logarithm, above 1.
    sample_weight
        See ``brier_score``.

    Raises
    ------
    InputError
        For anything else.

    Examples
    --------
    >>> log_loss([1, 0], [0.25, 0.75], base=2)        # each label had a probability of 1/4
    2.0
    >>> log_loss([1, 0], [0.0, 0.5])
    inf
    """
    checks.in_range(base, "base", low=1, open_ends=True)
    return _mean_loss(log_losses, y, p, sample_weight) / math.log(base)


def log_loss_clipped(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Log loss (base e) of p clipped to [ε, 1 − ε], ε = 2.2e-16, as scikit-learn's; it is shown beside an infinite
    log loss.

    A certain prediction that is wrong costs 36.04 instead of ∞ (Shaker & Hüllermeier 2025, Table 7).

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.

    Examples
    --------
    >>> round(log_loss_clipped([1], [0.0]), 2)
    36.04
    """
    y, p = checks.labelled_probabilities(y, p)
    tiny = np.finfo(np.float64).eps
    return _mean_loss(log_losses, y, np.clip(p, tiny, 1 - tiny), sample_weight)


def accuracy(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Share of rows whose predicted label, 1 when p > 0.5, is right.

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.

    Examples
    --------
    >>> accuracy([1, 0, 1], [0.9, 0.5, 0.5])          # p = 0.5 predicts 0
    0.6666666666666666
    """
    return _mean_loss(hits, y, p, sample_weight)


def auc(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Probability that a row of class 1 has a larger p than one of class 0, ties counting ½ (Mann–Whitney).

    NaN when y holds one class only: there is no pair to compare.

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.

    Examples
    --------
    >>> auc([0, 1, 1], [0.3, 0.3, 0.9])               # one tie and one pair in order
    0.75
    """
    weights, y, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    return rank_area(pool_ties(p, y, weights))


def accuracy_gap(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Estimated minus observed accuracy, in [−1, 1]: mean of max(p, 1 − p) minus the accuracy.

    Above 0 the probabilities are too optimistic, below 0 too pessimistic (Johansson et al. 2019, trees, Table
    3).

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.

    Examples
    --------
    >>> round(accuracy_gap([1, 0], [0.9, 0.7]), 3)    # claims 0.8 on average, is right half the time
    0.3
    """
    return _mean_loss(overconfidence, y, p, sample_weight)

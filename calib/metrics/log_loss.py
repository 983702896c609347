"""Log loss (eq. 6 of Shaker & Hüllermeier 2025), exact and clipped."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from calib.kernel import checks
from calib.metrics.base import Metric
from calib.metrics.losses import Loss, class_log_losses, log_losses, mean_loss


def log_loss(
    y: ArrayLike, p: ArrayLike, base: float = math.e, sample_weight: ArrayLike | None = None
) -> float:
    """Return the mean of −log of the probability of the true label, in [0, ∞]; 0 is best.

    A wrong prediction with certainty costs ∞: nothing is clipped (see ``log_loss_clipped``).

    Parameters
    ----------
    y : (n,) of 0 and 1
    p : (n,) in [0, 1]
        Or rows (n, K) for labels 0 … K − 1.
    base
        Base of the logarithm, above 1.
    sample_weight
        See ``brier_score``.

    Raises
    ------
    InputError
        If an argument is invalid.

    Examples
    --------
    >>> log_loss([1, 0], [0.25, 0.75], base=2)        # each label had a probability of 1/4
    2.0
    >>> log_loss([1, 0], [0.0, 0.5])
    inf
    """
    checks.in_range(base, "base", low=1, open_ends=True)
    return mean_loss(log_losses, y, p, sample_weight, class_log_losses) / math.log(base)


def log_loss_clipped(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the log loss (base e) with p clipped to [ε, 1 − ε], ε = 2.2e-16, as in scikit-learn.

    A wrong prediction with certainty costs 36.04 instead of ∞ (Shaker & Hüllermeier 2025, Table 7). Tables show it
    next to an infinite log loss.

    Parameters
    ----------
    y, p, sample_weight
        See ``log_loss``.

    Examples
    --------
    >>> round(log_loss_clipped([1], [0.0]), 2)
    36.04
    >>> round(log_loss_clipped([2], [[0.5, 0.5, 0.0]]), 2)
    36.04
    """
    return mean_loss(_clipped(log_losses), y, p, sample_weight, _clipped(class_log_losses))


def _clipped(loss: Loss) -> Loss:
    tiny = np.finfo(np.float64).eps
    return lambda y, p: loss(y, np.clip(p, tiny, 1 - tiny))


LOG_LOSS = Metric(
    "log_loss",
    "Log loss",
    log_loss,
    False,
    "Mean of −ln of the probability of the true label; ∞ if a prediction of 0 or 1 is wrong. If it is "
    "infinite, the value with probabilities clipped to [2.2e-16, 1 − 2.2e-16] is shown as well.",
    of_classes=("Log loss, all classes", "Mean of −ln of the probability of the true class."),
)
LOG_LOSS_CLIPPED = Metric(
    "log_loss_clipped",
    "Log loss, clipped",
    log_loss_clipped,
    False,
    "Log loss with probabilities clipped to [2.2e-16, 1 − 2.2e-16], as in Shaker and Hüllermeier (2025).",
    everyday=False,
)

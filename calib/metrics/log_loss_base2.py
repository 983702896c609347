"""Log loss in bits, as the tables of Johansson, Löfström and Boström have it (trees paper, 2019, eq. 4.11)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from calib.metrics.base import Metric
from calib.metrics.scoring import log_loss


def log_loss_base2(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Mean of −log2 of the probability given to the label that came, in [0, ∞]; 0 is best.

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.

    Examples
    --------
    >>> log_loss_base2([1, 0], [0.25, 0.5])           # 2 bits and 1 bit
    1.5
    """
    return log_loss(y, p, base=2, sample_weight=sample_weight)


LOG_LOSS_BASE2 = Metric(
    "log_loss_base2",
    "Log loss, in bits",
    log_loss_base2,
    False,
    "Log loss with the binary logarithm, as in the tables of Johansson, Löfström and Boström (2019).",
    everyday=False,
)

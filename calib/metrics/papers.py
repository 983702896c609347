"""Metrics that only papers' tables use, for comparison with printed values.

Squared ECE and group entropy: Shaker & Hüllermeier 2025, Tables 8 and 3. Log loss in bits: eq. 4.11 of Johansson et
al., probability estimation trees, 2019.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calib.kernel import checks
from calib.kernel.binning import BINS
from calib.kernel.isotonic_regression import pool_ties
from calib.metrics.base import Metric
from calib.metrics.ece import filled_bins
from calib.metrics.log_loss import log_loss


def squared_ece(
    y: ArrayLike,
    p: ArrayLike,
    bins: ArrayLike = BINS,
    strategy: str = "uniform",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the unweighted mean of (observed frequency − mean p)² over non-empty bins.

    This is not eq. 8, but the number in Table 8 of Shaker & Hüllermeier (2025), for comparison only. As there, the
    probability of class 0 is binned, so a p on an edge belongs to the lower bin.

    Parameters
    ----------
    y, p, bins, strategy, sample_weight
        See ``expected_calibration_error``.

    Examples
    --------
    >>> round(squared_ece([1, 0, 1], [0.61, 0.63, 0.92]), 4)                   # (0.12² + 0.08²) / 2
    0.0104
    """
    y, p = checks.labelled_probabilities(y, p)
    mirrored: Any = bins if np.ndim(bins) == 0 else 1 - np.flip(np.asarray(bins, dtype=np.float64))
    _, observed, mean_p = filled_bins(1 - y, 1 - p, mirrored, strategy, sample_weight)
    return float(((observed - mean_p) ** 2).mean())


def log_loss_base2(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the mean of −log2 of the probability of the true label, in [0, ∞]; 0 is best.

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


def group_entropy(p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the entropy, in bits, of the groups of identical predictions (Shaker & Hüllermeier 2025, Table 3).

    It is 0 if all predictions are equal, log2 n if all differ.

    Parameters
    ----------
    p : (n,) in [0, 1]
    sample_weight
        See ``brier_score``.

    Examples
    --------
    >>> group_entropy([0.25, 0.25, 0.5, 0.75])
    1.5
    """
    p = checks.probability_vector(p, "p")
    checks.not_empty(p, "p")
    weights, p, _ = checks.counted_rows(sample_weight, p, p)
    count = pool_ties(p, p, weights).weights
    share = count / count.sum()
    return float(-(share * np.log2(share)).sum()) + 0.0


def entropy(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the group entropy in bits, in [0, log2 n]; labels have no effect.

    >>> entropy([0, 1, 1, 0], [0.25, 0.25, 0.5, 0.75])
    1.5
    """
    return group_entropy(p, sample_weight)


SQUARED_ECE = Metric(
    "squared_ece",
    "Squared ECE, unweighted",
    squared_ece,
    False,
    "Mean squared difference between mean prediction and observed frequency, over non-empty bins, all with "
    "equal weight. The ECE tables of Shaker and Hüllermeier (2025) show this value.",
    everyday=False,
)
LOG_LOSS_BASE2 = Metric(
    "log_loss_base2",
    "Log loss, in bits",
    log_loss_base2,
    False,
    "Log loss with the binary logarithm, as in the tables of Johansson, Löfström and Boström (2019).",
    everyday=False,
)
GROUP_ENTROPY = Metric(
    "group_entropy",
    "Group entropy",
    entropy,
    None,
    "How finely the predictions divide the rows, in bits; 0 if all predictions are equal.",
    ".2f",
)

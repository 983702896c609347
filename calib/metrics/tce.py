"""True calibration error: distance from the known true probability of synthetic data (eq. 4 of Shaker & Hüllermeier
2025).
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from calib.kernel import checks
from calib.metrics.base import Metric
from calib.metrics.brier import brier_score
from calib.metrics.losses import mean


def true_calibration_error(
    posterior: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Return the mean of (p − π)² for the true π = P(Y = 1 | x), in [0, 1] (eq. 4).

    Parameters
    ----------
    posterior, p : (n,) in [0, 1]
        Only synthetic data have a posterior.

    Examples
    --------
    >>> round(true_calibration_error([0.5, 0.9], [0.7, 0.9]), 3)
    0.02
    """
    rows = checks.true_and_predicted_probabilities(posterior, p)
    weights, truth, p = checks.counted_rows(sample_weight, *rows)
    return mean((truth - p) ** 2, weights)


def excess_brier(
    y: ArrayLike, p: ArrayLike, posterior: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Return the Brier score of p minus that of the true posterior on the same labels.

    Its expectation is the true calibration error, and the "CL+GL" curves of Shaker & Hüllermeier (2025) show it. It
    can be negative.

    Parameters
    ----------
    y, p, posterior, sample_weight
        (n,) each, as for ``brier_score`` and ``true_calibration_error``.

    Examples
    --------
    >>> round(excess_brier([1, 0], [1.0, 0.0], posterior=[0.5, 0.5]), 3)
    -0.25
    """
    return brier_score(y, p, sample_weight) - brier_score(y, posterior, sample_weight)


TCE = Metric(
    "tce",
    "TCE",
    true_calibration_error,
    False,
    "True calibration error: mean squared difference from the known true probability.",
    needs="posterior",
)

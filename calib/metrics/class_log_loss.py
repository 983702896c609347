"""The log loss of K classes split into miscalibration − discrimination + uncertainty, by the best temperature.

Let ℓ be the mean log loss of P, ℓ_T that of softmax(ln P / T) at its lowest, and ℓ_0 that of the shares of the classes,
given to every row. Then ℓ = MCB − DSC + UNC with MCB = ℓ − ℓ_T, DSC = ℓ_0 − ℓ_T and UNC = ℓ_0 (Gneiting and Resin 2023,
for any way of recalibration). Berta, Holzmüller, Jordan and Bach (2025) recalibrate by temperature, which learns one
number, so that the rows it is learned from judge it, too. So MCB is what a temperature would gain. It is at most the
whole calibration error: what is wrong with single classes stays in DSC.

DSC is a mean over rows, because a small change of the temperature or of the shares at their optimum changes no loss. So
is MCB, but near 0 it grows with the square of 1/T − 1. Its interval is that of the root √MCB, whose error remains
finite there. UNC is the entropy of the shares π̂. If they are almost equal its first derivative is almost 0, so that the
second counts: −½ Σ (π̂_k − π_k)² / π_k. It adds to the variance and makes UNC too small on average: by (K − 1)/(2n) for
n independent rows (Miller 1955).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.special import log_softmax

from calib.kernel import checks
from calib.kernel.checks import Array
from calib.kernel.rows import Rows
from calib.kernel.softmax import LOG_FLOOR, joint_temperature
from calib.kernel.weights import or_ones
from calib.metrics.class_metric_intervals import TOO_FEW_OF_CLASS, class_rows, fewest_of_class
from calib.metrics.confidence_intervals import FEWEST_PER_CLASS, LEVEL, NO_ENDS, Ends, mean_interval
from calib.metrics.losses import class_log_losses, mean

NEARBY = 1e-3  # a change of 1/T that shows how the loss bends, where the best temperature is 1


class ClassDecomposition(NamedTuple):
    """Parts of the mean log loss, each with the ends of its interval; NaN if it has none.

    ``temperature`` is the best one: above 1 for an overconfident model.
    """

    mcb: float
    dsc: float
    unc: float
    temperature: float
    intervals: dict[str, Ends]


def decompose_class_log_loss(
    y: ArrayLike,
    p: ArrayLike,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    *,
    counts: ArrayLike | None = None,
    level: float = LEVEL,
) -> ClassDecomposition:
    """Return MCB, DSC and UNC of the log loss of K classes, with intervals; log loss = MCB − DSC + UNC.

    MCB is ∞ if a class came to which P gives 0.

    Parameters
    ----------
    y : (n,) of 0 … K − 1
    p : (n, K)
    sample_weight, cluster, counts, level
        See ``class_metric_interval``.

    Examples
    --------
    Right in 2 of 3 rows, as said by the temperature 2 (0.8 : 0.2 becomes 2 : 1); then DSC = ln 2 − (ln 3 − ⅔ ln 2):

    >>> found = decompose_class_log_loss([0, 0, 1, 1, 1, 0], [[0.8, 0.2]] * 3 + [[0.2, 0.8]] * 3)
    >>> round(found.temperature, 4), round(found.dsc, 4), round(found.unc - math.log(2), 4)
    (2.0, 0.0566, 0.0)
    """
    checks.in_range(level, "level", 0, 1, open_ends=True)
    rows, labels, P = class_rows(y, p, sample_weight, cluster, counts)
    weights = or_ones(rows.weight, len(labels))
    shares = np.bincount(labels, weights, minlength=P.shape[1]) / weights.sum()
    logits, each = np.log(P + LOG_FLOOR), np.arange(len(labels))
    best, _ = joint_temperature(logits, labels, weights)

    def at(inverse: float) -> Array:
        return -log_softmax(inverse * logits, axis=1)[each, labels]

    losses, after, before = class_log_losses(labels, P), at(1 / best), -np.log(shares[labels])
    gain = mean(losses, rows.weight) - mean(after, rows.weight)
    discriminated = mean_interval(rows, before - after, level)[1:]
    near = abs(1 / best - 1) < NEARBY
    gains = at(1 / best + NEARBY) - after if near else losses - after
    unc = mean(before, rows.weight)
    return ClassDecomposition(
        max(gain, 0.0),
        unc - mean(after, rows.weight),
        unc,
        best,
        {
            "mcb": _of_gain(rows, gain, gains, level),
            "dsc": discriminated,
            "unc": _of_shares(rows, labels, shares, level),
        },
    )


def _of_shares(rows: Rows, y: Array, shares: Array, level: float) -> Ends:
    """Return the ends of the entropy of the shares (K,), which include the entropy of these shares."""
    if rows.single_cluster or fewest_of_class(rows, y, len(shares)) < TOO_FEW_OF_CLASS:
        return NO_ENDS
    losses = -np.log(shares[y])
    scaled = csr_array((shares[y] ** -0.5, (np.arange(rows.n), y)), shape=(rows.n, len(shares)))
    covariance = rows.covariance(scaled)
    seen, bias = rows.mean(losses), float(np.trace(covariance)) / 2
    error = math.hypot(rows.standard_error(losses), math.sqrt(float((covariance**2).sum()) / 2))
    half = rows.quantile(level) * error
    low, high = max(seen + bias - half, 0.0), min(seen + bias + half, math.log(len(shares)))
    return min(low, seen), max(high, seen)


def _of_gain(rows: Rows, gain: float, gains: Array, level: float) -> Ends:
    """Return the ends of a gain of at least 0 by its root, whose error is that of the rows' gains over 2 √gain.

    ``gains`` (n,) are the gains of the rows, or those of a small step from the best temperature if it is about 1.
    """
    mean_gain = rows.mean(gains) if np.isfinite(gains).all() else np.nan
    if not (math.isfinite(gain) and mean_gain > 0) or rows.fewest < FEWEST_PER_CLASS or rows.single_cluster:
        return NO_ENDS
    root = math.sqrt(max(gain, 0.0))
    half = rows.quantile(level) * rows.standard_error(gains - mean_gain) / (2 * math.sqrt(mean_gain))
    return max(root - half, 0.0) ** 2, (root + half) ** 2

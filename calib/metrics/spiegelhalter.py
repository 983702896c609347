"""Spiegelhalter's test of calibration (1986)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from calib.kernel import checks
from calib.kernel.weights import or_ones, squares
from calib.metrics.base import Metric, NumberOf


@dataclass(frozen=True)
class SpiegelhalterTest:
    """Result of Spiegelhalter's test.

    Attributes
    ----------
    statistic
        z, standard normal under perfect calibration.
    pvalue
        Two-sided p-value.
    """

    statistic: float
    pvalue: float


def spiegelhalter_test(
    y: ArrayLike,
    p: ArrayLike,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> SpiegelhalterTest:
    """Test whether labels are compatible with Y ~ Bernoulli(p), by the expected Brier score (Spiegelhalter 1986).

    z = Σ (y − p)(1 − 2p) / √(Σ (1 − 2p)² p (1 − p)). It is NaN if every p is 0, ½ or 1 and every certain one is right,
    because nothing can contradict calibration then. It is ±∞ with p-value 0 if a certain prediction is wrong and no
    other has a variance. A row of weight w adds w² times its variance, or w times if weights count rows. With
    clusters, the variance is Σ over clusters of the squared sum of their terms (Liang & Zeger 1986).

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.
    cluster : (n,)
        Cluster of each row.
    counts : (n,)
        Number of rows that each row represents, if weights are more than counts, as at a deployment base rate.

    Examples
    --------
    >>> test = spiegelhalter_test([1, 1, 1, 0], [0.75, 0.75, 0.75, 0.75])      # 3 of 4, as predicted
    >>> abs(test.statistic), test.pvalue
    (0.0, 1.0)
    """
    y, p = checks.labelled_probabilities(y, p)
    whose = None if cluster is None else checks.counted_clusters(cluster, sample_weight, len(y))
    counted = checks.checked_counts(counts, sample_weight, len(y))
    weights, y, p = checks.counted_rows(sample_weight, y, p, counts)
    weights = or_ones(weights, len(y))
    each = weights * (y - p) * (1 - 2 * p)
    difference = float(each.sum())
    variance = float((squares(weights, counted) * (1 - 2 * p) ** 2 * p * (1 - p)).sum())
    if whose is not None and variance > 0:
        variance = float((np.bincount(whose, each) ** 2).sum())
    if variance == 0:
        z = math.copysign(math.inf, difference) if difference else math.nan
    else:
        z = difference / math.sqrt(variance)
    return SpiegelhalterTest(z, float(2 * ndtr(-abs(z))))


SPIEGELHALTER_Z = Metric(
    "spiegelhalter_z",
    "Spiegelhalter's z",
    NumberOf(spiegelhalter_test, "statistic"),
    None,
    "A value below −1.96 or above 1.96 means that the test rejects calibration at the 5 % level.",
    ".2f",
    target=0.0,
)
SPIEGELHALTER_P = Metric(
    "spiegelhalter_p",
    "Spiegelhalter's p-value",
    NumberOf(spiegelhalter_test, "pvalue"),
    None,
    "Probability of a |z| at least this large if the model is calibrated.",
    ".3f",
)

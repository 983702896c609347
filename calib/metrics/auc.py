"""Ranking of rows: area under the ROC curve, and under the precision–recall curve."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from calib.kernel import checks
from calib.kernel.isotonic_regression import pool_ties, rank_area
from calib.metrics.base import Metric


def auc(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the probability that a row of class 1 has a larger p than one of class 0, ties counting ½ (Mann–Whitney).

    NaN if y contains only one class. With K classes, it is the mean over the classes with rows, each against the rest.

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.

    Examples
    --------
    >>> auc([0, 1, 1], [0.3, 0.3, 0.9])               # one tie and one pair in order
    0.75
    """
    if np.ndim(p) == 2:
        y, p = checks.labelled_rows(y, p)
        return float(np.mean([auc(y == k, p[:, k], sample_weight) for k in np.unique(y)]))
    weights, y, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    return rank_area(pool_ties(p, y, weights))


def average_precision(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return Σ over distinct p, from the highest, of (increase of recall) · (precision), in [0, 1]; 1 is best.

    It shows what AUC hides if class 1 is rare (Davis & Goadrich 2006). There is no interpolation, which would be
    optimistic. A random ranking gets the overall frequency of class 1. NaN without a row of class 1.

    Parameters
    ----------
    y, p, sample_weight
        See ``brier_score``.

    Examples
    --------
    >>> round(average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)      # ½ · 1 + ½ · ⅔
    0.8333
    """
    weights, y, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    tied = pool_ties(p, y, weights)
    rows, found = np.cumsum(tied.weights[::-1]), np.cumsum(tied.sums[::-1])
    return float(tied.sums[::-1] @ (found / rows) / found[-1]) if found[-1] else math.nan


AUC = Metric(
    "auc",
    "AUC",
    auc,
    True,
    "Probability that a random positive row gets a higher score than a random negative row; ties count as "
    "one half.",
    of_classes=("AUC, mean of classes", "AUC of each class against the rest, averaged over the classes."),
)
AVERAGE_PRECISION = Metric(
    "average_precision",
    "Average precision",
    average_precision,
    True,
    "Area under the precision–recall curve. A random ranking has an area equal to the frequency of the "
    "positive class.",
    everyday=False,
)

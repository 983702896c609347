"""Area under the precision–recall curve, as average precision: what AUC hides where class 1 is rare.

Davis and Goadrich 2006; the sum over thresholds of recall gained times precision there, without
interpolation, which would be too hopeful. The overall frequency of class 1 is what chance gets.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from calib.kernel import checks
from calib.kernel.pav import pool_ties
from calib.metrics.base import Metric


def average_precision(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Σ over distinct p, from the highest, of (recall gained) · (precision), in [0, 1]; 1 is best.

    NaN without a row of class 1.

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


AVERAGE_PRECISION = Metric(
    "average_precision",
    "Average precision",
    average_precision,
    True,
    "Area under the precision–recall curve. A random ranking gets the frequency of the positive class.",
    everyday=False,
)

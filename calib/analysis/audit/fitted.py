"""Refusal of probabilities that were fitted to the audited labels: their errors cancel exactly.

Maximum likelihood with an intercept (logistic recalibration, beta calibration) makes Σ (y − p) zero, Platt scaling does
so for its smoothed labels, and isotonic regression or bins make each distinct probability equal to the frequency of its
rows. On rows that no fit has seen, this happens by chance less than once in a million tables.
"""

from __future__ import annotations

import numpy as np

from calib.kernel.checks import Array, InputError
from calib.kernel.isotonic_regression import pool_ties
from calib.kernel.rows import Rows

CHANCE = 1e-6
EXACT = 1e-9  # largest mean error of fitted probabilities; chance does not come so close to 0
DIGITS = 6  # decimals of rounded probabilities, whose sums can agree by chance
DISTINCT = 50


def refuse_fitted(rows: Rows, p: Array) -> None:
    """Refuse probabilities p (n,) that were fitted to the labels of these rows."""
    if _frequencies(rows, p) or _cancels(rows, p):
        raise InputError(
            "The probabilities were fitted to these labels: their errors cancel exactly. Audit rows that neither the "
            "model nor the calibrator has seen."
        )


def _frequencies(rows: Rows, p: Array) -> bool:
    """Tell whether each distinct probability is the frequency of its rows, which chance hardly ever does."""
    tied = pool_ties(p, rows.y, rows.weights)
    inside = (tied.scores > 0) & (tied.scores < 1)
    if np.abs(tied.sums - tied.weights * tied.scores).max() > EXACT * rows.weights.sum():
        return False
    spread = (tied.weights * tied.scores * (1 - tied.scores))[inside]
    return bool(-np.log1p(np.sqrt(2 * np.pi * spread)).sum() < np.log(CHANCE))


def _cancels(rows: Rows, p: Array) -> bool:
    """Tell whether the errors of many unrounded probabilities sum to 0, against labels or those of Platt scaling."""
    distinct = np.unique(p)
    if len(distinct) < DISTINCT or np.array_equal(np.round(distinct, DIGITS), distinct):
        return False
    w, total = rows.weights, rows.weights.sum()
    ones = w @ rows.y
    smoothed = np.where(rows.y == 1, (ones + 1) / (ones + 2), 1 / (total - ones + 2))
    return bool(min(abs(w @ (rows.y - p)), abs(w @ (smoothed - p))) <= EXACT * total)

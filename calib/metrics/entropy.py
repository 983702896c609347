"""Entropy of the groups of identical predictions (Table 3 of Shaker & Hüllermeier 2025)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from calib.kernel import checks
from calib.kernel.pav import pool_ties
from calib.metrics.base import Metric


def group_entropy(p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Entropy, in bits, of the groups of identical predictions (Shaker & Hüllermeier 2025, Table 3).

    0 when all predictions are equal, log2 n when all differ.

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


GROUP_ENTROPY = Metric(
    "group_entropy",
    "Group entropy",
    entropy,
    None,
    "How finely the predictions divide the rows, in bits; 0 if all predictions are equal.",
    ".2f",
)

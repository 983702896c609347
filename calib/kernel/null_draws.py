"""Redraw labels as if the predictions were right, y* ~ Bernoulli(p), for bands, chance levels and tests.

This is the consistency resampling of Bröcker and Smith (2007).
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

SPELT_OUT = 2_000_000  # labels drawn one by one; of more, sums over rows of equal probability are drawn


def null_draws(p: Array, counts: Array, repeats: int, rng: np.random.Generator) -> Array:
    """Draw how many of ``counts`` (k,) rows with probability p (k,) are of class 1: float array (repeats, k).

    Whole numbers of rows give the same draws as single rows, from the same generator.

    >>> null_draws(np.array([0.0, 1.0]), np.array([2, 3]), 1, np.random.default_rng(0))
    array([[0., 3.]])
    """
    times = counts.astype(np.int64)
    if times.sum() * repeats > SPELT_OUT:
        return rng.binomial(times, np.clip(p, 0, 1), size=(repeats, len(p))).astype(np.float64)
    rows = rng.random((repeats, int(times.sum()))) < np.repeat(p, times)
    if (times == 1).all():
        return rows.astype(np.float64)
    upto = np.pad(np.cumsum(rows, axis=1, dtype=np.float64), ((0, 0), (1, 0)))
    return np.diff(upto[:, np.r_[0, np.cumsum(times)]], axis=1)

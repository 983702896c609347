"""Labels redrawn as if the predictions were right, y* ~ Bernoulli(p): what bands, chance levels and tests rest on.

The consistency resampling of Bröcker and Smith (2007).
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

SPELT_OUT = (
    2_000_000  # labels that are drawn one by one; of more, the sums of rows with one probability are drawn
)


def null_draws(p: Array, counts: Array, repeats: int, rng: np.random.Generator) -> Array:
    """Float array (repeats, k): how many of ``counts`` (k,) rows with probability p (k,) each are of class 1.

    Whole numbers of rows give what the rows one by one give, from the same generator.

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

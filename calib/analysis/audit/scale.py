"""Statistics of segments on one scale: the distance of a standard normal number from 0.

A maximum over segments and statistics is fair only if all are equally large by chance. Level and slope are divided by
their standard deviations and freed of their skewness, which is large for rare events, by the cube-root
transformation of Wilson & Hilferty (1931). The reach is standardised by its redraws, each by the mean and
standard deviation of all others, and mapped to the normal scale by the distribution of the range of Brownian motion
(Feller 1951). If signs of clusters change, it is divided by the standard deviation of the level instead. The test is
exact on any scale, because observed and redrawn statistics are treated alike.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from calib.analysis.audit.redraws import Moments, Walks
from calib.kernel.checks import Array
from calib.metrics.cumulative import range_tail

RANGE_MEAN, RANGE_SD = 2 * math.sqrt(2 / math.pi), math.sqrt(4 * math.log(2) - 8 / math.pi)
NOTHING = 1e-6  # rounding error of sums of residuals in single precision
TINY = 1e-6  # skewness
FARTHEST, SERIES = (
    40.0,
    6.0,
)  # ranges interpolated in a table; beyond them the first term of the tail is enough


def statistics(walks: Walks, moments: Moments, sloped: Array, signs: bool = False) -> Array:
    """Return statistics (looks, segments, redraws), each at least 0.

    Parameters
    ----------
    sloped : bool (segments,)
        Whether the rows allow a slope.
    signs
        Whether redraws change signs.
    """
    level = unskewed(_divided(walks.level, moments.level), moments.level_skewness[:, None])
    slope = unskewed(_divided(walks.slope, moments.slope), moments.slope_skewness[:, None])
    reach = unskewed(_divided(walks.reach, moments.level), np.abs(moments.level_skewness)[:, None])
    shape = range_as_normal(reach) if signs else as_normal(reach)
    return np.stack([np.abs(level), np.where(sloped[:, None], np.abs(slope), 0.0), shape])


def _divided(values: Array, sd: Array) -> Array:
    """Divide values (k, r) by standard deviations (k,); if one is 0, values other than 0 become infinite."""
    values = values.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = values / sd[:, None]
    impossible = np.where(np.abs(values) > NOTHING, np.copysign(np.inf, values), 0.0)
    return np.where(sd[:, None] > 0, found, impossible)


def unskewed(z: Array, skewness: Array) -> Array:
    """Transform standardised numbers of this skewness to normal numbers (Wilson & Hilferty 1931).

    >>> from scipy.stats import norm, poisson
    >>> z = unskewed(np.array((24 - 0.5 - 10) / 10**0.5), np.array(10**-0.5))
    >>> [round(float(x), 2) for x in (z, norm.isf(poisson.sf(23, 10)))]          # 24 events where 10 are expected
    [3.61, 3.67]
    """
    tiny = np.abs(skewness) < TINY
    gamma = np.where(tiny, 1.0, skewness)
    with np.errstate(invalid="ignore"):
        bent = 6 / gamma * (np.cbrt(gamma * z / 2 + 1) - 1) + gamma / 6
    return np.where(tiny, z, bent)


def skewed(normal: Array, skewness: float) -> Array:
    """Return the standardised numbers that ``unskewed`` transforms to these normal numbers.

    >>> z = np.array([-2.0, 0.5, 3.0])
    >>> np.allclose(skewed(unskewed(z, np.array(0.4)), 0.4), z)
    True
    """
    if abs(skewness) < TINY:
        return normal
    return (2 / skewness) * (((normal - skewness / 6) * skewness / 6 + 1) ** 3 - 1)


def as_normal(reach: Array) -> Array:
    """Map ranges (k, r) to the normal scale; each is standardised by the others of its row."""
    known = np.isfinite(reach)
    centred = np.where(known, reach, 0.0) - np.where(known, reach, 0.0).mean(axis=1, keepdims=True)
    n = reach.shape[1]
    mean = (centred.sum(axis=1, keepdims=True) - centred) / (n - 1)
    squares = (centred**2).sum(axis=1, keepdims=True) - centred**2
    sd = np.sqrt(np.maximum(squares / (n - 1) - mean**2, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        standard = np.where(
            sd > NOTHING, (centred - mean) / sd, np.where(centred - mean > NOTHING, np.inf, -3.0)
        )
    return np.where(known, range_as_normal(RANGE_MEAN + RANGE_SD * standard), np.inf)


def range_as_normal(x: Array) -> Array:
    """Return the distance from 0 that a standard normal number exceeds as often as the range of Brownian motion x.

    >>> from scipy.special import ndtr
    >>> z = range_as_normal(np.array([2.4977]))                                    # the 5 % point
    >>> float(np.round(2 * ndtr(-z[0]), 3))
    0.05
    """
    at, normal = _table()
    with np.errstate(invalid="ignore"):
        return np.where(x > FARTHEST, normal[-1] + (x - FARTHEST), np.interp(x, at, normal))


@lru_cache(maxsize=1)
def _table() -> tuple[Array, Array]:
    at = np.append(np.arange(0.3, SERIES, 0.005), np.arange(SERIES, FARTHEST + 0.01, 0.01))
    log = [
        math.log(min(max(range_tail(x), 1e-300), 1.0)) if x < SERIES else math.log(8) + float(log_ndtr(-x))
        for x in at
    ]
    return at, -ndtri_exp(np.minimum(np.array(log) - math.log(2), math.log(0.5)))

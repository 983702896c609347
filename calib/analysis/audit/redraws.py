"""Redrawn residuals of audited rows, and three statistics of them in many segments at once, on one scale.

Labels are redrawn as if the probabilities were right, y* ~ Bernoulli(p), or the residuals of whole clusters change
their sign. A redraw is one bit per row or cluster, so that 999 redraws of a million rows take 125 MB; residuals are
computed from the bits block by block. In a walk all segments of a partition and all redraws advance together.

The scale is the distance of a standard normal number from 0: a maximum over segments and statistics is fair only if all
are equally large by chance. Level and slope are divided by their standard deviations and freed of their skewness, which
is large for rare events, by the cube-root transformation of Wilson & Hilferty (1931). The reach is standardised by its
redraws, each by the mean and standard deviation of all others, and mapped to the normal scale by the distribution of
the range of Brownian motion (Feller 1951). If signs of clusters change, it is divided by the standard deviation of the
level instead. The test is exact on any scale, because observed and redrawn statistics are treated alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import log_ndtr, logit, ndtri_exp

from calib.analysis.audit.segments import OUT
from calib.kernel.binning import group_sums
from calib.kernel.checks import Array, InputError
from calib.kernel.rows import Rows
from calib.metrics.calibration_test import LARGEST_LOG_ODDS
from calib.metrics.cumulative import range_tail

RESIDUALS_AT_ONCE = 1 << 18  # residuals computed at once, so that they fit the processor's cache
WALKS_AT_ONCE = 1 << 12  # redraws that walk together
MOST_REDRAW_BYTES = 2_000_000_000


@dataclass(frozen=True, eq=False)
class Redraws:
    """Observed residuals (the first column) and redrawn residuals.

    The residual of row i is low_i + span_i · k, with k of its draw: a bit, or a number of events.

    Attributes
    ----------
    draws
        uint8 (draws, ⌈size/8⌉) of packed bits, or integers (draws, size).
    size
        Number of redraws plus one.
    low, span : float32 (n,)
    whose : int (n,)
        Draw of each row, or None if each row has its own.
    """

    draws: Array
    size: int
    low: Array
    span: Array
    whose: Array | None = None

    @property
    def packed(self) -> bool:
        return self.draws.shape[1] != self.size

    def residuals(self, rows: Array, begin: int, end: int) -> Array:
        """Return residuals float32 (len(rows), end − begin) of these rows and redraws; ``begin`` is a multiple of 8."""
        at = rows if self.whose is None else self.whose[rows]
        if self.packed:
            bits = self.draws[at, begin // 8 : (end + 7) // 8]
            drawn = np.unpackbits(bits, axis=1, count=end - begin)
        else:
            drawn = self.draws[at, begin:end]
        found = np.multiply(drawn, self.span[rows, None], dtype=np.float32)
        found += self.low[rows, None]
        return found


def redraw(rows: Rows, p: Array, resamples: int, rng: np.random.Generator) -> Redraws:
    """Redraw the residuals of rows with probabilities p (n,).

    Raises
    ------
    InputError
        If rows and redraws exceed the memory limit.
    """
    if rows.cluster_index is not None:
        residual = rows.weights * (rows.y - p)
        bits = _packed(
            np.full(int(rows.cluster_index.max()) + 1, 0.5), np.ones(1, dtype=bool), resamples, rng
        )
        return Redraws(bits, resamples + 1, _single(-residual), _single(2 * residual), rows.cluster_index)
    low, span = _single(-rows.weights * p), _single(rows.weights / rows.draws)
    if (rows.draws == 1).all():
        return Redraws(_packed(p, rows.y == 1, resamples, rng), resamples + 1, low, span)
    return Redraws(_events(rows, p, resamples, rng), resamples + 1, low, span)


def _single(values: Array) -> Array:
    return values.astype(np.float32)


def _check_size(size: int) -> None:
    if size > MOST_REDRAW_BYTES:
        raise InputError(
            f"Drawing new labels would need {size / 1e9:.1f} GB of memory, but at most "
            f"{MOST_REDRAW_BYTES / 1e9:.0f} GB are allowed. Audit a sample of the rows, or lower `resamples`."
        )


def _packed(p: Array, seen: Array, resamples: int, rng: np.random.Generator) -> Array:
    """Return packed bits (n, ⌈(1 + resamples)/8⌉): the observation, then draws with probability p (n,)."""
    size, width = resamples + 1, (resamples + 8) // 8
    _check_size(len(p) * width)
    bits = np.empty((len(p), width), dtype=np.uint8)
    seen = np.broadcast_to(seen, p.shape)
    for begin, end in _blocks(len(p), max(1, RESIDUALS_AT_ONCE // size)):
        drawn = rng.random((end - begin, size)) < p[begin:end, None]
        drawn[:, 0] = seen[begin:end]
        bits[begin:end] = np.packbits(drawn, axis=1)
    return bits


def _events(rows: Rows, p: Array, resamples: int, rng: np.random.Generator) -> Array:
    """Return events (n, 1 + resamples) of rows that each represent several; all or none of these were observed."""
    times = rows.draws.astype(np.int64)
    kind = np.min_scalar_type(int(times.max()))
    _check_size(len(p) * (resamples + 1) * kind.itemsize)
    events = np.empty((len(p), resamples + 1), dtype=kind)
    events[:, 0] = times * (rows.y == 1)
    for begin, end in _blocks(len(p), max(1, RESIDUALS_AT_ONCE // (resamples + 1))):
        events[begin:end, 1:] = rng.binomial(
            times[begin:end, None], p[begin:end, None], size=(end - begin, resamples)
        )
    return events


def _blocks(total: int, step: int) -> Iterator[tuple[int, int]]:
    for begin in range(0, total, step):
        yield begin, min(total, begin + step)


@dataclass(frozen=True, eq=False)
class Walks:
    """Statistics (segments, redraws) of each segment; the first column is observed.

    Attributes
    ----------
    level
        Σ w (y − p).
    slope
        Σ w (y − p)(x − x̄), x the log-odds of p and x̄ such that level and slope are uncorrelated.
    reach
        Range of the cumulative sums of w (y − p) in the order of p, taken after all rows of equal p.
    """

    level: Array
    slope: Array
    reach: Array


@dataclass(frozen=True, eq=False)
class Steps:
    """Order in which the walks visit rows: in step k, the k-th row by p of every segment, largest segments first.

    Attributes
    ----------
    rows : (m,)
    ends : bool (m,)
        Whether the next row of the segment has another p.
    offset : (steps + 1,)
        Place of each step's first row.
    segment : (k,)
        The segments from the one with most rows to the one with fewest.
    """

    rows: Array
    ends: Array
    offset: Array
    segment: Array

    @classmethod
    def of(cls, index: Array, k: int, p: Array) -> Steps:
        """Order rows of segments ``index`` (n,); p (n,) is sorted."""
        held = np.flatnonzero(index != OUT)
        size = np.bincount(index[held], minlength=k)
        segment = np.argsort(-size, kind="stable")
        rank = np.argsort(segment)[index[held]]
        by_segment = np.argsort(rank, kind="stable")
        size = size[segment]
        place = np.empty(len(held), dtype=np.intp)
        place[by_segment] = np.arange(len(held)) - np.repeat(np.cumsum(size) - size, size)
        ordered, whose = p[held][by_segment], rank[by_segment]
        last = np.append((ordered[1:] != ordered[:-1]) | (whose[1:] != whose[:-1]), True)
        ends = np.empty(len(held), dtype=bool)
        ends[by_segment] = last
        order = np.lexsort((rank, place))
        offset = np.append(0, np.cumsum(np.bincount(place)))
        return cls(held[order], ends[order], offset, segment)


def walks(redraws: Redraws, index: Array, k: int, p: Array, across: Array) -> Walks:
    """Walk through k segments in the order of p.

    Parameters
    ----------
    index : int (n,)
        Segment of each row, or ``OUT``.
    p : (n,)
        Sorted.
    across : (n,)
        x − x̄ of each row in its segment.
    """
    steps = Steps.of(index, k, p)
    parts = [
        _walked(redraws, steps, across.astype(np.float32), begin, end)
        for begin, end in _blocks(redraws.size, WALKS_AT_ONCE)
    ]
    back = np.argsort(steps.segment)
    level, slope, reach = (np.concatenate(each, axis=1)[back] for each in zip(*parts, strict=True))
    return Walks(level, slope, reach)


def _walked(
    redraws: Redraws, steps: Steps, across: Array, begin: int, end: int
) -> tuple[Array, Array, Array]:
    at, slope, high, low = (np.zeros((len(steps.segment), end - begin), dtype=np.float32) for _ in range(4))
    for first, last in _rounds(steps.offset, max(1, RESIDUALS_AT_ONCE // (end - begin))):
        a, b = steps.offset[first], steps.offset[last]
        rows, ends = steps.rows[a:b], steps.ends[a:b]
        residual = redraws.residuals(rows, begin, end)
        tilted = residual * across[rows, None]
        for i, j in zip(steps.offset[first:last] - a, steps.offset[first + 1 : last + 1] - a, strict=True):
            k = j - i
            here = at[:k]
            here += residual[i:j]
            slope[:k] += tilted[i:j]
            if ends[i:j].all():
                np.maximum(high[:k], here, out=high[:k])
                np.minimum(low[:k], here, out=low[:k])
            elif ends[i:j].any():
                behind = np.flatnonzero(ends[i:j])
                high[behind] = np.maximum(high[behind], here[behind])
                low[behind] = np.minimum(low[behind], here[behind])
    return at, slope, high - low


def _rounds(offset: Array, most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of steps with at most ``most`` rows in total; a step is never split."""
    first = 0
    while first < len(offset) - 1:
        last = max(int(np.searchsorted(offset, offset[first] + most, side="right")) - 1, first + 1)
        yield first, last
        first = last


@dataclass(frozen=True, eq=False)
class Moments:
    """Exact moments of level and slope of independent rows under the null hypothesis; all (k,).

    Attributes
    ----------
    level, slope
        Standard deviations.
    level_skewness, slope_skewness
    """

    level: Array
    slope: Array
    level_skewness: Array
    slope_skewness: Array


def finite_log_odds(p: Array) -> Array:
    """Return the log-odds of p (n,); those of 0 and 1 are clipped to the largest that float64 can give."""
    with np.errstate(divide="ignore"):
        return np.clip(logit(p), -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)


def moments(rows: Rows, p: Array, index: Array, k: int) -> tuple[Moments, Array]:
    """Return (moments of the segments' level and slope, x − x̄ of each row (n,)).

    The residual of a row of weight w that represents m draws has the variance w²/m · p(1 − p) and the third moment
    w³/m² · p(1 − p)(1 − 2p). Residuals whose signs change have no skewness. Their sample variance is not used: a
    segment whose rare events did not happen would have a small one, and raise a false alarm.
    """
    held = index != OUT
    at = index[held]
    w, m, p = rows.weights[held], rows.draws[held], p[held]
    variance = w**2 / m * p * (1 - p)
    x = finite_log_odds(p)

    def total(values: Array) -> Array:
        return group_sums(at, k, values)

    with np.errstate(divide="ignore", invalid="ignore"):
        center = np.where(total(variance) > 0, total(variance * x) / total(variance), 0.0)
    tilt = x - center[at]
    across = np.zeros(rows.n)
    across[held] = tilt
    third = variance * w / m * (1 - 2 * p) * (rows.cluster_index is None)
    level, slope = np.sqrt(total(variance)), np.sqrt(total(variance * tilt**2))
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = [
            np.where(sd > 0, total(cubes) / sd**3, 0.0)
            for sd, cubes in ((level, third), (slope, third * tilt**3))
        ]
    return Moments(level, slope, skewness[0], skewness[1]), across


RANGE_MEAN, RANGE_SD = 2 * math.sqrt(2 / math.pi), math.sqrt(4 * math.log(2) - 8 / math.pi)
ROUNDING_OF_RESIDUALS = 1e-6  # rounding error of sums of residuals in single precision
TINY = 1e-6  # skewness
FARTHEST_RANGE, SERIES_RANGE = (
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
    impossible = np.where(np.abs(values) > ROUNDING_OF_RESIDUALS, np.copysign(np.inf, values), 0.0)
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
            sd > ROUNDING_OF_RESIDUALS,
            (centred - mean) / sd,
            np.where(centred - mean > ROUNDING_OF_RESIDUALS, np.inf, -3.0),
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
        return np.where(x > FARTHEST_RANGE, normal[-1] + (x - FARTHEST_RANGE), np.interp(x, at, normal))


@lru_cache(maxsize=1)
def _table() -> tuple[Array, Array]:
    at = np.append(np.arange(0.3, SERIES_RANGE, 0.005), np.arange(SERIES_RANGE, FARTHEST_RANGE + 0.01, 0.01))
    log = [
        math.log(min(max(range_tail(x), 1e-300), 1.0))
        if x < SERIES_RANGE
        else math.log(8) + float(log_ndtr(-x))
        for x in at
    ]
    return at, -ndtri_exp(np.minimum(np.array(log) - math.log(2), math.log(0.5)))

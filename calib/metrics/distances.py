"""Intervals of a distance Σ_b |Γ_b| from noisy gaps: ECE, ICI, and the difference of two methods' distances.

A gap G_b is an unbiased estimate of Γ_b, but T = Σ |G_b| is above θ = Σ |Γ_b| on average, because noise increases
absolute values. Quantiles of resamples are therefore too high, and no shift of them is right for every Γ. Three bounds
hold for every Γ. With E_b = G_b − Γ_b the noise and s_b = ±1:

- θ ≤ T − Σ s_b E_b for s the signs of Γ: the upper end, with the spread of a mean over rows;
- θ ≥ Σ s_b Γ_b for every s: a lower end from each pattern of signs that changes at most once, all of them together
  at one level. It serves if a model is over- or underconfident, or wrong in level;
- T − θ = Σ (|Γ_b + E_b| − |Γ_b|) is at most Σ max(E_b, −E_b − 2 a_b) in distribution for every a_b ≤ |Γ_b|: a lower
  end for gaps of any shape. a_b = 0 is the noise of a calibrated model; a_b is the lower end of a simultaneous bound
  if |G_b| is many standard errors from 0.

So the intervals cover at least as often as stated. The price is their width if a distance is near 0.

The smooth ECE is the kernel width σ at which D(σ) = ∫ |r_σ| of the smoothed residuals r_σ equals σ. D(σ) at a fixed σ
is such a distance, so the widths that lie between the ends for their own D(σ) are an interval of the smooth ECE.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag
from scipy.optimize import brentq
from scipy.sparse import csr_array, hstack
from scipy.special import ndtri

from calib.kernel.binning import binned, group_sums, reach_of_nearest, tricube
from calib.kernel.isotonic_regression import pool_ties
from calib.kernel.rows import Rows
from calib.metrics.ici import SPAN
from calib.metrics.smooth_error import NARROWEST_KERNEL, smoother

Array = np.ndarray

NOISE_DRAWS = 2000  # draws of the noise: the ends then vary by about a fiftieth of the interval
BOUNDS = 0.1  # share of the tail probability below a lower end that is spent on the bounds a
# Cells of predictions, for distances from a curve, and points at which the curve is computed
PREDICTION_CELLS, CURVE_POINTS = 200, 60
# Nodes over [0, 1] to which predictions are rounded for the interval of the smooth ECE
NODES_OF_INTERVAL = 201
LEAST_SPREAD = 1e-15  # a smaller spread, or gap, is rounding error


@dataclass(frozen=True, eq=False)
class Gaps:
    """Gaps (K,) of one method: weighted means of linear combinations of ``influence``.

    Attributes
    ----------
    values : (K,)
        Gaps G_b.
    influence : sparse (n, L)
        Values that are averaged over the rows.
    mix : (L, K)
        Linear map from these means to the gaps.
    least : (L,)
        Lower bounds for the variances of the means: those of a calibrated model. With few rows or rare events, the
        observed spread in a bin may be almost 0.
    """

    values: Array
    influence: csr_array
    mix: Array
    least: Array


def binned_gaps(rows: Rows, p: Array, bins: ArrayLike, strategy: str) -> Gaps:
    """Return Σ w (y − p) / Σ w within each bin of p (n,); the sum of absolute values is the ECE.

    >>> binned_gaps(Rows(np.array([1, 0])), np.array([0.75, 0.25]), 2, "uniform").values
    array([-0.125,  0.125])
    """
    placed = binned(p, bins, strategy, rows.weight)
    return _gaps_in(rows, p, placed.index, placed.count)


def _gaps_in(rows: Rows, p: Array, at: Array, k: int) -> Gaps:
    """Return Σ w (y − p) / Σ w in each of k cells; ``at`` (n,) is the cell of each row."""
    values = group_sums(at, k, rows.y - p, rows.weights) / rows.weights.sum()
    return Gaps(values, in_cells(rows.y - p, at, k), np.eye(k), gaps_by_chance(rows, p, at, k))


@dataclass(frozen=True, eq=False)
class SmoothCells:
    """Loess curve in cells of nearly equal predictions.

    Attributes
    ----------
    at : int (n,)
        Cell of each row.
    count, points, observed : (k,)
        Weight of each cell, its mean prediction, and the curve there.
    smoother : (k, k)
        Linear map from the sums of the labels in cells to the curve.
    """

    at: Array
    count: Array
    points: Array
    observed: Array
    smoother: Array


def smooth_cells(rows: Rows, p: Array, scale: Callable[[Array], Array] = np.asarray) -> SmoothCells:
    """Compute the loess curve of the labels over ``scale`` of the predictions p (n,), in cells.

    The curve is a linear map of the labels, computed at ``CURVE_POINTS`` points with straight lines between them.
    """
    tied = pool_ties(p, rows.y, rows.weight)
    middle = np.cumsum(tied.weights) - tied.weights / 2
    cells, of_value = np.unique(
        (middle * PREDICTION_CELLS / tied.weights.sum()).astype(np.intp), return_inverse=True
    )
    at, k = of_value[np.searchsorted(tied.scores, p)], len(cells)
    count, ones, total = (group_sums(at, k, values, rows.weights) for values in (None, rows.y, p))
    points = total / count
    smoother = _loess(scale(points), count)
    return SmoothCells(at, count, points, np.clip(smoother @ ones, 0, 1), smoother)


def curve_errors(rows: Rows, cells: SmoothCells) -> Array:
    """Return the standard errors (k,) of the curve in its cells."""
    k = len(cells.points)
    covariance = rows.covariance(in_cells(rows.y - cells.observed[cells.at], cells.at, k))
    variance = np.einsum("ij,jk,ik->i", cells.smoother, covariance, cells.smoother)
    return np.sqrt(np.maximum(variance, 0.0)) * rows.weights.sum()


def curve_gaps(rows: Rows, p: Array, scale: Callable[[Array], Array] = np.asarray) -> Gaps:
    """Return share of rows × (loess curve − prediction) in cells of nearly equal p; absolute values sum to the ICI."""
    cells = smooth_cells(rows, p, scale)
    at, k, away = cells.at, len(cells.points), cells.observed - cells.points
    # A row influences both the curve and the share of its gap
    mix = np.vstack([(cells.smoother * (cells.count[:, None])).T, np.diag(away)])
    influence = hstack(
        [in_cells(rows.y - cells.observed[at], at, k), in_cells(np.ones(rows.n), at, k)], format="csr"
    )
    least = np.r_[gaps_by_chance(rows, p, at, k), np.zeros(k)]
    return Gaps(cells.count / rows.weights.sum() * away, influence, mix, least)


def curve_noise(rows: Rows, p: Array, cells: SmoothCells, seed: int) -> Array | None:
    """Draw the noise of the curve in its cells, (NOISE_DRAWS, k); None for a single draw of rows."""
    at, k = cells.at, len(cells.points)
    residuals = in_cells(rows.y - cells.observed[at], at, k)
    mix, least = cells.smoother.T * rows.weights.sum(), gaps_by_chance(rows, p, at, k)
    noise = simulate_noise([Gaps(cells.observed - cells.points, residuals, mix, least)], rows, seed)
    return None if noise is None else noise[0].draws


def in_cells(values: Array, at: Array, k: int) -> csr_array:
    """Return a matrix (n, k) with the value of each row in the column of its cell."""
    return csr_array((values, (np.arange(len(values)), at)), shape=(len(values), k))


def gaps_by_chance(rows: Rows, p: Array, at: Array, k: int) -> Array:
    """Return the variances (k,) of the means of y − p in cells, if the predictions are right."""
    return group_sums(at, k, p * (1 - p), rows.weights**2 / rows.draws) / rows.weights.sum() ** 2


def _loess(points: Array, count: Array) -> Array:
    """Return the map (cells, cells) from sums of labels to the curve at cells, as in ``smooth_differences``."""
    grid = np.unique(np.quantile(points, np.linspace(0, 1, CURVE_POINTS)))
    away = points - grid[:, None]
    far = np.abs(away)
    reach = np.maximum(reach_of_nearest(far, count, (SPAN - 1e-12) * count.sum()), 1e-12)[:, None]
    unit = away / reach
    kernel = tricube(unit, least=1e-12) * (far <= reach * (1 + 1e-9))
    # kernel · unit^k as products: powers take most of the time
    powers = np.stack([*accumulate([kernel, *[unit] * 4], np.multiply)])
    moments = powers @ count
    normal = np.stack([moments[k : k + 3] for k in range(3)]).transpose(2, 0, 1)
    lines = np.linalg.pinv(normal, rcond=1e-10, hermitian=True)[:, 0]
    at_grid = np.einsum("gk,kgc->gc", lines, powers[:3])
    left = np.searchsorted(grid, points, side="right") - 1
    right = np.minimum(left + 1, len(grid) - 1)
    share = ((points - grid[left]) / np.where(right > left, grid[right] - grid[left], 1))[:, None]
    return (1 - share) * at_grid[left] + share * at_grid[right]


def distance_interval(gaps: Gaps, rows: Rows, level: float, seed: int) -> tuple[float, float]:
    """Return (low, high) of Σ |Γ_b|; NaN for a single draw, which shows no spread."""
    noise = simulate_noise([gaps], rows, seed)
    if noise is None:
        return np.nan, np.nan
    return max(_lower_end(noise[0], None, level), 0.0), -_lower_end(None, noise[0], level)


def smooth_interval(rows: Rows, p: Array, level: float, seed: int) -> tuple[float, float]:
    """Return (low, high) of the smooth ECE of p (n,); NaN for a single draw."""
    at = np.rint(p * (NODES_OF_INTERVAL - 1)).astype(np.intp)
    noise = simulate_noise([_gaps_in(rows, p, at, NODES_OF_INTERVAL)], rows, seed)
    if noise is None:
        return np.nan, np.nan

    def end(of: Callable[[Noise], float]) -> float:
        """Return the width that equals the end of its D; as in the metric, the end at the narrowest if that is less."""

        @cache  # the search asks for its two ends again
        def above(width: float) -> float:
            return of(noise[0].mixed(smoother(NODES_OF_INTERVAL, width))) - width

        least = above(NARROWEST_KERNEL)
        if least <= 0 or above(1.0) >= 0:
            return min(least + NARROWEST_KERNEL, 1.0)
        return float(brentq(above, NARROWEST_KERNEL, 1.0, xtol=1e-8))

    return end(lambda each: max(_lower_end(each, None, level), 0.0)), end(
        lambda each: -_lower_end(None, each, level)
    )


def distance_difference(
    first: Gaps, second: Gaps, rows: Rows, level: float, seed: int
) -> tuple[float, float]:
    """Return (low, high) of Σ |Γ_b| of the first method minus that of the second, on the same rows."""
    noise = simulate_noise([first, second], rows, seed)
    if noise is None:
        return np.nan, np.nan
    return _lower_end(noise[0], noise[1], level), -_lower_end(noise[1], noise[0], level)


@dataclass(frozen=True, eq=False)
class Noise:
    """Gaps (K,), draws (DRAWS, K) of their noise, standard deviations (K,), and the number of rows behind them."""

    values: Array
    draws: Array
    deviation: Array
    rows: int

    @property
    def outward(self) -> Array:
        """Noise in the direction away from 0 by the observed signs, (DRAWS, K)."""
        return self.draws * np.where(self.values < -LEAST_SPREAD, -1.0, 1.0)

    def mixed(self, mix: Array) -> Noise:
        """Return the noise of linear combinations of the gaps; mix is (K, J)."""
        draws = self.draws @ mix
        return Noise(self.values @ mix, draws, draws.std(axis=0), self.rows)


def simulate_noise(methods: list[Gaps], rows: Rows, seed: int) -> list[Noise] | None:
    """Draw the noise of several methods' gaps on the same rows jointly: Student's t if rows are clustered."""
    values = np.concatenate([each.values for each in methods])
    covariance = rows.covariance(hstack([each.influence for each in methods], format="csr"))
    if not np.isfinite(covariance).all():
        return None
    lacking = np.concatenate([each.least for each in methods]) - np.diag(covariance)
    mix = block_diag(*(each.mix for each in methods))
    covariance = mix.T @ (covariance + np.diag(np.maximum(lacking, 0.0))) @ mix
    rng = np.random.default_rng(seed)
    sizes, axes = np.linalg.eigh(covariance)
    # The symmetric root is unique; other roots, and so the draws, would depend on the order of equal eigenvalues
    root = (axes * np.sqrt(np.maximum(sizes, 0.0))) @ axes.T
    draws = rng.standard_normal((NOISE_DRAWS, len(root))) @ root
    if rows.cluster is not None:
        draws *= np.sqrt(rows.effective_freedom / rng.chisquare(rows.effective_freedom, NOISE_DRAWS))[:, None]
    cuts = np.cumsum([len(each.values) for each in methods])[:-1]
    parts = (np.split(each, cuts, axis=-1) for each in (values, draws, np.sqrt(np.diag(covariance))))
    n = int(rows.draws.sum())
    return [Noise(distance, drawn, deviation, n) for distance, drawn, deviation in zip(*parts, strict=True)]


def _lower_end(plus: Noise | None, minus: Noise | None, level: float) -> float:
    """Return the lower end of the distance of ``plus`` minus that of ``minus``; one of the two may be missing."""
    tail = (1 - level) / 2
    taken = 0.0 if minus is None else float(np.abs(minus.values).sum())
    # Noise by which ``taken`` may be too small
    less = np.zeros(NOISE_DRAWS) if minus is None else -minus.outward.sum(axis=1)
    if plus is None:
        assert minus is not None, "one of the two distances"
        return -taken - max(float(np.quantile(less, 1 - tail)), _reach_of_few_events(minus, tail))
    tail /= 2  # each of the two lower ends gets one half
    noise = _signed_sums(plus.draws) + less[:, None]
    deviation = np.maximum(noise.std(axis=0), LEAST_SPREAD)
    by_sign = _signed_sums(plus.values) - deviation * np.quantile((noise / deviation).max(axis=1), 1 - tail)
    reach = -ndtri(BOUNDS * tail / len(plus.values))
    bounds = np.maximum(np.abs(plus.values) - reach * plus.deviation, 0.0)
    above = np.maximum(plus.outward, -plus.outward - 2 * bounds).sum(axis=1) + less
    by_size = np.abs(plus.values).sum() - np.quantile(above, 1 - tail * (1 - BOUNDS))
    return float(max(by_sign.max(), by_size)) - taken


def _signed_sums(gaps: Array) -> Array:
    """Return the sums (…, 2K) of gaps (…, K) for all signs that change at most once from one gap to the next.

    >>> _signed_sums(np.array([1, 10])).tolist()
    [11, 9, -11, -9]
    """
    changing = gaps.sum(axis=-1, keepdims=True) - 2 * (np.cumsum(gaps, axis=-1) - gaps)
    return np.concatenate([changing, -changing], axis=-1)


def _reach_of_few_events(noise: Noise, tail: float) -> float:
    """Return the upper reach of a sum of few events, as Wilson's: z²/2 + z √(V + z²/4) of n rows, V their squares."""
    z = -float(ndtri(tail))
    squares = float(noise.outward.sum(axis=1).var()) * noise.rows**2
    return (z**2 / 2 + z * float(np.sqrt(squares + z**2 / 4))) / noise.rows

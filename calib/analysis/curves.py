"""Reliability curves as numbers: the frequency of class 1 at each prediction, and its range by chance.

Binned curves with binomial intervals (Wilson 1927; Clopper & Pearson 1934) and consistency bands (Bröcker &
Smith 2007), CORP curves (Dimitriadis, Gneiting & Jordan 2021), smoothed curves (local linear regression with
nearest-neighbour windows, Cleveland 1979). A *confidence* interval or band contains the true frequency,
given the observed one; a *consistency* band contains observed frequencies if the probabilities are right, so it lies
around the diagonal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtri
from scipy.stats import binom

from calib.analysis.clusters import Clusters, clusters_of
from calib.evaluate import Evaluation
from calib.kernel import checks
from calib.kernel.binning import (
    BINS,
    Bins,
    PerBin,
    bin_index,
    binned,
    edge_index,
    group_sums,
    reach_of_nearest,
    tricube,
)
from calib.kernel.binomial import binomial_interval, null_draws
from calib.kernel.cache import cached_result
from calib.kernel.isotonic_regression import Blocks, pool_adjacent_violators, pool_ties
from calib.kernel.weights import are_whole
from calib.recipe import BANDS

Array = np.ndarray

FEW_IN_BIN = 10  # bins with fewer rows are uncertain: pictures draw them faint, or not at all
LOG_ODDS_CLIP = 1e-6  # distance from 0 and 1 to which log-odds are clipped
# Most groups of a resampled band and cells of the smoother: finer than a band or the eye can resolve
FINE_POINTS = 1000


class Points:
    """Arrays of one length, one entry per point."""

    def to_frame(self) -> pd.DataFrame:
        """Return one row per point and one column per array."""
        return pd.DataFrame(
            {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        )


@dataclass(frozen=True, eq=False)
class BinnedCurve(PerBin):
    """One point per bin, arrays (B,); everything but count is NaN for an empty bin.

    Attributes
    ----------
    edges : (B + 1,)
    mean_p
        Mean prediction.
    observed
        Frequency of class 1.
    count
        Rows.
    lower, upper
        Binomial confidence interval of the frequency, of the kind ``interval``.
    band_lower, band_upper
        Consistency band, binomial quantiles of the frequency if mean_p were right.
    """

    edges: Array
    mean_p: Array
    observed: Array
    count: Array
    lower: Array
    upper: Array
    band_lower: Array
    band_upper: Array
    interval: str
    level: float


@dataclass(frozen=True, eq=False)
class ScoreHistogram(PerBin):
    """Histogram of the predictions.

    Attributes
    ----------
    edges : (B + 1,)
    count : (B,)
        Rows in each bin.
    positives : (B,)
        Rows of class 1 in each bin.
    """

    edges: Array
    count: Array
    positives: Array


@dataclass(frozen=True, eq=False)
class CorpCurve(Points):
    """Isotonic recalibration at distinct predictions, arrays (k,); linear in between.

    Attributes
    ----------
    p
        Both ends of every flat piece of the fit, and up to 1,000 more predictions for the band.
    recalibrated
        Isotonic fit.
    count
        Rows in the pool that p belongs to.
    lower, upper
        Pointwise band, NaN for band "none".
    band
        "none", "consistency" or "confidence".
    """

    p: Array
    recalibrated: Array
    count: Array
    lower: Array
    upper: Array
    band: str
    level: float


@dataclass(frozen=True, eq=False)
class SmoothCurve(Points):
    """Local linear curve on a grid, arrays (k,).

    Attributes
    ----------
    p
        Grid from the smallest to the largest prediction.
    smoothed
        Frequency of class 1 there.
    lower, upper
        Pointwise Wilson interval for ``count``, the effective number of rows of the weighted mean.
    band_lower, band_upper
        Pointwise consistency band for the curve if p is right, from its mean and variance and the normal
        distribution.
    """

    p: Array
    smoothed: Array
    lower: Array
    upper: Array
    count: Array
    band_lower: Array
    band_upper: Array
    span: float
    level: float


def binned_curve(
    y: ArrayLike,
    p: ArrayLike,
    *,
    bins: ArrayLike = 10,
    strategy: str = "uniform",
    level: float = 0.95,
    interval: str = "wilson",
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | Clusters | None = None,
    counts: ArrayLike | None = None,
) -> BinnedCurve:
    """Compute mean prediction and observed frequency per bin of p, with confidence intervals and consistency bands.

    Parameters
    ----------
    y : (n,)
        Labels 0 and 1.
    p : (n,) in [0, 1]
    strategy
        "uniform" (equal width) or "quantile" (equal count; ties may leave fewer bins).
    level
        Level of interval and band.
    interval
        "wilson" or "clopper_pearson".
    sample_weight : (n,)
        Counts of rows, or other weights on any scale; here and below.
    cluster : (n,)
        Cluster of each row, or the result of ``Clusters.of`` for these rows; here and below. Clustered rows count as
        fewer independent ones.
    counts : (n,)
        How many rows each row represents, if the weights are more than counts, as at a deployment base rate; here and
        below.

    Examples
    --------
    >>> curve = binned_curve([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75], bins=2)
    >>> curve.mean_p, curve.observed
    (array([0.25, 0.75]), array([0.5, 1. ]))
    """
    weights, y, p, clusters = _rows_of(y, p, sample_weight, cluster, counts)
    placed = binned(p, bins, strategy, weights)
    count, mean_p, ones = _counts(placed.index, placed.count, y, p, weights)
    worth = 1.0 if clusters is None else clusters.worth(placed.index, placed.count)
    lower, upper = binomial_interval(worth * ones, worth * count, level=level, interval=interval)
    tail = (1 - level) / 2
    divisor = np.where(count > 0, count, np.nan)
    # A frequency of the band is one of whole rows.
    whole = np.where(count > 0, np.maximum(np.round(worth * count), 1), np.nan)
    band_lower, band_upper = (binom.ppf(q, whole, mean_p) / whole for q in (tail, 1 - tail))
    return BinnedCurve(
        edges=placed.edges,
        mean_p=mean_p,
        observed=ones / divisor,
        count=_rows(count),
        lower=lower,
        upper=upper,
        band_lower=band_lower,
        band_upper=band_upper,
        interval=interval,
        level=level,
    )


def _rows_of(
    y: ArrayLike,
    p: ArrayLike,
    sample_weight: ArrayLike | None,
    cluster: ArrayLike | Clusters | None,
    counts: ArrayLike | None,
) -> tuple[Array | None, Array, Array, Clusters | None]:
    """Return (weights or None, y, p, clusters or None) of the checked rows with positive weight."""
    labels, predicted = checks.labelled_probabilities(y, p)
    if cluster is not None and not isinstance(cluster, Clusters):
        cluster = Clusters.of(cluster, labels, predicted, sample_weight)
    return *checks.counted_rows(sample_weight, labels, predicted, counts), cluster


def _rows(count: Array) -> Array:
    """Return counts of rows as integers if they are whole."""
    return count.astype(np.intp) if are_whole(count) else count


def histogram(
    y: ArrayLike,
    p: ArrayLike,
    *,
    bins: ArrayLike = BINS,
    edges: Array | None = None,
    sample_weight: ArrayLike | None = None,
) -> ScoreHistogram:
    """Count rows, and rows of class 1, in bins of p.

    Parameters
    ----------
    y : (n,)
        Labels 0 and 1.
    p : (n,) in [0, 1]
    bins
        Number of bins of equal width, or their edges, if ``edges`` are not given.
    edges : (B + 1,)
        Edges of the bins, from 0 to 1.
    sample_weight : (n,)
        Counts of rows, or weights.

    Examples
    --------
    >>> histogram([0, 1, 1], [0.25, 0.25, 0.75], bins=2).to_frame()
       left  right  count  positives
    0   0.0    0.5      2          1
    1   0.5    1.0      1          1
    """
    y, p = checks.labelled_probabilities(y, p)
    weights = None if sample_weight is None else checks.weight_vector(sample_weight, len(y))
    placed = binned(p, bins) if edges is None else Bins(edge_index(p, edges), edges)
    count, positives = (
        _rows(group_sums(placed.index, placed.count, values, weights)) for values in (None, y)
    )
    return ScoreHistogram(placed.edges, count, positives)


def corp_curve(
    y: ArrayLike,
    p: ArrayLike,
    *,
    band: str = "none",
    level: float = 0.95,
    repeats: int = 500,
    random_state: int | np.random.Generator = 0,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | Clusters | None = None,
    counts: ArrayLike | None = None,
) -> CorpCurve:
    """Compute the CORP reliability curve: isotonic regression of labels on predictions, with ties pooled and no bins.

    Parameters
    ----------
    band
        "consistency", with labels simulated from the predictions; "confidence", with labels simulated from the
        recalibrated predictions (a parametric bootstrap); or "none".
    level
        Share of the resamples that the band contains at each p.
    repeats
        Number of resamples, each recalibrated.
    random_state
        Seed of the resamples.

    Notes
    -----
    The bootstrap draws with (k + ½)/(n + 1) for a pool of k in n: with k/n, 0 or 1 at the ends, the band there
    would have no width. More than 1,000 distinct predictions are resampled in 1,000 groups of neighbours.

    Examples
    --------
    >>> corp_curve([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9]).to_frame()[["p", "recalibrated", "count"]]
         p  recalibrated  count
    0  0.1           0.0      1
    1  0.4           0.5      2
    2  0.6           0.5      2
    3  0.9           1.0      1
    """
    weighted, y, p, clusters = _rows_of(y, p, sample_weight, cluster, counts)
    checks.one_of(band, BANDS, "band")
    checks.in_range(level, "level", 0, 1, open_ends=True)
    checks.in_range(repeats, "repeats", low=1, integer=True)
    tied = pool_ties(p, y, weighted)
    blocks = pool_adjacent_violators(tied.sums, tied.weights)
    group = _neighbours(tied.weights)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    points = np.unique(np.r_[blocks.bounds[:-1], blocks.bounds[1:] - 1, starts])
    count = _rows(np.repeat(blocks.weights, blocks.sizes)[points])
    lower = upper = np.full(points.size, np.nan)
    if band != "none" and (clusters is None or clusters.count > 1):  # one shows no variation
        at, rng = np.searchsorted(tied.scores, p), np.random.default_rng(random_state)
        right = tied.scores if band == "consistency" else _smoothed_pools(blocks, at, clusters)
        weights = np.add.reduceat(tied.weights, starts)
        center, truth = (
            np.add.reduceat(tied.weights * values, starts) / weights for values in (tied.scores, right)
        )
        ends = _ends_of_fits(_drawn_labels(truth, weights, repeats, rng, clusters, group[at]), weights, level)
        lower, upper = (np.interp(tied.scores[points], center, end) for end in ends)
    return CorpCurve(tied.scores[points], blocks.fitted[points], count, lower, upper, band, level)


def _smoothed_pools(blocks: Blocks, at: Array, clusters: Clusters | None) -> Array:
    """Return (k + ½)/(n + 1) of the pool of each distinct prediction; the rows have prediction number ``at``."""
    pool = np.repeat(np.arange(blocks.sizes.size), blocks.sizes)
    worth = 1.0 if clusters is None else clusters.worth(pool[at], blocks.sizes.size)
    return np.repeat((worth * blocks.sums + 0.5) / (worth * blocks.weights + 1), blocks.sizes)


def _drawn_labels(
    truth: Array,
    weights: Array,
    repeats: int,
    rng: np.random.Generator,
    clusters: Clusters | None,
    index: Array,
) -> Array:
    """Return sums (repeats, k) of labels drawn by ``truth`` in k groups with weights; index (n,) is each row's group.

    With clusters, a share √ρ of each row's deviation from its truth comes from one uniform number per cluster,
    √(1 − ρ) from a number per row: two rows of a cluster then have the correlation ρ.
    """
    rows, truth = _whole_rows(weights), np.clip(truth, 0, 1)  # a mean of ones may round to above 1
    drawn = null_draws(truth, rows, repeats, rng)
    if clusters is None:
        return drawn
    pair, m = clusters.by_group(index, truth.size)
    whose, group = np.divmod(pair, truth.size)
    least, of_each = truth[group], np.bincount(whose)
    independent, shared = np.sqrt([1 - clusters.correlation, clusters.correlation])
    expected = (1 - independent) * rows * truth - shared * group_sums(group, truth.size, least, m)
    for ones in drawn:
        one = np.flatnonzero(np.repeat(rng.random(clusters.count), of_each) < least)
        ones *= independent
        ones += expected + shared * group_sums(group[one], truth.size, weights=m[one])
    return drawn


def _whole_rows(weights: Array) -> Array:
    """Round weights to whole rows, at least one each."""
    return np.maximum(np.round(weights), 1)


def _ends_of_fits(drawn: Array, weights: Array, level: float) -> Array:
    """Return (2, k), the ends between which a share ``level`` of the recalibrated curves of sums (r, k) lies."""
    rows = _whole_rows(weights)
    curves = np.array([pool_adjacent_violators(ones, rows).fitted for ones in drawn])
    return np.clip(np.quantile(curves, [(1 - level) / 2, (1 + level) / 2], axis=0), 0, 1)


def smooth_curve(
    y: ArrayLike,
    p: ArrayLike,
    *,
    span: float = 0.5,
    points: int = 101,
    level: float = 0.95,
    log_odds: bool = False,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | Clusters | None = None,
    counts: ArrayLike | None = None,
) -> SmoothCurve:
    """Fit a local linear regression of the labels on p, which has no steps, no bins, and no bias for a straight line.

    At each grid point a line is fitted to the nearest ``span`` of the rows (and at least to all within 0.05),
    with tricube weights; a grid point with no prediction within a step of it is left out, because the line would
    extrapolate there. Predictions are first grouped into 1,000 cells, each represented by its mean, so that a
    million of them cost one pass.

    Parameters
    ----------
    y : (n,)
        Labels 0 and 1.
    p : (n,) in [0, 1]
    span
        From 0.05 to 1.
    points
        Number of grid points.
    log_odds
        Whether grid and windows use the log-odds of p, clipped to 1e-6 … 1 − 1e-6, with windows of at least a
        twentieth of their range. Choose it for small probabilities, which are all neighbours within 0.05. Lines stay
        lines of p.

    Examples
    --------
    >>> curve = smooth_curve([0, 0, 1, 1], [0.2, 0.4, 0.6, 0.8], span=1.0, points=3)
    >>> curve.p, curve.smoothed.round(3)
    (array([0.2, 0.5, 0.8]), array([0. , 0.5, 1. ]))
    """
    weighted, y, p, clusters = _rows_of(y, p, sample_weight, cluster, counts)
    checks.in_range(level, "level", 0, 1, open_ends=True)
    checks.in_range(points, "points", low=2, integer=True)
    checks.in_range(span, "span", 0.05, 1)
    at, range_, index = _fine_cells(p, log_odds)
    (count, x, ones), (_, mean_p, _) = (
        _counts(index, FINE_POINTS, y, values, weighted) for values in (at, p)
    )
    cell = np.cumsum(count > 0) - 1
    count, x, ones, mean_p = (values[count > 0] for values in (count, x, ones, mean_p))
    grid = np.linspace(at.min(), at.max(), points)
    distance = np.abs(x - grid[:, None])
    near = distance.min(axis=1) <= np.ptp(at) / (points - 1) + 1e-12
    grid, distance = grid[near], distance[near]
    drawn = expit(grid) if log_odds else grid
    width = np.maximum(reach_of_nearest(distance, count, span * count.sum() - 1e-9), 0.05 * range_) * (
        1 + 1e-9
    )
    weights = _line_weights(distance, mean_p - drawn[:, None], count, width, log_odds)
    smoothed = np.clip(weights @ ones, 0, 1)
    effect = 1.0 if clusters is None else clusters.effect(weights, cell[index])
    worth = 1 / (weights**2 @ count * effect)
    lower, upper = binomial_interval(smoothed * worth, worth, level=level)
    reach = ndtri((1 + level) / 2) * np.sqrt(weights**2 @ (count * mean_p * (1 - mean_p)) * effect)
    low, high = (np.clip(weights @ (count * mean_p) + side * reach, 0, 1) for side in (-1, 1))
    return SmoothCurve(drawn, smoothed, lower, upper, worth, low, high, span, level)


def _fine_cells(p: Array, log_odds: bool) -> tuple[Array, float, Array]:
    """Return (positions of the predictions, their range, the fine cell of each)."""
    if not log_odds:
        return p, 1.0, bin_index(p, FINE_POINTS)
    at = logit(np.clip(p, LOG_ODDS_CLIP, 1 - LOG_ODDS_CLIP))
    range_ = float(np.ptp(at)) or 1.0
    return at, range_, bin_index((at - at.min()) / range_, FINE_POINTS)


def _line_weights(distance: Array, offset: Array, count: Array, width: Array, log_odds: bool) -> Array:
    """Return (points, cells), the weight of each row of a cell in the value of the line fitted at each point."""
    kernel = tricube(distance / width[:, None])
    s0, s1, s2 = (kernel * offset**power @ count for power in range(3))
    spread = s2 if log_odds else s0 * width**2
    slopes = s0 * s2 - s1**2 > 1e-12 * s0 * spread  # all weight at one p: a mean, not a line
    lean = np.where(slopes, s1 / np.where(s2 > 0, s2, 1), 0.0)
    weights = kernel * (1 - lean[:, None] * offset)
    return weights / (weights @ count)[:, None]


def _counts(
    index: Array, groups: int, y: Array, p: Array, weights: Array | None = None
) -> tuple[Array, Array, Array]:
    """Return rows, mean prediction (NaN without rows) and rows of class 1 of each group."""
    count = group_sums(index, groups, weights=weights)
    mean_p = group_sums(index, groups, p, weights) / np.where(count > 0, count, np.nan)
    return count, mean_p, group_sums(index, groups, y, weights)


def _neighbours(weights: Array) -> Array:
    """Return the group (k,) of each distinct prediction, in increasing order: at most FINE groups of equal weight."""
    if weights.size <= FINE_POINTS:
        return np.arange(weights.size)
    below = np.cumsum(weights) - weights
    return (below * (FINE_POINTS / weights.sum())).astype(np.intp)


Curve = BinnedCurve | CorpCurve | SmoothCurve
BAND_REPEATS = 200  # resamples of a CORP band: its ends then vary by less than a line's width


def curve_of(
    evaluation: Evaluation, calibrator: str, kind: str = "binned", log_odds: bool = False, edges: Any = None
) -> Any:
    """Return a calibrator's curve on the test rows for the Recipe's view, cached.

    Parameters
    ----------
    kind
        "binned", "smoothed" or "corp".
    log_odds
        As for ``smooth_curve``; for smoothed curves only.
    edges
        Own edges of the bins, as ``checked_bins`` returns them, instead of the Recipe's bins.
    """
    recipe, predictions = evaluation.recipe, evaluation.predictions[calibrator]
    kinds: dict[str, tuple[Callable[..., Curve], dict[str, Any]]] = {
        "binned": (binned_curve, {"bins": edges or recipe.bins, "strategy": recipe.binning}),
        "smoothed": (smooth_curve, {"log_odds": log_odds}),
        "corp": (corp_curve, {"band": recipe.band, "repeats": BAND_REPEATS, "random_state": recipe.seed}),
    }
    curve, options = kinds[kind]

    def made() -> Curve:
        rows = {"sample_weight": predictions.weight, "counts": evaluation.counts}
        cluster = clusters_of(evaluation, calibrator)
        return curve(predictions.y, predictions.p, cluster=cluster, **options, **rows)

    return cached_result(predictions, (kind, *options.values()), made)

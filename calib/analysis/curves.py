"""Reliability curves as numbers, no ink: how often class 1 came where p was said, and what chance alone could do.

Binned curves with binomial intervals (Wilson 1927; Clopper & Pearson 1934) and consistency bands (Bröcker &
Smith 2007), CORP curves (Dimitriadis, Gneiting & Jordan 2021), smoothed curves (local-linear regression with
nearest-neighbour windows, Cleveland 1979). A *confidence* interval or band says where the true frequency may
be, given what was seen; a *consistency* band says what may be seen when the probabilities are right: it lies
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
from calib.kernel.binning import Bins, bin_index, binned, edge_index, group_sums
from calib.kernel.binomial import binomial_interval
from calib.kernel.cache import once
from calib.kernel.null_draws import null_draws
from calib.kernel.pav import Blocks, pool_adjacent_violators, pool_ties
from calib.kernel.smoothing import reach_of_nearest, tricube
from calib.kernel.weights import are_whole
from calib.recipe import BANDS

Array = np.ndarray

FEW = 10  # a bin with fewer rows says little: pictures draw it faint, or not at all
NEAREST = 1e-6  # to 0 and 1, for log-odds
# Groups a band is resampled on and cells of the smoother, at most: finer than a band or an eye can tell
FINE = 1000


class Points:
    """Arrays of one length, one entry per point."""

    def to_frame(self) -> pd.DataFrame:
        """One row per point, one column per array."""
        return pd.DataFrame(
            {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        )


class PerBin:
    """Arrays of one length, one entry per bin, and the edges between them."""

    edges: Array

    def to_frame(self) -> pd.DataFrame:
        """One row per bin: its left and right edge, then one column per array."""
        arrays = {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        edges = arrays.pop("edges")
        return pd.DataFrame({"left": edges[:-1], "right": edges[1:], **arrays})


@dataclass(frozen=True, eq=False)
class BinnedCurve(PerBin):
    """One point per bin, arrays (B,); everything but count is NaN where a bin is empty.

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
        Binomial confidence interval of the frequency, of the kind named by ``interval``.
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
        Those of class 1 among them.
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
        Every prediction at which the fit begins or ends being flat, and up to 1000 more for the band.
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
        Pointwise Wilson interval for ``count``, the number of rows that a weighted mean of these weights is
        worth.
    band_lower, band_upper
        Pointwise consistency band, where the curve would lie if the p were right, by its mean and variance
        then and the normal law.
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
    bins: int = 10,
    strategy: str = "uniform",
    level: float = 0.95,
    interval: str = "wilson",
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | Clusters | None = None,
    counts: ArrayLike | None = None,
) -> BinnedCurve:
    """Compute mean prediction and observed frequency in bins of p, with a confidence interval and a consistency band
    each.

    Parameters
    ----------
    y : (n,)
        Of 0 and 1.
    p : (n,) in [0, 1]
    strategy
        "uniform" (equal width) or "quantile" (equally many; ties may leave fewer bins).
    level
        Of interval and band.
    interval
        "wilson" or "clopper_pearson".
    sample_weight : (n,)
        Counts of rows, or other weights on any scale; here and below.
    cluster : (n,)
        Equal for rows that belong together, which are worth fewer than as many alone, or what ``Clusters.of`` made of
        these rows; here and below.
    counts : (n,)
        How many rows each row stands for, if the weights are more than counts, as at a deployment base rate; here and
        below.

    Examples
    --------
    >>> curve = binned_curve([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75], bins=2)
    >>> curve.mean_p, curve.observed
    (array([0.25, 0.75]), array([0.5, 1. ]))
    """
    weights, y, p, clusters = _rows_of(y, p, sample_weight, cluster, counts)
    placed = binned(p, checks.in_range(bins, "bins", low=1, integer=True), strategy, weights)
    count, mean_p, ones = _counts(placed.index, placed.count, y, p, weights)
    worth = 1.0 if clusters is None else clusters.worth(placed.index, placed.count)
    lower, upper = binomial_interval(worth * ones, worth * count, level=level, interval=interval)
    tail = (1 - level) / 2
    divisor = np.where(count > 0, count, np.nan)
    band_lower, band_upper = (_binomial_quantile(q, worth * count, mean_p) for q in (tail, 1 - tail))
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
    """(weights or None, y, p, clusters or None) of the checked rows that count."""
    labels, predicted = checks.labelled_probabilities(y, p)
    if cluster is not None and not isinstance(cluster, Clusters):
        cluster = Clusters.of(cluster, labels, predicted, sample_weight)
    return *checks.counted_rows(sample_weight, labels, predicted, counts), cluster


def _binomial_quantile(q: float, count: Array, p: Array) -> Array:
    """Return quantiles of the frequency among ``count`` rows, rounded to whole rows; NaN if there are none."""
    rows = np.where(count > 0, np.maximum(np.round(count), 1), np.nan)
    return binom.ppf(q, rows, p) / rows


def _rows(count: Array) -> Array:
    """Counts of rows as whole numbers where they are."""
    return count.astype(np.intp) if are_whole(count) else count


def histogram(
    y: ArrayLike,
    p: ArrayLike,
    *,
    bins: int = 20,
    edges: Array | None = None,
    sample_weight: ArrayLike | None = None,
) -> ScoreHistogram:
    """Count rows, and rows of class 1, in bins of p.

    Parameters
    ----------
    y : (n,)
        Of 0 and 1.
    p : (n,) in [0, 1]
    bins
        Number of bins of equal width, where no edges are given.
    edges : (B + 1,)
        From 0 to 1.
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
    checks.in_range(bins, "bins", low=1, integer=True)
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
    """Compute the CORP reliability curve: isotonic regression of the labels on the predictions, ties pooled, without
    bins.

    Parameters
    ----------
    band
        "consistency", labels simulated as if the predictions were right, "confidence", as if the recalibrated
        ones were (a parametric bootstrap), or "none".
    level
        Share of the drawings that the band holds at each p.
    repeats
        Number of drawings, each recalibrated.
    random_state
        Of the drawings.

    Notes
    -----
    The bootstrap draws with (k + ½)/(n + 1) for a pool of k in n: with k/n, 0 or 1 at the ends, the band there
    would have no width. More than 1000 distinct predictions are drawn for in 1000 groups of neighbours.

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
    if band != "none" and (clusters is None or clusters.count > 1):  # one tells nothing of others
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
    """(k + ½)/(n + 1) of its pool for each distinct prediction, which the rows have at ``at``."""
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
    """Sums (repeats, k) of labels drawn by ``truth`` in k groups, each of ``weights`` rows; index (n,) says of which.

    In clusters a share √ρ of each row’s departure from its truth is that of one uniform number for all of its
    cluster, √(1 − ρ) its own: then two have the correlation ρ.
    """
    rows, truth = _whole_rows(weights), np.clip(truth, 0, 1)  # a mean of ones may round to above 1
    drawn = null_draws(truth, rows, repeats, rng)
    if clusters is None:
        return drawn
    pair, m = clusters.by_group(index, truth.size)
    whose, group = np.divmod(pair, truth.size)
    least, of_each = truth[group], np.bincount(whose)
    own, shared = np.sqrt([1 - clusters.correlation, clusters.correlation])
    expected = (1 - own) * rows * truth - shared * group_sums(group, truth.size, least, m)
    for ones in drawn:
        one = np.flatnonzero(np.repeat(rng.random(clusters.count), of_each) < least)
        ones *= own
        ones += expected + shared * group_sums(group[one], truth.size, weights=m[one])
    return drawn


def _whole_rows(weights: Array) -> Array:
    """Round to at least one row each; weights may give fractions of rows."""
    return np.maximum(np.round(weights), 1)


def _ends_of_fits(drawn: Array, weights: Array, level: float) -> Array:
    """(2, k) between which a share ``level`` of the recalibrated curves of sums (r, k) lies."""
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
    """Fit a local linear regression of the labels on p: no steps, no bins, and no bias if the truth is a straight
    line.

    At each grid point a line is fitted to the nearest ``span`` of the rows (and at least to all within 0.05),
    with tricube weights; a grid point with no prediction within a step of it is left out, for a line would
    run off its data there. Predictions are first put into 1000 cells, each represented by its mean, so that a
    million of them cost one pass.

    Parameters
    ----------
    y : (n,)
        Of 0 and 1.
    p : (n,) in [0, 1]
    span
        From 0.05 to 1.
    points
        Of the grid.
    log_odds
        Grid and windows over the log-odds of p, kept 1e-6 away from 0 and 1, and windows of at least a
        twentieth of their range: for small probabilities, which all are neighbours within 0.05. Lines stay
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
    (count, x, ones), (_, mean_p, _) = (_counts(index, FINE, y, values, weighted) for values in (at, p))
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
    """(where the predictions lie, the range of that, the fine cell of each)."""
    if not log_odds:
        return p, 1.0, bin_index(p, FINE)
    at = logit(np.clip(p, NEAREST, 1 - NEAREST))
    range_ = float(np.ptp(at)) or 1.0
    return at, range_, bin_index((at - at.min()) / range_, FINE)


def _line_weights(distance: Array, offset: Array, count: Array, width: Array, log_odds: bool) -> Array:
    """(points, cells): what each row of a cell weighs in the value of the line fitted at each point."""
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
    """Rows, mean prediction (NaN without rows) and rows of class 1 of each group."""
    count = group_sums(index, groups, weights=weights)
    mean_p = group_sums(index, groups, p, weights) / np.where(count > 0, count, np.nan)
    return count, mean_p, group_sums(index, groups, y, weights)


def _neighbours(weights: Array) -> Array:
    """Number (k,), not falling, of the group that each distinct prediction is in: at most FINE, equally heavy."""
    if weights.size <= FINE:
        return np.arange(weights.size)
    below = np.cumsum(weights) - weights
    return (below * (FINE / weights.sum())).astype(np.intp)


Curve = BinnedCurve | CorpCurve | SmoothCurve
BAND_REPEATS = 200  # drawings behind a CORP band: its ends then wobble by less than a line's width


def curve_of(evaluation: Evaluation, calibrator: str, kind: str = "binned", log_odds: bool = False) -> Any:
    """Return a calibrator's curve on the test rows for the Recipe's view, computed once for all views with the same
    curve.

    Parameters
    ----------
    kind
        "binned", "smoothed" or "corp".
    log_odds
        Of a smoothed one, as for ``smooth_curve``.
    """
    recipe, predictions = evaluation.recipe, evaluation.predictions[calibrator]
    kinds: dict[str, tuple[Callable[..., Curve], dict[str, Any]]] = {
        "binned": (binned_curve, {"bins": recipe.bins, "strategy": recipe.binning}),
        "smoothed": (smooth_curve, {"log_odds": log_odds}),
        "corp": (corp_curve, {"band": recipe.band, "repeats": BAND_REPEATS, "random_state": recipe.seed}),
    }
    curve, options = kinds[kind]

    def made() -> Curve:
        rows = {"sample_weight": predictions.weight, "counts": evaluation.counts}
        cluster = clusters_of(evaluation, calibrator)
        return curve(predictions.y, predictions.p, cluster=cluster, **options, **rows)

    return once(predictions, (kind, *options.values()), made)

"""Confidence intervals of metrics on test rows: the range expected on other such rows, for the fixed model.

A mean of losses is f m₁ + (1 − f) m₀, with f the share of class 1 and m₁, m₀ the mean losses of the classes. f has
Wilson's interval (1927), each mean Student's with Hall's correction for skewness (1992). The three are combined as in
Zou and Donner (2008): the ends move by the root of the summed squares of their reaches. With rare events this covers
although ± 1.96 standard errors do not, because the number of events is the main uncertainty. Brier skill is a function
of the same three and is treated alike. A share, such as accuracy, has Wilson's interval, and O/E that of as many rows
as know the ratio r as well, by the variance of y − r p. AUC has the interval of DeLong, DeLong and Clarke-Pearson
(1988) on the log-odds of the area (Pepe 2003), with Student's quantile. Level and calibration line have Wald's
interval, with a standard error that is robust if the line is wrong (MacKinnon & White 1985, HC3). Distances from a
curve are in ``distances``.

Rows of one cluster are one draw: influences are added up by cluster before they are squared (Liang & Zeger 1986;
Obuchowski 1997 for AUC), and the quantile is Student's; clusters of unequal size are treated as ``Rows`` describes. Of
a mean of losses, each end is also at least as far as Hall's correction puts it. The calibration line is fitted by one
step of Newton's method without each cluster (Bell & McCaffrey 2002).
``scripts/coverage.py`` measures the coverage of each interval; if an interval would not cover, its ends are NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, stdtrit

from calib.kernel import checks
from calib.kernel.binning import BINS, checked_bins
from calib.kernel.binomial import binomial_interval
from calib.kernel.checks import Array
from calib.kernel.isotonic_regression import pool_ties, rank_area
from calib.kernel.rows import ONE_CLUSTER, Rows, row_slices
from calib.metrics.distances import binned_gaps, curve_gaps, distance_interval, smooth_interval
from calib.metrics.losses import hits, log_losses, squared_errors
from calib.metrics.slope import calibration_line

LEVEL = 0.95
FEWEST_PER_CLASS = 5  # fewest rows of either class for an interval of a mean loss
FEWEST_OF_COSTS = 20  # fewest clusters with a cost that is not 0
LEAST_ERROR = 1e-12  # a smaller standard error is rounding error
MOST_CONDITION = 1e10  # of the information that the rows outside a cluster have on the calibration line
Ends = tuple[float, float]
NO_ENDS: Ends = (math.nan, math.nan)


@dataclass(frozen=True)
class View:
    """Settings of an interval: its level, the bins of the ECE, and the seed of random draws."""

    level: float = LEVEL
    bins: ArrayLike = BINS
    strategy: str = "uniform"
    seed: int = 0


def confidence_interval(
    metric: str,
    y: ArrayLike,
    p: ArrayLike,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    *,
    counts: ArrayLike | None = None,
    level: float = LEVEL,
    bins: ArrayLike = BINS,
    strategy: str = "uniform",
    random_state: int = 0,
) -> Ends:
    """Return (low, high) of one of ``INTERVALS`` on these rows; NaN if no interval would cover (``why_missing``).

    Parameters
    ----------
    metric
        Key of ``INTERVALS``, where ``how`` describes each method.
    y, p
        Labels of 0 and 1, and probabilities, (n,).
    sample_weight
        Weights (n,). Whole weights are counts of rows; a row of any other weight is one draw.
    cluster
        Cluster of each row, (n,); None if rows are independent.
    counts
        Number of rows that each row represents, (n,), if its weight means something else, as at a deployment base
        rate: each of these rows is a draw with its share of the weight. It has no effect with clusters.
    level
        Level of the interval, strictly between 0 and 1.
    bins, strategy
        Bins of the ECE.
    random_state
        Seed of the draws for ECE, ICI and smooth ECE.

    Raises
    ------
    InputError
        If an argument is invalid.

    Examples
    --------
    >>> low, high = confidence_interval("accuracy", [0, 1] * 25, [0.0, 1.0] * 25)      # all right: 50 / (50 + 1.96²)
    >>> round(low, 4), high
    (0.9287, 1.0)
    """
    checks.one_of(metric, INTERVALS, "metric")
    checks.in_range(level, "level", 0, 1, open_ends=True)
    labels, probabilities = checks.labelled_probabilities(y, p)
    rows, (held,) = Rows.checked(
        labels, probabilities, sample_weight=sample_weight, counts=counts, cluster=cluster
    )
    return INTERVALS[metric].ends(rows, held, View(level, checked_bins(bins), strategy, random_state))


def why_missing(rows: Rows, costs: bool = False) -> str:
    """Explain why there are no intervals on these rows, or no intervals of costs; "" if there are.

    >>> why_missing(Rows(np.array([0, 0, 0, 0, 1])))
    'Intervals of mean losses need at least 5 rows of each class; the minority class has 1.'
    """
    if rows.single_cluster:
        return ONE_CLUSTER
    if costs and rows.cluster is not None and rows.freedom + 1 < FEWEST_OF_COSTS:
        return f"Intervals of costs need at least {FEWEST_OF_COSTS} clusters."
    fewest = math.floor(rows.fewest)
    if fewest < FEWEST_PER_CLASS:
        return (
            f"Intervals of mean losses need at least {FEWEST_PER_CLASS} rows of each class; the minority class has "
            f"{fewest}."
        )
    return ""


def _equivalent_draws(rows: Rows, share: float, values: Array) -> float:
    """Return the number of independent draws that are as informative about a share as these rows."""
    most = rows.effective_size if rows.cluster is None else rows.effective_freedom + 1
    error = 0.0 if rows.plain else rows.standard_error(values)
    if not error > LEAST_ERROR:
        return most
    worth = share * (1 - share) / error**2
    return worth if rows.cluster is not None else min(worth, most)


def share_interval(rows: Rows, values: Array, level: float = LEVEL) -> Ends:
    """Return (low, high) of the share of rows with a value (n,) of 1 instead of 0; NaN for a single cluster.

    >>> share_interval(Rows(np.zeros(3, int), cluster=np.zeros(3)), np.ones(3))
    (nan, nan)
    """
    share = rows.mean(values)
    if rows.single_cluster:
        return NO_ENDS
    n = _equivalent_draws(rows, share, values)
    low, high = binomial_interval(share * n, n, quantile=rows.quantile(level))
    return float(low), float(high)


@dataclass(frozen=True)
class ClassMean:
    """Mean of values over the rows of one class, its variance, and the distances to the ends of its interval."""

    value: float
    variance: float
    below: float
    above: float


def _of_class(rows: Rows, values: Array, label: int, level: float, step: float | None = None) -> ClassMean:
    """Return the mean of one class with Student's interval, corrected for skewness; or Agresti and Min's, with
    ``step``.
    """
    at = rows.y == label
    w, m, n, held = rows.weights[at], rows.draws[at], rows.effective_number(at), values[at]
    center = float(np.average(held, weights=w))
    quantile, away = float(stdtrit(max(n - 1, 1e-9), (1 + level) / 2)), held - center
    squares = away**2
    variance = float((w**2 / m) @ squares) / w.sum() ** 2 * n / max(n - 1, 1e-9)
    if step:
        nonzero, net = n * float(np.average(np.abs(held), weights=w)) / step, n * center / step
        middle, half = plus_four(n, nonzero, net, quantile)
        return ClassMean(center, variance, center - step * (middle - half), step * (middle + half) - center)
    error, cubes = math.sqrt(variance), float(np.average(away * squares, weights=w))
    below, above = quantile * error, quantile * error
    if n > 2 and error > LEAST_ERROR:
        skew = cubes * n**2 / ((n - 1) * (n - 2)) / (error * math.sqrt(n)) ** 3
        ends = [-error * _unskewed(t, skew / math.sqrt(n)) for t in (quantile, -quantile)]
        below, above = max(-ends[0], 0.0), max(ends[1], 0.0)
    return ClassMean(center, variance, below, above)


def _unskewed(t: float, g: float) -> float:
    """Invert Hall's monotone transformation (1992) of a t statistic; g is the skewness over √n."""
    return t if abs(g) < 1e-9 else 3 / g * (float(np.cbrt(1 + g * (t - g / 6))) - 1)


def _clustered_reach(rows: Rows, values: Array, level: float) -> tuple[float, float]:
    """Return the distances from the mean to the ends: wide enough for clusters of unequal size, and for skewness."""
    error, t = rows.standard_error(values), float(stdtrit(rows.freedom, (1 + level) / 2))
    skew, reach = rows.skewness(values), rows.quantile(level) * error
    return max(reach, error * _unskewed(t, skew)), max(reach, -error * _unskewed(-t, skew))


def plus_four(n: float, nonzero: float, net: float, quantile: float) -> tuple[float, float]:
    """Return (middle, half width) for the mean of n values of −1, 0 and 1; ``nonzero`` are not 0, their sum is ``net``.

    Half a row is added on either side and one at 0 (Agresti & Min 2005), so that n equal values do not give certainty.

    >>> middle, half = plus_four(50, 0, 0, 1.96)                                      # none of fifty
    >>> middle, round(half, 3)
    (0.0, 0.038)
    """
    return net / (n + 2), quantile * math.sqrt(max(nonzero + 1 - net**2 / (n + 2), 0.0)) / (n + 2)


def mean_interval(
    rows: Rows, values: Array, level: float = LEVEL, steps: tuple[float, float] | None = None
) -> tuple[float, float, float]:
    """Return (mean, low, high) of values (n,), one per row: losses, costs, or differences between them.

    The ends are NaN if a value is infinite, if a class has fewer than ``FEWEST_PER_CLASS`` rows, and for a single
    cluster.

    Parameters
    ----------
    rows
        Labels and how they were sampled.
    values
        Values (n,).
    level
        Level of the interval.
    steps
        Size of the nonzero values in rows of class 0 and of class 1, for costs of decisions. Few such rows tell
        little even if all are equal, and at least ``FEWEST_OF_COSTS`` clusters must have a nonzero value.

    Examples
    --------
    >>> rows = Rows(np.array([0, 1] * 50))
    >>> [round(float(end), 3) for end in mean_interval(rows, rows.y + 0.0)]           # the share itself: Wilson's
    [0.5, 0.404, 0.596]
    """
    with np.errstate(invalid="ignore"):  # ∞ − ∞ is NaN
        center = rows.mean(values)
    if not math.isfinite(center) or rows.fewest < FEWEST_PER_CLASS:
        return center, *NO_ENDS
    if rows.cluster is not None:
        if steps is not None and len(np.unique(rows.cluster[values != 0])) < FEWEST_OF_COSTS:
            return center, *NO_ENDS
        below, above = _clustered_reach(rows, values, level)
        return center, center - below, center + above
    zero, one = (_of_class(rows, values, label, level, steps and steps[label]) for label in (0, 1))
    f, ends = rows.share, share_interval(rows, rows.y, level)
    moves = [(end - f) * (one.value - zero.value) for end in ends]
    low = min(moves) ** 2 + (f * one.below) ** 2 + ((1 - f) * zero.below) ** 2
    high = max(moves) ** 2 + (f * one.above) ** 2 + ((1 - f) * zero.above) ** 2
    return center, center - math.sqrt(low), center + math.sqrt(high)


def _of_mean(loss: Callable[[Array, Array], Array], most: float) -> Callable[[Rows, Array, View], Ends]:
    def ends(rows: Rows, p: Array, view: View) -> Ends:
        _, low, high = mean_interval(rows, loss(rows.y, p), view.level)
        return (max(low, 0.0), min(high, most)) if math.isfinite(low) else NO_ENDS

    return ends


def _accuracy(rows: Rows, p: Array, view: View) -> Ends:
    return share_interval(rows, hits(rows.y, p), view.level)


def _brier_skill(rows: Rows, p: Array, view: View) -> Ends:
    """Return the interval of 1 − B/u, B/u = m₁/(1 − f) + m₀/f, which is least where √m₀ / f = √m₁ / (1 − f)."""
    losses, f = squared_errors(rows.y, p), rows.share
    if rows.fewest < FEWEST_PER_CLASS:
        return NO_ENDS
    if rows.cluster is not None:
        u, brier = f * (1 - f), rows.mean(losses)
        influence = -(losses - brier) / u + brier / u**2 * (1 - 2 * f) * (rows.y - f)
        half = rows.quantile(view.level) * rows.standard_error(influence)
        return 1 - brier / u - half, min(1 - brier / u + half, 1.0)
    one, zero = _of_class(rows, losses, 1, view.level), _of_class(rows, losses, 0, view.level)
    low, high = share_interval(rows, rows.y, view.level)
    roots = math.sqrt(zero.value), math.sqrt(one.value)
    least = roots[0] / sum(roots) if sum(roots) > 0 else f
    at = np.clip([low, high, min(max(least, low), high)], 1e-12, 1 - 1e-12)
    ratio, ratios = one.value / (1 - f) + zero.value / f, one.value / (1 - at) + zero.value / at
    above = (one.above / (1 - f)) ** 2 + (zero.above / f) ** 2
    below = (one.below / (1 - f)) ** 2 + (zero.below / f) ** 2
    up = ratio + math.sqrt((ratios.max() - ratio) ** 2 + above)
    down = ratio - math.sqrt((ratio - ratios.min()) ** 2 + below)
    return 1 - up, min(1 - down, 1.0)


def auc_influence(rows: Rows, p: Array) -> tuple[float, Array]:
    """Return (AUC, influence (n,) of each row): DeLong's placements minus the area, over the share of the class.

    >>> area, influence = auc_influence(Rows(np.array([0, 1, 1])), np.array([0.3, 0.3, 0.9]))
    >>> area, influence.round(3) + 0.0                      # of the ones: (½ − ¾) / ⅔ and (1 − ¾) / ⅔
    (0.75, array([ 0.   , -0.375,  0.375]))
    """
    tied = pool_ties(p, rows.y, rows.weight)
    at = np.searchsorted(tied.scores, p)
    ones, zeros = tied.sums, tied.weights - tied.sums
    below, above = np.cumsum(zeros) - zeros / 2, np.cumsum(ones[::-1])[::-1] - ones / 2
    m, n = ones.sum(), zeros.sum()
    if m == 0 or n == 0:
        return math.nan, np.full(rows.n, math.nan)
    placements = np.where(rows.y == 1, (below / n)[at], (above / m)[at])
    area = rank_area(tied)
    return area, (placements - area) * (m + n) / np.where(rows.y == 1, m, n)


def auc_reach(rows: Rows, influence: Array, level: float) -> float:
    """Return quantile × standard error, each class with its own divisor, as in DeLong; NaN for one row of a class."""
    if rows.cluster is not None:
        return rows.quantile(level) * rows.standard_error(influence)
    fewest = rows.fewest
    if fewest <= 1:
        return math.nan
    share = (1 - rows.share, rows.share)
    variance = sum(share[i] ** 2 * _of_class(rows, influence, i, level).variance for i in (0, 1))
    return float(stdtrit(fewest - 1, (1 + level) / 2)) * math.sqrt(variance)


def _auc(rows: Rows, p: Array, view: View) -> Ends:
    area, influence = auc_influence(rows, p)
    reach = auc_reach(rows, influence, view.level)
    if not (0 < area < 1 and reach > LEAST_ERROR):
        return NO_ENDS
    half = reach / (area * (1 - area))
    return float(expit(logit(area) - half)), float(expit(logit(area) + half))


WIDEST_REACH = math.log(1000)  # beyond it, the ends of a ratio say nothing
FEWEST_EVENTS = 2  # events from which the variance of a ratio is estimated


def _observed_expected(rows: Rows, p: Array, view: View) -> Ends:
    """Return Wilson's interval of the events over those expected, with the variance of the ratio r: that of y − r p.

    So the expected number varies with the rows too.
    """
    observed, expected = rows.share, rows.mean(p)
    if expected == 0:
        return NO_ENDS
    ratio = observed / expected
    error = rows.standard_error(rows.y - ratio * p)
    few = rows.effective_number(rows.y == 1) < FEWEST_EVENTS  # their spread says nothing
    if few or observed == 1 or not error > LEAST_ERROR:
        low, high = share_interval(rows, rows.y, view.level)
        return low / expected, high / expected
    if rows.cluster is not None:
        reach = rows.quantile(view.level) * error / observed
        return about_ratio(ratio, reach if reach < WIDEST_REACH else math.inf)
    n = observed * (1 - observed) / error**2
    ends = binomial_interval(observed * n, n, quantile=rows.quantile(view.level))
    return float(ends[0]) / expected, float(ends[1]) / expected


def about_ratio(ratio: float, reach: float) -> Ends:
    """Return exp(log ratio ± reach); 0 to ∞ if this overflows.

    >>> about_ratio(0.5, 0.0), about_ratio(0.5, 4e4)
    ((0.5, 0.5), (0.0, inf))
    """
    with np.errstate(over="ignore"):
        factor = float(np.exp(reach))
    return ratio / factor, ratio * factor


def _of_line(name: str) -> Callable[[Rows, Array, View], Ends]:
    """Return a function for robust intervals of slope, intercept or level; the first two are at least Fisher's."""

    def ends(rows: Rows, p: Array, view: View) -> Ends:
        line = calibration_line(rows.y, p, rows.weight)
        value, level = getattr(line, name), name == "in_the_large"
        a, b = (line.in_the_large, 1.0) if level else (line.intercept, line.slope)
        if not (math.isfinite(a) and math.isfinite(b)):
            return NO_ENDS
        weights, at = rows.weights, 1 if name == "slope" else 0

        def fitted(piece: slice) -> tuple[Array, Array]:
            x = logit(np.clip(p[piece], 1e-300, 1 - 1e-16))
            columns = np.ones((len(x), 1)) if level else np.column_stack([np.ones(len(x)), x])
            return columns, expit(a + b * x)

        information = sum(
            (columns.T * (weights[piece] * f * (1 - f))) @ columns
            for piece in row_slices(rows.n)
            for columns, f in [fitted(piece)]
        )
        if rows.cluster_index is not None:
            error = rows.jackknife_error(_moves(rows, information, fitted)[:, at])
            half = rows.quantile(view.level) * error
            return value - half, value + half
        inverse, influence = np.linalg.inv(information), np.empty(rows.n)
        for piece in row_slices(rows.n):
            columns, f = fitted(piece)
            leverage = np.einsum("ij,jk,ik->i", columns, inverse, columns) * f * (1 - f)
            residual = (rows.y[piece] - f) / np.where(rows.plain & (leverage < 1), 1 - leverage, 1)
            influence[piece] = columns @ inverse[at] * residual * weights.sum()
        error = rows.standard_error(influence)
        if rows.plain and not level:
            error = max(error, math.sqrt(inverse[at, at]))
        half = rows.quantile(view.level) * error
        return value - half, value + half

    return ends


def _moves(rows: Rows, information: Array, fitted: Callable[[slice], tuple[Array, Array]]) -> Array:
    """Return the first step of Newton's method (clusters, k) without each cluster; NaN if it leaves no line."""
    whose, k = rows.cluster_index, len(information)
    assert whose is not None
    count = int(whose.max()) + 1
    scores, held = np.zeros((count, k)), np.zeros((count, k, k))
    for piece in row_slices(rows.n):
        columns, f = fitted(piece)
        residual, spread = rows.weights[piece] * (rows.y[piece] - f), rows.weights[piece] * f * (1 - f)
        for i in range(k):
            scores[:, i] += np.bincount(whose[piece], columns[:, i] * residual, count)
            for j in range(k):
                held[:, i, j] += np.bincount(whose[piece], columns[:, i] * columns[:, j] * spread, count)
    left = information - held
    known = np.linalg.cond(left) < MOST_CONDITION
    moves = np.full((count, k), math.nan)
    moves[known] = np.linalg.solve(left[known], scores[known][..., None])[..., 0]
    return moves


def _ece(rows: Rows, p: Array, view: View) -> Ends:
    return distance_interval(binned_gaps(rows, p, view.bins, view.strategy), rows, view.level, view.seed)


def _ici(rows: Rows, p: Array, view: View) -> Ends:
    return distance_interval(curve_gaps(rows, p), rows, view.level, view.seed)


def _smooth_ece(rows: Rows, p: Array, view: View) -> Ends:
    return smooth_interval(rows, p, view.level, view.seed)


@dataclass(frozen=True)
class Interval:
    """Method for the interval of a metric.

    Attributes
    ----------
    ends
        Function (rows, p, view) → (low, high).
    how
        Description of the method in words.
    """

    ends: Callable[[Rows, Array, View], Ends]
    how: str


BY_CLASS = "Wilson for the share of class 1, and Student's t within each class (Zou and Donner 2008)"
WALD = "Wald, with robust standard errors (HC3)"
NOISY_GAP_BOUNDS = "conservative bounds for noisy gaps"
INTERVALS: Mapping[str, Interval] = {
    "auc": Interval(_auc, "DeLong, on the log-odds of the area, with Student's t"),
    "observed_expected": Interval(
        _observed_expected,
        "Wilson's formula for the ratio of observed to expected events, with the variance of this ratio",
    ),
    "in_the_large": Interval(_of_line("in_the_large"), WALD),
    "slope": Interval(_of_line("slope"), WALD),
    "intercept": Interval(_of_line("intercept"), WALD),
    "ici": Interval(_ici, NOISY_GAP_BOUNDS),
    "ece": Interval(_ece, NOISY_GAP_BOUNDS),
    "smooth_ece": Interval(_smooth_ece, f"{NOISY_GAP_BOUNDS}, at a kernel width equal to the bound"),
    "brier": Interval(_of_mean(squared_errors, 1.0), BY_CLASS),
    "brier_skill": Interval(_brier_skill, BY_CLASS),
    "log_loss": Interval(_of_mean(log_losses, math.inf), BY_CLASS),
    "accuracy": Interval(_accuracy, "Wilson"),
}

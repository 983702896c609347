"""The interval of a number on test rows: what other rows of the same kind would have said, the model as it is.

Means of a loss, AUC and Brier skill are smooth functions of means over the rows; each row's influence on them
is known, and the standard error is that of the mean influence (Hampel 1974). For AUC that is DeLong, DeLong &
Clarke-Pearson 1988, and the interval is made on the log-odds of the area (Pepe 2003), where it stays within 0
and 1. O/E, level and line have the intervals of ``observed_expected``. Distances from a curve, ECE and ICI,
have no such formula: their rows are drawn again (Efron 1979), gathered in cells of nearly equal predictions,
so that a million cost no more than a thousand. Rows of one cluster know of each other: then influences are
added up by cluster before they are squared (Liang & Zeger 1986; Obuchowski 1997 for AUC), and clusters are
drawn whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.special import expit, logit, ndtri

from calib.kernel import checks
from calib.kernel.binning import binned, group_sums
from calib.kernel.checks import Array
from calib.kernel.pav import pool_ties, rank_area
from calib.kernel.weights import are_whole, effective_weights, or_ones
from calib.metrics.calibration_error import calibration_line
from calib.metrics.observed_expected import (
    Estimate,
    about_ratio,
    calibration_line_intervals,
    observed_expected_interval,
)
from calib.metrics.scoring import hits, log_losses, mean, squared_errors
from calib.metrics.smooth_differences import SPAN

REPEATS = 400  # resamples: the ends of an interval then wobble by about a twentieth of its width
# Of predictions, for distances from a curve, and points at which the curve is drawn again
CELLS, GRID = 200, 60
FINEST = 1e-12  # a smaller standard error is rounding


@dataclass(frozen=True, eq=False)
class CheckedRows:
    """Checked rows, and how a metric of them is taken.

    Attributes
    ----------
    y, p, weights : (n,)
    cluster : int (n,)
        Or None.
    level
        That of the interval.
    bins, strategy
        Those of the calibration error.
    seed
        That of the draws.
    counts : (n,)
        How many rows each is, where there are no clusters and the weight is another number; else None.
    """

    y: Array
    p: Array
    weights: Array
    cluster: Array | None
    level: float
    bins: int
    strategy: str
    seed: int
    counts: Array | None = None

    @property
    def alone(self) -> bool:
        """Whether each weight counts rows that know nothing of each other."""
        return self.cluster is None and self.counts is None

    @property
    def z(self) -> float:
        return _z(self.level)

    @property
    def share(self) -> float:
        return mean(self.y, self.weights)

    def error(self, influence: Array) -> float:
        """Standard error of a number from the influence (n,) of each row on it."""
        return _standard_error(influence, self.weights, self.cluster, self.counts)


def _z(level: float) -> float:
    return float(ndtri((1 + level) / 2))


def _standard_error(
    influence: Array, weights: Array, cluster: Array | None, counts: Array | None = None
) -> float:
    """Of a number from the influence (n,) of each row on it; cluster as integers from 0 on."""
    total = weights.sum()
    if counts is not None:  # each row has its share of the weight
        k, squares = counts.sum(), (weights**2 / counts) @ influence**2
    elif cluster is None:
        k, squares = total, weights @ influence**2
    else:
        sums = np.bincount(cluster, weights=weights * influence)
        k, squares = len(sums), sums @ sums
    return float(np.sqrt(squares * k / max(k - 1, 1)) / total)


def confidence_interval(
    metric: str,
    y: ArrayLike,
    p: ArrayLike,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    *,
    counts: ArrayLike | None = None,
    level: float = 0.95,
    bins: int = 20,
    strategy: str = "uniform",
    random_state: int = 0,
) -> tuple[float, float]:
    """(low, high) of one of ``INTERVALS`` on these rows; NaN where the number or its spread is not known.

    Parameters
    ----------
    metric
        A key of ``INTERVALS``, which also say in words where each comes from.
    y, p
        (n,) labels of 0 and 1, and probabilities.
    sample_weight
        (n,) counts of rows; a row of another weight is one draw.
    cluster
        (n,) equal for rows that belong together; None where rows know nothing of each other.
    counts
        (n,) how many rows each is, where its weight is more than that, as at a stated base rate: each of these rows
        is a draw, and has its share of the weight. In clusters it does not matter.
    level
        Of the interval, strictly between 0 and 1.
    bins, strategy
        Of ECE.
    random_state
        Of what is drawn for ECE and ICI.

    Raises
    ------
    InputError
        For anything else.

    Examples
    --------
    >>> low, high = confidence_interval("brier", [0, 1] * 50, [0.0, 0.5] * 50)     # 1/8 ± 1.96 · (1/8) / √99
    >>> round(low, 4), round(high, 4)
    (0.1004, 0.1496)
    """
    checks.one_of(metric, INTERVALS, "metric")
    checks.in_range(level, "level", 0, 1, open_ends=True)
    labels, probabilities = checks.labelled_probabilities(y, p)
    weights = checks.weight_vector(sample_weight, len(labels))
    if cluster is not None:
        checks.same_length(y=labels, cluster=np.asarray(cluster))
    held = weights > 0
    own = None if counts is None else checks.weight_vector(counts, len(labels))[held]
    clusters = None if cluster is None else np.asarray(cluster)[held]
    each, clusters, own = _draws(effective_weights(weights[held]), clusters, own)
    found = CheckedRows(
        labels[held], probabilities[held], each, clusters, level, bins, strategy, random_state, own
    )
    return INTERVALS[metric].ends(found)


def _draws(
    weights: Array, cluster: Array | None, counts: Array | None
) -> tuple[Array, Array | None, Array | None]:
    """(weights, clusters from 0 on, counts of rows), (n,) each: what is drawn, as ``CheckedRows`` has it.

    A row of a weight that is no count is one draw, however much it counts.
    """
    if cluster is not None:
        return weights, np.unique(cluster, return_inverse=True)[1], None
    return weights, None, np.ones(len(weights)) if counts is None and not are_whole(weights) else counts


def mean_interval(
    values: Array,
    weights: Array | None = None,
    cluster: Array | None = None,
    level: float = 0.95,
    counts: Array | None = None,
) -> tuple[float, float, float]:
    """(mean, low, high) of values (n,), one a row, as ``confidence_interval`` does for a loss.

    >>> mean_interval(np.array([0.0, 1.0] * 50))                       # ½ ± 1.96 · ½ / √99
    (0.5, 0.401..., 0.598...)
    """
    held = effective_weights(or_ones(weights, len(values)))
    center = mean(values, held)
    return center, *_around(
        center, _standard_error(values - center, *_draws(held, cluster, counts)), _z(level)
    )


def clustered_mean(values: Array, cluster: Array, weights: Array | None = None) -> tuple[float, float, int]:
    """(mean, its standard error, number of clusters) of values (n,), one a row: rows of one cluster are one draw.

    >>> clustered_mean(np.array([0.0, 0.0, 1.0, 1.0]), np.array([7, 7, 9, 9]))      # of two draws, 0 and 1
    (0.5, 0.5, 2)
    """
    center = mean(values, weights)
    _, index = np.unique(cluster, return_inverse=True)
    with np.errstate(invalid="ignore"):  # a loss may be infinite
        error = _standard_error(values - center, or_ones(weights, len(values)), index)
    return center, error, int(index.max()) + 1


def _around(value: float, error: float, z: float) -> tuple[float, float]:
    return value - z * error, value + z * error


def _of_mean(loss: Callable[[Array, Array], Array]) -> Callable[[CheckedRows], tuple[float, float]]:
    def ends(rows: CheckedRows) -> tuple[float, float]:
        losses = loss(rows.y, rows.p)
        center = mean(losses, rows.weights)
        if not math.isfinite(center):
            return math.nan, math.nan
        return _around(center, rows.error(losses - center), rows.z)

    return ends


def _brier_skill(rows: CheckedRows) -> tuple[float, float]:
    """Of 1 − B/u, u = f(1 − f): a row moves B by its loss and f by its label."""
    losses, f = squared_errors(rows.y, rows.p), rows.share
    u, brier = f * (1 - f), mean(losses, rows.weights)
    if u == 0:
        return math.nan, math.nan
    influence = -(losses - brier) / u + brier / u**2 * (1 - 2 * f) * (rows.y - f)
    return _around(1 - brier / u, rows.error(influence), rows.z)


def auc_influence(y: Array, p: Array, weights: Array) -> tuple[float, Array]:
    """(AUC, the influence (n,) of each row on it): DeLong's placements about the area, over the share of the class.

    >>> area, influence = auc_influence(np.array([0, 1, 1]), np.array([0.3, 0.3, 0.9]), np.ones(3))
    >>> area, influence.round(3) + 0.0                      # of the ones: (½ − ¾) / ⅔ and (1 − ¾) / ⅔
    (0.75, array([ 0.   , -0.375,  0.375]))
    """
    tied = pool_ties(p, y, weights)
    at = np.searchsorted(tied.scores, p)
    ones, zeros = tied.sums, tied.weights - tied.sums
    below, above = np.cumsum(zeros) - zeros / 2, np.cumsum(ones[::-1])[::-1] - ones / 2
    m, n = ones.sum(), zeros.sum()
    if m == 0 or n == 0:
        return math.nan, np.full(len(y), math.nan)
    placements = np.where(y == 1, (below / n)[at], (above / m)[at])
    area = rank_area(tied)
    return area, (placements - area) * (m + n) / np.where(y == 1, m, n)


def _less_one(rows: CheckedRows) -> Array:
    """(n,) by which √(N / (N − 1)) becomes that of a row's own class, as DeLong has it; NaN where that has one row."""
    draws = rows.weights if rows.counts is None else rows.counts
    n, total = np.bincount(rows.y, weights=draws, minlength=2), draws.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(n > 1, n / (n - 1) * (total - 1) / total, np.nan)
        return np.sqrt(factor)[rows.y]


def _auc(rows: CheckedRows) -> tuple[float, float]:
    area, influence = auc_influence(rows.y, rows.p, rows.weights)
    error = rows.error(influence if rows.cluster is not None else influence * _less_one(rows))
    if not (0 < area < 1 and error > FINEST):
        return math.nan, math.nan
    low, high = _around(float(logit(area)), error / (area * (1 - area)), rows.z)
    return float(expit(low)), float(expit(high))


def _observed_expected(rows: CheckedRows) -> tuple[float, float]:
    if rows.alone:
        return _ends(observed_expected_interval(rows.y, rows.p, rows.weights, rows.level))
    observed, expected = rows.share, mean(rows.p, rows.weights)
    if observed == 0 or expected == 0:
        return 0.0, math.inf
    ratio = observed / expected
    return about_ratio(ratio, rows.z * rows.error((rows.y - ratio * rows.p) / observed))


def _of_line(name: str) -> Callable[[CheckedRows], tuple[float, float]]:
    """Of slope, intercept or level: by Fisher's information, and with clusters by the sandwich."""

    def ends(rows: CheckedRows) -> tuple[float, float]:
        if rows.alone:
            return _ends(getattr(calibration_line_intervals(rows.y, rows.p, rows.weights, rows.level), name))
        line = calibration_line(rows.y, rows.p, rows.weights)
        value = getattr(line, name)
        alone = name == "in_the_large"
        a, b = (line.in_the_large, 1.0) if alone else (line.intercept, line.slope)
        if not (math.isfinite(a) and math.isfinite(b)):
            return math.nan, math.nan
        x = logit(np.clip(rows.p, 1e-300, 1 - 1e-16))
        fitted = expit(a + b * x)
        columns = np.ones((len(x), 1)) if alone else np.column_stack([np.ones(len(x)), x])
        information = (columns.T * (rows.weights * fitted * (1 - fitted))) @ columns / rows.weights.sum()
        influence = np.linalg.solve(information, (columns * (rows.y - fitted)[:, None]).T)
        return _around(value, rows.error(influence[1 if name == "slope" else 0]), rows.z)

    return ends


def _ends(found: Estimate) -> tuple[float, float]:
    return found.low, found.high


def _resampled(rows: CheckedRows, cell: Array, cells: int) -> tuple[Array, Array]:
    """Rows, and rows of class 1, of each cell in resamples, (REPEATS, cells) each; whole clusters where there are any.

    Drawing rows and counting them by cell and label is drawing those counts from the multinomial law. Where weights
    are no counts a cell has as many rows as its weight is worth, (Σw)²/Σw² (Kish 1965).
    """
    rng = np.random.default_rng(rows.seed)
    place = 2 * cell + rows.y
    if rows.cluster is None:
        worth = group_sums(place, 2 * cells, weights=rows.weights)
        counts = worth
        if rows.counts is not None:
            squares = group_sums(place, 2 * cells, weights=rows.weights**2 / rows.counts)
            counts = worth**2 / np.where(squares > 0, squares, 1)
        drawn = rng.multinomial(round(counts.sum()), counts / counts.sum(), size=REPEATS).astype(np.float64)
        # What a row there counts: 1 where weights are counts
        drawn *= worth / np.where(counts > 0, counts, 1)
    else:
        k = int(rows.cluster.max()) + 1
        held = csr_array((rows.weights, (rows.cluster, place)), shape=(k, 2 * cells))
        drawn = np.stack([np.bincount(rng.integers(k, size=k), minlength=k) @ held for _ in range(REPEATS)])
    return drawn[:, ::2] + drawn[:, 1::2], drawn[:, 1::2]


def _percentiles(values: Array, level: float) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _ece(rows: CheckedRows) -> tuple[float, float]:
    """In the bins of the data: a bin's mean prediction hardly moves, and is that of the rows at hand."""
    placed = binned(rows.p, rows.bins, rows.strategy, rows.weights)
    count = group_sums(placed.index, placed.count, weights=rows.weights)
    mean_p = group_sums(placed.index, placed.count, rows.p, rows.weights) / np.where(count > 0, count, 1)
    drawn, ones = _resampled(rows, placed.index, placed.count)
    return _percentiles(np.abs(ones - drawn * mean_p).sum(axis=1) / drawn.sum(axis=1), rows.level)


def _ici(rows: CheckedRows) -> tuple[float, float]:
    """With the curve's windows as on the data, drawn at ``GRID`` points and straight between them."""
    tied = pool_ties(rows.p, rows.y, rows.weights)
    middle = np.cumsum(tied.weights) - tied.weights / 2
    of_value = np.unique((middle * CELLS / tied.weights.sum()).astype(np.intp), return_inverse=True)[1]
    cell, cells = of_value[np.searchsorted(tied.scores, rows.p)], int(of_value[-1]) + 1
    count = group_sums(cell, cells, weights=rows.weights)
    points = group_sums(cell, cells, rows.p, rows.weights) / count
    drawn, ones = _resampled(rows, cell, cells)
    curves = _loess(points, count, np.vstack([count, drawn]), np.vstack([np.zeros(cells), ones]))[1:]
    return _percentiles((np.abs(curves - points) * drawn).sum(axis=1) / drawn.sum(axis=1), rows.level)


def _loess(points: Array, count: Array, drawn: Array, ones: Array) -> Array:
    """Curves (B, cells) at the cells of the rows (B, cells) drawn, by local parabolas as ``smooth_differences``."""
    grid = np.unique(np.quantile(points, np.linspace(0, 1, GRID)))
    away = points - grid[:, None]
    far = np.abs(away)
    order = np.argsort(far, axis=1)
    enough = np.cumsum(count[order], axis=1) >= (SPAN - 1e-12) * count.sum()
    reach = np.take_along_axis(far, np.take_along_axis(order, enough.argmax(axis=1)[:, None], axis=1), axis=1)
    unit = away / np.maximum(reach, 1e-12)
    kernel = np.clip(1 - np.abs(unit) ** 3, 1e-12, None) ** 3 * (far <= np.maximum(reach, 1e-12) * (1 + 1e-9))
    moments = np.stack([drawn @ (kernel * unit**k).T for k in range(5)], axis=-1)
    sums = np.stack([ones @ (kernel * unit**k).T for k in range(3)], axis=-1)
    normal = np.stack([moments[..., k : k + 3] for k in range(3)], axis=-2)
    at_grid = (np.linalg.pinv(normal, rcond=1e-10, hermitian=True) @ sums[..., None])[..., 0, 0]
    return np.stack([np.interp(points, grid, np.clip(values, 0, 1)) for values in at_grid])


@dataclass(frozen=True)
class Interval:
    """How a metric's interval is found.

    Attributes
    ----------
    ends
        CheckedRows → (low, high).
    how
        Where it comes from, in words.
    """

    ends: Callable[[CheckedRows], tuple[float, float]]
    how: str


BY_ROWS = "normal, from the spread over the rows"
DRAWN = "percentiles of 400 bootstrap resamples"
INTERVALS: Mapping[str, Interval] = {
    "auc": Interval(_auc, "DeLong, on the log-odds of the area"),
    "observed_expected": Interval(_observed_expected, "normal, on the logarithm (Riley et al. 2021)"),
    "in_the_large": Interval(_of_line("in_the_large"), "Wald"),
    "slope": Interval(_of_line("slope"), "Wald"),
    "intercept": Interval(_of_line("intercept"), "Wald"),
    "ici": Interval(_ici, DRAWN),
    "ece": Interval(_ece, DRAWN),
    "brier": Interval(_of_mean(squared_errors), BY_ROWS),
    "brier_skill": Interval(_brier_skill, "normal, by the delta method"),
    "log_loss": Interval(_of_mean(log_losses), BY_ROWS),
    "accuracy": Interval(_of_mean(hits), BY_ROWS),
}

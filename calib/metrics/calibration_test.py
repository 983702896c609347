"""Test whether probabilities are calibrated: level, slope and shape together, at one error rate.

Three statistics use the residuals y − p in different ways:

- level, |Σ w (y − p)|: are there too many or too few events;
- slope, |Σ w (y − p)(x − x̄)| with x the log-odds of p and x̄ such that level and slope are uncorrelated: are
  predictions too extreme or not extreme enough (Cox 1958);
- shape, the range of the cumulative differences in the order of p (Kuiper; Arrieta-Ibarra et al. 2022): errors of any
  other shape, without bins.

Labels are redrawn as if the probabilities were right, y* ~ Bernoulli(p) (Bröcker & Smith 2007). Each statistic is
ranked among its own redraws, and the smallest of the three ranks among the smallest ranks of the redraws (the min-p
method, Westfall & Young 1993). With B redraws p = (1 + #) / (B + 1), which is exact: a calibrated model is rejected at
5 % in at most 5 of 100 test sets, however few its rows or events are. With sampling weights the sums are weighted,
which stays exact. Rows of one cluster are similar; the residuals of a cluster then change their sign together (a wild
bootstrap, Cameron, Gelbach & Miller 2008), which is approximate.

A label whose predicted probability is 0 rejects calibration by itself, and no redraw contains one. The statistics
leave such rows out (``impossible``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from scipy.special import logit, ndtri

from calib.kernel import checks
from calib.kernel.binning import group_sums
from calib.kernel.checks import Array
from calib.kernel.rows import Rows
from calib.metrics.distances import gaps_by_chance, in_cells

REDRAWS = 999
ALPHA = 0.05
POWER = 0.8  # probability that the test finds a gap of size ``unseen``
LOOKS = ("level", "slope", "shape")
# rows that are redrawn one by one; of more, neighbours in the order of p are redrawn together
MOST_SINGLE_REDRAWS = 50_000
NEIGHBOUR_GROUPS = 4_000  # groups of neighbours
LABELS_AT_ONCE = 500_000  # redrawn labels held at once: they fit into the processor's cache
HELD_SIGNS = 4_000_000  # the same for clusters; their redraws depend on this number
LARGEST_LOG_ODDS = 36.0  # log-odds of the largest float below 1
TEST_BINS = 20  # bins of equal chance variance, for the average gap


@dataclass(frozen=True, eq=False)
class CalibrationTest:
    """Result of the calibration test.

    Attributes
    ----------
    p_value
        p-value of the three statistics together, in (0, 1].
    looks
        "level", "slope" and "shape" → p-value of that statistic alone.
    unseen
        Average gap, in one direction, that the test detects in 80 of 100 test sets like this one; smaller gaps can
        go unnoticed.
    impossible
        Number of rows whose label had the predicted probability 0; the three statistics leave them out.
    """

    p_value: float
    looks: dict[str, float]
    unseen: float
    impossible: int

    @property
    def rejects(self) -> bool:
        """Tell whether calibration is rejected: at the level ``ALPHA``, or by an impossible label."""
        return self.p_value <= ALPHA or self.impossible > 0


def impossible(y: Array, p: Array) -> Array:
    """Tell which labels y (n,) had the predicted probability 0, to the precision of floats.

    >>> impossible(np.array([1, 1, 0]), np.array([0.0, 0.5, 1.0]))
    array([ True, False,  True])
    """
    return (y - p) ** 2 == 1


def calibration_test(rows: Rows, p: Array, redraws: int = REDRAWS, seed: int = 0) -> CalibrationTest:
    """Test the predictions p (n,) in [0, 1] on labelled rows.

    Parameters
    ----------
    rows
        Labels, weights, counts and clusters. A single cluster never rejects.
    redraws
        Number of redraws, B.
    seed
        Seed of the redraws.

    Examples
    --------
    >>> y = np.array([0, 1] * 50)
    >>> calibration_test(Rows(y), np.full(100, 0.5)).rejects, calibration_test(Rows(y), np.full(100, 0.2)).p_value
    (False, 0.001)
    """
    order = np.argsort(p, kind="stable")
    order = order[~impossible(rows.y, p)[order]]
    left_out = len(p) - len(order)
    rows, p = rows.of(order), p[order]
    if not (p * (1 - p)).any():  # all predictions are certain
        return CalibrationTest(1.0, dict.fromkeys(LOOKS, 1.0), 0.0 if len(p) else np.nan, left_out)
    draw = _signs if rows.cluster is not None else _labels
    # (1 + B, 3), with the observed statistics first
    found = np.vstack([*draw(rows, p, redraws, np.random.default_rng(seed))])
    ranks = _p_values(found)
    least = ranks.min(axis=1)
    together = _p_values(-least[:, None])[:, 0]
    return CalibrationTest(
        float(together[0]),
        dict(zip(LOOKS, map(float, ranks[0]), strict=True)),
        _unseen(found[1:, 0], ranks[1:, 0], least[together <= ALPHA].max(initial=0.0))
        / float(rows.weights.sum()),
        left_out,
    )


def _p_values(found: Array) -> Array:
    """Return for each number the share of its column that is at least as large, with a tolerance for rounding."""
    size, columns = len(found), []
    for column in found.T:
        ordered = np.sort(column)
        margin = 1e-9 * np.abs(column)
        columns.append((size - np.searchsorted(ordered, column - margin)) / size)
    return np.column_stack(columns)


def _unseen(level: Array, ranks: Array, rejected: float) -> float:
    """Return the shift of the level that is rejected with probability ``POWER``: critical value plus z deviations.

    ``rejected`` is the largest rank that is rejected.
    """
    critical = level[ranks <= rejected].min(initial=level.max())
    return float(critical + ndtri(POWER) * np.sqrt(np.mean(level**2)))


def _labels(rows: Rows, p: Array, redraws: int, rng: np.random.Generator) -> Iterator[Array]:
    """Yield the observed statistics, then those of redrawn labels."""
    k, at, ends = _groups(rows, p)
    draws, squares, weight, total = (
        group_sums(at, k, each)
        for each in (rows.draws, rows.weights**2 / rows.draws, rows.weights, rows.weights * p)
    )
    counts = draws if rows.plain else weight**2 / squares
    counts = np.maximum(np.round(counts), 1).astype(np.int64)
    mean, each = np.clip(total / weight, 0, 1), weight / counts
    across = _across(mean, each**2 * counts * mean * (1 - mean))
    yield _statistics(group_sums(at, k, rows.weights * rows.y)[None] - total, across, ends)
    for size in _chunks(redraws, k, LABELS_AT_ONCE):
        if (counts == 1).all():
            events = (rng.random((size, k)) < mean).astype(np.float64)
        else:
            events = rng.binomial(counts, mean, size=(size, k))
        yield _statistics(each * (events - counts * mean), across, ends)


def _groups(rows: Rows, p: Array) -> tuple[int, Array, Array]:
    """Return (k, group of each sorted row, last group of each distinct p); rows redrawn together have one weight.

    If there are many rows, neighbours form a group, whose events have one common probability.
    """
    n = len(p)
    if n > MOST_SINGLE_REDRAWS:
        upto = np.cumsum(rows.weights)
        at = np.minimum((upto / upto[-1] * NEIGHBOUR_GROUPS).astype(np.intp), NEIGHBOUR_GROUPS - 1)
        at = _numbered(at[np.searchsorted(p, p)])  # ties stay together
        k = int(at[-1]) + 1
        return k, at, np.arange(k)
    last = np.flatnonzero(np.append(p[1:] != p[:-1], True))
    if rows.plain:
        return len(last), np.searchsorted(p[last], p), np.arange(len(last))
    return n, np.arange(n), last


def _numbered(rising: Array) -> Array:
    """Renumber a non-decreasing sequence from 0 without gaps.

    >>> _numbered(np.array([0, 0, 3, 7, 7]))
    array([0, 0, 1, 2, 2])
    """
    return np.cumsum(np.append(False, rising[1:] != rising[:-1]))


def _across(p: Array, variance: Array) -> Array:
    """Return log-odds minus their variance-weighted mean, so that slope and level are uncorrelated."""
    with np.errstate(divide="ignore"):
        x = np.clip(logit(p), -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)
    return x - (variance @ x / variance.sum() if variance.any() else 0.0)


def _statistics(residuals: Array, across: Array, ends: Array) -> Array:
    """Return the three statistics (r, 3) of residuals (r, k) of groups in the order of p."""
    walks = np.cumsum(residuals, axis=1)[:, ends]
    reach = np.maximum(walks.max(axis=1), 0) - np.minimum(walks.min(axis=1), 0)
    return np.column_stack([np.abs(residuals.sum(axis=1)), np.abs(residuals @ across), reach])


def _chunks(redraws: int, k: int, held: int) -> Iterator[int]:
    step = max(1, held // max(k, 1))
    yield from (min(step, redraws - begin) for begin in range(0, redraws, step))


def _signs(rows: Rows, p: Array, redraws: int, rng: np.random.Generator) -> Iterator[Array]:
    """Yield the observed statistics, then those with random signs of whole clusters."""
    assert rows.cluster_index is not None
    residuals, clusters = rows.weights * (rows.y - p), int(rows.cluster_index.max()) + 1
    across = _across(p, rows.weights**2 * p * (1 - p))
    distinct = _numbered(p)
    stretch = distinct * min(NEIGHBOUR_GROUPS, int(distinct[-1]) + 1) // (int(distinct[-1]) + 1)
    walk = csr_array((residuals, (stretch, rows.cluster_index)), shape=(int(stretch[-1]) + 1, clusters))
    sums = np.vstack(
        [group_sums(rows.cluster_index, clusters, each) for each in (residuals, residuals * across)]
    )
    for i, size in enumerate((1, *_chunks(redraws, walk.shape[0] + clusters, HELD_SIGNS))):
        signs = rng.choice([-1.0, 1.0], size=(clusters, size)) if i else np.ones((clusters, 1))
        level, slope = sums @ signs
        steps = np.cumsum(walk @ signs, axis=0)
        reach = np.maximum(steps.max(axis=0), 0) - np.minimum(steps.min(axis=0), 0)
        yield np.column_stack([np.abs(level), np.abs(slope), reach])


def largest_average_gap(rows: Rows, p: Array) -> float:
    """Return the upper end of a one-sided 95 % interval of the average gap |E(y | p) − p|, in bins.

    Bins have equal Σ p (1 − p). The mean squared gap minus its sampling variance is unbiased (Bröcker 2012), and the
    root of a mean square is at least the mean. With G the gaps times the shares s of the bins, Σ the covariance of G
    and A = diag(1/s), the variance of Gᵀ A G is 2 tr(AΣAΣ) + 4 Gᵀ AΣA G.

    Returns
    -------
    float
        Upper end in [0, 1]; NaN for a single draw.

    Examples
    --------
    >>> rows = Rows((np.arange(10_000) % 4 == 0).astype(int))       # 25 % of class 1
    >>> [round(largest_average_gap(rows, np.full(10_000, p)), 3) for p in (0.25, 0.35)]
    [0.005, 0.107]
    """
    at, total = _bins(rows, p), rows.weights.sum()
    k = int(at.max()) + 1
    share, gaps = (group_sums(at, k, each, rows.weights) / total for each in (None, rows.y - p))
    covariance = rows.covariance(in_cells(rows.y - p, at, k))
    lacking = gaps_by_chance(rows, p, at, k) - np.diag(covariance)
    covariance += np.diag(np.maximum(lacking, 0.0))
    scaled = covariance / share[:, None]
    square = gaps @ (gaps / share) - np.trace(scaled)
    variance = 2 * np.trace(scaled @ scaled) + 4 * (gaps / share) @ covariance @ (gaps / share)
    return float(np.sqrt(np.clip(square + ndtri(1 - ALPHA) * np.sqrt(max(variance, 0.0)), 0, 1)))


def _bins(rows: Rows, p: Array) -> Array:
    """Return the bin of each row: equal parts of the rows and of their chance variance, half of each, ties together.

    Opposite gaps in one bin would cancel, so distinct values that are few, or that hold half a bin, are not merged.
    """
    values, at = np.unique(p, return_inverse=True)
    if len(values) <= TEST_BINS:
        return at
    masses = [group_sums(at, len(values), each, rows.weights) for each in (None, p * (1 - p))]
    part = sum(mass / max(mass.sum(), 1e-300) for mass in masses) / 2
    alone = part > 0.5 / TEST_BINS
    place = np.minimum((np.cumsum(part) - part) * TEST_BINS + 1e-9, TEST_BINS - 1).astype(np.intp)
    begins = (place[1:] != place[:-1]) | alone[1:] | alone[:-1]
    return np.cumsum(np.append(False, begins))[at]


# Kernel test of canonical calibration: whether the whole vector of K probabilities is right (Widmann et al.
# 2019).
#
# The squared kernel calibration error is SKCE = E k(P, P') (e_Y − P)·(e_Y' − P') of two independent rows,
# with e_y the unit vector of class y. It is 0 if P(Y = · | P) = P, and more for every other model, which no
# error of the confidence or of single classes promises. Its unbiased estimator is the mean over the pairs
# of rows (their SKCE_uq). The kernel is Laplace's, exp(−‖p − p'‖ / ν), with ν the median distance between
# rows.
#
# Labels are redrawn as if the probabilities were right, y* ~ p, as Bröcker and Smith (2007) do for two
# classes: with B redraws, p = (1 + #{redraw ≥ seen}) / (B + 1) is exact whatever the number of rows,
# because kernel and ν depend on the probabilities alone.
KERNEL_REDRAWS = 199
MOST_KERNEL_ROWS = 500  # drawn at random of more, because time grows with the square


@dataclass(frozen=True)
class KernelTest:
    """Result of the kernel test.

    Attributes
    ----------
    error
        The unbiased estimate of SKCE; it may be negative.
    p_value
        In (0, 1]: small if the K probabilities are not jointly calibrated.
    rows
        How many were compared.
    """

    error: float
    p_value: float
    rows: int

    @property
    def rejects(self) -> bool:
        """Whether the probabilities are not calibrated, at the level ``ALPHA``."""
        return self.p_value <= ALPHA


def kernel_test(
    y: ArrayLike,
    p: ArrayLike,
    redraws: int = KERNEL_REDRAWS,
    most_rows: int = MOST_KERNEL_ROWS,
    random_state: int = 0,
) -> KernelTest:
    """Test whether all K probabilities are right together.

    Parameters
    ----------
    y : (n,) of 0 … K − 1
    p : (n, K)
    redraws
        B; the smallest p-value is 1 / (B + 1).
    most_rows
        Of more rows, so many are drawn.
    random_state
        Of the draws.

    Raises
    ------
    InputError
        For labels or probabilities that are not, and for fewer than two rows.

    Examples
    --------
    Two rows with the same prediction: k = 1, and (e_0 − p)·(e_1 − p) = 0.5·(−0.5) + (−0.5)·0.5.

    >>> kernel_test([0, 1], [[0.5, 0.5]] * 2).error
    -0.5
    >>> kernel_test([0] * 50, [[0.5, 0.5]] * 50).p_value
    0.005
    """
    labels, P = checks.labelled_rows(y, p)
    checks.in_range(redraws, "redraws", low=1, integer=True)
    checks.in_range(most_rows, "most_rows", low=2, integer=True)
    checks.in_range(len(labels), "the number of rows", low=2, integer=True)
    rng = np.random.default_rng(random_state)
    if len(labels) > most_rows:
        taken = np.sort(rng.choice(len(labels), most_rows, replace=False))
        labels, P = labels[taken], P[taken]
    n, kernel = len(labels), _kernel(P)
    pulled, within = kernel @ P, float((kernel * (P @ P.T)).sum())

    each, ones = np.arange(n), np.ones(n)

    def error(came: Array) -> float:
        """Return the mean of k (e_y − p)·(e_y' − p') over pairs, multiplied out."""
        of_class = (
            csr_array((ones, (came, each)), shape=(P.shape[1], n)) @ kernel
        )  # sums over the rows of a class
        together = float(of_class[came, each].sum())
        return (together - 2 * float(pulled[each, came].sum()) + within) / (n * (n - 1))

    seen, cumulative = error(labels), P.cumsum(axis=1)
    least = seen - 1e-12  # sums in another order are equal
    more = sum(error(_drawn(cumulative, rng)) >= least for _ in range(redraws))
    return KernelTest(seen, (1 + more) / (1 + redraws), n)


def _kernel(P: Array) -> Array:
    """Return k (n, n) of all pairs of rows, 0 for a row with itself."""
    distance = cdist(P, P)
    width = float(np.median(distance[np.triu_indices(len(P), 1)]))
    kernel = np.exp(-distance / width) if width > 0 else (distance == 0).astype(float)
    np.fill_diagonal(kernel, 0.0)
    return kernel


def _drawn(cumulative: Array, rng: np.random.Generator) -> Array:
    """Return one label per row from its cumulative probabilities (n, K)."""
    at = rng.random((len(cumulative), 1)) * cumulative[:, -1:]
    return (at >= cumulative).sum(axis=1)

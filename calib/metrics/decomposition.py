"""Decompositions of a score: calibration, sharpness and irreducible uncertainty.

Murphy (1973) with the within-bin part, so that the terms sum to the Brier score (reliability is eq. 13 of Johansson et
al., forests, 2019, and eq. 4.13 of the trees paper); CORP of Dimitriadis, Gneiting & Jordan (2021), without bins; and,
with the true posterior, calibration, grouping and irreducible loss (Kull & Flach 2015; eq. 7 of Shaker & Hüllermeier
2025).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, rel_entr, xlog1py, xlogy

from calib.kernel import checks
from calib.kernel.binning import binned, group_sums
from calib.kernel.binomial import null_draws
from calib.kernel.checks import Array
from calib.kernel.isotonic_regression import Tied, pool_adjacent_violators, pool_ties
from calib.metrics.base import Metric, NumberOf
from calib.metrics.losses import log_losses, mean, squared_errors

DECOMPOSED_LOSSES = ("brier", "log")


# Tolerance within which predictions equal their recalibrated ones
SUM_ROUNDING = 4 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Murphy:
    """Murphy's decomposition: Brier score = reliability − resolution + uncertainty + within.

    Attributes
    ----------
    reliability
        Mean squared difference between mean prediction and frequency of the bins; 0 is best.
    resolution
        Variance of the bins' frequencies; large is good.
    uncertainty
        f(1 − f) of the labels.
    within
        Contribution of the spread of predictions inside bins; 0 if each bin has one value; may be negative.
    """

    reliability: float
    resolution: float
    uncertainty: float
    within: float


def murphy_decomposition(
    y: ArrayLike, p: ArrayLike, bins: ArrayLike = 100, sample_weight: ArrayLike | None = None
) -> Murphy:
    """Compute Murphy's decomposition over equal-width bins, each represented by its mean prediction.

    Σ n_k/n (p̄_k − f_k)² − Σ n_k/n (f_k − f)² + f(1 − f) + mean of (p − p̄_k)² − 2 (p − p̄_k)(y − f_k).
    For several test folds pool the predictions first: bin noise does not average out.

    Parameters
    ----------
    y : (n,) of 0 and 1
    p : (n,) in [0, 1]
    bins
        Number of bins, K in the papers.

    Examples
    --------
    >>> murphy_decomposition([1, 0], [0.75, 0.25])        # 0.25² − 0.5² + 0.25 = 0.0625
    Murphy(reliability=0.0625, resolution=0.25, uncertainty=0.25, within=0.0)
    """
    weights, y, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    placed = binned(p, bins)
    index = placed.index
    share, frequency, mean_p = _group_means(index, placed.count, y, p, weights)
    overall = mean(y, weights)
    from_mean, off = p - mean_p[index], np.abs(mean_p - frequency)
    return Murphy(
        reliability=float((share * np.where(off > SUM_ROUNDING, off, 0.0) ** 2).sum()),
        resolution=float((share * (frequency - overall) ** 2).sum()),
        uncertainty=float(overall * (1 - overall)),
        within=mean(from_mean**2 - 2 * from_mean * (y - frequency[index]), weights),
    )


@dataclass(frozen=True)
class Corp:
    """CORP decomposition: score = miscalibration − discrimination + uncertainty, none of them negative.

    Attributes
    ----------
    miscalibration
        Reduction of the score by isotonic recalibration; 0 is best.
    discrimination
        Reduction of the score by the recalibrated predictions, compared with the overall frequency; large is good.
    uncertainty
        Score of always predicting the overall frequency.
    """

    miscalibration: float
    discrimination: float
    uncertainty: float


def corp_decomposition(
    y: ArrayLike, p: ArrayLike, loss: str = "brier", sample_weight: ArrayLike | None = None
) -> Corp:
    """Compute the CORP decomposition, from the isotonic fit of the labels on the predictions with ties pooled.

    Parameters
    ----------
    y : (n,) of 0 and 1
    p : (n,) in [0, 1]
    loss
        "brier" or "log" (base e; miscalibration may then be ∞).

    Examples
    --------
    >>> corp_decomposition([0, 1, 1], [0.5, 0.5, 1.0])    # recalibrated: 1/2, 1/2, 1
    Corp(miscalibration=0.0, discrimination=0.0555..., uncertainty=0.2222...)
    """
    weights, y, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    losses = {"brier": squared_errors, "log": log_losses}[checks.one_of(loss, DECOMPOSED_LOSSES, "loss")]
    return _corp(pool_ties(p, y, weights), losses)


def _corp(tied: Tied, losses: Callable[[Array, Array], Array]) -> Corp:
    """Decompose rows that are pooled by prediction."""
    fitted = pool_adjacent_violators(tied.sums, tied.weights).fitted
    # Predictions that are right up to rounding have exactly no miscalibration
    tied = replace(tied, scores=np.where(np.abs(tied.scores - fitted) <= SUM_ROUNDING, fitted, tied.scores))
    overall = np.full(len(fitted), tied.sums.sum() / tied.weights.sum())
    loss, recalibrated, uncertainty = (_mean_loss(losses, tied, p) for p in (tied.scores, fitted, overall))
    return Corp(loss - recalibrated, uncertainty - recalibrated, uncertainty)


def _mean_loss(losses: Callable[[Array, Array], Array], tied: Tied, p: Array) -> float:
    """Return the mean loss of one prediction per group of ties; a label that a group lacks costs nothing."""
    total = 0.0
    for label, count in ((0, tied.weights - tied.sums), (1, tied.sums)):
        held = count > 0
        total += float(count[held] @ losses(np.full(int(held.sum()), label), p[held]))
    return total / float(tied.weights.sum())


def chance_miscalibration(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the CORP miscalibration that these predictions have by chance if they are right, in [0, 1].

    The isotonic fit also follows the noise of the labels: n right predictions, spread evenly, have a miscalibration of
    about 0.5 n^(−⅔). This is the mean over labels resampled from p (the resampling of consistency bands, Dimitriadis
    et al. 2021), from a fixed seed: 50 resamples, fewer for more than 1000 rows.

    Parameters
    ----------
    y : (n,) of 0 and 1
        Labels, whose values have no effect.
    p : (n,) in [0, 1]

    Examples
    --------
    >>> chance_miscalibration([1, 0], [1.0, 0.0]), chance_miscalibration([0, 1], [0.5, 0.5]) > 0
    (0.0, True)
    """
    weights, _, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p))
    counts = None if weights is None else checks.row_counts(weights, "Miscalibration by chance")
    tied = pool_ties(p, np.zeros(p.size), counts)
    repeats = max(1, min(50, int(50_000 // tied.weights.sum())))
    drawn = null_draws(tied.scores, tied.weights, repeats, np.random.default_rng(0))
    return float(np.mean([_brier_miscalibration(tied, ones) for ones in drawn]))


def _brier_miscalibration(tied: Tied, ones: Array) -> float:
    """Return what ``_corp`` does for the Brier score, with this weight of ones per prediction, several times faster."""
    fitted = pool_adjacent_violators(ones, tied.weights).fitted
    beyond = tied.scores - fitted
    beyond[np.abs(beyond) <= SUM_ROUNDING] = 0
    return float(beyond @ (tied.weights * (tied.scores + fitted) - 2 * ones) / tied.weights.sum())


@dataclass(frozen=True)
class LossDecomposition:
    """Decomposition: expected loss = calibration + grouping + irreducible + remainder.

    Attributes
    ----------
    calibration
        Divergence of p from the mean posterior of its group.
    grouping
        Divergence of this mean from the posteriors.
    irreducible
        Loss of the posteriors.
    remainder
        Contribution of the spread of p inside binned groups; 0 for groups of identical predictions.
    groups
        Number of groups.
    corrected
        Whether the finite-group correction was applied.
    """

    calibration: float
    grouping: float
    irreducible: float
    remainder: float
    groups: int
    corrected: bool


def loss_decomposition(
    posterior: ArrayLike,
    p: ArrayLike,
    loss: str = "brier",
    groups: int | None = None,
    *,
    corrected: bool | None = None,
    sample_weight: ArrayLike | None = None,
) -> LossDecomposition:
    """Compute calibration, grouping and irreducible loss for known posteriors π; c is the mean posterior of a group.

    Brier: mean (p − c)², mean (c − π)², mean π(1 − π). Log (base e): mean KL(c‖p), mean KL(π‖c), mean H(π).

    Parameters
    ----------
    posterior, p : (n,) in [0, 1]
    loss
        "brier" or "log".
    groups
        None groups identical predictions; the three terms then sum exactly to the expected loss. A number groups by
        that many quantile bins of p, each represented by its mean p. Nearly continuous predictions (forests) need
        bins, because in groups of one row calibration absorbs grouping.
    corrected
        For Brier, move s²/n, the variance of a group's c, from calibration to grouping (s² is the variance of its
        posteriors with divisor n − 1; a group of one row is not changed). By default, if groups are bins.

    Raises
    ------
    InputError
        If an argument is invalid, or the correction is requested for the log loss.

    Examples
    --------
    >>> loss_decomposition([0.25, 0.75, 1.0], [0.5, 0.5, 0.75]).grouping          # two of three are 1/4 from their mean
    0.0416...
    """
    truth, p = checks.true_and_predicted_probabilities(posterior, p)
    checks.one_of(loss, DECOMPOSED_LOSSES, "loss")
    if corrected is None:
        corrected = groups is not None and loss == "brier"
    elif corrected and loss == "log":
        raise checks.InputError(
            "corrected must be False for the log loss, because the correction exists only for the Brier score."
        )
    weights, truth, p = checks.counted_rows(sample_weight, truth, p)
    index = _groups_of(p, groups, weights)
    size = int(index.max()) + 1
    represented = p if groups is None else _group_means(index, size, truth, p, weights)[2][index]
    if loss == "brier":
        terms = _brier_terms(index, truth, represented, weights, corrected)
        total = mean((p - truth) ** 2 + truth * (1 - truth), weights)
    else:
        terms = _log_terms(index, truth, represented, weights)
        total = -mean(xlogy(truth, p) + xlog1py(1 - truth, -p), weights)
    remainder = 0.0 if groups is None else _difference(total, sum(terms))
    calibration, grouping, irreducible = map(float, terms)
    return LossDecomposition(calibration, grouping, irreducible, remainder, size, corrected)


def _groups_of(p: Array, groups: int | None, weights: Array | None) -> Array:
    """Return the group of each row, numbered from 0: identical predictions, or quantile bins."""
    if groups is not None:
        checks.in_range(groups, "groups", low=1, integer=True)
        p = binned(p, groups, "quantile", weights).index
    return np.unique(p, return_inverse=True)[1]


def _brier_terms(
    index: Array, truth: Array, p: Array, weights: Array | None, corrected: bool
) -> tuple[float, ...]:
    """Return calibration, grouping and irreducible loss, for the prediction p of each row."""
    size = int(index.max()) + 1
    share, c, _ = _group_means(index, size, truth, p, weights)
    center = c[index]
    calibration, grouping = mean((p - center) ** 2, weights), mean((center - truth) ** 2, weights)
    if corrected:
        count = group_sums(index, size, weights=weights)
        variance = group_sums(index, size, (truth - center) ** 2, weights) / np.maximum(count - 1, 1)
        bias = (share * variance / count).sum()
        calibration, grouping = calibration - bias, grouping + bias
    return calibration, grouping, mean(truth * (1 - truth), weights)


def _log_terms(index: Array, truth: Array, p: Array, weights: Array | None) -> tuple[float, ...]:
    # Use the mean of 1 − π: 1 minus the mean of π may round to 0 although no π is 1.
    _, c, c0 = (
        means[index] for means in _group_means(index, int(index.max()) + 1, truth, 1 - truth, weights)
    )
    return (
        mean(rel_entr(c, p) + rel_entr(c0, 1 - p), weights),
        mean(rel_entr(truth, c) + rel_entr(1 - truth, c0), weights),
        mean(entr(truth) + entr(1 - truth), weights),
    )


def _group_means(
    index: Array, groups: int, first: Array, second: Array, weights: Array | None
) -> tuple[Array, Array, Array]:
    """Return the share of rows and the means of two quantities in each group; all are 0 for empty groups."""
    count = group_sums(index, groups, weights=weights)
    divisor = np.where(count > 0, count, 1)
    return (
        count / count.sum(),
        group_sums(index, groups, first, weights) / divisor,
        group_sums(index, groups, second, weights) / divisor,
    )


def _difference(total: float, parts: float) -> float:
    return math.nan if math.isinf(total) and math.isinf(parts) else float(total - parts)


RELIABILITY = Metric(
    "reliability",
    "Reliability (100 bins)",
    NumberOf(murphy_decomposition, "reliability"),
    False,
    "Murphy's decomposition over 100 bins: mean squared difference between predictions and frequencies. "
    "With few rows, this value is mostly sampling variability.",
    everyday=False,
)
RESOLUTION = Metric(
    "resolution",
    "Resolution",
    NumberOf(murphy_decomposition, "resolution"),
    True,
    "Murphy's decomposition over 100 bins: variance of the observed frequencies of the bins. With few rows, "
    "this value is mostly sampling variability.",
    everyday=False,
)
UNCERTAINTY = Metric(
    "uncertainty",
    "Uncertainty",
    NumberOf(murphy_decomposition, "uncertainty"),
    None,
    "Brier score of always predicting the overall frequency.",
)
WITHIN = Metric(
    "within",
    "Within-bin variance",
    NumberOf(murphy_decomposition, "within"),
    None,
    "Murphy's decomposition: contribution of the spread inside the 100 bins to the Brier score.",
    everyday=False,
)
MISCALIBRATION = Metric(
    "miscalibration",
    "Miscalibration (CORP)",
    NumberOf(corp_decomposition, "miscalibration"),
    False,
    "Reduction of the Brier score by isotonic recalibration on the same rows. Part of this reduction is due to "
    "chance; for a calibrated model, all of it is.",
)
MISCALIBRATION_BY_CHANCE = Metric(
    "miscalibration_chance",
    "Miscalibration by chance (mean)",
    chance_miscalibration,
    None,
    "Mean miscalibration of a calibrated model with the same number of rows; the labels are drawn from "
    "these predictions.",
    counted=True,
)
DISCRIMINATION = Metric(
    "discrimination",
    "Discrimination (CORP)",
    NumberOf(corp_decomposition, "discrimination"),
    True,
    "Brier score of always predicting the overall frequency, minus the Brier score of the recalibrated "
    "predictions.",
)

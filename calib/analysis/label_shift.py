"""Frequency of class 1 among rows without labels, estimated from calibrated probabilities alone.

Saerens, Latinne & Decaestecker 2002, "Adjusting the outputs of a classifier to new a priori probabilities":
with probabilities p that are right at the rate π, the likelihood of the rate π' is ``Π [p π'/π + (1 − p)(1 −
π')/(1 − π)]``, up to a factor. The EM algorithm converges to its maximum: it adjusts p to π', and takes the mean
as the next π'. This requires label shift: only the class shares change, not the distributions within the classes.

For K classes the likelihood of the shares is ``Π Σ_k p_k π'_k/π_k``, which EM maximises, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.stats import chi2

from calib.data import columns_like
from calib.data.column_types import typed_frame
from calib.data.roles import read_roles
from calib.evaluate import Evaluation, Fitted, score_column
from calib.kernel import checks
from calib.kernel.base_rate import shares
from calib.kernel.checks import Array, InputError
from calib.kernel.weights import effective_weights, or_ones, represented_rows
from calib.kernel.wording import class_named, number
from calib.placements.adjusted import unadjusted

RATE_EDGE = 1e-15  # rates nearer to 0 or 1 count as 0 or 1


COMPARED_METRICS = ("observed_expected", "in_the_large", "brier", "log_loss", "ece", "auc")


@dataclass(frozen=True, eq=False)
class EstimatedRate:
    """A base rate estimated from rows without labels.

    Attributes
    ----------
    rate
        The estimate, in [0, 1].
    lower, upper
        Interval of the likelihood ratio, which assumes that the probabilities are right.
    fitted
        The rate at which the probabilities are right.
    rows
        Number of rows, or of rows that the weights represent.
    """

    rate: float
    lower: float
    upper: float
    fitted: float
    rows: int
    level: float

    @property
    def finding(self) -> str:
        """The result in one sentence."""
        return (
            f"The base rate of these {self.rows:,} unlabelled rows is about {number(self.rate)} "
            f"({100 * self.level:.0f} % interval {number(self.lower)} to {number(self.upper)})"
        )


def estimate_base_rate(
    p: ArrayLike, base_rate: float, *, level: float = 0.95, sample_weight: ArrayLike | None = None
) -> EstimatedRate:
    """Estimate the base rate of rows without labels by maximum likelihood: the rate to which EM converges.

    Parameters
    ----------
    p : array (n,)
        Probabilities of class 1 that are right (calibrated) at the frequency ``base_rate``.
    base_rate
        Strictly between 0 and 1.
    level
        Level of the interval ``{π' : 2 (ℓ(max) − ℓ(π')) <= χ²₁(level)}``.
    sample_weight : array (n,)
        Counts of rows, or other weights on any scale.

    Returns
    -------
    EstimatedRate

    Raises
    ------
    InputError
        For no rows, for values outside [0, 1], and for probabilities that all equal the base rate,
        which contain no information.

    Notes
    -----
    The log-likelihood is concave in π', so that EM, which never lowers it, converges to the only maximum.
    This function finds it as the zero of the slope, which takes far fewer passes over the rows.

    References
    ----------
    Saerens, M., Latinne, P. & Decaestecker, C. (2002), Neural Computation 14, 21–41.

    Examples
    --------
    >>> found = estimate_base_rate([0.2, 0.2, 0.2, 0.8], 0.5)    # of the mixture of 0.8 and 0.2 that makes 0.25
    >>> round(found.rate, 6), round(found.lower, 3), round(found.upper, 3)
    (0.083333, 0.0, 0.871)
    """
    p = checks.probability_vector(p, "p")
    checks.not_empty(p, "p")
    weights, p, _ = checks.counted_rows(sample_weight, p, p)
    w = or_ones(weights, len(p))
    checks.in_range(base_rate, "base_rate", 0, 1, open_ends=True)
    checks.in_range(level, "level", 0, 1, open_ends=True)
    ones, zeros = _densities(p, base_rate)
    rate = _maximum(ones, zeros, w)
    drop = float(chi2.ppf(level, 1)) / 2
    lower, upper = (_where_likelihood_falls(ones, zeros, w, rate, end, drop) for end in (0.0, 1.0))
    return EstimatedRate(rate, lower, upper, base_rate, represented_rows(weights, len(p)), level)


@dataclass(frozen=True, eq=False)
class EstimatedRates:
    """Shares of K classes estimated from rows without labels.

    Attributes
    ----------
    table
        One row per class: ``fitted``, the share at which the probabilities are right, ``rate``, the estimate, and
        ``lower`` and ``upper``, its interval; NaN for more than ``MOST_INTERVALS`` classes.
    rows
        Number of rows, or of rows that the weights represent.
    """

    table: pd.DataFrame
    rows: int
    level: float

    @property
    def finding(self) -> str:
        """The largest change in one sentence."""
        table = self.table
        largest = (table["rate"] - table["fitted"]).abs().idxmax()
        line = table.loc[largest]
        ends = f" ({100 * self.level:.0f} % interval {number(line.lower)} to {number(line.upper)})"
        return (
            f"The share of {class_named(str(largest))} in these {self.rows:,} unlabelled rows is about "
            f"{number(line.rate)}{ends if np.isfinite(line.lower) else ''}, compared with "
            f"{number(line.fitted)} in the table; "
            "no other share changes more"
        )

    @property
    def stated(self) -> dict[str, float]:
        """The shares as a Recipe states them, none below ``LEAST_STATED_SHARE``."""
        rates = np.maximum(self.table["rate"], LEAST_STATED_SHARE)
        return dict(zip(self.table.index, (rates / rates.sum()).tolist(), strict=True))


LEAST_STATED_SHARE = 1e-4  # smallest share that is stated for a class, because 0 would exclude its rows


def with_share(shares: Mapping[str, float], name: str, share: float) -> dict[str, float]:
    """Return shares that sum to 1 with that of one class changed; the others keep their ratios.

    >>> with_share({"a": 0.5, "b": 0.25, "c": 0.25}, "a", 0.2)
    {'a': 0.2, 'b': 0.4, 'c': 0.4}
    """
    share = min(max(share, LEAST_STATED_SHARE), 1 - LEAST_STATED_SHARE)
    rest = (1 - share) / (1 - shares[name])
    return {each: share if each == name else rest * before for each, before in shares.items()}


MOST_INTERVALS = 30  # most classes whose shares get intervals, because each end is a search


def estimate_base_rates(
    p: ArrayLike,
    base_rates: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
) -> EstimatedRates:
    """Estimate the shares of K classes among rows without labels by maximum likelihood: the shares at which EM ends.

    Parameters
    ----------
    p : array (n, K)
        Probabilities that are right (calibrated) if the classes have the shares ``base_rates``.
    base_rates : array (K,)
        Shares greater than 0 that sum to 1.
    names : (K,)
        Names of the classes; by default their numbers.
    level
        Level of each interval: the shares t of a class with ``2 (ℓ(max) − ℓ(max with π'_k = t)) <= χ²₁(level)``.
    sample_weight : array (n,)
        Counts of rows, or other weights on any scale.

    Raises
    ------
    InputError
        For no rows, for rows that do not sum to 1, and if all rows equal the base rates.

    References
    ----------
    Saerens, M., Latinne, P. & Decaestecker, C. (2002), Neural Computation 14, 21–41.

    Examples
    --------
    >>> P = [[1, 0, 0]] * 2 + [[0, 1, 0]] * 5 + [[0, 0, 1]] * 3            # certain rows are counted
    >>> estimate_base_rates(P, [1 / 3, 1 / 3, 1 / 3]).table["rate"].round(6).tolist()
    [0.2, 0.5, 0.3]
    """
    p = checks.class_probabilities(p, "p")
    checks.not_empty(p, "p")
    fitted = np.array(shares(base_rates, "base_rates"))
    if len(fitted) != p.shape[1]:
        raise InputError(
            f"base_rates must contain {p.shape[1]} shares, one per class, but contains {len(fitted)}."
        )
    checks.in_range(level, "level", 0, 1, open_ends=True)
    weights = None if sample_weight is None else checks.weight_vector(sample_weight, len(p))
    if weights is not None:
        p, weights = p[weights > 0], effective_weights(weights[weights > 0])
    density, w = p / fitted, or_ones(weights, len(p))
    if np.allclose(density, 1, rtol=1e-12):
        raise InputError(
            "The shares cannot be estimated: the probabilities of every row equal the base rates, so the "
            "model does not separate the classes. Use a model that separates the classes."
        )
    rate = _likeliest_shares(density, w, fitted)
    ends = np.full((len(rate), 2), np.nan)
    if len(rate) <= MOST_INTERVALS:
        drop = float(chi2.ppf(level, 1)) / 2
        ends = np.array([_profile_ends(density, w, rate, k, drop) for k in range(len(rate))])
    index = pd.Index(names if names is not None else range(len(rate)), name="class")
    table = pd.DataFrame(
        {"fitted": fitted, "rate": rate, "lower": ends[:, 0], "upper": ends[:, 1]}, index=index
    )
    return EstimatedRates(table, represented_rows(weights, len(p)), level)


def _likeliest_shares(density: Array, w: Array, start: Array, fixed: int | None = None) -> Array:
    """Return the shares (K,) to which EM converges; the share of class ``fixed`` keeps its starting value.

    Steps are lengthened by Varadhan and Roland's (2008) SQUAREM, and undone if the likelihood falls.
    """
    free = np.arange(density.shape[1]) != fixed
    sum_free = 1 - (start[fixed] if fixed is not None else 0.0)

    def step(rate: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            new = rate * (density.T @ (w / (density @ rate)))
        found = rate.copy()
        found[free] = sum_free * new[free] / new[free].sum()
        return found

    rate, best = start, _log_likelihood(density, w, start)
    for _ in range(MOST_EM_STEPS):
        first = step(rate)
        second = step(first)
        r, v = first - rate, (second - first) - (first - rate)
        new, value = second, _log_likelihood(density, w, second)
        if float(np.abs(v).max()) > 0:
            length = -max(float(np.linalg.norm(r) / np.linalg.norm(v)), 1.0)
            far = rate - 2 * length * r + length**2 * v
            if (far >= 0).all():
                far = step(far)
                if (reached := _log_likelihood(density, w, far)) > value:
                    new, value = far, reached
        if value - best < 1e-10 and float(np.abs(new - rate).max()) < 1e-9:
            return new
        rate, best = new, value
    return rate


MOST_EM_STEPS = 2000


def _log_likelihood(density: Array, w: Array, rate: Array) -> float:
    with np.errstate(divide="ignore"):
        return float(w @ np.log(density @ rate))


def _profile_ends(density: Array, w: Array, best: Array, k: int, drop: float) -> tuple[float, float]:
    """Return the shares of class k at which the profile log-likelihood is ``drop`` below its maximum."""
    wanted = _log_likelihood(density, w, best) - drop
    held = best

    def above(share: float) -> float:
        nonlocal held
        others = np.maximum(np.delete(held, k), 1e-9)
        start = np.insert(others * (1 - share) / others.sum(), k, share)
        held = _likeliest_shares(density, w, start, k)
        return _log_likelihood(density, w, held) - wanted

    ends = []
    for end in (0.0, 1.0):
        held = best
        near = end + (best[k] - end) * 1e-6
        if best[k] == end or above(near) >= 0:
            ends.append(end)
        else:
            ends.append(float(brentq(above, near, best[k], xtol=1e-6)))
    return ends[0], ends[1]


def likeliest_rate(p: Array, base_rate: float) -> float:
    """Return the rate of ``estimate_base_rate`` without its interval, for probabilities that were checked."""
    return _maximum(*_densities(p, base_rate), np.ones(len(p)))


def _densities(p: Array, base_rate: float) -> tuple[Array, Array]:
    """Return densities of the rows within class 1 and class 0, up to a common factor per row."""
    ones, zeros = p / base_rate, (1 - p) / (1 - base_rate)
    if (ones == zeros).all():
        raise InputError(
            "The base rate cannot be estimated: every probability equals the base rate, so the model does not "
            "separate the classes. Use a model that separates the classes."
        )
    return ones, zeros


def _maximum(ones: Array, zeros: Array, w: Array) -> float:
    """Return the limit of EM: the zero of the decreasing slope, or the end of [0, 1] towards which it rises."""
    if _slope(ones, zeros, w, RATE_EDGE) <= 0:
        return 0.0
    if _slope(ones, zeros, w, 1 - RATE_EDGE) >= 0:
        return 1.0
    return float(brentq(lambda at: _slope(ones, zeros, w, at), RATE_EDGE, 1 - RATE_EDGE, xtol=RATE_EDGE))


def _slope(ones: Array, zeros: Array, w: Array, rate: float) -> float:
    """Return d ℓ / d π', infinite if a row excludes the rate."""
    with np.errstate(divide="ignore"):
        return float(w @ ((ones - zeros) / (rate * ones + (1 - rate) * zeros)))


def _where_likelihood_falls(
    ones: Array, zeros: Array, w: Array, best: float, end: float, drop: float
) -> float:
    """Return the rate between the maximum and an end at which the log-likelihood is ``drop`` lower; else the end."""

    def log_likelihood(rate: float) -> float:
        with np.errstate(divide="ignore"):
            return float(w @ np.log(rate * ones + (1 - rate) * zeros))

    wanted = log_likelihood(best) - drop
    if best == end or log_likelihood(end) >= wanted:
        return end
    near = end + (best - end) * 1e-12  # at the end itself it may be minus infinite
    if log_likelihood(near) >= wanted:
        return end
    return float(brentq(lambda rate: log_likelihood(rate) - wanted, near, best, xtol=1e-12))


def estimate_of_rows(
    evaluation: Evaluation, fitted: Fitted, frame: pd.DataFrame, key: str
) -> EstimatedRate | EstimatedRates:
    """Estimate the base rate of another table's rows, or the shares of K classes; labels in this table are ignored.

    Parameters
    ----------
    evaluation, fitted
        One test set and one fit, not folds: each fold has its own model.
    frame
        A table with the columns that the model was fitted on, matched by name; if it also has the Recipe's column of
        weights or counts, its rows are weighted by it.
    key
        The calibrator that predicts the probabilities.

    Raises
    ------
    InputError
        For folds, for columns that do not match, and as ``estimate_base_rate``.
    """
    whole = evaluation.all_classes
    calibrator = unadjusted(whole.only_fitted(key, "for new rows"))
    data, placed, weight = fitted.dataset, fitted.parts[0].placed, evaluation.recipe.weight
    if data.lines_of is not None:
        raise InputError(
            "The program did not keep the features of the training sample, so the model cannot score new "
            "rows. Enter the base rate yourself."
        )
    needed = data.X
    if data.predictions:
        column = score_column(evaluation.recipe, data)
        needed = needed[list(data.columns[column]) if data.joint else [column]]
    weights = None
    if weight in frame.columns:
        weight_as = evaluation.recipe.weight_as
        read = read_roles(typed_frame(frame), {"weight": weight}, target="", weight_as=weight_as)
        frame, weights = frame[read.rows], read.of(read.rows)["weight"]
    predicted = placed.predict(calibrator, placed.score(columns_like(frame, needed)))
    rates = placed.base_rate(calibrator)
    if data.joint:
        return estimate_base_rates(predicted.p, rates, names=data.names, sample_weight=weights)
    return estimate_base_rate(predicted.p, rates, sample_weight=weights)


def places_of(evaluation: Evaluation) -> dict[str, Evaluation]:
    """Return the Evaluation at the base rate of the "table" and, if a base rate is stated, at the "stated" one."""
    if evaluation.unadjusted is None:
        return {"table": evaluation}
    return {"table": evaluation.unadjusted, "stated": evaluation}


def compare_base_rates(evaluation: Evaluation) -> pd.DataFrame:
    """Compare the table's base rate with the deployment base rate, one row per calibrator and place.

    Columns: calibrator, place ("table" or "stated"), base_rate, mean_p, and metrics by their key.
    """
    tables = []
    for place, found in places_of(evaluation).items():
        table = found.measured(COMPARED_METRICS)
        means = [each.mean(each.p) for each in found.predictions.values()]
        left = {"calibrator": table.index, "place": place, "base_rate": found.share, "mean_p": means}
        tables.append(pd.concat([pd.DataFrame(left, index=table.index), table], axis=1))
    joined = pd.concat(tables, ignore_index=True)
    order = {key: place for place, key in enumerate(evaluation.predictions)}
    return joined.sort_values(
        "calibrator", key=lambda keys: keys.map(order), kind="stable", ignore_index=True
    )

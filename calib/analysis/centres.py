"""Calibration per centre, pooled over centres by random effects, and expected in a new centre.

Slope and level (calibration-in-the-large) are pooled as they are, O/E as its logarithm, and curves as log-odds
(Debray et al. 2017; Snell et al. 2018; Barreñada et al. 2025). With yᵢ the value in centre i, vᵢ its variance and
wᵢ = 1/(vᵢ + τ²), the variance τ² between centres is the restricted maximum likelihood estimate (REML, Viechtbauer
2005). The mean μ = Σ w y / Σ w has the standard error of Hartung & Knapp (2001), √(Σ w (y − μ)² / ((k − 1) Σ w)), and
Student's quantile with k − 1 degrees of freedom. Shrunken values are the means of yᵢ and μ, weighted by 1/vᵢ and 1/τ².
The prediction interval for a new centre allows for the uncertainty of τ² as well (Nagashima, Noma & Furukawa 2019).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import scipy  # it imports its parts when they are first used
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtri, stdtrit

from calib.analysis.validation import trained_here
from calib.evaluate import Evaluation
from calib.evaluate.arrays import present
from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.records import Predictions
from calib.kernel.rows import Rows
from calib.kernel.wording import brief_percent, counted, listed, two_decimals
from calib.metrics import METRICS, metric_value
from calib.metrics.confidence_intervals import INTERVALS, LEVEL, View
from calib.metrics.distances import curve_errors, smooth_cells

Array = np.ndarray

POOLED_MEASURES = {
    "slope": "calibration slope",
    "in_the_large": "calibration-in-the-large",
    "observed_expected": "O/E",
}
FEWEST_TO_PREDICT = 3  # centres
PREDICTION_DRAWS, DRAWS_OF_CURVE = 2**13, 2**10  # of a new centre
NEW_CENTRE = "In a new centre"
TRAINED_CENTRE, UNSEEN_CENTRE = (f"In a centre {how} rows in the training set" for how in ("with", "without"))
FEW_FOR_TAU = 5  # centres below which τ is hardly known
FEWEST_FOR_CURVE = 30  # rows of a centre
POINTS_OF_POOLED_CURVE = 25  # points of the pooled curve
# Distance from 0 and 1 to which curves are clipped before they are pooled, and least error there
CLIPPED_CURVE = 1e-3
STEPS_OF_TAU, PRECISION = 10_000, 1e-12  # of the search for τ²


@dataclass(frozen=True)
class Pooled:
    """Random-effects mean of a value over centres.

    Attributes
    ----------
    value, low, high
        Mean, and its Hartung–Knapp interval.
    new_low, new_high
        Prediction interval for a new centre; NaN below three centres.
    tau
        Standard deviation between centres.
    i_squared
        Share of the variance that is between centres.
    centres
        Number of centres.
    """

    value: float
    low: float
    high: float
    new_low: float
    new_high: float
    tau: float
    i_squared: float
    centres: int


def pool(
    values: ArrayLike, variances: ArrayLike, level: float = LEVEL, draws: int = PREDICTION_DRAWS
) -> Pooled:
    """Pool the values (k,) of k centres, whose sampling variances are known.

    Parameters
    ----------
    values, variances : (k,)
        Value in each centre, and its variance, above 0; at least two centres.
    level
        Level of the intervals.
    draws
        Number of quasi-random draws of a new centre, a power of 2.

    Raises
    ------
    InputError
        If there are fewer than two centres, or an argument is invalid.

    Examples
    --------
    >>> found = pool([0.8, 1.0, 1.2, 0.6], [0.01, 0.02, 0.01, 0.02])
    >>> round(found.value, 3), round(found.tau, 3), round(found.i_squared, 3)
    (0.907, 0.229, 0.791)
    """
    checks.in_range(level, "level", 0, 1, open_ends=True)
    y, v = checks.score_vector(values, "values"), checks.score_vector(variances, "variances")
    checks.same_length(values=y, variances=v)
    if len(y) < 2:
        raise InputError(
            "There is only one centre, so the variation between centres is unknown. Use at least two centres."
        )
    if (v <= 0).any():
        raise InputError("variances must be above 0. Exclude centres with an unknown variance.")
    k, squared = len(y), between_variance(y, v)
    mean, error = (float(each) for each in _mean_and_error(y, 1 / (v + squared)))
    tails = np.array([1 - level, 1 + level]) / 2
    half = float(stdtrit(k - 1, tails[1])) * error
    low, high = (
        np.quantile(_new_centres(y, v, draws), tails) if k >= FEWEST_TO_PREDICT else (math.nan, math.nan)
    )
    fixed = 1 / v
    typical = (k - 1) * fixed.sum() / (fixed.sum() ** 2 - fixed @ fixed)
    return Pooled(
        mean,
        mean - half,
        mean + half,
        float(low),
        float(high),
        math.sqrt(squared),
        float(squared / (squared + typical)),
        k,
    )


def _mean_and_error(y: Array, w: Array) -> tuple[Array, Array]:
    """Return the mean of y (k,) for weights (…, k), and its Hartung–Knapp standard error."""
    total = w.sum(axis=-1)
    mean = w @ y / total
    spread = (w * (y - mean[..., None]) ** 2).sum(axis=-1)
    return mean, np.sqrt(spread / (len(y) - 1) / total)


def _new_centres(y: Array, v: Array, draws: int) -> Array:
    """Draw values of a new centre, (draws,), from the confidence distribution of Nagashima et al. (2019).

    Cochran's Q = Σ (y − μ)²/v is distributed as Σ (1 + τ² aᵢ) χ²ᵢ, where a are the eigenvalues above 0 of the matrix
    W − w w′/Σ w with w = 1/v. So each draw of the χ² gives the τ² of the observed Q.
    """
    k, w = len(y), 1 / v
    eigenvalues = np.linalg.eigvalsh(np.diag(w) - np.outer(w, w) / w.sum())[1:]
    uniform = scipy.stats.qmc.Sobol(k + 1, rng=0).random(draws)
    normal, student = ndtri(uniform[:, :k]), stdtrit(k - 1, uniform[:, k])
    squares = normal[:, 1:] ** 2
    q = w @ (y - w @ y / w.sum()) ** 2
    squared = np.maximum(0, (q - squares.sum(axis=1)) / (squares @ eigenvalues))
    means, errors = _mean_and_error(y, 1 / (v + squared[:, None]))
    return means + np.sqrt(squared) * normal[:, 0] - errors * student


def between_variance(y: Array, v: Array) -> float:
    """Return the REML estimate of τ² for values and variances (k,), at least 0."""
    squared = max(float(np.var(y, ddof=1) - v.mean()), 0.0)
    for _ in range(STEPS_OF_TAU):
        w = 1 / (v + squared)
        mean = w @ y / w.sum()
        found = max(float(w**2 @ ((y - mean) ** 2 - v) / (w @ w) + 1 / w.sum()), 0.0)
        if abs(found - squared) <= PRECISION * (1 + squared):
            break
        squared = found
    return found


@dataclass(frozen=True, eq=False)
class Centres:
    """Calibration per centre and over centres.

    Attributes
    ----------
    table
        One row per centre: rows, events, and for each of ``POOLED_MEASURES`` its value, interval (``_low`` and
        ``_high``) and ``_shrunken`` value. NaN if a centre does not show it.
    pooled
        Key of ``POOLED_MEASURES`` → ``Pooled``, O/E on its own scale; ``tau`` of O/E is that of its logarithm.
    parts
        Rows and predictions of each centre.
    level
        Level of all intervals.
    where
        The centres that the prediction interval is about: "In a new centre".
    """

    table: pd.DataFrame
    pooled: dict[str, Pooled]
    parts: tuple[tuple[Rows, Array], ...] = field(repr=False)
    level: float = LEVEL
    where: str = NEW_CENTRE

    @cached_property
    def curves(self) -> pd.DataFrame:
        """Columns p, observed, low, high, new_low, new_high, and one per centre: loess curves, pooled at each p."""
        return _curves(self.parts, list(map(str, self.table.index)), self.level)

    @property
    def sentences(self) -> tuple[str, ...]:
        """State what a new centre will show, how much centres differ, and which are not pooled."""
        told = [_told(self.where, key, each) for key, each in self.pooled.items()]
        missing = [str(name) for name in self.table.index[self.table["slope"].isna()]]
        if missing:
            told.append(
                f"Not pooled, because they are too small or contain only one class: {listed(missing, 5)}."
            )
        return tuple(told)

    @property
    def sentence(self) -> str:
        """The sentences together."""
        return " ".join(self.sentences)


def _told(where: str, key: str, found: Pooled) -> str:
    name = POOLED_MEASURES[key]
    pooled = (
        f"{two_decimals(found.value, found.low, found.high)} over {counted(found.centres, 'centre')} "
        f"(τ {two_decimals(found.tau)}, I² {brief_percent(found.i_squared)})"
    )
    if not math.isfinite(found.new_low):
        return f"The {name} is {pooled}; two centres cannot show what to expect in a new centre."
    hardly = " With so few centres, τ is very uncertain." if found.centres < FEW_FOR_TAU else ""
    low, high = two_decimals(found.new_low), two_decimals(found.new_high)
    return f"{where} the {name} will lie between {low} and {high}; its mean is {pooled}.{hardly}"


def centres(
    evaluation: Evaluation, centre: ArrayLike | None = None, key: str | None = None, level: float = LEVEL
) -> Centres:
    r"""Compute calibration in each centre, pooled over centres, and expected in a new one.

    Parameters
    ----------
    evaluation
        Result of ``check`` or ``evaluate``, or ``check_survival(…).evaluation``.
    centre : (m,)
        Centre of each of its rows; by default their cluster.
    key
        Whose predictions; the first by default.
    level
        Level of all intervals.

    Raises
    ------
    InputError
        If there are no centres, or fewer than two of them show a slope.

    Examples
    --------
    >>> from calib import check
    >>> rng = np.random.default_rng(0)
    >>> centre = np.repeat(["A", "B", "C", "D", "E", "F"], 500)
    >>> p = rng.uniform(0.05, 0.95, 3000)
    >>> slope = np.repeat([0.6, 0.8, 0.9, 1.1, 1.2, 1.4], 500)
    >>> y = rng.random(3000) < expit(slope * logit(p))
    >>> found = centres(check(y, p, cluster=centre), centre)
    >>> print(found.sentences[0].replace("; ", ";\n"))
    In a new centre the calibration slope will lie between 0.13 and 1.78;
    its mean is 0.94 [0.61, 1.28] over 6 centres (τ 0.30, I² 91 %).
    """
    checks.in_range(level, "level", 0, 1, open_ends=True)
    whose = evaluation.cluster if centre is None else present(centre, "centre")
    if whose is None:
        raise InputError(
            "No centres are known. Pass centre=, or check(…, cluster=) with the centre of each row."
        )
    checks.same_length(centre=whose, **{"rows of the evaluation": evaluation.y})
    first = next(iter(evaluation.predictions)) if key is None else key
    names, at = np.unique(whose, return_inverse=True)
    if len(names) < 2:
        raise InputError(
            f"There is one centre, {str(names[0])!r}. Choose a column with at least two centres."
        )
    sample, p = evaluation.sample, evaluation.predictions[first].p
    places = [np.flatnonzero(at == i) for i in range(len(names))]
    parts = tuple((_rows_of(sample, each), p[each]) for each in places)
    table = pd.DataFrame(
        {"rows": [rows.size for rows, _ in parts], "events": [rows.weights @ rows.y for rows, _ in parts]},
        index=pd.Index(names, name="centre"),
    )
    pooled = {}
    for metric in POOLED_MEASURES:
        found = np.array([_in_centre(metric, rows, each, level) for rows, each in parts])
        pooled[metric] = _add(table, metric, found, level)
    seen = trained_here(evaluation) and evaluation.recipe.split != "cluster"
    return Centres(table, pooled, parts, level, TRAINED_CENTRE if seen else NEW_CENTRE)


def _rows_of(sample: Rows, places: Array) -> Rows:
    """Return the rows of one centre, which are draws of their own if the centre is their cluster."""
    rows = sample.of(places)
    one = rows.cluster is not None and (rows.cluster == rows.cluster[0]).all()
    return rows.each_alone() if one else rows


def _in_centre(metric: str, rows: Rows, p: Array, level: float) -> tuple[float, float, float, float]:
    """Return value, low, high and standard error (of the logarithm for O/E); NaN if the centre does not show it."""
    value = metric_value(METRICS[metric], Predictions(rows.y, p, weight=rows.weight))
    low, high = INTERVALS[metric].ends(rows, p, View(level))
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.log([low, high]) if metric == "observed_expected" else np.array([low, high])
        error = float(ends[1] - ends[0]) / (2 * rows.quantile(level))
    known = math.isfinite(value) and math.isfinite(error) and error > 0 and 0 < rows.share < 1
    return (value, low, high, error) if known else (math.nan,) * 4


def _add(table: pd.DataFrame, metric: str, found: Array, level: float) -> Pooled:
    """Add the columns of one measure to the table, and return it pooled."""
    known = np.isfinite(found[:, 3])
    if known.sum() < 2:
        raise InputError(
            f"{counted(int(known.sum()), 'centre')} of {len(found)} can be evaluated: the other centres "
            "have too few rows or only one class. Merge small centres."
        )
    scale, back = (np.log, np.exp) if metric == "observed_expected" else (np.asarray, np.asarray)
    y, v = scale(found[known, 0]), found[known, 3] ** 2
    all_of = pool(y, v, level)
    shrunken = np.full(len(found), np.nan)
    shrunken[known] = back(all_of.value + (y - all_of.value) * all_of.tau**2 / (all_of.tau**2 + v))
    table[metric], table[f"{metric}_low"], table[f"{metric}_high"] = found[:, :3].T
    table[f"{metric}_shrunken"] = shrunken
    names = ("value", "low", "high", "new_low", "new_high")
    ends: dict[str, Any] = {name: float(back(getattr(all_of, name))) for name in names}
    return replace(all_of, **ends)


def _curves(parts: Sequence[tuple[Rows, Array]], names: list[str], level: float) -> pd.DataFrame:
    """Pool the loess curves of the centres, as log-odds, at predictions that at least three centres reach."""
    grid = np.unique(
        np.quantile(np.concatenate([p for _, p in parts]), np.linspace(0.02, 0.98, POINTS_OF_POOLED_CURVE))
    )
    found, errors = np.full((2, len(parts), len(grid)), np.nan)
    for i, (rows, p) in enumerate(parts):
        if rows.n < FEWEST_FOR_CURVE or np.ptp(p) == 0 or not 0 < rows.share < 1:
            continue
        cells = smooth_cells(rows, p)
        observed = np.clip(cells.observed, CLIPPED_CURVE, 1 - CLIPPED_CURVE)
        error = curve_errors(rows, cells) / (observed * (1 - observed))
        for into, values in ((found, logit(observed)), (errors, error)):
            into[i] = np.interp(grid, cells.points, values, left=np.nan, right=np.nan)
    ends = np.full((len(grid), 5), np.nan)
    for j in range(len(grid)):
        known = errors[:, j] > CLIPPED_CURVE
        if known.sum() >= FEWEST_TO_PREDICT:
            each = pool(found[known, j], errors[known, j] ** 2, level, DRAWS_OF_CURVE)
            ends[j] = expit([each.value, each.low, each.high, each.new_low, each.new_high])
    columns = dict(zip(("observed", "low", "high", "new_low", "new_high"), ends.T, strict=True))
    return pd.DataFrame({"p": grid, **columns, **dict(zip(names, expit(found), strict=True))})

"""Settings, data and summaries of the validity experiments: one feature, two normal classes, known probabilities.

Rows are independent. Isotonic fits and window scores of many small data sets are computed at once, with one row per
data set.

Six methods for a probability are compared on the same draws: the score, three calibrators, simplified and full
Venn–Abers.

Vovk and Petej (2014), algorithms 1 and 2, and direct isotonic regression (DIR) of section 3. The scorer is the
window scorer. All methods except the held-out third train and calibrate on the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from calib.calibrators import Isotonic, Platt, merge_pair
from calib.figures.theme import Mark, Theme
from calib.kernel.checks import Array, InputError
from calib.kernel.isotonic_regression import pool_adjacent_violators
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter
from calib.metrics.losses import log_losses


@dataclass(frozen=True)
class NormalClasses:
    """Y is 0 or 1 with probability one half, X ~ N(0, 1) for class 0 and N(gap, 1) for class 1.

    >>> NormalClasses(2.0).posterior(np.array([0.0, 1.0]))    # ln(p / (1 − p)) = gap · x − gap² / 2
    array([0.11920292, 0.5       ])
    """

    gap: float

    def posterior(self, x: Array) -> Array:
        """Return P(Y = 1 | x), in the shape of x."""
        return expit(self.gap * (x - self.gap / 2))

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> tuple[Array, Array]:
        """Draw x and y in this shape; labels are random, not balanced."""
        y = rng.integers(0, 2, shape)
        return rng.standard_normal(shape) + self.gap * y, y


def isotonic_rows(scores: Array, y: Array) -> Array:
    """Fit isotonic regression to the labels of every row, and return the fitted values, (D, k).

    One compiled fit serves all rows: row r is shifted by 2r, so that no pool spans two rows. Block means come from
    whole numbers, so they are correctly rounded fractions. Equal scores are pooled first.

    Parameters
    ----------
    scores, y : (D, k)
        One row per data set.

    Examples
    --------
    >>> isotonic_rows(np.array([[1.0, 2, 3], [3, 1, 2]]), np.array([[0, 1, 0], [1, 1, 0]]))
    array([[0. , 0.5, 0.5],
           [1. , 0.5, 0.5]])
    """
    rows, k = scores.shape
    order = np.argsort(scores, axis=1)
    ordered = np.take_along_axis(scores, order, axis=1)
    fresh = np.ones((rows, k), dtype=bool)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    starts = np.flatnonzero(fresh)
    counts = np.diff(starts, append=rows * k).astype(float)
    sums = np.add.reduceat(np.take_along_axis(y, order, axis=1).ravel().astype(float), starts)
    lift = 2.0 * (starts // k)
    blocks = pool_adjacent_violators(sums + lift * counts, counts)
    lift = lift[blocks.bounds[:-1]]
    values = (blocks.sums - lift * blocks.weights) / blocks.weights
    fitted = np.empty((rows, k))
    per_object = np.repeat(np.repeat(values, blocks.sizes), counts.astype(np.intp))
    np.put_along_axis(fitted, order, per_object.reshape(rows, k), axis=1)
    return fitted


def venn_abers_pairs(scores0: Array, scores1: Array, y: Array) -> tuple[Array, Array]:
    """Compute p0 and p1 of the last object of every row, (D,) each.

    Equal scores for both labels give the simplified or inductive predictor; scores refitted with the object give the
    full predictor.

    Parameters
    ----------
    scores0, scores1 : (D, l + 1)
        With label 0 and with label 1 for the last object.
    y : (D, l)
        Labels of the others.
    """

    def fit(scores: Array, label: int) -> Array:
        return isotonic_rows(scores, np.column_stack([y, np.full(len(y), label)]))[:, -1]

    return fit(scores0, 0), fit(scores1, 1)


MOST_AT_ONCE = 2**16  # weights in memory at a time, few enough for the cache


@dataclass(frozen=True, eq=False)
class WindowScorer:
    """The scoring classifier of these experiments: the mean label in a window, s(x) = Σ K(x, x_i) y_i / Σ K(x, x_i).

    K(x, x') = exp(−(x − x')²/2h²). Trained on D data sets at once, x and y (D, l). The own label of a
    training row counts, so a narrow window memorises.

    Attributes
    ----------
    mass, ones : (D, l)
        Sums of K and of K y at the training rows.

    Examples
    --------
    >>> scorer = WindowScorer.fit(np.array([[0.0, 1.0]]), np.array([[0, 1]]), window=1.0)
    >>> scorer.training.round(3)                       # K(0, 1) = 0.607; 0.607/1.607 and 1/1.607
    array([[0.378, 0.622]])
    >>> scorer.new(np.array([[0.5]])).round(3)         # half-way
    array([[0.5]])
    """

    x: Array
    y: Array
    window: float
    mass: Array
    ones: Array

    @classmethod
    def fit(cls, x: Array, y: Array, window: float) -> WindowScorer:
        mass, ones = _sums(x, x, y, window)
        return cls(x, y, window, mass, ones)

    @property
    def training(self) -> Array:
        """Return the scores of the training rows, (D, l)."""
        return self.ones / self.mass

    def repeated(self, times: int) -> WindowScorer:
        """Repeat every data set ``times`` times, so that as many new rows can be added one by one."""
        x, y, mass, ones = (np.repeat(a, times, axis=0) for a in (self.x, self.y, self.mass, self.ones))
        return WindowScorer(x, y, self.window, mass, ones)

    def new(self, x: Array) -> Array:
        """Score new rows x (D, m) without refitting; the score is one half if no training row is near."""
        mass, ones = _sums(x, self.x, self.y, self.window)
        return np.divide(ones, mass, out=np.full_like(mass, 0.5), where=mass > 0)

    def with_object(self, x: Array, label: int) -> Array:
        """Return the scores of the training rows and of one more training row (x, label) per data set, (D, l + 1)."""
        weight = _weights(self.x, x[:, None], self.window)
        old = (self.ones + label * weight) / (self.mass + weight)
        own = ((weight * self.y).sum(axis=1) + label) / (weight.sum(axis=1) + 1)
        return np.column_stack([old, own])


def _weights(x: Array, other: Array, window: float) -> Array:
    return np.exp(-0.5 * ((x - other) / window) ** 2)


def _sums(x: Array, centers: Array, y: Array, window: float) -> tuple[Array, Array]:
    """Compute ΣK and ΣKy at x (D, m) over the centres (D, l), both (D, m)."""
    mass, ones = np.empty(x.shape), np.empty(x.shape)
    at_once = max(1, MOST_AT_ONCE // (x.shape[1] * centers.shape[1]))
    for start in range(0, len(x), at_once):
        some = slice(start, start + at_once)
        weight = _weights(x[some, :, None], centers[some, None, :], window)
        mass[some] = weight.sum(axis=2)
        ones[some] = np.einsum("dij,dj->di", weight, y[some].astype(float))
    return mass, ones


DRAW_BINS = 10


@dataclass(frozen=True, eq=False)
class RunningMean:
    """Mean of the first t values and its standard error, for some t. Arrays (k,)."""

    t: Array
    mean: Array
    error: Array


def running_mean(values: Array, points: int = 200) -> RunningMean:
    """Compute means of the first t of (n,) values, for t from 10 to n in equal steps of log t.

    >>> running_mean(np.array([1.0, 0.0] * 8)).mean[-1:]
    array([0.5])
    """
    n = len(values)
    t = np.unique(np.geomspace(min(10, n), n, points).astype(int))
    mean = np.cumsum(values)[t - 1] / t
    square = np.cumsum(values**2)[t - 1] / t
    return RunningMean(t, mean, np.sqrt(np.maximum(square - mean**2, 0) / np.maximum(t - 1, 1)))


def by_level(y: Array, p: Array, groups: int = DRAW_BINS) -> pd.DataFrame:
    """Compute mean p and frequency of class 1 in groups of about equal size; equal p stay together.

    Parameters
    ----------
    y, p : (n,)
    groups
        Largest number of groups.

    Returns
    -------
    DataFrame
        Columns p, observed, draws and error: √(Σ p(1 − p))/n, the standard error of the frequency if every p is right.

    Examples
    --------
    >>> by_level(np.array([0, 1, 1, 1]), np.array([0.5, 0.5, 1.0, 1.0]), groups=2)[["p", "observed"]].to_numpy()
    array([[0.5, 0.5],
           [1. , 1. ]])
    """
    order = np.argsort(p, kind="stable")
    rank = np.empty(len(p))
    rank[order] = np.arange(len(p))
    _, value = np.unique(p, return_inverse=True)
    middle = np.bincount(value, weights=rank) / np.bincount(value)  # mean rank per value
    group = np.unique(np.floor(groups * middle / len(p)).astype(int)[value], return_inverse=True)[1]
    n = np.bincount(group)
    mean_p, observed = (np.bincount(group, weights=values) / n for values in (p, y))
    variance = np.clip(p * (1 - p), 0, None)  # a mean of ones may exceed 1 by rounding
    error = np.sqrt(np.bincount(group, weights=variance)) / n
    return pd.DataFrame({"p": mean_p, "observed": observed, "error": error, "draws": n})


TAUGHT, PROVED = (
    "two_probabilities",
    "simulations",
)  # pages: the lesson's own experiments, and the other proofs
TRIED, PROOFS = "Experiments", "Validity"  # their views
VENN_PAPER = "Vovk and Petej, Venn–Abers predictors (2014)"

CLASS_DISTANCE = Parameter(
    "gap",
    "Distance between the classes",
    "number",
    1.5,
    0.0,
    4.0,
    help="Distance in standard deviations; at 0 the labels are pure noise.",
)
WINDOW = Parameter(
    "window",
    "Window of the scorer",
    "choice",
    0.5,
    choices=(0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0),
    help="The score is the mean label in a Gaussian window around x, including the row's own label. A narrow window "
    "overfits.",
)


def training_objects(default: int) -> Parameter:
    """Return the setting for the number of training rows per draw."""
    return Parameter(
        "objects",
        "Training rows",
        "choice",
        default,
        choices=(5, 10, 20, 50, 100, 200),
        help="Training rows per draw; each draw also has a new test row.",
    )


def draws(default: int, *choices: int) -> Parameter:
    """Return the setting for the number of draws."""
    return Parameter(
        "draws",
        "Draws",
        "choice",
        default,
        choices=choices,
        help="Number of draws. More draws give smaller standard errors.",
    )


SIX_METHODS = {
    "none": "Score, uncalibrated",
    "dir": "Isotonic on the training scores (DIR)",
    "isotonic": "Isotonic on a held-out third",
    "platt": "Platt scaling on the training scores",
    "simplified": "Venn–Abers, simplified",
    "full": "Venn–Abers, full",
}
STREAM = 3
DRAWS_PER_CHECK = 20  # draws between two checks of Cancel


@dataclass(frozen=True, eq=False)
class SixMethods:
    """D draws of training rows, each with m test rows. Arrays (D, m).

    Attributes
    ----------
    p
        Method → probability of class 1 (log-loss rule for pairs).
    pairs
        Method → (p0, p1).
    """

    objects: int
    y: Array
    posterior: Array
    p: dict[str, Array]
    pairs: dict[str, tuple[Array, Array]]

    def log_loss(self, method: str) -> Array:
        """Return the log losses of a method, (D, m), ∞ for certain and wrong predictions."""
        return log_losses(self.y, self.p[method])

    def mean_and_error(self, values: Array) -> tuple[float, float]:
        """Return mean and standard error of (D, m) values; draws are independent, the rows of one draw are not."""
        means = values.mean(axis=1)
        if not np.isfinite(means).all():
            return float("inf"), float("nan")
        return float(means.mean()), float(means.std(ddof=1) / np.sqrt(len(means)))


def compare_methods(settings: Mapping[str, Any], random_state: int, watch: Watch) -> SixMethods:
    """Evaluate all methods of SIX_METHODS on the same training and test rows.

    Parameters
    ----------
    settings
        objects (l), window, gap, tests (m), draws (D).
    """
    classes, rng = NormalClasses(settings["gap"]), np.random.default_rng([random_state, STREAM])
    draws, size, m, window = (settings[name] for name in ("draws", "objects", "tests", "window"))
    x, y = classes.draw((draws, size + m), rng)
    found: dict[str, list[Array]] = {method: [] for method in SIX_METHODS}
    both: dict[str, list[tuple[Array, Array]]] = {method: [] for method in ("simplified", "full")}
    for start in watch.loop(range(0, draws, DRAWS_PER_CHECK), "draws"):
        some = slice(start, start + DRAWS_PER_CHECK)
        train, labels, test = x[some, :size], y[some, :size], x[some, size:]
        scorer = WindowScorer.fit(train, labels, window)
        scores = scorer.new(test)
        found["none"].append(scores)
        found["dir"].append(_calibrated(Isotonic(between="nearest"), scorer.training, labels, scores))
        found["platt"].append(_calibrated(Platt(), scorer.training, labels, scores))
        found["isotonic"].append(_held_out(train, labels, test, window))
        both["simplified"].append(_simplified(scorer, scores))
        both["full"].append(_full(scorer, test))
    pairs_of = {
        method: (np.concatenate([p0 for p0, _ in parts]), np.concatenate([p1 for _, p1 in parts]))
        for method, parts in both.items()
    }
    p = {method: np.concatenate(parts) for method, parts in found.items() if parts}
    p |= {method: merge_pair(p0, p1) for method, (p0, p1) in pairs_of.items()}
    return SixMethods(
        size,
        y[:, size:],
        classes.posterior(x[:, size:]),
        {method: p[method] for method in SIX_METHODS},
        pairs_of,
    )


def _calibrated(calibrator: Isotonic | Platt, scores: Array, y: Array, new: Array) -> Array:
    """Fit one calibrator per draw; if it needs both classes and has one, predict the frequency of class 1."""
    p = np.empty_like(new)
    for row in range(len(new)):
        try:
            p[row] = calibrator.fit(scores[row], y[row]).predict(new[row])
        except InputError:
            p[row] = y[row].mean()
    return p


def _held_out(x: Array, y: Array, test: Array, window: float) -> Array:
    """Train the scorer on two thirds, and isotonic regression on the rest."""
    kept = 2 * x.shape[1] // 3
    scorer = WindowScorer.fit(x[:, :kept], y[:, :kept], window)
    return _calibrated(Isotonic(), scorer.new(x[:, kept:]), y[:, kept:], scorer.new(test))


def _simplified(scorer: WindowScorer, scores: Array) -> tuple[Array, Array]:
    m = scores.shape[1]
    extended = np.column_stack([np.repeat(scorer.training, m, axis=0), scores.ravel()])
    p0, p1 = venn_abers_pairs(extended, extended, np.repeat(scorer.y, m, axis=0))
    return p0.reshape(scores.shape), p1.reshape(scores.shape)


def _full(scorer: WindowScorer, test: Array) -> tuple[Array, Array]:
    many = scorer.repeated(test.shape[1])
    p0, p1 = venn_abers_pairs(many.with_object(test.ravel(), 0), many.with_object(test.ravel(), 1), many.y)
    return p0.reshape(test.shape), p1.reshape(test.shape)


CALIBRATOR_OF_METHOD = {"dir": "isotonic", "simplified": "venn_abers", "full": "venn_abers"}
OPEN = {"dir": ("diamond-open", "dot"), "simplified": ("star-open", "dash")}


def method_mark(method: str, theme: Theme) -> Mark:
    """Return the mark of one of SIX_METHODS: the calibrator's own, open if it reuses the training scores."""
    mark = theme.mark(CALIBRATOR_OF_METHOD.get(method, method))
    if method not in OPEN:
        return mark
    symbol, dash = OPEN[method]
    return replace(mark, symbol=symbol, dash=dash)

"""Simulated worlds whose every value is known: their objects, the forecasts of them, and test rows drawn from them.

A world is a large table of equally likely objects. Their true log-odds are normal with a standard deviation of 1.5,
shifted so that the mean of the true probabilities is the prevalence. The forecasts are these log-odds times a
steepness (1 for a calibrated model, 2 for an overconfident one), shifted so that their mean is right. Each object
counts as two weighted rows, of class 1 with the true probability and of class 0 with the rest: a metric of these is
the population's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtr, ndtri

from calib.kernel.base_rate import BaseRate, class_weights
from calib.kernel.binning import bin_index
from calib.metrics import METRICS

Array = np.ndarray
OBJECTS = 100_000
SPREAD = 1.5  # standard deviation of the true log-odds
CALIBRATED, OVERCONFIDENT = 1.0, 2.0
SHRUNK = 0.9  # factor by which a recalibration shrinks log-odds that are already right
SAME_OBJECT, SAME_LABEL = (
    0.3,
    0.2,
)  # correlations within a cluster: of the predictions, and of the remaining part


@dataclass(frozen=True, eq=False)
class World:
    """Objects with their true probabilities and three forecasts, arrays (N,).

    Attributes
    ----------
    mass
        Probability of each object; they sum to 1.
    truth
        Probability of class 1.
    forecasts
        "none": the model's; "platt": the same with other log-odds, which are right if the model is overconfident;
        "isotonic": the mean of the truth in three groups of equal size.
    """

    mass: Array
    truth: Array
    forecasts: dict[str, Array]
    _known: dict[tuple[str, str], float] = field(default_factory=dict)

    @property
    def share(self) -> float:
        return float(self.mass @ self.truth)

    def mean(self, loss: Callable[[Array, Array], Array], forecast: str = "none") -> float:
        """Return the expected loss of a row with label y and forecast p."""
        p, label = self.forecasts[forecast], np.zeros(len(self.truth), dtype=int)
        return float(self.mass @ (self.truth * loss(label + 1, p) + (1 - self.truth) * loss(label, p)))

    def value(self, metric: str, forecast: str = "none") -> float:
        """Return a metric of the whole world."""
        at = metric, forecast
        if at not in self._known:
            self._known[at] = self._value(metric, self.forecasts[forecast])
        return self._known[at]

    def _value(self, metric: str, p: Array) -> float:
        if metric == "debiased_ce":  # without end, there is no chance to take off
            index = bin_index(p, 20)
            gaps, mass = (np.bincount(index, self.mass * each, 20) for each in (self.truth - p, 1.0))
            return math.sqrt(float((gaps[mass > 0] ** 2 / mass[mass > 0]).sum()))
        labels = np.repeat([1, 0], len(p))
        weights = np.concatenate([self.mass * self.truth, self.mass * (1 - self.truth)])
        return float(METRICS[metric].function(labels, np.tile(p, 2), sample_weight=weights))

    def frequency(self, edges: Array) -> Array:
        """Return the frequency of class 1 in bins of the model's p; NaN in an empty bin."""
        order = np.argsort(self.forecasts["none"])
        below = np.searchsorted(self.forecasts["none"][order], edges[1:-1], side="left")
        sums = [
            np.diff(np.r_[0.0, np.append(0.0, np.cumsum(each[order]))[below], each.sum()])
            for each in (self.mass * self.truth, self.mass)
        ]
        with np.errstate(invalid="ignore"):
            return sums[0] / sums[1]

    def truth_at(self, p: Array) -> Array:
        """Return the frequency of class 1 at the model's prediction p."""
        said = logit(self.forecasts["none"])
        return expit(np.interp(logit(np.clip(p, 1e-9, 1 - 1e-9)), said, logit(self.truth)))


@cache
def moved_to(of: World, stated: float) -> World:
    """Return the world at this base rate of class 1, with all probabilities adjusted to it."""
    rate = BaseRate(of.share, stated)
    ones, zeros = stated / of.share, (1 - stated) / (1 - of.share)
    mass = of.mass * (of.truth * ones + (1 - of.truth) * zeros)
    return World(mass, rate.adjust(of.truth), {key: rate.adjust(p) for key, p in of.forecasts.items()})


def _moved(log_odds: Array, mean: float) -> Array:
    """Return probabilities of these log-odds plus a constant, such that their mean is ``mean``."""
    return expit(log_odds + brentq(lambda a: expit(log_odds + a).mean() - mean, -30, 30))


@cache
def world(prevalence: float, steepness: float) -> World:
    normal = ndtri((np.arange(OBJECTS) + 0.5) / OBJECTS)
    truth = _moved(SPREAD * normal, prevalence)
    printed = _moved(steepness * logit(truth), prevalence)
    other = truth if steepness != 1 else _moved(SHRUNK * logit(truth), prevalence)
    third = np.arange(OBJECTS) * 3 // OBJECTS
    coarse = (np.bincount(third, truth) / np.bincount(third))[third]
    mass = np.full(OBJECTS, 1 / OBJECTS)
    return World(mass, truth, {"none": printed, "platt": other, "isotonic": coarse})


@dataclass(frozen=True, eq=False)
class Drawn:
    """Test rows, and the world with the true values of their intervals.

    Attributes
    ----------
    world
        World at the deployment base rate, if there is one.
    forecasts
        Forecasts of the world, (n,) each.
    weight, cluster : (n,)
        Or None.
    rng
        Generator for further draws.
    again
        Draws as many rows of the same kind.
    """

    world: World
    y: Array
    truth: Array
    forecasts: dict[str, Array]
    weight: Array | None
    cluster: Array | None
    rng: np.random.Generator
    again: Callable[[], Drawn]

    @property
    def p(self) -> Array:
        return self.forecasts["none"]


def draw(
    of: World,
    n: int,
    rng: np.random.Generator,
    *,
    clusters: int | None = None,
    unequal: float = 0.0,
    weighted: bool = False,
    stated: float | None = None,
) -> Drawn:
    """Draw test rows of a world.

    Parameters
    ----------
    clusters
        Number of clusters; both predictions and residuals are correlated within a cluster.
    unequal
        Standard deviation of the logarithm of their sizes; those without a row are not there.
    weighted
        Whether the rows have weights of 1 to 9, independent of their labels.
    stated
        Base rate that weights adjust the rows to.
    """
    object_, label, whose = rng.normal(size=n), rng.normal(size=n), None
    if clusters is not None:
        sizes = rng.lognormal(0, unequal, clusters)
        whose = rng.choice(clusters, n, p=sizes / sizes.sum()) if unequal else np.arange(n) % clusters
        for own, same in ((object_, SAME_OBJECT), (label, SAME_LABEL)):
            own *= math.sqrt(1 - same)
            own += math.sqrt(same) * rng.normal(size=clusters)[whose]
    index = np.minimum((ndtr(object_) * OBJECTS).astype(int), OBJECTS - 1)
    y = (ndtr(label) < of.truth[index]).astype(int)
    known, weight = of, None
    if weighted:
        weight = rng.choice([1.0, 3.0, 9.0], size=n) / 3.7
    if stated is not None and 0 < y.sum() < n:
        known, weight = moved_to(of, stated), class_weights(y, stated)
    return Drawn(
        known,
        y,
        known.truth[index],
        {key: p[index] for key, p in known.forecasts.items()},
        weight,
        whose,
        rng,
        lambda: draw(of, n, rng, clusters=clusters, unequal=unequal, weighted=weighted, stated=stated),
    )

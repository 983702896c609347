"""Calibration and grouping loss on two Gaussians: what a tree or forest says, the groups it makes, and what they cost.

Shaker and Hüllermeier (2025), eq. 7, Figure 1 and appendix C.1; Kull and Flach (2015). The losses are means over TESTS
new objects with their known posteriors π, so that no label adds noise; groups are the objects with the same prediction,
and where hardly any two coincide, as in most forests, quantile bins of the prediction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import rel_entr

from calib.binning import edge_index, group_sums, quantile_edges
from calib.checks import Array
from calib.learn import EXPERIMENTS
from calib.learn.cl_gl import AGAINST
from calib.metrics import loss_decomposition
from calib.metrics.decomposition import LOSSES, LossDecomposition
from calib.models import ProbabilityForest, ProbabilityTree
from calib.progress import Watch
from calib.synthetic import GaussianPair

TESTS = 10_000
MOST_EXACT = 200  # different predictions that are still groups of their own; beyond, quantile bins
FOREST_GROUPS = 20
GRID = 72  # cells along each axis of the heat map
NO_GROUP = -1


@dataclass(frozen=True, eq=False)
class Plane:
    """Two Gaussian classes with training and test objects, and a grid over them.

    X (n, 2), y (n,) : training objects · test (m, 2), posterior (m,) : test objects with π
    x1, x2 (g,) : the grid's coordinates · grid (g · g, 2), x1 fastest · grid_posterior (g · g,)
    """

    X: Array
    y: Array
    test: Array
    posterior: Array
    x1: Array
    x2: Array
    grid: Array
    grid_posterior: Array


def draw_plane(covariances: str, n: int, random_state: int) -> Plane:
    """The pair, its test objects and grid depend on the seed alone; more training objects keep those of fewer."""
    streams = np.random.SeedSequence(random_state).spawn(3)
    pair = GaussianPair.variant(covariances, 2, np.random.default_rng(streams[0]))
    most = max(next(p for p in EXPERIMENTS["cl_gl"].parameters if p.name == "n").choices)
    train = pair.sample(most, np.random.default_rng(streams[1]))
    test = pair.sample(TESTS, np.random.default_rng(streams[2]))
    X, T = train.X.to_numpy()[:n], test.X.to_numpy()
    low, high = np.quantile(T, (0.005, 0.995), axis=0)
    x1, x2 = (np.linspace(low[i], high[i], GRID) for i in (0, 1))
    grid = np.column_stack([a.ravel() for a in np.meshgrid(x1, x2)])
    return Plane(X, train.y[:n], T, pair.posterior(T), x1, x2, grid, pair.posterior(grid))


@dataclass(frozen=True, eq=False)
class Point:
    """One model on one plane.

    p (m,), grid_p (g · g,) : its predictions · leaves : mean number a tree · trees : their number
    binned : the number of quantile bins, None where groups are identical predictions
    losses : "brier" and "log" decomposed
    """

    plane: Plane
    p: Array
    grid_p: Array
    leaves: float
    trees: int
    binned: int | None
    losses: dict[str, LossDecomposition]


def one_point(
    random_state: int,
    covariances: str,
    n: int,
    model: str,
    trees: int,
    depth: int | None,
    leaves: int | None,
    leaf: str,
) -> Point:
    """Fit and judge one model; a pure function of numbers and words, so that it can be remembered."""
    plane = draw_plane(covariances, n, random_state)
    shape: dict[str, Any] = {
        "max_depth": depth,
        "max_leaf_nodes": leaves,
        "leaf": leaf,
        "random_state": random_state,
    }
    if model == "tree":
        fitted: Any = ProbabilityTree(**shape).fit(plane.X, plane.y)
        count = float(fitted.get_n_leaves())
    else:
        fitted = ProbabilityForest(trees, **shape).fit(plane.X, plane.y)
        count = float(np.mean([tree.get_n_leaves() for tree in fitted.estimators_]))
    p, grid_p = (fitted.predict_proba(at)[:, 1] for at in (plane.test, plane.grid))
    groups = None if len(np.unique(p)) <= MOST_EXACT else FOREST_GROUPS
    losses = {loss: loss_decomposition(plane.posterior, p, loss, groups=groups, corrected=False) for loss in LOSSES}
    return Point(plane, p, grid_p, count, trees if model == "forest" else 1, groups, losses)


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of one model.

    table : one row a group: p (its prediction), posterior (mean π), share (of the objects), and for both losses its
    contribution to CL and GL, "calibration_brier", …; they add up to the decomposition
    grid_group : int (g · g,), the group of each cell, NO_GROUP where no test object has its prediction
    """

    point: Point
    table: pd.DataFrame
    grid_group: Array

    @property
    def plane(self) -> Plane:
        return self.point.plane


def expected_loss(posterior: Array, p: Array, loss: str) -> float:
    """Mean of π ℓ(p, 1) + (1 − π) ℓ(p, 0): what the decomposition must add up to.

    >>> expected_loss(np.array([0.5]), np.array([1.0]), "brier")
    0.5
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if loss == "brier":
            one, zero = (1 - p) ** 2, p**2
        else:
            one, zero = -np.log(p), -np.log1p(-p)
        terms = np.where(posterior > 0, posterior * one, 0) + np.where(posterior < 1, (1 - posterior) * zero, 0)
    return float(terms.mean())


def groups_of(point: Point) -> Groups:
    """The groups of a model with what each contributes."""
    if point.binned is None:
        values, index = np.unique(point.p, return_inverse=True)
        place = np.minimum(np.searchsorted(values, point.grid_p), len(values) - 1)
        grid_group = np.where(values[place] == point.grid_p, place, NO_GROUP)
    else:
        edges = quantile_edges(point.p, point.binned)
        used, index = np.unique(edge_index(point.p, edges), return_inverse=True)
        number = np.full(len(edges) - 1, NO_GROUP)
        number[used] = np.arange(len(used))
        grid_group = number[edge_index(point.grid_p, edges)]
    posterior, k, m = point.plane.posterior, int(index.max()) + 1, len(point.p)
    count = group_sums(index, k)
    c, p = (group_sums(index, k, values) / count for values in (posterior, point.p))
    if point.binned is None:
        p = values
    at, share = c[index], count / m
    c0 = group_sums(index, k, 1 - posterior) / count
    terms = {
        "calibration_brier": share * (p - c) ** 2,
        "grouping_brier": group_sums(index, k, (at - posterior) ** 2) / m,
        "calibration_log": share * (rel_entr(c, p) + rel_entr(c0, 1 - p)),
        "grouping_log": group_sums(index, k, rel_entr(posterior, at) + rel_entr(1 - posterior, c0[index])) / m,
    }
    return Groups(point, pd.DataFrame({"p": p, "posterior": c, "share": share} | terms), grid_group)


def one_model(
    *, random_state: int, watch: Watch | None = None, point: Callable[..., Point] = one_point, **settings
) -> Groups:
    """One model on two Gaussians and its groups.

    settings : of EXPERIMENTS["cl_gl"] · point : ``one_point``, or something that remembers what it returned
    """
    values = EXPERIMENTS["cl_gl"].numbers(EXPERIMENTS["cl_gl"].check(settings))
    (watch or Watch()).step(0.0, "fitting")
    return groups_of(point(random_state, **values))


@dataclass(frozen=True, eq=False)
class Sweep:
    """The decompositions along one setting. values : (k,) of it · points : as many"""

    against: str
    values: tuple[Any, ...]
    points: tuple[Point, ...]


def sweep(
    *,
    random_state: int,
    against: str = "depth",
    watch: Watch | None = None,
    point: Callable[..., Point] = one_point,
    **settings,
) -> Sweep:
    """The same with one setting run through all its values; the setting's own value has no say.

    Tree and trees: along ``trees`` the model is a forest.
    """
    experiment = EXPERIMENTS["cl_gl"]
    values = experiment.numbers(experiment.check({**settings, "against": against}))
    run = next(p.choices for p in experiment.parameters if p.name == against)
    if against == "trees":
        values["model"] = "forest"
    found = [
        point(random_state, **(values | {against: value})) for value in (watch or Watch()).loop(run, AGAINST[against])
    ]
    return Sweep(against, run, tuple(found))

"""Calibration and grouping loss on two Gaussians: predictions of a tree or forest, its groups, and their losses.

Shaker and Hüllermeier (2025), eq. 7, Figure 1 and appendix C.1; Kull and Flach (2015). The losses are means
over TESTS new rows with known true probabilities π, so that no label adds noise. Groups are rows with equal
predictions, or quantile bins if most predictions differ, as in most forests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import rel_entr

from calib.experiments.shared.gaussian_plane import DEPTH, LEAF, TRAINING_ROWS, Plane, draw_plane, groups_for
from calib.kernel.binning import edge_index, group_sums, quantile_edges
from calib.kernel.checks import Array
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter
from calib.metrics import loss_decomposition
from calib.metrics.decomposition import DECOMPOSED_LOSSES, LossDecomposition

AGAINST = {
    "depth": "Depth",
    "leaves": "Leaves",
    "trees": "Trees",
    "n": "Training rows",
    "leaf": "Leaf estimate",
}
LEAF_COUNT = Parameter(
    "leaves",
    "Leaves",
    "choice",
    None,
    choices=(2, 3, 4, 6, 8, 12, 16, 32, 64, 128, None),
    help="Maximum number of leaves per tree.",
)
TREES_OF_MODEL = Parameter(
    "trees", "Trees", "choice", 100, choices=(1, 2, 5, 10, 20, 50, 100), help="Number of trees in the forest."
)
SWEPT = {setting.name: setting for setting in (DEPTH, LEAF_COUNT, TREES_OF_MODEL, TRAINING_ROWS, LEAF)}
NO_GROUP = -1


@dataclass(frozen=True, eq=False)
class OneModel:
    """One model on one plane.

    Attributes
    ----------
    p : (m,)
        Predictions for the test rows.
    grid_p : (g · g,)
        Predictions on the grid.
    leaves
        Mean number of leaves per tree.
    trees
        Number of trees.
    binned
        Number of quantile bins; None if groups are equal predictions.
    losses
        Decompositions of "brier" and "log".
    leaf_grouping
        GL of the Brier score if each leaf were a group, for a single tree; else None.
    """

    plane: Plane
    p: Array
    grid_p: Array
    leaves: float
    trees: int
    binned: int | None
    losses: dict[str, LossDecomposition]
    leaf_grouping: float | None


def one_point(
    random_state: int,
    covariances: str,
    n: int,
    model: str,
    trees: int,
    depth: int | None,
    leaves: int | None,
    leaf: str,
) -> OneModel:
    """Fit and evaluate one model; a pure function of numbers and strings, so that it can be cached."""
    plane = draw_plane(covariances, n, random_state)
    fitted = plane.fit(
        model, trees, max_depth=depth, max_leaf_nodes=leaves, leaf=leaf, random_state=random_state
    )
    members = getattr(fitted, "estimators_", [fitted])
    count = float(np.mean([tree.get_n_leaves() for tree in members]))
    p, grid_p = (fitted.predict_proba(at)[:, 1] for at in (plane.test, plane.grid))
    groups = groups_for(p)
    losses = {
        loss: loss_decomposition(plane.posterior, p, loss, groups=groups, corrected=False)
        for loss in DECOMPOSED_LOSSES
    }
    by_leaf = _leaf_grouping(fitted.apply(plane.test), plane.posterior) if model == "tree" else None
    return OneModel(plane, p, grid_p, count, len(members), groups, losses, by_leaf)


def _leaf_grouping(leaf: Array, posterior: Array) -> float:
    """Compute the mean squared distance of π to its mean in the leaf."""
    count = np.maximum(np.bincount(leaf), 1)
    means = np.bincount(leaf, posterior) / count
    return float(((posterior - means[leaf]) ** 2).mean())


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of one model.

    Attributes
    ----------
    table
        One row per group: p (its prediction), posterior (mean π), share (of the rows), and for both losses its
        contribution to CL and GL, "calibration_brier", …; contributions add up to the decomposition.
    grid_group : int (g · g,)
        Group of each cell; NO_GROUP if no test row has its prediction.
    """

    point: OneModel
    table: pd.DataFrame
    grid_group: Array

    @property
    def plane(self) -> Plane:
        return self.point.plane


def groups_of(point: OneModel) -> Groups:
    """Compute the groups of a model with their contributions to the losses."""
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
        "grouping_log": group_sums(index, k, rel_entr(posterior, at) + rel_entr(1 - posterior, c0[index]))
        / m,
    }
    return Groups(point, pd.DataFrame({"p": p, "posterior": c, "share": share} | terms), grid_group)


def one_model(
    settings: Mapping[str, Any], random_state: int, watch: Watch, point: Callable[..., OneModel] = one_point
) -> Groups:
    """Fit one model on two Gaussians, and compute its groups.

    Parameters
    ----------
    settings
        Settings of ``one_point``.
    point
        ``one_point``, or a cached version of it.
    """
    watch.step(0.0, "fitting")
    return groups_of(point(random_state, **settings))


@dataclass(frozen=True, eq=False)
class Sweep:
    """Decompositions along one setting.

    Attributes
    ----------
    values : (k,)
        Values of the setting.
    points
        One point per value.
    own
        Value chosen on the page.
    """

    against: str
    values: tuple[Any, ...]
    points: tuple[OneModel, ...]
    own: Any


def sweep_setting(
    settings: Mapping[str, Any], random_state: int, watch: Watch, point: Callable[..., OneModel] = one_point
) -> Sweep:
    """Evaluate the model for all values of the setting that ``against`` names; the chosen value is only recorded.

    Along ``trees`` the model is always a forest.
    """
    values = dict(settings)
    against = values.pop("against")
    own, run = values[against], tuple(SWEPT[against].offered())
    if against == "trees":
        values["model"] = "forest"
    found = [
        point(random_state, **(values | {against: value})) for value in watch.loop(run, AGAINST[against])
    ]
    return Sweep(against, run, tuple(found), own)

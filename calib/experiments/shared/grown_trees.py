"""Trees and forests of any depth, number and leaf estimate; each tree is grown once.

Shaker and Hüllermeier (2025), section 5.1, appendices A.4, C.1 and C.2, Figures 3 and 8. Leaf estimates change only the
prediction of a leaf, and the first k trees of a forest are the forest of k trees with the same seed. Neither needs
another fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calib.experiments.shared.gaussian_plane import Plane, draw_plane
from calib.experiments.shared.prediction_errors import PredictionErrors
from calib.kernel.checks import Array
from calib.models.leaves import node_probabilities

STOCKS = (20, 100, 500)
"""Sizes of the forests that are grown; a smaller forest is the first trees of the next larger one."""
TREE_MODELS = ("tree", "forest")


@dataclass(frozen=True, eq=False)
class Grown:
    """Trees on a plane: their scikit-learn ``tree_`` objects, and the leaf of every test row, (T, m)."""

    plane: Plane
    trees: Sequence[Any]
    leaf: Array

    def first(self, trees: int) -> Grown:
        """Return the first trees, which form the forest of this size with the same seed."""
        return Grown(self.plane, self.trees[:trees], self.leaf[:trees])

    def votes(self, leaf: str = "frequency", curtail: int = 0) -> list[Array]:
        """Return the predictions of each tree for the test rows, (m,) each."""
        return [
            node_probabilities(tree, leaf, curtail).take(at)
            for tree, at in zip(self.trees, self.leaf, strict=True)
        ]

    def p(self, leaf: str = "frequency", curtail: int = 0) -> Array:
        """Return the mean prediction of the trees, (m,)."""
        return np.asarray(sum(self.votes(leaf, curtail))) / len(self.trees)

    def leaf_means(self) -> Array:
        """Return the mean true probability in the leaf of each test row, for a single tree, (m,)."""
        (at,) = self.leaf
        count = np.bincount(at)
        return (np.bincount(at, self.plane.posterior) / np.maximum(count, 1))[at]


def grow(random_state: int, covariances: str, n: int, model: str, depth: int | None, trees: int) -> Grown:
    """Grow a "tree", or a "forest" of ``trees``; a pure function of numbers and strings, so that it can be cached."""
    plane = draw_plane(covariances, n, random_state)
    fitted = plane.fit(model, trees, max_depth=depth, random_state=random_state)
    grown = [member.tree_ for member in getattr(fitted, "estimators_", [fitted])]
    X = plane.test.astype(np.float32)
    return Grown(plane, grown, np.array([tree.apply(X) for tree in grown], dtype=np.int16))


Grow = Callable[..., Grown]


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Models on the same data, one per panel.

    Attributes
    ----------
    columns
        Number of panels side by side.
    settings
        Settings of the models.
    """

    shown: tuple[PredictionErrors, ...]
    columns: int
    settings: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class SettingCurve:
    """Quantities along one setting.

    Attributes
    ----------
    values : (k,)
        Values of the setting.
    curves
        Model → quantity → (k,).
    own
        Value chosen on the page.
    settings
        Settings of the models.
    """

    values: tuple[Any, ...]
    curves: Mapping[str, Mapping[str, Array]]
    own: Any
    settings: Mapping[str, Any]


def grown_for(settings: Mapping[str, Any], random_state: int, grow: Grow, **own: Any) -> Grown:
    """Return the trees for these settings, which are the first trees of the forest that is grown once."""
    given = {**settings, **own}
    kind = given["covariances"], given["n"], given["model"], given["depth"]
    if given["model"] == "tree":
        return grow(random_state, *kind, 1)
    stock = next(stock for stock in STOCKS if given["trees"] <= stock)
    return grow(random_state, *kind, stock).first(given["trees"])


def columns(rows: Sequence[Mapping[str, float]]) -> dict[str, Array]:
    """Transpose a list of records into arrays by name, (k,) each."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}

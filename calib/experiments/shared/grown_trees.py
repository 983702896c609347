"""Trees and forests of any depth, number and leaf estimate against the truth; a tree is grown once for all of them.

Shaker and Hüllermeier (2025), section 5.1, appendices A.4, C.1 and C.2, Figures 3 and 8. Leaf estimates only
change what is read off a leaf, and the first k trees of a forest are the forest of k trees with the same
seed: so neither costs another fit.
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
"""Trees of the forests that are grown: whoever asks for fewer has the first of the next larger one."""
MODELS = ("tree", "forest")


@dataclass(frozen=True, eq=False)
class Grown:
    """Trees on a plane: each one's ``tree_`` of scikit-learn, and the leaf of every test object in it, (T, m)."""

    plane: Plane
    trees: Sequence[Any]
    leaf: Array

    def first(self, trees: int) -> Grown:
        """The first of the trees: with the same seed, those of a forest of so many."""
        return Grown(self.plane, self.trees[:trees], self.leaf[:trees])

    def votes(self, leaf: str = "frequency", curtail: int = 0) -> list[Array]:
        """What each tree says of the test objects, (m,) each."""
        return [
            node_probabilities(tree, leaf, curtail).take(at)
            for tree, at in zip(self.trees, self.leaf, strict=True)
        ]

    def p(self, leaf: str = "frequency", curtail: int = 0) -> Array:
        """Their mean, (m,)."""
        return np.asarray(sum(self.votes(leaf, curtail))) / len(self.trees)

    def leaf_means(self) -> Array:
        """Mean posterior of the leaf that each test object is in, for a single tree, (m,)."""
        (at,) = self.leaf
        count = np.bincount(at)
        return (np.bincount(at, self.plane.posterior) / np.maximum(count, 1))[at]


def grow(random_state: int, covariances: str, n: int, model: str, depth: int | None, trees: int) -> Grown:
    """A "tree", or a "forest" of so many; a pure function of numbers and words, so that it can be remembered."""
    plane = draw_plane(covariances, n, random_state)
    fitted = plane.fit(model, trees, max_depth=depth, random_state=random_state)
    grown = [member.tree_ for member in getattr(fitted, "estimators_", [fitted])]
    X = plane.test.astype(np.float32)
    return Grown(plane, grown, np.array([tree.apply(X) for tree in grown], dtype=np.int16))


Grow = Callable[..., Grown]


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Models on the same data, one a panel.

    Attributes
    ----------
    columns
        Panels side by side.
    settings
        What the models were made with.
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
        Those of the setting.
    curves
        Model → quantity → (k,).
    own
        The value that is chosen on the page.
    settings
        All that the models were made with.
    """

    values: tuple[Any, ...]
    curves: Mapping[str, Mapping[str, Array]]
    own: Any
    settings: Mapping[str, Any]


def grown_for(settings: Mapping[str, Any], random_state: int, grow: Grow, **own: Any) -> Grown:
    """The trees that these settings ask for, as the first of those that are grown once for all numbers of them."""
    given = {**settings, **own}
    kind = given["covariances"], given["n"], given["model"], given["depth"]
    if given["model"] == "tree":
        return grow(random_state, *kind, 1)
    stock = next(stock for stock in STOCKS if given["trees"] <= stock)
    return grow(random_state, *kind, stock).first(given["trees"])


def columns(rows: Sequence[Mapping[str, float]]) -> dict[str, Array]:
    """The same numbers by name instead of by row, (k,) each."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}

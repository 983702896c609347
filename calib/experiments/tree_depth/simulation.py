"""Trees and forests of any depth, number and leaf estimate against the truth; a tree is grown once for all of them.

Shaker and Hüllermeier (2025), section 5.1, appendices A.4, C.1 and C.2, Figures 3 and 8. Leaf estimates only change
what is read off a leaf, and the first k trees of a forest are the forest of k trees with the same seed: so neither
costs another fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calib.kernel.checks import Array
from calib.kernel.progress import Watch
from calib.learn import EXPERIMENTS
from calib.learn.plane import DEPTH
from calib.learn.tree_depth import COUNTS, DEPTHS, MOST_TREES, USUAL_TREES
from calib.metrics import true_calibration_error
from calib.models.leaves import node_probabilities
from calib.simulations.judged import Judged
from calib.simulations.plane import Plane, draw_plane

AT_COUNTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500)
AT_THRESHOLDS = (0, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500)
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
            node_probabilities(tree, leaf, curtail).take(at) for tree, at in zip(self.trees, self.leaf, strict=True)
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
    """Models on the same data, one a panel in so many columns · settings : what they were made with"""

    shown: tuple[Judged, ...]
    columns: int
    settings: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Along:
    """Quantities along one setting. values (k,) of it · curves : model → quantity → (k,)

    own : the setting's own value · settings : all that they were made with
    """

    values: tuple[Any, ...]
    curves: Mapping[str, Mapping[str, Array]]
    own: Any
    settings: Mapping[str, Any]


def _checked(key: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    experiment = EXPERIMENTS[key]
    return experiment.numbers(experiment.check(settings))


def _grown(grow: Grow, random_state: int, values: Mapping[str, Any], **own: Any) -> Grown:
    """The trees that these settings ask for, as the first of those that are grown once for all numbers of them."""
    given = {**values, **own}
    kind = given["covariances"], given["n"], given["model"], given["depth"]
    if given["model"] == "tree":
        return grow(random_state, *kind, 1)
    stock = USUAL_TREES if given["trees"] <= USUAL_TREES else MOST_TREES
    return grow(random_state, *kind, stock).first(given["trees"])


def at_depths(*, random_state: int, watch: Watch | None = None, grow: Grow = grow, **settings) -> SideBySide:
    """The model at depths 2, 4 and 8 and at the reader's own.

    settings : of EXPERIMENTS["tree_depth"] · grow : ``grow``, or something that remembers what it returned
    """
    values = _checked("tree_depth", settings)
    depths = sorted({*DEPTHS, values["depth"]}, key=DEPTH.choices.index)
    shown = []
    for depth in (watch or Watch()).loop(depths, "depths"):
        grown = _grown(grow, random_state, values, depth=depth)
        name = "No limit" if depth is None else f"Depth {depth}"
        shown.append(Judged(name, grown.plane.posterior, grown.p(values["leaf"], values["curtail"])))
    return SideBySide(tuple(shown), len(shown), values)


def along_depth(*, random_state: int, watch: Watch | None = None, grow: Grow = grow, **settings) -> Along:
    """TCE, CL and GL of a tree and of a forest for every depth; ``model`` has no say, ``depth`` is only noted.

    A tree's are given for groups of equal predictions and, as ``leaf_calibration`` and ``leaf_grouping``, for its
    leaves: p is one number in either, so that both pairs add up to TCE.
    """
    values = _checked("tree_depth", settings)
    rows: dict[str, list[dict[str, float]]] = {model: [] for model in MODELS}
    for depth in (watch or Watch()).loop(DEPTH.choices, "depths"):
        for model in MODELS:
            grown = _grown(grow, random_state, values, model=model, depth=depth)
            judged = Judged(model, grown.plane.posterior, grown.p(values["leaf"], values["curtail"]))
            row = {"tce": judged.tce, "calibration": judged.losses.calibration, "grouping": judged.losses.grouping}
            if model == "tree":
                means = grown.leaf_means()
                row["leaf_calibration"] = float(((judged.p - means) ** 2).mean())
                row["leaf_grouping"] = float(((means - judged.posterior) ** 2).mean())
            rows[model].append(row)
    return Along(DEPTH.choices, {model: _columns(found) for model, found in rows.items()}, values["depth"], values)


def at_counts(*, random_state: int, watch: Watch | None = None, grow: Grow = grow, **settings) -> SideBySide:
    """The first 5, 50 and 500 trees of one forest, and the reader's own number of them.

    settings : of EXPERIMENTS["tree_count"]
    """
    values = _checked("tree_count", settings)
    (watch or Watch()).step(0.0, "trees")
    grown = _grown(grow, random_state, values, model="forest", trees=MOST_TREES)
    shown = tuple(
        Judged(f"{k:,} tree{'s' * (k > 1)}", grown.plane.posterior, grown.first(k).p(values["leaf"]))
        for k in sorted({*COUNTS, values["trees"]})
    )
    return SideBySide(shown, len(shown), values)


def along_count(*, random_state: int, watch: Watch | None = None, grow: Grow = grow, **settings) -> Along:
    """TCE, bias and scatter of the first k trees, and TCE of one tree on average, over all; ``trees`` is only noted."""
    values = _checked("tree_count", settings)
    (watch or Watch()).step(0.0, "trees")
    grown = _grown(grow, random_state, values, model="forest", trees=MOST_TREES)
    votes, posterior = grown.votes(values["leaf"]), grown.plane.posterior
    total, rows = np.zeros_like(posterior), []
    for k, vote in enumerate(votes, start=1):
        total += vote
        if k in AT_COUNTS:
            judged = Judged("", posterior, total / k)
            rows.append({"tce": judged.tce, "bias": judged.bias, "scatter": judged.scatter})
    alone = float(np.mean([true_calibration_error(posterior, vote) for vote in votes]))
    curve = _columns(rows) | {"alone": np.full(len(rows), alone)}
    return Along(AT_COUNTS, {"forest": curve}, values["trees"], values)


LEAVES = ("frequency", "laplace", "curtailed")


def with_leaves(*, random_state: int, watch: Watch | None = None, grow: Grow = grow, **settings) -> SideBySide:
    """A tree and a forest, each with frequencies, with Laplace's estimate, and curtailed.

    settings : of EXPERIMENTS["leaf_estimates"]
    """
    values = _checked("leaf_estimates", settings)
    shown = []
    for model in (watch or Watch()).loop(MODELS, "models"):
        grown = _grown(grow, random_state, values, model=model)
        who = "One tree" if model == "tree" else f"{values['trees']} trees"
        for name, leaf, curtail in (
            ("frequency", "frequency", 0),
            ("Laplace", "laplace", 0),
            (f"curtailed below {values['curtail']}", "frequency", values["curtail"]),
        ):
            shown.append(Judged(f"{who}, {name}", grown.plane.posterior, grown.p(leaf, curtail)))
    return SideBySide(tuple(shown), len(LEAVES), values)


def along_threshold(*, random_state: int, watch: Watch | None = None, grow: Grow = grow, **settings) -> Along:
    """TCE of a tree and of a forest for every threshold of curtailment, with either estimate."""
    values = _checked("leaf_estimates", settings)
    curves = {}
    for model in (watch or Watch()).loop(MODELS, "models"):
        grown = _grown(grow, random_state, values, model=model)
        curves[model] = {
            leaf: np.array([true_calibration_error(grown.plane.posterior, grown.p(leaf, v)) for v in AT_THRESHOLDS])
            for leaf in ("frequency", "laplace")
        }
    return Along(AT_THRESHOLDS, curves, values["curtail"], values)


def _columns(rows: Sequence[Mapping[str, float]]) -> dict[str, Array]:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}

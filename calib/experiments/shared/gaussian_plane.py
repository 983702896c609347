"""Two Gaussian classes in the plane with known probabilities: settings, rows, trees and forests, and their errors.

Shaker and Hüllermeier (2025), section 5.1, appendices A.4, C.1 and C.2, Figures 3 and 8. Errors and losses are means
over TEST_ROWS new rows with true probabilities π, so that no label adds noise. True calibration error (eq. 4): in bins
of π, the mean of p − π is the bias there and its variance the scatter, so that TCE = bias² + scatter exactly.

Each tree is grown once: leaf estimates change only the prediction of a leaf, and the first k trees of a forest are the
forest of k trees with the same seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from calib.analysis.depth import FOREST_GROUPS
from calib.experiments.base import view_of
from calib.kernel.binning import bin_index, group_sums
from calib.kernel.checks import Array
from calib.kernel.records import Parameter
from calib.metrics import loss_decomposition, true_calibration_error
from calib.metrics.decomposition import LossDecomposition
from calib.models import ProbabilityForest, ProbabilityTree
from calib.models.leaves import node_probabilities
from calib.synthetic import GaussianPair

RF_PAPER = "Shaker and Hüllermeier, Random forest calibration (2025)"

LEAF_NAMES = {"frequency": "Frequency", "laplace": "Laplace"}

DEPTH = Parameter(
    "depth",
    "Depth",
    "choice",
    None,
    choices=(1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, None),
    help="Maximum number of splits from the root to a leaf.",
)
LEAF = Parameter(
    "leaf",
    "Leaf estimate",
    "choice",
    "frequency",
    choices=LEAF_NAMES,
    help="A leaf predicts its share of class 1, or Laplace's estimate (n1 + 1)/(n + 2).",
)
TRAINING_ROWS = Parameter(
    "n",
    "Training rows",
    "choice",
    1000,
    choices=(50, 100, 200, 500, 1000, 2000),
    help="Number of training rows, about half in each class. A larger sample contains all rows of a smaller "
    "sample.",
)
COVARIANCES_OF_CLASSES = Parameter(
    "covariances",
    "Covariances",
    "choice",
    "separate",
    choices={"equal": "Equal", "separate": "As printed", "unequal": "Unequal"},
    help="Covariances: drawn once for both classes, drawn per class (as in the paper), or very unequal.",
)
TREES_OF_FOREST = Parameter(
    "trees", "Trees", "choice", 100, choices=(2, 5, 10, 20, 50, 100), help="Number of trees in the forest."
)
CURTAIL = Parameter(
    "curtail",
    "Curtail below",
    "choice",
    0,
    choices=(0, 2, 5, 10, 20, 30, 50, 100, 200),
    help="A leaf with fewer training rows takes the frequencies of its first ancestor with enough rows.",
)


def cloud(figure: str) -> Parameter:
    """Return the setting that chooses how this figure draws test rows."""
    return Parameter(
        "cloud",
        "Draw",
        "choice",
        "points",
        choices={"points": "Points", "density": "Density"},
        help="Show some of the test rows as points, or all of them as a density.",
        extra=view_of(figure),
    )


TEST_ROWS = 10_000
CELLS_OF_PLANE = 72  # cells along each axis of a heat map
MOST_EXACT = 200  # most different predictions that form groups; beyond, quantile bins


@dataclass(frozen=True, eq=False)
class Plane:
    """Two Gaussian classes with training and test rows, and a grid over them.

    Attributes
    ----------
    X : (n, 2)
    y : (n,)
        Labels of the training rows.
    test : (m, 2)
    posterior : (m,)
        π of the test rows.
    x1, x2 : (g,)
        The grid's coordinates.
    grid : (g · g, 2)
        x1 fastest.
    grid_posterior : (g · g,)
        π on the grid.
    """

    X: Array
    y: Array
    test: Array
    posterior: Array
    x1: Array
    x2: Array
    grid: Array
    grid_posterior: Array

    def fit(self, model: str, trees: int, **settings) -> Any:
        """Grow a "tree", or a "forest" of ``trees``, on the training rows."""
        unfitted = ProbabilityTree(**settings) if model == "tree" else ProbabilityForest(trees, **settings)
        return unfitted.fit(self.X, self.y)


@lru_cache(maxsize=16)
def draw_plane(covariances: str, n: int, random_state: int) -> Plane:
    """Draw a plane; the pair, its test rows and grid depend on the seed alone, and more training rows keep fewer.

    Models share a plane, so its arrays are read-only.
    """
    streams = np.random.SeedSequence(random_state).spawn(3)
    pair = GaussianPair.variant(covariances, 2, np.random.default_rng(streams[0]))
    train = pair.sample(max(TRAINING_ROWS.choices), np.random.default_rng(streams[1]))
    test = pair.sample(TEST_ROWS, np.random.default_rng(streams[2]))
    X, T = train.X.to_numpy()[:n], test.X.to_numpy()
    low, high = np.quantile(T, (0.005, 0.995), axis=0)
    x1, x2 = (np.linspace(low[i], high[i], CELLS_OF_PLANE) for i in (0, 1))
    grid = np.column_stack([a.ravel() for a in np.meshgrid(x1, x2)])
    arrays = (X, train.y[:n], T, pair.posterior(T), x1, x2, grid, pair.posterior(grid))
    for array in arrays:
        array.setflags(write=False)
    return Plane(*arrays)


def groups_for(p: Array) -> int | None:
    """Return the ``groups`` of ``loss_decomposition``: distinct predictions, or quantile bins if there are many."""
    return None if len(np.unique(p)) <= MOST_EXACT else FOREST_GROUPS


def expected_loss(posterior: Array, p: Array, loss: str) -> float:
    """Compute the mean of π ℓ(p, 1) + (1 − π) ℓ(p, 0), the sum of the decomposition.

    >>> expected_loss(np.array([0.5]), np.array([1.0]), "brier")
    0.5
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if loss == "brier":
            one, zero = (1 - p) ** 2, p**2
        else:
            one, zero = -np.log(p), -np.log1p(-p)
        terms = np.where(posterior > 0, posterior * one, 0) + np.where(
            posterior < 1, (1 - posterior) * zero, 0
        )
    return float(terms.mean())


TRUTH_BINS = 20  # equal-width bins of the true probability


@dataclass(frozen=True, eq=False)
class Levels:
    """Means by bin of the true probability, without empty bins. Arrays (k,).

    Attributes
    ----------
    share
        Share of the rows.
    posterior, p
        Mean true and predicted probability.
    spread
        Variance of p − π.
    """

    share: Array
    posterior: Array
    p: Array
    spread: Array


@dataclass(frozen=True, eq=False)
class PredictionErrors:
    """Predictions p (m,) of a model for rows with true probabilities ``posterior`` (m,).

    >>> errors = PredictionErrors("constant", np.array([0.01, 0.01, 0.99, 0.99]), np.array([0.5, 0.51, 0.5, 0.49]))
    >>> errors.tce, errors.bias, errors.scatter               # p − π: .49, .50, −.49, −.50; mean ±.495
    (0.24505..., 0.24502..., 2.5...e-05)
    """

    name: str
    posterior: Array
    p: Array

    @cached_property
    def tce(self) -> float:
        """True calibration error, the mean of (p − π)²."""
        return true_calibration_error(self.posterior, self.p)

    @cached_property
    def levels(self) -> Levels:
        index = np.unique(bin_index(self.posterior, TRUTH_BINS), return_inverse=True)[1]
        k = int(index.max()) + 1
        count, off = group_sums(index, k), self.p - self.posterior
        truth, predicted, mean = (
            group_sums(index, k, values) / count for values in (self.posterior, self.p, off)
        )
        spread = group_sums(index, k, (off - mean[index]) ** 2) / count
        return Levels(count / len(self.p), truth, predicted, spread)

    @property
    def bias(self) -> float:
        """Mean over rows of (mean p − mean π)² in their bin of π, the error that these rows have in common."""
        return float((self.levels.share * (self.levels.p - self.levels.posterior) ** 2).sum())

    @property
    def scatter(self) -> float:
        """Mean variance of p − π in the bins, the error that differs between rows with similar π."""
        return float((self.levels.share * self.levels.spread).sum())

    @cached_property
    def losses(self) -> LossDecomposition:
        """CL, GL and IL of the Brier score; groups are equal predictions, or bins if most predictions differ."""
        return loss_decomposition(self.posterior, self.p, groups=groups_for(self.p), corrected=False)


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

"""Two Gaussian classes in the plane with known probabilities, and predictions of trees and forests.

Shaker and Hüllermeier (2025), appendix C.1. Errors and losses are means over TEST_ROWS new rows with true
probabilities π, so that no label adds noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from calib.analysis.depth import FOREST_GROUPS
from calib.experiments.shared.plane_settings import TRAINING_ROWS
from calib.kernel.checks import Array
from calib.models import ProbabilityForest, ProbabilityTree
from calib.synthetic import GaussianPair

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

"""Twelve points with known probabilities and eight labels: calibration and grouping loss of every partition by hand.

Shaker and Hüllermeier (2025), Figure 2. The paper does not print its points. These were chosen so that the two
partitions in its text give the printed values: one leaf has CL 0, GL .15 and expected loss .5; pure leaves have CL
.29, GL .12 and expected loss .75, partly because of the negative outlier on the right. Losses are summed over both
classes, as there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calib.kernel import checks
from calib.kernel.records import Dataset
from calib.synthetic.base import Array, SyntheticEntry, rows_setting

Numbers = tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Partition:
    """Predictions and losses of a partition of the line into leaves, for each point.

    Parameters
    ----------
    leaf, group
        Int arrays (n,); a group is the union of the leaves with equal predictions.
    p
        Float array (n,), the share of class 1 among the leaf's training rows.
    calibrated
        Float array (n,), the mean posterior of the point's group.
    calibration, grouping, irreducible
        CL, GL and IL of the Brier score, both classes summed; ``loss`` is their sum.
    """

    cuts: Numbers
    leaf: Array
    group: Array
    p: Array
    calibrated: Array
    calibration: float
    grouping: float
    irreducible: float

    @property
    def loss(self) -> float:
        return self.calibration + self.grouping + self.irreducible


@dataclass(frozen=True, eq=False)
class Partitions:
    """Predictions and losses of k partitions of the line.

    Parameters
    ----------
    cuts
        Bool (k, n − 1), whether the line is cut after a point.
    labelled
        Bool (k,), whether every leaf has a training row, as in a tree; other leaves predict the overall share.
    p, calibrated : (k, n), as of one Partition
    calibration, grouping, irreducible : (k,), CL, GL and IL, both classes summed; ``loss`` is their sum

    Examples
    --------
    >>> every = FiniteExample().partitions()
    >>> len(every.loss), float(every.loss.min().round(3)), float(every.loss[every.labelled].min().round(3))
    (2048, 0.362, 0.367)
    """

    cuts: Array
    labelled: Array
    p: Array
    calibrated: Array
    calibration: Array
    grouping: Array
    irreducible: Array

    @property
    def loss(self) -> Array:
        return self.calibration + self.grouping + self.irreducible


@dataclass(frozen=True)
class FiniteExample:
    """Distribution on n equally likely points ``x`` with known posteriors, and m labelled training rows.

    >>> example = FiniteExample()
    >>> for cuts in ((), (6.5,), (3.5, 8.5, 9.5)):    # one leaf, one split, pure leaves
    ...     part = example.partition(cuts)
    ...     print(f"CL {part.calibration:.2f} GL {part.grouping:.2f} loss {part.loss:.2f}")
    CL 0.00 GL 0.15 loss 0.50
    CL 0.00 GL 0.04 loss 0.38
    CL 0.29 GL 0.12 loss 0.75
    """

    x: Numbers = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
    posterior_at: Numbers = (0.05, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.75, 0.8, 0.85, 0.95)
    train_x: Numbers = (1, 2, 3, 4, 8, 9, 10, 12)
    train_y: tuple[int, ...] = (0, 0, 0, 1, 1, 0, 1, 1)

    def partition(self, cuts: Sequence[float]) -> Partition:
        """Return the leaves between the cuts, each of which predicts its training rows' share of class 1.

        A leaf without training rows predicts the overall share of class 1.

        Raises
        ------
        InputError
            If cuts are not finite.
        """
        edges = np.unique(checks.score_vector(cuts, "cuts"))
        leaf, train_leaf = (np.searchsorted(edges, at, side="right") for at in (self.x, self.train_x))
        p, c, *losses = (values[0] for values in self._decomposed(leaf[None], train_leaf[None]))
        group = np.unique(p, return_inverse=True)[1]
        return Partition(tuple(edges.tolist()), leaf, group, p, c, *map(float, losses))

    def partitions(self) -> Partitions:
        """Return all 2^(n − 1) ways to cut the line between neighbouring points, computed at once."""
        x = np.sort(np.array(self.x, dtype=float))
        gaps = (x[:-1] + x[1:]) / 2
        cuts = (np.arange(2 ** len(gaps))[:, None] >> np.arange(len(gaps))) & 1
        leaves = np.pad(np.cumsum(cuts, axis=1), ((0, 0), (1, 0)))  # number of the leaf after each gap
        leaf, train_leaf = (
            leaves[:, np.searchsorted(gaps, at, side="right")] for at in (self.x, self.train_x)
        )
        used = 1 + (np.diff(np.sort(train_leaf, axis=1), axis=1) > 0).sum(axis=1)
        return Partitions(
            cuts.astype(bool), used == leaves.max(axis=1) + 1, *self._decomposed(leaf, train_leaf)
        )

    def _decomposed(self, leaf: Array, train_leaf: Array) -> tuple[Array, ...]:
        """Return p and c, (k, n), and CL, GL and IL, (k,), of k partitions; ``leaf`` (k, n), ``train_leaf`` (k, m)."""
        k, most, y = len(leaf), int(max(leaf.max(), train_leaf.max())) + 1, np.array(self.train_y)
        place = (train_leaf + most * np.arange(k)[:, None]).ravel()
        n, n1 = (np.bincount(place, np.tile(w, k), k * most).reshape(k, most) for w in (np.ones(len(y)), y))
        share = np.where(n > 0, n1 / np.maximum(n, 1), y.mean())
        p, pi = np.take_along_axis(share, leaf, axis=1), np.array(self.posterior_at)
        alike = p[:, :, None] == p[:, None, :]
        c = alike @ pi / alike.sum(axis=2)
        terms = (p - c) ** 2, (c - pi) ** 2, np.tile(pi * (1 - pi), (k, 1))
        return p, c, *(2 * term.mean(axis=1) for term in terms)

    def posterior(self, X: Any) -> Array:
        """Return P(Y = 1 | x) at the nearest of the points, shape (n,)."""
        nearest = np.abs(checks.matrix(X, "X", columns=1) - np.array(self.x)).argmin(axis=1)
        return np.array(self.posterior_at)[nearest]

    def sample(self, n: int, random_state: Any) -> Dataset:
        """Draw n independent rows: a point uniformly, its label by its posterior."""
        checks.in_range(n, "n", low=1, integer=True)
        rng = np.random.default_rng(random_state)
        drawn = rng.choice(np.array(self.x, dtype=float), size=(n, 1))
        posterior = self.posterior(drawn)
        return Dataset(
            "Finite example", drawn, (rng.random(n) < posterior).astype(np.intp), posterior=posterior
        )


ENTRY = SyntheticEntry(
    key="finite",
    label="Finite example",
    build=lambda rng: FiniteExample(),
    parameters=(rows_setting(500),),
    help="Twelve points on a line with known probabilities, small enough to work out by hand.",
)

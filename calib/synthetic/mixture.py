"""Two classes, each a mixture of Gaussians: data that no line and no single depth fits, for the calibration-size
sweep.

Shaker and Hüllermeier (2025), appendix C.3.2: four clusters per class, means in U(0, 20)^d, diagonal covariances in
U(1, 5). The sizes of the sweep are those of the paper's code (its text says twice 1000 rows).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp

from calib.kernel import checks
from calib.kernel.records import Dataset, Parameter
from calib.synthetic.base import DIMENSION, Array, KnownDistribution, SyntheticEntry, rows_setting
from calib.synthetic.gaussian import log_normal_density

CALIBRATION_SHARES = tuple(round(0.02 * step, 2) for step in range(1, 51))
"""Calibration sizes of the sweep, as shares of the training size: 2% to 100%."""


@dataclass(frozen=True, eq=False)
class GaussianMixturePair(KnownDistribution):
    """Two equally frequent classes, each a mixture of equally likely Gaussians.

    Parameters
    ----------
    means0, means1 : (k, d), one row a cluster; the classes may have different k
    covs0, covs1
        Sequence of k covariances, each a number, (d,) variances or a (d, d) matrix.

    Examples
    --------
    >>> pair = GaussianMixturePair([[0.0], [4.0]], [1, 1], [[2.0]], [1])
    >>> pair.posterior([[2.0]]).round(4)  # 1 / (1 + exp(-2)): both clusters of class 0 are two away
    array([0.8808])
    """

    means0: Any
    covs0: Any
    means1: Any
    covs1: Any
    label: ClassVar[str] = "Gaussian mixtures"

    def __post_init__(self) -> None:
        for label in "01":
            means = checks.matrix(getattr(self, f"means{label}"), f"means{label}").copy()
            checks.not_empty(means, f"means{label}")
            covs: Sequence[Any] = getattr(self, f"covs{label}")
            checks.same_length(**{f"means{label}": means, f"covs{label}": covs})
            stacked = np.stack([checks.covariance(cov, means.shape[1], f"covs{label}") for cov in covs])
            object.__setattr__(self, f"means{label}", means)
            object.__setattr__(self, f"covs{label}", stacked)
        checks.matrix(self.means1, "means1", columns=self.dimension)

    @classmethod
    def random(cls, random_state: Any, d: int = 2, clusters: int = 4) -> GaussianMixturePair:
        """Draw clusters as in C.3.2: means from U(0, 20)^d, variances from U(1, 5)^d."""
        checks.in_range(d, "d", low=1, integer=True)
        checks.in_range(clusters, "clusters", low=1, integer=True)
        rng = np.random.default_rng(random_state)
        means = rng.uniform(0, 20, (2, clusters, d))
        variances = rng.uniform(1, 5, (2, clusters, d))
        return cls(means[0], variances[0], means[1], variances[1])

    @property
    def dimension(self) -> int:
        return self.means0.shape[1]

    def log_density(self, X: Array, label: int) -> Array:
        means, covs = (self.means1, self.covs1) if label else (self.means0, self.covs0)
        each = [log_normal_density(X, mean, cov) for mean, cov in zip(means, covs, strict=True)]
        return logsumexp(each, axis=0) - np.log(len(means))

    def draw(self, n: int, label: int, rng: np.random.Generator) -> Array:
        means, covs = (self.means1, self.covs1) if label else (self.means0, self.covs0)
        cluster = rng.integers(len(means), size=n)
        noise = rng.standard_normal((n, self.dimension))
        return means[cluster] + np.einsum("nij,nj->ni", np.linalg.cholesky(covs)[cluster], noise)


@dataclass(frozen=True, eq=False)
class SizeSweep:
    """Fixed training and test rows, and a pool whose first rows are calibration sets of growing size."""

    train: Dataset
    pool: Dataset
    test: Dataset

    def calibration(self, share: float) -> Dataset:
        """Return the first rows of the pool, ``share`` in (0, 1] of the number of training rows."""
        checks.in_range(share, "share", low=1 / self.train.n, high=self.pool.n / self.train.n)
        return part_of(self.pool, 0, round(share * self.train.n))


def size_sweep(
    random_state: Any, n_train: int = 800, n_test: int = 100, d: int = 2, clusters: int = 4
) -> SizeSweep:
    """Draw one repetition of C.3.2: a mixture, n_train training rows, a pool of as many, and n_test test rows.

    Parameters
    ----------
    random_state
        Seed or Generator for the mixture and its rows.
    n_train, n_test : int
        Number of training rows (and largest number of calibration rows), and of test rows.
    d : int
        Number of features.
    clusters : int
        Number of Gaussians per class.

    Examples
    --------
    >>> sweep = size_sweep(random_state=0)
    >>> sweep.train.n, sweep.pool.n, sweep.test.n, sweep.calibration(0.02).n
    (800, 800, 100, 16)
    """
    rng = np.random.default_rng(random_state)
    data = GaussianMixturePair.random(rng, d, clusters).sample(2 * n_train + n_test, rng)
    ends = [0, n_train, 2 * n_train, data.n]
    return SizeSweep(*(part_of(data, start, stop) for start, stop in pairwise(ends)))


def part_of(data: Dataset, start: int, stop: int) -> Dataset:
    """Return rows ``start`` to ``stop`` − 1 of a set whose posterior is known."""
    assert data.posterior is not None
    X = data.X.iloc[start:stop].reset_index(drop=True)
    return replace(data, X=X, y=data.y[start:stop], posterior=data.posterior[start:stop])


ENTRY = SyntheticEntry(
    key="mixture",
    label="Gaussian mixtures",
    build=lambda rng, d, clusters: GaussianMixturePair.random(rng, d, clusters),
    parameters=(
        rows_setting(1700),
        DIMENSION,
        Parameter(
            "clusters",
            "Clusters per class",
            "integer",
            4,
            1,
            20,
            help="With more clusters, the boundary is harder to learn.",
        ),
    ),
    help="Each class consists of several Gaussian clusters, so the data are harder to learn. Every true "
    "probability is known.",
)

"""Two Gaussian classes: the simplest data with true probabilities that are known everywhere.

Shaker and Hüllermeier (2025), appendix C.1: class 1 has its mean in U(0, 1)^d, class 0 in U(1, 3)^d, both have
diagonal covariances, and P(Y = 1 | x) follows from Bayes' rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from calib.kernel import checks
from calib.kernel.records import Parameter
from calib.synthetic.base import DIMENSION, Array, KnownDistribution, SyntheticEntry, rows_setting

COVARIANCES: dict[str, tuple[tuple[float, float], tuple[float, float]] | None] = {
    "equal": None,
    "separate": ((1, 2), (1, 2)),
    "unequal": ((1, 2), (4, 5)),
}
"""Ranges from which the variances of class 0 and class 1 are drawn; ``equal``: one draw from U(1, 2) for both."""


def log_normal_density(X: Array, mean: Array, cov: Array) -> Array:
    """Return ln N(x; mean, cov) of each row, shape (n,), by the Cholesky factor, which avoids under- and overflow.

    >>> log_normal_density(np.array([[0.0]]), np.zeros(1), np.eye(1)).round(4)  # -ln(2π)/2
    array([-0.9189])
    """
    root = np.linalg.cholesky(cov)
    z = solve_triangular(root, (X - mean).T, lower=True)
    return -0.5 * (z**2).sum(axis=0) - np.log(np.diag(root)).sum() - 0.5 * len(mean) * np.log(2 * np.pi)


@dataclass(frozen=True, eq=False)
class GaussianPair(KnownDistribution):
    """Two equally frequent Gaussian classes: class 0 ~ N(mean0, cov0), class 1 ~ N(mean1, cov1).

    With equal covariances the posterior is logistic: here ln(p / (1 − p)) = 2x − 2.

    Parameters
    ----------
    mean0, mean1 : (d,), or a number when d = 1
    cov0, cov1
        Number (times the identity), (d,) variances, or (d, d) symmetric positive definite matrix.

    Raises
    ------
    InputError
        If shapes are wrong, values are not finite, or a matrix is not a covariance.

    Examples
    --------
    >>> pair = GaussianPair(mean0=0, cov0=1, mean1=2, cov1=1)
    >>> pair.posterior([[1.0], [2.0]]).round(4)
    array([0.5   , 0.8808])
    >>> pair.bhattacharyya()
    0.5
    """

    mean0: Any
    cov0: Any
    mean1: Any
    cov1: Any
    label: ClassVar[str] = "Gaussian pair"

    def __post_init__(self) -> None:
        for name in ("mean0", "mean1"):
            object.__setattr__(
                self, name, checks.score_vector(np.atleast_1d(getattr(self, name)), name).copy()
            )
        checks.same_length(mean0=self.mean0, mean1=self.mean1)
        for name in ("cov0", "cov1"):
            object.__setattr__(self, name, checks.covariance(getattr(self, name), self.dimension, name))

    @classmethod
    def random(cls, d: int, random_state: Any, equal_covariance: bool = True) -> GaussianPair:
        """Draw a pair as in C.1.

        Parameters
        ----------
        d
            Number of features.
        equal_covariance
            Whether both classes share one draw of variances from U(1, 2), so that logistic regression is well
            specified. Otherwise class 0 is drawn from U(1, 2) and class 1 from U(4, 5) (second row of P2's Figure 7).
        """
        return cls.variant("equal" if equal_covariance else "unequal", d, random_state)

    @classmethod
    def variant(cls, covariances: str, d: int, random_state: Any) -> GaussianPair:
        """Draw a pair as in C.1 with variances by a key of COVARIANCES: equal, separate (as printed) or unequal."""
        checks.in_range(d, "d", low=1, integer=True)
        ranges = COVARIANCES[checks.one_of(covariances, COVARIANCES, "covariances")]
        rng = np.random.default_rng(random_state)
        mean1, mean0 = rng.uniform(0, 1, d), rng.uniform(1, 3, d)
        if ranges is None:
            shared = rng.uniform(1, 2, d)
            return cls(mean0, shared, mean1, shared)
        return cls(mean0, rng.uniform(*ranges[0], d), mean1, rng.uniform(*ranges[1], d))

    @property
    def dimension(self) -> int:
        return len(self.mean0)

    def log_density(self, X: Array, label: int) -> Array:
        mean, cov = (self.mean1, self.cov1) if label else (self.mean0, self.cov0)
        return log_normal_density(X, mean, cov)

    def draw(self, n: int, label: int, rng: np.random.Generator) -> Array:
        mean, cov = (self.mean1, self.cov1) if label else (self.mean0, self.cov0)
        return rng.multivariate_normal(mean, cov, size=n, method="cholesky")

    def bhattacharyya(self) -> float:
        """Return the Bhattacharyya distance −ln ∫ √(f₀ f₁), at least 0, and 0 for equal classes.

        The closed form is (m₁−m₀)ᵀ Σ⁻¹ (m₁−m₀) / 8 + ln(|Σ| / √(|Σ₀||Σ₁|)) / 2 with Σ = (Σ₀ + Σ₁)/2.
        """
        middle = (self.cov0 + self.cov1) / 2
        difference = self.mean1 - self.mean0
        distance = difference @ np.linalg.solve(middle, difference) / 8
        logs = [np.linalg.slogdet(cov)[1] for cov in (middle, self.cov0, self.cov1)]
        return float(max(distance + (logs[0] - (logs[1] + logs[2]) / 2) / 2, 0.0))


ENTRY = SyntheticEntry(
    key="gaussian",
    label="Gaussian pair",
    build=lambda rng, d, covariances: GaussianPair.variant(covariances, d, rng),
    parameters=(
        rows_setting(1000),
        DIMENSION,
        Parameter(
            "covariances",
            "Covariances",
            "choice",
            "equal",
            choices=tuple(COVARIANCES),
            help="With unequal covariances, the boundary is curved, so logistic regression cannot follow it.",
        ),
    ),
    help="Two overlapping Gaussian classes. Every true probability is known.",
)

"""What every synthetic set shares: a distribution of (x, y) with a known P(Y = 1 | x), and an entry of the registry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from calib.kernel import checks
from calib.kernel.checks import Array
from calib.kernel.records import Dataset, Parameter


class KnownDistribution(ABC):
    """Two classes of n/2 rows each, drawn from densities that are known, so that the posterior is known too."""

    label: ClassVar[str]

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Number of features."""

    @abstractmethod
    def log_density(self, X: Array, label: int) -> Array:
        """ln f(x | Y = label), shape (n,)."""

    @abstractmethod
    def draw(self, n: int, label: int, rng: np.random.Generator) -> Array:
        """n rows of one class, shape (n, d)."""

    def posterior(self, X: Any) -> Array:
        """P(Y = 1 | x) of each row by Bayes' rule with equal priors, shape (n,), computed from log densities.

        Parameters
        ----------
        X : (n, d) numbers, an array or a DataFrame

        Raises
        ------
        InputError
            For another number of columns or missing values.
        """
        X = checks.matrix(X, "X", columns=self.dimension)
        return expit(self.log_density(X, 1) - self.log_density(X, 0))

    def sample(self, n: int, random_state: Any) -> Dataset:
        """n rows, half of each class (one more of class 0 when n is odd), shuffled, with their posterior.

        Parameters
        ----------
        random_state
            A seed or a numpy Generator.

        Raises
        ------
        InputError
            For n below 2.
        """
        checks.in_range(n, "n", low=2, integer=True)
        rng = np.random.default_rng(random_state)
        X = np.vstack([self.draw(n - n // 2, 0, rng), self.draw(n // 2, 1, rng)])
        y = np.repeat([0, 1], [n - n // 2, n // 2])
        order = rng.permutation(n)
        return Dataset(self.label, X[order], y[order], posterior=self.posterior(X[order]))


@dataclass(frozen=True)
class SyntheticEntry:
    """One synthetic set of the registry.

    Parameters
    ----------
    key, label
        Its name in a Recipe (``synthetic:key``) and for people.
    help
        What it is good for.
    build
        (random generator, one keyword a parameter but n) → the distribution, which has ``sample`` and
        ``posterior``.
    parameters
        The settings with their ranges and defaults; the number of rows ``n`` is one of them.
    """

    key: str
    label: str
    build: Callable[..., Any]
    parameters: tuple[Parameter, ...]
    help: str

    def make(self, params: Mapping[str, Any] | None = None, *, random_state: Any) -> Dataset:
        """The distribution drawn, then n rows of it; what ``params`` leaves out takes its default.

        Parameters
        ----------
        random_state
            A seed or a numpy Generator.

        Raises
        ------
        InputError
            For an unknown setting or a value out of range.
        """
        values = checks.settings(params or {}, self.parameters, self.label)
        rng = np.random.default_rng(random_state)
        return self.distribution(values, random_state=rng).sample(values["n"], rng)

    def distribution(self, params: Mapping[str, Any] | None = None, *, random_state: Any) -> Any:
        """The distribution alone; for the same seed the one that ``make`` draws its rows from."""
        values = checks.settings(params or {}, self.parameters, self.label)
        del values["n"]
        return self.build(rng=np.random.default_rng(random_state), **values)


def rows(default: int) -> Parameter:
    """The setting that every entry has: the number of rows."""
    return Parameter("n", "Rows", "integer", default, 20, 100_000, help="Number of rows, half in each class.")


DIMENSION = Parameter(
    "d",
    "Features",
    "integer",
    2,
    1,
    100,
    help="Number of features. More features make the data harder to learn.",
)

"""Base of all synthetic sets: a distribution of (x, y) with a known P(Y = 1 | x), and an entry of the registry."""

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
    """Distribution of two equally frequent classes with known densities, so that the posterior is known too."""

    label: ClassVar[str]

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Number of features."""

    @abstractmethod
    def log_density(self, X: Array, label: int) -> Array:
        """Return ln f(x | Y = label), shape (n,)."""

    @abstractmethod
    def draw(self, n: int, label: int, rng: np.random.Generator) -> Array:
        """Draw n rows of one class, shape (n, d)."""

    def posterior(self, X: Any) -> Array:
        """Return P(Y = 1 | x) of each row by Bayes' rule with equal priors, shape (n,), from log densities.

        Parameters
        ----------
        X : (n, d) numbers, an array or a DataFrame

        Raises
        ------
        InputError
            If the number of columns is wrong, or values are missing.
        """
        X = checks.matrix(X, "X", columns=self.dimension)
        return expit(self.log_density(X, 1) - self.log_density(X, 0))

    def sample(self, n: int, random_state: Any) -> Dataset:
        """Draw n shuffled rows, half of each class (one more of class 0 if n is odd), with their posterior.

        Parameters
        ----------
        random_state
            Seed or numpy Generator.

        Raises
        ------
        InputError
            If n is below 2.
        """
        checks.in_range(n, "n", low=2, integer=True)
        rng = np.random.default_rng(random_state)
        X = np.vstack([self.draw(n - n // 2, 0, rng), self.draw(n // 2, 1, rng)])
        y = np.repeat([0, 1], [n - n // 2, n // 2])
        order = rng.permutation(n)
        return Dataset(self.label, X[order], y[order], posterior=self.posterior(X[order]))


@dataclass(frozen=True)
class SyntheticEntry:
    """Synthetic set of the registry.

    Parameters
    ----------
    key, label
        Name in a Recipe (``synthetic:key``) and name for people.
    help
        Use of the set, in one sentence.
    build
        Function (rng, one keyword per parameter except n) → distribution with ``sample`` and ``posterior``.
    parameters
        Settings with their ranges and defaults; the number of rows ``n`` is one of them.
    """

    key: str
    label: str
    build: Callable[..., Any]
    parameters: tuple[Parameter, ...]
    help: str

    def make(self, params: Mapping[str, Any] | None = None, *, random_state: Any) -> Dataset:
        """Draw the distribution, then n rows of it; settings not in ``params`` take their defaults.

        Parameters
        ----------
        random_state
            Seed or numpy Generator.

        Raises
        ------
        InputError
            If a setting is unknown or its value out of range.
        """
        values = checks.settings(params or {}, self.parameters, self.label)
        rng = np.random.default_rng(random_state)
        return self.distribution(values, random_state=rng).sample(values["n"], rng)

    def distribution(self, params: Mapping[str, Any] | None = None, *, random_state: Any) -> Any:
        """Return the distribution; for the same seed, the one from which ``make`` draws its rows."""
        values = checks.settings(params or {}, self.parameters, self.label)
        del values["n"]
        return self.build(rng=np.random.default_rng(random_state), **values)


def rows_setting(default: int) -> Parameter:
    """Return the setting that every entry has: the number of rows."""
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

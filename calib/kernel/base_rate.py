"""Adjust probabilities from one base rate (frequency of class 1) to another: prior shift.

If only the shares of the classes differ, and each class looks the same (label shift; Elkan 2001, theorem 2; Saerens,
Latinne & Decaestecker 2002), all odds change by one ratio, ``odds(p') = r · odds(p)`` with ``r = [π'/(1 − π')] / [π/(1
− π)]``.

With K classes, ``p'_k = w_k p_k / Σ_j w_j p_j`` with ``w_k = π'_k/π_k``: in each row, the odds of class k against the
rest are multiplied by w_k over the mean w of the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calib.kernel.checks import Array, InputError, in_range, score_vector
from calib.kernel.formula import Arithmetic, Expression, Number, Pieces, piecewise, steps
from calib.kernel.weights import are_whole, effective_weights, or_ones


@dataclass(frozen=True)
class BaseRate:
    """Change of the base rate: the frequency of class 1 at the fit, and in deployment.

    Attributes
    ----------
    fitted
        Base rate at which the probabilities are calibrated, π, in (0, 1).
    stated
        Base rate in deployment, π', in (0, 1).

    Examples
    --------
    >>> rate = BaseRate(fitted=0.5, stated=0.2)    # all odds become a quarter
    >>> rate.ratio, rate.adjust([0.0, 0.5, 0.8, 1.0])
    (0.25, array([0. , 0.2, 0.5, 1. ]))
    """

    fitted: float
    stated: float

    def __post_init__(self) -> None:
        in_range(self.fitted, "base_rate.fitted", 0, 1, open_ends=True)
        in_range(self.stated, "base_rate.stated", 0, 1, open_ends=True)

    @property
    def ratio(self) -> float:
        """Factor r that multiplies all odds."""
        return self.stated * (1 - self.fitted) / ((1 - self.stated) * self.fitted)

    def odds_ratio(self, p: ArrayLike) -> Any:
        """Return the factor of the odds of rows with these probabilities: equal for all rows of two classes."""
        return self.ratio

    def adjust(self, p: ArrayLike) -> Array:
        """Adjust probabilities of any shape to the deployment base rate; 0, 1 and the order do not change."""
        return multiply_odds(p, self.ratio)

    def adjust_terms(self, answers: Mapping[str, Expression]) -> dict[str, Expression]:
        """Adjust the formulas of p, p0 and p1."""
        return {name: self.adjust_term(term) for name, term in answers.items()}

    def adjust_term(self, p: Expression) -> Expression:
        """Adjust a formula: values of steps are adjusted here, everything else when the formula is evaluated."""
        if isinstance(p, Number):
            return Number(float(self.adjust(p.value)))
        if isinstance(p, Pieces) and p.coefficients.shape[1] == 1:
            return piecewise(p.of, p.breaks, p.origins, self.adjust(p.coefficients))
        ones = self.ratio * p
        return Arithmetic("/", ones, (1 - p) + ones, 0.0, 1.0)


NO_REST = 1e-300  # a smaller probability of the rest counts as 0
SHARE_ERROR = 1e-6  # tolerance for the sum of shares that a person has rounded


@dataclass(frozen=True)
class BaseRates:
    """Change of the shares of K classes: at the fit, and in deployment.

    Attributes
    ----------
    fitted
        Shares (K,) at which the probabilities are calibrated, π, in (0, 1).
    stated
        Shares (K,) in deployment, π', in (0, 1). Both sum to 1.

    Examples
    --------
    >>> rates = BaseRates((0.5, 0.25, 0.25), (0.25, 0.25, 0.5))    # w is ½, 1, 2
    >>> rates.adjust([[0.5, 0.25, 0.25]])
    array([[0.25, 0.25, 0.5 ]])
    """

    fitted: tuple[float, ...]
    stated: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("fitted", "stated"):
            object.__setattr__(self, name, shares(getattr(self, name), f"base_rates.{name}"))
        if len(self.fitted) != len(self.stated):
            raise InputError(
                f"base_rates: there are {len(self.fitted)} classes, but {len(self.stated)} shares. Give one "
                "share per class."
            )

    @property
    def factors(self) -> Array:
        """Factors w = π'/π, (K,)."""
        return np.divide(self.stated, self.fitted)

    def odds_ratio(self, p: ArrayLike) -> Array:
        """Return the factors (m, K) of the odds of each class, for rows p (m, K) that sum to 1.

        If a class is certain, the rest of its row is unknown, and its distribution over all rows is used.
        """
        p, w = np.asarray(p, dtype=np.float64), self.factors
        rest, weighted = 1 - p, (p @ w)[:, None] - p * w
        each, top = np.arange(len(p)), p.argmax(axis=1)
        others = p.copy()  # if a class is nearly certain, a difference would only be rounding error
        others[each, top] = 0.0
        rest[each, top], weighted[each, top] = others.sum(axis=1), others @ w
        usual = (1 - np.array(self.stated)) / (1 - np.array(self.fitted))
        sure = rest < NO_REST
        return w / np.where(sure, usual, weighted / np.where(sure, 1.0, rest))

    def adjust(self, p: ArrayLike) -> Array:
        """Adjust rows (m, K) to the stated shares; 0 and 1 do not change."""
        weighted = np.asarray(p, dtype=np.float64) * self.factors
        return weighted / weighted.sum(axis=1, keepdims=True)

    def adjust_terms(self, answers: Mapping[str, Expression]) -> dict[str, Expression]:
        """Adjust the formulas p_0 … of all classes, and of their intervals p0_0, p1_0 … if there are any."""
        w = self.factors.tolist()
        p = [answers[f"p_{k}"] for k in range(len(w))]
        weighted = [factor * each for factor, each in zip(w, p, strict=True)]
        total = sum(weighted[1:], weighted[0])
        found: dict[str, Expression] = {
            f"p_{k}": Arithmetic("/", each, total, 0.0, 1.0) for k, each in enumerate(weighted)
        }
        ends = [name for name in answers if name not in found]
        for k in {int(name.partition("_")[2]): None for name in ends}:
            others = [j for j in range(len(w)) if j != k]
            rest, after = (sum((of[j] for j in others[1:]), of[others[0]]) for of in (p, weighted))
            none = steps(rest, np.array([NO_REST]), np.array([1.0, 0.0]))
            rest, after = rest + (1 - self.fitted[k]) * none, after + (1 - self.stated[k]) * none
            for name in (name for name in ends if name.partition("_")[2] == str(k)):
                ones = w[k] * answers[name] * rest
                found[name] = Arithmetic("/", ones, (1 - answers[name]) * after + ones, 0.0, 1.0)
        return found


def change_between(fitted: Any, stated: Any) -> BaseRate | BaseRates:
    """Return the change between two base rates, or between shares (K,) of K classes.

    >>> change_between(0.5, 0.2).ratio, change_between([0.5, 0.25, 0.25], [0.25, 0.25, 0.5]).factors
    (0.25, array([0.5, 1. , 2. ]))
    """
    return BaseRates(tuple(fitted), tuple(stated)) if np.ndim(stated) else BaseRate(fitted, stated)


def shares(values: Any, name: str) -> tuple[float, ...]:
    """Return shares of classes, which must be above 0 and sum to 1, after dividing them by their exact sum.

    >>> shares([0.5, 0.3, 0.2], "base_rates")
    (0.5, 0.3, 0.2)
    """
    found = score_vector(values, name)
    if not (found > 0).all() or abs(found.sum() - 1) > SHARE_ERROR:
        raise InputError(
            f"{name} must be greater than 0 and sum to 1, but "
            + (f"sum to {found.sum():.6g}." if (found > 0).all() else f"hold {found.min():.6g}.")
        )
    return tuple((found / found.sum()).tolist())


def multiply_odds(p: ArrayLike, ratio: ArrayLike) -> Array:
    """Return ``r p / (1 − p + r p)``, in a form in which rounding never changes the order of values.

    Parameters
    ----------
    p, ratio
        Arrays of shapes that broadcast.
    """
    p = np.asarray(p, dtype=np.float64)
    # At p = 0 the odds against are infinite, which is correct
    with np.errstate(divide="ignore", over="ignore"):
        return 1 / (1 + (1 - p) / (ratio * p))


def class_weights(y: Array, stated: float | Sequence[float], weights: Array | None = None) -> Array:
    """Return weights (n,) that make the rows represent a deployment base rate, or shares of K classes.

    The weight is ``w c`` with ``c = π'/π`` for rows of class 1 and ``(1 − π')/(1 − π)`` for the others, where π is the
    frequency among these rows. Weights are on the scale of ``effective_weights``; whole w are counts of rows.

    Parameters
    ----------
    y
        Labels 0 and 1, or 0 … K − 1; every class must occur.
    stated
        Base rate in (0, 1); or shares (K,) that sum to 1.
    weights
        Counts of rows, or other weights on any scale.

    Examples
    --------
    >>> class_weights(np.array([1, 0, 1, 0]), 0.25).round(6)    # one of four, worth 16 / 5 rows
    array([0.4, 1.2, 0.4, 1.2])
    """
    w = or_ones(weights, len(y))
    if np.ndim(stated) == 0:
        share = float(np.average(y, weights=w))
        fitted, wanted = np.array([1 - share, share]), np.array([1 - stated, stated])  # type: ignore[operator]
    else:
        wanted = np.asarray(stated)
        fitted = np.bincount(y, w, minlength=len(wanted)) / w.sum()
    if not (fitted > 0).all():
        raise InputError(
            "base_rate: all test rows are in "
            f"{'one class' if len(wanted) == 2 else 'other classes than one'}, so they cannot represent "
            "another base rate. Hold out more rows, or leave base_rate unset."
        )
    return effective_weights(w * (wanted / fitted)[np.asarray(y, dtype=np.intp)], w if are_whole(w) else None)

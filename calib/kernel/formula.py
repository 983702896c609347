"""Represent a calibrator's map as a formula, from which SQL, ONNX, Python and JavaScript are generated.

Six kinds of terms suffice: scores, numbers, arithmetic, three functions, clipping, and pieces of step functions, lines
or cubics. A calibrator writes its formula once, with Python's operators, and each language supports the six kinds. So
a new calibrator works in all languages, and a new language with all calibrators. Each term knows its range, so terms
that cannot overflow need no guard.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from calib.kernel.checks import Array

LARGEST_FLOAT = sys.float_info.max
# exp overflows beyond this in some languages, and below its negative it is an error in PostgreSQL
EXP_LIMIT = 700.0
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
FUNCTIONS: dict[str, Callable[[Any], Any]] = {"ln": np.log, "log1p": np.log1p, "exp": np.exp}


class Expression:
    """Part of a formula; ``low`` and ``high`` are the ends of its range."""

    low: float
    high: float
    __array_ufunc__ = None  # NumPy's numbers defer arithmetic to terms

    def __add__(self, other: Expression | float) -> Expression:
        return arithmetic("+", self, other)

    def __radd__(self, other: float) -> Expression:
        return arithmetic("+", other, self)

    def __sub__(self, other: Expression | float) -> Expression:
        return arithmetic("-", self, other)

    def __rsub__(self, other: float) -> Expression:
        return arithmetic("-", other, self)

    def __mul__(self, other: Expression | float) -> Expression:
        return arithmetic("*", self, other)

    def __rmul__(self, other: float) -> Expression:
        return arithmetic("*", other, self)

    def __truediv__(self, other: Expression | float) -> Expression:
        return arithmetic("/", self, other)

    def __rtruediv__(self, other: float) -> Expression:
        return arithmetic("/", other, self)

    def clip(self, low: float, high: float) -> Expression:
        """Return the term clipped to [low, high]."""
        if isinstance(self, Number):
            return Number(min(max(self.value, low), high))
        if low <= self.low and self.high <= high:
            return self
        low, high = max(low, min(self.low, high)), min(high, max(self.high, low))
        return Clip(self.of if isinstance(self, Clip) else self, low, high)


@dataclass(frozen=True, eq=False)
class Number(Expression):
    value: float

    @property
    def low(self) -> float:  # type: ignore[override]
        return self.value

    @property
    def high(self) -> float:  # type: ignore[override]
        return self.value


@dataclass(frozen=True, eq=False)
class Score(Expression):
    """Input of a formula, which is defined only in [low, high]."""

    name: str
    low: float = -LARGEST_FLOAT
    high: float = LARGEST_FLOAT


@dataclass(frozen=True, eq=False)
class Arithmetic(Expression):
    """Sum, difference, product or quotient of two terms, by the sign ``operator``."""

    operator: str
    left: Expression
    right: Expression
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Function(Expression):
    """Function of a term, one of ``FUNCTIONS``; ``log1p`` only for terms at least 2⁻⁵² away from 0."""

    name: str
    of: Expression
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Clip(Expression):
    of: Expression
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Pieces(Expression):
    """Piecewise polynomial: with i the number of breaks <= x, Σ_k coefficients[i, k] (x − origins[i])^k.

    Attributes
    ----------
    breaks : (t,) increasing
    origins : (t + 1,)
    coefficients : (t + 1, degree + 1)
    """

    of: Expression
    breaks: Array
    origins: Array
    coefficients: Array

    @property
    def low(self) -> float:  # type: ignore[override]
        return float(self._ends()[0].min())

    @property
    def high(self) -> float:  # type: ignore[override]
        return float(self._ends()[1].max())

    def _ends(self) -> tuple[Array, Array]:
        """Return the range of each piece, low and high (t + 1,), by Horner's rule on intervals."""
        left = np.clip(np.append(self.of.low, self.breaks), self.of.low, self.of.high) - self.origins
        right = np.clip(np.append(self.breaks, self.of.high), self.of.low, self.of.high) - self.origins
        low = high = self.coefficients[:, -1]
        for column in self.coefficients.T[-2::-1]:
            with np.errstate(all="ignore"):
                corners = np.stack([low * left, low * right, high * left, high * right])
            low, high = corners.min(axis=0) + column, corners.max(axis=0) + column
        return low, high


def term(value: Expression | float) -> Expression:
    return value if isinstance(value, Expression) else Number(float(value))


def arithmetic(sign: str, left: Expression | float, right: Expression | float) -> Expression:
    """Combine two terms and simplify: numbers are computed, and 0 · x, 1 · x and x ± 0 are reduced."""
    left, right = term(left), term(right)
    if isinstance(left, Number) and isinstance(right, Number):
        return Number(float(OPERATORS[sign](np.float64(left.value), np.float64(right.value))))
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Number) and sign == "*" and one.value in (0, 1):
            return other if one.value else one
        if isinstance(one, Number) and sign == "+" and (one.value == 0 or np.isinf(one.value)):
            return one if one.value else other
    with np.errstate(all="ignore"):
        ends = [
            OPERATORS[sign](np.float64(a), b) for a in (left.low, left.high) for b in (right.low, right.high)
        ]
    unbounded = np.isnan(ends).any() or (sign == "/" and right.low <= 0 <= right.high)
    low, high = (-np.inf, np.inf) if unbounded else (min(ends), max(ends))
    return Arithmetic(sign, left, right, float(low), float(high))


def function(name: str, of: Expression | float) -> Expression:
    """Return ln, log1p or exp of a term; all three are increasing."""
    of = term(of)
    with np.errstate(all="ignore"):
        low, high = (float(FUNCTIONS[name](np.float64(end))) for end in (of.low, of.high))
    return Number(low) if isinstance(of, Number) else Function(name, of, low, high)


def falling(x: Expression | float) -> Expression:
    """Return 1 / (1 + exp(x)), which does not overflow; beyond ±700 it changes by less than 1e-304.

    >>> falling(np.log(3)).value
    0.25
    """
    x = term(x)
    if isinstance(x, Number):
        return Number(float(expit(-x.value)))
    return 1 / (1 + function("exp", x.clip(-EXP_LIMIT, EXP_LIMIT)))


def sigmoid(x: Expression | float) -> Expression:
    """Return 1 / (1 + exp(−x)), the probability of log-odds x."""
    return falling(0 - term(x))


def softmax_terms(logits: Sequence[Expression]) -> list[Expression]:
    """Return the softmax of logits, each as 1 / Σ_j exp(z_j − z_k), so that nothing overflows.

    >>> [round(each.value, 3) for each in softmax_terms([Number(0.0), Number(float(np.log(3)))])]
    [0.25, 0.75]
    """
    found = []
    for own in logits:
        each = [
            Number(1.0) if other is own else function("exp", (other - own).clip(-EXP_LIMIT, EXP_LIMIT))
            for other in logits
        ]
        found.append(1 / sum(each[1:], each[0]))
    return found


def line(x: Expression, slope: float, intercept: float) -> Expression:
    """Return slope · x + intercept for ``falling``, with x clipped to where its exp is neither 0 nor infinite."""
    if slope == 0 or np.isinf(intercept):
        return Number(intercept)
    with np.errstate(over="ignore"):
        low, high = sorted((far - intercept) / np.float64(slope) for far in (1 - EXP_LIMIT, EXP_LIMIT - 1))
    return slope * x.clip(max(low, -LARGEST_FLOAT), min(high, LARGEST_FLOAT)) + intercept


def logit(p: Expression, clip: float) -> Expression:
    """Return ln(p / (1 − p)), with p clipped to [clip, 1 − clip]."""
    ln_p, minus_ln_rest = logit_parts(p, clip)
    return ln_p + minus_ln_rest


def logit_parts(p: Expression, clip: float) -> tuple[Expression, Expression]:
    """Return ln p and −ln(1 − p), whose sum is the log-odds, with p clipped to [clip, 1 − clip]."""
    p = p.clip(clip, 1 - clip)
    return function("ln", p), 0 - function("log1p", 0 - p)


def piecewise(x: Expression, breaks: Array, origins: Array, coefficients: Array) -> Expression:
    """Return a piecewise polynomial without redundant breaks; a single constant becomes a number."""
    passed, reached = np.searchsorted(breaks, [x.low, x.high], side="right")
    breaks = breaks[passed:reached]
    origins, coefficients = origins[passed : reached + 1], coefficients[passed : reached + 1]
    constant = np.all(coefficients[:, 1:] == 0, axis=1)
    origins = np.where(constant, 0.0, origins)
    rows = np.column_stack([origins, coefficients])
    fresh = np.append(True, (rows[1:] != rows[:-1]).any(axis=1))
    if fresh.sum() == 1 and constant[0]:
        return Number(float(coefficients[0, 0]))
    kept = coefficients[fresh]
    degree = int(np.flatnonzero(kept.any(axis=0)).max(initial=0))
    return Pieces(x, breaks[fresh[1:]], origins[fresh], kept[:, : degree + 1])


def steps(x: Expression, breaks: Array, values: Array) -> Expression:
    """Return the step function values[number of breaks <= x]; breaks (t,) increasing, values (t + 1,).

    >>> steps(Score("s"), np.array([1.0, 2.0]), np.array([0.1, 0.1, 0.3])).breaks
    array([2.])
    """
    return piecewise(x, breaks, np.zeros(len(values)), np.asarray(values, dtype=np.float64)[:, None])


def piecewise_linear(x: Expression, knots: Array, values: Array) -> Expression:
    """Return straight lines between the points (knots, values), both (k,), constant beyond the outermost ones."""
    with np.errstate(over="ignore", divide="ignore"):
        slopes = np.diff(values) / np.diff(knots)
    slopes[~np.isfinite(slopes)] = 0.0  # two knots so close that no float lies between them
    coefficients = np.column_stack([np.append(values[0], values), np.concatenate([[0.0], slopes, [0.0]])])
    return piecewise(x, knots, np.append(knots[0], knots), coefficients)


def first_reaching(reached: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Return the smallest float in (low, high] at which a condition holds, by bisection over the floats.

    Parameters
    ----------
    reached
        Condition as a function of arrays (k,). It is monotone and holds at ``high``.
    low, high : (k,)
        Ends of the interval.

    Examples
    --------
    >>> float(first_reaching(lambda x: x * 10 >= 3, np.array([0.0]), np.array([1.0]))[0])
    0.3
    """
    below, upto = _ordered(low), _ordered(high)
    while (below + 1 < upto).any():
        middle = (below >> 1) + (upto >> 1) + (below & upto & 1)
        hit, apart = reached(_float(middle)), below + 1 < upto
        below, upto = np.where(apart & ~hit, middle, below), np.where(apart & hit, middle, upto)
    return _float(upto)


def _ordered(x: Array) -> Array:
    """Map floats to integers in the same order, one-to-one."""
    bits = np.asarray(x, dtype=np.float64).view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def _float(places: Array) -> Array:
    return np.where(places < 0, np.int64(-(2**63)) - places, places).view(np.float64)

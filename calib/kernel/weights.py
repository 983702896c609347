"""What weights stand for: rows, so many for each, or shares of what all of them are worth."""

from __future__ import annotations

import numpy as np

from calib.kernel.wording import rows_told

Array = np.ndarray


def or_ones(weights: Array | None, n: int) -> Array:
    """The weights (n,); where none are given every row counts once."""
    return np.ones(n) if weights is None else weights


def rows_behind(weights: Array | None, n: int) -> int:
    """How many rows n rows of these weights (n,) stand for, or None: n.

    >>> rows_behind(np.array([2.0, 3.0]), 2), rows_behind(None, 2)
    (5, 2)
    """
    return round(float(or_ones(weights, n).sum()))


def are_whole(weights: Array) -> bool:
    """Whether weights (n,) are counts of rows."""
    return bool((weights == np.floor(weights)).all())


def effective_weights(weights: Array) -> Array:
    """Positive weights (n,): counts of rows as they are; others on the scale on which they add up to as many
    rows as the weighted mean of independent rows is worth, (Σw)²/Σw² (Kish 1965).

    >>> effective_weights(np.array([2.0, 3.0])), effective_weights(np.array([0.5, 0.5]))
    (array([2., 3.]), array([1., 1.]))
    >>> effective_weights(np.array([1e-300, 5e-301]))
    array([1.2, 0.6])
    """
    return weights if are_whole(weights) else importance_weights(weights)


def importance_weights(weights: Array) -> Array:
    """Put positive weights (n,) that count no rows, whole or not, on that scale; equal ones become ones.

    No other result is a whole number, so that weights of a part of the rows are never taken for counts either.

    >>> importance_weights(np.array([2.0, 6.0])), importance_weights(np.array([9.0, 9.0]))
    (array([0.4, 1.2]), array([1., 1.]))
    >>> bool(are_whole(importance_weights(np.array([1.0, 1.0, 4.0, 4.0, 5.0]))))
    False
    """
    each = scaled(weights)
    if (each == each[0]).all():
        return np.ones(len(each))
    each = each * (each.sum() / (each @ each))
    whole = (each == np.floor(each)) & (each > 0)  # 0 where the largest weight leaves nothing of one
    return np.where(whole, np.nextafter(each, np.inf), each)


def told(weights: Array | None, n: int, noun: str = "row") -> str:
    """Say how many rows n lines of these weights (n,) are, or what the weights leave of them.

    >>> told(np.array([2.0, 3.0]), 2), told(None, 2)
    ('5 rows in 2 lines', '2 rows')
    """
    size = rows_behind(weights, n)
    return rows_told(size if weights is not None and are_whole(weights) else n, n, size, noun)


def scaled(weights: Array) -> Array:
    """Weights of any shape times a power of two, the largest below 1: exact, and no product of two is too small.

    >>> scaled(np.array([1.0, 3.0]))
    array([0.25, 0.75])
    """
    return np.ldexp(weights, -np.frexp(weights.max())[1])

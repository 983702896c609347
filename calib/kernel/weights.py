"""What weights stand for: counts of rows if they are whole numbers, and the importance of a row if they are not."""

from __future__ import annotations

import numpy as np

from calib.kernel.wording import describe_rows

Array = np.ndarray


def or_ones(weights: Array | None, n: int) -> Array:
    """The weights (n,); if none are given every row counts once."""
    return np.ones(n) if weights is None else weights


def rows_behind(weights: Array | None, n: int) -> int:
    """Return how many rows n rows of these weights (n,) represent, or None if n.

    >>> rows_behind(np.array([2.0, 3.0]), 2), rows_behind(None, 2)
    (5, 2)
    """
    return round(float(or_ones(weights, n).sum()))


def are_whole(weights: Array) -> bool:
    """Whether weights (n,) are counts of rows."""
    return bool((weights == np.floor(weights)).all())


def effective_weights(weights: Array, counts: Array | None = None) -> Array:
    """Positive weights (n,) on the scale on which they add up to the rows that a weighted mean is worth (Kish 1965).

    That is (Σw)²/Σ(w²/k), if row i stands for k_i independent rows. Whole weights are counts of rows and stay as
    they are. Other weights give the same on any scale, and what they give stays as it is.

    Parameters
    ----------
    weights : (n,)
        Positive.
    counts : (n,)
        k, if the weights are more than counts of rows, as at a deployment base rate. By default whole weights are their
        own counts, and a row of any other weight is one row.

    Examples
    --------
    >>> effective_weights(np.array([2.0, 3.0])), effective_weights(np.array([0.5, 0.5]))
    (array([2., 3.]), array([1., 1.]))
    >>> effective_weights(np.array([1e-300, 5e-301]))
    array([1.2, 0.6])
    >>> effective_weights(np.array([1.0, 6.0]), counts=np.array([2.0, 3.0]))    # 49 / 12.5 rows
    array([0.56, 3.36])
    """
    if counts is None:
        return weights if are_whole(weights) else importance_weights(weights)
    each = scaled(weights)
    return each * (each.sum() / squares(each, counts).sum())


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
    whole = (each == np.floor(each)) & (each > 0)  # 0 if the largest weight leaves nothing of one
    return np.where(whole, np.nextafter(each, np.inf), each)


def describe_lines(weights: Array | None, n: int, noun: str = "row") -> str:
    """Say how many rows n lines of these weights (n,) are, or what the weights leave of them.

    >>> describe_lines(np.array([2.0, 3.0]), 2), describe_lines(None, 2)
    ('5 rows in 2 lines', '2 rows')
    """
    size = rows_behind(weights, n)
    return describe_rows(size if weights is not None and are_whole(weights) else n, n, size, noun)


def squares(weights: Array, counts: Array | None = None) -> Array:
    """Return what rows of these weights add to the variance of Σ w x, (n,), per variance of one x: w²/k for k rows.

    >>> squares(np.array([2.0, 3.0])), squares(np.array([0.5, 1.5])), squares(np.array([4.0]), np.array([2.0]))
    (array([2., 3.]), array([0.25, 2.25]), array([8.]))
    """
    if counts is None:
        return weights if are_whole(weights) else weights**2
    return weights**2 / counts


def scaled(weights: Array) -> Array:
    """Weights of any shape times a power of two, the largest below 1: exact, and no product of two is too small.

    >>> scaled(np.array([1.0, 3.0]))
    array([0.25, 0.75])
    """
    return np.ldexp(weights, -np.frexp(weights.max())[1])

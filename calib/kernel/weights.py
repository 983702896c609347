"""Interpret weights: counts of rows if they are whole numbers, importance weights otherwise."""

from __future__ import annotations

import numpy as np

from calib.kernel.wording import describe_rows

Array = np.ndarray


def or_ones(weights: Array | None, n: int) -> Array:
    """Return the weights (n,), or ones if there are none."""
    return np.ones(n) if weights is None else weights


def represented_rows(weights: Array | None, n: int) -> int:
    """Return how many rows n lines with these weights (n,) represent; n if there are no weights.

    >>> represented_rows(np.array([2.0, 3.0]), 2), represented_rows(None, 2)
    (5, 2)
    """
    return round(float(or_ones(weights, n).sum()))


def are_whole(weights: Array) -> bool:
    """Tell whether weights (n,) are counts of rows."""
    return bool((weights == np.floor(weights)).all())


def effective_weights(weights: Array, counts: Array | None = None) -> Array:
    """Scale positive weights (n,) to sum to the effective sample size of a weighted mean (Kish 1965).

    This is (Σw)²/Σ(w²/k), if row i represents k_i independent rows. Whole weights are counts of rows and are not
    changed. The result does not depend on the scale of other weights, and scaling it again does not change it.

    Parameters
    ----------
    weights : (n,)
        Positive weights.
    counts : (n,)
        Counts k, if weights are not only counts of rows, as at a deployment base rate. By default, whole weights are
        their own counts, and a row of any other weight is one row.

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
    """Scale positive weights (n,) that are not counts to their effective sample size; equal weights become 1.

    No other result is a whole number, so weights of a subset of rows are never mistaken for counts.

    >>> importance_weights(np.array([2.0, 6.0])), importance_weights(np.array([9.0, 9.0]))
    (array([0.4, 1.2]), array([1., 1.]))
    >>> bool(are_whole(importance_weights(np.array([1.0, 1.0, 4.0, 4.0, 5.0]))))
    False
    """
    each = scaled(weights)
    if (each == each[0]).all():
        return np.ones(len(each))
    each = each * (each.sum() / (each @ each))
    whole = (each == np.floor(each)) & (each > 0)  # 0 if a weight is negligible relative to the largest one
    return np.where(whole, np.nextafter(each, np.inf), each)


def describe_lines(weights: Array | None, n: int, noun: str = "row") -> str:
    """State how many rows n lines with these weights (n,) represent, or their effective number.

    >>> describe_lines(np.array([2.0, 3.0]), 2), describe_lines(None, 2)
    ('5 rows in 2 lines', '2 rows')
    """
    size = represented_rows(weights, n)
    return describe_rows(size if weights is not None and are_whole(weights) else n, n, size, noun)


def squares(weights: Array, counts: Array | None = None) -> Array:
    """Return the contribution (n,) of each row to the variance of Σ w x, per variance of one x: w²/k for k rows.

    >>> squares(np.array([2.0, 3.0])), squares(np.array([0.5, 1.5])), squares(np.array([4.0]), np.array([2.0]))
    (array([2., 3.]), array([0.25, 2.25]), array([8.]))
    """
    if counts is None:
        return weights if are_whole(weights) else weights**2
    return weights**2 / counts


def scaled(weights: Array) -> Array:
    """Multiply weights of any shape by a power of two so that all are below 1: exact, and products do not underflow.

    >>> scaled(np.array([1.0, 3.0]))
    array([0.25, 0.75])
    """
    return np.ldexp(weights, -np.frexp(weights.max())[1])

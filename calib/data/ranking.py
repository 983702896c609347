"""Compute how well columns rank two classes: the area under the ROC curve, with an interval for small samples.

The interval contains every area θ that is compatible with the observed one, |AUC − θ| ≤ z·se(θ), with the standard
error of Hanley and McNeil (1982). Its width is never 0, not even at AUC 0 and 1 (Newcombe 2006). It includes one half
exactly if the Mann–Whitney test is not significant.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import norm, rankdata

from calib.kernel.isotonic_regression import pool_ties, rank_area
from calib.kernel.rows import Rows

RANKED_STEPS = 10_001


def column_aucs(columns: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Compute the area under the ROC curve of several columns, (k,); ties count one half.

    Parameters
    ----------
    columns : (n, k)
        Finite numbers.
    y : (n,)
        Labels, 0 and 1.
    weight : (n,)
        Weight of each row.

    Examples
    --------
    >>> column_aucs(np.array([[0.1, 3.0], [0.9, 3.0], [0.8, 3.0]]), np.array([0, 1, 1]))
    array([1. , 0.5])
    """
    if weight is not None:
        return np.array([rank_area(pool_ties(column, y, weight)) for column in columns.T])
    ones = int(np.sum(y))
    pairs = ones * (len(y) - ones)
    if not pairs:
        return np.full(columns.shape[1], np.nan)
    return (
        rankdata(np.ascontiguousarray(columns.T), axis=1)[:, y == 1].sum(axis=1) - ones * (ones + 1) / 2
    ) / pairs


def class_draws(rows: Rows) -> tuple[float, float] | None:
    """Return the number of independent draws of class 1 and of class 0: rows, or clusters with such a row.

    Return None if a class has none, or if all rows belong to one cluster.

    >>> class_draws(Rows(np.array([0, 0, 1, 1]), cluster=np.array([5, 5, 5, 6])))
    (2.0, 1.0)
    """
    held = [rows.y == label for label in (1, 0)]
    if rows.cluster_index is None:
        draws = [rows.effective_number(selected) for selected in held]
    else:
        draws = [float(len(np.unique(rows.cluster_index[selected]))) for selected in held]
    return None if min(draws) <= 0 or rows.freedom <= 0 else (draws[0], draws[1])


def auc_interval(area: float, ones: float, zeros: float, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of areas compatible with ``area``, observed with ``ones`` and ``zeros`` rows, at ``level``.

    >>> [round(end, 2) for end in auc_interval(0.5, 100, 100)], auc_interval(1.0, 3, 3)[1]
    ([0.42, 0.58], 1.0)
    """
    theta = np.linspace(0, 1, RANKED_STEPS)
    higher, lower = theta / (2 - theta), 2 * theta**2 / (1 + theta)
    variance = theta * (1 - theta) + (ones - 1) * (higher - theta**2) + (zeros - 1) * (lower - theta**2)
    width = norm.isf((1 - level) / 2) * np.sqrt(np.maximum(variance, 0) / (ones * zeros))
    inside = theta[np.abs(theta - area) <= np.maximum(width, 0.5 / RANKED_STEPS)]
    return float(inside.min()), float(inside.max())

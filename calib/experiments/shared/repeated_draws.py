"""Summaries of many draws: running means, and the frequency of class 1 among equal predictions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calib.kernel.checks import Array

DRAW_BINS = 10


@dataclass(frozen=True, eq=False)
class RunningMean:
    """Mean of the first t values and its standard error, for some t. Arrays (k,)."""

    t: Array
    mean: Array
    error: Array


def running_mean(values: Array, points: int = 200) -> RunningMean:
    """Compute means of the first t of (n,) values, for t from 10 to n in equal steps of log t.

    >>> running_mean(np.array([1.0, 0.0] * 8)).mean[-1:]
    array([0.5])
    """
    n = len(values)
    t = np.unique(np.geomspace(min(10, n), n, points).astype(int))
    mean = np.cumsum(values)[t - 1] / t
    square = np.cumsum(values**2)[t - 1] / t
    return RunningMean(t, mean, np.sqrt(np.maximum(square - mean**2, 0) / np.maximum(t - 1, 1)))


def by_level(y: Array, p: Array, groups: int = DRAW_BINS) -> pd.DataFrame:
    """Compute mean p and frequency of class 1 in groups of about equal size; equal p stay together.

    Parameters
    ----------
    y, p : (n,)
    groups
        Largest number of groups.

    Returns
    -------
    DataFrame
        Columns p, observed, draws and error: √(Σ p(1 − p))/n, the standard error of the frequency if every p is right.

    Examples
    --------
    >>> by_level(np.array([0, 1, 1, 1]), np.array([0.5, 0.5, 1.0, 1.0]), groups=2)[["p", "observed"]].to_numpy()
    array([[0.5, 0.5],
           [1. , 1. ]])
    """
    order = np.argsort(p, kind="stable")
    rank = np.empty(len(p))
    rank[order] = np.arange(len(p))
    _, value = np.unique(p, return_inverse=True)
    middle = np.bincount(value, weights=rank) / np.bincount(value)  # mean rank per value
    group = np.unique(np.floor(groups * middle / len(p)).astype(int)[value], return_inverse=True)[1]
    n = np.bincount(group)
    mean_p, observed = (np.bincount(group, weights=values) / n for values in (p, y))
    variance = np.clip(p * (1 - p), 0, None)  # a mean of ones may exceed 1 by rounding
    error = np.sqrt(np.bincount(group, weights=variance)) / n
    return pd.DataFrame({"p": mean_p, "observed": observed, "error": error, "draws": n})

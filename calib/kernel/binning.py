"""Assign values to bins over [0, 1] and sum over bins, for ECE, Murphy's decomposition, diagrams and taxonomies.

Bins are closed on the left, [0, 1/B), …, [1 − 1/B, 1] (P2 eq. 8). The index tolerates rounding of decimals, so 0.15
and 0.29, whose product with the number of bins is just below a whole number, belong to the upper bin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from calib.kernel.checks import Array, InputError, in_range, one_of, score_vector, short_repr
from calib.kernel.weights import are_whole

BINS = 20  # default number of bins
STRATEGIES = {"uniform": "Equal width", "quantile": "Equal count"}


@dataclass(frozen=True, eq=False)
class Bins:
    """Bin of each value, and the edges of the bins.

    Attributes
    ----------
    index : int (n,)
        Bin of each value.
    edges : (B + 1,)
        Increasing edges, from the lowest to the highest.
    """

    index: Array
    edges: Array

    @property
    def count(self) -> int:
        return len(self.edges) - 1


class PerBin:
    """Arrays of one length, one entry per bin, and the edges between them."""

    edges: Array

    def to_frame(self) -> pd.DataFrame:
        """Return one row per bin: its left and right edge, then one column per array."""
        arrays = {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        edges = arrays.pop("edges")
        return pd.DataFrame({"left": edges[:-1], "right": edges[1:], **arrays})


def checked_bins(bins: Any) -> int | tuple[float, ...]:
    """Return a number of bins, or own edges from 0 to 1; refuse anything else.

    >>> checked_bins(20), checked_bins([0, 0.1, 0.2, 1])
    (20, (0.0, 0.1, 0.2, 1.0))
    """
    if np.ndim(bins) == 0:
        return in_range(bins, "bins", low=1, integer=True)
    edges = score_vector(bins, "bins")
    if len(edges) < 2 or edges[0] != 0 or edges[-1] != 1 or (np.diff(edges) <= 0).any():
        raise InputError(
            "bins must be a whole number, or edges that increase from 0 to 1, such as [0, 0.1, 0.2, 1], but is "
            f"{short_repr(bins)}."
        )
    return tuple(edges.tolist())


def bin_index(p: Array, bins: int) -> Array:
    """Return ``min(B − 1, floor(p B + 1e-9))`` for p (n,) in [0, 1], int (n,).

    >>> bin_index(np.array([0.0, 0.1499, 0.15, 1.0]), 20)
    array([ 0,  2,  3, 19])
    """
    return np.minimum(bins - 1, np.floor(p * bins + 1e-9).astype(np.intp))


def uniform_breaks(bins: int) -> Array:
    """Return the breaks of bins of equal width, (bins − 1,): the smallest p in the next bin by ``bin_index``.

    >>> uniform_breaks(20)[2] <= 0.15 < uniform_breaks(20)[3]
    np.True_
    """
    numbers = np.arange(1, bins)
    breaks = (numbers - 1e-9) / bins
    while (low := np.floor(breaks * bins + 1e-9) < numbers).any():
        breaks[low] = np.nextafter(breaks[low], 1)
    while (high := np.floor(np.nextafter(breaks, 0) * bins + 1e-9) >= numbers).any():
        breaks[high] = np.nextafter(breaks[high], 0)
    return breaks


def quantile_edges(values: Array, bins: int, weights: Array | None = None) -> Array:
    """Return edges of bins with equally many values, strictly increasing.

    Edges are quantiles by linear interpolation at rank (n − 1) i / B. Ranks are integers, so an edge that should equal
    a value does. Equal edges (ties) become one edge, so there may be fewer bins. A single distinct value gets one bin
    of width zero.

    Parameters
    ----------
    values : (n,)
        At least one value.
    bins
        Largest number of bins.
    weights : (n,)
        A value of weight w counts w times. If weights are not counts, ranks are shares of their sum.

    Examples
    --------
    >>> quantile_edges(np.array([1.0, 2.0, 3.0, 9.0, 9.0]), 2)
    array([1., 3., 9.])
    """
    ordered, upto = _ranked(values, weights)
    if upto is not None and not are_whole(upto):
        edges = np.unique(
            ordered[np.searchsorted(upto, upto[-1] * np.arange(bins + 1) / bins).clip(0, len(ordered) - 1)]
        )
        return edges if len(edges) > 1 else np.repeat(edges, 2)
    n = len(ordered) if upto is None else int(upto[-1])
    rank, rest = np.divmod((n - 1) * np.arange(bins + 1), bins)
    here, above = (
        ordered[each if upto is None else np.searchsorted(upto, each, side="right")]
        for each in (rank, np.minimum(rank + 1, n - 1))
    )
    edges = np.unique(here + (above - here) * (rest / bins))
    return edges if len(edges) > 1 else np.repeat(edges, 2)


def quantiles(values: Array, shares: Array, weights: Array | None = None) -> Array:
    """Return quantiles of ``values`` (n,) by linear interpolation at rank (N − 1) share; weight w counts w times.

    >>> quantiles(np.array([3.0, 1.0]), np.array([0.5, 1.0]), np.array([1.0, 2.0]))    # of 1, 1, 3
    array([1., 3.])
    """
    if weights is None:
        return np.quantile(values, shares)
    ordered, upto = _ranked(values, weights)
    assert upto is not None
    at = np.maximum(upto[-1] - 1, 0) * np.asarray(shares)
    low = np.floor(at)
    here, above = (
        ordered[np.searchsorted(upto, rank, side="right").clip(0, len(ordered) - 1)]
        for rank in (low, np.ceil(at))
    )
    return here + (above - here) * (at - low)


def _ranked(values: Array, weights: Array | None) -> tuple[Array, Array | None]:
    """Return (sorted values (n,), the cumulative sum of their weights or None)."""
    if weights is None:
        return np.sort(values), None
    order = np.argsort(values)
    return values[order], np.cumsum(weights[order])


def edge_index(values: Array, edges: Array) -> Array:
    """Return the bin [edges[b], edges[b + 1]) of each value, int (n,); values outside go to the nearest bin.

    >>> edge_index(np.array([0.0, 3.0, 9.0, 10.0]), np.array([1.0, 3.0, 9.0]))
    array([0, 1, 1, 1])
    """
    return np.searchsorted(edges[1:-1], values, side="right")


def binned(p: Array, bins: ArrayLike, strategy: str = "uniform", weights: Array | None = None) -> Bins:
    """Assign probabilities to bins.

    Parameters
    ----------
    p : (n,) in [0, 1]
    bins
        Number of bins, or their edges (B + 1,), from 0 to 1.
    strategy
        "uniform" for bins of equal width, or "quantile" for equally many values per bin; edges need none.
    weights : (n,)
        Weight of each value.

    Examples
    --------
    >>> binned(np.array([0.05, 0.1, 0.9]), [0, 0.1, 0.2, 1]).index
    array([0, 1, 2])
    """
    one_of(strategy, STRATEGIES, "strategy")
    bins = checked_bins(bins)
    if isinstance(bins, tuple):
        edges = np.array(bins)
        return Bins(edge_index(p, edges), edges)
    if strategy == "uniform":
        return Bins(bin_index(p, bins), np.arange(bins + 1) / bins)
    edges = quantile_edges(p, bins, weights)
    return Bins(edge_index(p, edges), edges)


def group_sums(index: Array, groups: int, values: Array | None = None, weights: Array | None = None) -> Array:
    """Return the sum of the values in each group, (groups,); without values, the number of entries.

    Parameters
    ----------
    index : int (n,)
        Group of each value, from 0 to ``groups`` − 1.
    values, weights : (n,)
        Values, and their weights.

    Examples
    --------
    >>> group_sums(np.array([0, 2, 0]), 3, np.array([0.5, 1.0, 0.25]))
    array([0.75, 0.  , 1.  ])
    """
    each = values if weights is None else weights if values is None else values * weights
    return np.bincount(index, weights=each, minlength=groups).astype(np.float64)


# Weights for local regression: the tricube kernel, and the distance to the nearest rows (Cleveland 1979).


def tricube(distance: Array, least: float = 0.0) -> Array:
    """Return the tricube weight (1 − |u|³)³ of distances u in units of the window, with 1 − |u|³ at least ``least``.

    >>> tricube(np.array([0.0, 0.5, 1.0, 2.0])).round(3)
    array([1.  , 0.67, 0.  , 0.  ])
    """
    return np.clip(1 - np.abs(distance) ** 3, least, 1) ** 3


def reach_of_nearest(distance: Array, count: Array, rows: float) -> Array:
    """Return how far (g,) the nearest ``rows`` reach from each point; distance (g, cells), rows per cell (cells,).

    >>> reach_of_nearest(np.array([[0.0, 1.0, 3.0]]), np.array([2.0, 2.0, 2.0]), 3)
    array([1.])
    """
    order = np.argsort(distance, axis=1, kind="stable")
    enough = np.cumsum(count[order], axis=1) >= rows
    nearest = np.take_along_axis(order, np.argmax(enough, axis=1)[:, None], axis=1)
    return np.take_along_axis(distance, nearest, axis=1)[:, 0]

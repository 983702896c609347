"""Status at a horizon under censoring: weights, Kaplan–Meier and Aalen–Johansen estimates, and their influences.

A row that is censored before the horizon t has an unknown status. Every other row has the weight 1 / G(u−), with
u = min(T, t) and G the Kaplan–Meier curve of the censoring (Graf et al. 1999; Gerds & Schumacher 2006). G is a left
limit, and events come before censorings of the same time. A row that is censored exactly at t is free of the event by
t, so data that are cut at t can be evaluated at t. Weighted frequencies of events are the Kaplan–Meier estimate, or
Aalen–Johansen's with competing events, and the weights of n rows add up to n.

Let R(s) be the rows that can still be censored at s, λ(s) the share of them that is, and K(s) the mean of w h over the
rows with u > s. The mean of w h then changes with the weight of row i by

    ψᵢ = wᵢ hᵢ + 1(i is censored before t) K(uᵢ) − Σ λ(s) K(s), over the times s at which i is in R(s),

which is the infinitesimal jackknife: the last two terms are the uncertainty of G. Means of ψ² therefore give standard
errors that count it, and F + ψ of h = y − F are pseudo-values (Andersen & Perme 2010).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy  # it imports its parts when they are first used

from calib.kernel.rows import Rows

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Censoring:
    """Rows followed in time, up to a horizon.

    Attributes
    ----------
    time : (n,)
        Time of the event or of the censoring.
    event : int (n,)
        0 for censored, 1 for the event, 2 for a competing event.
    horizon
        Time up to which events count.
    weight : (n,)
        Weight of each row by design, or None.
    cluster : int (n,)
        Cluster of each row, or None.
    group : int (n,)
        Group of each row, from 0; censoring is estimated within each.

    Examples
    --------
    >>> found = Censoring(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 0]), 3.5)
    >>> found.weights, found.risk                     # after the censoring at 2, each of two rows counts for 1.5
    (array([1. , 0. , 1.5, 1.5]), 0.625)
    """

    time: Array
    event: Array
    horizon: float
    weight: Array | None = None
    cluster: Array | None = None
    group: Array | None = None

    @property
    def n(self) -> int:
        return len(self.time)

    @cached_property
    def censored(self) -> Array:
        """Whether each row is censored before the horizon, so that its status is unknown, bool (n,)."""
        return (self.event == 0) & (self.time < self.horizon)

    @cached_property
    def y(self) -> Array:
        """Whether each row has the event by the horizon, int (n,); 0 if unknown."""
        return ((self.event == 1) & (self.time <= self.horizon)).astype(np.intp)

    @cached_property
    def rows(self) -> Rows:
        """All rows as a sample, from which standard errors of means of influences are computed."""
        return Rows(self.y, weight=self.weight, cluster=self.cluster)

    @cached_property
    def _followed(self) -> list[tuple[Array, _Followed]]:
        group = np.zeros(self.n, np.intp) if self.group is None else self.group
        until = np.minimum(self.time, self.horizon)
        places = [np.flatnonzero(group == each) for each in range(int(group.max()) + 1)]
        return [(at, _Followed(until[at], self.censored[at], self.rows.weights[at])) for at in places]

    @property
    def unreached(self) -> list[int]:
        """Groups in which nobody is followed up to the horizon, so that their risk is unknown."""
        return [number for number, (_, each) in enumerate(self._followed) if not each.reaches]

    @cached_property
    def weights(self) -> Array:
        """Inverse probability of censoring weights (n,), without weights by design; 0 if the status is unknown."""
        return self._by_group((at, each.weights) for at, each in self._followed)

    @cached_property
    def risk(self) -> float:
        """Risk of the event by the horizon: Kaplan–Meier, or Aalen–Johansen with competing events."""
        return self.rows.mean(self.weights * self.y)

    def influence(self, values: Array) -> Array:
        """Return ψ (n, …) of values h (n, …): how their weighted mean depends on each row, and so on G."""
        return self._by_group((at, each.influence(values[at])) for at, each in self._followed)

    @cached_property
    def pseudo_values(self) -> Array:
        """Pseudo-values (n,) of the event by the horizon: their means over groups of rows estimate the risk.

        >>> Censoring(np.array([1.0, 2.0, 3.0]), np.array([1, 1, 0]), 2.5).pseudo_values        # nobody is censored
        array([1., 1., 0.])
        """
        return self.risk + self.influence(self.y - self.risk)

    def _by_group(self, parts: Iterator[tuple[Array, Array]]) -> Array:
        """Return (n, …) from the places and values of each group."""
        places, values = zip(*parts, strict=True)
        joined = np.concatenate(values)
        joined[np.concatenate(places)] = joined.copy()
        return joined


@dataclass(frozen=True, eq=False)
class _Followed:
    """Rows of one group: last known time u up to the horizon, whether censored before it, and weight, all (n,)."""

    until: Array
    censored: Array
    weight: Array

    @cached_property
    def _times(self) -> Array:
        """Distinct times of censoring, (k,)."""
        return np.unique(self.until[self.censored])

    @cached_property
    def _order(self) -> tuple[Array, Array]:
        """Order of the rows by time, and the first place (k,) in it after each time of censoring."""
        order = np.argsort(self.until, kind="stable")
        return order, np.searchsorted(self.until[order], self._times, side="right")

    def _after(self, values: Array) -> Array:
        """Return sums (k, …) of values (n, …) over the rows that are followed beyond each time of censoring."""
        order, first = self._order
        sums = np.cumsum(values[order[::-1]], axis=0)[::-1]
        return np.concatenate([sums, np.zeros((1, *sums.shape[1:]))])[first]

    @cached_property
    def left(self) -> Array:
        return self._after(self.weight)

    @property
    def reaches(self) -> bool:
        return bool((self.left > 0).all())

    @cached_property
    def hazard(self) -> Array:
        """Share λ (k,) of the rows at risk that is censored at each time."""
        at = np.searchsorted(self._times, self.until[self.censored])
        leaving = np.bincount(at, self.weight[self.censored], minlength=len(self._times))
        return leaving / (self.left + leaving)

    @cached_property
    def _before(self) -> Array:
        """Number of times of censoring before each row's own, int (n,)."""
        return np.searchsorted(self._times, self.until)

    @cached_property
    def weights(self) -> Array:
        with np.errstate(divide="ignore"):  # nobody is left
            inverse = np.append(1.0, 1 / np.cumprod(1 - self.hazard))
        return np.where(self.censored, 0.0, inverse[self._before])

    def influence(self, values: Array) -> Array:
        shape = (-1,) + (1,) * (values.ndim - 1)
        weighted = self.weights.reshape(shape) * values
        means = self._after(self.weight.reshape(shape) * weighted) / self.left.reshape(shape)
        taken = np.cumsum(self.hazard.reshape(shape) * means, axis=0)
        taken = np.concatenate([np.zeros((1, *taken.shape[1:])), taken])
        found = weighted - taken[self._before + self.censored]
        found[self.censored] += means[self._before[self.censored]]
        return found


@dataclass(frozen=True, eq=False)
class CensoredRows(Rows):
    """Rows of known status, whose standard errors count that the weights are estimated.

    Each row is a draw of its own, or belongs to its cluster: intervals then rest on influences.

    Attributes
    ----------
    censoring
        All rows, with those of unknown status.
    places : int (n,)
        Position of each of these rows among all rows.
    """

    censoring: Censoring = field(kw_only=True)
    places: Array = field(kw_only=True)

    def each_alone(self) -> CensoredRows:
        """Return the rows without clusters, also among those of unknown status."""
        return replace(self, cluster=self.places, censoring=replace(self.censoring, cluster=None))

    @property
    def freedom(self) -> float:
        return self.censoring.rows.freedom

    @cached_property
    def effective_freedom(self) -> float:
        return self.censoring.rows.effective_freedom

    def covariance(self, values: Any) -> Array:
        """Return the covariance (k, k) of the weighted means of ``values`` (n, k), dense or sparse."""
        dense = values.toarray() if scipy.sparse.issparse(values) else np.asarray(values)
        every = np.zeros((self.censoring.n, dense.shape[1]))
        every[self.places] = dense - self.weights @ dense / self.weights.sum()
        known, rows = np.zeros(self.censoring.n), self.censoring.rows
        known[self.places] = self.censoring.weights[self.places]
        return rows.covariance(self.censoring.influence(every)) / rows.mean(known) ** 2

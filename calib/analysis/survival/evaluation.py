"""Evaluation of risks by a horizon: rows of known status with their weights, and intervals that count the censoring.

Every metric is that of the weighted rows (Brier score: Graf et al. 1999; AUC of cumulative cases and dynamic controls:
Uno et al. 2007; Blanche et al. 2013). Two use the predictions of all rows, also of censored ones: O/E is the Kaplan–
Meier or Aalen–Johansen risk over the mean prediction, and ICI, E50 and E90 (Austin, Harrell & van Klaveren 2020) are
distances from the loess curve of the pseudo-values over log(−log(1 − risk)).

Status at a horizon under censoring: weights, Kaplan–Meier and Aalen–Johansen estimates, and their influences.

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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from calib.evaluate import Evaluation
from calib.kernel.binning import binned, group_sums
from calib.kernel.binomial import binomial_interval
from calib.kernel.cache import cached_result
from calib.kernel.checks import Array, InputError
from calib.kernel.records import Predictions
from calib.kernel.rows import Rows
from calib.kernel.wording import counted
from calib.metrics.confidence_intervals import LEAST_ERROR, LEVEL, NO_ENDS, Ends, about_ratio
from calib.metrics.distances import (
    SmoothCells,
    curve_errors,
    curve_gaps,
    curve_noise,
    distance_interval,
    in_cells,
    smooth_cells,
)
from calib.metrics.ici import SmoothDifferences


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


LEAST_RISK = 1e-6  # distance from 0 and 1 to which risks are clipped on the scale of the curve
TURNED = "If these are survival probabilities, pass 1 − survival."
QUANTILE_OF_ERROR = {"e50": 0.5, "e90": 0.9, "emax": 1.0}  # of the distances between curve and risks


def log_minus_log(p: Array) -> Array:
    """Return log(−log(1 − p)), on which a Cox model is linear.

    >>> log_minus_log(np.array([0.0, 1 - np.exp(-1)])).round(6) + 0.0
    array([-13.81551,   0.     ])
    """
    return np.log(-np.log1p(-np.clip(p, LEAST_RISK, 1 - LEAST_RISK)))


@dataclass(frozen=True, eq=False)
class CensoredEvaluation(Evaluation):
    """Evaluation on the rows whose status at the horizon is known.

    Attributes
    ----------
    censoring
        All rows, with those of unknown status.
    risks
        Name → predicted risk of all rows, (n,).
    """

    censoring: Censoring = field(kw_only=True)
    risks: Mapping[str, Array] = field(kw_only=True)

    @property
    def sample(self) -> Rows:
        """Rows of known status as a sample, whose standard errors count the censoring."""
        if not self.censoring.censored.any():
            return super().sample
        places = np.flatnonzero(~self.censoring.censored)[self.rows]
        cluster = places if self.censoring.cluster is None else self.censoring.cluster[places]
        return CensoredRows(
            self.y, weight=self.weight, cluster=cluster, censoring=self.censoring, places=places
        )

    def view(self, k: int | str, name: str | None = None) -> Evaluation:
        """Return this evaluation; refuse other views, because only the risk of the event counts the censoring.

        Raises
        ------
        InputError
            If k is not 1.
        """
        if k != 1:
            raise InputError(f"k must be 1, the event: only its risk counts the censored rows, not {k!r}.")
        return self

    @property
    def verdict(self) -> Any:
        """Verdict on the first risks, with how many rows were censored."""
        found, first = super().verdict, next(iter(self.predictions))
        turned = [TURNED] if self.estimate("auc", first).high < 0.5 else []
        return replace(found, sentences=(*found.sentences, *turned, *self.dataset.notes))

    @cached_property
    def _pseudo_rows(self) -> Rows:
        """All rows, with pseudo-values in place of labels."""
        return replace(self.censoring.rows, y=self.censoring.pseudo_values)

    def _cells(self, key: str) -> SmoothCells:
        return cached_result(
            self.predictions[key],
            "pseudo_cells",
            lambda: smooth_cells(self._pseudo_rows, self.risks[key], log_minus_log),
        )

    def curve(self, key: str, level: float = LEVEL) -> pd.DataFrame:
        """Return the smooth curve of the pseudo-values: columns risk, observed, lower and upper (pointwise)."""
        cells, rows = self._cells(key), self._pseudo_rows
        half = rows.quantile(level) * curve_errors(rows, cells)
        ends = (np.clip(cells.observed + sign * half, 0, 1) for sign in (-1, 1))
        columns = ("risk", "observed", "lower", "upper")
        return pd.DataFrame(dict(zip(columns, (cells.points, cells.observed, *ends), strict=True)))

    def bins(self, key: str, bins: ArrayLike = 10, level: float = LEVEL) -> pd.DataFrame:
        """Return one row per quantile bin of the risk, with the Kaplan–Meier or Aalen–Johansen risk within the bin.

        The censoring is estimated in each bin. ``lower`` and ``upper`` are Wilson's interval for as many rows as have
        the standard error of that risk. Both are NaN, as is ``observed``, if nobody in the bin is followed up to the
        horizon.
        """
        p, rows = self.risks[key], self.censoring.rows
        placed = binned(p, bins, "quantile", rows.weight)
        at, k = placed.index, placed.count
        within = replace(self.censoring, group=at)
        y, known = within.y, ~within.censored
        total, events, followed, risk = (
            group_sums(at, k, values, rows.weights) for values in (None, y, known, p)
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            observed = group_sums(at, k, within.weights * y, rows.weights) / total
            observed[within.unreached] = np.nan
            spread = within.influence(y - observed[at])
            error = np.sqrt(np.diag(rows.covariance(in_cells(np.nan_to_num(spread), at, k)))) * (
                rows.weights.sum() / total
            )
            worth = np.where(error > LEAST_ERROR, observed * (1 - observed) / error**2, followed)
            worth[within.unreached] = np.nan
            mean = risk / total
        low, high = binomial_interval(observed * worth, worth, quantile=rows.quantile(level))
        return pd.DataFrame(
            {
                "left": placed.edges[:-1],
                "right": placed.edges[1:],
                "rows": total,
                "events": events,
                "censored": total - followed,
                "risk": mean,
                "observed": observed,
                "lower": low,
                "upper": high,
            }
        )

    def _measure(self, key: str, predictions: Predictions) -> float:
        name = next((name for name, each in self.predictions.items() if each is predictions), None)
        if self.selected or name is None:
            return super()._measure(key, predictions)
        if key == "observed_expected":
            return self.censoring.risk / self.censoring.rows.mean(self.risks[name])
        if key == "ici":
            return self._from_curve(name).mean
        if key in QUANTILE_OF_ERROR:
            return float(self._from_curve(name).quantile(QUANTILE_OF_ERROR[key]))
        return super()._measure(key, predictions)

    def has_interval(self, metric: str) -> bool:
        """Tell whether ``interval`` knows this metric; here it knows E50, E90 and Emax too."""
        return metric in QUANTILE_OF_ERROR or super().has_interval(metric)

    def interval(self, metric: str, key: str) -> Ends:
        """Return the ends of the 95 % interval of a metric, which count that the censoring is estimated."""
        if metric in QUANTILE_OF_ERROR:
            share = QUANTILE_OF_ERROR[metric]
            return cached_result(
                self.predictions[key], ("pseudo", share), lambda: self._quantile_ends(share, key)
            )
        if self.selected or not self.censoring.censored.any():
            return super().interval(metric, key)
        if metric == "observed_expected":
            return self._ratio_ends(self.risks[key])
        if metric == "ici":
            return cached_result(self.predictions[key], "pseudo_ici", lambda: self._ici_ends(self.risks[key]))
        return super().interval(metric, key)

    def _ratio_ends(self, p: Array) -> Ends:
        """Return the interval of O/E on the logarithmic scale, with the influences of O and of E."""
        observed, rows = self.censoring.risk, self.censoring.rows
        expected = rows.mean(p)
        influence = self.censoring.influence(self.censoring.y - observed) / observed - p / expected
        return about_ratio(observed / expected, rows.quantile(LEVEL) * rows.standard_error(influence))

    def _from_curve(self, key: str, noise: Any = 0.0) -> SmoothDifferences:
        """Return the curve, plus noise (m, k) if there is any, beside the predictions."""
        cells = self._cells(key)
        return SmoothDifferences(cells.points, cells.count, cells.observed + noise)

    def _quantile_ends(self, share: float, key: str) -> Ends:
        """Return the interval of a quantile of the distances, by a parametric bootstrap of the curve.

        Noise makes distances larger. The upper end is the quantile of the drawn distances, which is therefore safe. The
        lower end is as far below the value, or 0 if noise alone could give the value.
        """
        noise = curve_noise(self._pseudo_rows, self.risks[key], self._cells(key), seed=0)
        if self.selected or noise is None:
            return NO_ENDS
        found, tail = self._from_curve(key), (1 + LEVEL) / 2
        value = float(found.quantile(share))
        high = float(np.quantile(self._from_curve(key, noise).quantile(share), tail))
        right = replace(found, observed=found.points + noise)
        low = 2 * value - high if value > np.quantile(right.quantile(share), tail) else 0.0
        return max(low, 0.0), min(high, 1.0)

    def _ici_ends(self, p: Array) -> Ends:
        rows = self._pseudo_rows
        return distance_interval(curve_gaps(rows, p, log_minus_log), rows, LEVEL, seed=0)


def censored_note(censoring: Censoring) -> str:
    """State how many rows were censored before the horizon, or "" if none was."""
    lost = int(censoring.censored.sum())
    if not lost:
        return ""
    were, censored = ("was", "row") if lost == 1 else ("were", "rows")
    return (
        f"{lost:,} of {counted(censoring.n, 'row')} {were} censored before {censoring.horizon:g}; the other rows "
        f"are weighted to represent the censored {censored}."
    )

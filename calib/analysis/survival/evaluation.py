"""Evaluation of risks by a horizon: rows of known status with their weights, and intervals that count the censoring.

Every metric is that of the weighted rows (Brier score: Graf et al. 1999; AUC of cumulative cases and dynamic controls:
Uno et al. 2007; Blanche et al. 2013). Two use the predictions of all rows, also of censored ones: O/E is the Kaplan–
Meier or Aalen–Johansen risk over the mean prediction, and ICI, E50 and E90 (Austin, Harrell & van Klaveren 2020) are
distances from the loess curve of the pseudo-values over log(−log(1 − risk)).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from calib.analysis.survival.censoring import CensoredRows, Censoring
from calib.evaluate import Evaluation
from calib.kernel.binning import binned, group_sums
from calib.kernel.binomial import binomial_interval
from calib.kernel.cache import cached_result
from calib.kernel.checks import InputError
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

Array = np.ndarray

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

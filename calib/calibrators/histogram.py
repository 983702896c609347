"""Histogram binning: the frequency of class 1 among the calibration rows in the same bin of scores.

Zadrozny and Elkan 2001, "Obtaining calibrated probability estimates from decision trees and naive Bayesian
classifiers", with bins of equal count (theirs) or of equal width.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from calib.calibrators.base import CLAMPED, ScoreCalibrator
from calib.kernel.binning import STRATEGIES, group_sums, quantile_edges, uniform_breaks
from calib.kernel.checks import Array
from calib.kernel.fields import Fields
from calib.kernel.formula import Expression, piecewise
from calib.kernel.records import Parameter
from calib.kernel.weights import are_whole, or_ones


class Histogram(ScoreCalibrator):
    """Histogram binning of probabilities, ``p = c_k / n_k`` in the bin k of the score; optional weights.

    ``counts_`` (k,) and ``positives_`` (k,) are n_k and c_k; the next bin begins at ``breaks_`` (k − 1,). A bin
    without calibration rows returns the score itself. Beyond the outermost bins with rows, the map is constant.

    Parameters
    ----------
    bins
        Number of bins, from 2 to 1000.
    strategy
        "quantile" for equally many calibration rows per bin (fewer bins if scores are tied), or "uniform" for
        equal width over [0, 1].

    Examples
    --------
    >>> histogram = Histogram(bins=2).fit([0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [0, 0, 1, 0, 1, 1])
    >>> histogram.predict([0.15, 0.85]).round(6)
    array([0.333333, 0.666667])
    >>> Histogram(bins=4, strategy="uniform").fit([0.1, 0.9], [0, 1]).predict([0.2, 0.6, 0.8])
    array([0. , 0.6, 1. ])
    """

    key = "histogram"
    label = "Histogram binning"
    name = "histogram binning"
    source = "Zadrozny and Elkan 2001"
    input = "probability"
    monotone = False
    beyond = CLAMPED
    weighted = True
    complexity = 4.8
    kind = "bins"
    parameters = (
        Parameter(
            "bins",
            "Bins",
            "integer",
            10,
            low=2,
            high=1000,
            help="With more bins, the calibration curve follows the data more closely but is noisier.",
        ),
        Parameter(
            "strategy",
            "Binning",
            "choice",
            "quantile",
            choices={key: STRATEGIES[key] for key in reversed(STRATEGIES)},
            help="Bins contain equal numbers of calibration rows, or have equal width.",
        ),
    )

    def __init__(self, bins: int = 10, strategy: Literal["quantile", "uniform"] = "quantile"):
        self.bins = bins
        self.strategy = strategy

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        weights = or_ones(weights, len(y))
        if self.strategy == "uniform":
            self.breaks_ = uniform_breaks(self.bins)
        else:
            self.breaks_ = quantile_edges(scores, self.bins, weights if are_whole(weights) else None)[1:-1]
        self.breaks_ = self.breaks_[slice(*self._bin(np.array([scores.min(), scores.max()])))]
        index, bins = self._bin(scores), len(self.breaks_) + 1
        self.counts_ = group_sums(index, bins, weights)
        self.positives_ = group_sums(index, bins, weights * y)

    def _bin(self, scores: Array) -> Array:
        return np.searchsorted(self.breaks_, scores, side="right")

    def _map(self, scores: Array) -> Array:
        index = self._bin(scores)
        counts = self.counts_[index]
        return np.where(counts > 0, self.positives_[index] / np.maximum(counts, np.finfo(float).tiny), scores)

    def _formula(self, score: Expression) -> Expression:
        known = self.counts_ > 0
        frequencies = np.where(known, self.positives_ / np.maximum(self.counts_, np.finfo(float).tiny), 0.0)
        return piecewise(score, self.breaks_, np.zeros(len(known)), np.column_stack([frequencies, ~known]))

    def to_map(self) -> dict[str, Any]:
        return self._learned("breaks", "counts", "positives")

    @classmethod
    def from_map(cls, fields: Fields) -> Histogram:
        breaks = fields.numbers("breaks", increasing=True, probabilities=True)
        counts, positives = (fields.numbers(name, length=len(breaks) + 1) for name in ("counts", "positives"))
        if ((positives < 0) | (positives > counts)).any():
            raise fields.refuse("positives", "must not be negative or exceed the counts")
        return cls()._with_learned(breaks=breaks, counts=counts, positives=positives)

"""Venn predictor: the frequency in the row's category, with the row itself added with either label.

Vovk et al. 2004; Johansson et al. 2019, eq. 3–6. With n_k calibration rows in the category, c_k of class 1,
``p0 = c_k / (n_k + 1)`` and ``p1 = (c_k + 1) / (n_k + 1)``.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from calib.calibrators.base import IntervalCalibrator, Steps
from calib.calibrators.merge import MERGE
from calib.calibrators.step_pairs import StepPairs, pairs_map
from calib.kernel.binning import STRATEGIES, bin_index, edge_index, group_sums, quantile_edges, uniform_breaks
from calib.kernel.checks import Array, InputError
from calib.kernel.fields import Fields
from calib.kernel.records import Parameter


class Venn(IntervalCalibrator):
    """Venn prediction with a taxonomy of the score.

    ``counts_`` and ``positives_`` (categories,) are n_k and c_k. An empty category gives (0, 1).

    Parameters
    ----------
    taxonomy
        "label" for the predicted label, 1 above ``threshold`` (as in the papers; use 0 for margins); "uniform" for
        ``bins`` equal-width bins of [0, 1], for probabilities only; "quantile" for ``bins`` bins with equally many
        calibration scores, fewer if scores are tied.
    merge
        Rule that merges the pair: "log", "square" or "midpoint".

    Examples
    --------
    >>> venn = Venn().fit([0.1, 0.6, 0.7, 0.9], [0, 0, 1, 1])
    >>> venn.predict_interval([0.2, 0.8])    # 0 of 1 and 2 of 3, and the row itself
    array([[0. , 0.5 ],
           [0.5 , 0.75]])
    """

    key = "venn"
    label = "Venn predictor"
    name = "the Venn predictor"
    source = "Vovk et al. 2004; Johansson et al. 2019, eq. 3–6"
    counts_rows = True
    beyond = "taken from their category, or [0, 1] if the category has no calibration rows"
    complexity = 6
    kind = "pairs"
    weighted = True
    parameters = (
        Parameter(
            "taxonomy",
            "Categories",
            "choice",
            "label",
            choices={"label": "Label", **STRATEGIES},
            help="Compare a row with calibration rows that have the same predicted label or are in the same "
            "score bin.",
        ),
        Parameter(
            "bins",
            "Score bins",
            "integer",
            10,
            low=1,
            high=1000,
            help="Number of score bins.",
            only_with=("taxonomy", ("uniform", "quantile")),
        ),
        Parameter(
            "threshold",
            "Threshold",
            "number",
            0.5,
            help="Scores above this threshold predict class 1; use 0 for margins.",
            only_with=("taxonomy", ("label",)),
        ),
        MERGE,
    )

    def __init__(
        self,
        taxonomy: Literal["label", "uniform", "quantile"] = "label",
        bins: int = 10,
        threshold: float = 0.5,
        merge: Literal["log", "square", "midpoint"] = "log",
    ):
        self.taxonomy = taxonomy
        self.bins = bins
        self.threshold = threshold
        self.merge = merge

    def adapt(self, scores: Array, probability: bool, decides: bool) -> None:
        """Predict class 1 of a margin above 0, unless another threshold is set."""
        if not probability and self.threshold == 0.5:
            self.threshold = 0.0

    def _learn(self, scores: Array, y: Array, weights: Array | None) -> None:
        groups = 2 if self.taxonomy == "label" else self.bins
        if self.taxonomy == "quantile":
            self.edges_ = quantile_edges(scores, self.bins, weights)
            groups = len(self.edges_) - 1
        self.weights_ = weights
        self.categories_, self.labels_ = self._category(scores), y
        self.counts_ = group_sums(self.categories_, groups, weights=weights)
        self.positives_ = group_sums(self.categories_, groups, y, weights)

    def _category(self, scores: Array) -> Array:
        if self.taxonomy == "label":
            return (scores > self.threshold).astype(np.intp)
        if self.taxonomy == "quantile":
            return edge_index(scores, self.edges_)
        if scores.size and (scores.min() < 0 or scores.max() > 1):
            raise InputError(
                "venn: taxonomy 'uniform' divides [0, 1] into equal bins, but your scores range from "
                f"{scores.min():g} to {scores.max():g}. For margins, use the taxonomy 'quantile' or 'label'."
            )
        return bin_index(scores, self.bins)

    def _pairs(self, scores: Array) -> Array:
        category = self._category(scores)
        return _pair(self.counts_[category], self.positives_[category])

    def _pairs_without(self, scores: Array, removed: Array) -> Array:
        category = self._category(scores)
        shared = self.categories_[removed] == category
        return _pair(
            self.counts_[category] - shared, self.positives_[category] - shared * self.labels_[removed]
        )

    @property
    def takes(self) -> str:
        # Equal-width bins are bins of [0, 1]
        return "probability" if self.taxonomy == "uniform" else self.input

    def to_map(self) -> dict[str, Any]:
        return pairs_map(*self._steps())

    @classmethod
    def from_map(cls, fields: Fields) -> StepPairs:
        return StepPairs.from_map(fields)

    def _steps(self) -> tuple[Steps, Steps]:
        starts = self._starts()
        p0, p1 = _pair(self.counts_, self.positives_).T
        # the first score of a category belongs to it in both
        return (starts, p0), (np.nextafter(starts, -np.inf), p1)

    def _starts(self) -> Array:
        """Return the smallest score of each category but the first."""
        if self.taxonomy == "label":
            return np.nextafter(np.array([self.threshold], dtype=np.float64), np.inf)
        if self.taxonomy == "quantile":
            return self.edges_[1:-1]
        return uniform_breaks(self.bins)


def _pair(counts: Array, positives: Array) -> Array:
    return np.column_stack([positives, positives + 1]) / (counts + 1)[:, None]

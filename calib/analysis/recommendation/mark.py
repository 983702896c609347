"""One mark of a reliability diagram in words: the model's prediction for its rows, and the outcome."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import binom

from calib.analysis.clusters import sampling_effect
from calib.analysis.curves import FEW_IN_BIN, curve_of
from calib.analysis.differences import reference_of
from calib.analysis.selection import selected_rows, write_ranges
from calib.calibrators import name_of
from calib.evaluate import Evaluation
from calib.kernel.wording import are_in_class, briefly


@dataclass(frozen=True)
class MarkedBin:
    """Rows in one bin of a calibrator's predictions.

    Attributes
    ----------
    calibrator
        The calibrator that made the predictions.
    low, high
        The bin, [low, high).
    rows
        Number of test rows in it, by weight if they have weights.
    predicted
        Mean prediction.
    observed
        Frequency of class 1.
    positive
        Name of class 1.
    beyond_chance
        Whether the two differ by more than the largest gap of as many bins does by chance, in 95 of 100 samples.
    """

    calibrator: str
    low: float
    high: float
    rows: float
    predicted: float
    observed: float
    positive: str
    beyond_chance: bool = True

    @property
    def selection(self) -> tuple[str, ...]:
        """The bin as a range of rows, as pages and figures use it."""
        return write_ranges([(self.calibrator, self.low, self.high)])

    @property
    def sentence(self) -> str:
        """Compare the prediction with the observed frequency in a sentence.

        >>> MarkedBin("platt", 0.8, 0.85, 9, 0.82, 1.0, "odd").sentence
        "For these 9 rows Platt scaling predicted 82 % on average; all 9 are in class 'odd' (100 %). It underestimated."
        """
        whose = "the model" if self.calibrator == "none" else name_of(self.calibrator)
        predicted, observed = briefly(100 * self.predicted, 100 * self.observed, whole=100)
        verdict = "It overestimated" if self.predicted > self.observed else "It underestimated"
        if not self.beyond_chance:
            verdict = "Chance alone may explain the gap"
        return (
            f"For these {self.rows:,.0f} rows {whose} predicted {predicted} % on average; "
            f"{'all ' * (self.observed == 1)}{are_in_class(self.rows * self.observed, self.positive)} "
            f"({observed} %). {verdict}."
        )


def telling_mark(evaluation: Evaluation) -> MarkedBin | None:
    """Return the mark of the model's own predictions that is farthest from the diagonal, in standard errors.

    None if every bin has few rows. The standard error is that of a frequency whose probability is the mean
    prediction, √(p (1 − p) / n), with p clipped to 1/n … 1 − 1/n.
    """
    key = reference_of(evaluation.predictions)
    curve = curve_of(evaluation, key)
    enough = np.flatnonzero(curve.count >= FEW_IN_BIN)
    if not enough.size:
        return None
    count, mean = curve.count[enough], curve.mean_p[enough]
    p = np.clip(mean, 1 / count, 1 - 1 / count)
    off = np.abs(curve.observed[enough] - mean) / np.sqrt(p * (1 - p) / count)
    at = int(enough[np.argmax(off)])
    lows, highs = np.r_[0.0, curve.edges[1:-1]], np.r_[curve.edges[1:-1], 1.0]
    low, high, rows, predicted, observed = (
        float(each[at]) for each in (lows, highs, curve.count, curve.mean_p, curve.observed)
    )
    sure = _sure(evaluation, key, rows, predicted, observed)
    return MarkedBin(key, low, high, rows, predicted, observed, evaluation.dataset.classes[1], sure)


def sentence_after(evaluation: Evaluation, mark: MarkedBin, key: str) -> str:
    """Compare what a calibrator predicts for the rows of a mark with their observed frequency, in a sentence."""
    at = selected_rows(evaluation, mark.selection)
    rows = evaluation.predictions[key].of(at)
    predicted = float(np.average(rows.p, weights=rows.weight))
    sure = _sure(evaluation, mark.calibrator, mark.rows, predicted, mark.observed)
    return replace(mark, calibrator=key, predicted=predicted, beyond_chance=sure).sentence


def _sure(evaluation: Evaluation, key: str, rows: float, predicted: float, observed: float) -> bool:
    """Tell whether the largest gap of as many bins as the model's own predictions fill is rarely so large by chance."""
    bins = int((curve_of(evaluation, key).count >= FEW_IN_BIN).sum())
    return _chance(rows / sampling_effect(evaluation, key), predicted, observed) < 0.05 / bins


def _chance(rows: float, predicted: float, observed: float) -> float:
    """Return the two-sided p-value of a frequency whose probability is the mean prediction.

    >>> _chance(2, 0.5, 1.0), _chance(77, 0.0, 2 / 77)     # both rows of two; and events with the prediction 0
    (0.5, 0.0)
    """
    events, n = round(rows * observed), round(rows)
    return 2 * float(min(binom.cdf(events, n, predicted), binom.sf(events - 1, n, predicted)))

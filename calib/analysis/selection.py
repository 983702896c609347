"""Rows selected on a diagram: ranges of predictions → test rows with their predictions and features.

A range calibrator:low:high selects the test rows whose prediction by that calibrator lies in [low, high),
or up to and including 1; several ranges select the rows in any of them. A bin of the diagram is such a
range.

One mark, with its prediction and outcome, is also told in words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.stats import binom

from calib.analysis.clusters import sampling_effect
from calib.analysis.curves import FEW_IN_BIN, curve_of
from calib.analysis.differences import reference_of
from calib.calibrators import CALIBRATORS, name_of
from calib.evaluate import Evaluation
from calib.kernel import checks
from calib.kernel.wording import are_in_class, briefly

EDGE_TOLERANCE = 1e-11  # the same tolerance as in calib.kernel.binning, for decimals just below an edge


def write_ranges(ranges: Iterable[tuple[str, float, float]]) -> tuple[str, ...]:
    """Write ranges (calibrator, low, high) as a selection; ranges that touch or overlap are joined.

    >>> write_ranges([("platt", 0.5, 0.75), ("none", 0.0, 0.1), ("platt", 0.25, 0.5)])
    ('none:0.0:0.1', 'platt:0.25:0.75')
    """
    merged: list[list] = []
    for key, low, high in sorted(ranges):
        if merged and merged[-1][0] == key and low <= merged[-1][2]:
            merged[-1][2] = max(high, merged[-1][2])
        else:
            merged.append([key, low, high])
    return tuple(f"{key}:{float(low)!r}:{float(high)!r}" for key, low, high in merged)


def read_ranges(selection: Iterable[str]) -> list[tuple[str, float, float]]:
    """Read ranges that ``write_ranges`` wrote.

    >>> read_ranges(["platt:0.25:0.75"])
    [('platt', 0.25, 0.75)]
    """
    parts = [check_range(item, "selection").split(":") for item in selection]
    return [(key, float(low), float(high)) for key, low, high in parts]


def check_range(item: str, name: str) -> str:
    """Refuse a text that is not a range calibrator:low:high."""
    key, *ends = item.split(":")
    checks.one_of(key, CALIBRATORS, name)
    try:
        low, high = map(float, ends)
    except ValueError:
        low, high = 1.0, 0.0
    if not 0 <= low < high <= 1:
        raise checks.InputError(
            f"{name} must be calibrator:low:high with 0 <= low < high <= 1, but is {item!r}."
        )
    return item


def selected_rows(evaluation: Evaluation, selection: Iterable[str]) -> np.ndarray:
    """Return the positions of the selected test rows; ranges of absent calibrators select none."""
    picked = np.zeros(len(evaluation.y), dtype=bool)
    for key, low, high in read_ranges(selection):
        if key in evaluation.predictions:
            p = evaluation.predictions[key].p
            picked |= (p >= low - EDGE_TOLERANCE) & ((p < high - EDGE_TOLERANCE) | (high == 1))
    return np.flatnonzero(picked)


def selected_frame(evaluation: Evaluation, selection: Iterable[str], most: int | None = None) -> pd.DataFrame:
    """Return the selected rows (the first ``most`` of them) as ``rows_frame`` lists them."""
    return rows_frame(evaluation, selected_rows(evaluation, selection)[:most])


def rows_frame(evaluation: Evaluation, rows: np.ndarray) -> pd.DataFrame:
    """Return the test rows at these positions: number, class, predictions, then features."""
    predicted = {key: predicted.p[rows] for key, predicted in evaluation.predictions.items()}
    names = np.asarray(evaluation.dataset.classes, dtype=object)[evaluation.y[rows]]
    features = evaluation.dataset.X.iloc[evaluation.rows[rows]]
    known = pd.DataFrame(
        {"row": evaluation.dataset.row_numbers[evaluation.rows[rows]], "class": names, **predicted},
        index=features.index,
    )
    # A feature called like one of these columns gets a suffix
    named = features.rename(columns=lambda name: f"{name} (feature)" if str(name) in known else str(name))
    return pd.concat([known, named], axis=1)


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

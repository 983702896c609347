"""Several models on the same rows: which is the best as it is, and only then which is the best once calibrated.

Calibration repairs levels, not the order of rows: a model that is worse uncalibrated may be the better one
afterwards, and a comparison that mixes the two questions answers neither. Differences in Brier score have the
interval of the paired t test, where the test rows are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from calib.analysis.differences import paired_interval
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.kernel.wording import change, number
from calib.metrics.scoring import squared_errors


def answer(evaluations: Mapping[str, Evaluation]) -> str:
    """The best of several evaluations by name, uncalibrated first; empty for fewer than two uncalibrated models.

    >>> from calib import Recipe, evaluate, load_sample
    >>> data = load_sample("digits")
    >>> both = {key: evaluate(Recipe(model=key, calibrators=("none",)), data) for key in ("naive_bayes", "svm")}
    >>> answer(both)                                                 # margins are no probabilities
    ''
    """
    scores = {
        (name, key): float(value)
        for name, one in evaluations.items()
        for key, value in one.measured(["brier"])["brier"].items()
    }
    raw = {name: score for (name, key), score in scores.items() if key == "none"}
    if len(raw) < 2:
        return ""
    best = min(raw, key=lambda name: raw[name])
    gaps = [f"{other} {_gap(evaluations, best, other, raw)}" for other in raw if other != best]
    first = (
        f"Uncalibrated, {best} has the lowest Brier score, {number(raw[best])}; against it {'; '.join(gaps)}."
    )
    calibrated = {place: score for place, score in scores.items() if place[1] != "none"}
    if not calibrated:
        return first
    name, key = min(calibrated, key=lambda place: calibrated[place])
    return f"{first} Calibrated, the lowest is {name} with {label_of(key)}: {number(calibrated[name, key])}."


def _gap(evaluations: Mapping[str, Evaluation], best: str, other: str, raw: Mapping[str, float]) -> str:
    """How much higher another model's score is, with its interval where the rows are the same."""
    one, two = evaluations[best], evaluations[other]
    if not same_rows((one, two)):
        return f"{change(raw[other] - raw[best], np.nan, np.nan)} on other test rows"
    higher, lowest = (squared_errors(each.y, each.predictions["none"].p) for each in (two, one))
    value, lower, upper = paired_interval(higher, lowest, one.weight, one.cluster)
    apart = "" if lower > 0 else ", no more than sampling variability"
    return f"{change(value, lower, upper)}{apart}"


def same_rows(evaluations: Iterable[Evaluation]) -> bool:
    """Whether numbers of these evaluations may be set against each other."""
    first, *others = evaluations
    return all(
        e.dataset.digest == first.dataset.digest and np.array_equal(e.rows, first.rows) for e in others
    )

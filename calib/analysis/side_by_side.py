"""Comparison of several models on the same rows: first uncalibrated, then calibrated.

Calibration corrects levels, not the order of rows: a model that is worse uncalibrated may be better once
calibrated, so the two questions are answered separately. Differences in Brier score have the
interval of a paired difference, if the test rows are the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from calib.analysis.differences import PER_ROW
from calib.calibrators import name_of
from calib.evaluate import Evaluation
from calib.kernel.wording import change, number, some_of
from calib.metrics.confidence_intervals import LEVEL, View
from calib.metrics.paired_intervals import difference_interval

Place = tuple[str, str]  # name of an evaluation, and calibrator


def answer(evaluations: Mapping[str, Evaluation]) -> str:
    """Name the best of several evaluations, uncalibrated first; empty for fewer than two uncalibrated models.

    >>> from calib import Recipe, evaluate, load_sample
    >>> data = load_sample("digits")
    >>> both = {key: evaluate(Recipe(model=key, calibrators=("none",)), data) for key in ("naive_bayes", "svm")}
    >>> answer(both)                                                 # margins are not probabilities
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
        f"Without calibration, {best} has the lowest Brier score, {number(raw[best])}. Differences from this Recipe: "
        f"{'; '.join(gaps)}."
    )
    calibrated = {place: score for place, score in scores.items() if place[1] != "none"}
    if not calibrated:
        return first
    lowest = name, key = min(calibrated, key=lambda place: calibrated[place])
    others = [place for place in calibrated if place != lowest]
    then = (
        f"After calibration, {name} with {name_of(key)} has the lowest Brier score: "
        f"{number(calibrated[lowest])}"
    )
    return f"{first} {then}{how_sure(evaluations, lowest, others, 'brier')}."


def _gap(evaluations: Mapping[str, Evaluation], best: str, other: str, raw: Mapping[str, float]) -> str:
    """Describe by how much another model's score is higher, with its interval if the rows are the same."""
    one, two = evaluations[best], evaluations[other]
    if not same_rows((one, two)):
        return f"{change(raw[other] - raw[best], np.nan, np.nan)} on other test rows"
    higher, lowest = (each.predictions["none"].p for each in (two, one))
    value, lower, upper = difference_interval("brier", one.sample, higher, lowest, view_of_all(len(raw)))
    apart = "" if lower > 0 else ", no clear difference"
    return f"{change(value, lower, upper)}{apart}"


def how_sure(evaluations: Mapping[str, Evaluation], best: Place, others: Sequence[Place], metric: str) -> str:
    """State how many others are clearly different from the best value.

    This is known for a mean over rows if the rows are the same.
    """
    if not others:
        return ""
    if metric not in PER_ROW or not same_rows(evaluations.values()):
        return "; differences may be due to chance"
    one = evaluations[best[0]]
    p = {place: evaluations[place[0]].predictions[place[1]].p for place in (best, *others)}
    view = view_of_all(len(p))
    found = [difference_interval(metric, one.sample, p[place], p[best], view) for place in others]
    sure = sum(lower > 0 or upper < 0 or math.isinf(value) for value, lower, upper in found)
    return f"; {some_of(sure, len(others), 'other')} {'is' if sure < 2 else 'are'} clearly different"


def view_of_all(methods: int) -> View:
    """Return the level at which all differences between these methods hold together in 95 % of test sets.

    This is the Bonferroni correction for all pairs, which include the differences from whichever method is the best.

    >>> round(view_of_all(4).level, 5)                                                # six pairs
    0.99167
    """
    return View(level=1 - (1 - LEVEL) / max(methods * (methods - 1) / 2, 1))


def same_rows(evaluations: Iterable[Evaluation]) -> bool:
    """Tell whether the numbers of these evaluations are comparable."""
    first, *others = evaluations
    return all(
        e.dataset.digest == first.dataset.digest and np.array_equal(e.rows, first.rows) for e in others
    )

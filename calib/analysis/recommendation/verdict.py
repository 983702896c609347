"""The verdict on calibration, the first sentence of every page and report: a finding on the model with its reason.

The finding is that of ``calibration_test``, which errs on at most 5 of 100 calibrated models. A miscalibration that
is found counts as negligible only if the rows show it: if ``largest_average_gap`` lies below ``NEGLIGIBLE_GAP``,
scaled by 4 f (1 − f) with f the share of class 1, so that the limit is smaller for rare events. If no miscalibration is
found, the sentence states how small a gap the rows could have shown.

A label whose predicted probability was 0 is a finding of its own: it rejects calibration, but shows neither level nor
slope nor shape, which are judged on the other rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from calib.analysis.differences import reference_of
from calib.calibrators import name_of
from calib.evaluate import Evaluation
from calib.kernel.binning import group_sums
from calib.kernel.cache import cached_result
from calib.kernel.isotonic_regression import pool_adjacent_violators, pool_ties
from calib.kernel.rows import ONE_CLUSTER, Rows
from calib.kernel.wording import brief, brief_percent, briefly, capital, counted, listed, percent
from calib.metrics.calibration_test import CalibrationTest, calibration_test, impossible, largest_average_gap
from calib.metrics.distances import gaps_by_chance, in_cells


def chance_sentence(evaluation: Evaluation) -> str:
    """State the ECE by chance for the model's own predictions; "" without predictions or with one cluster."""
    if not evaluation.predictions:
        return ""
    chance = evaluation.estimate("ece_chance", reference_of(evaluation.predictions)).value
    if chance != chance:
        return ""
    return f"{below_by_chance(evaluation, brief(chance))}."


def below_by_chance(evaluation: Evaluation, chance: str) -> str:
    """State the ECE by chance, as printed, as a clause."""
    return f"95 of 100 calibrated models would show an ECE below {chance} on these {evaluation.size_text}"


Array = np.ndarray

MISCALIBRATED, NEGLIGIBLE, NO_SIGN, TOO_FEW = "miscalibrated", "negligible", "no sign", "too few"
NEGLIGIBLE_GAP = 0.02  # largest negligible average gap, at a share of one half
BLIND = 0.2  # rows that could not show an average gap of this size are too few
NAMED_DEVIATION = 2.5  # standard deviations by which a range of predictions must deviate to be named
MEASURE_EXPLAINED = {
    "slope": "A slope below 1 means that the model is overconfident, above 1 underconfident.",
    "observed_expected": "O/E is the number of events observed, divided by the number expected.",
}
OVERESTIMATES, UNDERESTIMATES = "overestimates", "underestimates"


@dataclass(frozen=True)
class Verdict:
    """Finding on whether predictions are calibrated.

    Attributes
    ----------
    finding
        "miscalibrated", "negligible" (found, but too small to matter), "no sign" or "too few" (rows).
    sentences
        The finding and its reason, in words.
    p_value
        p-value of the test of calibration; NaN if there is none, 0 if a label had the predicted probability 0.
    unseen
        The average gap, in one direction, that the test finds in 80 of 100 test sets like this one.
    largest
        Upper end of the one-sided 95 % interval of the average gap in bins.

    Notes
    -----
    ``unseen`` and ``largest`` leave out rows whose label had the predicted probability 0.
    """

    finding: str
    sentences: tuple[str, ...]
    p_value: float = math.nan
    unseen: float = math.nan
    largest: float = math.nan

    @property
    def sentence(self) -> str:
        """The finding and the reason."""
        return " ".join(self.sentences)

    @property
    def headline(self) -> str:
        """The finding alone, as a title."""
        return self.sentences[0].removesuffix(".")


def verdict_of(evaluation: Evaluation, key: str | None = None) -> Verdict:
    """Judge the predictions of a calibrator, by default the uncalibrated model or else the first.

    At a deployment base rate the verdict is at the table's own, at which the labels were drawn. Predictions made
    elsewhere were not fitted on the table: if the split is a random one, all rows are judged.

    >>> from calib import Recipe, evaluate, load_sample
    >>> verdict_of(evaluate(Recipe(model="naive_bayes", calibrators=("none",)), load_sample("digits"))).finding
    'miscalibrated'
    """
    if evaluation.unadjusted is not None:
        found = verdict_of(evaluation.unadjusted, key)
        return replace(found, sentences=(*found.sentences, _at_its_own_rate(evaluation, key)))
    if not evaluation.predictions:
        return Verdict(TOO_FEW, ("None of the chosen calibrators can be fitted here.",))
    key = key or reference_of(evaluation.predictions)
    recipe, judged = evaluation.recipe, judged_rows(evaluation, key)
    found = cached_result(judged, ("verdict", key, recipe.bins, recipe.binning), lambda: _judge(judged, key))
    if judged is evaluation:
        return found
    return replace(found, sentences=(*found.sentences, _on_more_rows(evaluation, judged)))


def _at_its_own_rate(evaluation: Evaluation, key: str | None) -> str:
    """Explain why the ECE of the verdict differs from that of the metrics at a deployment base rate."""
    assert evaluation.unadjusted is not None
    if evaluation.whole is not None:
        return (
            "The verdict is based on the class shares in the evaluated rows, but metrics and diagrams on the "
            "deployment shares, so their ECE differs."
        )
    share = judged_rows(evaluation.unadjusted, key or "none").share
    return (
        f"The verdict is based on the base rate in the evaluated rows, {percent(share)}, but metrics and "
        f"diagrams on {percent(evaluation.share)}, so their ECE differs."
    )


def judged_rows(evaluation: Evaluation, key: str) -> Evaluation:
    """Return the uncalibrated model on all rows that it was not trained on, or a calibrator on the test set.

    At a deployment base rate, only the test set is known.
    """
    return evaluation.on_every_row() if key == "none" and evaluation.unadjusted is None else evaluation


def _on_more_rows(evaluation: Evaluation, judged: Evaluation) -> str:
    """Explain which numbers are of all rows, and which only of the test set of the calibrators."""
    return (
        f"The verdict uses all {judged.size_text}; comparisons with calibrators use {evaluation.size_text}."
    )


def _judge(evaluation: Evaluation, key: str) -> Verdict:
    predictions = evaluation.predictions[key]
    wrong = impossible(evaluation.y, predictions.p)
    if not wrong.any():
        found = _of_possible(evaluation, key)
        return replace(found, sentences=(*found.sentences, *_ranking(evaluation, key)))
    others = cached_result(predictions, "possible", lambda: evaluation.at(np.flatnonzero(~wrong)))
    first, apart = _said_impossible(evaluation, key, wrong)
    found = _of_possible(others.with_view(evaluation.recipe), key, apart)
    return replace(
        found,
        finding=MISCALIBRATED,
        p_value=0.0,
        sentences=(first, *found.sentences, *_ranking(evaluation, key)),
    )


def _of_possible(evaluation: Evaluation, key: str, apart: str = "") -> Verdict:
    """Judge rows whose labels are all possible; ``apart`` begins the sentence if others are left out."""
    rows, predictions = evaluation.sample, evaluation.predictions[key]
    p = predictions.p
    if rows.single_cluster:
        begins = f"{apart}, there are too" if apart else "Too"
        return Verdict(TOO_FEW, (f"{begins} few clusters to judge calibration.", ONE_CLUSTER))
    if apart and not (p * (1 - p)).any():
        return Verdict(MISCALIBRATED, (f"{apart}, no prediction is between 0 % and 100 %.",))
    # Cached with the predictions, because they do not depend on the bins
    test = cached_result(predictions, "calibration_test", lambda: calibration_test(rows, p))
    largest = cached_result(predictions, "largest_average_gap", lambda: largest_average_gap(rows, p))
    finding = finding_of(test, largest, rows.share)
    words = {MISCALIBRATED: _miscalibrated, NEGLIGIBLE: _negligible, NO_SIGN: _no_sign, TOO_FEW: _too_few}
    sentences = tuple(words[finding](evaluation, key, test, largest, apart))
    return Verdict(finding, sentences, test.p_value, test.unseen, largest)


def _said_impossible(evaluation: Evaluation, key: str, wrong: Array) -> tuple[str, str]:
    """Return the sentence on rows (n,) bool whose label had the predicted probability 0, and how the next begins."""
    y, p = evaluation.y, evaluation.predictions[key].p
    rows, least = evaluation.at(np.flatnonzero(wrong)).tested, np.minimum(p, 1 - p)[wrong].max()
    said = {
        (True, False): ("0 %", "the event happened"),
        (False, True): ("100 %", "the event did not happen"),
    }
    values, then = said.get(
        ((y[wrong] == 1).any(), (y[wrong] == 0).any()), ("0 % or 100 %", "the opposite happened")
    )
    who = "the model" if key == "none" else name_of(key)
    digits = " (to 16 digits)" if least > 0 else ""
    first = (
        f"For {counted(rows, 'row')} {who} predicted {values}{digits}, but {then}: no calibrated model does "
        f"this."
    )
    return first, f"Apart from {'this row' if rows == 1 else 'these rows'}"


def finding_of(test: CalibrationTest, largest: float, share: float) -> str:
    """Name the finding from a test, the largest average gap that the rows leave open, and the share of class 1."""
    if test.rejects:
        return NEGLIGIBLE if largest < NEGLIGIBLE_GAP * 4 * share * (1 - share) else MISCALIBRATED
    return TOO_FEW if test.unseen > BLIND else NO_SIGN


def _negligible(
    evaluation: Evaluation, key: str, test: CalibrationTest, largest: float, apart: str
) -> Iterator[str]:
    begins = apart or f"Miscalibrated{_whose(key)}, but only negligibly"
    yield f"{begins}: the average gap in bins is at most {brief(largest)} in {_rows(evaluation)}."


def _no_sign(
    evaluation: Evaluation, key: str, test: CalibrationTest, largest: float, apart: str
) -> Iterator[str]:
    begins = f"{apart}: no" if apart else "No"
    yield f"{begins} sign of miscalibration{'' if apart else _whose(key)} in {_rows(evaluation)}."
    yield (
        f"An average gap below {brief(test.unseen)} in one direction, or a larger gap that changes "
        f"direction, could have gone unnoticed."
    )


def _too_few(
    evaluation: Evaluation, key: str, test: CalibrationTest, largest: float, apart: str
) -> Iterator[str]:
    yield (
        f"{apart or f'Too few rows to judge calibration{_whose(key)}'}: in {_rows(evaluation)} even an average gap of "
        f"{brief(min(test.unseen, 1.0))} could go unnoticed."
    )


def _miscalibrated(
    evaluation: Evaluation, key: str, test: CalibrationTest, largest: float, apart: str
) -> Iterator[str]:
    """Yield where the predictions err and in which direction, a number for it, and the ECE beside that by chance."""
    who = "Not calibrated" if key == "none" else f"{capital(name_of(key))} is not calibrated"
    predictions = evaluation.predictions[key]
    where = cached_result(predictions, "stretches", lambda: stretches(evaluation.sample, predictions.p))
    does, said, explained = _number(evaluation, key, test, where)
    yield f"{apart or who}: it {does}{said}{f' in {_rows(evaluation)}' if apart else ''}."
    yield _against_chance(evaluation, key, test)
    yield from explained


def _ranking(evaluation: Evaluation, key: str) -> Iterator[str]:
    """Warn if the predictions may rank no better than chance, because calibration alone does not make them useful."""
    auc = evaluation.estimate("auc", key)
    if np.ptp(evaluation.predictions[key].p) == 0:
        yield "All predictions are equal, so the model does not rank the rows."
    elif auc.low <= 0.5:
        says = "may not rank better" if auc.high >= 0.5 else "ranks worse"
        yield f"The model {says} than chance: AUC {auc.text_apart(0.5)} in {auc.rows}."


def _whose(key: str) -> str:
    return "" if key == "none" else f" of {name_of(key)}"


def _rows(evaluation: Evaluation) -> str:
    """Describe the judged rows and their number of clusters."""
    rows = evaluation.sample
    clusters = "" if evaluation.cluster is None else f" of {counted(round(rows.freedom) + 1, 'cluster')}"
    return f"{evaluation.size_text}{clusters}"


def _against_chance(evaluation: Evaluation, key: str, test: CalibrationTest) -> str:
    """Compare the ECE with that of a calibrated model; if it is within, state the p-value of the whole finding."""
    # Without the interval of the ECE, which takes long
    ece, most = (evaluation.estimate(metric, key, interval=False).value for metric in ("ece", "ece_chance"))
    chance, seen = briefly(most, ece)
    said = f"{below_by_chance(evaluation, chance)}; the observed ECE is {seen}."
    if ece > most:
        return said
    return (
        f"{said} However, chance alone would produce such a pattern in only {brief_percent(test.p_value)} "
        f"of test sets."
    )


def _number(
    evaluation: Evaluation, key: str, test: CalibrationTest, where: list[str]
) -> tuple[str, str, tuple[str, ...]]:
    """Return what the predictions do, calibration slope or O/E if its interval excludes 1, and what that means.

    The clearer one is stated of several ranges. Of one range it is O/E, whose direction is that of the range. Without a
    clear O/E the range has no clear direction, and the slope has its own word.
    """
    found = []
    for look, metric, label in (("slope", "slope", "slope"), ("level", "observed_expected", "O/E")):
        estimate = evaluation.estimate(metric, key)
        if estimate.excludes(1):
            rank = (len(where) == 1 and look == "slope", test.looks[look])
            word = "is overconfident" if estimate.value < 1 else "is underconfident"
            does = word if rank[0] else listed(where)
            found.append((rank, does, f" ({label} {estimate.text_apart(1)})", (MEASURE_EXPLAINED[metric],)))
    return min(found)[1:] if found else (listed(where), "", ())


def stretches(rows: Rows, p: Array) -> list[str]:
    """Describe the ranges in which predictions p (n,) are clearly too high or too low, from the lowest up.

    The largest rise or fall of the cumulative differences between the CORP curve (isotonic regression) and p divides
    predictions into at most three ranges, which meet where the curve crosses the diagonal; a few labels between two
    clear ends cannot move that place. A range without a clear deviation joins its neighbour. Ends are rounded as they
    are printed before the rows are counted, so that each phrase holds for the rows that it names.

    >>> rows = Rows(np.repeat([0, 1, 0, 1], [900, 100, 100, 900]))       # 10 % of class 1, then 90 %
    >>> stretches(rows, np.repeat([0.05, 0.95], 1000)), stretches(rows, np.full(2000, 0.6))
    (['underestimates below 50 %', 'overestimates above'], ['overestimates'])
    """
    cuts = _cuts(rows, p)
    while cuts:
        sums, deviations = _off(rows, np.searchsorted(cuts, p, side="right"), p, len(cuts) + 1)
        clear = np.abs(sums) >= NAMED_DEVIATION * deviations
        joined = [
            i for i in range(len(cuts)) if not (clear[i] and clear[i + 1] and sums[i] * sums[i + 1] < 0)
        ]
        if not joined:
            break
        gone = min(
            joined, key=lambda i: min(abs(sums[i : i + 2]) / np.maximum(deviations[i : i + 2], 1e-300))
        )
        cuts = cuts[:gone] + cuts[gone + 1 :]
    else:
        sums = np.array([rows.weights @ (rows.y - p)])
    does = [UNDERESTIMATES if each > 0 else OVERESTIMATES for each in sums]
    return [what + where for what, where in zip(does, _places(cuts), strict=True)]


def _cuts(rows: Rows, p: Array) -> list[float]:
    """Return the ends of the largest rise or fall of the CORP curve's cumulative differences, rounded as printed."""
    tied = pool_ties(p, rows.y, rows.weight)
    corp = pool_adjacent_violators(tied.sums, tied.weights).fitted
    walk = np.append(0.0, np.cumsum(tied.weights * (corp - tied.scores)))
    at = sorted((int(walk.argmin()), int(walk.argmax())))
    inner = {_rounded(float(tied.scores[i - 1 : i + 1].mean())) for i in at if 0 < i < len(tied.scores)}
    return sorted(cut for cut in inner if tied.scores[0] < cut <= tied.scores[-1])


def _off(rows: Rows, at: Array, p: Array, k: int) -> tuple[Array, Array]:
    """Return the sums (k,) of label less prediction in ranges, and their standard deviations (k,) by chance."""
    variance = gaps_by_chance(rows, p, at, k)
    if rows.cluster is not None:  # a range without events varies less than it would by chance
        variance = np.maximum(variance, np.diag(rows.covariance(in_cells(rows.y - p, at, k))))
    return group_sums(at, k, rows.y - p, rows.weights), np.sqrt(variance) * rows.weights.sum()


def _places(cuts: list[float]) -> list[str]:
    """Describe the ranges between cuts: below the first, from one to the next, above the last."""
    if not cuts:
        return [""]
    named = [brief_percent(cut) for cut in cuts]
    between = [f" from {low} to {high}" for low, high in pairwise(named)]
    return [f" below {named[0]}", *between, " above"]


def _rounded(p: float) -> float:
    """Return a probability as it is printed, so that rows are divided at the printed place.

    >>> _rounded(0.3972), _rounded(0.00123), _rounded(0.967), _rounded(0.99712)
    (0.4, 0.0012, 0.97, 0.997)
    """
    try:
        return float(brief_percent(p).removesuffix("%")) / 100
    except ValueError:  # powers of ten
        return p

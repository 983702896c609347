"""Words and numbers agree: every sentence of a recommendation held against what was compared."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy.stats import ttest_rel

from calib import Recipe, evaluate, load_sample
from calib.analysis.differences import Repeats, differences
from calib.analysis.recommendation.advice import (
    LEAVE,
    NOTHING,
    TOO_FEW,
    Recommendation,
    _improvement,
    _none_is_better,
    _rivals,
    over_splits,
    recommend,
)
from calib.analysis.recommendation.choice import LITTLE, START, advise
from calib.calibrators import CALIBRATORS, label_of
from calib.kernel.wording import change, number
from tests.analysis.given import given_evaluation, jitter, known_truth
from tests.analysis.recommendation.test_choice import certain_and_wrong, methods


def bold(seed=0, n=1500):
    return known_truth(seed, n, lambda p: np.where(p > 0.5, 1 - (1 - p) ** 3, p**3))


def text(found):
    return " ".join(found.reasons)


# --- the answer
# -----------------------------------------------------------------------------------------------------


def test_a_bold_model_is_told_to_be_calibrated_by_how_much_and_what_is_worse():
    y, truth, predicted, rng = bold()
    found = recommend(
        given_evaluation(y, {"none": predicted, "platt": truth, "isotonic": jitter(truth, rng, 0.15)})
    )
    assert (found.answer, found.choice) == ("Use Platt scaling.", "platt")
    before, after = (np.mean((p - y) ** 2) for p in (predicted, truth))
    assert f"on the 1,500 test rows from {number(before)} to {number(after)}, −" in found.reasons[0]
    assert found.reasons[1].startswith("Worse than it: Isotonic regression +")
    assert "Uncalibrated" not in found.reasons[1]


def test_the_interval_in_words_is_the_t_interval_and_that_of_the_table_with_the_same_sign():
    y, truth, predicted, _ = known_truth(0, 1500, lambda p: p**2)
    evaluation = given_evaluation(y, {"none": predicted, "platt": truth})
    written = [
        float(x.replace("−", "-")) for x in re.findall(r"[−+]?\d[.\d]*\d", recommend(evaluation).reasons[0])
    ]
    expected = ttest_rel((truth - y) ** 2, (predicted - y) ** 2).confidence_interval(0.95)
    assert written[-2:] == pytest.approx([expected.low, expected.high], rel=0.05)
    line = differences(evaluation, ("brier",)).table.iloc[0]
    assert change(line.value, line.lower, line.upper) in recommend(evaluation).reasons[0]


def test_a_calibrated_model_is_left_alone_and_every_method_tried_is_named_with_its_interval():
    y, truth, predicted, rng = known_truth(3, 800)
    tried = {"platt": jitter(truth, rng, 0.02), "isotonic": jitter(truth, rng, 0.1)}
    found = recommend(given_evaluation(y, {"none": predicted, **tried}))
    assert (found.answer, found.choice) == (LEAVE, "none")
    table = advise(given_evaluation(y, {"none": predicted, **tried})).table
    for key in tried:
        assert f"{label_of(key)} {change(*table.loc[key, ['change', 'lower', 'upper']])}" in found.reasons[0]


def test_of_one_method_no_more_is_said_than_that_it_was_one():
    y, truth, predicted, rng = known_truth(3, 800)
    left = recommend(given_evaluation(y, {"none": predicted, "platt": jitter(truth, rng, 0.02)}))
    assert left.reasons[0].startswith("Platt scaling does not lower the Brier score")
    y, truth, predicted, _ = bold()
    used = recommend(given_evaluation(y, {"none": predicted, "platt": truth}))
    assert not any(word in text(used) for word in ("every", "Every", "all ", "No calibrator"))
    (left_out,) = [reason for reason in used.reasons if reason.startswith("Not compared: ")]
    assert all(
        CALIBRATORS[key].label in left_out for key in CALIBRATORS if key not in ("none", "platt", "rank")
    )
    assert "Platt" not in left_out


def test_what_cannot_be_told_apart_is_said_with_its_difference_and_the_simpler_one_is_named():
    y, truth, predicted, rng = known_truth(2, 800, lambda p: p**2)
    close = {key: jitter(truth, rng, 0.01) for key in ("venn_abers", "isotonic", "beta", "platt")}
    evaluation = given_evaluation(y, {"none": predicted, **close})
    found, table = recommend(evaluation), advise(evaluation).table
    sentence = next(
        reason for reason in found.reasons if reason.startswith("Not told apart from it by these rows")
    )
    for key in set(close) - {found.choice}:
        assert f"{label_of(key)} {change(*table.loc[key, ['gap', 'gap_lower', 'gap_upper']])}" in sentence
    assert ("is simpler" in sentence) == (found.choice != "platt")


def test_twice_the_score_is_never_as_good_without_a_number():
    y, truth, predicted, rng = known_truth(4, 60, lambda p: p**3)
    found = recommend(
        given_evaluation(y, {"none": predicted, "platt": truth, "venn_abers": jitter(truth, rng, 0.4)})
    )
    assert not re.search(r"as well|as good", text(found))


def test_equal_predictions_are_said_to_be_equal():
    y, truth, predicted, _ = bold()
    found = recommend(given_evaluation(y, {"none": predicted, "platt": truth, "ppa": predicted}))
    assert "PPA gives the same probabilities as Uncalibrated." in found.reasons
    assert (
        recommend(given_evaluation(y, {"none": predicted, "ppa": predicted}))
        .reasons[0]
        .startswith("Nothing compared changes them")
    )


# --- an infinite log loss
# -------------------------------------------------------------------------------------------


def test_an_infinite_log_loss_is_warned_of_and_never_left_alone_without_a_word():
    y, truth, _, rng = known_truth(7, 600)
    wrong = certain_and_wrong(truth, y)
    used = recommend(given_evaluation(y, {"none": wrong, "platt": jitter(truth, rng, 0.01)}))
    assert used.answer == "Use Platt scaling."
    assert (
        "no more than sampling variability; but Uncalibrated gave a probability of 0 or 1" in used.reasons[0]
    )
    assert used.warnings[0].startswith("Uncalibrated gave a probability of 0 or 1")
    dear = recommend(given_evaluation(y, {"none": wrong, "platt": jitter(truth, rng, 0.3)}))
    assert dear.answer == "Use Platt scaling."
    assert dear.reasons[0].startswith("It raises the Brier score on the 600 test rows from ")
    assert "but Uncalibrated gave a probability of 0 or 1 to a row that went the other way" in dear.reasons[0]


def test_a_method_that_is_passed_over_for_its_infinite_log_loss_is_named():
    y, truth, predicted, rng = known_truth(6, 600, lambda p: p**2)
    found = recommend(
        given_evaluation(
            y,
            {
                "none": predicted,
                "isotonic": certain_and_wrong(truth, y),
                "venn_abers": jitter(truth, rng, 0.01),
            },
        )
    )
    assert found.answer == "Use Venn–Abers."
    assert "Isotonic regression gave a probability of 0 or 1" in found.warnings[0]
    assert found.warnings[0].endswith("Venn–Abers never did.")


# --- passed over
# ----------------------------------------------------------------------------------------------------


def reasons_given(found, advice):
    """Each method said to be passed over, with the reason of its group."""
    said = [
        sentence for sentence in text(advice).split(". ") if sentence.startswith("Lower, but passed over: ")
    ]
    groups = [
        group for sentence in said for group in sentence.removeprefix("Lower, but passed over: ").split("; ")
    ]
    return {key: group for group in groups for key in found.table.index if f"{label_of(key)} −" in group}


def test_every_method_passed_over_is_given_its_own_reason():
    y, truth, predicted, _ = known_truth(0, 1500, lambda p: np.clip(p + 0.12, 0.02, 0.98))
    better = np.clip(np.where(y, np.sqrt(truth), truth**2), 0.01, 0.99)
    surer = better.copy()
    surer[np.flatnonzero(y == 0)[0]] = 1e-7
    evaluation = given_evaluation(
        y, {"none": predicted, "platt": truth, "beta": surer, "isotonic": certain_and_wrong(better, y)}
    )
    found = advise(evaluation)
    given = reasons_given(found, recommend(evaluation))
    assert found.choice == "platt"
    assert "nearer to 0 or 1" in given["beta"]
    assert "infinite log loss" in given["isotonic"]


def test_a_method_left_because_it_is_not_told_from_the_first_is_not_called_too_sure():
    """Platt gains nothing, Beta a little that is not told apart from Platt: the probabilities stay, and it says why."""
    y, truth, _, rng = known_truth(1, 4000)
    none, platt = (np.clip(truth + rng.normal(scale=0.08, size=len(y)), 0.01, 0.99) for _ in range(2))
    beta = none + 0.1 * (truth - none)  # a small gain, but on every row
    evaluation = given_evaluation(y, {"none": none, "platt": platt, "beta": beta})
    found, advice = advise(evaluation), recommend(evaluation)
    assert found.choice == "none"
    assert found.table.upper["beta"] < 0, found.table
    assert not found.table.sure["beta"]
    assert "not told apart from Platt scaling" in reasons_given(found, advice)["beta"]
    assert "nearer to 0 or 1" not in text(advice)


@given(methods())
@settings(max_examples=60, deadline=None)
def test_whatever_is_compared_no_reason_contradicts_the_table(case):
    y, predicted = case
    evaluation = given_evaluation(y, predicted, np.tile([0, 1], 500))
    found = advise(evaluation)
    improvement, none_better = _improvement(found, "") if found.compared else "", ""
    if found.choice == "none":
        improvement, none_better = "", _none_is_better(found, "")
    line, start = found.table.loc[found.choice], found.table.loc[found.start]
    if "leave room for a gain" in improvement:
        assert found.choice == found.start in START
        assert not line.lower > -LITTLE  # also where rows are too few for an interval, which the page says
    if "it lowers that of" in improvement:
        assert start.gap_lower > 0
    assert ("It lowers" in improvement) == (line.upper < 0 and found.compared and found.choice != "none")
    assert "It raises" not in improvement or line.lower > 0
    if "does not lower" in none_better:
        assert not start.upper < 0 or len(predicted) == 2
    for key, reason in reasons_given(
        found, Recommendation("", (improvement, none_better, *_rivals(found)))
    ).items():
        each = found.table.loc[key]
        assert ("infinite log loss" in reason) == each.infinite
        assert ("nearer to 0 or 1" in reason) == (each.sure and not each.infinite)


# --- too few rows, and nothing to compare
# ---------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "calibration"), [(18, 500), (1500, 5)])
def test_too_few_rows_make_the_answer_too_few_to_tell(n, calibration):
    y, truth, predicted, _ = bold(n=n)
    calibration_y = np.r_[np.zeros(100, int), np.ones(calibration, int)]
    found = recommend(given_evaluation(y, {"none": predicted, "platt": truth}, calibration_y))
    assert (found.answer, found.choice) == (TOO_FEW, None)
    assert "of the rarer class" in found.reasons[0]
    assert "Use" not in text(found)


@pytest.mark.parametrize("keys", [("none",), ("platt",)])
def test_one_method_is_compared_with_nothing(keys):
    y, truth, _, rng = known_truth(9, 300)
    found = recommend(given_evaluation(y, {key: jitter(truth, rng, 0.02) for key in keys}))
    assert (found.answer, found.choice) == (NOTHING, None)


def test_no_method_at_all_is_no_error():
    assert recommend(given_evaluation([0, 1], {})).answer == NOTHING


def test_without_the_uncalibrated_model_it_says_that_it_cannot_know_whether_calibrating_helps():
    y, truth, _, rng = known_truth(9, 900)
    found = recommend(given_evaluation(y, {key: jitter(truth, rng, 0.02) for key in ("platt", "beta")}))
    assert found.answer.startswith("Use ")
    assert "Not compared: Uncalibrated, " in found.reasons[-1]
    assert found.reasons[-1].endswith("Whether calibrating helps at all is therefore not known.")
    assert "lowers" not in text(found)


# --- repeated splits
# ------------------------------------------------------------------------------------------------


def splits(scores: dict[str, np.ndarray], ratio=3 / 7) -> Repeats:
    lines = [
        pd.DataFrame({"seed": range(len(v)), "calibrator": key, "brier": v}) for key, v in scores.items()
    ]
    return Repeats(pd.concat(lines, ignore_index=True), ratio)


def test_other_splits_are_set_beside_the_recommendation_and_do_not_turn_it():
    rng = np.random.default_rng(10)
    raw = 0.2 + rng.normal(scale=0.01, size=20)
    steady = splits({"none": raw, "platt": raw - 0.01 + rng.normal(scale=0.002, size=20)})
    unsteady = splits({"none": raw, "platt": raw - 0.003 + rng.normal(scale=0.01, size=20)})
    assert over_splits("platt", steady).endswith("beyond sampling variability.")
    assert "need not help" in over_splits("platt", unsteady)
    assert "no method compared lowers" in over_splits("none", unsteady)
    assert "lower than uncalibrated beyond sampling variability: Platt scaling −" in over_splits(
        "none", steady
    )
    # Nothing is said of the test rows: there the choice may rest on more than its own interval.
    assert not any(
        "test rows" in over_splits(key, each) for key in ("platt", "none") for each in (steady, unsteady)
    )
    assert over_splits(None, steady) == over_splits("beta", steady) == ""
    assert over_splits("platt", splits({"platt": raw})) == ""


# --- real sets
# ------------------------------------------------------------------------------------------------------


IN_SHORT = {("digits", "naive_bayes"), ("loans", "logistic_regression"), ("rare_faults", "naive_bayes")}
REAL = product(("digits", "breast_cancer", "loans", "rare_faults"), ("naive_bayes", "logistic_regression"))


@pytest.mark.parametrize(
    ("data", "model"), [pytest.param(*one, marks=() if one in IN_SHORT else pytest.mark.soak) for one in REAL]
)
def test_on_real_sets_no_sentence_contradicts_a_number(data, model):
    keys = tuple(key for key in CALIBRATORS if key != "rank")
    evaluation = evaluate(Recipe(data=f"sample:{data}", model=model, calibrators=keys), load_sample(data))
    found, table = recommend(evaluation), differences(evaluation).table
    brier = table[table["metric"] == "brier"].set_index("calibrator")
    if found.choice not in (None, "none"):
        said = ("infinite log loss", "nearer to 0 or 1", "leave room for a gain")
        assert brier.upper[found.choice] < 0 or any(words in found.reasons[0] for words in said)
        if "leave room for a gain" in found.reasons[0]:
            assert brier.lower[found.choice] <= -LITTLE
        assert np.isfinite(evaluation.metrics.log_loss[found.choice]) or found.warnings
    if found.answer == LEAVE:
        assert not (brier["upper"] < 0).any()
        assert np.isfinite(evaluation.metrics.log_loss["none"]) or found.warnings
    assert all(sentence.endswith(".") for sentence in (found.answer, *found.reasons, *found.warnings))
    assert not re.search(r"luck|\bnan\b|\binf\b", text(found))

"""Words and numbers agree: every sentence of a recommendation held against what was compared."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy.stats import ttest_rel

from calib import Recipe, check, evaluate, load_sample
from calib.analysis.differences import OtherSplits, differences
from calib.analysis.recommendation.advice import (
    LEAVE,
    NOTHING_TO_COMPARE,
    UNHELPED,
    UNKNOWN,
    headline,
    over_splits,
    recommend,
)
from calib.analysis.recommendation.rule import advise
from calib.analysis.recommendation.verdict import verdict_of
from calib.calibrators import CALIBRATORS, INPUT_TABLES, name_of
from calib.kernel.checks import InputError
from calib.kernel.wording import change
from calib.metrics import brier_score
from tests.analysis.given import given_evaluation, jitter, known_truth
from tests.analysis.recommendation.test_rule import certain_and_wrong, methods
from tests.saying import assert_any_says, assert_says


def overconfident(seed=0, n=1500):
    return known_truth(seed, n, lambda p: np.where(p > 0.5, 1 - (1 - p) ** 3, p**3))


def numbers(text):
    return [
        float(each.replace("−", "-").replace(",", "")) for each in re.findall(r"[−+]?\d[\d,.]*\d|\d", text)
    ]


def text(found):
    return " ".join((*found.reasons, *found.warnings))


# --- the answer


def test_an_overconfident_model_is_told_what_calibrating_changes_and_what_is_worse():
    y, truth, predicted, rng = overconfident()
    evaluation = given_evaluation(
        y, {"none": predicted, "platt": truth, "isotonic": jitter(truth, rng, 0.15)}
    )
    found = recommend(evaluation)
    assert (found.answer, found.choice) == ("Use Platt scaling.", "platt")
    before, after, _, low, high, rows = numbers(found.reasons[0])
    assert (before, after) == pytest.approx([np.mean((p - y) ** 2) for p in (predicted, truth)], rel=0.01)
    assert high < 0
    assert low < after - before < high
    assert rows == len(y)
    (worse,) = [reason for reason in found.reasons if "isotonic regression +" in reason]
    assert "higher" in worse


def test_the_interval_in_words_is_the_t_interval_and_that_of_the_table_with_the_same_sign():
    y, truth, predicted, _ = known_truth(0, 1500, lambda p: p**2)
    evaluation = given_evaluation(y, {"none": predicted, "platt": truth})
    expected = ttest_rel((truth - y) ** 2, (predicted - y) ** 2).confidence_interval(0.95)
    assert numbers(recommend(evaluation).reasons[0])[3:5] == pytest.approx(
        [expected.low, expected.high], rel=0.05
    )
    line = differences(evaluation, ("brier",)).table.iloc[0]
    assert change(line.value, line.lower, line.upper) in recommend(evaluation).reasons[0]


def test_a_calibrated_model_is_left_alone_and_every_method_compared_is_named_with_its_interval():
    y, truth, predicted, rng = known_truth(3, 800)
    tried = {"platt": jitter(truth, rng, 0.02), "isotonic": jitter(truth, rng, 0.1)}
    evaluation = given_evaluation(y, {"none": predicted, **tried})
    found, table = recommend(evaluation), advise(evaluation).table
    assert (found.answer, found.choice) == (LEAVE, "none")
    for key in tried:
        assert f"{name_of(key)} {change(*table.loc[key, ['change', 'lower', 'upper']])}" in found.reasons[0]


def test_what_was_not_compared_is_named():
    y, truth, predicted, _ = overconfident()
    found = recommend(given_evaluation(y, {"none": predicted, "platt": truth}))
    (left_out,) = [reason for reason in found.reasons if reason.startswith("Not compared: ")]
    assert all(
        name_of(key) in left_out
        for key in CALIBRATORS
        if key not in ("none", "platt") and CALIBRATORS[key].input not in INPUT_TABLES
    )
    assert "Platt" not in left_out


def test_methods_without_a_clear_difference_are_named_with_it_and_the_simpler_one_is_said():
    y, truth, predicted, rng = known_truth(2, 800, lambda p: p**2)
    close = {key: jitter(truth, rng, 0.01) for key in ("venn_abers", "isotonic", "beta", "platt")}
    evaluation = given_evaluation(y, {"none": predicted, **close})
    found, table = recommend(evaluation), advise(evaluation).table
    (sentence,) = [reason for reason in found.reasons if reason.startswith("No clear difference from ")]
    for key in set(close) - {found.choice}:
        assert f"{name_of(key)} {change(*table.loc[key, ['gap', 'gap_lower', 'gap_upper']])}" in sentence
    assert ("is simpler" in sentence) == (found.choice != "platt")


def test_equal_predictions_are_said_to_be_equal():
    y, truth, predicted, _ = overconfident()
    found = recommend(given_evaluation(y, {"none": predicted, "platt": truth, "ppa": predicted}))
    assert_any_says(found.reasons, "PPA", "same", "uncalibrated model")


# --- whether to calibrate follows the verdict


def test_the_four_contradictions_that_were_found_are_gone():
    """Too few rows to tell methods apart is no reason not to calibrate; and what gains nothing is not advised."""
    y, truth, wrong, rng = known_truth(1, 1000, lambda p: np.clip(p + 0.4, 0, 0.99))
    few = np.r_[np.zeros(60, int), np.ones(9, int)]  # minority rows that calibrate
    sick = recommend(
        given_evaluation(y, {"none": wrong, "platt": truth, "beta": jitter(truth, rng, 0.01)}, few)
    )
    assert sick.choice in ("platt", "beta")
    assert_says(text(sick), "9", "minority class")

    y, truth, same, rng = known_truth(2, 3000)
    worse = np.clip(truth + rng.normal(scale=0.1, size=3000), 0.01, 0.99)
    hospital = given_evaluation(y, {"none": same, "platt": worse, "venn_abers": jitter(truth, rng, 0.01)})
    assert advise(hospital).table.gap_lower["platt"] > 0  # Venn–Abers is clearly better than Platt scaling
    assert recommend(hospital).answer == LEAVE  # and staying as it is was weighed

    vertebral = given_evaluation(y[:300], {"none": same[:300], "platt": jitter(truth[:300], rng, 0.12)})
    assert advise(vertebral).table.score["platt"] > advise(vertebral).table.score["none"]
    assert recommend(vertebral).answer == LEAVE


@pytest.mark.parametrize("seed", range(10))
def test_rare_events_with_scores_far_too_high_are_never_left_as_they_are(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(-4.7, 1.2, 4000)
    truth, said = (1 / (1 + np.exp(-x)), 1 / (1 + np.exp(-x - 0.5)))
    y = (rng.random(4000) < truth).astype(int)
    platt = CALIBRATORS["platt"](on="log-odds").fit(said[:2000], y[:2000]).predict(said[2000:])
    evaluation = given_evaluation(y[2000:], {"none": said[2000:], "platt": platt}, y[:2000])
    if verdict_of(evaluation).finding == "miscalibrated":
        assert recommend(evaluation).choice == "platt"
    ratio = y[2000:].sum() / said[2000:].sum()
    assert verdict_of(evaluation).finding == "miscalibrated" or ratio > 0.7


def test_if_every_method_makes_a_miscalibrated_model_worse_none_is_recommended():
    y, _, said, rng = known_truth(0, 3000, lambda p: np.clip(p + 0.1, 0.01, 0.99))
    found = recommend(given_evaluation(y, {"none": said, "platt": rng.random(3000)}))
    assert (found.answer, found.choice) == (UNHELPED, None)
    assert verdict_of(given_evaluation(y, {"none": said})).finding == "miscalibrated"


# --- an infinite log loss


def test_an_infinite_log_loss_is_warned_of_and_never_left_alone():
    y, truth, _, rng = known_truth(7, 600)
    wrong = certain_and_wrong(truth, y)
    for noise in (0.01, 0.3):
        used = recommend(given_evaluation(y, {"none": wrong, "platt": jitter(truth, rng, noise)}))
        assert used.answer == "Use Platt scaling."
        assert used.reasons[0].startswith("Platt scaling avoids an infinite log loss (now 0.")
        assert ("at a cost" in used.reasons[0]) == (noise > 0.1)
        assert_says(used.warnings[0], "uncalibrated model", "exactly 0 or 1")


def test_a_method_that_is_not_chosen_for_its_infinite_log_loss_is_named():
    y, truth, predicted, rng = known_truth(6, 600, lambda p: p**2)
    others = {"isotonic": certain_and_wrong(truth, y), "venn_abers": jitter(truth, rng, 0.01)}
    found = recommend(given_evaluation(y, {"none": predicted, **others}))
    assert found.answer == "Use Venn–Abers."
    assert_says(
        found.warnings[0], "Isotonic regression", "exactly 0 or 1", "log loss of Venn–Abers is finite"
    )


def reasons_given(found, advice):
    """Each method said to be not chosen, with the reason of its group."""
    lead = "Lower Brier score, but not chosen: "
    groups = [
        group for reason in advice.reasons if lead in reason for group in reason.split(lead)[1].split("; ")
    ]
    return {key: group for group in groups for key in found.table.index if f"{name_of(key)} −" in group}


def test_every_better_method_that_is_not_chosen_has_its_own_reason():
    y, truth, predicted, _ = known_truth(0, 1500, lambda p: np.clip(p + 0.12, 0.02, 0.98))
    better = np.clip(np.where(y, np.sqrt(truth), truth**2), 0.01, 0.99)
    surer = better.copy()
    surer[np.flatnonzero(y == 0)[0]] = 1e-7
    others = {"platt": truth, "beta": surer, "isotonic": certain_and_wrong(better, y)}
    evaluation = given_evaluation(y, {"none": predicted, **others})
    found, reasons = advise(evaluation), reasons_given(advise(evaluation), recommend(evaluation))
    assert found.choice == "platt"
    assert "more extreme than the data justify" in reasons["beta"]
    assert "exactly 0 or 1" in reasons["isotonic"]


@given(methods())
@settings(max_examples=60, deadline=None)
def test_whatever_is_compared_no_sentence_contradicts_the_table(case):
    y, predicted = case
    evaluation = given_evaluation(y, predicted, np.tile([0, 1], 500))
    found, advice, verdict = advise(evaluation), recommend(evaluation), verdict_of(evaluation)
    table, first = found.table, (recommend(evaluation).reasons or ("",))[0]
    assert (advice.choice == found.choice) or (
        advice.choice is None and advice.answer in (UNKNOWN, UNHELPED, NOTHING_TO_COMPARE)
    )
    if advice.choice in (None, "none") and len(predicted) > 1:
        assert headline(evaluation) == verdict.headline
    if advice.answer == LEAVE:
        assert verdict.finding in ("no sign", "negligible")
        assert not table.infinite["none"]
        assert not table.sure["none"] or table.lower[found.start] > 0 or found.start == "none"
        if "clearly lowers" in first or "does not clearly lower" in first:
            assert not (table.upper < 0).any()
    if advice.choice not in (None, "none"):
        line = table.loc[advice.choice]
        assert ("may lower" in first) <= (line.score < table.score["none"])
        assert ("corrects the miscalibration" in first) <= (verdict.finding == "miscalibrated")
        assert ("avoids an infinite" in first) <= (table.infinite["none"] and not line.infinite)
        assert ("at a cost" in first) <= (line.score > table.score["none"])
        lowers = " lowers the Brier score" in headline(evaluation)
        assert lowers == (line.upper < 0)
    for key, reason in reasons_given(found, advice).items():
        assert ("exactly 0 or 1" in reason) == table.infinite[key]
        assert ("more extreme" in reason) == (table.sure[key] and not table.infinite[key])


# --- too few rows, and nothing to compare


def test_with_too_few_rows_for_a_verdict_nothing_is_recommended():
    y, truth, *_ = known_truth(3, 18)
    found = recommend(given_evaluation(y, {"none": np.full(18, 0.5), "platt": truth}))
    assert (found.answer, found.choice) == (UNKNOWN, None)
    assert "Use" not in found.reasons[0]


@pytest.mark.parametrize("keys", [("none",), ("platt",)])
def test_one_method_is_compared_with_nothing(keys):
    y, truth, _, rng = known_truth(9, 300)
    found = recommend(given_evaluation(y, {key: jitter(truth, rng, 0.02) for key in keys}))
    assert (found.answer, found.choice) == (NOTHING_TO_COMPARE, None)


def test_no_method_at_all_is_no_error():
    assert recommend(given_evaluation([0, 1], {})).answer == NOTHING_TO_COMPARE


def test_without_the_uncalibrated_model_it_says_that_it_cannot_know_whether_calibrating_helps():
    y, truth, _, rng = known_truth(9, 900)
    found = recommend(given_evaluation(y, {key: jitter(truth, rng, 0.02) for key in ("platt", "beta")}))
    assert found.answer.startswith("Use ")
    assert "Not compared: the uncalibrated model, " in found.reasons[-1]
    assert found.reasons[-1].endswith("you cannot tell whether calibration helps.")


# --- for arrays


def test_the_calibrator_for_arrays_is_the_one_that_folds_prefer_fitted_on_all_rows():
    y, _, predicted, _ = overconfident(n=2000)
    found = check(y, predicted).recommendation()
    calibrator = found.fit()
    fitted = calibrator.predict(predicted)
    assert found.choice not in (None, "none")
    assert brier_score(y, fitted) < brier_score(y, predicted)
    fresh, truth, again, _ = overconfident(seed=9, n=20_000)
    assert np.mean((calibrator.predict(again) - truth) ** 2) < 0.1 * np.mean((again - truth) ** 2)
    assert check(y, predicted).recommendation().answer == found.answer
    assert check(fresh, {"a": again, "b": truth}).recommendation().choice not in (None, "none")


def test_of_a_model_the_calibrator_is_the_fitted_one_and_where_there_is_none_it_says_so():
    evaluation = evaluate(Recipe(model="naive_bayes", calibrators=("none", "platt")), load_sample("digits"))
    assert evaluation.recommendation().fit() is evaluation.calibrators["platt"][0]
    with pytest.raises(InputError, match="no calibrator to fit"):
        check([0, 1], [0.2, 0.7]).recommendation().fit()


def test_weights_and_clusters_of_arrays_are_kept_in_the_folds():
    y, _, predicted, rng = overconfident(n=1500)
    weight = rng.integers(1, 4, 1500)
    repeated = check(np.repeat(y, weight), np.repeat(predicted, weight))
    counted = check(y, predicted, sample_weight=weight)
    assert counted.verdict.finding == repeated.verdict.finding
    pd.testing.assert_frame_equal(counted.metrics, repeated.metrics)
    clustered = check(y, predicted, cluster=np.arange(1500) // 5)
    assert clustered.recommendation().choice not in (None, "none")
    assert "300 clusters" in clustered.verdict.sentence or clustered.verdict.finding == "miscalibrated"


# --- repeated splits
# ------------------------------------------------------------------------------------------------


def splits(scores: dict[str, np.ndarray], ratio=3 / 7) -> OtherSplits:
    lines = [
        pd.DataFrame({"seed": range(len(v)), "calibrator": key, "brier": v}) for key, v in scores.items()
    ]
    return OtherSplits(pd.concat(lines, ignore_index=True), ratio)


def test_other_splits_are_set_beside_the_recommendation_and_do_not_turn_it():
    rng = np.random.default_rng(10)
    raw = 0.2 + rng.normal(scale=0.01, size=20)
    steady = splits({"none": raw, "platt": raw - 0.01 + rng.normal(scale=0.002, size=20)})
    unsteady = splits({"none": raw, "platt": raw - 0.003 + rng.normal(scale=0.01, size=20)})
    assert_says(over_splits("platt", steady), "a clear gain")
    assert "may not help" in over_splits("platt", unsteady)
    assert_says(over_splits("none", unsteady), "none", "clearly lowers")
    assert_says(over_splits("none", steady), "is clearly lower than without calibration", "Platt scaling −")
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
    keys = tuple(key for key, method in CALIBRATORS.items() if method.input not in INPUT_TABLES)
    evaluation = evaluate(Recipe(data=f"sample:{data}", model=model, calibrators=keys), load_sample(data))
    found, table, verdict = recommend(evaluation), differences(evaluation).table, verdict_of(evaluation)
    brier = table[table["metric"] == "brier"].set_index("calibrator")
    if found.choice not in (None, "none"):
        said = ("avoids an infinite log loss", "more extreme", "may lower", "corrects the miscalibration")
        assert brier.upper[found.choice] < 0 or any(words in found.reasons[0] for words in said)
        assert np.isfinite(evaluation.metrics.log_loss[found.choice]) or found.warnings
    if found.answer == LEAVE:
        assert verdict.finding in ("no sign", "negligible")
        assert np.isfinite(evaluation.metrics.log_loss["none"])
    assert all(sentence.endswith(".") for sentence in (found.answer, *found.reasons, *found.warnings))
    assert not re.search(r"luck|\bnan\b|\binf\b", text(found))

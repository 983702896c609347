"""Advice where the truth is known: the best is found, equals are not told apart, luck is not taken for skill."""

import re
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

from calib import Recipe, evaluate, load_sample
from calib.analysis.advice import FEWEST_TO_FIT, FEWEST_TO_JUDGE, advise, advise_repeated, chance_of_being_best, too_few
from calib.analysis.differences import Repeats
from calib.evaluate import Evaluation
from calib.kernel.records import Dataset, Predictions


def judged(y, said, calibration_y=None, **recipe) -> Evaluation:
    """An Evaluation of given predictions, without a model."""
    y = np.asarray(y)
    calibration_y = np.tile([0, 1], 500) if calibration_y is None else np.asarray(calibration_y)
    return Evaluation(
        recipe=Recipe(**recipe),
        dataset=Dataset("made", pd.DataFrame({"x": np.zeros(len(y))}), y, ("no", "yes")),
        rows=np.arange(len(y)),
        y=y,
        scores=np.zeros(len(y)),
        predictions=MappingProxyType({key: Predictions(y, np.asarray(p)) for key, p in said.items()}),
        refused=MappingProxyType({}),
        calibrators=MappingProxyType({}),
        calibration_scores=np.zeros(len(calibration_y)),
        calibration_y=calibration_y,
        posterior=None,
        probability=True,
        notes=(),
        seconds=0.0,
    )


def world(seed, n, distort=lambda p: p):
    """(y, the truth, what the model says)."""
    rng = np.random.default_rng(seed)
    truth = rng.beta(1.2, 1.2, n)
    return (rng.random(n) < truth).astype(int), truth, distort(truth), rng


def jitter(p, rng, size):
    return np.clip(p + rng.normal(scale=size, size=len(p)), 0.001, 0.999)


# --- the set that holds the best ------------------------------------------------------------------------------------


def test_two_methods_are_compared_by_the_paired_t_test():
    rng = np.random.default_rng(0)
    losses = rng.normal(loc=[0.0, 0.3], size=(40, 2))
    chance = chance_of_being_best(losses.mean(axis=0), np.cov(losses, rowvar=False) / 40, 39)
    assert chance[1] == pytest.approx(ttest_rel(losses[:, 1], losses[:, 0], alternative="greater").pvalue, abs=0.01)
    assert chance[0] == 1


def test_methods_that_say_the_same_are_never_told_apart():
    chance = chance_of_being_best(np.array([0.2, 0.2, 0.2 + 1e-15]), np.full((3, 3), 1e-4), 50)
    np.testing.assert_array_equal(chance, 1.0)


def test_a_constant_difference_is_certain():
    np.testing.assert_array_equal(chance_of_being_best(np.array([0.2, 0.3]), np.full((2, 2), 1e-4), 50), [1.0, 0.0])


@pytest.mark.parametrize("k", [2, 5])
def test_the_best_of_equals_stays_in_the_set_as_often_as_promised(k):
    """All equal is the hardest case: each must be kept in 95 % of the samples, and the set is then seldom cut."""
    rng = np.random.default_rng(1)
    kept = []
    for _ in range(150):
        common = rng.normal(size=(200, 1))
        losses = common + rng.normal(size=(200, k)) * np.linspace(0.2, 1, k)
        kept.append(chance_of_being_best(losses.mean(axis=0), np.cov(losses, rowvar=False) / 200, 199) > 0.05)
    assert np.mean(kept, axis=0).min() > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 150)


# --- what is recommended --------------------------------------------------------------------------------------------


def test_a_bold_model_is_told_to_be_calibrated_and_by_which_method():
    y, truth, said, rng = world(0, 1500, lambda p: np.where(p > 0.5, 1 - (1 - p) ** 3, p**3))
    advice = advise(judged(y, {"none": said, "platt": truth, "isotonic": jitter(truth, rng, 0.15)}))
    assert (advice.choice, advice.best, advice.alike) == ("platt", "platt", ("platt",))
    assert advice.answer == "Use Platt."
    assert "Every other method is worse by more than luck." in advice.reasons
    assert "1,500 test rows is lower than uncalibrated by" in advice.reasons[0]


def test_the_interval_in_words_is_the_t_interval_of_the_gain():
    y, truth, said, _ = world(0, 1500, lambda p: p**2)
    advice = advise(judged(y, {"none": said, "platt": truth}))
    gain = (said - y) ** 2 - (truth - y) ** 2
    expected = ttest_rel((said - y) ** 2, (truth - y) ** 2).confidence_interval(0.95)
    written = [float(x.replace("−", "-")) for x in re.findall(r"[−\d.]*\d", advice.reasons[0].split(" by ")[1])]
    assert written == pytest.approx([gain.mean(), expected.low, expected.high], rel=0.01)


def test_of_equals_the_simplest_is_recommended_and_the_others_are_named():
    y, truth, said, rng = world(2, 800, lambda p: p**2)
    close = {key: jitter(truth, rng, 0.01) for key in ("venn_abers", "isotonic", "beta", "platt")}
    advice = advise(judged(y, {"none": said, **close}))
    assert advice.choice == "platt"
    assert set(advice.alike) == set(close)
    text = " ".join(advice.reasons)
    assert "Beta, Isotonic and Venn–Abers do as well" in text
    assert "Platt is the simplest" in text
    assert "interval with each probability" in text


def test_a_calibrated_model_is_left_alone():
    y, truth, said, rng = world(3, 800)
    advice = advise(judged(y, {"none": said, "platt": jitter(truth, rng, 0.02), "isotonic": jitter(truth, rng, 0.1)}))
    assert advice.choice == "none"
    assert advice.answer == "Leave the probabilities as they are."


def test_a_model_that_needs_nothing_is_seldom_told_to_be_calibrated():
    """Each calibrator adds noise to the truth: over many samples the advice must not chase the luckiest."""
    advised = []
    for seed in range(100):
        y, truth, said, rng = world(seed, 300)
        others = {key: jitter(truth, rng, 0.05) for key in ("platt", "beta", "isotonic", "venn_abers")}
        advised.append(advise(judged(y, {"none": said, **others})).choice != "none")
    assert np.mean(advised) <= 0.05  # the noise makes calibrators worse, so that it is less than 5 %


def test_a_difference_that_the_rows_cannot_show_is_left_open_and_shown_with_more_rows():
    def distort(p):
        return np.clip(p + 0.06, 0, 1)

    def share_calibrated(n, seeds):
        worlds = (world(seed, n, distort) for seed in range(seeds))
        return np.mean([advise(judged(y, {"none": said, "platt": p})).choice == "platt" for y, p, said, _ in worlds])

    assert share_calibrated(40, 60) < 0.3
    assert share_calibrated(10_000, 5) == 1


def test_the_price_of_the_simpler_method_is_told():
    y, truth, said, rng = world(5, 4000, lambda p: p**3)
    advice = advise(judged(y, {"none": said, "platt": jitter(truth, rng, 0.2), "isotonic": truth}))
    assert advice.choice == "isotonic"
    gap = advice.table.loc["platt", "score"] - advice.table.loc["isotonic", "score"]
    assert any(f"Platt is simpler, but {gap:.3g}"[:28] in reason for reason in advice.reasons)


def test_among_equals_one_that_was_certain_and_wrong_is_passed_over():
    y, truth, said, rng = world(6, 600, lambda p: p**2)
    certain = jitter(truth, rng, 0.01)
    certain[np.flatnonzero(y == 1)[0]] = 0.0
    advice = advise(judged(y, {"none": said, "isotonic": certain, "venn_abers": jitter(truth, rng, 0.01)}))
    assert advice.choice == "venn_abers"
    assert any("Isotonic gave a probability of 0 or 1" in reason for reason in advice.reasons)


def test_an_uncalibrated_model_that_was_certain_and_wrong_is_said_to_be():
    y, truth, _, rng = world(7, 600)
    certain = truth.copy()
    certain[np.flatnonzero(y == 1)[0]] = 0.0
    advice = advise(judged(y, {"none": certain, "platt": jitter(truth, rng, 0.05)}))
    assert advice.choice == "none"
    assert "Uncalibrated gave a probability of 0 or 1" in advice.reasons[-1]


def test_the_order_in_which_calibrators_were_chosen_changes_nothing():
    y, truth, said, rng = world(8, 500, lambda p: p**2)
    methods = {"none": said, "platt": jitter(truth, rng, 0.03), "beta": jitter(truth, rng, 0.02)}
    one, two = advise(judged(y, methods)), advise(judged(y, dict(reversed(methods.items()))))
    assert (one.choice, one.alike, one.best) == (two.choice, two.alike, two.best)


@pytest.mark.parametrize("keys", [("none",), ("platt",), ("platt", "beta")])
def test_it_answers_with_one_method_and_without_the_uncalibrated_one(keys):
    y, truth, _, rng = world(9, 300)
    advice = advise(judged(y, {key: jitter(truth, rng, 0.02) for key in keys}))
    assert advice.choice in keys
    assert advice.answer
    assert all(reason.endswith(".") for reason in advice.reasons)


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_rows_tell_nothing_apart(n):
    advice = advise(judged([1, 0][:n], {"none": [0.4, 0.6][:n], "platt": [0.6, 0.4][:n]}))
    assert advice.choice in ("none", "platt")


def test_nothing_to_choose_from_is_refused():
    with pytest.raises(ValueError, match="no calibrator"):
        advise(judged([0, 1], {}))


# --- repeated splits ------------------------------------------------------------------------------------------------


def splits(scores: dict[str, np.ndarray], ratio=3 / 7, log_loss=0.4) -> Repeats:
    lines = [
        pd.DataFrame({"seed": range(len(brier)), "calibrator": key, "brier": brier, "log_loss": log_loss})
        for key, brier in scores.items()
    ]
    return Repeats(pd.concat(lines, ignore_index=True), ratio)


def test_over_splits_a_steady_gain_is_taken_and_a_lucky_one_is_not():
    rng = np.random.default_rng(10)
    luck = rng.normal(scale=0.01, size=20)
    raw = 0.2 + luck
    steady = advise_repeated(splits({"none": raw, "platt": raw - 0.01 + rng.normal(scale=0.002, size=20)}))
    lucky = advise_repeated(splits({"none": raw, "platt": raw - 0.003 + rng.normal(scale=0.01, size=20)}))
    assert (steady.choice, lucky.choice) == ("platt", "none")
    assert "over 20 random splits" in steady.reasons[0]


def test_over_splits_the_overlap_of_their_rows_is_allowed_for():
    rng = np.random.default_rng(11)
    raw = 0.2 + rng.normal(scale=0.01, size=20)
    scores = {"none": raw, "platt": raw - 0.003 + rng.normal(scale=0.005, size=20)}
    assert advise_repeated(splits(scores, ratio=0.0)).choice == "platt"
    assert advise_repeated(splits(scores)).choice == "none"


# --- too few rows ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rare", "warned"), [(FEWEST_TO_FIT - 1, True), (FEWEST_TO_FIT, False)])
@pytest.mark.parametrize("rare_class", [0, 1])
def test_a_calibration_set_with_few_rows_of_a_class_is_warned_of(rare, warned, rare_class):
    calibration_y = np.r_[np.full(200, 1 - rare_class), np.full(rare, rare_class)]
    y = np.tile([0, 1], 300)
    found = too_few(judged(y, {"none": np.full(600, 0.5), "platt": np.full(600, 0.5)}, calibration_y))
    assert [problem.severity for problem in found] == ["warning"] * warned
    if warned:
        assert str(rare) in found[0].message
        assert found[0].remedy


def test_folds_are_counted_one_by_one():
    said = {"none": np.full(600, 0.5), "platt": np.full(600, 0.5)}
    y, calibration_y = np.tile([0, 1], 300), np.r_[np.zeros(2000, int), np.ones(100, int)]
    assert too_few(judged(y, said, calibration_y)) == ()
    (found,) = too_few(judged(y, said, calibration_y, evaluation="folds", folds=10))
    assert "210 rows, only 10 of the rarer class" in found.message


def test_without_a_calibrator_or_a_calibration_set_there_is_nothing_to_warn_of():
    y = np.tile([0, 1], 300)
    assert too_few(judged(y, {"none": np.full(600, 0.5)}, [0, 1])) == ()
    assert too_few(judged(y, {"none": np.full(600, 0.5), "platt": np.full(600, 0.5)}, [])) == ()


def test_few_test_rows_are_remarked_on():
    y = np.r_[np.zeros(500, int), np.ones(FEWEST_TO_JUDGE - 1, int)]
    (found,) = too_few(judged(y, {"none": np.full(len(y), 0.2)}))
    assert found.severity == "info"
    assert f"{FEWEST_TO_JUDGE - 1} of the rarer class" in found.message
    assert too_few(judged(np.r_[y, 1], {"none": np.full(len(y) + 1, 0.2)})) == ()


def test_the_reason_for_the_limit_holds():
    """On a calibrated score, Platt's line misses by more than 10 points below the limit, by less than 5 far above."""
    from calib.calibrators import CALIBRATORS
    from calib.metrics import true_calibration_error

    rng = np.random.default_rng(12)
    grid = np.linspace(0.01, 0.6, 200)

    def cost(rare):
        n = round(rare / 0.2)
        costs = []
        for _ in range(60):
            s = rng.beta(1, 4, n)
            y = (rng.random(n) < s).astype(int)
            if 0 < y.sum() < n:
                costs.append(true_calibration_error(grid, CALIBRATORS["platt"]().fit(s, y).predict(grid)))
        return np.sqrt(np.mean(costs))

    assert cost(FEWEST_TO_FIT // 2) > 0.1
    assert cost(10 * FEWEST_TO_FIT) < 0.05


def test_on_a_real_set_it_says_what_the_numbers_say():
    from calib import load_sample

    evaluation = evaluate(Recipe(), load_sample("digits"))
    advice = advise(evaluation)
    assert advice.choice in advice.alike
    assert "none" not in advice.alike
    pd.testing.assert_series_equal(advice.table["score"], evaluation.metrics["brier"], check_names=False, rtol=1e-12)


def test_the_best_of_many_is_not_praised_for_an_interval_that_looks_sure():
    keys = ("none", "platt", "isotonic", "beta", "temperature", "venn", "venn_abers", "ppa")
    evaluation = evaluate(Recipe(model="naive_bayes", calibrators=keys), load_sample("breast_cancer"))
    advice = advise(evaluation)
    assert advice.choice == "none"
    (low, _) = re.findall(r"\[([−\d.]+), ([\d.]+)\]", advice.reasons[0])[0]
    assert float(low.replace("−", "-")) > 0  # alone it would be told apart
    assert "but the best of 7 tried may be so by luck" in advice.reasons[0]

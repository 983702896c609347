"""The choice where the truth is known: the best is found, equals are one, what is added never makes it worse."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from calib import Recipe, evaluate, load_sample
from calib.analysis.differences import differences
from calib.analysis.recommendation.rule import (
    JUSTIFIED_ROW_PART,
    LITTLE,
    METHODS_WITH_PRIOR,
    advise,
    expected_gaps,
    prior,
)
from calib.analysis.recommendation.verdict import verdict_of
from calib.calibrators import CALIBRATORS, INPUT_TABLES
from tests.analysis.given import given_evaluation, jitter, known_truth
from tests.intervals import joined

EVERY = tuple(key for key, method in CALIBRATORS.items() if method.input not in INPUT_TABLES)


# --- what is added
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["naive_bayes", "gradient_boosting"])
def test_a_calibrator_that_changes_nothing_does_not_turn_the_choice(model):
    alone = advise(
        evaluate(Recipe(model=model, calibrators=("none", "platt", "venn_abers")), load_sample("digits"))
    )
    more = advise(
        evaluate(
            Recipe(model=model, calibrators=("none", "platt", "venn_abers", "ppa")), load_sample("digits")
        )
    )
    assert more.choice == alone.choice
    pd.testing.assert_frame_equal(more.table.loc[alone.table.index], alone.table)
    assert model != "naive_bayes" or more.table.gap_lower["none"] > 0


@st.composite
def methods(draw):
    """(y, predictions of the uncalibrated model and some methods by key, one of them the one that is added)."""
    n = draw(st.integers(2, 40))
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    grid = st.lists(st.integers(0, 8), min_size=n, max_size=n)
    keys = ("none", *draw(st.permutations(EVERY[1:]))[: draw(st.integers(1, 5))])
    predictions = {key: np.array(draw(grid)) / 8 for key in keys}
    for key in keys[1:]:  # equal columns, up to rounding, are as likely as others
        twin = draw(st.sampled_from((None, *keys)))
        if twin is not None:
            predictions[key] = np.clip(predictions[twin] + draw(st.sampled_from((0.0, 1e-16))), 0, 1)
    return y, predictions


@given(methods())
def test_adding_any_method_never_moves_the_choice_to_a_higher_score(case):
    y, predicted = case
    *some, added = predicted
    before, after = (
        advise(given_evaluation(y, {key: predicted[key] for key in some})),
        advise(given_evaluation(y, predicted)),
    )
    old, new = after.table.loc[before.choice], after.table.loc[after.choice]
    if after.start != before.start:  # one that the choice begins with was added, or the first finite one
        return
    assert new.score <= old.score or (old.infinite and not new.infinite)
    if after.table.score[added] > old.score and not old.infinite:
        assert after.choice == before.choice
    if after.choice == before.choice:  # nothing is drawn: every number about the others stays
        pd.testing.assert_frame_equal(
            after.table.loc[some].drop(columns="same"), before.table.drop(columns="same")
        )


@given(methods())
def test_the_order_in_which_methods_were_chosen_changes_nothing(case):
    assert_order_is_no_matter(*case)


def assert_order_is_no_matter(y, predicted):
    one, two = (
        advise(given_evaluation(y, predicted)),
        advise(given_evaluation(y, dict(reversed(predicted.items())))),
    )
    assert one.choice == two.choice
    pd.testing.assert_frame_equal(one.table, two.table.loc[one.table.index])


def test_of_methods_that_are_equal_and_state_no_complexity_none_is_preferred_for_its_place():
    y, p = np.array([0, 0, 0, 1] * 10), np.full(40, 0.25)
    assert_order_is_no_matter(y, {"none": np.full(40, 0.75), "b_outside": p, "a_outside": p})


@pytest.mark.parametrize("data", ["breast_cancer", "loans"])
def test_on_real_sets_every_method_added_to_the_others_leaves_the_choice_as_good(data):
    full = evaluate(Recipe(data=f"sample:{data}", model="naive_bayes", calibrators=EVERY), load_sample(data))
    after, predictions = advise(full), {key: each.p for key, each in full.predictions.items()}
    for added in EVERY[1:]:
        before = advise(given_evaluation(full.y, {key: p for key, p in predictions.items() if key != added}))
        old, new = after.table.loc[before.choice], after.table.loc[after.choice]
        assert before.start != after.start or new.score <= old.score or (old.infinite and not new.infinite)


# --- one comparison
# -------------------------------------------------------------------------------------------------


def test_the_change_is_that_of_the_table_of_differences_and_of_the_paired_interval():
    y, truth, predicted, rng = known_truth(0, 700, lambda p: p**2)
    evaluation = given_evaluation(y, {"none": predicted, "platt": truth, "isotonic": jitter(truth, rng, 0.1)})
    shown, table = differences(evaluation, ("brier",)).table.set_index("calibrator"), advise(evaluation).table
    for key in ("platt", "isotonic"):
        one, other = ((evaluation.predictions[k].p - y) ** 2 for k in (key, "none"))
        assert (table.lower[key], table.upper[key]) == pytest.approx(joined(y, one - other), abs=1e-12)
        assert tuple(shown.loc[key, ["value", "lower", "upper"]]) == tuple(
            table.loc[key, ["change", "lower", "upper"]]
        )


@given(methods())
def test_a_miscalibrated_model_is_never_left_unless_every_method_is_clearly_worse(case):
    y, predicted = case
    evaluation = given_evaluation(y, predicted)
    found = advise(evaluation)
    assert found.miscalibrated == (verdict_of(evaluation).finding == "miscalibrated")
    if not (found.choice == "none" and found.miscalibrated):
        return
    table = found.table.drop("none")
    assert found.unhelped
    assert found.start == "none" or table.lower[found.start] > 0
    assert not (table.score[~table.infinite & ~table.sure] < found.table.score["none"]).any()


@given(methods())
def test_a_method_is_used_on_a_model_without_a_finding_only_if_it_may_gain_something(case):
    y, predicted = case
    found = advise(given_evaluation(y, predicted))
    own, line = found.table.loc["none"], found.table.loc[found.choice]
    if found.miscalibrated or own.infinite or own.sure or found.choice == "none":
        return
    assert line.score < own.score
    assert not line.lower > -LITTLE * y.mean() * (1 - y.mean())


@given(methods())
def test_no_method_but_the_start_is_more_extreme_than_its_rows_justify(case):
    y, predicted = case
    found = advise(given_evaluation(y, predicted))
    line = found.table.loc[found.choice]
    assert found.choice in (found.start, "none") or not (line.infinite or line.sure)


def test_the_reference_is_automatic_calibration_then_platt_then_venn_abers_then_the_model_itself():
    y, truth, _, rng = known_truth(9, 300)
    three = {key: jitter(truth, rng, 0.02) for key in ("none", "isotonic", *METHODS_WITH_PRIOR)}
    for first, start in enumerate([*METHODS_WITH_PRIOR, "none"]):
        left = {key: p for key, p in three.items() if key not in METHODS_WITH_PRIOR[:first]}
        assert advise(given_evaluation(y, left)).start == start
    certain = three | {"auto": certain_and_wrong(truth, y)}
    assert advise(given_evaluation(y, certain)).start == "platt"


# --- prior and test rows
# --------------------------------------------------------------------------------------------


def with_gap(gap, error, minority=40, tied=False, share=0.5):
    """The expected differences from automatic calibration, in units of f (1 − f), after such a paired difference."""
    unit = share * (1 - share)
    seen = pd.DataFrame(
        {"gap": [0.0, gap * unit], "gap_upper": [0.0, (gap + 1.959964 * error) * unit]},
        index=["auto", "platt"],
    )
    return expected_gaps(seen, prior(minority, tied), "auto", unit)["platt"] / unit


@pytest.mark.parametrize("share", [0.5, 0.1])
@pytest.mark.parametrize(("gap", "error"), [(-0.02, 0.01), (0.05, 0.03), (-0.001, 0.0001)])
def test_the_expected_difference_is_the_posterior_mean_of_normal_numbers(gap, error, share):
    """By integration over the true difference, which the arena expects and the test rows measure."""
    line = prior(40, False).loc["platt"]
    true = np.linspace(-1, 1, 2_000_001)
    weight = norm.pdf(true, line.difference, line.deviation) * norm.pdf(gap, true, error)
    assert with_gap(gap, error, share=share) == pytest.approx(weight @ true / weight.sum(), abs=1e-6)


def test_without_test_rows_the_arena_decides_and_with_many_they_do():
    line = prior(40, False).loc["platt"]
    assert with_gap(np.nan, np.nan) == pytest.approx(line.difference)
    assert with_gap(-0.05, 100.0) == pytest.approx(line.difference, abs=1e-4)
    assert with_gap(-0.05, 1e-6) == pytest.approx(-0.05, abs=1e-6)
    assert with_gap(0.03, 0.0) == pytest.approx(0.03)


def test_a_method_without_a_prior_must_be_clearly_better():
    seen = pd.DataFrame(
        {"gap": [0.0, -0.02, -0.02], "gap_upper": [0.0, -0.001, 0.001]}, index=["auto", "isotonic", "outside"]
    )
    found = expected_gaps(seen, prior(40, False), "auto", 0.21)
    assert found.to_dict() == {"auto": 0.0, "isotonic": -0.001, "outside": 0.001}


def test_a_model_more_extreme_than_its_rows_justify_is_not_left_as_it_is_however_low_its_score():
    _, truth, _, rng = known_truth(9, 300)
    poor, y = jitter(truth, rng, 0.4), (truth > 0.5).astype(int)
    found = advise(given_evaluation(y, {"none": truth.round(), "auto": poor}))
    assert found.table.score["none"] == 0
    assert (found.start, found.choice) == ("auto", "auto")


def test_a_method_surer_than_its_rows_allow_is_not_taken_however_low_its_score():
    """1000 calibration rows: a hundredth of a row is 0.00001."""
    y, truth, _, rng = known_truth(0, 1500)
    better = np.where(y == 1, truth + (1 - truth) / 2, truth / 2)
    near = JUSTIFIED_ROW_PART / 1000
    for closest, choice in ((1.01 * near, "beta"), (0.99 * near, "platt")):
        p = np.clip(better, 0.01, 0.99)
        p[np.flatnonzero(y == 0)[0]] = closest
        assert (
            advise(given_evaluation(y, {"none": jitter(truth, rng, 0.1), "platt": truth, "beta": p})).choice
            == choice
        )


# --- what is chosen
# -------------------------------------------------------------------------------------------------


def test_a_bold_model_is_calibrated_by_the_best_method():
    y, truth, predicted, rng = known_truth(0, 1500, lambda p: np.where(p > 0.5, 1 - (1 - p) ** 3, p**3))
    found = advise(
        given_evaluation(y, {"none": predicted, "platt": truth, "isotonic": jitter(truth, rng, 0.15)})
    )
    assert found.choice == "platt"


def test_of_methods_with_equal_scores_the_simplest_is_chosen_and_named_for_its_twins():
    y, truth, predicted, _ = known_truth(2, 800, lambda p: p**2)
    found = advise(
        given_evaluation(y, {"none": predicted, "venn_abers": truth, "beta": truth + 1e-16, "platt": truth})
    )
    assert found.choice == "platt"
    assert list(found.table["same"]) == ["none", "platt", "platt", "platt"]


@pytest.mark.soak
def test_a_model_that_needs_nothing_is_left_alone_by_many_rows_and_harmed_little_by_few():
    """All calibrators of a model that is right: with 3000 rows it is left as it is or loses next to nothing;
    with 150, which cannot tell, the choice stays with Platt, whose mean squared error to the truth is what
    two numbers cost.
    """
    for n, most in ((150, 0.004), (3000, 0.0003)):
        errors = []
        for seed in range(40):
            rng = np.random.default_rng(seed)
            s = rng.beta(*((1, 1), (1, 4), (0.5, 0.5))[seed % 3], 2 * n)
            y = (rng.random(2 * n) < s).astype(int)
            predictions = {key: CALIBRATORS[key]().fit(s[:n], y[:n]).predict(s[n:]) for key in EVERY}
            errors.append(
                np.mean((predictions[advise(given_evaluation(y[n:], predictions)).choice] - s[n:]) ** 2)
            )
        assert np.mean(errors) < most


def test_a_difference_that_the_rows_cannot_show_is_left_open_and_shown_with_more_rows():
    def distort(p):
        return np.clip(p + 0.06, 0, 1)

    def share_calibrated(n, seeds):
        worlds = (known_truth(seed, n, distort) for seed in range(seeds))
        return np.mean(
            [
                advise(given_evaluation(y, {"none": predicted, "platt": p})).choice == "platt"
                for y, p, predicted, _ in worlds
            ]
        )

    assert share_calibrated(10_000, 2) == 1

    def share_beyond_platt(n, seeds):
        worlds = (known_truth(seed, n, distort) for seed in range(seeds))
        return np.mean(
            [
                advise(given_evaluation(y, {"none": predicted, "platt": predicted, "beta": p})).choice
                == "beta"
                for y, p, predicted, _ in worlds
            ]
        )

    assert share_beyond_platt(40, 60) < 0.3
    assert share_beyond_platt(10_000, 2) == 1


# --- an infinite log loss
# -------------------------------------------------------------------------------------------


def certain_and_wrong(p, y):
    p = p.copy()
    p[np.flatnonzero(y == 1)[0]] = 0.0
    return p


def test_a_method_that_was_certain_and_wrong_is_passed_over_for_one_that_is_not_told_apart():
    y, truth, predicted, rng = known_truth(6, 600, lambda p: p**2)
    other = jitter(truth, rng, 0.01)
    found = advise(
        given_evaluation(y, {"none": predicted, "isotonic": certain_and_wrong(truth, y), "venn_abers": other})
    )
    assert found.choice == "venn_abers"


def test_and_for_one_that_is_worse_but_better_than_the_model():
    y, truth, predicted, _ = known_truth(6, 2000, lambda p: np.clip(p**4, 0.001, 1))
    poor = (predicted + truth) / 2
    found = advise(
        given_evaluation(y, {"none": predicted, "isotonic": certain_and_wrong(truth, y), "temperature": poor})
    )
    assert found.choice == "temperature"


def test_an_uncalibrated_model_that_was_certain_and_wrong_is_not_left_alone_where_another_is_no_worse():
    y, truth, _, rng = known_truth(7, 600)
    found = advise(
        given_evaluation(y, {"none": certain_and_wrong(truth, y), "platt": jitter(truth, rng, 0.01)})
    )
    assert found.choice == "platt"
    worse = {"none": certain_and_wrong(truth, y), "platt": jitter(truth, rng, 0.3)}
    assert advise(given_evaluation(y, worse)).choice == "platt"
    assert advise(given_evaluation(y, worse | {"none": truth})).choice == "none"


# --- what it answers
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", [("none",), ("platt",), ("platt", "beta")])
def test_it_answers_with_one_method_and_without_the_uncalibrated_one(keys):
    y, truth, _, rng = known_truth(9, 300)
    found = advise(given_evaluation(y, {key: jitter(truth, rng, 0.02) for key in keys}))
    assert found.choice == found.table["score"].idxmin()
    assert found.compared == ("none" in keys)


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_rows_tell_nothing_apart(n):
    assert (
        advise(given_evaluation([1, 0][:n], {"none": [0.4, 0.6][:n], "isotonic": [0.6, 0.5][:n]})).choice
        == "none"
    )


def test_nothing_to_choose_from_is_refused():
    with pytest.raises(ValueError, match="no calibrator"):
        advise(given_evaluation([0, 1], {}))


def test_the_choice_is_worked_out_once_for_all_views_and_anew_for_other_calibrators():
    recipe = Recipe(model="naive_bayes", calibrators=("none", "platt"))
    evaluation = evaluate(recipe, load_sample("digits"))
    assert advise(evaluation.with_view(recipe.replace(bins=40))) is advise(evaluation)
    other = evaluate(recipe.replace(calibrators=("none", "isotonic")), load_sample("digits"))
    assert advise(other) is not advise(evaluation)

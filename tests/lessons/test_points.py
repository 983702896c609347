"""What a lesson gives to remember and says of answers to its questions is so: each sentence is held by a test."""

import re

import numpy as np
import pytest

from calib.analysis.curves import binned_curve
from calib.calibrators import CALIBRATORS, Isotonic, VennAbers, merge_pair
from calib.lessons import LESSONS
from calib.metrics import loss_decomposition
from calib.models import ProbabilityForest
from calib.synthetic import GaussianPair
from tests.experiments.simulated import found
from tests.lessons.test_claims import of, over_seeds

THREE = "test_three_classes_the_confidence_is_right_and_the_classes_are_not_until_their_weights_are"
MEANS = "says what a word means, or what to do"
POINTS = {
    "why_calibrate": (
        "test_why_calibrate_the_bank_s_model_is_overconfident_at_both_ends",
        "test_why_calibrate_among_safe_customers_more_than_twice_as_many_default_as_expected",
        "test_why_calibrate_platt_scaling_lowers_the_brier_score_and_keeps_the_auc",
        "test_why_calibrate_platt_scaling_lowers_the_brier_score_and_keeps_the_auc",
        "test_why_calibrate_the_bank_s_model_is_overconfident_at_both_ends",
    ),
    "reliability_diagram": (
        MEANS,
        "test_reliability_diagram_nearly_every_bin_of_the_right_model_is_near_and_more_bins_only_add_noise",
        "test_reliability_diagram_nearly_every_bin_of_the_right_model_is_near_and_more_bins_only_add_noise",
        "test_reliability_diagram_most_marks_of_the_right_model_lie_inside_the_band_and_it_is_wide_where_rows_are_few",
        "test_bins_of_equal_count_hold_as_many_rows_but_for_equal_predictions",
        "test_reliability_diagram_corp_finds_steps_and_takes_no_bins",
    ),
    "two_probabilities": (
        "test_with_five_rows_the_right_one_of_the_pair_is_right_on_average",
        "test_two_probabilities_the_pair_is_wide_where_few_rows_calibrate",
        "test_a_pair_is_two_isotonic_fits_that_differ_by_the_label_of_one_row",
        "test_half_the_width_takes_about_three_times_the_rows",
        "test_at_the_midpoint_the_regrets_are_not_even_and_nearer_to_one_half_they_are",
    ),
    "not_useful": (
        "test_both_are_valid_one_is_narrow_and_the_other_follows_the_truth",
        "test_not_useful_the_constant_has_the_better_calibration_error_and_the_worse_everything_else",
        "test_not_useful_the_constant_has_the_better_calibration_error_and_the_worse_everything_else",
        "test_not_useful_the_constant_decides_alike_for_everybody_and_is_never_better_than_both",
        "test_no_calibrator_lowers_grouping_loss_and_a_constant_has_nothing_else",
    ),
    "labels_to_steps": (
        "test_moves_take_one_pool_each_and_their_order_does_not_matter",
        "test_labels_to_steps_a_move_joins_two_pools_at_their_common_share",
        "test_labels_to_steps_the_end_is_reached_and_its_outermost_steps_are_certain",
        "test_labels_to_steps_the_end_is_reached_and_its_outermost_steps_are_certain",
        "test_labels_to_steps_p0_is_never_1_nor_p1_0_and_they_part_where_rows_are_few",
        "test_both_isotonic_regressions_end_and_four_lines_never_do",
    ),
    "when_it_helps": (
        "test_a_wrong_assumption_costs_logistic_regression_more_than_ten_times_its_error",
        "test_in_two_dimensions_calibrating_a_tuned_forest_is_mostly_worse",
        "test_they_beat_no_calibration_only_with_hundreds_of_rows",
        MEANS,
    ),
    "three_classes": (THREE, THREE, THREE, "test_three_classes_the_forest_is_too_cautious_in_all_classes"),
}
"""Of each step of each lesson: the test of its point."""

ALL_MEAN = (MEANS,) * 3
ORDER_STAYS = "test_labels_to_steps_isotonic_regression_comes_to_the_diagonal_and_keeps_the_order"
SURER = "test_scores_of_training_rows_are_surer_than_those_of_new_rows"
FIFTY = POINTS["reliability_diagram"][2]
BAND = POINTS["reliability_diagram"][3]
GROUPING = POINTS["not_useful"][4]
CONSTANT = POINTS["not_useful"][1]
QUIZ = {
    "why_calibrate": (ALL_MEAN, ALL_MEAN, (SURER, SURER, MEANS)),
    "reliability_diagram": (
        (FIFTY, FIFTY, FIFTY),
        (BAND, MEANS, BAND),
        (MEANS, POINTS["reliability_diagram"][5], MEANS),
    ),
    "two_probabilities": (
        ("test_the_truth_of_a_row_may_lie_outside_its_pair", POINTS["two_probabilities"][0], MEANS),
        (
            POINTS["two_probabilities"][1],
            "test_both_are_valid_one_is_narrow_and_the_other_follows_the_truth",
            "test_intervals_are_wide_where_pools_are_small_and_of_many_rows_at_the_ends",
        ),
        ("test_of_one_tenth_and_one_half_the_number_is_036",) * 3,
    ),
    "not_useful": (
        (CONSTANT, GROUPING, MEANS),
        (CONSTANT, CONSTANT, GROUPING),
        (GROUPING, "test_a_stump_has_hardly_any_calibration_loss_and_a_deeper_tree_is_better", MEANS),
    ),
    "labels_to_steps": (
        (MEANS, "test_pools_of_one_half_and_one_quarter_are_joined_to_two_of_six", MEANS),
        (POINTS["labels_to_steps"][2], MEANS, ORDER_STAYS),
        (MEANS, POINTS["labels_to_steps"][4], MEANS),
    ),
    "when_it_helps": (
        ("test_in_two_dimensions_calibrating_a_tuned_forest_is_mostly_worse", MEANS, MEANS),
        (
            "test_platt_settles_early_and_high",
            "test_the_calibration_rows_serve_the_forest_itself_most",
            "test_few_parameters_settle_with_dozens_of_rows_curves_with_two_hundred",
        ),
        ("test_logistic_regression_stays_wrong_by_bias_and_by_scatter_where_it_is_not",) * 3,
    ),
    "three_classes": ((THREE, MEANS, MEANS), (THREE, THREE, THREE), (THREE, THREE, THREE)),
}
"""Of each answer to each question at the end: the test of the sentence that meets it."""


@pytest.mark.whole_registry
def test_every_point_and_every_answer_is_held_by_a_test_or_states_no_finding(request):
    tests = request.path.parents[1]
    folders = (request.path.parent, tests / "experiments", tests / "analysis" / "watch")
    texts = (path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("test_*.py"))
    there = {name for text in texts for name in re.findall(r"^def (test_\w+)", text, flags=re.M)} | {MEANS}
    for key, lesson in LESSONS.items():
        assert {key} <= POINTS.keys() & QUIZ.keys(), (
            "POINTS and QUIZ name the tests of each lesson's sentences"
        )
        assert len(POINTS[key]) == len(lesson.steps)
        assert [len(names) for names in QUIZ[key]] == [len(one.why) for one in lesson.questions]
    named = [name for of_lesson in POINTS.values() for name in of_lesson]
    named += [name for questions in QUIZ.values() for names in questions for name in names]
    assert set(named) <= there


def test_bins_of_equal_count_hold_as_many_rows_but_for_equal_predictions():
    evaluation = of("reliability_diagram", 5)
    p = evaluation.predictions["none"].p
    count = binned_curve(evaluation.y, p, bins=10, strategy="quantile").count
    many = count > np.ceil(len(p) / 10)
    assert np.ptp(count[~many]) <= 1
    ties = np.unique(p, return_counts=True)[1].max()
    assert (~many).sum() >= 8
    assert count[many].max() <= ties + np.ceil(len(p) / 10)


@over_seeds
def test_with_five_rows_the_right_one_of_the_pair_is_right_on_average(seed):
    draws = found("theorem", seed, draws=5000, objects=5)
    error = draws.y - draws.selected
    assert abs(error.mean()) < 3.5 * error.std() / np.sqrt(len(error))


def test_a_pair_is_two_isotonic_fits_that_differ_by_the_label_of_one_row():
    rng = np.random.default_rng(0)
    s, y = rng.normal(size=60).round(1), rng.integers(0, 2, 60)
    for new in (-1.0, 0.05, 2.0):
        fits = [Isotonic().fit(np.append(s, new), np.append(y, label)).predict([new])[0] for label in (0, 1)]
        assert VennAbers().fit(s, y).predict_interval([new])[0] == pytest.approx(fits)


@over_seeds
def test_half_the_width_takes_about_three_times_the_rows(seed):
    slope = found("narrowing", seed, draws=10).slope
    assert 2.7 < 2 ** (-1 / slope) < 3.3


def test_the_truth_of_a_row_may_lie_outside_its_pair():
    result = found("constant")
    low, high = np.minimum(result.p0, result.p1), np.maximum(result.p0, result.p1)
    assert np.mean((result.posterior < low) | (result.posterior > high)) > 0.05


def test_of_one_tenth_and_one_half_the_number_is_036():
    p = merge_pair(0.1, 0.5, "log")
    assert round(float(p), 2) == 0.36
    below = [-np.log1p(-0.25) + np.log1p(-0.1), -np.log(0.25) + np.log(0.5)]
    assert below[1] == max(below), "below it the regret of label 1 is the larger one"
    midpoint = [-np.log1p(-0.3) + np.log1p(-0.1), -np.log(0.3) + np.log(0.5)]
    assert max(midpoint) > -np.log(p) + np.log(0.5)


@over_seeds
def test_a_fully_grown_tree_has_hundreds_of_leaves_and_some_hold_a_row_or_three(seed):
    point = found("cl_gl", seed).point
    assert point.leaves >= 100


@over_seeds
def test_scores_of_training_rows_are_surer_than_those_of_new_rows(seed):
    data = GaussianPair([0, 0], np.eye(2), [1, 1], np.eye(2)).sample(600, seed)
    X = np.asarray(data.X)
    forest = ProbabilityForest(n_estimators=50, random_state=seed).fit(X, data.y)
    new, own = forest.oob_scores(), forest.predict_proba(X)[:, 1]
    assert np.abs(own - 0.5).mean() > 1.2 * np.nanmean(np.abs(new - 0.5))


@over_seeds
def test_no_calibrator_lowers_grouping_loss_and_a_constant_has_nothing_else(seed):
    pair = GaussianPair([0, 0], np.eye(2), [1.5, 1.5], np.eye(2))
    data, new = pair.sample(600, seed), pair.sample(3000, seed + 100)
    # One of two features: groups hold different rows
    score = np.round(1 / (1 + np.exp(-np.asarray(new.X)[:, 0])), 2)
    before = loss_decomposition(new.posterior, score)
    own = np.round(1 / (1 + np.exp(-np.asarray(data.X)[:, 0])), 2)
    for key in ("platt", "isotonic", "beta", "venn_abers"):
        after = loss_decomposition(new.posterior, CALIBRATORS[key]().fit(own, data.y).predict(score))
        assert after.grouping >= before.grouping - 1e-12
        assert after.calibration < before.calibration
    constant = loss_decomposition(new.posterior, np.full(len(score), data.y.mean()))
    assert constant.calibration < 0.01 * constant.grouping


def test_pools_of_one_half_and_one_quarter_are_joined_to_two_of_six():
    fit = Isotonic().fit(np.array([1.0, 1, 2, 2, 2, 2]), np.array([1, 0, 1, 0, 0, 0]))
    assert fit.predict(np.array([1.0, 2.0])) == pytest.approx([2 / 6, 2 / 6])

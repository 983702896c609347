"""What a lesson gives to remember and says of answers to its questions is so: each sentence is held by a test."""

import re

import numpy as np
import pytest

from calib.calibrators import Isotonic, VennAbers, merge_pair
from calib.models import ProbabilityForest
from calib.synthetic import GaussianPair
from tests.experiments.simulated import found
from tests.lessons.every import EVERY
from tests.lessons.test_claims import over_seeds

MEANS = "says what a word means, or what to do"
POINTS = {
    "bank": (
        "test_bank_the_bank_s_model_is_overconfident_at_both_ends",
        "test_bank_among_safe_customers_more_than_twice_as_many_default_as_expected",
        "test_bank_platt_scaling_lowers_the_brier_score_and_keeps_the_auc",
        "test_bank_platt_scaling_lowers_the_brier_score_and_keeps_the_auc",
        "test_bank_the_bank_s_model_is_overconfident_at_both_ends",
    ),
    "diagram": (
        MEANS,
        "test_diagram_nearly_every_bin_of_the_right_model_is_near_and_more_bins_only_add_noise",
        "test_diagram_nearly_every_bin_of_the_right_model_is_near_and_more_bins_only_add_noise",
        "test_diagram_most_marks_of_the_right_model_lie_inside_the_band_and_it_is_wide_where_rows_are_few",
    ),
    "venn_abers": (
        "test_moves_take_one_pool_each_and_their_order_does_not_matter",
        "test_venn_abers_the_end_is_reached_and_its_outermost_steps_are_certain",
        "test_venn_abers_the_end_is_reached_and_its_outermost_steps_are_certain",
        "test_both_isotonic_regressions_end_and_four_lines_never_do",
        "test_venn_abers_p0_is_never_1_nor_p1_0_and_they_part_where_rows_are_few",
        "test_venn_abers_the_pair_is_wide_where_few_rows_calibrate",
        "test_a_pair_is_two_isotonic_fits_that_differ_by_the_label_of_one_row",
        "test_with_five_rows_the_right_one_of_the_pair_is_right_on_average",
        "test_half_the_width_takes_about_three_times_the_rows",
        "test_at_the_midpoint_the_regrets_are_not_even_and_nearer_to_one_half_they_are",
    ),
}
"""Of each step: the test of its point."""

ALL_MEAN = (MEANS,) * 3
SURER = "test_scores_of_training_rows_are_surer_than_those_of_new_rows"
FIFTY, BAND = POINTS["diagram"][2:]
QUIZ = {
    "bank": (ALL_MEAN, ALL_MEAN, (SURER, SURER, MEANS)),
    "diagram": ((FIFTY, FIFTY, FIFTY), (BAND, MEANS, BAND)),
    "venn_abers": (
        ("test_pools_of_one_half_and_one_quarter_are_joined_to_two_of_six", MEANS, MEANS),
        ("test_the_truth_of_a_row_may_lie_outside_its_pair", POINTS["venn_abers"][7], MEANS),
        ("test_of_one_tenth_and_one_half_the_number_is_036",) * 3,
    ),
}
"""Of each answer to each question at the end: the test of the sentence that meets it."""


@pytest.mark.whole_registry
def test_every_point_and_every_answer_is_held_by_a_test_or_states_no_finding(request):
    tests = request.path.parents[1]
    folders = (request.path.parent, tests / "experiments", tests / "analysis" / "watch")
    texts = (path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("test_*.py"))
    there = {name for text in texts for name in re.findall(r"^def (test_\w+)", text, flags=re.M)} | {MEANS}
    for key, lesson in EVERY.items():
        assert {key} <= POINTS.keys() & QUIZ.keys(), (
            "POINTS and QUIZ name the tests of each lesson's sentences"
        )
        assert len(POINTS[key]) == len(lesson.steps)
        assert [len(names) for names in QUIZ[key]] == [len(one.why) for one in lesson.questions]
    named = [name for of_lesson in POINTS.values() for name in of_lesson]
    named += [name for questions in QUIZ.values() for names in questions for name in names]
    assert set(named) <= there


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
def test_scores_of_training_rows_are_surer_than_those_of_new_rows(seed):
    data = GaussianPair([0, 0], np.eye(2), [1, 1], np.eye(2)).sample(600, seed)
    X = np.asarray(data.X)
    forest = ProbabilityForest(n_estimators=50, random_state=seed).fit(X, data.y)
    new, own = forest.oob_scores(), forest.predict_proba(X)[:, 1]
    assert np.abs(own - 0.5).mean() > 1.2 * np.nanmean(np.abs(new - 0.5))


def test_pools_of_one_half_and_one_quarter_are_joined_to_two_of_six():
    fit = Isotonic().fit(np.array([1.0, 1, 2, 2, 2, 2]), np.array([1, 0, 1, 0, 0, 0]))
    assert fit.predict(np.array([1.0, 2.0])) == pytest.approx([2 / 6, 2 / 6])

"""Why an answer is right, or what it mistakes: every sentence is held by a test; and one setting turns the answer."""

import numpy as np
import pytest

from calib.experiments import EXPERIMENTS
from calib.experiments.shared.gaussian_plane import PredictionErrors
from tests.experiments.simulated import fit, found, record
from tests.experiments.test_claims import (
    SEEDS,
    by_count,
    by_share,
    distances,
    over_seeds,
    panels,
    slope,
    tce_by_step,
    wide,
)
from tests.experiments.test_claims import models as models_of

HELD: set[tuple[str, int]] = set()
IN_CLAIMS = {
    "cl_gl": {(1, 2, 3): "test_pure_leaves_are_two_groups_and_laplace_splits_them"},
    "tree_count": {(2,): "test_with_5_trees_half_can_go_with_50_an_eighth_at_most"},
    "which_model": {
        (1,): "test_the_forest_scatters_and_depth_4_halves_it",
        (3,): "test_logistic_regression_stays_wrong_by_bias_and_by_scatter_where_it_is_not",
    },
    "overlap": {(1,): "test_at_complete_overlap_a_grown_forest_has_learnt_noise_and_more_trees_do_not_help"},
    "theorem": {
        (1, 2, 3, 4): "test_the_selected_probability_is_right_on_average_and_the_pair_lies_around_it"
    },
    "looking": {(1, 2, 3): "test_looking_every_week_ruins_the_test_and_not_the_evidence"},
    "fair_on_average": {
        (1, 2, 3): "test_fair_on_average_a_search_finds_groups_by_chance_and_the_audit_does_not"
    },
    "three_classes": {
        (
            1,
            2,
            3,
        ): "test_three_classes_the_confidence_is_right_and_the_classes_are_not_until_their_weights_are"
    },
    "constant": {(1, 2, 3): "test_both_are_valid_one_is_narrow_and_the_other_follows_the_truth"},
    "counterexample": {
        (1, 2, 3): "test_the_simplified_interval_settles_beside_the_frequency_and_the_full_one_around_it"
    },
    "narrowing": {(1,): "test_pools_grow_slower_than_the_data_and_categories_as_fast"},
    "pooling": {(1, 2, 3): "test_moves_take_one_pool_each_and_their_order_does_not_matter"},
    "finite": {
        (1,): "test_one_leaf_is_calibrated_and_loses_by_grouping_alone",
        (2,): "test_one_split_takes_most_of_the_grouping_loss",
        (3,): "test_pure_leaves_are_two_groups_and_worse_than_one_leaf",
    },
}
"""Answers whose sentence says what a notice says as well: its test in test_claims.py."""


def meets(key, *answers):
    """The answers of an experiment whose sentences a test holds."""

    def noted(test):
        HELD.update((key, answer) for answer in answers)
        return test

    return noted


@pytest.mark.whole_registry
def test_every_answers_sentence_is_held_by_a_test(request):
    claims = request.path.with_name("test_claims.py").read_text(encoding="utf-8")
    for key, places in IN_CLAIMS.items():
        for answers, name in places.items():
            assert f"def {name}(" in claims, name
            HELD.update((key, answer) for answer in answers)
    every = {(key, i) for key, one in EXPERIMENTS.items() for i in range(1, len(one.why) + 1)}
    assert every - HELD == set(), "their tests are marked @meets here, or named in IN_CLAIMS"
    assert HELD - every == set()


def test_one_setting_turns_every_answer_or_the_experiment_says_why_none_does():
    assert [key for key, one in EXPERIMENTS.items() if bool(one.turn) == bool(one.no_turn)] == []


def answer(key, seed=0, **settings):
    figures = EXPERIMENTS[key].figures
    return next(a for figure in figures if (a := record(figure, key, seed, **settings).answer) is not None)


@over_seeds
@meets("tree_depth", 1, 2, 3)
def test_depth_2_is_biased_depth_8_scatters_and_depth_4_loses_least_by_both(seed):
    two, four, eight = (panels("tree_depth", seed)[f"Depth {depth}"] for depth in (2, 4, 8))
    assert two.bias > max(4 * four.bias, two.tce / 4)
    assert slope(two) < min(0.9, slope(four)), "high ones too low, low ones too high"
    assert eight.bias < four.bias
    assert eight.scatter > four.scatter
    assert four.tce < min(two.tce, eight.tce)


@over_seeds
@meets("tree_count", 1)
def test_disagreement_falls_like_one_over_the_number_of_trees(seed):
    """Hence the step from 50 to 500 takes 1/50 − 1/500 of it, a tenth of 1/5 − 1/50."""
    result = by_count(seed)
    curve = result.curves["forest"]
    tce = dict(zip(result.values, curve["tce"], strict=True))
    disagreement = (curve["alone"][0] - tce[500]) / (1 - 1 / 500)
    for count in (5, 10, 50):
        assert tce[count] - tce[500] == pytest.approx(disagreement * (1 / count - 1 / 500), rel=0.3)


@pytest.mark.parametrize(
    "seed", [*SEEDS, pytest.param(103, marks=pytest.mark.soak)]
)  # the least of seventeen
@meets("tree_count", 3)
def test_ten_times_the_trees_take_away_a_fifth_at_most_of_what_the_first_ones_took(seed):
    result = by_count(seed)
    tce = dict(zip(result.values, result.curves["forest"]["tce"], strict=True))
    assert (tce[5] - tce[50]) / (tce[50] - tce[500]) > 5


@over_seeds
@meets("leaf_estimates", 1, 2, 3)
def test_laplace_and_the_forest_help_and_curtailment_helps_more_than_laplace(seed):
    shown = found("leaf_estimates", seed).shown
    tce = [one.tce for one in shown]
    assert tce[1] < tce[0]
    assert set(np.round(shown[1].p[shown[0].p == 1], 6)) >= {round(2 / 3, 6)}, "leaves of one row"
    assert tce[3] < tce[0] / 4
    assert tce[2] < tce[1]


@pytest.mark.soak
def test_curtailment_helps_most_on_average_over_seeds_and_here():
    tce = np.array([[one.tce for one in found("leaf_estimates", seed).shown[:4]] for seed in range(5)])
    assert tce.mean(axis=0).argmin() == tce[0].argmin() == 2


@over_seeds
@meets("which_model", 2)
def test_the_svm_scatters_little_where_a_curved_boundary_is_needed(seed):
    lower = models_of(seed, "Unequal covariances")
    assert lower["svm"].scatter < lower["forest"].scatter / 2
    logistic = PredictionErrors("", *fit(seed, "unequal", 1000, "logistic_regression", (), "none"))
    assert lower["svm"].tce < min(lower["forest"].tce, logistic.tce)


@meets("overlap", 2, 3)
def test_in_many_dimensions_it_is_half_way_and_in_two_there_is_nothing_left_at_the_end():
    gain = {
        d: (tce := tce_by_step("default", d))["none"] - tce[["isotonic", "beta"]].min(axis=1) for d in (2, 20)
    }
    assert gain[2].idxmax() == 1
    assert 5 < gain[20].idxmax() < 16
    assert tce_by_step("default")["none"].iloc[-1] < 0.1 * tce_by_step("default")["none"].iloc[0]


@meets("calibration_size", 1, 2, 3, 4)
def test_the_calibration_rows_serve_the_forest_itself_most():
    tce = wide(by_share(), "share", "tce")
    last, methods = tce.iloc[-1], ["platt", "isotonic", "beta", "venn_abers", "ppa", "rank"]
    assert last["rf_opt"] < last[methods].min()
    assert last["none"] - last["rf_opt"] > last["none"] - last[methods].min(), "by more than any gains"
    assert last["venn_abers"] < last["platt"]
    assert tce["isotonic"].iloc[0] > 2 * last["isotonic"], "it needs rows"
    half = tce["platt"].iloc[len(tce) // 2]
    assert last["platt"] == pytest.approx(half, rel=0.1), "no further row mends it"
    assert last["platt"] > last["none"]


@meets("order", 1, 2, 3)
def test_it_is_exact_for_every_number_of_rows_by_counting_the_orderings():
    for rows in range(2, 13):
        for ones in range(1, rows):
            assert answer("order", objects=rows, ones=ones) == 1


def log_regrets(p, p0, p1):
    """Of a label that is 1 with probability p1 or p0, against acting on that: Kullback–Leibler's divergence."""
    return [-np.log1p(-p) + np.log1p(-p0), -np.log(p) + np.log(p1)]


@meets("regret", 1, 2, 3)
def test_at_the_midpoint_the_regrets_are_not_even_and_nearer_to_one_half_they_are():
    values = EXPERIMENTS["regret"].values({})
    p0, p1 = values["p0"], values["p1"]
    grid = np.linspace(p0, p1, 4001)[1:-1]
    least = grid[np.argmin([max(log_regrets(p, p0, p1)) for p in grid])]
    middle = (p0 + p1) / 2
    assert abs(least - 0.5) < abs(middle - 0.5)
    assert np.ptp(log_regrets(least, p0, p1)) < 1e-3
    assert np.ptp(log_regrets(middle, p0, p1)) > 0.01
    further = middle - (least - middle)
    worst = [max(log_regrets(p, p0, p1)) for p in (least, middle, further)]
    assert worst == sorted(worst)


@over_seeds
@meets("compare", 1, 2, 3, 4, 5, 6)
def test_training_scores_are_too_sure_and_a_simplified_pair_takes_some_of_that_back(seed):
    result, off = distances(seed)
    sure = {key: np.abs(p - 0.5).mean() for key, p in result.p.items()}
    truth = np.abs(result.posterior - 0.5).mean()
    assert min(sure["none"], sure["dir"], sure["platt"]) > truth, "surer than the truth"
    assert sure["simplified"] < sure["dir"]
    assert min(off, key=off.get) == "simplified"
    assert sure["isotonic"] < sure["dir"], "a held-out third is honest"
    width = {key: np.abs(np.subtract(*pair)).mean() for key, pair in result.pairs.items()}
    assert width["full"] > 1.2 * width["simplified"]
    assert sure["full"] < truth, "little is said"


@over_seeds
@meets("log_loss", 1, 2, 3)
def test_each_certain_mistake_is_rare_and_a_hundred_rows_find_one(seed):
    result = found("log_loss", seed)
    loss = result.log_loss("dir")
    finite = np.isfinite(loss).all(axis=1).mean()
    assert finite < 0.15
    assert 1 - finite ** (1 / 100) < 0.1, "each mistake is rare"


@over_seeds
@meets("narrowing", 2, 3)
def test_widths_fall_like_n_to_the_minus_two_thirds_and_not_like_a_means_error(seed):
    slope = found("narrowing", seed, draws=10).slope
    assert abs(slope + 2 / 3) < min(abs(slope + 1 / 2), abs(slope + 1))

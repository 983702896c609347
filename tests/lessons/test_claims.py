"""What the words of a lesson say is so: each claim held against its step's numbers, by evaluate or the simulation."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from calib.analysis.curves import binned_curve
from calib.analysis.decision import decide
from calib.calibrators import Isotonic
from calib.evaluate import Evaluation, evaluate
from calib.experiments import EXPERIMENTS, chosen_experiment
from calib.export.named_numbers import named_numbers
from calib.figures import FIGURES
from calib.lessons import LESSONS, Step
from calib.metrics import expected_calibration_error
from calib.recipe import Recipe
from calib.sources import load

SEEDS = (0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2, 3)))
over_seeds = pytest.mark.parametrize("seed", SEEDS)


def step(key: str, number: int) -> Step:
    return LESSONS[key].steps[number - 1]


@pytest.mark.whole_registry
def test_every_step_is_named_by_the_tests_of_its_claims():
    """A new step fails here until a test holds what it says."""
    own = Path(__file__).read_text(encoding="utf-8")
    named = {(key, int(number)) for key, number in re.findall(r'"([a-z_]+)", (\d)', own)}
    every = {(key, number) for key, lesson in LESSONS.items() for number in range(1, len(lesson.steps) + 1)}
    assert every - named - HELD_BY_EXPERIMENTS == set()


HELD_BY_EXPERIMENTS = {
    ("two_probabilities", 1),
    ("two_probabilities", 5),
    ("not_useful", 1),
    ("when_it_helps", 1),
    ("when_it_helps", 2),
    ("when_it_helps", 3),
    ("three_classes", 1),
    ("three_classes", 2),
    ("three_classes", 3),
}
"""Steps whose words are an experiment's: tests/experiments/test_claims.py."""


@cache
def evaluated(recipe: Recipe) -> Evaluation:
    return evaluate(recipe, load(recipe))


def of(key: str, number: int, **changes) -> Evaluation:
    """The Evaluation of a step, or of a change to it."""
    return evaluated(step(key, number).recipe.replace(**changes))


def costs_of(key: str, number: int) -> dict[str, float]:
    """The costs of a step that differ from the page's own."""
    return step(key, number).recipe.stated_settings("decide", "cost_false_alarm", "cost_miss")


def simulated(key: str, number: int):
    """The result of the experiment that a step shows."""
    recipe, page = step(key, number).recipe, step(key, number).page
    experiment = chosen_experiment(dict(recipe.settings), page.removeprefix("learn_"))
    values = experiment.values(dict(recipe.settings))
    return experiment.simulate(random_state=recipe.seed, **experiment.numbers(values))


def bins(evaluation: Evaluation, calibrator: str = "none") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean prediction, observed share and rows of each of the diagram's bins that hold ten rows, by the definition."""
    y, p, k = evaluation.y, evaluation.predictions[calibrator].p, evaluation.recipe.bins
    at = np.minimum((p * k + 1e-9).astype(int), k - 1)
    found = [
        (p[at == b].mean(), y[at == b].mean(), (at == b).sum()) for b in range(k) if (at == b).sum() >= 10
    ]
    return tuple(np.array(column) for column in zip(*found, strict=True))


def marks(evaluation: Evaluation, least: int = 1) -> list[tuple[float, float]]:
    """Mean prediction and observed share of every bin that holds so many rows."""
    y, p, k = evaluation.y, evaluation.predictions["none"].p, evaluation.recipe.bins
    at = np.minimum((p * k + 1e-9).astype(int), k - 1)
    return [(p[at == b].mean(), y[at == b].mean()) for b in range(k) if (at == b).sum() >= least]


@over_seeds
def test_why_calibrate_the_bank_s_model_is_overconfident_at_both_ends(seed):
    """("why_calibrate", 1) and, after another split, ("why_calibrate", 5)."""
    gaps = {predicted: came - predicted for predicted, came in marks(of("why_calibrate", 1, seed=seed), 10)}
    assert gaps[min(gaps)] > 0.05
    assert all(gap < -0.05 for predicted, gap in gaps.items() if predicted > 0.4)


def test_why_calibrate_the_bank_refuses_customers_who_pay_and_sets_too_little_aside():
    """("why_calibrate", 1) and ("why_calibrate", 2)"""
    evaluation = of("why_calibrate", 2)
    y, p = evaluation.y, evaluation.predictions["none"].p
    risky, safe = (p >= 0.6) & (p < 0.8), p < 0.2
    assert (len(y), risky.sum(), y[risky].sum()) == (900, 49, 13)
    assert (round(p[risky].mean(), 2), round(y[risky].mean(), 2)) == (0.70, 0.27)
    assert (safe.sum(), round(p[safe].mean(), 3), round(p[safe].sum()), y[safe].sum()) == (618, 0.055, 34, 95)


@over_seeds
def test_why_calibrate_among_safe_customers_more_than_twice_as_many_default_as_expected(seed):
    evaluation = of("why_calibrate", 2, seed=seed)
    y, p = evaluation.y, evaluation.predictions["none"].p
    assert 2 < y[p < 0.2].sum() / p[p < 0.2].sum() < 3


@over_seeds
def test_why_calibrate_platt_scaling_lowers_the_brier_score_and_keeps_the_auc(seed):
    """("why_calibrate", 3) and ("why_calibrate", 4)"""
    scores = of("why_calibrate", 4, seed=seed).metrics
    assert scores.brier["platt"] < scores.brier["none"] - 0.005
    assert scores.auc["platt"] == pytest.approx(scores.auc["none"], abs=1e-12)


@over_seeds
def test_why_calibrate_two_customers_keep_their_order(seed):
    """("why_calibrate", 4): A paid, B defaulted, and the model is wrong about the pair."""
    evaluation = of("why_calibrate", 4, seed=seed)
    before, after = (evaluation.predictions[key].p for key in ("none", "platt"))
    a, b = (
        int(np.where(evaluation.y == label, np.abs(before - near), np.inf).argmin())
        for _, near, label in step("why_calibrate", 4).picture["pins"]
    )
    assert (round(before[a], 1), round(before[b], 1)) == (0.7, 0.4)
    assert after[a] > after[b]
    if seed == 0:
        assert (round(after[a], 2), round(after[b], 2)) == (0.39, 0.31)


def test_why_calibrate_above_40_percent_there_are_three_marks_below_the_diagonal():
    """("why_calibrate", 1); and a third of the money, ("why_calibrate", 2)"""
    high = [(p, came) for p, came in marks(of("why_calibrate", 1), 10) if p > 0.4]
    assert len(high) == 3
    assert all(came < p for p, came in high)
    held, needed = 34, 95
    assert held / needed == pytest.approx(1 / 3, abs=0.03)


def test_why_calibrate_with_platt_scaling_the_bank_expects_what_comes():
    """("why_calibrate", 3): and hardly any risk is above 50 %."""
    evaluation = of("why_calibrate", 3)
    safe = evaluation.predictions["none"].p < 0.2
    p = evaluation.predictions["platt"].p
    assert (round(p[safe].sum()), evaluation.y[safe].sum()) == (96, 95)
    assert np.bincount((5 * p[safe]).astype(int)).tolist() == [482, 136], "in two marks"
    assert np.mean(p > 0.5) < 0.01 < np.mean(evaluation.predictions["none"].p > 0.5) / 10
    assert round(evaluation.metrics.auc["none"], 2) == 0.66


def test_why_calibrate_of_other_customers_three_of_five_marks_lie_outside_the_band():
    """("why_calibrate", 5)"""
    evaluation = of("why_calibrate", 5)
    curve = binned_curve(evaluation.y, evaluation.predictions["none"].p, bins=5)
    outside = (curve.observed < curve.band_lower) | (curve.observed > curve.band_upper)
    assert outside.sum() == 3
    few = curve.count < 60
    before = of("why_calibrate", 5, seed=0)
    moved = np.abs(binned_curve(before.y, before.predictions["none"].p, bins=5).observed - curve.observed)
    assert moved[few].max() > 0.2 > 0.05 > moved[~few].max()


@over_seeds
def test_reliability_diagram_the_forest_is_underconfident_on_digits(seed):
    """("reliability_diagram", 1)"""
    evaluation = of("reliability_diagram", 1, seed=seed)
    found = marks(evaluation, 10)
    assert all(came > predicted for predicted, came in found if predicted > 0.7)
    assert all(came < predicted for predicted, came in found if predicted < 0.4)
    if seed == 0:
        assert [came > predicted for predicted, came in sorted(found)] == [False] * 6 + [True] * 4


def test_reliability_diagram_28_of_thirty_digits_are_odd():
    """("reliability_diagram", 1)"""
    evaluation = of("reliability_diagram", 1)
    p, y = evaluation.predictions["none"].p, evaluation.y
    at = np.minimum((p * 10 + 1e-9).astype(int), 9) == 7
    assert (len(y), at.sum(), y[at].sum(), round(p[at].mean(), 2)) == (540, 30, 28, 0.75)


def test_reliability_diagram_nearly_every_bin_of_the_right_model_is_near_and_more_bins_only_add_noise():
    few, many = of("reliability_diagram", 2), of("reliability_diagram", 3)
    assert np.array_equal(few.predictions["none"].p, many.predictions["none"].p)
    predicted, came, _ = bins(few)
    assert np.abs(predicted - came).max() < 0.05
    assert (round(few.metrics.ece["none"], 3), round(many.metrics.ece["none"], 3)) == (0.019, 0.084)
    assert many.metrics.ece["none"] > 4 * few.metrics.ece["none"]
    posterior = few.dataset.posterior[few.rows]
    assert np.sqrt(np.mean((few.predictions["none"].p - posterior) ** 2)) < 0.06
    # Labels drawn anew from the truth
    y = np.random.default_rng(0).binomial(1, posterior, (200, len(posterior)))
    for k, size in ((25, 0.06), (50, 0.08)):
        at = np.minimum((posterior * k).astype(int), k - 1)
        gaps = [np.abs((y - posterior)[:, at == b].sum(axis=1)) for b in range(k)]
        assert np.mean(np.sum(gaps, axis=0) / len(posterior)) > size, "even the truth has such an ECE"


def test_reliability_diagram_the_noise_that_the_text_explains_is_drawn():
    """("reliability_diagram", 3): six bins have no mark, and hold little of the ECE."""
    evaluation = of("reliability_diagram", 3)
    y, p = evaluation.y, evaluation.predictions["none"].p
    at = np.minimum((p * 25 + 1e-9).astype(int), 24)
    rows = np.bincount(at, minlength=25)
    gaps = np.abs(np.bincount(at, weights=y - p, minlength=25)) / len(y)
    assert ((rows >= 10).sum(), ((rows > 0) & (rows < 10)).sum()) == (13, 6)
    assert gaps[rows >= 10].sum() > 0.85 * evaluation.metrics.ece["none"]
    assert evaluation.metrics.ece["none"] == pytest.approx(gaps.sum())


def test_reliability_diagram_six_of_13_rows_are_within_chance_if_three_are_expected():
    """("reliability_diagram", 4), by the binomial distribution itself."""
    evaluation = of("reliability_diagram", 4)
    p = evaluation.predictions["none"].p
    own = p[np.minimum((p * 15 + 1e-9).astype(int), 14) == 3]
    assert (len(own), round(own.mean(), 2), round(own.sum())) == (13, 0.24, 3)
    assert stats.binom.ppf(0.975, 13, own.mean()) == 6


def test_reliability_diagram_from_2_to_100_bins_the_ece_is_anything_from_0016_to_018():
    evaluation = of("reliability_diagram", 3)
    ece = [
        expected_calibration_error(evaluation.y, evaluation.predictions["none"].p, bins=k)
        for k in range(2, 101)
    ]
    assert (round(min(ece), 3), round(max(ece), 2)) == (0.016, 0.18)


@over_seeds
def test_reliability_diagram_more_bins_raise_the_ece_of_a_right_model_fourfold(seed):
    evaluation = of("reliability_diagram", 3, seed=seed)
    ece = [
        expected_calibration_error(evaluation.y, evaluation.predictions["none"].p, bins=k)
        for k in range(2, 101)
    ]
    assert max(ece) > 4 * min(ece)


def test_reliability_diagram_most_marks_of_the_right_model_lie_inside_the_band_and_it_is_wide_where_rows_are_few():
    evaluation = of("reliability_diagram", 4)
    curve = binned_curve(evaluation.y, evaluation.predictions["none"].p, bins=evaluation.recipe.bins)
    some = curve.count > 0
    inside = (curve.observed >= curve.band_lower) & (curve.observed <= curve.band_upper)
    assert inside[some].mean() >= 0.8
    width, least, most = (
        (curve.band_upper - curve.band_lower)[some],
        curve.count[some].argmin(),
        curve.count[some].argmax(),
    )
    assert width[least] > width[most]


def test_reliability_diagram_corp_finds_steps_and_takes_no_bins():
    """("reliability_diagram", 6), and a mark as step 1 describes it: ("reliability_diagram", 1)."""
    evaluation = of("reliability_diagram", 6)
    p = evaluation.predictions["none"].p
    assert evaluated(evaluation.recipe.replace(bins=7)).metrics.miscalibration["none"] == pytest.approx(
        evaluation.metrics.miscalibration["none"]
    )
    steps = Isotonic().fit(p, evaluation.y).predict(p)
    assert len(set(steps)) < len(set(p)) / 2
    assert np.mean((p - evaluation.y) ** 2) - np.mean((steps - evaluation.y) ** 2) == pytest.approx(
        evaluation.metrics.miscalibration["none"]
    )


def test_reliability_diagram_equal_width_bins_of_naive_bayes_are_empty_in_between():
    _, _, rows = bins(of("reliability_diagram", 5, binning="uniform"))
    assert rows[[0, -1]].sum() > 0.9 * rows.sum()


@over_seeds
def test_reliability_diagram_naive_bayes_is_overconfident(seed):
    """("reliability_diagram", 6)"""
    evaluation = of("reliability_diagram", 6, seed=seed)
    p = evaluation.predictions["none"].p
    assert evaluation.y[p > 0.95].mean() < p[p > 0.95].mean() - 0.1


def test_two_probabilities_marks_lie_above_the_diagonal():
    """p0 <= p1 wherever the fits are on the same rows."""
    predictions = of("two_probabilities", 2).predictions["venn_abers"]
    assert (predictions.lower <= predictions.upper).all()


def test_two_probabilities_eight_of_the_twelve_digits_at_one_half_have_the_lower_p1():
    """("two_probabilities", 2): what it asks and tells."""
    pairs = of("two_probabilities", 2).predictions["venn_abers"].pairs
    at, counts = np.unique(pairs[np.isclose(pairs[:, 0], 0.5), 1].round(2), return_counts=True)
    assert dict(zip(at, counts, strict=True)) == {0.64: 8, 0.67: 4}


def test_two_probabilities_the_pair_is_wide_where_few_rows_calibrate():
    width = {
        n: of("two_probabilities", 3, calibration_size=n).metrics.width["venn_abers"] for n in (0.1, 1 / 3)
    }
    assert width[0.1] > 1.5 * width[1 / 3]


def test_two_probabilities_the_narrow_end_of_the_line_takes_more_than_twice_the_objects_for_half_the_width():
    found = simulated("two_probabilities", 4)
    slope = np.polyfit(np.log(found.sizes), np.log(found.mean), 1)[0]
    assert -0.85 < slope < -0.5


def test_not_useful_the_constant_has_the_better_calibration_error_and_the_worse_everything_else():
    constant, bayes = of("not_useful", 2), of("not_useful", 3)
    assert len(set(constant.predictions["none"].p)) == 1
    assert constant.metrics.ece["none"] < 0.01 < bayes.metrics.ece["none"]
    assert constant.metrics.accuracy["none"] == pytest.approx(1 - constant.y.mean())
    assert bayes.metrics.brier["none"] < constant.metrics.brier["none"] / 2
    assert constant.metrics.discrimination["none"] == pytest.approx(0, abs=1e-12)
    assert bayes.metrics.discrimination["none"] > 0.1
    assert bayes.metrics.accuracy["none"] > 0.9
    assert (round(constant.metrics.accuracy["none"], 2), round(constant.metrics.ece["none"], 3)) == (
        0.63,
        0.002,
    )
    table = named_numbers(step("not_useful", 3), bayes, evaluated)
    assert list(table.index) == ["Tree with no splits", "Naive Bayes"]
    assert [texts.endswith("★") for texts in table["ECE"]] == [True, False]
    assert [texts.endswith("★") for texts in table["Brier score"]] == [False, True]
    assert {round(constant.predictions["none"].p[0], 2), round(constant.y.mean(), 2)} == {0.37}


@pytest.mark.parametrize("costs", [(1.0, 5.0), (1.0, 1.0), (5.0, 1.0)])
def test_not_useful_the_constant_decides_alike_for_everybody_and_is_never_better_than_both(costs):
    false_alarm, miss = costs
    evaluation = of("not_useful", 4)
    decision = decide(evaluation, cost_false_alarm=false_alarm, cost_miss=miss)
    everybody, nobody = false_alarm * (1 - evaluation.y.mean()), miss * evaluation.y.mean()
    assert (decision.always, decision.never) == (pytest.approx(everybody), pytest.approx(nobody))
    assert decision.table.loc["none", "realised"] == pytest.approx(min(everybody, nobody))
    drawn = FIGURES["costs"].draw(FIGURES["costs"].prepare(decision)).layout
    rules = [(line.x0, text.text) for line, text in zip(drawn.shapes, drawn.annotations, strict=True)]
    every = sorted([(decision.always, "act on all"), (decision.never, "act on none")])
    near = [
        rule for rule in every if rule[0] < 4 * every[0][0]
    ]  # a dearer rule would press the others together
    assert rules == near
    if miss == 5:
        assert round(everybody / nobody, 2) == 0.33, "a third, as the step says"


def test_a_stump_has_hardly_any_calibration_loss_and_a_deeper_tree_is_better():
    """("not_useful", 5)"""
    settings = EXPERIMENTS["cl_gl"].numbers(
        EXPERIMENTS["cl_gl"].values(dict(step("not_useful", 5).recipe.settings))
    )
    found = EXPERIMENTS["cl_gl"].simulate("cl_gl_sweep", random_state=0, against="depth", **settings)
    losses = [point.losses["brier"] for point in found.points]
    calibration, grouping = (
        np.array([getattr(loss, part) for loss in losses]) for part in ("calibration", "grouping")
    )
    assert calibration[0] < 0.05 * grouping[0]
    assert calibration[-1] > 10 * calibration[0]
    best = int(np.argmin(calibration + grouping))
    assert found.values[best] == found.values[int(np.argmin(grouping))] == 4
    assert grouping[best] < grouping[0]
    assert (np.diff(grouping[best:]) > 0).all(), "and GL rises from there"
    assert (np.diff(calibration) > 0).all()


@over_seeds
def test_labels_to_steps_isotonic_regression_comes_to_the_diagonal_and_keeps_the_order(seed):
    scores = of("labels_to_steps", 4, seed=seed).metrics
    assert scores.brier["isotonic"] < scores.brier["none"] - 0.05
    order = of("labels_to_steps", 4, seed=seed).predictions
    raw, fitted = order["none"].p, order["isotonic"].p
    assert (np.diff(fitted[np.argsort(raw, kind="stable")]) >= -1e-12).all(), "the order of the rows stays"
    assert np.mean((fitted == 0) | (fitted == 1)) < 0.05


@over_seeds
def test_labels_to_steps_venn_abers_is_never_certain_and_wrong(seed):
    both = of("labels_to_steps", 4, seed=seed, calibrators=("none", "isotonic", "venn_abers")).metrics
    assert np.isfinite(both.log_loss["venn_abers"])


def test_labels_to_steps_two_lines_end_and_four_do_not():
    found = simulated("labels_to_steps", 6)
    ends = {key for key in found.p if not np.isfinite(found.log_loss(key)).all()}
    assert ends == {"dir", "isotonic"}


@over_seeds
def test_labels_to_steps_p0_is_never_1_nor_p1_0_and_they_part_where_rows_are_few(seed):
    predictions = of("labels_to_steps", 5, seed=seed).predictions["venn_abers"]
    assert predictions.lower.max() < 1
    assert predictions.upper.min() > 0


def test_labels_to_steps_a_move_joins_two_pools_at_their_common_share():
    found, at = (
        simulated("labels_to_steps", 2),
        dict(step("labels_to_steps", 2).recipe.settings)["pooling.step"] - 1,  # the picture is after the move
    )
    left = found.joined[at]
    (a, n), (b, m) = found.ratio(at, left), found.ratio(at, left + 1)
    assert (a, n, b, m) == (1, 2, 0, 1)
    assert found.ratio(at + 1, left) == (a + b, n + m)
    assert a / n > b / m


def test_labels_to_steps_the_third_and_the_fourth_row_are_joined_first():
    """("labels_to_steps", 1)"""
    found = simulated("labels_to_steps", 1)
    labels = [int(label) for _, label in sorted(found.points)]
    falls = [i for i, (one, other) in enumerate(pairwise(labels)) if one > other]
    assert falls[0] == found.joined[0] == 2, "positions from 0"


def test_labels_to_steps_the_end_is_reached_and_its_outermost_steps_are_certain():
    found = simulated("labels_to_steps", 3)
    assert found.moves == dict(step("labels_to_steps", 3).recipe.settings)["pooling.step"]
    labels = [int(y) for _, y in found.points]
    assert labels[0] == 0
    assert labels[-1] == 1
    assert len(labels) == 12
    real = of("labels_to_steps", 4)
    certain = {key: int((found.p == 1 - real.y).sum()) for key, found in real.predictions.items()}
    assert certain == {"none": 12, "isotonic": 1}, "one certain mistake, and a dozen"
    assert len(real.y) == 540
    shares = real.predictions["isotonic"].p
    assert round(np.mean((shares == 0) | (shares == 1)), 2) == 0.02
    assert np.isinf(real.metrics.log_loss["isotonic"])


def test_when_it_helps_calibrating_changes_less_for_loans_than_for_digits():
    def gain(evaluation: Evaluation) -> float:
        return float((evaluation.metrics.brier["none"] - evaluation.metrics.brier).max())

    assert 0 < gain(of("when_it_helps", 4)) < gain(evaluated(Recipe())) / 2


@over_seeds
def test_when_it_helps_the_forest_is_overconfident_on_loans(seed):
    """("when_it_helps", 4): the reverse of the digits."""
    evaluation = of("when_it_helps", 4, seed=seed)
    p = evaluation.predictions["none"].p
    some = (p >= 0.3) & (p <= 0.7)
    assert (evaluation.y - p)[some].mean() < -0.02


def test_three_classes_the_forest_is_too_cautious_in_all_classes():
    """("three_classes", 4)"""
    evaluation = of("three_classes", 4)
    curve = binned_curve(evaluation.y, evaluation.predictions["none"].p, bins=5)
    assert (curve.observed > curve.mean_p).all()
    near = np.abs(curve.mean_p - 0.497).argmin()
    assert (curve.count[near], round(curve.observed[near] * curve.count[near]), len(evaluation.y)) == (
        92,
        87,
        540,
    )
    errors = evaluation.whole.metrics["classwise_ece"]
    assert errors["temperature"] < errors["none"] / 3
    table = named_numbers(step("three_classes", 4), evaluation, evaluated)
    assert table["Class-wise ECE"].tolist() == ["0.0453", "0.00498 ★"], "the step's table shows both"
    for k in range(10):
        y, p = evaluation.whole.y == k, evaluation.whole.distributions["none"][:, k]
        assert y[p > 0.5].mean() > p[p > 0.5].mean(), "of each digit"

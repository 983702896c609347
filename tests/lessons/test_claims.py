"""What the words of a lesson say is so: each claim held against its step's numbers, by evaluate or the simulation."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from calib.analysis.curves import binned_curve
from calib.evaluate import Evaluation, evaluate
from calib.experiments import chosen_experiment
from calib.lessons import Step
from calib.metrics import expected_calibration_error
from calib.recipe import Recipe
from calib.sources import load
from tests.lessons.every import EVERY

SEEDS = (0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2, 3)))
over_seeds = pytest.mark.parametrize("seed", SEEDS)


def step(key: str, number: int) -> Step:
    return EVERY[key].steps[number - 1]


@pytest.mark.whole_registry
def test_every_step_is_named_by_the_tests_of_its_claims():
    """A new step fails here until a test holds what it says."""
    own = Path(__file__).read_text(encoding="utf-8")
    named = {(key, int(number)) for key, number in re.findall(r'"([a-z_]+)", (\d)', own)}
    every = {(key, number) for key, lesson in EVERY.items() for number in range(1, len(lesson.steps) + 1)}
    assert every - named - HELD_BY_EXPERIMENTS == set()


HELD_BY_EXPERIMENTS = {
    ("venn_abers", 8),
    ("venn_abers", 10),
}
"""Steps whose words are an experiment's: tests/experiments/test_claims.py."""


@cache
def evaluated(recipe: Recipe) -> Evaluation:
    return evaluate(recipe, load(recipe))


def of(key: str, number: int, **changes) -> Evaluation:
    """The Evaluation of a step, or of a change to it."""
    return evaluated(step(key, number).recipe.replace(**changes))


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
def test_bank_the_bank_s_model_is_overconfident_at_both_ends(seed):
    """("bank", 1) and, after another split, ("bank", 5)."""
    gaps = {predicted: came - predicted for predicted, came in marks(of("bank", 1, seed=seed), 10)}
    assert gaps[min(gaps)] > 0.05
    assert all(gap < -0.05 for predicted, gap in gaps.items() if predicted > 0.4)


def test_bank_the_bank_refuses_customers_who_pay_and_sets_too_little_aside():
    """("bank", 1) and ("bank", 2)"""
    evaluation = of("bank", 2)
    y, p = evaluation.y, evaluation.predictions["none"].p
    risky, safe = (p >= 0.6) & (p < 0.8), p < 0.2
    assert (len(y), risky.sum(), y[risky].sum()) == (900, 49, 13)
    assert (round(p[risky].mean(), 2), round(y[risky].mean(), 2)) == (0.70, 0.27)
    assert (safe.sum(), round(p[safe].mean(), 3), round(p[safe].sum()), y[safe].sum()) == (618, 0.055, 34, 95)


@over_seeds
def test_bank_among_safe_customers_more_than_twice_as_many_default_as_expected(seed):
    evaluation = of("bank", 2, seed=seed)
    y, p = evaluation.y, evaluation.predictions["none"].p
    assert 2 < y[p < 0.2].sum() / p[p < 0.2].sum() < 3


@over_seeds
def test_bank_platt_scaling_lowers_the_brier_score_and_keeps_the_auc(seed):
    """("bank", 3) and ("bank", 4)"""
    scores = of("bank", 4, seed=seed).metrics
    assert scores.brier["platt"] < scores.brier["none"] - 0.005
    assert scores.auc["platt"] == pytest.approx(scores.auc["none"], abs=1e-12)


@over_seeds
def test_bank_two_customers_keep_their_order(seed):
    """("bank", 4): A paid, B defaulted, and the model is wrong about the pair."""
    evaluation = of("bank", 4, seed=seed)
    before, after = (evaluation.predictions[key].p for key in ("none", "platt"))
    a, b = (
        int(np.where(evaluation.y == label, np.abs(before - near), np.inf).argmin())
        for _, near, label in step("bank", 4).picture["pins"]
    )
    assert (round(before[a], 1), round(before[b], 1)) == (0.7, 0.4)
    assert after[a] > after[b]
    if seed == 0:
        assert (round(after[a], 2), round(after[b], 2)) == (0.39, 0.31)


def test_bank_above_40_percent_there_are_three_marks_below_the_diagonal():
    """("bank", 1); and a third of the money, ("bank", 2)"""
    high = [(p, came) for p, came in marks(of("bank", 1), 10) if p > 0.4]
    assert len(high) == 3
    assert all(came < p for p, came in high)
    held, needed = 34, 95
    assert held / needed == pytest.approx(1 / 3, abs=0.03)


def test_bank_with_platt_scaling_the_bank_expects_what_comes():
    """("bank", 3): and hardly any risk is above 50 %."""
    evaluation = of("bank", 3)
    safe = evaluation.predictions["none"].p < 0.2
    p = evaluation.predictions["platt"].p
    assert (round(p[safe].sum()), evaluation.y[safe].sum()) == (96, 95)
    assert np.bincount((5 * p[safe]).astype(int)).tolist() == [482, 136], "in two marks"
    assert np.mean(p > 0.5) < 0.01 < np.mean(evaluation.predictions["none"].p > 0.5) / 10
    assert round(evaluation.metrics.auc["none"], 2) == 0.66


def test_bank_of_other_customers_three_of_five_marks_lie_outside_the_band():
    """("bank", 5)"""
    evaluation = of("bank", 5)
    curve = binned_curve(evaluation.y, evaluation.predictions["none"].p, bins=5)
    outside = (curve.observed < curve.band_lower) | (curve.observed > curve.band_upper)
    assert outside.sum() == 3
    few = curve.count < 60
    before = of("bank", 5, seed=0)
    moved = np.abs(binned_curve(before.y, before.predictions["none"].p, bins=5).observed - curve.observed)
    assert moved[few].max() > 0.2 > 0.05 > moved[~few].max()


@over_seeds
def test_diagram_the_forest_is_underconfident_on_digits(seed):
    """("diagram", 1)"""
    evaluation = of("diagram", 1, seed=seed)
    found = marks(evaluation, 10)
    assert all(came > predicted for predicted, came in found if predicted > 0.7)
    assert all(came < predicted for predicted, came in found if predicted < 0.4)
    if seed == 0:
        assert [came > predicted for predicted, came in sorted(found)] == [False] * 6 + [True] * 4


def test_diagram_28_of_thirty_digits_are_odd():
    """("diagram", 1)"""
    evaluation = of("diagram", 1)
    p, y = evaluation.predictions["none"].p, evaluation.y
    at = np.minimum((p * 10 + 1e-9).astype(int), 9) == 7
    assert (len(y), at.sum(), y[at].sum(), round(p[at].mean(), 2)) == (540, 30, 28, 0.75)


def test_diagram_nearly_every_bin_of_the_right_model_is_near_and_more_bins_only_add_noise():
    few, many = of("diagram", 2), of("diagram", 3)
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


def test_diagram_the_noise_that_the_text_explains_is_drawn():
    """("diagram", 3): six bins have no mark, and hold little of the ECE."""
    evaluation = of("diagram", 3)
    y, p = evaluation.y, evaluation.predictions["none"].p
    at = np.minimum((p * 25 + 1e-9).astype(int), 24)
    rows = np.bincount(at, minlength=25)
    gaps = np.abs(np.bincount(at, weights=y - p, minlength=25)) / len(y)
    assert ((rows >= 10).sum(), ((rows > 0) & (rows < 10)).sum()) == (13, 6)
    assert gaps[rows >= 10].sum() > 0.85 * evaluation.metrics.ece["none"]
    assert evaluation.metrics.ece["none"] == pytest.approx(gaps.sum())


def test_diagram_six_of_13_rows_are_within_chance_if_three_are_expected():
    """("diagram", 4), by the binomial distribution itself."""
    evaluation = of("diagram", 4)
    p = evaluation.predictions["none"].p
    own = p[np.minimum((p * 15 + 1e-9).astype(int), 14) == 3]
    assert (len(own), round(own.mean(), 2), round(own.sum())) == (13, 0.24, 3)
    assert stats.binom.ppf(0.975, 13, own.mean()) == 6


def test_diagram_from_2_to_100_bins_the_ece_is_anything_from_0016_to_018():
    evaluation = of("diagram", 3)
    ece = [
        expected_calibration_error(evaluation.y, evaluation.predictions["none"].p, bins=k)
        for k in range(2, 101)
    ]
    assert (round(min(ece), 3), round(max(ece), 2)) == (0.016, 0.18)


@over_seeds
def test_diagram_more_bins_raise_the_ece_of_a_right_model_fourfold(seed):
    evaluation = of("diagram", 3, seed=seed)
    ece = [
        expected_calibration_error(evaluation.y, evaluation.predictions["none"].p, bins=k)
        for k in range(2, 101)
    ]
    assert max(ece) > 4 * min(ece)


def test_diagram_most_marks_of_the_right_model_lie_inside_the_band_and_it_is_wide_where_rows_are_few():
    evaluation = of("diagram", 4)
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


def test_venn_abers_marks_lie_above_the_diagonal():
    """p0 <= p1 wherever the fits are on the same rows."""
    predictions = of("venn_abers", 6).predictions["venn_abers"]
    assert (predictions.lower <= predictions.upper).all()


def test_venn_abers_eight_of_the_twelve_digits_at_one_half_have_the_lower_p1():
    """("venn_abers", 6): what it asks and tells."""
    pairs = of("venn_abers", 6).predictions["venn_abers"].pairs
    at, counts = np.unique(pairs[np.isclose(pairs[:, 0], 0.5), 1].round(2), return_counts=True)
    assert dict(zip(at, counts, strict=True)) == {0.64: 8, 0.67: 4}


def test_venn_abers_the_pair_is_wide_where_few_rows_calibrate():
    width = {n: of("venn_abers", 7, calibration_size=n).metrics.width["venn_abers"] for n in (0.1, 1 / 3)}
    assert width[0.1] > 1.5 * width[1 / 3]


def test_venn_abers_the_narrow_end_of_the_line_takes_more_than_twice_the_objects_for_half_the_width():
    found = simulated("venn_abers", 9)
    slope = np.polyfit(np.log(found.sizes), np.log(found.mean), 1)[0]
    assert -0.85 < slope < -0.5


@over_seeds
def test_venn_abers_isotonic_regression_comes_to_the_diagonal_and_keeps_the_order(seed):
    scores = of("venn_abers", 3, seed=seed).metrics
    assert scores.brier["isotonic"] < scores.brier["none"] - 0.05
    order = of("venn_abers", 3, seed=seed).predictions
    raw, fitted = order["none"].p, order["isotonic"].p
    assert (np.diff(fitted[np.argsort(raw, kind="stable")]) >= -1e-12).all(), "the order of the rows stays"
    assert np.mean((fitted == 0) | (fitted == 1)) < 0.05


@over_seeds
def test_venn_abers_venn_abers_is_never_certain_and_wrong(seed):
    both = of("venn_abers", 3, seed=seed, calibrators=("none", "isotonic", "venn_abers")).metrics
    assert np.isfinite(both.log_loss["venn_abers"])


def test_venn_abers_two_lines_end_and_four_do_not():
    found = simulated("venn_abers", 4)
    ends = {key for key in found.p if not np.isfinite(found.log_loss(key)).all()}
    assert ends == {"dir", "isotonic"}


@over_seeds
def test_venn_abers_p0_is_never_1_nor_p1_0_and_they_part_where_rows_are_few(seed):
    predictions = of("venn_abers", 5, seed=seed).predictions["venn_abers"]
    assert predictions.lower.max() < 1
    assert predictions.upper.min() > 0


def test_venn_abers_the_third_and_the_fourth_row_are_joined_first():
    """("venn_abers", 1)"""
    found = simulated("venn_abers", 1)
    labels = [int(label) for _, label in sorted(found.points)]
    falls = [i for i, (one, other) in enumerate(pairwise(labels)) if one > other]
    assert falls[0] == found.joined[0] == 2, "positions from 0"


def test_venn_abers_the_end_is_reached_and_its_outermost_steps_are_certain():
    found = simulated("venn_abers", 2)
    assert found.moves == dict(step("venn_abers", 2).recipe.settings)["pooling.step"]
    labels = [int(y) for _, y in found.points]
    assert labels[0] == 0
    assert labels[-1] == 1
    assert len(labels) == 12
    real = of("venn_abers", 3)
    certain = {key: int((found.p == 1 - real.y).sum()) for key, found in real.predictions.items()}
    assert certain == {"none": 12, "isotonic": 1}, "one certain mistake, and a dozen"
    assert len(real.y) == 540
    shares = real.predictions["isotonic"].p
    assert round(np.mean((shares == 0) | (shares == 1)), 2) == 0.02
    assert np.isinf(real.metrics.log_loss["isotonic"])

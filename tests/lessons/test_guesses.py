"""The right answer to every question of a step, computed anew from the data, model or simulation that the step shows.

A guess in the picture is sorted by the same cuts as what the picture then shows.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from calib.analysis.curves import binned_curve
from calib.analysis.explain import explain, widest_row
from calib.calibrators import Isotonic, VennAbers
from calib.evaluate import fit
from calib.experiments import asking_experiment, chosen_experiment
from calib.metrics import auc, expected_calibration_error, log_loss
from calib.sources import load
from tests.lessons.every import EVERY
from tests.lessons.test_claims import of, over_seeds, simulated

STEPS = {(key, number): one for key, of_key in EVERY.items() for number, one in enumerate(of_key.steps, 1)}


def asks(one) -> bool:
    """Whether the experiment of a step's page asks about these settings."""
    settings = dict(one.recipe.settings)
    experiment = asking_experiment(settings, one.page)
    return experiment is not None and experiment.usual(experiment.values(settings))


def test_every_step_asks_one_question():
    assert [place for place, one in STEPS.items() if asks(one) == (one.question is not None)] == []


def test_questions_are_short_and_each_wrong_answer_has_its_own_reason():
    for one in STEPS.values():
        settings = dict(one.recipe.settings)
        asked = one.question or chosen_experiment(settings, one.page.removeprefix("learn_"))
        text = one.question.text if one.question else asked.question
        assert len(f"{one.text} {text}".split()) <= 60, one.place
        if one.question:
            assert len(text) <= 120, one.place
            assert max(map(len, one.question.answers)) <= 40, one.place
            assert text.endswith((".", "?"))
            assert all(why.endswith(".") for why in one.question.why)


def test_a_wrong_answer_is_not_told_the_same_words_twice():
    """Its reason stands right before that of the right answer."""
    for one in STEPS.values():
        asked = one.question or chosen_experiment(dict(one.recipe.settings), one.page.removeprefix("learn_"))
        told = one.question.remark if one.question else ""
        right = asked.why[asked.right - 1]
        for why in {*asked.why} - {right}:
            assert not phrases(why) & (phrases(right) | phrases(told)), one.place


def phrases(text: str, words: int = 5) -> set[tuple[str, ...]]:
    """Return every run of so many words."""
    found = re.findall(r"[\w’'%]+", text.lower())
    return {tuple(found[i : i + words]) for i in range(len(found) - words + 1)}


def test_the_right_answer_is_not_always_at_one_place():
    places = [one.question.right for one in STEPS.values() if one.question]
    assert max(map(places.count, (1, 2, 3))) < 0.6 * len(places)


# ---------------------------------------------------------------------------------------------------------------------
# What a picture shows, and the answer that this is


# Of questions about a mark in a quiz, which asks for a choice: where the mark is, and the values between the answers
MARKS = {
    ("bank", 1): (0.7, (0.1, 0.5, 0.8)),
    ("bank", 2): (0.055, (0.04, 0.1, 0.3)),
    ("diagram", 1): (0.75, (0.65, 0.85)),
    ("diagram", 4): (0.24, (0.3, 0.4, 0.6)),
}
# Of questions about a line: the part of the horizontal axis
LINES = {("bank", 3): (0.0, 0.4), ("bank", 5): (0.5, 1.0), ("diagram", 2): (0.2, 0.8)}


def asked(key: str, number: int):
    """Return the question of a step as one about its picture."""
    question = STEPS[key, number].question
    if (key, number) in MARKS:
        at, cuts = MARKS[key, number]
        return replace(question, kind="mark", at=at, cuts=cuts)
    if (key, number) in LINES:
        return replace(question, kind="curve", over=LINES[key, number])
    return question


def shown_at(key: str, number: int, calibrator: str = "none", **changes):
    """Return the bin of the diagram at the place of the mark: its mean prediction and observed share."""
    evaluation = of(key, number, **changes)
    recipe = evaluation.recipe
    curve = binned_curve(evaluation.y, evaluation.predictions[calibrator].p, bins=recipe.bins)
    nearest = np.nanargmin(np.abs(curve.mean_p - asked(key, number).at))
    return curve, nearest


def mark(key: str, number: int, **changes) -> int:
    curve, nearest = shown_at(key, number, **changes)
    return asked(key, number).answer_to(curve.observed[nearest])


def curve(key: str, number: int, calibrator: str = "none", **changes) -> int:
    """Return the answer that the diagram's marks give, each weighted by its rows."""
    evaluation = of(key, number, **changes)
    low, high = asked(key, number).over
    p = evaluation.predictions[calibrator].p
    some = (p >= low) & (p <= high)
    gap = np.mean((evaluation.y - p)[some])
    return asked(key, number).answer_to([((low + high) / 2, (low + high) / 2 + gap)])


def drawn(key: str, number: int, calibrator: str = "none", **changes) -> int:
    """Return the answer that the drawn marks themselves give."""
    evaluation = of(key, number, **changes)
    made = binned_curve(evaluation.y, evaluation.predictions[calibrator].p, bins=evaluation.recipe.bins)
    some = made.count >= 10
    return asked(key, number).answer_to(list(zip(made.mean_p[some], made.observed[some], strict=True)))


def sorted_into(value: float, before: float, near: float) -> int:
    """Return 1 if a value lies clearly below the one before, 2 if it is about the same, 3 if it is clearly above."""
    return 1 if value < before - near else 3 if value > before + near else 2


PLACED = [one for one in STEPS.values() if one.question and one.question.kind in ("mark", "curve")]


def drawn_points(key: str, number: int, calibrator: str = "none"):
    """Return mean prediction, observed share and rows of the drawn marks in the part of the axis that counts."""
    evaluation = of(key, number)
    made = binned_curve(evaluation.y, evaluation.predictions[calibrator].p, bins=evaluation.recipe.bins)
    low, high = asked(key, number).over
    some = made.count > 0
    return [
        each
        for each in zip(made.mean_p[some], made.observed[some], made.count[some], strict=True)
        if low - 0.02 <= each[0] <= high and each[2] >= 12
    ]


def pairs_near_one_half():
    predicted = of("venn_abers", 6).predictions["venn_abers"]
    return np.median(predicted.upper[np.isclose(predicted.lower, 0.5)])


TRUTHS = {
    "venn_abers:3": lambda: drawn_points("venn_abers", 3, "isotonic"),
    "venn_abers:6": pairs_near_one_half,
}


@pytest.mark.parametrize("place", [one.place for one in PLACED])
def test_what_a_guess_is_compared_with_is_what_the_picture_shows(place):
    question = next(one for one in PLACED if one.place == place).question
    truth = np.array(TRUTHS[place]())
    assert np.array(question.truth) == pytest.approx(truth, abs=0.002)
    if question.kind == "curve":
        assert question.is_right(question.answer_to(truth[:, :2]), truth[:, :2])


@pytest.mark.parametrize("one", [pytest.param(one, id=one.place) for one in PLACED])
def test_no_extreme_guess_is_right(one):
    """The ends of the axis, an S-shape and, unless it is the answer, the diagonal."""
    question = one.question
    if question.kind == "mark":
        far = [end for end in (0.0, 1.0) if abs(end - question.truth) > 0.1]
        assert not any(question.is_right(question.answer_to(end), end) for end in far)
        return
    low, high = question.over
    x = np.linspace(low, high, 20)
    for way in (-1, 1):
        s_shape = np.clip(x + way * 0.3 * np.sin(2 * np.pi * (x - low) / (high - low)), 0, 1)
        for y in (s_shape, np.full(20, max(0.0, way))):
            guess = list(zip(x, y, strict=True))
            assert not question.is_right(question.answer_to(guess), guess)


@over_seeds
def test_bank_1_fewer_than_half_of_the_risky_customers_default(seed):
    assert mark("bank", 1, seed=seed) == STEPS["bank", 1].question.right


@over_seeds
def test_bank_2_about_three_times_as_many_default_as_expected(seed):
    assert mark("bank", 2, seed=seed) == STEPS["bank", 2].question.right


@over_seeds
def test_bank_3_the_calibrated_line_is_near_the_diagonal(seed):
    right = STEPS["bank", 3].question.right
    assert curve("bank", 3, "platt", seed=seed) == drawn("bank", 3, "platt", seed=seed) == right


@over_seeds
def test_bank_4_the_order_stays_and_so_does_the_auc(seed):
    evaluation = of("bank", 4, seed=seed)
    before, after = (auc(evaluation.y, evaluation.predictions[key].p) for key in ("none", "platt"))
    assert after == pytest.approx(before, abs=1e-12)
    p, calibrated = (evaluation.predictions[key].p for key in ("none", "platt"))
    a, b = (
        int(np.where(evaluation.y == label, np.abs(p - near), np.inf).argmin())
        for _, near, label in STEPS["bank", 4].picture["pins"]
    )
    still = 1 if calibrated[a] > calibrated[b] else 2 if calibrated[a] < calibrated[b] else 3
    assert still == STEPS["bank", 4].question.right


@over_seeds
def test_bank_5_the_line_stays_below_whoever_is_tested(seed):
    right = STEPS["bank", 5].question.right
    assert curve("bank", 5, seed=seed) == drawn("bank", 5, seed=seed) == right


@over_seeds
def test_diagram_1_nearly_all_of_these_digits_are_odd(seed):
    assert mark("diagram", 1, seed=seed) == STEPS["diagram", 1].question.right


def test_venn_abers_1_the_first_fall_is_from_the_third_to_the_fourth_row():
    made = simulated("venn_abers", 1)
    labels = [int(label) for _, label in sorted(made.points)]
    fall = next(i for i in range(11) if labels[i] > labels[i + 1])
    assert [0, 2, 10].index(fall) + 1 == STEPS["venn_abers", 1].question.right


@over_seeds
def test_diagram_2_a_correct_model_is_near_the_diagonal(seed):
    right = STEPS["diagram", 2].question.right
    assert curve("diagram", 2, seed=seed) == right
    if seed == 0:
        assert drawn("diagram", 2) == right


def test_diagram_3_with_25_bins_the_ece_is_several_times_as_large():
    evaluation = of("diagram", 3)
    few, many = (
        expected_calibration_error(evaluation.y, evaluation.predictions["none"].p, bins=bins)
        for bins in (5, 25)
    )
    assert 4 < many / few < 5
    assert STEPS["diagram", 3].question.right == sorted_into(many, few, few)


def test_diagram_4_chance_lifts_the_mark_of_13_rows_above_40():
    made, nearest = shown_at("diagram", 4)
    question = asked("diagram", 4)
    assert made.count[nearest] == 13
    assert made.band_upper[nearest] == pytest.approx(6 / 13)
    assert question.answer_to(made.band_upper[nearest]) == question.right


def test_diagram_4_chance_lifts_the_mark_of_13_rows_above_60_in_four_of_1000_tests():
    assert round(stats.binom.sf(7, 13, 0.24), 3) == 0.004
    assert 7 / 13 < 0.6 < 8 / 13


def test_venn_abers_2_the_outermost_rows_get_0_and_1():
    made = simulated("venn_abers", 2)
    scores, labels = zip(*made.points, strict=True)
    ends = Isotonic().fit(np.array(scores), np.array(labels)).predict(np.array([scores[0], scores[-1]]))
    assert labels[:2] == (0, 0)
    assert labels[-2:] == (1, 1)
    assert list(ends) == [0, 1]
    assert STEPS["venn_abers", 2].question.right == 1


def test_venn_abers_3_one_certain_prediction_is_wrong():
    evaluation = of("venn_abers", 3)
    p, y = evaluation.predictions["isotonic"].p, evaluation.y
    assert np.isinf(log_loss(y, p))
    assert ((p == 1 - y).sum(), np.mean((p == 0) | (p == 1)) > 0.5) == (1, False)
    question = STEPS["venn_abers", 3].question
    assert drawn("venn_abers", 3, "isotonic") == curve("venn_abers", 3, "isotonic") == question.right


@over_seeds
def test_venn_abers_5_above_all_scores_p0_is_below_1_and_p1_is_1(seed):
    rng = np.random.default_rng(seed)
    s = rng.normal(size=80)
    y = (rng.random(80) < 1 / (1 + np.exp(-3 * s))).astype(int)
    y[np.argmax(s)] = 1
    p0, p1 = VennAbers().fit(s, y).predict_interval([s.max() + 1])[0]
    assert 0 < p0 < 1 == p1
    assert STEPS["venn_abers", 5].question.right == 2


@over_seeds
def test_venn_abers_6_every_mark_lies_above_the_diagonal(seed):
    predicted = of("venn_abers", 6, seed=seed).predictions["venn_abers"]
    assert (predicted.upper > predicted.lower).all()
    near = np.argsort(np.abs(predicted.lower - 0.5))[:10]
    question = STEPS["venn_abers", 6].question
    further = np.median(predicted.upper[near] - predicted.lower[near])
    assert question.answer_to(0.5 + further) == question.right


def test_venn_abers_7_p0_is_4_of_7():
    recipe = STEPS["venn_abers", 7].recipe
    evaluation = of("venn_abers", 7)
    table = load(recipe)
    explained = explain(evaluation, fit(recipe, table), widest_row(evaluation))
    question = STEPS["venn_abers", 7].question
    a, n = map(int, question.answers[question.right - 1].split("/"))
    assert explained.p0 == pytest.approx(a / n)
    assert explained.p1 == pytest.approx(2 / 2)


def test_every_question_of_a_step_has_such_a_test(request):
    text = request.path.read_text(encoding="utf-8")
    own = [place for place, one in STEPS.items() if one.question]
    missing = [place for place in own if not any(f"test_{place[0]}_{n}" in text for n in (place[1],))]
    assert missing == []

"""Questions of lessons: what a file may say, and which answer a guess in the picture stands for."""

import numpy as np
import pytest

from calib.kernel.checks import InputError
from calib.lessons import read
from calib.lessons.question import EXACT_GUESS, question
from tests.saying import assert_says

ASKED = {"text": "Where?", "answers": ["A", "B", "C"], "right": 2, "why": ["a.", "b.", "c."]}
STEP = """
title = "T"
summary = "S."
[[steps]]
page = "explore_reliability"
title = "Why?"
text = "Because."
look = "there."
[steps.question]
text = "Which?"
answers = ["A", "B"]
right = 2
why = ["Not A.", "B it is."]
told = "So it is."
[steps.recipe]
bins = 7
"""


def test_a_step_holds_its_question():
    (step,) = read("k", STEP).steps
    assert (step.question.right, step.question.kind, step.question.remark) == (2, "choice", "So it is.")
    assert read("k", STEP.replace('told = "So it is."', "")).steps[0].question.remark == ""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("right = 2", "right = 3", "step 1: question: `why` needs one string per answer"),
        ("right = 2", "right = 2\ncuts = [1]", "step 1: the fields of question must be text"),
        ("right = 2", 'right = 2\nkind = "mark"', "step 1: question: cuts must be rising values"),
        (
            "right = 2",
            'right = 2\nkind = "curve"',
            "step 1: question: the answers must be below, near and above",
        ),
        ("right = 2", 'right = 2\nkind = "guess"', "step 1: kind of question must be one of"),
        (
            "right = 2",
            'right = 2\nkind = "mark"\ncuts = [0]\nover = [0.5, 0.2]',
            "step 1: the fields of question must be text",
        ),
    ],
)
def test_a_broken_question_is_refused_by_name(old, new, words):
    with pytest.raises(InputError, match=words):
        read("k", STEP.replace(old, new))


def test_a_mark_is_sorted_into_the_answers_as_numpy_does():
    asked = question(ASKED | {"kind": "mark", "at": 0.7, "cuts": [0.6, 0.8]}, "question")
    values = np.linspace(0, 1, 41)
    assert [asked.answer_to(one) for one in values] == list(np.digitize(values, [0.6, 0.8]) + 1)


def test_a_curve_is_sorted_by_its_mean_distance_from_the_diagonal_in_the_part_that_counts():
    asked = question(ASKED | {"kind": "curve", "over": [0.5, 1]}, "question")
    x = np.linspace(0.05, 0.95, 10)
    bold, timid = x + 0.3 * np.sin(2 * np.pi * x), x - 0.3 * np.sin(2 * np.pi * x)
    for y, answer in ((bold, 1), (x, 2), (timid, 3)):
        assert asked.answer_to(list(zip(x, y, strict=True))) == answer
    assert asked.value_of(list(zip(x, timid, strict=True))) == pytest.approx(np.mean((timid - x)[x >= 0.5]))


def test_a_curve_is_compared_with_the_truth_by_its_mean_absolute_distance_over_the_rows():
    truth = [[0.1, 0.2, 30], [0.5, 0.4, 10]]
    asked = question(ASKED | {"kind": "curve", "truth": truth}, "question")
    guess = [(0.1, 0.1), (0.3, 0.3), (0.7, 0.7)]
    assert asked.distance(guess) == pytest.approx((30 * 0.1 + 10 * 0.1) / 40)
    assert_says(asked.how_far(guess), "curve", "10 percentage points off", "Up to 10 percentage points")
    assert_says(asked.how_far([(0, 0), (1, 0)]), "curve", "25 percentage points too low")
    assert asked.is_right(asked.answer_to(guess), guess)
    assert not asked.is_right(2, [(0, 0.9), (0.3, 0.3), (1, 0)])


@pytest.mark.parametrize("kind", ["mark", "curve"])
def test_a_guess_within_ten_points_is_right_on_either_side_of_every_border(kind):
    """Just below the diagonal or a cut is as right as just above, and a point further is wrong."""
    fields = {"cuts": [0.6, 0.62], "at": 0.5, "truth": 0.61}
    if kind == "curve":
        fields = {"truth": [[0.2, 0.29, 9], [0.8, 0.89, 9]]}
    asked = question(ASKED | {"kind": kind} | fields, "question")
    for off in np.linspace(-0.3, 0.3, 61).round(3):
        guess = 0.61 + off if kind == "mark" else [(0.2, 0.29 + off), (0.8, 0.89 + off)]
        answer = asked.answer_to(guess)
        assert asked.is_right(answer, guess) == (abs(off) <= 0.1)
        assert answer == asked.right or abs(off) > 0.1


def test_between_guess_and_truth_lies_what_numpy_interpolates():
    truth = [[0.1, 0.2, 30], [0.5, 0.4, 10]]
    asked = question(ASKED | {"kind": "curve", "truth": truth}, "question")
    x, guess, true = asked.between([(0.05, 0.0), (0.3, 0.5), (0.45, 0.5)])
    assert x == [0.1, 0.3, 0.45]
    assert guess == pytest.approx([0.1, 0.5, 0.5])
    assert true == pytest.approx([0.2, 0.3, 0.375])


def test_a_mark_says_by_how_much_it_is_off_in_points():
    share = question(ASKED | {"kind": "mark", "at": 0.7, "cuts": [0.6, 0.8], "truth": 0.265}, "question")
    assert_says(share.how_far(0.7), "70 %", "44 percentage points too high")
    assert_says(share.how_far(0.0), "0 %", "26 percentage points too low")
    assert share.how_far(0.26) == EXACT_GUESS
    assert question(ASKED, "question").how_far(0.5) == ""

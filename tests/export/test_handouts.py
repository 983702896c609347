"""A lesson's handout: every step with its question, finding and picture; solutions apart from the exercises."""

import re

import pytest

from calib.export.cards import picture
from calib.export.handouts import (
    CHOICE_LETTERS,
    HANDOUT_WIDTH,
    _before,
    _on_paper,
    _question_of,
    handout_pdf,
    lesson_handout,
)
from calib.figures import FIGURES, LIGHT
from tests.experiments.simulated import record
from tests.lessons.every import EVERY


def written(text: str) -> str:
    """As it stands between tags."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#39;")


LESSON = EVERY["bank"]


@pytest.fixture(scope="module")
def sheets() -> tuple[str, str]:
    """A handout's part to work on, and its solutions."""
    before, _, solutions = lesson_handout(LESSON).decode().partition('<div class="solutions">')
    return before, solutions


@pytest.mark.parametrize("step", LESSON.steps, ids=lambda step: step.place)
class TestStep:
    """What a step asks stands before the solutions, what answers it among them alone."""

    def test_it_is_named_before_its_point_is_told(self, sheets, step):
        before, solutions = sheets
        assert written(step.title) in before
        assert written(step.point) not in before
        assert written(step.point) in solutions

    def test_what_its_picture_shows_is_told_in_the_solutions_alone(self, sheets, step):
        before, solutions = sheets
        finding = written(picture(step).record.title)
        assert finding in solutions, "what the picture shows answers the question beside it"
        assert finding not in before

    def test_its_question_has_all_answers_and_its_solution_comes_later(self, sheets, step):
        before, solutions = sheets
        asked = _question_of(step)
        assert written(asked["question"]) in before
        assert all(written(answer) in before for answer in asked["answers"])
        assert written(asked["solution"]) in solutions
        assert written(asked["solution"]) not in before


def test_axes_to_guess_in_and_what_a_question_shows_are_drawn_before_the_solutions(sheets):
    before, solutions = sheets
    assert all(one.question for one in LESSON.steps)
    assert before.count("Plotly.newPlot") == len(LESSON.steps), "each question has axes to draw on"
    assert (before + solutions).count("Plotly.newPlot") >= len(LESSON.steps)


@pytest.mark.parametrize("question", LESSON.questions, ids=lambda question: question.text[:20])
def test_a_question_at_the_end_is_answered_with_its_reasons_in_the_solutions_alone(sheets, question):
    before, solutions = sheets
    assert written(question.text) in before
    assert all(written(why) in solutions for why in question.why)
    assert not any(written(why) in before for why in question.why)
    right = question.right - 1
    assert f"{CHOICE_LETTERS[right]}, {written(question.answers[right])}" in solutions


@pytest.mark.parametrize(
    ("key", "of", "settings"),
    [
        ("tree_depth", "tree_depth", {"n": 200, "trees": 2}),
        ("overlap", "overlap", {}),
        ("calibration_size", "calibration_size", {}),
    ],
)
def test_a_picture_on_paper_has_the_shape_that_it_has_on_a_page_or_fills_the_sheet(key, of, settings):
    """Panels of six models against the truth were three times as wide as high."""
    figure = FIGURES[key].draw(record(key, of, **settings))
    shape, paper = 940 / figure.layout.height, _on_paper(figure).layout
    assert paper.width / paper.height == pytest.approx(shape, rel=1e-9) or paper.width == HANDOUT_WIDTH
    assert paper.width / paper.height <= shape * 1.0001


def test_every_step_asks_on_paper_what_it_asks_on_the_page():
    steps = EVERY["venn_abers"].steps
    asked = [_question_of(step)["question"] for step in steps]
    own = [step.question.text if step.question else "" for step in steps]
    assert [bool(question) for question in asked] == [True] * 10
    assert asked[:3] == own[:3]


def test_axes_for_a_guess_hold_no_data():
    step = EVERY["diagram"].steps[0]
    empty = _before(step, picture(step).draw(LIGHT))
    seen = [trace for trace in empty.data if trace.opacity != 0]
    assert len(seen) == 1, "the diagonal"
    assert list(seen[0].x) == list(seen[0].y) == [0, 1]


@pytest.mark.soak
@pytest.mark.usefixtures("chromium")
@pytest.mark.parametrize("key", EVERY)
def test_every_handout_prints_on_a_few_sheets(key):
    lesson = EVERY[key]
    sheets = len(re.findall(rb"/Type ?/Page\b", handout_pdf(lesson)))
    assert 3 <= sheets <= len(lesson.steps) + 4

"""A lesson's handout: every step with its question, finding and picture; solutions apart from the exercises."""

import re

import pytest

from calib.export.cards import picture
from calib.export.handouts import (
    LETTERS,
    WIDTH,
    _before,
    _on_paper,
    _question_of,
    handout_pdf,
    lesson_handout,
)
from calib.figures import FIGURES, LIGHT
from calib.lessons import LESSONS
from tests.experiments.simulated import record


def written(text: str) -> str:
    """As it stands between tags."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#39;")


def test_a_handout_asks_before_it_solves():
    lesson = LESSONS["not_useful"]
    page = lesson_handout(lesson).decode()
    before, _, solutions = page.partition('<div class="solutions">')
    assert page.count("Plotly.newPlot") >= len(lesson.steps)
    for step in lesson.steps:
        assert written(step.title) in before
        assert written(step.point) not in before
        assert written(step.point) in solutions
        finding = written(picture(step).record.title)
        assert finding in solutions, "what the picture shows answers the question beside it"
        assert finding not in before
        asked = _question_of(step)
        assert written(asked["question"]) in before
        assert all(written(answer) in before for answer in asked["answers"])
        assert written(asked["solution"]) in solutions
        assert written(asked["solution"]) not in before
    questions = [one.question for one in lesson.steps if one.question is not None]
    drawn = sum(one.kind in ("mark", "curve") or bool(one.shows) for one in questions)
    assert before.count("Plotly.newPlot") == drawn, "empty axes to draw a guess in, or what a question shows"
    for question in lesson.questions:
        assert written(question.text) in before
        assert all(written(why) in solutions for why in question.why)
        assert not any(written(why) in before for why in question.why)
        right = question.right - 1
        assert f"{LETTERS[right]}, {written(question.answers[right])}" in solutions


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
    assert paper.width / paper.height == pytest.approx(shape, rel=1e-9) or paper.width == WIDTH
    assert paper.width / paper.height <= shape * 1.0001


def test_every_step_asks_on_paper_what_it_asks_on_the_page():
    steps = LESSONS["labels_to_steps"].steps
    asked = [_question_of(step)["question"] for step in steps]
    own = [step.question.text if step.question else "" for step in steps]
    assert [bool(question) for question in asked] == [True] * 6
    assert asked[1:5] == own[1:5]


def test_axes_for_a_guess_hold_no_data():
    step = LESSONS["reliability_diagram"].steps[0]
    empty = _before(step, picture(step).draw(LIGHT))
    seen = [trace for trace in empty.data if trace.opacity != 0]
    assert len(seen) == 1, "the diagonal"
    assert list(seen[0].x) == list(seen[0].y) == [0, 1]


@pytest.mark.soak
@pytest.mark.usefixtures("chromium")
@pytest.mark.parametrize("key", LESSONS)
def test_every_handout_prints_on_a_few_sheets(key):
    lesson = LESSONS[key]
    sheets = len(re.findall(rb"/Type ?/Page\b", handout_pdf(lesson)))
    assert 3 <= sheets <= len(lesson.steps) + 4

"""A lesson's handout: every step with its question, finding and picture; solutions apart from the exercises."""

import re

import pytest

from calib.export.cards import picture
from calib.export.handouts import LETTERS, WIDTH, _asked, _on_paper, handout_pdf, lesson_handout
from calib.figures import FIGURES
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
    finding = written(picture(lesson.steps[0]).record.title)
    assert finding in solutions, "what the picture shows answers the question beside it"
    assert finding not in before
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


def test_a_question_is_asked_once_where_the_lesson_asks_it():
    asked = [_asked(step)["question"] for step in LESSONS["labels_to_steps"].steps]
    assert [bool(question) for question in asked] == [True, False, False, False, False, True]


@pytest.mark.soak
@pytest.mark.usefixtures("chromium")
@pytest.mark.parametrize("key", LESSONS)
def test_every_handout_prints_on_a_few_sheets(key):
    lesson = LESSONS[key]
    sheets = len(re.findall(rb"/Type ?/Page\b", handout_pdf(lesson)))
    assert 3 <= sheets <= len(lesson.steps) + 4

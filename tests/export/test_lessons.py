"""A lesson on paper: its card on one sheet with every step's sentence and picture; its handout, solutions apart."""

import re

import pytest

from calib.export import chromium as browser
from calib.export.lessons import (
    CARD_WIDTH,
    CHOICE_LETTERS,
    HANDOUT_WIDTH,
    STEPS_PER_SIDE,
    _before,
    _on_a_sheet,
    _on_paper,
    _question_of,
    handout_pdf,
    lesson_card,
    lesson_handout,
    picture,
    staged,
)
from calib.figures import FIGURES, LIGHT
from calib.lessons import LESSONS
from tests.experiments.simulated import record
from tests.lessons.every import EVERY


@pytest.mark.parametrize(
    ("place", "key"),
    [
        (("venn_abers", 8), "theorem"),
        (("venn_abers", 7), "explained"),
        (("bank", 4), "reliability"),
    ],
)
def test_a_step_s_picture_is_that_of_its_page(place, key):
    lesson, number = place
    chart = picture(EVERY[lesson].steps[number - 1])
    assert chart.key == key
    assert chart.record.title


def test_pictures_of_a_card_have_a_width_of_their_own():
    """Drawn as wide as the window, they were shrunk on paper until captions of panels touched."""
    (figure,) = _on_a_sheet([picture(LESSONS["venn_abers"].steps[3]).draw(LIGHT)])
    assert figure.layout.showlegend is not False
    assert figure.layout.width == CARD_WIDTH


@pytest.mark.usefixtures("chromium")
def test_a_card_holds_every_step_and_prints_on_one_sheet():
    lesson = EVERY["diagram"]
    page = lesson_card(lesson).decode()
    assert all(step.point in page and step.title in page for step in lesson.steps)
    assert page.count("data:image/svg+xml;base64,") == len(lesson.steps)
    assert len(page) <= 500_000
    printed = browser.print_pdf(page)
    assert len(re.findall(rb"/Type ?/Page\b", printed)) == 1


@pytest.mark.soak
@pytest.mark.usefixtures("chromium")
@pytest.mark.parametrize("key", EVERY)
def test_every_card_prints_on_one_sheet(key):
    sides = -(-len(EVERY[key].steps) // STEPS_PER_SIDE)
    assert sides <= 2
    assert len(re.findall(rb"/Type ?/Page\b", browser.print_pdf(lesson_card(EVERY[key]).decode()))) == sides


def test_a_step_is_pictured_by_the_chart_that_it_names():
    named = [step for of in EVERY.values() for step in of.steps if step.chart]
    assert len(named) == 2
    assert [picture(step).key for step in named] == [step.chart.removesuffix("_rows") for step in named]


def test_the_numbers_that_a_step_names_go_with_its_picture():
    assert list(staged(EVERY["bank"].steps[2]).numbers.columns) == ["Brier score"]
    assert staged(EVERY["bank"].steps[0]).numbers is None


def test_the_card_of_the_bank_shows_where_a_and_b_move_without_passing_each_other():
    figure = picture(EVERY["bank"].steps[3]).draw(LIGHT)
    arrows = {one.text: (one.ax, one.x) for one in figure.layout.annotations if one.showarrow}
    assert set(arrows) == {"<b>A</b>", "<b>B</b>"}
    (a, a_after), (b, b_after) = arrows["<b>A</b>"], arrows["<b>B</b>"]
    assert [round(value, 2) for value in (a, a_after, b, b_after)] == [0.7, 0.39, 0.4, 0.31]


def test_the_answer_of_a_round_does_not_show_the_next_one():
    """The first picture of the bank leaves out the mark that the second question asks about."""
    first, second = (picture(EVERY["bank"].steps[number]).draw(LIGHT) for number in (0, 1))

    def lowest(figure):
        marks = [
            trace for trace in figure.data if "markers" in (trace.mode or "") and trace.yaxis in (None, "y")
        ]
        return min(x for trace in marks for x in trace.x if x is not None)

    assert lowest(second) < 0.06
    assert lowest(first) > 0.4


def written(text: str) -> str:
    """Return the text as it stands between tags."""
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

"""A lesson's card: of every step its sentence and its picture, in one page that prints on one sheet."""

import re

import pytest

from calib.export import chromium as browser
from calib.export.cards import CARD_WIDTH, _on_a_sheet, lesson_card, picture, staged
from calib.figures import LIGHT
from calib.lessons import LESSONS
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
    assert len(re.findall(rb"/Type ?/Page\b", browser.print_pdf(lesson_card(EVERY[key]).decode()))) == 1


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

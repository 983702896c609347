"""A lesson's card: of every step its sentence and its picture, in one page that prints on one sheet."""

import re

import pytest

from calib import evaluate
from calib.analysis.recommendation.advice import recommend
from calib.export import chromium as browser
from calib.export.cards import WIDTH, _on_a_sheet, lesson_card, picture, staged
from calib.figures import LIGHT
from calib.lessons import LESSONS
from calib.sources import load


@pytest.mark.parametrize(
    ("place", "key"),
    [
        (("two_probabilities", 1), "theorem"),
        (("two_probabilities", 2), "pairs"),
        (("not_useful", 4), "net_benefit"),
    ],
)
def test_a_step_s_picture_is_that_of_its_page(place, key):
    lesson, number = place
    chart = picture(LESSONS[lesson].steps[number - 1])
    assert chart.key == key
    assert chart.record.title


def test_lines_of_a_card_have_their_names_and_its_pictures_a_width_of_their_own():
    """Drawn as wide as the window, they were shrunk on paper until captions of panels touched."""
    (figure,) = _on_a_sheet([picture(LESSONS["when_it_helps"].steps[2]).draw(LIGHT)])
    named = {trace.name for trace in figure.data if trace.showlegend is not False}
    assert named == {"Same forest, uncalibrated", "Venn–Abers", "Tuned forest on all rows"}
    assert figure.layout.showlegend is not False
    assert figure.layout.width == WIDTH


@pytest.mark.usefixtures("chromium")
def test_a_card_holds_every_step_and_prints_on_one_sheet():
    lesson = LESSONS["reliability_diagram"]
    page = lesson_card(lesson).decode()
    assert all(step.point in page and step.title in page for step in lesson.steps)
    assert page.count("Plotly.newPlot") >= len(lesson.steps)
    printed = browser.print_pdf(page)
    assert len(re.findall(rb"/Type ?/Page\b", printed)) == 1


@pytest.mark.soak
@pytest.mark.usefixtures("chromium")
@pytest.mark.parametrize("key", LESSONS)
def test_every_card_prints_on_one_sheet(key):
    assert len(re.findall(rb"/Type ?/Page\b", browser.print_pdf(lesson_card(LESSONS[key]).decode()))) == 1


def test_a_step_is_pictured_by_the_chart_that_it_names():
    named = [step for of in LESSONS.values() for step in of.steps if step.chart]
    assert len(named) >= 4
    assert [picture(step).key for step in named] == [step.chart.removesuffix("_rows") for step in named]


def test_the_numbers_that_a_step_names_go_with_its_picture():
    step = LESSONS["not_useful"].steps[1]
    assert list(staged(step).numbers.columns) == ["ECE", "Accuracy"]
    assert staged(LESSONS["not_useful"].steps[0]).numbers is None


def test_the_advice_that_a_step_names_goes_with_its_picture():
    named = [step for of in LESSONS.values() for step in of.steps if "advice" in step.beside]
    assert LESSONS["when_it_helps"].steps[3] in named
    for step in named:
        found = recommend(evaluate(step.recipe, load(step.recipe)))
        assert staged(step).advice == (found.answer, *found.reasons)
    assert staged(LESSONS["when_it_helps"].steps[0]).advice == ()

"""The address without a path: what this is, two doors, and one mark of the diagram explained."""

from calib import Recipe
from calib.analysis.recommendation.mark import telling_mark
from calib.calibrators import label_of
from calib.evaluate import evaluate
from calib.lessons import LESSONS
from calib.sources import load
from pages.ui import start
from tests.pages.app import LIMIT, ROOT, App, faults, go, settled, titles


def opened(**query):
    at = App(str(ROOT / "app.py"), default_timeout=LIMIT)
    at.query_params.update(query)
    return settled(at.run())


def said(at):
    return [element.value.replace("\\", "") for element in at.markdown]


def test_it_says_what_this_is_and_explains_one_mark_with_its_numbers():
    at = opened()
    assert [title.value for title in at.title] == [start.SENTENCE]
    assert titles(at)[0].startswith("Platt scaling lowers the Brier score from ")
    mark = telling_mark(evaluate(Recipe(), load(Recipe())))
    assert any(mark.sentence in text for text in said(at))
    assert faults(at) == []


def test_steps_of_isotonic_regression_have_no_bins_to_explain():
    assert not any("the ringed mark" in text for text in said(opened(curve="corp")))


def test_the_doors_lead_to_ones_own_data_and_to_the_first_lesson():
    at = opened()
    assert any("the ringed mark" in text for text in said(at))
    at.button(key="door_data").click().run()
    assert at.session_state["page"] == "pages/explore_data.py"
    at = opened()
    first = next(iter(LESSONS.values()))
    assert at.button(key="door_learn").label == f"Learn in {first.minutes} minutes"
    settled(at.button(key="door_learn").click().run())
    assert at.title[0].value.replace("\\", "") == first.steps[0].title
    assert at.session_state["lesson_open"] == first.steps[0].place


def test_its_diagram_is_that_of_the_page_reliability_which_has_no_doors():
    at = opened(calibrators="none,platt")
    first = titles(at)[0]
    assert label_of("platt") in first
    go(at, "explore_reliability")
    assert titles(at)[0] == first
    assert "door_data" not in [button.key for button in at.button]
    assert not any("the ringed mark" in text for text in said(at))

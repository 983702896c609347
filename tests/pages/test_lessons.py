"""Lessons on the pages: start, next, previous, reset, leave; and what the reader had before comes back."""

import json

import pytest
import streamlit as st

from calib.experiments import EXPERIMENTS, forecasts
from calib.figures import FIGURES
from calib.lessons import LESSONS, REPLACED
from calib.metrics import METRICS, class_metrics
from calib.recipe import Recipe
from pages.ui.chart import WAITS
from pages.ui.current import PAGES
from pages.ui.current import QUESTIONS as VIEW_QUESTIONS
from pages.ui.learn import handout, story
from pages.ui.learn.asking import RIGHT
from pages.ui.learn.lessons import chart_of
from tests.pages.app import (
    at_once,
    bring,
    faults,
    go,
    headline,
    keys,
    messages,
    page,
    settled,
    titles,
    verdicts,
)
from tests.saying import assert_any_says, assert_says

(ONE,) = LESSONS.values()
LAST = len(ONE.steps)
PAGE = "learn_two_probabilities"
FILE = "x,label\n" + "\n".join(f"{i % 7},{'yes' if i % 3 else 'no'}" for i in range(60))


def recipe(at) -> Recipe:
    return at.session_state["recipe"]


def lesson(at) -> str | None:
    """The step that the address names."""
    value = at.query_params.get("lesson")
    return value if isinstance(value, str | None) else value[-1]


def press(at, key):
    """Press a button, and stay on the page it leads to: AppTest would go back with the next move."""
    at.button(key=key).click().run()
    return settled(at.switch_page(at.session_state["page"]))


def words(at) -> str:
    return " ".join(
        element.value for kind in (at.caption, at.title, at.markdown) for element in kind
    ).replace("\\", "")


def open_step(number: int):
    step = ONE.steps[number - 1]
    return page(step.page, **step.recipe.to_query(), lesson=step.place)


def test_the_lesson_begins_with_what_it_is_about_its_length_and_a_way_to_every_step():
    at = page(PAGE)
    assert faults(at) == []
    assert [key for key in keys(at) if key.startswith("step_")] == [f"step_{i}" for i in range(1, LAST + 1)]
    assert ONE.summary in words(at)
    assert f"{ONE.minutes} minutes" in at.button(key="begin").label
    at = press(at, "step_6")
    assert lesson(at) == "venn_abers:6"


QUESTIONS = {page.question for pages in PAGES.values() for page in pages} | set(VIEW_QUESTIONS.values())
IN_SHORT = {1, 4, 7}  # one of each page; the others by make soak
SWEPT = [
    pytest.param(number, marks=() if number in IN_SHORT else pytest.mark.soak)
    for number in range(1, LAST + 1)
]


@pytest.mark.parametrize("number", SWEPT)
def test_every_step_opens_by_its_link_with_its_words_and_a_chart_or_a_question(number):
    step = ONE.steps[number - 1]
    at = open_step(number)
    assert faults(at) == []
    assert (recipe(at), lesson(at)) == (step.recipe.replace(), step.place)
    assert at.session_state["page"] == f"pages/{step.page}.py"
    for text in (ONE.title, f"Step {number} of {LAST}", step.title):
        assert text in words(at)
    assert at.get("plotly_chart") or any(key.startswith("guess_") for key in keys(at))
    if any(key.startswith("guess_") for key in keys(at)):
        assert set(findings(at)) <= {figure.label for figure in FIGURES.values()}, (
            "the answer is not told yet"
        )
        assert WAITS in words(at)
        assert not next(fold for fold in at.expander if fold.label == "What to notice").proto.expanded


def findings(at) -> list[str]:
    """What stands above the charts: the page's own question apart."""
    texts = [title.value.replace("\\", "") for kind in (at.header, at.subheader) for title in kind]
    return [text for text in texts if text not in QUESTIONS]


def test_what_a_picture_shows_is_told_as_soon_as_its_question_is_skipped():
    at = open_step(1)
    before = findings(at)
    at = press(at, "answer_skip")
    assert before == ["Pool adjacent violators, step by step"]
    assert_says(findings(at)[0], "Move 1 of 6", "1/1", "above")
    assert WAITS not in words(at)
    assert next(fold for fold in at.expander if fold.label == "What to notice").proto.expanded
    question = ONE.steps[0].question
    assert f"The answer is “{question.answers[question.right - 1]}”" in words(at)
    assert question.remark in words(at)


def test_a_lesson_runs_forth_and_back_over_its_pages_and_shows_where_it_is():
    at = press(page(PAGE), "begin")
    for number in (1, 2, 3):
        step = ONE.steps[number - 1]
        assert faults(at) == []
        assert (recipe(at), lesson(at)) == (step.recipe.replace(), step.place)
        assert f"Step {number} of {LAST}" in words(at)
        assert step.title in words(at)
        assert at.button(key="lesson_previous").disabled == (number == 1)
        at = press(at, "lesson_next")
    at = press(at, "lesson_previous")
    assert recipe(at) == ONE.steps[2].recipe.replace()
    (reliability,) = [one for one in PAGES["Explore"] if one.script == "pages/explore_reliability.py"]
    assert reliability.question in titles(at)


def test_a_change_within_a_step_is_allowed_undone_by_reset_and_gone_in_the_next():
    at = open_step(3)
    assert "lesson_reset" not in keys(at)
    at = settled(at.slider(key="bins").set_value(40).run())
    assert recipe(at).bins == 40
    assert lesson(at) == "venn_abers:3"
    at = press(at, "lesson_reset")
    assert recipe(at) == ONE.steps[2].recipe.replace()
    assert "lesson_reset" not in keys(at)
    at = settled(at.multiselect(key="calibrators").set_value(["none", "ppa"]).run())
    at = press(at, "lesson_next")
    assert recipe(at) == ONE.steps[3].recipe.replace()


END = {"two_probabilities.experiment": "questions"}


def to_remember(at):
    return next(fold for fold in at.expander if fold.label == "To remember").proto.expanded


def answered(at):
    """Answer the three questions at the end for sure: the first one wrong."""
    for number, chosen in enumerate((2, 2, 2), start=1):
        at.segmented_control(key=f"sure_{ONE.key}:question:{number}").set_value(1.0)
        at.button(key=f"quiz_{number}_{chosen}").click().run()
    return at


def test_a_lesson_ends_with_what_to_remember():
    at = press(open_step(LAST), "lesson_end")
    assert faults(at) == []
    assert lesson(at) is None
    assert recipe(at) == Recipe(settings=END)
    assert all(step.point in words(at) for step in ONE.steps)
    assert not to_remember(at)


def test_questions_at_the_end_are_met_with_reasons_and_a_score():
    at = page(PAGE, **END)
    assert all(question.text in words(at) for question in ONE.questions)
    at = answered(at)
    assert faults(at) == []
    assert [verdict.startswith(RIGHT) for verdict in verdicts(at)] == [False, True, True]
    for verdict, question, chosen in zip(verdicts(at), ONE.questions, (2, 2, 2), strict=True):
        assert question.why[chosen - 1] in verdict
        assert question.why[question.right - 1] in verdict
    assert headline(at)["Your score"] == "2 of 3"


def test_the_readers_own_calibration_stands_at_the_end():
    at = answered(page(PAGE, **END))
    assert to_remember(at)
    own = forecasts.prepare(list(at.session_state["forecasts"].values()))
    assert any(own.title in expander.label.replace("\\", "") for expander in at.expander)


def test_a_card_is_made_at_the_end_if_it_is_asked_for(downloads, monkeypatch):
    monkeypatch.setattr(handout, "lesson_card", lambda lesson, watch: lesson.key.encode())
    settled(page(PAGE, **END).toggle(key="card").set_value(True).run())
    assert downloads["Summary card (HTML)"] == ONE.key.encode()


def test_a_prediction_is_no_change_of_a_step():
    at = open_step(8)
    at = press(at, "guess_2")
    assert faults(at) == []
    assert recipe(at).setting("theorem.guess") == "2"
    assert "lesson_reset" not in keys(at)


def test_leaving_gives_the_readers_own_settings_and_upload_back():
    at = bring(page("explore_data"), "mine.csv", FILE.encode())
    at = go(at, "explore_reliability")
    at = settled(at.slider(key="bins").set_value(7).run())
    own = recipe(at)
    assert own.data.startswith("upload:")
    at = press(go(at, PAGE), "step_6")
    assert recipe(at).data != own.data
    at = press(at, "lesson_leave")
    assert faults(at) == []
    assert "Why two probabilities" in at.title[0].value
    assert recipe(at) == own
    at = go(at, "explore_reliability")
    assert faults(at) == []
    assert recipe(at) == own
    assert "lesson_leave" not in keys(at)


def test_one_step_after_the_other_keeps_what_was_there_before_the_first():
    at = page(PAGE, bins="7")
    at = press(at, "step_3")
    at = press(go(at, PAGE), "lesson_back")
    at = press(at, "lesson_leave")
    assert recipe(at) == Recipe(bins=7)


def test_on_another_page_the_lesson_waits_and_leads_back():
    at = open_step(3)
    at = go(at, "learn_labs")
    assert faults(at) == []
    assert "lesson_next" not in keys(at)
    at = press(at, "lesson_back")
    assert recipe(at) == ONE.steps[2].recipe.replace()
    assert "lesson_next" in keys(at)


def test_a_link_to_a_step_that_is_not_there_is_refused_by_name():
    at = page("explore_reliability", lesson="venn_abers:11", bins="7")
    assert any("venn_abers from 1 to 10" in text for text in messages(at))
    assert recipe(at) == Recipe()
    at = page("explore_reliability", lesson="nonsense:1")
    assert any("lesson must be" in text and "venn_abers" in text for text in messages(at))


def test_the_links_python_is_that_of_the_settings_without_the_lesson():
    at = open_step(3)
    code = " ".join(element.value for element in at.code)
    assert "lesson" not in code.split("from calib")[1]
    assert lesson(at) == "venn_abers:3"
    assert "lesson" not in json.loads(recipe(at).to_json())


def test_presenting_stays_through_the_lesson_and_its_drawer_has_the_controls():
    at = press(open_step(3), "presenter")
    assert faults(at) == []
    assert "model" in [box.key for box in at.sidebar.selectbox]
    at = press(at, "lesson_next")
    assert recipe(at) == ONE.steps[3].recipe.replace()
    assert at.query_params["presenter"] == "true"
    at = press(at, "lesson_leave")
    assert at.query_params["presenter"] == "true"
    at = press(at, "presenter")
    assert recipe(at) == Recipe()
    assert "presenter" not in at.query_params


@pytest.mark.parametrize(("number", "answer"), [(1, "answer_2"), (8, "guess_1")])
def test_in_a_room_the_words_before_a_question_make_room_for_the_reply(number, answer):
    """The experiment of a page may ask, too."""
    at = press(open_step(number), "presenter")
    text = ONE.steps[number - 1].text
    assert text[:40] in words(at)
    assert text[:40] not in words(press(at, answer))


def test_a_file_of_settings_opens_no_lesson_nor_one_that_is_not_there():
    at = open_step(1)
    content = Recipe(bins=7, model="naive_bayes").to_json()
    at = go(at, "explore_compare")
    file = ("one.json", content.encode(), "application/json")
    at = settled(at.file_uploader(key="recipe_file").set_value(file).run())
    at = press(at, "open_0")
    assert faults(at) == []
    assert recipe(at) == Recipe(bins=7, model="naive_bayes")
    assert lesson(at) is None
    at.file_uploader(key="recipe_file").set_value(
        ("two.json", b'{"lesson": "nonsense:3"}', "application/json")
    ).run()
    assert_any_says(messages(at), "'lesson'", "not a field")


@pytest.mark.parametrize(
    ("query", "words"),
    [({"presenter": "1"}, "presenter must be"), ({"lesson": "deep"}, "lesson must be")],
)
def test_where_the_reader_stands_is_refused_by_name_where_it_cannot_be(query, words):
    at = page("explore_reliability", **query, bins="7")
    assert any(words in text for text in messages(at))
    assert (recipe(at), lesson(at)) == (Recipe(), None)


@pytest.mark.parametrize(("key", "part"), REPLACED.items())
def test_an_old_link_leads_to_the_part_of_the_story_that_took_the_lessons_place(key, part, monkeypatch):
    """With the step's settings, as links were, or by its name alone."""
    shown = []
    monkeypatch.setattr(story, "show", lambda: shown.append(st.session_state.pop("story_at")))
    for query in ({"lesson": f"{key}:2", "bins": "7"}, {"lesson": key}):
        at = at_once("explore_reliability", **query)
        assert at.session_state["page"] == "pages/learn_story.py"
        assert shown.pop() == part
        assert lesson(at) is None
        assert messages(at) == []


def test_a_link_to_the_former_lesson_on_three_classes_leads_to_its_lab():
    at = page("explore_reliability", lesson="three_classes:4", bins="7")
    at = settled(at.switch_page(at.session_state["page"]).run())
    assert (recipe(at), lesson(at)) == (Recipe(settings={"labs.experiment": "three_classes"}), None)
    assert faults(at) == []


@pytest.mark.parametrize(
    ("name", "number"), [("venn_abers", 1), ("labels_to_steps", 1), ("two_probabilities:2", 6)]
)
def test_a_link_to_a_lesson_or_a_step_by_its_name_opens_it_with_its_settings(name, number):
    first = ONE.steps[number - 1]
    at = at_once(PAGE, lesson=name)
    assert at.session_state["page"] == f"pages/{first.page}.py"
    at = settled(at.switch_page(at.session_state["page"]).run())
    assert faults(at) == []
    assert (recipe(at), lesson(at)) == (first.recipe.replace(), first.place)


def test_every_step_has_a_chart():
    drawn = [chart_of(step) for of in LESSONS.values() for step in of.steps]
    assert [key for key in drawn if not key.startswith(tuple(FIGURES))] == []


QUICK = (3, 7)


@pytest.mark.parametrize(
    "number",
    [pytest.param(one, marks=() if one in QUICK else pytest.mark.soak) for one in range(1, LAST + 1)],
)
def test_a_step_shows_its_text_and_what_it_names_and_folds_the_page_away(number):
    step = ONE.steps[number - 1]
    at = open_step(number)
    assert faults(at) == []
    (fold,) = [one for one in at.expander if one.label == "Whole page"]
    folded = {chart.proto.id for chart in fold.get("plotly_chart")}
    named = [chart.proto.id for chart in at.get("plotly_chart") if chart.proto.id not in folded]
    assert named
    assert all(f"chart_{chart_of(step)}" in one for one in named)
    assert set(step.beside) <= beside(at.main) - beside(fold)
    assert [title.value.replace("\\", "") for title in at.title] == [step.title]
    assert {"lesson_next", "lesson_previous"}.isdisjoint(button.key for button in fold.button)


def beside(block):
    """The metrics of the small tables of this block, and the advice where it is there."""
    key = {metric.label: key for key, metric in {**class_metrics(), **METRICS}.items()}
    named = {
        key[str(label)]
        for table in block.dataframe
        if len(table.value.columns) < 4
        for label in (*table.value.columns, *table.value.index)
        if label in key
    }
    return named | {"advice" for title in block.subheader if title.value.startswith("Which calibrator")}


def test_the_handout_is_offered_where_the_lesson_begins_and_to_a_teacher_with_the_card():
    key = "handout_venn_abers"
    assert key in [toggle.key for toggle in page(PAGE).toggle]
    at = page("learn_class")
    assert [toggle.key for toggle in at.toggle] == ["handout_bank", "card"]
    at = at.selectbox(key="room_about").select(ONE.title).run()
    assert [toggle.key for toggle in at.toggle] == [key, "card"]
    at = at.selectbox(key="room_about").select(f"One question: {EXPERIMENTS['cl_gl'].name}").run()
    assert not at.toggle

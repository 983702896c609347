"""The frame of a Learn page, on Validity: it asks first, one click shows, the address holds all, widgets follow."""

import pytest

from calib.experiments import EXPERIMENTS
from tests.pages.app import faults, go, messages, page, query, settings_in_address, settled, titles

PARTS = [key for key, experiment in EXPERIMENTS.items() if experiment.page == "validity"]


def learn(**settings):
    return page("learn_validity", **query({key.replace("__", "."): value for key, value in settings.items()}))


def test_the_question_comes_first_and_one_click_shows_the_picture():
    at = page("learn_validity")
    assert faults(at) == []
    assert titles(at) == []
    settled(at.button(key="guess_skip").click().run())
    assert faults(at) == []
    assert titles(at)[0].startswith("Venn–Abers, full: P_Y is right on average")
    assert settings_in_address(at) == {"theorem.guess": "skip"}
    assert not [text for text in messages(at) if text.startswith("You said")]


def test_a_prediction_is_held_against_what_came_out_and_can_be_made_again():
    at = page("learn_validity")
    settled(at.button(key="guess_1").click().run())
    (said,) = [text for text in messages(at) if text.startswith("You said")]
    assert said == ("You said: p0, the lower one. With these settings it is: The one that belongs to the true label.")
    settled(at.button(key="ask_again").click().run())
    assert titles(at) == []
    settled(at.button(key="guess_3").click().run())
    assert any(text.endswith("So it is.") for text in messages(at))


@pytest.mark.parametrize("part", PARTS)
def test_every_experiment_opens_from_its_link(part):
    at = learn(**{"validity__experiment": part, f"{part}__guess": "skip"})
    assert faults(at) == []
    assert len(titles(at)) == 1
    assert any(caption.value.startswith("Source") for caption in at.main.caption)
    assert len(at.main.latex) == len(EXPERIMENTS[part].formulas)


def test_widgets_follow_the_link_and_the_link_the_widgets():
    at = learn(theorem__objects=20, theorem__draws=500, theorem__guess="skip")
    objects = at.select_slider(key="theorem.objects")
    assert objects.value == 20
    settled(objects.set_value(10).run())
    assert settings_in_address(at)["theorem.objects"] == 10
    assert faults(at) == []


def test_a_value_that_cannot_be_is_refused_by_name():
    at = learn(theorem__objects=7)
    assert any("theorem.objects must be one of 5, 10" in text for text in messages(at))


def test_the_controls_of_explore_are_not_there_and_its_recipe_survives():
    at = page("explore_reliability", bins="9", model="naive_bayes")
    assert at.sidebar.selectbox
    go(at, "learn_validity")
    assert not at.sidebar.selectbox
    go(at, "explore_reliability")
    assert at.slider(key="bins").value == 9

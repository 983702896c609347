"""The frame of a Learn page, on Validity: it asks first, one click shows, the address holds all, widgets follow."""

import re
import threading

import pytest

from calib.experiments import EXPERIMENTS, Experiment
from calib.experiments.forecasts import Forecast
from calib.experiments.shared.one_feature import PROOFS, TRIED
from calib.lessons.glossary import GLOSSARY
from pages.ui import jobs
from pages.ui.learn.asking import NOT_QUITE, RIGHT
from pages.ui.text import plain
from tests.pages.app import (
    experiment,
    faults,
    go,
    keys,
    messages,
    page,
    query,
    settings_in_address,
    settled,
    titles,
    verdicts,
)
from tests.saying import assert_any_says, assert_says
from tests.sweep import sweep
from tests.waiting import LIMIT

PARTS = [key for key, experiment in EXPERIMENTS.items() if experiment.lab in (TRIED, PROOFS)]


def learn(part="theorem", **settings):
    return experiment(part, **query({key.replace("__", "."): value for key, value in settings.items()}))


def test_the_picture_is_there_beside_the_question_and_does_not_tell():
    at = learn(theorem__guess="ask")
    assert faults(at) == []
    assert titles(at) == ["Errors of the two probabilities"], "what it shows is not told before the answer"
    settled(at.button(key="guess_skip").click().run())
    assert faults(at) == []
    (title,) = titles(at)
    assert_says(title, "Venn–Abers, full", "P_Y", "right on average")
    assert messages(at) == []


def test_while_the_next_is_computed_the_last_picture_stays_dimmed_so_that_no_control_leaves_its_place(
    monkeypatch,
):
    at, going_on = learn(theorem__guess="skip", theorem__draws=2000), threading.Event()
    before, real = titles(at), Experiment.simulate
    monkeypatch.setattr(jobs, "SECONDS_WITHOUT_PROGRESS", 0.0)
    monkeypatch.setattr(Experiment, "simulate", lambda *a, **k: going_on.wait(LIMIT) and real(*a, **k))
    at.select_slider(key="theorem.objects").set_value(5).run()
    try:
        assert "cancel_learn_theorem" in keys(at)
        assert titles(at) == before
        assert any("opacity" in html.proto.body for html in at.get("html"))
    finally:
        going_on.set()
    assert titles(settled(at)) != before
    assert not any(".stPlotlyChart, .stMain" in html.proto.body for html in at.get("html"))


def test_an_answer_is_met_with_its_misconception_and_the_first_one_counts_for_the_readers_own_calibration():
    at = learn(theorem__guess="ask")
    at.segmented_control(key="sure_theorem").set_value(0.75)
    settled(at.button(key="guess_1").click().run())
    (said,) = verdicts(at)
    why = EXPERIMENTS["theorem"].why
    assert_says(said, NOT_QUITE, "p0", why[0], "the true label", why[2])
    settled(at.button(key="ask_again").click().run())
    settled(at.button(key="guess_3").click().run())
    (said,) = verdicts(at)
    assert_says(said, RIGHT, "the true label", why[2])
    assert faults(at) == []
    assert list(at.session_state["forecasts"].values()) == [Forecast(0.75, right=False)]
    assert any("the Brier score is 0.56" in box.label.replace("\\", "") for box in at.expander)


def test_a_setting_turns_the_answer_and_asking_again_goes_back_to_what_the_question_is_about():
    chosen = {"part": "narrowing", "narrowing__guess": "2"}
    assert "turn" not in keys(learn(**chosen, seed=7)), "with other draws it need not"
    at = learn(**chosen)
    assert verdicts(at)[0].startswith(RIGHT)
    settled(at.button(key="turn").click().run())
    assert settings_in_address(at)["narrowing.method"] == "venn"
    assert "with the default settings" in verdicts(at)[0]
    settled(at.button(key="ask_again").click().run())
    assert settings_in_address(at) == {
        "two_probabilities.experiment": "narrowing",
        "narrowing.guess": "ask",
    }


def test_an_answered_question_folds_away_and_is_there_to_be_reopened():
    experiment = EXPERIMENTS["theorem"]
    at = learn(theorem__guess="1")
    (folded,) = [one for one in at.get("popover") if one.proto.popover.label == "The question"]
    inside = " ".join(text.value for text in folded.markdown).replace("\\", "")
    assert all(text in inside for text in (experiment.question, *experiment.answers, *experiment.why))
    asked = [text for text in at.main.markdown if experiment.question in text.value.replace("\\", "")]
    assert len(asked) == 1
    assert not any((button.key or "").startswith("guess_") for button in at.button)


@pytest.mark.parametrize("part", sweep(PARTS, "theorem", "narrowing"))
def test_every_experiment_opens_from_its_link(part):
    at = learn(part, **{f"{part}__guess": "skip"})
    assert faults(at) == []
    assert len(titles(at)) == 1
    assert plain(EXPERIMENTS[part].source) in [caption.value for caption in at.main.caption]
    assert len(at.main.latex) == len(EXPERIMENTS[part].formulas)
    spoken = " ".join((*titles(at), *(caption.value for caption in at.main.caption)))
    links = " ".join(text.value for text in at.main.markdown)
    unexplained = [
        term.name
        for term in map(GLOSSARY.get, ("tce", "dir", "pool", "posterior", "p0p1"))
        if any(re.search(rf"\b{form}\b", spoken) for form in term.written) and f"#{term.anchor} " not in links
    ]
    assert unexplained == []
    assert in_sight(at) <= {f"{part}.{p.name}" for p in EXPERIMENTS[part].parameters[:2]} | {"seed"}
    assert len(in_sight(at)) == (1 if part == "pooling" else 2)  # its points are dragged in the picture


def in_sight(at):
    """The controls of settings that are not folded."""

    def keys(block):
        kinds = (block.slider, block.select_slider, block.selectbox, block.number_input, block.button_group)
        return [widget.key for kind in kinds for widget in kind]

    own = [key for key in keys(at.main) if "." in key or key == "seed"]
    folded = [key for box in at.expander if box.label == "More settings" for key in keys(box)]
    return set(own) - set(folded) - {"two_probabilities.experiment", "simulations.experiment"}


def test_widgets_follow_the_link_and_the_link_the_widgets():
    at = learn(theorem__objects=20, theorem__draws=500, theorem__guess="skip")
    objects = at.select_slider(key="theorem.objects")
    assert objects.value == 20
    settled(objects.set_value(10).run())
    assert settings_in_address(at)["theorem.objects"] == 10
    assert faults(at) == []


def test_a_value_that_cannot_be_is_refused_by_name():
    at = learn(theorem__objects=7)
    assert_any_says(messages(at), "theorem.objects", "5, 10")


def test_the_controls_of_explore_are_not_there_and_its_recipe_survives():
    at = page("explore_reliability", bins="9", model="naive_bayes")
    assert at.sidebar.selectbox
    go(at, "learn_labs")
    assert not at.sidebar.selectbox
    go(at, "explore_reliability")
    assert at.slider(key="bins").value == 9

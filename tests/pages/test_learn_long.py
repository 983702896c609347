"""Overlap and Calibration-set size: open at once on what was made beforehand; other settings run part by part."""

from itertools import count
from threading import Event

import pytest

from calib.experiments import EXPERIMENTS
from calib.experiments.overlap import simulation as overlap
from calib.figures import FIGURES
from pages.ui.learn import long_runs
from tests.pages.app import at_once, experiment, faults, messages, query, settings_in_address, settled, titles
from tests.saying import assert_says
from tests.sweep import sweep
from tests.waiting import LIMIT
from tests.where import where

KEYS = ("overlap", "calibration_size")
ASKED = {"overlap": "fully grown trees in two dimensions.", "calibration_size": "the tuned forest."}
SMALL = {"d": "2", "n": 200, "repetitions": 1}


def opened(key, seed=0, **settings):
    chosen = {f"{key}.guess": "skip"} | {f"{key}.{name}": value for name, value in settings.items()}
    return experiment(key, **query(chosen), seed=str(seed))


@pytest.mark.parametrize("key", KEYS)
def test_it_opens_at_once_with_what_was_made_beforehand_and_says_how(key):
    at = opened(key)
    assert faults(at) == []
    assert not [button for button in at.button if button.key.startswith("cancel")]
    record = FIGURES[key].prepare(EXPERIMENTS[key].simulate(random_state=0))
    assert titles(at)[0] == record.title
    assert any("Precomputed on 20" in caption.value for caption in at.main.caption)


@pytest.mark.parametrize("key", sweep(KEYS, "calibration_size"))
def test_a_view_setting_computes_nothing(key):
    at = opened(key, measure="ece", base="default", guess="1")
    assert faults(at) == []
    assert [text.value.endswith(". The question is about the TCE of " + ASKED[key]) for text in at.info] == [
        True
    ]
    record = FIGURES[key].prepare(EXPERIMENTS[key].simulate(random_state=0), measure="ece", base="default")
    assert titles(at)[0] == record.title


@pytest.mark.parametrize("key", ["overlap", pytest.param("calibration_size", marks=pytest.mark.soak)])
def test_another_seed_is_computed_under_progress_and_can_be_called_off(key):
    small = {"overlap.d": "2", "overlap.n": 200} if key == "overlap" else {}  # a part that has begun is ended
    at = opened_without_waiting(key, {f"{key}.guess": "skip"} | small, seed="1")
    assert faults(at) == []
    (cancel,) = [button for button in at.button if button.key == f"cancel_learn_{key}"]
    cancel.click().run()
    assert any(text.value.startswith("Cancelled") for text in at.info)
    assert at.button(key=f"fit_again_learn_{key}")


@pytest.mark.parametrize("key", KEYS)
def test_the_last_picture_stays_dimmed_until_a_part_of_the_next_is_there(key, monkeypatch):
    at, before = opened(key), FIGURES[key].prepare(EXPERIMENTS[key].simulate(random_state=0)).title
    hold, real = Event(), long_runs._watched
    monkeypatch.setattr(long_runs, "_watched", lambda part, watch: hold.wait(LIMIT) and real(part, watch))
    state = {f"{key}.results": "anew"}
    at.selectbox(key=f"{key}.results").set_value("anew").run()
    try:
        assert settings_in_address(at).items() >= state.items()
        assert titles(at)[0] == before
        assert dimmed(at)
        at.button(key=f"cancel_learn_{key}").click().run()
        assert (titles(at)[0], dimmed(at)) == (before, True)
        (said,) = messages(at)
        assert_says(said, "Cancelled", "previous settings")
    finally:
        hold.set()
    kept = EXPERIMENTS[key].simulate(random_state=0)
    monkeypatch.setattr(long_runs, "_done", lambda *given: [kept.table])
    monkeypatch.setattr(type(EXPERIMENTS[key].simulation), "gathered", lambda self, done, settings: kept)
    at.run()
    assert (titles(at)[0], dimmed(at)) == (before, False), "a part's own picture"


def dimmed(at):
    return any(".stPlotlyChart, .stMain" in html.proto.body for html in at.get("html"))


@pytest.mark.soak
def test_other_settings_run_part_by_part(monkeypatch):
    """Pictures of the parts that are there; after a Cancel, going on finishes."""
    monkeypatch.setattr(overlap, "STEPS_OF_DISTANCE", 4)  # of twenty
    monkeypatch.setattr(overlap, "DRAWN_STEPS", (1, 2, 3, 4))
    key = "overlap"
    chosen = {f"{key}.guess": "skip"} | {f"{key}.{name}": value for name, value in SMALL.items()}
    at = opened_without_waiting(key, chosen)
    at.button(key=f"cancel_learn_{key}").click().run()
    begun, seen, whole = count(), Event(), long_runs._watched

    def one_first(part, watch):
        """The other parts wait until the picture of one is seen."""
        if next(begun):
            seen.wait(LIMIT)
        return whole(part, watch)

    def look(at):
        if any("Computed here" in caption.value for caption in at.main.caption):
            seen.set()

    monkeypatch.setattr(long_runs, "_watched", one_first)
    at.button(key=f"fit_again_learn_{key}").click().run()
    settled(at, look)
    assert faults(at) == []
    values = EXPERIMENTS[key].values({}) | SMALL
    record = FIGURES[key].prepare(
        EXPERIMENTS[key].simulate(random_state=0, **EXPERIMENTS[key].numbers(values))
    )
    assert titles(at)[0] == record.title
    assert seen.is_set()


def opened_without_waiting(key, chosen, seed="0"):
    stem, view = where(key)
    return at_once(stem, **view, **query(chosen), seed=seed)


@pytest.mark.parametrize("key", KEYS)
def test_results_made_beforehand_are_a_choice_only_where_there_are_some(key, monkeypatch):
    # Which takes its time where there are none
    monkeypatch.setattr(long_runs, "compute", lambda *given: None)
    for seed, there in ((0, True), (1, False)):
        shown = [control.key for control in opened(key, seed=seed).selectbox]
        assert (f"{key}.results" in shown) == there

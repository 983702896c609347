"""Play, pause, step by keys; still where the system asks for reduced motion."""

import pytest

from calib.experiments import EXPERIMENTS
from pages.ui.learn import play
from tests.waiting import until
from tests.where import where

QUIET = {"pooling.guess": "skip"}
PLAYED = [key for key, experiment in EXPERIMENTS.items() if experiment.plays]


def bar(tab, key):
    return tab.by_key(f"play_{key}")


def said(tab, key) -> str:
    return bar(tab, key).locator(".said").inner_text()


def test_pooling_plays_pauses_and_steps_by_keys_and_the_link_keeps_where_it_stopped(tab):
    opened = where("pooling")[1] | QUIET
    tab.page.emulate_media(reduced_motion="no-preference")
    tab.experiment("pooling", **QUIET)
    assert said(tab, "pooling") == "Moves made: 0 of 6"
    bar(tab, "pooling").locator(".speed").select_option("Fast")
    bar(tab, "pooling").get_by_role("button", name="Play").click()
    until(lambda: "2 of 6" in said(tab, "pooling"), "it plays by itself")
    bar(tab, "pooling").get_by_role("button", name="Pause").press("Enter")
    tab.settle()
    stopped = int(tab.recipe_query()["pooling.step"])
    assert said(tab, "pooling") == f"Moves made: {stopped} of 6"
    tab.page.keyboard.press("ArrowLeft")
    tab.holds(opened | {"pooling.step": str(stopped - 1)})
    assert tab.chart_titles()[0].startswith(f"Move {stopped} of 6")
    bar(tab, "pooling").get_by_role("button", name="Play").click()
    until(lambda: "6 of 6" in said(tab, "pooling"), "it plays to the end")
    bar(tab, "pooling").get_by_role("button", name="Play").wait_for()  # and stands still there
    assert tab.settle().chart_titles()[0].startswith("Done after 6 moves")

    tab.page.emulate_media(reduced_motion="reduce")
    until(bar(tab, "pooling").get_by_role("button", name="Play").is_disabled, "nothing moves by itself")
    bar(tab, "pooling").get_by_role("button", name="Step back").click()
    tab.holds(opened | {"pooling.step": "5"})


@pytest.mark.soak
@pytest.mark.parametrize("key", PLAYED)
def test_every_experiment_plays(new_tab, key):
    experiment = EXPERIMENTS[key]
    first = play.frames(experiment)[0]
    settings = {
        f"{experiment.page}.experiment": key,
        f"{key}.guess": "skip",
        f"{key}.{experiment.plays}": str(first),
    }
    tab = new_tab(reduced_motion="no-preference").open(experiment.script, **settings)
    bar(tab, key).locator(".speed").select_option("Fast")
    values = play.frames(experiment)
    counted = all(value == i for i, value in enumerate(values, start=values[0] if values[0] in (0, 1) else 0))

    def told(i: int) -> str:
        return f": {values[i]} of " if counted else f"({i + 1} of"

    assert told(0) in said(tab, key)
    bar(tab, key).get_by_role("button", name="Play").click()
    until(lambda: told(2) in said(tab, key), "two steps are made")
    bar(tab, key).get_by_role("button", name="Pause").click()
    tab.settle()
    assert f"{key}.{experiment.plays}" in tab.recipe_query()

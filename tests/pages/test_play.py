"""What is played: a declared setting, every value of which a Recipe takes, with its buttons on the page."""

import pytest

from calib.experiments import EXPERIMENTS
from calib.recipe import Recipe
from pages.ui.learn import play
from tests.pages.app import experiment, faults, query, titles

PLAYED = {key: experiment for key, experiment in EXPERIMENTS.items() if experiment.plays}


def test_pooling_depth_trees_overlap_and_sampling_are_played():
    settings = {f"{key}.{experiment.plays}" for key, experiment in PLAYED.items()}
    assert settings >= {
        "pooling.step",
        "tree_depth.depth",
        "tree_count.trees",
        "cl_gl.depth",
        "overlap.steps",
        "log_loss.run",
    }


@pytest.mark.parametrize("key", PLAYED)
def test_every_value_that_is_played_is_one_of_the_setting(key):
    experiment = PLAYED[key]
    values = play.frames(experiment)
    assert len(values) > 4
    for i, value in enumerate(values):
        name = f"{key}.{experiment.plays}"
        assert dict(Recipe(settings={name: value}).settings).get(name, value) == value
        assert play.index_of(values, value) == i


def test_a_value_that_is_not_played_stands_at_the_last_one_below_it():
    assert play.frames(EXPERIMENTS["pooling"], last=3) == [0, 1, 2, 3]
    assert play.index_of([0, 1, 2, 3], 60) == 3
    assert play.index_of([5, 10, None], 7) == 0
    assert play.index_of([5, 10], None) == 1
    assert play.index_of([5, 10], 1) == 0


def test_where_it_stopped_stands_in_the_link_and_in_the_picture():
    """A picture that is exported is drawn of the same record as the one on the page."""
    at = experiment("overlap", **query({"overlap.guess": "skip", "overlap.steps": 3}))
    assert faults(at) == []
    assert at.query_params["overlap.steps"] == "3"
    assert [slider.value for slider in at.slider if slider.key == "overlap.steps"] == [3]
    whole = experiment("overlap", **query({"overlap.guess": "skip"}))
    assert titles(at)[0] == titles(whole)[0]  # of all steps, whatever is shown

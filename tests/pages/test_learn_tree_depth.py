"""Tree depth: panels and a curve for each experiment; what only reads or draws trees grows none."""

import importlib

import pytest

from calib.experiments import EXPERIMENTS
from tests.pages.app import experiment, faults, query, settled, titles, verdicts
from tests.saying import assert_says

PANELS = {"tree_depth": 4, "tree_count": 4, "leaf_estimates": 6}
PARTS = list(PANELS)
CURVES = {"tree_depth": 2, "tree_count": 1, "leaf_estimates": 2}


def learn(part, **settings):
    own = {f"{part}.{key}": value for key, value in settings.items()}
    return experiment(part, **query(own))


def charts(at):
    return len(at.get("plotly_chart"))


@pytest.fixture
def no_fits(monkeypatch):
    """From now on nothing can be grown."""

    def forbid():
        def refuse(*args, **kwargs):
            raise AssertionError("a fit")

        plane = importlib.import_module("calib.experiments.shared.gaussian_plane")
        monkeypatch.setattr(plane, "ProbabilityForest", refuse)
        monkeypatch.setattr(plane, "ProbabilityTree", refuse)

    return forbid


def test_it_asks_beside_the_depths_and_the_trade_off():
    at = learn("tree_depth", n=100, trees=10, guess="ask")
    settled(at.button(key="guess_2").click().run())
    assert faults(at) == []
    depths, curve = titles(at)
    assert_says(depths, "forest", "closest", "depth")
    assert_says(curve, "CL + GL", "lowest", "depth")
    assert len(verdicts(at)) == 1


@pytest.mark.parametrize("part", PARTS)
def test_every_experiment_opens_from_its_link_with_its_panels(part):
    at = learn(part, guess="skip", n=100, trees=10)
    assert faults(at) == []
    assert len(titles(at)) == 2
    assert charts(at) == PANELS[part] + CURVES[part]
    assert len(at.main.latex) == len(EXPERIMENTS[part].formulas)


def test_views_leaf_estimates_fewer_trees_and_depths_of_the_curve_grow_nothing(no_fits):
    at = learn("tree_depth", guess="skip", n=100, trees=10)
    no_fits()
    before = titles(at)
    settled(at.segmented_control(key="tree_depth.cloud").set_value("density").run())
    assert faults(at) == []
    assert titles(at) == before
    settled(at.selectbox(key="tree_depth.groups").set_value("predictions").run())
    assert titles(at) == before
    settled(at.select_slider(key="tree_depth.depth").set_value(6).run())
    assert titles(at)[1] == before[1]
    settled(at.selectbox(key="tree_depth.leaf").set_value("laplace").run())
    settled(at.select_slider(key="tree_depth.curtail").set_value(20).run())
    settled(at.select_slider(key="tree_depth.trees").set_value(5).run())
    settled(at.segmented_control(key="tree_depth.model").set_value("tree").run())
    assert faults(at) == []
    assert_says(titles(at)[0], "One tree", "equally close", "depth")


def test_fewer_trees_are_the_first_of_those_that_are_there(no_fits):
    at = learn("tree_count", guess="skip", n=100)
    no_fits()
    before = titles(at)
    settled(at.select_slider(key="tree_count.trees").set_value(2).run())
    assert faults(at) == []
    assert titles(at) == before
    assert charts(at) == 5


def test_another_threshold_grows_nothing_and_moves_along_the_curve(no_fits):
    at = learn("leaf_estimates", guess="skip", n=100)
    no_fits()
    before = titles(at)
    settled(at.select_slider(key="leaf_estimates.curtail").set_value(10).run())
    assert faults(at) == []
    assert "comes closest of the three: TCE " in titles(at)[0]
    assert titles(at)[1] == before[1]

"""What is read off trees grown once is what scikit-learn would say, and what only reads trees grows none."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from calib.experiments import EXPERIMENTS
from calib.experiments.shared.gaussian_plane import draw_plane, grow
from calib.models import ProbabilityForest


@pytest.mark.parametrize("depth", [3, None])
def test_the_first_trees_of_a_forest_are_scikit_learns_forest_of_so_many(depth):
    many, plane = grow(3, "unequal", 200, "forest", depth, 50), draw_plane("unequal", 200, 3)
    for trees in (1, 7, 50):
        forest = RandomForestClassifier(trees, max_depth=depth, random_state=3).fit(plane.X, plane.y)
        assert many.first(trees).p() == pytest.approx(forest.predict_proba(plane.test)[:, 1], abs=1e-12)


def test_one_tree_is_scikit_learns():
    alone, plane = grow(5, "equal", 200, "tree", 4, 1), draw_plane("equal", 200, 5)
    tree = DecisionTreeClassifier(max_depth=4, random_state=5).fit(plane.X, plane.y)
    assert alone.p() == pytest.approx(tree.predict_proba(plane.test)[:, 1], abs=1e-12)
    leaf = tree.apply(plane.test)
    means = {node: plane.posterior[leaf == node].mean() for node in np.unique(leaf)}
    assert alone.leaf_means() == pytest.approx([means[node] for node in leaf], abs=1e-12)


@pytest.mark.parametrize(("leaf", "curtail"), [("laplace", 0), ("frequency", 20), ("laplace", 5)])
def test_another_leaf_estimate_needs_no_other_forest(leaf, curtail):
    grown, plane = grow(0, "separate", 200, "forest", None, 10), draw_plane("separate", 200, 0)
    forest = ProbabilityForest(10, leaf=leaf, curtail=curtail, random_state=0).fit(plane.X, plane.y)
    assert np.array_equal(grown.p(leaf, curtail), forest.predict_proba(plane.test)[:, 1])


def test_a_curtailed_leaf_speaks_for_its_first_large_ancestor():
    grown, plane = grow(1, "separate", 200, "tree", None, 1), draw_plane("separate", 200, 1)
    tree = DecisionTreeClassifier(random_state=1).fit(plane.X, plane.y)
    paths, seen = (
        tree.decision_path(plane.test[:50]).toarray().astype(bool),
        tree.decision_path(plane.X).toarray(),
    )
    curtailed = grown.p(curtail=30)[:50]
    for p, path in zip(curtailed, paths, strict=True):
        large = [node for node in np.flatnonzero(path) if seen[:, node].sum() >= 30]
        smallest = min(large, key=lambda node: seen[:, node].sum())
        assert p == pytest.approx(plane.y[seen[:, smallest] == 1].mean(), abs=1e-12)


def test_nothing_is_grown_for_a_setting_that_only_reads_trees():
    grown = {}

    def counting(*key):
        if key not in grown:
            grown[key] = grow(*key)
        return grown[key]

    for settings in ({}, {"leaf": "laplace"}, {"curtail": 30}, {"trees": 50}):
        EXPERIMENTS["tree_depth"].simulate(random_state=0, n=50, using={"grow": counting}, **settings)
    assert len(grown) == 4
    grown.clear()
    for trees in (1, 20, 500):
        EXPERIMENTS["tree_count"].simulate(random_state=0, n=50, trees=trees, using={"grow": counting})
    assert len(grown) == 1
    grown.clear()
    for settings in ({}, {"curtail": 50}, {"trees": 50}):
        EXPERIMENTS["leaf_estimates"].simulate(random_state=0, n=50, using={"grow": counting}, **settings)
    EXPERIMENTS["leaf_estimates"].simulate(
        "leaf_estimates_curve", random_state=0, n=50, using={"grow": counting}
    )
    assert len(grown) == 2

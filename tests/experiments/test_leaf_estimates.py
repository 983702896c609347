"""Leaf estimates: Laplace, curtailment and the forest, over many seeds."""

import pytest

from calib.experiments import EXPERIMENTS
from calib.experiments.leaf_estimates import AT_THRESHOLDS

SEEDS = (0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2, 3, 5)))
simulate = EXPERIMENTS["leaf_estimates"].simulate


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_threshold_of_curtailment_lies_in_the_middle(seed, remembered):
    found = simulate("leaf_estimates_curve", random_state=seed, using=remembered)
    for model in ("tree", "forest"):
        best = int(found.curves[model]["frequency"].argmin())
        assert 10 <= AT_THRESHOLDS[best] <= 150
    assert (found.curves["tree"]["frequency"][:3] > found.curves["forest"]["frequency"][:3]).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_laplace_and_curtailment_help_one_tree_and_the_forest(seed, remembered):
    tree, laplace, curtailed, forest, forest_laplace, forest_curtailed = (
        errors.tce for errors in simulate(random_state=seed, using=remembered).shown
    )
    assert curtailed < laplace < tree
    assert forest_curtailed < forest_laplace < forest < tree

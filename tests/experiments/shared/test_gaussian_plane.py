"""The plane's posterior by another route, its draws, and the expected loss by drawing labels."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from calib.experiments.shared.gaussian_plane import FOREST_GROUPS, draw_plane, expected_loss, groups_for
from calib.synthetic import GaussianPair


def test_the_expected_loss_is_what_labels_cost_on_average():
    rng = np.random.default_rng(0)
    pi, p = rng.random(50), rng.uniform(0.05, 0.95, 50)
    y = rng.random((40_000, 50)) < pi
    assert expected_loss(pi, p, "brier") == pytest.approx(((y - p) ** 2).mean(), abs=2e-3)
    assert expected_loss(pi, p, "log") == pytest.approx(-np.log(np.where(y, p, 1 - p)).mean(), abs=5e-3)


def test_the_posterior_is_bayes_rule_with_scipys_densities():
    plane = draw_plane("unequal", 50, 7)
    pair = GaussianPair.variant("unequal", 2, np.random.default_rng(np.random.SeedSequence(7).spawn(3)[0]))
    one, zero = (
        multivariate_normal(mean, cov).pdf(plane.grid)
        for mean, cov in ((pair.mean1, pair.cov1), (pair.mean0, pair.cov0))
    )
    assert plane.grid_posterior == pytest.approx(one / (one + zero), abs=1e-9)


def test_more_training_objects_keep_those_of_fewer():
    few, many = draw_plane("equal", 50, 3), draw_plane("equal", 500, 3)
    assert np.array_equal(few.X, many.X[:50])
    assert np.array_equal(few.test, many.test)


def test_it_is_drawn_once_and_cannot_be_changed():
    plane = draw_plane("equal", 50, 3)
    assert draw_plane("equal", 50, 3) is plane
    for array in (plane.X, plane.y, plane.test, plane.posterior, plane.grid, plane.grid_posterior):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_many_different_predictions_are_grouped_by_quantiles():
    assert groups_for(np.tile([0.0, 1.0], 500)) is None
    assert groups_for(np.linspace(0, 1, 1000)) == FOREST_GROUPS

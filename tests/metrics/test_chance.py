"""What a calibrated model of the same rows would show: redraws by brute force, weights, clusters."""

import numpy as np
import pytest

from calib.kernel.binomial import null_draws
from calib.metrics import METRICS
from calib.metrics.chance import ece_by_chance


def brute_force(p, bins=20, repeats=2000):
    rng = np.random.default_rng(7)
    ece = METRICS["ece"].function
    return np.quantile(
        [ece((rng.random(len(p)) < p).astype(int), p, bins=bins) for _ in range(repeats)], 0.95
    )


@pytest.mark.parametrize(("n", "rare"), [(60, 1.0), (400, 0.1), (2500, 1.0)])
def test_the_bound_is_that_of_labels_redrawn_one_by_one(n, rare):
    p = rare * np.random.default_rng(n).random(n)
    assert ece_by_chance(np.zeros(n, int), p) == pytest.approx(brute_force(p), rel=0.1)


def test_labels_do_not_matter_and_counts_are_repeated_rows():
    rng = np.random.default_rng(1)
    p, counts = rng.random(80).round(2), rng.integers(1, 4, 80)
    one = ece_by_chance(rng.integers(0, 2, 80), p, sample_weight=counts)
    again = ece_by_chance(np.zeros(counts.sum(), int), np.repeat(p, counts))
    assert one == pytest.approx(again, abs=1e-12)


def test_nineteen_of_twenty_calibrated_models_stay_below():
    rng, below = np.random.default_rng(2), []
    for _ in range(200):
        p = rng.beta(0.5, 2, 300)
        y = (rng.random(300) < p).astype(int)
        below.append(METRICS["ece"].function(y, p) <= ece_by_chance(y, p))
    assert np.mean(below) == pytest.approx(0.95, abs=0.04)


def test_rows_in_clusters_show_more_by_chance_and_one_cluster_tells_nothing():
    rng = np.random.default_rng(3)
    whose = np.repeat(np.arange(30), 20)
    p = np.full(600, 0.5)
    y = np.repeat(rng.integers(0, 2, 30), 20)  # all of a cluster alike: thirty draws
    assert ece_by_chance(y, p, cluster=whose) > 3 * ece_by_chance(y, p)
    assert np.isnan(ece_by_chance(y, p, cluster=np.zeros(600)))


def test_sums_of_redrawn_labels_have_the_binomial_law():
    p, counts = np.array([0.1, 0.5, 0.9]), np.array([5.0, 40.0, 1.0])
    for factor in (1, 1000):  # one by one, and by their sums
        drawn = null_draws(p, factor * counts, 4000, np.random.default_rng(0))
        np.testing.assert_allclose(drawn.mean(axis=0), factor * counts * p, rtol=0.05)
        np.testing.assert_allclose(drawn.var(axis=0), factor * counts * p * (1 - p), rtol=0.1)

"""Bounds of distances from noisy gaps: they include the population's ECE and ICI, and claim no difference by chance."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit
from scipy.stats import norm

from calib.kernel.rows import Rows
from calib.metrics import METRICS
from calib.metrics.confidence_intervals import View, confidence_interval
from calib.metrics.distances import (
    PREDICTION_CELLS,
    Gaps,
    Noise,
    _reach_of_few_events,
    binned_gaps,
    curve_gaps,
    distance_interval,
    smooth_cells,
)
from calib.metrics.ici import smooth_differences
from calib.metrics.paired_intervals import difference_interval
from calib.metrics.smooth_error import NARROWEST_KERNEL


def drawn(seed, n, steepness=1.0, level=0.0):
    """(y, what an overconfident model says, the truth)."""
    rng = np.random.default_rng(seed)
    x = level + 1.5 * rng.normal(size=n)
    truth = expit(x)
    return (rng.random(n) < truth).astype(int), expit(level + steepness * (x - level)), truth


def population_ece(steepness, level):
    _, p, truth = drawn(0, 2_000_000, steepness, level)
    index = np.minimum(19, np.floor(20 * p + 1e-9).astype(int))
    return np.abs(np.bincount(index, truth - p, 20)).sum() / len(p)


@pytest.mark.parametrize("steepness", [1.0, 2.0])
@pytest.mark.parametrize(("n", "level"), [(50, 0.0), (200, -2.5), (1000, 0.0)])
def test_intervals_of_ece_include_the_populations(n, level, steepness):
    """Percentiles of resamples did so in 0, 0 and 0 of 100 tables of a calibrated model."""
    target = population_ece(steepness, level)
    found = np.array([confidence_interval("ece", *drawn(s, n, steepness, level)[:2]) for s in range(1, 61)])
    assert ((found[:, 0] <= target) & (target <= found[:, 1])).mean() >= 0.95
    estimates = [METRICS["ece"].function(*drawn(s, n, steepness, level)[:2]) for s in range(1, 61)]
    assert (found[:, 0] <= estimates).all()
    assert (estimates <= found[:, 1]).all()
    if steepness == 1:
        assert (found[:, 0] == 0).mean() >= 0.95


def test_more_rows_narrow_the_interval_to_the_populations_ece():
    target = population_ece(2.0, 0.0)
    low, high = confidence_interval("ece", *drawn(1, 200_000, 2.0)[:2])
    assert low <= target <= high
    assert high - low < 0.01 < 0.09 < low


@pytest.mark.parametrize("steepness", [1.0, 2.0])
@pytest.mark.parametrize(("n", "level"), [(50, 0.0), (1000, -2.5)])
def test_intervals_of_smooth_ece_include_the_populations(n, level, steepness):
    _, p, truth = drawn(0, 500_000, steepness, level)
    both = np.r_[np.ones(len(p), int), np.zeros(len(p), int)], np.tile(p, 2), np.r_[truth, 1 - truth]
    target = METRICS["smooth_ece"].function(*both[:2], sample_weight=both[2])
    tables = [drawn(seed, n, steepness, level)[:2] for seed in range(1, 21)]
    found = np.array([confidence_interval("smooth_ece", *table) for table in tables])
    assert ((found[:, 0] <= target + 1e-4) & (target <= found[:, 1])).mean() >= 0.95
    estimates = [METRICS["smooth_ece"].function(*table) for table in tables]
    assert (found[:, 0] <= estimates).all()
    assert (estimates <= found[:, 1]).all()
    if steepness == 1:
        assert (found[:, 0] <= NARROWEST_KERNEL).mean() >= 0.95


def test_an_end_of_smooth_ece_is_the_end_of_the_distance_at_this_width():
    """By the definition: D(σ) = ∫ |r_σ|, r_σ the residuals convolved with the reflected kernel, written out."""
    y, p, _ = drawn(6, 2000, 2.0)
    p = (p * 200).round() / 200  # where the nodes are
    nodes = np.linspace(0, 1, 201)
    for end in confidence_interval("smooth_ece", y, p):
        images = [nodes[:, None] - 2 * k - sign * nodes for k in range(-3, 4) for sign in (1, -1)]
        kernel = sum(norm.pdf(each, scale=end) for each in images)
        around = np.r_[0.5, np.ones(199), 0.5] / 200
        gaps = Gaps(
            np.bincount((p * 200).round().astype(int), y - p, 201) @ kernel / 2000 * around,
            csr_array((kernel * around)[(p * 200).round().astype(int)] * (y - p)[:, None]),
            np.eye(201),
            np.zeros(201),
        )
        low, high = distance_interval(gaps, Rows(y), 0.95, 0)
        assert min(abs(low - end), abs(high - end)) < 0.02 * (high - low)


def test_a_fine_and_a_coarse_forecast_that_are_both_calibrated_do_not_differ():
    """By percentiles of paired resamples they differed "significantly" in 100 of 100 tables."""
    claims = 0
    for seed in range(60):
        y, _, truth = drawn(seed, 1000)
        third = np.digitize(truth, [0.33, 0.67])
        means = np.array([0.1625, 0.5, 0.8375])  # of the truth in the thirds, as a million rows give them
        _, low, high = difference_interval("ece", Rows(y), truth, means[third])
        claims += low > 0 or high < 0
    assert claims <= 3


def test_a_change_that_is_there_is_seen_with_enough_rows():
    sure = 0
    for seed in range(20):
        y, p, truth = drawn(seed, 5000, 2.0)
        change, low, high = difference_interval("ece", Rows(y), p, truth)
        assert low <= change <= high
        sure += low > 0
    assert sure == 20


@pytest.mark.parametrize("bins", [7, 20])
def test_gaps_add_up_to_the_metrics(bins):
    y, p, _ = drawn(3, 400, 2.0)
    weights = np.random.default_rng(0).integers(1, 4, 400).astype(float)
    ece = METRICS["ece"].function(y, p, bins=bins, sample_weight=weights)
    gaps = binned_gaps(Rows(y, weight=weights), p, bins, "uniform")
    assert np.abs(gaps.values).sum() == pytest.approx(ece, abs=1e-14)
    ici = METRICS["ici"].function(y, p, sample_weight=weights)
    assert np.abs(curve_gaps(Rows(y, weight=weights), p).values).sum() == pytest.approx(ici, rel=0.02)


def test_the_noise_of_gaps_is_that_of_resamples():
    """Standard errors of the gaps, against labels and rows drawn again from the same law."""
    y, p, _ = drawn(4, 500, 2.0)
    gaps = binned_gaps(Rows(y), p, 10, "uniform")
    errors = np.sqrt(np.diag(Rows(y).covariance(gaps.influence)))
    again = np.array(
        [
            binned_gaps(Rows(each[0]), each[1], 10, "uniform").values
            for each in (drawn(seed, 500, 2.0) for seed in range(300))
        ]
    )
    np.testing.assert_allclose(errors, again.std(axis=0), rtol=0.35)


def test_the_level_is_the_share_left_outside():
    y, p, _ = drawn(5, 800, 2.0)
    wide, narrow = (
        difference_interval("ece", Rows(y), p, p**1.5, View(level=level)) for level in (0.99, 0.8)
    )
    assert wide[1] < narrow[1] < narrow[0] < narrow[2] < wide[2]


def test_where_most_rows_share_one_prediction_the_curve_is_their_frequency():
    p = np.r_[np.full(80, 0.5), np.linspace(0.05, 0.95, 20)]
    y = np.r_[np.arange(80) % 4 == 0, np.arange(20) % 2].astype(int)
    found = smooth_differences(y, p)
    assert found.observed[found.points == 0.5] == pytest.approx(0.25)


def test_a_curve_in_cells_is_on_few_of_them_whatever_the_rows():
    p = np.linspace(0.001, 0.999, 5000)
    cells = smooth_cells(Rows(np.arange(5000) % 2), p)
    assert len(cells.points) <= PREDICTION_CELLS
    assert cells.count.sum() == 5000


def test_a_sum_of_few_events_reaches_as_far_as_wilsons_interval():
    """The reach r of n rows solves r² = z² (V + r): the variance grows with the sum itself."""
    draws = np.random.default_rng(0).normal(scale=0.01, size=(500, 3))
    noise = Noise(np.full(3, 0.1), draws, draws.std(axis=0), rows=400)
    reach = 400 * _reach_of_few_events(noise, 0.025)
    assert reach**2 == pytest.approx(norm.ppf(0.975) ** 2 * (400**2 * draws.sum(axis=1).var() + reach))

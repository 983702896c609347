"""Metrics that experts expect, each against the definition by brute force, another library or a simulation."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import logit, ndtr
from sklearn.metrics import average_precision_score, brier_score_loss

from calib.kernel.checks import InputError
from calib.metrics import (
    METRICS,
    average_precision,
    brier_skill,
    calibration_line,
    confidence_interval,
    corrected_reliability,
    cumulative_differences,
    debiased_calibration_error,
    smooth_calibration_error,
    smooth_differences,
    smoothed_residuals,
)
from calib.metrics.cumulative import farthest_tail, range_tail

from .cases import random_case

EXPERT = [
    "average_precision brier_skill observed_expected in_the_large debiased_ce smooth_ece ici e50 e90 emax kuiper",
    "kuiper_p kolmogorov_smirnov kolmogorov_smirnov_p",
]


def test_they_stay_out_of_the_everyday_table():
    assert not any(METRICS[key].everyday for key in " ".join(EXPERT).split())


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("seed", range(4))
def test_average_precision_and_brier_skill_are_those_of_scikit_learn(seed, decimals):
    y, p = random_case(seed, 300, decimals)
    weights = np.random.default_rng(seed).random(300)
    assert average_precision(y, p, weights) == pytest.approx(
        average_precision_score(y, p, sample_weight=weights)
    )
    frequency = np.full(300, y.mean())
    skill = 1 - brier_score_loss(y, p) / brier_score_loss(y, frequency)
    assert brier_skill(y, p) == pytest.approx(skill)
    assert average_precision([1, 0, 0], [0.1, 0.5, 0.9]) == pytest.approx(1 / 3)  # the only one comes last
    assert math.isnan(average_precision([0, 0], [0.1, 0.2]))
    assert math.isnan(brier_skill([1, 1], [0.1, 0.2]))


def test_the_correction_is_that_of_the_papers_and_takes_away_what_chance_adds():
    y, p = random_case(1, 400)
    predicted = 0.0
    for k in range(10):
        rows = np.minimum((p * 10).astype(int), 9) == k
        n, f = rows.sum(), y[rows].mean()
        predicted += n / 400 * ((f - p[rows].mean()) ** 2 - y[rows].var(ddof=1) / n)
    assert corrected_reliability(y, p, bins=10) == pytest.approx(predicted)
    rng = np.random.default_rng(0)
    p = (np.repeat(np.arange(10), 20) + 0.5) / 10
    draws = [rng.random(200) < np.clip(p + shift, 0, 1) for shift in (0.0, 0.04) for _ in range(4000)]
    found = np.array([corrected_reliability(y, p, bins=10) for y in draws]).reshape(2, -1)
    spread = 4 * found.std(axis=1) / math.sqrt(4000)
    assert abs(found[0].mean()) < spread[0]  # unbiased: 0 where calibrated, the squared gap where not
    assert abs(found[1].mean() - 0.04**2) < spread[1]
    assert debiased_calibration_error(y, [0.5] * len(y)) >= 0


def reflected(t, p, width, images=range(-3, 4)):
    """The Gaussian kernel at t (m,) about p (n,), and all its reflections at 0 and 1, (m, n)."""
    away = [t[:, None] - (2 * k + sign * p[None, :]) for k in images for sign in (1, -1)]
    return sum(np.exp(-((d / width) ** 2) / 2) for d in away) / (width * math.sqrt(2 * math.pi))


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_smooth_calibration_error_is_the_fixed_point_of_its_definition(power):
    y, p = random_case(0, 200)
    p = p**power
    t = np.linspace(0, 1, 1001)

    def error(width):
        return np.trapezoid(np.abs(reflected(t, p, width) @ (p - y)) / len(p), t)

    expected = brentq(lambda width: error(width) - width, 0.02, 0.5, xtol=1e-5)
    assert smooth_calibration_error(y, p) == pytest.approx(expected, abs=2e-4)
    found = smoothed_residuals(y, p)
    density = reflected(found.points[::512], p, found.width).mean(axis=1)
    np.testing.assert_allclose(found.density[::512], density, atol=1e-3)
    kernel = reflected(found.points[::512], p, found.width)
    residual = (kernel @ y) / kernel.sum(axis=1) - (kernel @ p) / kernel.sum(axis=1)
    np.testing.assert_allclose(
        found.observed[::512], np.clip(found.points[::512] + residual, 0, 1), atol=2e-3
    )


SMOOTH = [
    (0, 0.5, 0.16681),
    (0, 1.0, 0.07081),
    (0, 2.0, 0.15723),
    (1, 0.5, 0.18366),
    (1, 1.0, 0.07877),
    (1, 2.0, 0.15223),
    (2, 0.5, 0.15669),
    (2, 1.0, 0.05821),
    (2, 2.0, 0.17216),
]


def shared(p, values, n):
    """Values (k, rows) at p, each shared between the two of n even nodes beside it."""
    place = p * (n - 1)
    left = np.minimum(place.astype(int), n - 2)
    return np.stack(
        [
            np.bincount(left, v * (1 - place + left), n) + np.bincount(left + 1, v * (place - left), n)
            for v in values
        ]
    )


def discretised(y, p, width, ends_mirrored):
    """smECE at a width as relplot works it out: a mean over nodes, the kernel mirrored once and cut off at 1/2.

    relplot leaves the outermost nodes out of the mirror images; here that is up to ``ends_mirrored``.
    """
    n = max(2000, round(20 / width)) // 2 + 1
    t = np.linspace(0, 1, n)
    nodes = shared(p, (p - y, np.ones(len(p))), n)
    found = np.zeros((2, n))
    for place, end in ((t, None), (-t, 0), (2 - t, n - 1)):
        away = np.abs(t[:, None] - place)
        kernel = np.exp(-((away / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi)) * (away <= 0.5)
        image = nodes.copy()
        if end is not None and not ends_mirrored:
            image[:, end] = 0
        found += image @ kernel.T
    at = np.linspace(0, 1, 10_000)
    residual, mass = (np.interp(at, t, each) for each in found)
    return np.abs(residual).sum() / mass.sum()


def halved(error):
    """The width that halving (0, 1) ten times finds, from above."""
    low, high = 0.0, 1.0
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (middle, high) if middle < error(middle) else (low, middle)
    return high


@pytest.mark.parametrize(("seed", "power", "published"), SMOOTH[-3:])
def test_smooth_calibration_error_differs_from_the_authors_package_by_its_discretisation_alone(
    seed, power, published
):
    """relplot 1.0.3 leaves the outermost of 1001 nodes out of the mirror images: predictions within 0.001 of 0
    or 1 lose up to half of their mass over the edge. The paper's reflected kernel K̃ keeps all of it:
    each x gives a density over [0, 1]. Mirrored with the rest, they give our number; the cut at 1/2 and the search in
    steps of 1/1024 are less than 0.0005."""
    y, p = random_case(seed, 500)
    p = p**power
    theirs = halved(lambda width: discretised(y, p, width, False))
    assert discretised(y, p, theirs, False) == pytest.approx(published, abs=2e-5)
    width = halved(lambda width: discretised(y, p, width, True))
    assert smooth_calibration_error(y, p) == pytest.approx(discretised(y, p, width, True), abs=5e-4)


def test_a_kernel_about_a_prediction_at_the_edge_keeps_all_of_its_mass():
    for p in (0.0, 1e-6, 0.3, 1.0):
        found = smoothed_residuals([1, 0], [p, p])
        assert np.trapezoid(found.density, found.points) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("decimals", [None, 1])
def test_the_walk_of_cumulative_differences_is_the_running_sum(decimals):
    y, p = random_case(2, 200, decimals)
    found, n = cumulative_differences(y, p), len(y)
    walk = [0.0] + [float((y - p)[p <= score].sum() / n) for score in np.unique(p)]
    np.testing.assert_allclose(found.walk, walk, atol=1e-12)
    assert found.kuiper == pytest.approx(max(walk) - min(walk))
    assert found.kolmogorov_smirnov == pytest.approx(max(map(abs, walk)))
    assert found.sigma == pytest.approx(math.sqrt((p * (1 - p)).sum()) / n)


def test_the_tails_are_those_of_brownian_motion():
    rng = np.random.default_rng(0)
    walks = np.cumsum(rng.normal(size=(4000, 2000)), axis=1) / math.sqrt(2000)
    ranges = np.maximum(walks.max(axis=1), 0) - np.minimum(walks.min(axis=1), 0)
    farthest = np.abs(walks).max(axis=1)
    for x in (0.8, 1.2, 1.6, 2.0, 2.4):
        assert range_tail(x + 0.3) == pytest.approx((ranges > x + 0.3).mean(), abs=0.05)
        assert farthest_tail(x) == pytest.approx((farthest > x).mean(), abs=0.04)
    assert farthest_tail(2.2414) == pytest.approx(0.05, abs=1e-4)  # tabulated 5% points
    assert range_tail(2.4977) == pytest.approx(0.05, abs=1e-4)
    for tail in (range_tail, farthest_tail):
        at = np.r_[1e-15, np.linspace(0.2, 9, 500), 1e9]
        values = [tail(x) for x in at]
        assert np.all(np.diff(values) <= 1e-12)
        assert 0 <= min(values) <= values[-2] < 1e-15
        assert values[1] == pytest.approx(max(values)) == values[0] == 1


def test_p_values_of_calibrated_predictions_are_even():
    rng = np.random.default_rng(1)
    p = rng.beta(2, 3, 2000)
    kuiper_p = METRICS["kuiper_p"].function
    found = [kuiper_p(rng.random(2000) < p, p) for _ in range(500)]
    assert np.mean(np.array(found) < 0.1) == pytest.approx(0.1, abs=0.05)
    assert np.mean(found) == pytest.approx(0.5, abs=0.06)
    assert kuiper_p([0, 1], [0.0, 1.0]) == 1.0
    assert kuiper_p([1, 0], [0.0, 1.0]) == 0.0
    assert kuiper_p([0, 1], [0.0, 1.0], cluster=[3, 5]) == 1.0


def loess(y, p):
    """Cleveland's loess by definition: at each p a weighted parabola through the nearest three quarters."""
    found = []
    for point in p:
        far = np.abs(p - point)
        reach = np.sort(far)[math.ceil(0.75 * len(p)) - 1]
        weights = np.clip(1 - (far / reach) ** 3, 0, 1) ** 3
        near = weights > 0
        found.append(np.polyfit(p[near] - point, y[near], 2, w=np.sqrt(weights[near]))[2])
    return np.clip(found, 0, 1)


@pytest.mark.parametrize("decimals", [None, 2])
def test_ici_and_its_relatives_are_distances_from_loess(decimals):
    y, p = random_case(4, 200, decimals)
    distances = np.abs(loess(y.astype(float), p) - p)
    assert METRICS["ici"].function(y, p) == pytest.approx(distances.mean(), abs=1e-8)
    assert METRICS["e50"].function(y, p) == pytest.approx(
        np.quantile(distances, 0.5, method="inverted_cdf"), abs=1e-8
    )
    assert METRICS["e90"].function(y, p) == pytest.approx(
        np.quantile(distances, 0.9, method="inverted_cdf"), abs=1e-8
    )
    assert METRICS["emax"].function(y, p) == pytest.approx(distances.max(), abs=1e-8)


def test_many_rows_are_drawn_together_without_a_visible_change():
    y, p = random_case(5, 6000)
    some = np.random.default_rng(0).choice(6000, 25)
    found = smooth_differences(y, p)
    assert len(found.points) <= 2000
    assert found.weights.sum() == 6000
    every = []
    for point in p[some]:
        far = np.abs(p - point)
        weights = np.clip(1 - (far / np.sort(far)[4499]) ** 3, 0, 1) ** 3
        every.append(np.polyfit(p - point, y, 2, w=np.sqrt(weights))[2])
    np.testing.assert_allclose(
        np.interp(p[some], found.points, found.observed), np.clip(every, 0, 1), atol=2e-4
    )


def test_the_intervals_of_the_line_are_those_of_the_likelihood():
    y, p = random_case(6, 400)
    x, line = logit(p), calibration_line(y, p)

    def loss(a, b):
        return float(np.sum(np.logaddexp(0, a + b * x) - y * (a + b * x)))

    h, at = 1e-3, (line.intercept, line.slope)
    steps = np.eye(2) * h
    hessian = np.array(
        [
            [
                (loss(*(at + s + t)) - loss(*(at + s - t)) - loss(*(at - s + t)) + loss(*(at - s - t)))
                / (4 * h * h)
                for t in steps
            ]
            for s in steps
        ]
    )
    errors = np.sqrt(np.diag(np.linalg.inv(hessian)))
    for key, value, error in (("intercept", at[0], errors[0]), ("slope", at[1], errors[1])):
        low, high = confidence_interval(key, y, p)  # the line fits: robust errors are no larger but by chance
        assert low <= value - 1.9599 * error
        assert 0.999 <= (high - low) / 2 / (1.959964 * error) < 1.4
        assert high + low == pytest.approx(2 * value, rel=1e-6)
    assert np.isnan(confidence_interval("slope", [1, 1], [0.2, 0.4])).all()


def test_next_to_no_row_of_class_1_tells_nothing_of_observed_to_expected():
    assert METRICS["observed_expected"].function([1, 0, 0], [0.5, 0.4, 0.6], [1e-9, 1, 1]) == pytest.approx(
        1e-9
    )
    low, high = confidence_interval("observed_expected", [1, 0, 0], [0.5, 0.4, 0.6], [1e-9, 1, 1])
    assert low == pytest.approx(0, abs=1e-6)
    assert high > 1  # two rows: nothing is contradicted


def test_the_intervals_cover_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(0)
    p = rng.beta(1, 4, 800)
    truths = {"slope": 1, "intercept": 0, "in_the_large": 0, "observed_expected": 1}
    covered = dict.fromkeys(truths, 0)
    for _ in range(200):
        y = (rng.random(800) < p).astype(int)
        for key, truth in truths.items():
            low, high = confidence_interval(key, y, p)
            covered[key] += low <= truth <= high
    for key, count in covered.items():  # that of O/E takes the mean prediction as known: a little wide here
        assert count / 200 >= 0.91, key


def clustered(seed, clusters, rarer=0.0):
    """Right probabilities of rows of which those of one cluster resemble each other in labels and predictions."""
    rng = np.random.default_rng(seed)
    whose = np.repeat(np.arange(clusters), rng.integers(1, 40, clusters))
    predicted, chance = (
        np.sqrt(share) * rng.normal(size=clusters)[whose] + np.sqrt(1 - share) * rng.normal(size=len(whose))
        for share in (0.7, 0.6)
    )
    predicted -= rarer
    return (chance < predicted).astype(int), ndtr(predicted), whose


@pytest.mark.soak
@pytest.mark.parametrize(("clusters", "most"), [(20, 0.12), (50, 0.10), (200, 0.08)])
@pytest.mark.parametrize("rarer", [0.0, 1.8])
def test_the_levels_of_the_guide_are_those_of_simulations(clusters, most, rarer):
    refused = np.zeros(2)
    for seed in range(400):
        y, p, whose = clustered(seed, clusters, rarer)
        found = cumulative_differences(y, p, cluster=whose)
        refused += np.array([found.kuiper_p, found.kolmogorov_smirnov_p]) <= 0.05
    noise = 3 * math.sqrt(most * (1 - most) / 400)
    assert np.all(refused / 400 < most + noise)
    assert np.all(refused / 400 > 0.02)


def test_tests_of_clusters_refuse_right_probabilities_as_often_as_they_say():
    names = ("kuiper_p", "kolmogorov_smirnov_p", "spiegelhalter_p")
    refused = {True: np.zeros(3), False: np.zeros(3)}
    for seed in range(200):
        y, p, whose = clustered(seed, 50)
        for known, count in refused.items():
            count += [METRICS[n].function(y, p, cluster=whose if known else None) < 0.05 for n in names]
    assert np.all(refused[True] / 200 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200))
    assert np.all(refused[True] > 0)
    assert np.all(refused[False] / 200 > 0.3)


@pytest.mark.parametrize("key", ["kuiper_p", "kolmogorov_smirnov_p", "spiegelhalter_p"])
def test_clusters_of_one_row_are_rows_and_weights_of_clusters_repetitions(key):
    def found(y, p, weight=None, cluster=None):
        return METRICS[key].function(y, p, sample_weight=weight, cluster=cluster)

    y, p, whose = clustered(3, 60)
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    assert found(y, p, weight, whose) == pytest.approx(
        found(y[again], p[again], None, whose[again]), rel=1e-9
    )
    assert found(y, p, None, np.arange(len(y))) == pytest.approx(found(y, p), abs=0.08)
    with pytest.raises(InputError, match="cluster must .*one value per row"):
        found(y, p, None, whose[:-1])


def test_a_cluster_that_contradicts_alone_is_no_proof_and_many_are():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.2, 0.8, 4000)
    y = (rng.random(4000) < p + 0.15).astype(int)
    assert METRICS["kuiper_p"].function(y, p, cluster=np.arange(4000) // 20) == 1 / 400
    assert METRICS["kuiper_p"].function(y, p, cluster=np.zeros(4000)) == 1.0

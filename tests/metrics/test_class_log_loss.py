"""MCB − DSC + UNC of the log loss of K classes: its sum, the best temperature by search, and its intervals."""

import math

import numpy as np
import pytest
from scipy.special import softmax

from calib.metrics import log_loss
from calib.metrics.class_log_loss import decompose_class_log_loss


def drawn(power, seed, n=500, k=3):
    rng = np.random.default_rng(seed)
    true = softmax(1.5 * rng.normal(size=(n, k)) + np.arange(k) / 3, axis=1)
    y = (rng.random((n, 1)) > true.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    return y, true**power / (true**power).sum(axis=1, keepdims=True)


def test_the_parts_add_up_and_the_temperature_is_the_best_of_a_grid():
    y, P = drawn(2.0, 0)
    found = decompose_class_log_loss(y, P)
    assert found.mcb - found.dsc + found.unc == pytest.approx(log_loss(y, P))
    shares = np.bincount(y) / len(y)
    assert found.unc == pytest.approx(-(shares * np.log(shares)).sum())
    grid = np.linspace(0.5, 4, 701)
    losses = [log_loss(y, softmax(np.log(P) / T, axis=1)) for T in grid]
    assert found.temperature == pytest.approx(grid[np.argmin(losses)], abs=0.006)
    assert found.mcb == pytest.approx(log_loss(y, P) - min(losses), abs=1e-5)
    weighted = decompose_class_log_loss(y, P, np.full(len(y), 2.0))
    assert weighted[:4] == pytest.approx(found[:4])


def test_of_two_classes_the_shares_and_the_temperature_are_those_of_two():
    from calib.calibrators import CALIBRATORS

    y, P = drawn(1.7, 1, k=2)
    found, one = decompose_class_log_loss(y, P), CALIBRATORS["temperature"]().fit(P[:, 1], y)
    assert found.temperature == pytest.approx(one.T_, rel=1e-6)
    assert found.mcb == pytest.approx(log_loss(y, P[:, 1]) - log_loss(y, one.predict(P[:, 1])))


def test_intervals_include_the_population_as_often_as_they_say():
    for power, least in ((1.0, 0.0), (1.8, None)):
        y, P = drawn(power, 99, n=200_000)
        whole = decompose_class_log_loss(y, P)
        truth = {"mcb": whole.mcb if least is None else least, "dsc": whole.dsc, "unc": whole.unc}
        held = dict.fromkeys(truth, 0)
        for seed in range(150):
            ends = decompose_class_log_loss(*drawn(power, seed)).intervals
            for part, value in truth.items():
                held[part] += ends[part][0] <= value <= ends[part][1]
        for part, count in held.items():
            assert count / 150 > 0.95 - 3 * math.sqrt(0.95 * 0.05 / 150), (power, part)


@pytest.mark.parametrize("shares", [[1 / 26] * 26, [0.34, 0.33, 0.33], [0.7, 0.2, 0.1]], ids=len)
def test_intervals_of_unc_include_the_entropy_of_equal_and_of_unequal_shares(shares):
    """The interval of a mean included that of 26 equal shares in 6 of 100 sets."""
    shares = np.array(shares)
    rng, held, entropy = np.random.default_rng(0), 0, -(shares * np.log(shares)).sum()
    for _ in range(100):
        y = rng.choice(len(shares), 600, p=shares)
        found = decompose_class_log_loss(y, np.tile(shares, (600, 1)))
        low, high = found.intervals["unc"]
        assert low <= found.unc <= high <= math.log(len(shares)) + 1e-12
        held += low <= entropy + 1e-12 and entropy <= high + 1e-12
    assert held >= 89


def test_the_interval_of_unc_has_the_bias_and_the_error_of_a_multinomial():
    """Miller (1955): the observed entropy is too low by (K − 1)/2n; near equal shares its error is that of χ²."""
    counts = np.array([900, 250, 50])
    y, shares, n = np.repeat([0, 1, 2], counts), counts / counts.sum(), counts.sum()
    low, high = decompose_class_log_loss(y, np.tile(shares, (n, 1))).intervals["unc"]
    entropy = -(shares * np.log(shares)).sum()
    error = math.sqrt((shares @ np.log(shares) ** 2 - entropy**2) / n + 2 / (2 * n**2))
    assert (low + high) / 2 == pytest.approx(entropy + 2 / (2 * n), abs=1e-5)
    assert (high - low) / 2 == pytest.approx(1.96 * error, rel=0.005)


def test_the_entropy_of_clustered_rows_is_less_certain():
    y, P = np.arange(600) % 3, np.full((600, 3), 1 / 3)
    y[:150] = 0
    (low, high), (first, last) = (
        decompose_class_log_loss(y, P, cluster=cluster).intervals["unc"]
        for cluster in (None, np.arange(600) // 15)
    )
    assert last - first > 1.5 * (high - low)
    assert np.isnan(decompose_class_log_loss(y, P, cluster=np.zeros(600)).intervals["unc"]).all()
    few = np.r_[y, [3, 3]], np.full((602, 4), 1 / 4)
    assert np.isnan(decompose_class_log_loss(*few).intervals["unc"]).all()


def test_a_class_that_came_with_probability_zero_makes_the_miscalibration_infinite():
    y, P = drawn(1.0, 0)
    P[0] = np.roll(np.eye(3)[y[0]], 1)
    found = decompose_class_log_loss(y, P)
    assert found.mcb == math.inf
    assert np.isfinite([found.dsc, found.unc]).all()
    assert np.isnan(found.intervals["mcb"]).all()

"""Intervals of metrics of K classes: coverage by simulation, and equality with those of two classes."""

import math

import numpy as np
import pytest
from scipy.special import expit, logit

from calib.kernel.checks import InputError
from calib.metrics import accuracy, auc, brier_score, confidence_interval, log_loss
from calib.metrics.class_log_loss import decompose_class_log_loss
from calib.metrics.class_metric_intervals import (
    CALIBRATION_ERRORS,
    CLASS_METRIC_INTERVALS,
    ESTIMATES,
    Cells,
    _norm_intervals,
    _of_classes,
    class_metric_interval,
    corrected_interval,
)
from calib.metrics.distances import Noise

DRAWS, N, K = 150, 400, 3


def world(n, power, rng):
    true = np.exp(rng.normal(size=(n, K)) * 1.5 + np.arange(K) / 2)
    true /= true.sum(axis=1, keepdims=True)
    said = true**power
    return true, said / said.sum(axis=1, keepdims=True)


def cells(true, said):
    """|mean of truth − said| over the cells of each error, of many rows whose truth is known."""
    each, top = np.arange(len(true)), said.argmax(axis=1)

    def bins(p):
        return np.minimum((p * 15).astype(int), 14)

    def error(came, p, cell):
        return np.abs(np.bincount(cell, came - p)).sum() / len(p)

    first = true[each, top], said[each, top]
    return {
        "confidence_ece": error(*first, bins(first[1])),
        "top_label_ece": error(*first, bins(first[1]) * K + top),
        "classwise_ece": np.mean([error(true[:, k], said[:, k], bins(said[:, k])) for k in range(K)]),
        "accuracy": first[0].mean(),
        "log_loss": -(true * np.log(said)).sum(axis=1).mean(),
        "brier": (said**2 + true - 2 * true * said).sum(axis=1).mean(),
    }


def roots(true, said):
    """The root of the mean squared gap over the cells of each error, of many rows whose truth is known."""
    each, top = np.arange(len(true)), said.argmax(axis=1)

    def root(rows, came, p):
        cell, n = np.minimum((p[rows] * 15).astype(int), 14), rows.sum()
        count = np.bincount(cell, minlength=15)
        gaps = np.bincount(cell, (came - p)[rows], 15) / np.maximum(count, 1)
        return math.sqrt((count * gaps**2).sum() / n)

    all_rows, first = np.ones(len(true), bool), (true[each, top], said[each, top])
    return {
        "confidence_ece": root(all_rows, *first),
        "top_label_ece": sum((top == k).mean() * root(top == k, *first) for k in range(K)),
        "classwise_ece": np.mean([root(all_rows, true[:, k], said[:, k]) for k in range(K)]),
    }


@pytest.mark.parametrize("draws", [40, pytest.param(100, marks=pytest.mark.soak)])
@pytest.mark.parametrize("power", [1.0, 1.8])
def test_intervals_of_bias_corrected_errors_include_the_population_and_the_estimate(power, draws):
    truth = roots(*world(200_000, power, np.random.default_rng(99)))
    if power == 1:
        truth = dict.fromkeys(truth, 0.0)
    held = dict.fromkeys(truth, 0)
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        true, said = world(N, power, rng)
        y = (rng.random((N, 1)) > true.cumsum(axis=1)).sum(axis=1).clip(0, K - 1)
        for key, value in truth.items():
            low, high = corrected_interval(key, y, said)
            held[key] += low <= value <= high
            assert low <= ESTIMATES[key](y, said, debiased=True) <= high
    for key, count in held.items():
        assert count / draws > 0.95 - 3 * math.sqrt(0.95 * 0.05 / draws), key


@pytest.mark.parametrize("key", CALIBRATION_ERRORS)
def test_bias_corrected_errors_of_counts_are_those_of_rows(key):
    one = corrected_interval(key, Y, SAID, COUNT)
    other = corrected_interval(key, np.repeat(Y, COUNT), np.repeat(SAID, COUNT, axis=0))
    np.testing.assert_allclose(one, other, rtol=0.02, atol=5e-3)
    assert np.isnan(corrected_interval(key, Y, SAID, cluster=np.zeros(300))).all()


@pytest.mark.parametrize("power", [1.0, 1.8])
def test_intervals_include_the_population_as_often_as_they_say(power):
    true, said = world(200_000, power, np.random.default_rng(99))
    truth = cells(true, said)
    if power == 1:
        truth |= dict.fromkeys([key for key in truth if key.endswith("ece")], 0.0)
    held = dict.fromkeys(truth, 0)
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        true, said = world(N, power, rng)
        y = (rng.random((N, 1)) > true.cumsum(axis=1)).sum(axis=1).clip(0, K - 1)
        for key, value in truth.items():
            low, high = class_metric_interval(key, y, said)
            held[key] += low <= value <= high
    for key, count in held.items():
        assert count / DRAWS > 0.95 - 3 * math.sqrt(0.95 * 0.05 / DRAWS), key


def test_the_interval_of_the_auc_includes_it_as_often_as_it_says():
    rng = np.random.default_rng(0)
    true, said = world(100_000, 1.0, rng)
    y = (rng.random((100_000, 1)) > true.cumsum(axis=1)).sum(axis=1).clip(0, K - 1)
    truth, held = auc(y, said), 0
    for i in range(200):
        low, high = class_metric_interval("auc", y[i * 500 : (i + 1) * 500], said[i * 500 : (i + 1) * 500])
        held += low <= truth <= high
    assert held / 200 > 0.9


def test_the_ends_of_a_corrected_error_are_those_of_a_search_among_all_sizes():
    """For the observed gaps, and for gaps without the part of their squares that noise explains, cell by cell."""
    share, view = np.array([0.1, 0.3, 0.2, 0.25, 0.15]), np.array([0, 0, 2, 2, 2])
    gaps, deviation = np.array([0.02, -0.05, 0.04, 0.01, -0.03]), np.array([0.015, 0.02, 0.01, 0.02, 0.01])
    draws = np.random.default_rng(0).normal(size=(500, 5)) * deviation
    noise, sizes = Noise(gaps, draws, deviation, 100), np.arange(0, 0.4, 0.001)
    shapes = gaps, np.sign(gaps) * np.sqrt(np.maximum(gaps**2 - deviation**2, 0))

    def norm(moved, less=0.0):
        squares = (moved**2 - less) / share
        return sum(
            np.sqrt(share[view == v].sum() * np.maximum(squares[..., view == v].sum(axis=-1), 0))
            for v in (0, 2)
        )

    found = _norm_intervals(Cells(None, share, view), noise, norm(gaps, deviation**2), 0.8)
    for shape, ends in zip(shapes, found, strict=True):
        moved = sizes[:, None, None] * shape / norm(shape) + draws
        low, high = np.quantile(norm(moved, deviation**2), [0.1, 0.9], axis=1)
        kept = sizes[(low <= norm(gaps, deviation**2)) & (norm(gaps, deviation**2) <= high)]
        assert ends == pytest.approx((kept.min(), kept.max()), abs=0.0011)
        assert kept.min() > 0


RNG = np.random.default_rng(1)
TRUE, SAID = world(300, 1.4, RNG)
Y = (RNG.random((300, 1)) > TRUE.cumsum(axis=1)).sum(axis=1).clip(0, K - 1)
COUNT = RNG.integers(1, 4, 300)


@pytest.mark.parametrize("key", CLASS_METRIC_INTERVALS)
def test_counts_are_rows_and_clusters_of_one_row_are_almost_rows(key):
    one = class_metric_interval(key, Y, SAID, COUNT)
    other = class_metric_interval(key, np.repeat(Y, COUNT), np.repeat(SAID, COUNT, axis=0))
    np.testing.assert_allclose(one, other, rtol=0.02, atol=2e-3)
    alone, plain = (
        class_metric_interval(key, Y, SAID, cluster=np.arange(300)),
        class_metric_interval(key, Y, SAID),
    )
    np.testing.assert_allclose(alone, plain, atol=0.02)
    assert np.isnan(class_metric_interval(key, Y, SAID, cluster=np.zeros(300))).all()


def test_confidence_is_that_of_two_classes_and_values_lie_inside():
    right, top = SAID.argmax(axis=1) == Y, SAID.max(axis=1)
    for bins in ({"bins": 15}, {"bins": 6, "strategy": "quantile"}, {"bins": [0, 0.5, 0.7, 1]}):
        assert class_metric_interval("confidence_ece", Y, SAID, **bins) == pytest.approx(
            confidence_interval("ece", right, top, **bins), abs=5e-3
        )
    assert class_metric_interval("accuracy", Y, SAID) == confidence_interval(
        "accuracy", right, np.maximum(top, 0.51)
    )
    for key, function in (
        ("log_loss", log_loss),
        ("brier", brier_score),
        ("accuracy", accuracy),
        ("auc", auc),
    ):
        low, high = class_metric_interval(key, Y, SAID)
        assert low < function(Y, SAID) < high


def test_of_two_classes_the_auc_has_delongs_interval():
    p, y = SAID[:, 0] / (SAID[:, 0] + SAID[:, 1]), (Y == 1).astype(int)
    both = np.column_stack([p, 1 - p])
    ours, delong = class_metric_interval("auc", y, both), confidence_interval("auc", y, 1 - p)
    middle = [logit(end) for end in ours]
    assert expit(sum(middle) / 2) == pytest.approx(auc(y, 1 - p))
    np.testing.assert_allclose(ours, delong, atol=2e-3)


def test_an_interval_that_would_not_cover_is_not_given():
    few = np.r_[np.zeros(40, int), np.ones(40, int), [2] * 4]
    P = RNG.dirichlet([1, 1, 1], 84)
    assert np.isnan(class_metric_interval("auc", few, P)).all()
    many = RNG.dirichlet(np.full(100, 0.02), 4000)
    assert np.isnan(class_metric_interval("classwise_ece", many.argmax(axis=1), many)).all()
    with pytest.raises(InputError, match="metric must be one of"):
        class_metric_interval("ece", Y, SAID)


def test_a_class_without_rows_leaves_the_auc_and_the_entropy_without_an_interval():
    """Like a class with 1 to 4 rows: the interval over the other classes holds the population's value in 3 %."""
    rng = np.random.default_rng(0)
    true, said = world(N, 1.0, rng)
    y = (rng.random((N, 1)) > true.cumsum(axis=1)).sum(axis=1)
    for few in range(6):
        kept = np.r_[np.flatnonzero(y < 2), np.flatnonzero(y == 2)[:few]]
        ends = class_metric_interval("auc", y[kept], said[kept])
        unc = decompose_class_log_loss(y[kept], said[kept]).intervals["unc"]
        assert np.isnan([*ends, *unc]).all() == (few < 5)


def test_bins_of_different_classes_are_different_cells():
    P = np.random.default_rng(0).dirichlet([1, 1, 1], 200)
    cells = list(_of_classes(np.arange(200) % 3, P, lambda p, at: (10 * p).astype(int)))
    assert len(np.concatenate([np.unique(number) for *_, number, _ in cells])) == len(
        {float(number) for *_, numbers, _ in cells for number in numbers}
    )

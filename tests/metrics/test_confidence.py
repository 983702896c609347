"""Intervals of single numbers, against the bootstrap, pairs counted by hand, and how often they hold the truth."""

import numpy as np
import pytest
from scipy.special import expit, logit, ndtri

from calib.metrics import METRICS, bootstrap_interval
from calib.metrics.confidence import INTERVALS, confidence_interval

Z = float(ndtri(0.975))


def rows(seed, n=400):
    rng = np.random.default_rng(seed)
    x = rng.normal(-0.5, 1.2, n)
    return (rng.random(n) < expit(x)).astype(int), expit(0.3 + 1.3 * x).round(2)


@pytest.mark.parametrize("positives", [2, 3, 10, 150])
def test_auc_has_delongs_interval(positives):
    """Counted pair by pair: the variances of the placements of either class, each over its rows."""
    y, p = rows(0)
    kept = (y == 0) | (np.cumsum(y) <= positives)
    y, p = y[kept], p[kept]
    one, zero = p[y == 1], p[y == 0]
    wins = (one[:, None] > zero) + 0.5 * (one[:, None] == zero)
    area = wins.mean()
    error = np.sqrt(wins.mean(axis=1).var(ddof=1) / len(one) + wins.mean(axis=0).var(ddof=1) / len(zero))
    expected = expit(logit(area) + np.array([-1, 1]) * Z * error / (area * (1 - area)))
    np.testing.assert_allclose(confidence_interval("auc", y, p), expected, rtol=1e-9)


def test_of_one_row_of_a_class_the_spread_of_auc_is_not_known():
    y, p = rows(0)
    kept = (y == 0) | (np.cumsum(y) == 1)
    assert np.isnan(confidence_interval("auc", y[kept], p[kept])).all()
    assert np.isnan(confidence_interval("auc", 1 - y[kept], 1 - p[kept])).all()


@pytest.mark.parametrize("metric", INTERVALS)
def test_each_comes_to_what_the_bootstrap_says(metric):
    y, p = rows(1, 600)
    drawn = bootstrap_interval(metric, y, p, repeats=80 if metric == "ici" else 300, random_state=0)
    low, high = confidence_interval(metric, y, p)
    # Resampling adds noise to distances
    assert low < METRICS[metric].function(y, p) < high or metric in ("ici", "ece")
    width = drawn.upper - drawn.lower
    assert (high - low) / width == pytest.approx(1, abs=0.25)
    assert abs((low + high) - (drawn.lower + drawn.upper)) / 2 < 0.25 * width


@pytest.mark.parametrize("metric", INTERVALS)
def test_counts_are_repeated_rows(metric):
    y, p = rows(2, 150)
    counts = np.random.default_rng(0).integers(1, 4, 150)
    repeated = confidence_interval(metric, np.repeat(y, counts), np.repeat(p, counts))
    tolerance = 0.1 if metric in ("ici", "ece") else 1e-9  # those are drawn
    np.testing.assert_allclose(
        confidence_interval(metric, y, p, counts), repeated, rtol=tolerance, atol=1e-12
    )


@pytest.mark.parametrize("metric", INTERVALS)
def test_rows_that_come_in_copies_count_once(metric):
    """Five copies of each row, told as clusters, know no more than the rows."""
    y, p = rows(3, 300)
    copies = np.arange(300).repeat(5)
    low, high = confidence_interval(metric, y.repeat(5), p.repeat(5), cluster=copies)
    first, last = confidence_interval(metric, y, p)
    blind, blinder = confidence_interval(metric, y.repeat(5), p.repeat(5))
    assert (high - low) / (last - first) == pytest.approx(1, abs=0.15)
    assert blinder - blind < 0.6 * (high - low)


def test_a_class_that_counts_more_knows_no_more():
    """AUC asks for no base rate: weights by class change neither it nor its interval."""
    y, p = rows(5)
    weights = np.where(y == 1, 0.25, 1.5)
    expected = confidence_interval("auc", y, p)
    np.testing.assert_allclose(confidence_interval("auc", y, p, weights), expected, rtol=2e-3)
    drawn = bootstrap_interval("brier", y, p, sample_weight=weights, random_state=0)
    low, high = confidence_interval("brier", y, p, weights)
    assert (high - low) / (drawn.upper - drawn.lower) == pytest.approx(1, abs=0.1)


def test_half_a_million_rows_are_no_trouble_and_certain_mistakes_have_no_interval():
    y, p = rows(4, 500_000)
    low, high = confidence_interval("ici", y, p)
    assert low < METRICS["ici"].function(y, p) < high
    assert np.isnan(confidence_interval("log_loss", [0, 1], [1.0, 0.5])).all()
    assert np.isnan(confidence_interval("auc", [0, 1, 0, 1], [0.1, 0.9, 0.2, 0.8])).all()

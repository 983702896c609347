"""The test of calibration: exact by enumeration, ranks by a plain loop, one answer however rows are written."""

from itertools import product

import numpy as np
import pytest
from scipy.special import logit

from calib.kernel.rows import Rows
from calib.metrics.calibration_test import (
    ALPHA,
    MOST_SINGLE_REDRAWS,
    TEST_BINS,
    _bins,
    _p_values,
    calibration_test,
    largest_average_gap,
)

FEW = 199  # redraws: 5 % of 200 is a whole number


def made(n, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    p = rng.random(n).round(2)
    return (rng.random(n) < np.clip(p + shift, 0, 1)).astype(int), p


@pytest.mark.parametrize(
    "p",
    [
        [0.5] * 8,
        [0.1, 0.2, 0.4, 0.5, 0.6, 0.8, 0.9, 0.95],
        [0.02] * 7,
        [0.0, 0.3, 0.3, 0.7, 0.7, 1.0],
    ],
)
def test_a_calibrated_model_is_rejected_with_at_most_5_percent(p):
    """All labels of eight rows, each by its probability; the mean over seeds of the redraws."""
    p, rejected = np.array(p), []
    for seed in range(4):
        total = 0.0
        for y in product([0, 1], repeat=len(p)):
            chance = np.prod(np.where(np.array(y) == 1, p, 1 - p))
            if chance > 0:
                total += chance * calibration_test(Rows(np.array(y)), p, FEW, seed).rejects
        rejected.append(total)
    # for given redraws the rate varies about its mean, by at most a standard error of 199 draws at 5 %
    assert np.mean(rejected) <= ALPHA + 2 * np.sqrt(ALPHA * (1 - ALPHA) / FEW / len(rejected))


def test_ranks_are_those_of_a_plain_loop():
    found = np.random.default_rng(3).integers(0, 6, (50, 3)).astype(float)  # with ties
    loop = [[sum(other >= one for other in column) / len(column) for one in column] for column in found.T]
    np.testing.assert_array_equal(_p_values(found), np.transpose(loop))


# The three statistics of residuals (r, n) in the order of p; x is the log-odds, centred
DEFINED = {
    "level": lambda residuals, p, x: np.abs(residuals.sum(axis=1)),
    "slope": lambda residuals, p, x: np.abs((residuals * x).sum(axis=1)),
    "shape": lambda residuals, p, x: np.ptp(
        np.column_stack([residuals @ (p <= each) for each in (-1, *p)]), axis=1
    ),
}


@pytest.mark.parametrize(
    ("clustered", "weighted", "counted"),
    [
        (False, False, False),
        (False, True, False),
        (False, True, True),
        (True, False, False),
        (True, True, False),
    ],
)
def test_each_look_has_the_p_value_of_all_redraws(clustered, weighted, counted):
    """All labels of eight rows by their probability, or all signs of eight clusters."""
    rng, times = np.random.default_rng(0), np.array([1, 3, 2, 2] * (3 if clustered else 1))
    n, every = times.sum(), np.array(list(product([0, 1], repeat=8)))
    lines = np.r_[0, np.cumsum(times)[:-1]] if counted else np.arange(n)
    p, weights = np.sort(rng.beta(1, 3, len(times))).repeat(times), np.ones(n)
    if weighted:
        weights = rng.gamma(2, size=len(lines)).repeat(times if counted else 1)
    cluster = rng.permutation(n) % 8 if clustered else None
    x = logit(p) - np.average(logit(p), weights=weights**2 * p * (1 - p))
    for _ in range(8):
        y = rng.integers(0, 2, len(lines)).repeat(times if counted else 1)
        seen = weights * (y - p)
        if clustered:
            residuals, chance = (2 * every - 1)[:, cluster] * seen, np.full(256, 1 / 256)
        else:
            residuals, chance = weights * (every - p), np.where(every, p, 1 - p).prod(axis=1)
        rows = Rows(y, weight=weights if weighted else None, cluster=cluster)
        if counted:
            rows = Rows(y[lines], weight=weights[lines] * times, counts=times.astype(float))
        found = calibration_test(rows, p[lines], redraws=9999).looks
        for look, of in DEFINED.items():
            exact = min(chance[of(residuals, p, x) >= of(seen[None], p, x) - 1e-12].sum(), 1)
            assert found[look] == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 9999) + 1e-4)


@pytest.mark.parametrize("clustered", [False, True])
def test_there_are_as_many_redraws_as_asked_for_however_many_rows(clustered):
    """They are drawn in several parts; the smallest p-value is 1 / (1 + B)."""
    p, cluster = np.linspace(0.3, 0.9, 2100), np.arange(2100) if clustered else None
    assert calibration_test(Rows(np.zeros(2100, int), cluster=cluster), p).p_value == 1 / 1000


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_the_order_of_rows_is_irrelevant(shift):
    y, p = made(300, 1, shift)
    order = np.random.default_rng(2).permutation(300)
    one, other = calibration_test(Rows(y), p), calibration_test(Rows(y[order]), p[order])
    assert one.p_value == other.p_value
    assert one.looks == other.looks


def test_whole_weights_are_repeated_rows():
    y, p = made(200, 4, 0.05)
    counts = np.random.default_rng(5).integers(1, 5, 200)
    one = calibration_test(Rows(y, weight=counts.astype(float)), p)
    other = calibration_test(Rows(np.repeat(y, counts)), np.repeat(p, counts))
    assert one.p_value == other.p_value
    assert one.unseen == pytest.approx(other.unseen)


def test_many_rows_in_groups_agree_with_rows_one_by_one(monkeypatch):
    rng = np.random.default_rng(6)
    n = MOST_SINGLE_REDRAWS + 10_000
    p = rng.random(n)
    y = (rng.random(n) < np.clip(p + 0.003, 0, 1)).astype(int)
    grouped = calibration_test(Rows(y), p, FEW)
    monkeypatch.setattr("calib.metrics.calibration_test.MOST_SINGLE_REDRAWS", n)
    single = calibration_test(Rows(y), p, FEW)
    for look in single.looks:
        mean = (single.looks[look] + grouped.looks[look]) / 2
        assert abs(single.looks[look] - grouped.looks[look]) < 4 * np.sqrt(2 * mean * (1 - mean) / FEW) + 0.01
    assert grouped.unseen == pytest.approx(single.unseen, rel=0.25)


def test_one_class_is_judged_too():
    zeros = np.zeros(100, int)
    assert not calibration_test(Rows(zeros), np.full(100, 0.01)).rejects
    assert calibration_test(Rows(zeros), np.full(100, 0.2)).rejects


def test_certain_and_right_is_no_error_and_certain_and_wrong_is_impossible():
    y = np.array([0, 1] * 20)
    right, wrong = (calibration_test(Rows(y), p.astype(float)) for p in (y, 1 - y))
    assert (right.p_value, right.impossible, right.unseen) == (1.0, 0, 0.0)
    assert wrong.rejects
    assert wrong.impossible == 40


def test_an_impossible_label_rejects_and_leaves_level_slope_and_shape_to_the_other_rows():
    y, p = made(500)
    alone = calibration_test(Rows(y), p)
    found = calibration_test(Rows(np.r_[y, 1, 0]), np.r_[p, 0.0, 1.0])
    assert (found.impossible, found.rejects, alone.rejects) == (2, True, False)
    assert (found.p_value, found.looks, found.unseen) == (alone.p_value, alone.looks, alone.unseen)


def test_one_cluster_rejects_nothing_and_clusters_err_more_than_rows():
    y, p = made(400, 7, 0.1)
    assert not calibration_test(Rows(y, cluster=np.zeros(400, int)), p).rejects
    assert calibration_test(Rows(y), p).rejects


def test_the_gap_that_is_said_to_be_seen_is_seen_in_about_80_percent():
    p, rng = np.full(400, 0.4), np.random.default_rng(8)
    gap = calibration_test(Rows((rng.random(400) < p).astype(int)), p, FEW).unseen
    found = [
        calibration_test(Rows((rng.random(400) < p + gap).astype(int)), p, FEW).rejects for _ in range(300)
    ]
    assert 0.7 < np.mean(found) < 0.92


@pytest.mark.parametrize("gap", [0.0, 0.05])
def test_the_largest_average_gap_covers_the_true_one(gap):
    rng = np.random.default_rng(9)
    covers = []
    for _ in range(300):
        p = 0.1 + 0.7 * rng.random(500)
        covers.append(largest_average_gap(Rows((rng.random(500) < p + gap).astype(int)), p) >= gap)
    assert np.mean(covers) >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / 300)


def tied(rng, n=20_000):
    """Three predictions, of which the smallest is a tenth of the frequency and has little Σ p (1 − p)."""
    value = rng.choice(3, n, p=(0.6, 0.2, 0.2))
    p, true = np.array([0.001, 0.05, 0.5])[value], np.array([0.01, 0.023, 0.5])[value]
    return p, (rng.random(n) < true).astype(int), float(np.abs(p - true).mean())


@pytest.mark.parametrize("seed", range(5))
def test_opposite_gaps_of_distinct_values_do_not_cancel(seed):
    p, y, gap = tied(np.random.default_rng(seed))
    assert gap == pytest.approx(0.0108, abs=0.0003)
    assert calibration_test(Rows(y), p, FEW).rejects
    assert gap < largest_average_gap(Rows(y), p) < 2 * gap


@pytest.mark.soak
def test_the_largest_average_gap_of_three_values_covers_the_true_one():
    rng, covers = np.random.default_rng(0), []
    for _ in range(300):
        p, y, gap = tied(rng)
        covers.append(largest_average_gap(Rows(y), p) >= gap)
    assert np.mean(covers) >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / 300)


def test_bins_keep_few_values_and_large_ones_apart_and_ties_together():
    few = np.repeat([0.9, 0.001, 0.002], [1, 5000, 2])
    assert _bins(Rows(np.zeros(5003, int)), few).tolist() == [2] + [0] * 5000 + [1] * 2
    rng = np.random.default_rng(10)
    p = np.r_[np.full(3000, 0.001), rng.random(1000).round(3), np.full(200, 0.3)]
    at = _bins(Rows(np.zeros(len(p), int)), p)
    for value in (0.001, 0.3):
        assert (np.unique(p[at == at[p == value][0]]) == value).all()
    assert all(len(set(at[p == value])) == 1 for value in np.unique(p))
    assert (np.diff(at[np.argsort(p)]) >= 0).all()
    # of the rows and of their chance variance, no bin of several values has much more than its part
    halves = np.vstack([np.ones(len(p)) / len(p), p * (1 - p) / (p * (1 - p)).sum()])
    parts = [halves[:, at == b].sum() / 2 for b in set(at) if len(set(p[at == b])) > 1]
    assert max(parts) < 1.5 / TEST_BINS

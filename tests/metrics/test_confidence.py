"""Intervals of single numbers, against the bootstrap, pairs counted by hand, and how often they hold the truth."""

import numpy as np
import pytest
from scipy.special import expit, logit, ndtri
from scipy.stats import binomtest
from scipy.stats import t as student

from calib.kernel.checks import InputError
from calib.kernel.rows import Rows
from calib.metrics import METRICS, bootstrap_interval
from calib.metrics.confidence_intervals import (
    INTERVALS,
    View,
    confidence_interval,
    mean_interval,
    why_missing,
)
from calib.metrics.paired_intervals import difference_interval
from calib.metrics.slope import calibration_line
from scripts.worlds import draw, world
from tests.intervals import joined

Z = float(ndtri(0.975))
DISTANCES = ("ece", "ici", "smooth_ece")  # conservative, with drawn noise


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
    quantile = student.ppf(0.975, min(len(one), len(zero)) - 1)
    expected = expit(logit(area) + np.array([-1, 1]) * quantile * error / (area * (1 - area)))
    np.testing.assert_allclose(confidence_interval("auc", y, p), expected, rtol=1e-9)


def test_of_one_row_of_a_class_the_spread_of_auc_is_not_known():
    y, p = rows(0)
    kept = (y == 0) | (np.cumsum(y) == 1)
    assert np.isnan(confidence_interval("auc", y[kept], p[kept])).all()
    assert np.isnan(confidence_interval("auc", 1 - y[kept], 1 - p[kept])).all()


@pytest.mark.parametrize("metric", [key for key in INTERVALS if key not in DISTANCES])
def test_of_many_rows_each_comes_to_what_the_bootstrap_says(metric):
    y, p = rows(1, 600)
    drawn = bootstrap_interval(metric, y, p, repeats=300, random_state=0)
    low, high = confidence_interval(metric, y, p)
    assert low < METRICS[metric].function(y, p) < high
    width = drawn.upper - drawn.lower
    assert (high - low) / width == pytest.approx(1, abs=0.25)
    assert abs((low + high) - (drawn.lower + drawn.upper)) / 2 < 0.25 * width


def losses(metric, y, p):
    return (p - y) ** 2 if metric == "brier" else -np.log(np.where(y == 1, p, 1 - p))


@pytest.mark.parametrize("metric", ["brier", "log_loss"])
def test_means_of_losses_are_joined_from_their_classes(metric):
    y, p = rows(6, 80)
    np.testing.assert_allclose(confidence_interval(metric, y, p), joined(y, losses(metric, y, p)), rtol=1e-9)


def test_a_mean_of_costs_has_agresti_and_mins_interval_of_each_class():
    y = np.repeat([0, 1], [60, 40])
    costs = np.r_[np.repeat([0.25, -0.25, 0.0], [9, 4, 47]), np.repeat([-1.0, 1.0, 0.0], [12, 3, 25])]
    steps = (0.25, 1.0)
    np.testing.assert_allclose(mean_interval(Rows(y), costs, steps=steps)[1:], joined(y, costs, steps))


def test_accuracy_has_wilsons_interval():
    y, p = rows(7, 60)
    right = int(((p > 0.5) == y).sum())
    expected = binomtest(right, 60).proportion_ci(method="wilson")
    np.testing.assert_allclose(confidence_interval("accuracy", y, p), [expected.low, expected.high])


def test_clusters_without_a_wrong_row_are_one_right_draw_each():
    """Wilson's lower end for 20 right draws is 20 / (20 + t²)."""
    y = np.tile([0, 1], 60)
    low, high = confidence_interval("accuracy", y, y, cluster=np.arange(120) // 6)
    assert (low, high) == pytest.approx((20 / (20 + student.ppf(0.975, 19) ** 2), 1))


def test_observed_over_expected_has_wilsons_interval_of_as_many_rows_as_know_the_ratio_as_well():
    """Wilson's ends solve |f − q| = z √(q (1 − q) / n), with f (1 − f) / n the jackknife's variance of O/E times ē²."""
    y, p = rows(7, 400)
    left_out = (y.sum() - y) / (p.sum() - p)
    variance = 399 / 400 * ((left_out - left_out.mean()) ** 2).sum() * p.mean() ** 2
    f = y.mean()
    n = f * (1 - f) / variance
    assert n > 1.2 * 400  # the predictions rank, so that the expected number varies with the observed one
    for end in confidence_interval("observed_expected", y, p):
        q = end * p.mean()
        assert abs(f - q) == pytest.approx(1.96 * np.sqrt(q * (1 - q) / n), rel=0.005)


@pytest.mark.soak
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_observed_over_expected_covers_where_extreme_predictions_do_not_rank(share):
    rng, covers = np.random.default_rng(0), []
    for _ in range(400):
        y, p = ((rng.random(200) < share).astype(float) for _ in range(2))
        low, high = confidence_interval("observed_expected", y.astype(int), p)
        covers.append(low <= 1 <= high)
    assert np.mean(covers) >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.soak
@pytest.mark.parametrize(("clusters", "unequal"), [(20, 1.0), (20, 1.5), (40, 1.5), (200, 1.0)])
def test_intervals_cover_with_clusters_of_very_different_sizes(clusters, unequal):
    """Without the correction 85 to 91 % cover; the bound is 92 %, less two standard errors of 200 draws."""
    of, rng, covers = world(0.5, 2.0), np.random.default_rng(clusters), {}
    for _ in range(200):
        drawn = draw(of, 1000, rng, clusters=clusters, unequal=unequal)
        sample = Rows(drawn.y, cluster=drawn.cluster)
        for metric in ("brier", "log_loss", "accuracy", "observed_expected", "auc", "slope"):
            low, high = INTERVALS[metric].ends(sample, drawn.p, View())
            covers.setdefault(metric, []).append(low <= of.value(metric) <= high)
        for metric in ("brier", "log_loss"):
            _, low, high = difference_interval(metric, sample, drawn.forecasts["platt"], drawn.p)
            true = of.value(metric, "platt") - of.value(metric)
            covers.setdefault(f"change in {metric}", []).append(low <= true <= high)
    shares = {name: float(np.mean(each)) for name, each in covers.items()}
    assert min(shares.values()) >= 0.92 - 2 * np.sqrt(0.92 * 0.08 / 200), shares


def test_the_level_has_whites_standard_error_by_the_definition():
    """HC3, written out: (XᵀWX)⁻¹ Xᵀ diag(e² / (1 − h)²) X (XᵀWX)⁻¹ for the one column of ones."""
    y, p = rows(8, 200)
    a = METRICS["in_the_large"].function(y, p)
    fitted = expit(logit(p) + a)
    held = fitted * (1 - fitted)
    variance = np.sum(((y - fitted) / (1 - held / held.sum())) ** 2) / held.sum() ** 2 * 200 / 199
    low, high = confidence_interval("in_the_large", y, p)
    assert (high - low) / 2 == pytest.approx(Z * np.sqrt(variance))


def test_nothing_is_certain_of_few_rows():
    """Widths of 0 for one row or 50 right ones, an accuracy above 1, a Brier score below 0: all were printed."""
    y = np.array([0, 1] * 25)
    low, high = confidence_interval("accuracy", y, y)
    assert (round(low, 3), high) == (0.929, 1.0)
    for metric in ("brier", "log_loss", "brier_skill", "auc"):
        assert np.isnan(confidence_interval(metric, [1], [0.5])).all(), metric
    ends = [
        confidence_interval(metric, np.ones(9, int), np.full(9, 0.5))
        for metric in ("accuracy", "observed_expected")
    ]
    assert all(high - low > 0.1 for low, high in ends)
    y, p = np.r_[np.ones(6, int), np.zeros(44, int)], np.r_[np.full(6, 0.9), np.full(44, 0.05)]
    low, high = confidence_interval("brier", y, p)
    assert 0 <= low < high <= 1
    y[:4] = 0
    assert np.isnan(confidence_interval("brier", y, p)).all()
    assert why_missing(Rows(y)).endswith("the minority class has 2.")


@pytest.mark.parametrize("metric", INTERVALS)
def test_counts_are_repeated_rows(metric):
    y, p = rows(2, 150)
    counts = np.random.default_rng(0).integers(1, 4, 150)
    repeated = confidence_interval(metric, np.repeat(y, counts), np.repeat(p, counts))
    tolerance = 1e-6 if metric in DISTANCES else 1e-9
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


def test_very_unequal_clusters_leave_the_ratio_unknown_instead_of_astronomical():
    """One cluster of 980 rows and ten of 2 are worth about two clusters."""
    rng = np.random.default_rng(1)
    cluster = np.r_[np.zeros(980, int), np.repeat(np.arange(1, 11), 2)]
    y = (rng.random(1000) < np.where(cluster == 0, 0.1, 0.9)).astype(int)
    low, high = confidence_interval("observed_expected", y, np.full(1000, 0.1), cluster=cluster)
    assert (low, high) == (0.0, np.inf)


def test_without_each_cluster_the_calibration_line_moves_as_a_new_fit_says():
    rng = np.random.default_rng(1)
    cluster, x = np.arange(3000) // 100, rng.normal(size=3000)
    y = (rng.random(3000) < expit(0.7 * x + rng.normal(size=30)[cluster] / 2)).astype(int)
    p = expit(x)
    fits = [calibration_line(y[cluster != k], p[cluster != k]) for k in range(30)]
    quantile = student.ppf(0.975, 29)
    for name in ("slope", "intercept", "in_the_large"):
        each = np.array([getattr(fit, name) for fit in fits])
        error = np.sqrt(29 / 30 * np.sum((each - each.mean()) ** 2))
        value = getattr(calibration_line(y, p), name)
        low, high = confidence_interval(name, y, p, cluster=cluster)
        assert high - value == pytest.approx(quantile * error, rel=0.01)
        assert value - low == pytest.approx(quantile * error, rel=0.01)


@pytest.mark.parametrize("name", ["slope", "intercept", "in_the_large"])
def test_with_weights_the_calibration_line_varies_as_it_moves_without_each_row(name):
    rng = np.random.default_rng(2)
    x, weight = rng.normal(size=400), rng.uniform(0.5, 4, size=400)
    y, p = (rng.random(400) < expit(0.7 * x)).astype(int), expit(x)
    every = [np.delete(np.arange(400), i) for i in range(400)]
    moves = [getattr(calibration_line(y[i], p[i], weight[i]), name) for i in every]
    value = getattr(calibration_line(y, p, weight), name)
    low, high = confidence_interval(name, y, p, weight)
    error = np.sqrt(np.sum((np.array(moves) - value) ** 2))
    assert (high - low) / 2 == pytest.approx(ndtri(0.975) * error, rel=0.02)
    assert high + low == pytest.approx(2 * value, rel=1e-6)


def test_a_line_that_needs_one_cluster_has_no_interval():
    """Outside the first cluster, all predictions are equal."""
    p = np.r_[np.full(50, 0.2), np.full(150, 0.6)]
    y = np.tile([0, 1], 100)
    assert np.isnan(confidence_interval("slope", y, p, cluster=np.arange(200) // 50)).all()


def test_skewed_clusters_move_the_end_of_a_mean_loss_further_only_where_it_must():
    """One cluster of twenty with a large loss: the upper end is farther from the mean than the lower."""
    y, p = np.tile([0, 1], 200), np.full(400, 0.5)
    p[:20] = np.where(y[:20] == 1, 0.05, 0.95)
    cluster = np.arange(400) // 20
    low, high = confidence_interval("brier", y, p, cluster=cluster)
    rows, losses = Rows(y, cluster=cluster), (y - p) ** 2
    half = student.ppf(0.975, 19) * rows.standard_error(losses)
    assert losses.mean() - low == pytest.approx(half)
    assert high - losses.mean() > 1.3 * half


def test_a_change_of_accuracy_has_agresti_and_mins_interval_and_students_over_clusters():
    y, p = rows(3, 200)
    other, cluster = np.roll(p, 1), np.arange(200) // 10
    change = ((other > 0.5) == y).astype(float) - ((p > 0.5) == y)
    up, down = (change > 0).sum() + 0.5, (change < 0).sum() + 0.5
    middle = (up - down) / 202
    half = Z * np.sqrt((up + down) / 202 - middle**2) / np.sqrt(202)
    found = difference_interval("accuracy", Rows(y), other, p)
    np.testing.assert_allclose(found, [change.mean(), middle - half, middle + half])
    four = Rows(np.array([0, 1, 0, 1]))  # Agresti and Min's end is 4 / 6 + 0.496
    assert difference_interval("accuracy", four, four.y + 0.0, 1.0 - four.y)[2] == 1
    assert difference_interval("accuracy", four, 1.0 - four.y, four.y + 0.0)[1] == -1
    half = student.ppf(0.975, 19) * change.reshape(20, 10).mean(axis=1).std(ddof=1) / np.sqrt(20)
    found = difference_interval("accuracy", Rows(y, cluster=cluster), other, p)
    np.testing.assert_allclose(found, change.mean() + half * np.array([0, -1, 1]))


@pytest.mark.parametrize("metric", ["brier", "log_loss"])
def test_the_change_of_a_loss_has_the_interval_of_the_rows_changes(metric):
    y, p = rows(5)
    first, second = np.clip(1.2 * p, 0.01, 0.99), np.clip(p, 0.01, 0.99)
    change = losses(metric, y, first) - losses(metric, y, second)
    value, *ends = difference_interval(metric, Rows(y), first, second)
    np.testing.assert_allclose(ends, joined(y, change), rtol=1e-9)
    assert value == pytest.approx(METRICS[metric].function(y, first) - METRICS[metric].function(y, second))


def test_both_ends_of_the_brier_skill_are_those_of_resampling():
    y, p = rows(3, 2000)
    at = np.random.default_rng(0).integers(2000, size=(4000, 2000))
    share = y[at].mean(axis=1)
    skill = 1 - losses("brier", y, p)[at].mean(axis=1) / (share * (1 - share))
    ends = np.quantile(skill, [0.025, 0.975])
    np.testing.assert_allclose(confidence_interval("brier_skill", y, p), ends, atol=0.1 * np.ptp(ends))


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1])
def test_a_level_is_between_0_and_1(level):
    with pytest.raises(InputError, match="level"):
        confidence_interval("brier", *rows(0), level=level)

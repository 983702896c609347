import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression

from calib.analysis.curves import binned_curve, binomial_interval, corp_curve, histogram, smooth_curve
from calib.kernel.checks import InputError
from tests.metrics.cases import labelled, random_case
from tests.vectors import vector


def calibrated(seed, n, draw=lambda rng, n: rng.random(n)):
    rng = np.random.default_rng(seed)
    p = draw(rng, n)
    return (rng.random(n) < p).astype(int), p


# --- binomial intervals
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("interval", "scipys"), [("wilson", "wilson"), ("clopper_pearson", "exact")])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_binomial_intervals_are_scipys(interval, scipys, level):
    for n in (1, 7, 60):
        lower, upper = binomial_interval(np.arange(n + 1), n, level=level, interval=interval)
        for k in range(n + 1):
            expected = binomtest(k, n).proportion_ci(level, method=scipys)
            assert [lower[k], upper[k]] == pytest.approx([expected.low, expected.high], abs=1e-9)
        assert lower[0] == 0
        assert upper[-1] == 1


def test_clopper_pearson_never_covers_less_than_its_level():
    for n, p in [(10, 0.3), (40, 0.05), (25, 0.5)]:
        lower, upper = binomial_interval(np.arange(n + 1), n, interval="clopper_pearson")
        covered = (lower <= p) & (p <= upper)
        assert binom.pmf(np.arange(n + 1), n, p)[covered].sum() >= 0.95


# --- binned curves
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("bins", [5, 13])
def test_binned_curve_is_scikit_learns(strategy, bins):
    y, p = calibrated(0, 997)  # no ties: scikit-learn's bins are closed on the right
    curve = binned_curve(y, p, bins=bins, strategy=strategy)
    observed, mean_p = calibration_curve(y, p, n_bins=bins, strategy=strategy)
    filled = curve.count > 0
    np.testing.assert_allclose(curve.observed[filled], observed, atol=1e-12)
    np.testing.assert_allclose(curve.mean_p[filled], mean_p, atol=1e-12)
    assert curve.count.sum() == 997
    assert len(curve.edges) == len(curve.count) + 1


def test_decimals_on_an_edge_open_their_bin():
    curve = binned_curve([1, 0, 1, 0], [0.15, 0.29, 0.3, 0.6], bins=20)
    assert np.flatnonzero(curve.count).tolist() == [3, 5, 6, 12]
    assert np.flatnonzero(binned_curve([1], [0.29], bins=100).count).tolist() == [29]


def test_empty_bins_are_nan_everywhere_but_in_the_count():
    frame = binned_curve([1, 0], [0.05, 0.95], bins=10).to_frame()
    assert frame.loc[1:8, "count"].eq(0).all()
    assert frame.loc[1:8].drop(columns=["left", "right", "count"]).isna().all().all()
    assert frame.loc[[0, 9]].notna().all().all()
    assert frame["right"].iloc[-1] == 1.0


@given(labelled(), st.integers(1, 30), st.sampled_from(["uniform", "quantile"]))
def test_every_object_is_in_one_bin_and_lies_between_its_edges(case, bins, strategy):
    y, p = case
    curve = binned_curve(y, p, bins=bins, strategy=strategy)
    assert curve.count.sum() == len(y)
    filled = curve.count > 0
    assert (curve.mean_p[filled] >= curve.edges[:-1][filled] - 1e-9).all()
    assert (curve.mean_p[filled] <= curve.edges[1:][filled] + 1e-9).all()
    assert curve.observed[filled] @ curve.count[filled] == pytest.approx(y.sum())
    for low, high in ((curve.lower, curve.upper), (curve.band_lower, curve.band_upper)):
        assert (low[filled] <= high[filled]).all()
        assert low[filled].min() >= 0
        assert high[filled].max() <= 1
    assert (curve.lower[filled] <= curve.observed[filled] + 1e-12).all()
    assert (curve.observed[filled] <= curve.upper[filled] + 1e-12).all()


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_bin_intervals_and_bands_cover_calibrated_data(strategy):
    in_interval, in_band = [], []
    for seed in range(300):
        y, p = calibrated(seed, 600)
        curve = binned_curve(y, p, bins=8, strategy=strategy, level=0.9)
        in_interval.append((curve.lower <= curve.mean_p) & (curve.mean_p <= curve.upper))
        in_band.append((curve.band_lower <= curve.observed) & (curve.observed <= curve.band_upper))
    assert 0.88 <= np.mean(in_interval) <= 0.95
    assert 0.90 <= np.mean(in_band) <= 0.97  # whole counts and unequal p in a bin: never less


def test_band_is_the_binomial_quantile_of_the_mean_prediction():
    curve = binned_curve([0, 1, 0, 1, 1], [0.2, 0.2, 0.2, 0.2, 0.2], bins=1, level=0.8)
    assert curve.band_lower[0] == binom.ppf(0.1, 5, 0.2) / 5
    assert curve.band_upper[0] == binom.ppf(0.9, 5, 0.2) / 5


def test_a_million_predictions_are_binned_at_once():
    y, p = calibrated(1, 1_000_000)
    curve = binned_curve(y, p, bins=20)
    assert curve.count.sum() == 1_000_000
    np.testing.assert_allclose(curve.observed, curve.mean_p, atol=0.01)


# --- histogram
# -----------------------------------------------------------------------------------------------------


@given(labelled(), st.sampled_from([1, 4, 20]))
def test_histogram_counts_every_object(case, bins):
    y, p = case
    bars = histogram(y, p, bins=bins)
    assert bars.count.sum() == len(y)
    assert bars.positives.sum() == y.sum()
    assert (bars.positives <= bars.count).all()


def test_histogram_is_numpys_away_from_edges():
    y, p = random_case(2, 500)
    bars = histogram(y, p, bins=16)  # sixteenths are exact in binary
    np.testing.assert_array_equal(bars.count, np.histogram(p, 16, (0, 1))[0])
    np.testing.assert_array_equal(bars.positives, np.histogram(p[y == 1], 16, (0, 1))[0])


# --- CORP
# -----------------------------------------------------------------------------------------------------------


@given(labelled())
def test_corp_curve_is_the_isotonic_fit_everywhere(case):
    y, p = case
    curve = corp_curve(y, p)
    # Ranks: scikit-learn merges near scores
    fit = IsotonicRegression().fit(np.unique(p, return_inverse=True)[1], y)
    expected = fit.predict(np.unique(p, return_inverse=True)[1])
    np.testing.assert_allclose(np.interp(p, curve.p, curve.recalibrated), expected, atol=1e-9)
    assert np.isin(curve.p, p).all()
    assert (np.diff(curve.p) > 0).all()
    assert (np.diff(curve.recalibrated) >= -1e-12).all()


def test_corp_of_the_reference_vectors():
    given_ = vector("corp")
    curve = corp_curve(given_["y"], given_["p"])
    fitted = np.interp(given_["p"], curve.p, curve.recalibrated)
    np.testing.assert_allclose(fitted, [float(Fraction(value)) for value in given_["pav"]], atol=1e-12)
    pools = pd.Series(fitted.round(9)).value_counts()
    assert curve.count.tolist() == [pools[value] for value in curve.recalibrated.round(9)]


def test_corp_curve_of_many_predictions_is_short_and_still_exact():
    y, p = calibrated(3, 200_000)
    curve = corp_curve(y, p)
    assert len(curve.p) < 4000
    expected = IsotonicRegression().fit(p, y).predict(p)
    np.testing.assert_allclose(np.interp(p, curve.p, curve.recalibrated), expected, atol=1e-9)


@pytest.mark.parametrize("n", [300, 3000])
def test_consistency_band_holds_the_curve_of_calibrated_data(n):
    grid = np.linspace(0.05, 0.95, 19)
    inside = []
    for seed in range(60):
        y, p = calibrated(seed, n)
        c = corp_curve(y, p, band="consistency", level=0.9, repeats=150, random_state=seed)
        low, value, high = (np.interp(grid, c.p, v) for v in (c.lower, c.recalibrated, c.upper))
        inside.append((low - 1e-9 <= value) & (value <= high + 1e-9))
        assert np.mean((low <= grid) & (grid <= high)) > 0.95  # it lies around the diagonal
    assert 0.86 <= np.mean(inside) <= 0.95


@pytest.mark.parametrize(
    "p",
    [np.random.default_rng(0).random(4000), np.r_[np.full(5000, 0.1), 0.2, 0.3, 0.9]],
    ids=["distinct", "tied"],
)
def test_consistency_band_is_that_of_whole_recalibrations(p):
    """Every object drawn for, every drawing recalibrated by scikit-learn: 1000 groups of neighbours lose nothing."""
    rng = np.random.default_rng(2)
    each = np.unique(p)
    fits = [IsotonicRegression().fit(p, rng.random(p.size) < p).predict(each) for _ in range(600)]
    curve = corp_curve(rng.random(p.size) < p, p, band="consistency", level=0.9, repeats=600)
    for end, q in ((curve.lower, 0.05), (curve.upper, 0.95)):
        off = np.abs(np.interp(curve.p, each, np.quantile(fits, q, axis=0)) - end)
        assert off.mean() < 0.004
        assert off.max() < 0.02


def test_consistency_band_shows_miscalibration():
    rng = np.random.default_rng(5)
    truth = rng.random(3000)
    c = corp_curve(rng.random(3000) < truth, truth**2, band="consistency", random_state=0)
    outside = (c.recalibrated < c.lower) | (c.recalibrated > c.upper)
    assert np.mean(outside[(c.p > 0.1) & (c.p < 0.8)]) > 0.95


@pytest.mark.parametrize("power", [1.0, 1.5])
def test_confidence_band_holds_the_truth(power):
    grid = np.linspace(0.05, 0.95, 19)
    inside = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        p = rng.random(1500)
        y = rng.random(1500) < p**power
        c = corp_curve(y, p, band="confidence", level=0.9, repeats=150, random_state=seed)
        low, high = (np.interp(grid, c.p, v) for v in (c.lower, c.upper))
        inside.append((low <= grid**power) & (grid**power <= high))
    assert 0.88 <= np.mean(inside) <= 0.99  # isotonic bootstraps are somewhat wide
    assert np.mean(inside, axis=0).min() > 0.6


def test_bands_repeat_under_a_seed_and_are_absent_when_not_asked_for():
    y, p = random_case(4, 200)
    first, again, other = (corp_curve(y, p, band="confidence", random_state=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(first.lower, again.lower)
    assert (first.lower != other.lower).any()
    assert np.isnan(corp_curve(y, p).lower).all()


@pytest.mark.parametrize("band", ["none", "consistency", "confidence"])
def test_corp_answers_one_class_and_constant_predictions(band):
    ones = corp_curve([1, 1, 1], [0.2, 0.5, 0.5], band=band)
    assert ones.recalibrated.tolist() == [1.0, 1.0]
    constant = corp_curve([1, 0, 0], [0.4, 0.4, 0.4], band=band)
    assert constant.p.tolist() == [0.4]
    assert constant.recalibrated[0] == pytest.approx(1 / 3)
    certain = corp_curve([1, 0], [1.0, 0.0], band=band)
    assert certain.recalibrated.tolist() == [0.0, 1.0]


# --- smoothed curves
# ------------------------------------------------------------------------------------------------


def local_line(y, p, at, span):
    """Weighted least squares at one point, by the normal equations of the raw objects."""
    distance = np.abs(p - at)
    width = max(np.sort(distance)[math.ceil(span * len(p) - 1e-9) - 1], 0.05) * (1 + 1e-9)
    weight = np.sqrt(np.clip(1 - (distance / width) ** 3, 0, None) ** 3)
    design = np.column_stack([np.ones(len(p)), p - at]) * weight[:, None]
    return np.clip(np.linalg.lstsq(design, weight * y, rcond=None)[0][0], 0, 1)


@pytest.mark.parametrize("span", [0.2, 0.5, 1.0])
def test_smoothed_curve_is_weighted_least_squares_at_each_point(span):
    y, p = random_case(6, 400, decimals=3)  # thousandths: each cell holds one value, nothing is approximated
    curve = smooth_curve(y, p, span=span, points=23)
    expected = [local_line(y, p, at, span) for at in curve.p]
    np.testing.assert_allclose(curve.smoothed, expected, atol=1e-8)


def test_ties_do_not_make_the_window_narrower_than_a_twentieth():
    y, p = random_case(6, 4000, decimals=2)
    curve = smooth_curve(y, p, span=0.05, points=23)
    np.testing.assert_allclose(curve.smoothed, [local_line(y, p, at, 0.05) for at in curve.p], atol=1e-8)


def test_cells_change_the_smoothed_curve_by_less_than_an_eye_can_see():
    y, p = random_case(7, 5000)
    curve = smooth_curve(y, p, points=23)
    np.testing.assert_allclose(curve.smoothed, [local_line(y, p, at, 0.5) for at in curve.p], atol=1e-3)


def test_smoothed_curve_covers_the_truth_of_calibrated_data():
    inside, middle = [], []
    for seed in range(300):
        y, p = calibrated(seed, 800, lambda rng, n: rng.beta(1.5, 2, n))
        curve = smooth_curve(y, p, points=15, level=0.9)
        inside.append((curve.lower <= curve.p) & (curve.p <= curve.upper))
        middle.append(curve.smoothed[7] - curve.p[7])
    assert 0.87 <= np.mean(inside) <= 0.95
    assert abs(np.mean(middle)) < 4 * np.std(middle) / math.sqrt(300)  # no bias on a straight line


@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([1, 0, 0], [0.4, 0.4, 0.4]),
        ([1], [0.0]),
        ([1, 0], [0.0, 1.0]),
        ([1, 1, 0, 0], [0.999, 1.0, 0.0, 0.5]),
    ],
)
def test_smoothed_curve_answers_few_and_equal_predictions(y, p):
    curve = smooth_curve(y, p)
    assert np.isfinite(curve.to_frame().to_numpy()).all()
    assert (curve.lower <= curve.smoothed + 1e-9).all()
    assert (curve.smoothed <= curve.upper + 1e-9).all()
    if len(set(p)) == 1:
        np.testing.assert_allclose(curve.smoothed, np.mean(y), atol=1e-12)


@given(labelled(), st.sampled_from([0.05, 0.3, 1.0]))
def test_smoothed_curve_never_leaves_the_unit_square(case, span):
    curve = smooth_curve(*case, span=span, points=11)
    values = curve.to_frame().drop(columns="count").to_numpy()
    assert np.isfinite(values).all()
    assert values.min() >= 0
    assert values.max() <= 1
    assert (curve.count > 0).all()


# --- refusals
# -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("curve", [binned_curve, corp_curve, smooth_curve, histogram])
def test_bad_objects_are_refused_by_name(curve):
    for y, p, says in [
        ([1, 2], [0.5, 0.5], "labels 0 and 1"),
        ([1, 0], [0.5, np.nan], "NaN"),
        ([1, 0], [0.5, 1.5], r"\[0, 1\]"),
        ([1], [0.5, 0.5], "Lengths differ"),
        ([], [], "empty"),
    ]:
        with pytest.raises(InputError, match=says):
            curve(y, p)


@pytest.mark.parametrize(
    ("curve", "options", "says"),
    [
        (binned_curve, {"bins": 0}, "bins"),
        (binned_curve, {"strategy": "kmeans"}, "strategy"),
        (binned_curve, {"level": 1.0}, "level"),
        (binned_curve, {"interval": "wald"}, "interval"),
        (histogram, {"bins": 1.5}, "bins"),
        (corp_curve, {"band": "both"}, "band"),
        (corp_curve, {"level": 0}, "level"),
        (corp_curve, {"repeats": 0}, "repeats"),
        (smooth_curve, {"span": 0}, "span"),
        (smooth_curve, {"points": 1}, "points"),
    ],
)
def test_bad_options_are_refused_by_name(curve, options, says):
    with pytest.raises(InputError, match=says):
        curve([1, 0], [0.5, 0.5], **options)


def test_a_smoothed_curve_stays_off_places_without_predictions():
    """A line fitted to two heaps close to each other would run far off between them and a third."""
    p = np.repeat([0.17, 0.175, 0.6], [300, 300, 20])
    y = (np.arange(620) % 5 == 0).astype(int)
    y[300:600] = np.arange(300) % 4 == 0
    curve = smooth_curve(y, p, points=101)
    step = (0.6 - 0.17) / 100
    assert np.abs(curve.p[:, None] - np.array([0.17, 0.175, 0.6])).min(axis=1).max() <= step + 1e-9
    assert (np.abs(curve.smoothed - 0.2) < 0.15).all()


def test_the_smoothed_consistency_band_holds_calibrated_curves_as_often_as_it_says():
    inside = []
    for seed in range(300):
        curve = smooth_curve(*calibrated(seed, 400), points=9, level=0.9)
        inside.append((curve.band_lower <= curve.smoothed) & (curve.smoothed <= curve.band_upper))
    assert np.mean(inside, axis=0) == pytest.approx(0.9, abs=0.06)


def test_the_smoothed_consistency_band_is_the_spread_of_curves_drawn_anew():
    y, p = calibrated(1, 300, lambda rng, n: rng.beta(0.6, 0.9, n))
    curve = smooth_curve(y, p, points=7)
    rng = np.random.default_rng(2)
    drawn = np.array(
        [smooth_curve((rng.random(300) < p).astype(int), p, points=7).smoothed for _ in range(400)]
    )
    np.testing.assert_allclose(
        (curve.band_lower + curve.band_upper)[1:-1] / 2, drawn.mean(axis=0)[1:-1], atol=0.02
    )
    spread = (curve.band_upper - curve.band_lower)[1:-1] / (2 * 1.96)
    np.testing.assert_allclose(spread, drawn.std(axis=0)[1:-1], rtol=0.12)

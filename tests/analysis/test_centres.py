"""Calibration over centres: held against printed numbers of metafor, brute force, and known centres."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from calib import check, check_survival
from calib.analysis.centres import between_variance, centres, pool
from calib.analysis.optimism import leave_one_centre_out
from calib.data import sample_table
from calib.kernel.checks import InputError
from tests.saying import says

# Thirteen trials of BCG vaccine (Colditz et al. 1994): cases and others, vaccinated and not
CASES, OTHERS = (
    [4, 6, 3, 62, 33, 180, 8, 505, 29, 17, 186, 5, 27],
    [
        *(119, 300, 228, 13536, 5036, 1361, 2537, 87886, 7470, 1699, 50448, 2493, 16886),
    ],
)
CONTROL_CASES, CONTROL_OTHERS = (
    [11, 29, 11, 248, 47, 372, 10, 499, 45, 65, 141, 3, 29],
    [
        *(128, 274, 209, 12619, 5761, 1079, 619, 87892, 7232, 1600, 27197, 2338, 17825),
    ],
)


def log_ratios():
    a, b, c, d = (np.array(each, float) for each in (CASES, OTHERS, CONTROL_CASES, CONTROL_OTHERS))
    return np.log(a / (a + b) / (c / (c + d))), 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)


def drawn(slopes, n=400, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    centre = np.repeat(np.arange(len(slopes)), n)
    p = expit(rng.normal(-1, 1.3, len(centre)))
    y = rng.random(len(centre)) < expit(np.repeat(slopes, n) * logit(p) + shift)
    return y.astype(int), p, centre


def test_pooled_numbers_are_those_printed_for_metafor():
    found = pool(*log_ratios())  # Viechtbauer 2010, with the adjustment of Hartung and Knapp
    assert_allclose([found.value, found.tau**2, found.i_squared], [-0.7145, 0.3132, 0.9222], atol=5e-5)
    assert_allclose([found.low, found.high], [-1.1084, -0.3206], atol=5e-5)


@pytest.mark.parametrize("seed", range(4))
def test_tau_maximises_the_restricted_likelihood(seed):
    rng = np.random.default_rng(seed)
    v = rng.uniform(0.01, 0.2, 8)
    y = rng.normal(1, np.sqrt(v + 0.05))

    def loss(squared):
        w = 1 / (v + squared)
        mean = w @ y / w.sum()
        return -0.5 * (np.log(w).sum() - np.log(w.sum()) - w @ (y - mean) ** 2)

    best = minimize_scalar(loss, bounds=(0, 2), method="bounded", options={"xatol": 1e-10}).x
    assert_allclose(between_variance(y, v), best if loss(best) < loss(0.0) else 0.0, atol=1e-5)


def test_equal_variances_give_the_mean_and_students_interval():
    found = pool([1.0, 2.0, 3.0, 6.0], [0.01] * 4)
    error = np.std([1, 2, 3, 6], ddof=1) / 2
    assert_allclose([found.value, found.high - 3.0], [3.0, 3.182446 * error], rtol=1e-6)
    # The τ² of a draw is the sum of squares over χ², so a new centre is a sum of two Student's t
    t = np.random.default_rng(0).standard_t(3, (2, 400_000))
    exact = 3.0 + np.quantile(t[0] * 2 * error + t[1] * error, [0.025, 0.975])
    assert_allclose(pool([1.0, 2.0, 3.0, 6.0], [1e-9] * 4).new_high, exact[1], rtol=0.01)


def test_the_interval_of_a_new_centre_is_that_printed_for_pimeta():
    """Ten trials of blood pressure (Riley, Higgins & Deeks 2011), and the printed interval by 25,000 random draws."""
    values = [0.00, 0.10, -0.40, -0.80, -0.63, 0.22, -0.34, -0.51, 0.03, -0.81]
    errors = [
        0.423477,
        0.219392,
        0.025511,
        0.198983,
        0.301026,
        0.301026,
        0.07143,
        0.102043,
        0.122451,
        0.301026,
    ]
    found = pool(values, np.square(errors), draws=2**16)
    assert_allclose([found.new_low, found.new_high], [-0.8807, 0.2240], atol=0.005)
    usual = pool(values, np.square(errors))
    assert_allclose([usual.new_low, usual.new_high], [-0.8807, 0.2240], atol=0.02)


def test_slopes_of_centres_are_found_and_shrunken_towards_their_mean():
    slopes = [0.6, 0.8, 1.0, 1.2, 1.4, 1.0, 0.9]
    y, p, centre = drawn(slopes, 3000)
    found = centres(check(y, p, cluster=centre), centre)
    assert_allclose(found.table["slope"], slopes, atol=0.12)
    apart = (found.table["slope"] - found.pooled["slope"].value).abs()
    shrunken = (found.table["slope_shrunken"] - found.pooled["slope"].value).abs()
    assert (shrunken < apart).all()
    assert_allclose(found.pooled["slope"].tau, np.std(slopes, ddof=1), atol=0.06)
    assert says(found.sentences[0], "new centre", "slope", "between", "7 centres", "τ")


def test_each_centre_is_that_of_its_rows_alone():
    y, p, centre = drawn([0.8, 1.2, 1.0])
    table = centres(check(y, p), centre).table
    alone = check(y[centre == 1], p[centre == 1])
    for metric in ("slope", "in_the_large", "observed_expected"):
        e = alone.estimate(metric, "none")
        names = [metric, f"{metric}_low", f"{metric}_high"]
        assert_allclose(table.loc[1, names].astype(float), [e.value, e.low, e.high])


def test_the_pooled_curve_is_that_of_the_common_truth():
    y, p, centre = drawn([1.0] * 8, 1500, shift=0.7)
    curves = centres(check(y, p), centre).curves.dropna()
    true = expit(logit(curves["p"]) + 0.7)
    assert_allclose(curves["observed"], true, atol=0.04)
    assert ((curves["new_low"] < true) & (true < curves["new_high"])).mean() > 0.9


def test_centres_of_one_class_are_named_and_left_out():
    y, p, centre = drawn([1.0] * 5)
    y[centre == 2] = 0
    found = centres(check(y, p), centre)
    assert found.pooled["slope"].centres == 4
    assert says(found.sentence, "Not pooled", "2")


def test_risks_under_censoring_are_pooled_too():
    y, p, centre = drawn([1.0] * 6)
    rng = np.random.default_rng(3)
    event, end = np.where(y == 1, rng.uniform(0, 1, len(y)), 9.0), rng.exponential(2, len(y))
    found = check_survival(np.minimum(event, end), event <= end, p, 1)
    known = centre[found.known["row"]]
    pooled = centres(found.evaluation, known).pooled
    assert pooled["slope"].low < 1 < pooled["slope"].high
    assert pooled["observed_expected"].low < 1.05


def test_internal_external_validation_predicts_each_centre_by_the_others():
    rng = np.random.default_rng(5)
    X, centre = rng.normal(size=(600, 3)), np.repeat(["a", "b", "c", "d"], 150)
    y = (rng.random(600) < expit(X[:, 0])).astype(int)
    model = LogisticRegression(C=np.inf)
    found = leave_one_centre_out(model, X, y, centre)
    assert found.table.index.tolist() == ["a", "b", "c", "d"]
    p = model.fit(X[centre != "b"], y[centre != "b"]).predict_proba(X[centre == "b"])[:, 1]
    assert_allclose(
        found.table.loc["b", "slope"], check(y[centre == "b"], p).metrics.loc["none", "slope"], rtol=1e-4
    )


def test_one_centre_or_a_rare_class_cannot_be_left_out():
    X, y = np.arange(60.0)[:, None], np.tile([0, 1, 0], 20)
    with pytest.raises(InputError, match=r"one centre.*at least two"):
        leave_one_centre_out(LogisticRegression(), X, y, ["a"] * 60)
    whose = np.where(y == 1, "a", "b")
    with pytest.raises(InputError, match=r"fails on all centres but [ab] "):
        leave_one_centre_out(LogisticRegression(), X, y, whose)


@pytest.mark.parametrize(
    ("centre", "said"),
    [
        (None, r"No centres are known. Pass centre="),
        (np.zeros(900), r"one centre, '0.0'. Choose a column with at least two"),
        (np.zeros(7), r"Lengths differ"),
        (np.arange(900), r"0 centres? of 900 can be evaluated.*Merge small centres"),
        (np.where(np.arange(900) == 3, None, "a"), r"centre is missing at position 3"),
    ],
)
def test_bad_input_gets_one_message_with_the_remedy(centre, said):
    y, p, _ = drawn([1.0] * 3, 300)
    with pytest.raises(InputError, match=said):
        centres(check(y, p), centre)


def test_two_centres_have_no_prediction_interval():
    y, p, centre = drawn([0.8, 1.2])
    found = centres(check(y, p), centre)
    assert np.isnan(found.pooled["slope"].new_low)
    assert says(found.sentences[0], "two centres cannot show")


def test_the_intervals_of_a_centre_do_not_need_other_centres():
    """A centre that is the cluster of its rows has the intervals of independent rows, also under censoring."""
    frame = sample_table("relapses").frame
    given = (frame["time"], frame["target"], frame["risk_5"], 5)
    codes = {"cause": "relapse", "censored": "censored"}
    alone, clustered = (
        check_survival(*given, **codes),
        check_survival(*given, **codes, cluster=frame["hospital"]),
    )
    names = frame["hospital"].to_numpy()[alone.known["row"]]
    one, other = (centres(each.evaluation, names).table for each in (alone, clustered))
    pd.testing.assert_frame_equal(one, other)
    assert (one["slope_high"] - one["slope_low"] > 0.3).all()

"""Risks by a horizon under censoring: held against brute force, other packages' numbers, and ``check``."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from calib import check, check_survival
from calib.analysis.survival.evaluation import Censoring
from calib.calibrators.logistic import Logistic
from calib.kernel.checks import InputError
from tests.saying import says


def world(n=400):
    """Times, events and risks by 5 without a random generator, so that other packages see the same numbers."""
    i = np.arange(1, n + 1)
    x, u, v = ((i * step) % 1.0 for step in (0.6180339887, 0.7548776662, 0.5698402910))
    event, end = -np.log(1 - u) / (0.02 + 0.25 * x), 12 * v + 0.5
    return np.minimum(event, end), (event <= end).astype(int), 1 - np.exp(-5 * (0.03 + 0.2 * x))


def competing(n=400):
    time, event, p = world(n)
    other = (np.arange(1, n + 1) * 0.3247179572) % 1.0 >= 0.6
    return time, np.where(event & other, 2, event), p


def tied(seed, n=60):
    """Whole times with many ties, two kinds of event, counts of rows and groups."""
    rng = np.random.default_rng(seed)
    event, end = np.ceil(rng.exponential(5, (2, n)) * 2) / 2
    kind = np.where(event <= end, rng.choice([1, 2], n, p=[0.7, 0.3]), 0)
    return np.minimum(event, end), kind, rng.integers(1, 4, n).astype(float), rng.integers(0, 2, n)


def aalen_johansen(time, kind, weight, horizon):
    """Risk of an event of kind 1, by the definition."""
    free, risk = 1.0, 0.0
    for at in np.unique(time[time <= horizon]):
        left = weight[time >= at].sum()
        risk += free * weight[(time == at) & (kind == 1)].sum() / left
        free *= 1 - weight[(time == at) & (kind > 0)].sum() / left
    return risk


@pytest.mark.parametrize("seed", range(5))
def test_weighted_frequencies_are_aalen_johansen_risks_and_weights_add_up_to_the_rows(seed):
    time, kind, weight, _ = tied(seed)
    found = Censoring(time, kind, 4.0, weight)
    assert_allclose(found.risk, aalen_johansen(time, kind, weight, 4.0))
    assert_allclose(weight @ found.weights, weight.sum())


@pytest.mark.parametrize("seed", range(5))
def test_the_influence_is_the_derivative_by_the_weight_of_a_row(seed):
    time, kind, weight, group = tied(seed)
    h, step = np.random.default_rng(seed).normal(size=len(time)), 1e-6

    def total(weight):
        return weight @ (Censoring(time, kind, 4.0, weight, group=group).weights * h)

    moves = step * np.eye(len(time))
    numeric = [(total(weight + move) - total(weight - move)) / (2 * step) for move in moves]
    assert_allclose(
        Censoring(time, kind, 4.0, weight, group=group).influence(h), numeric, rtol=1e-6, atol=1e-6
    )


def test_pseudo_values_are_those_of_leaving_rows_out():
    time, kind, *_ = tied(1, n=80)
    n, whole = len(time), Censoring(time, kind, 4.0)
    ones = np.ones(n - 1)
    without = [aalen_johansen(np.delete(time, i), np.delete(kind, i), ones, 4.0) for i in range(n)]
    jackknife = n * whole.risk - (n - 1) * np.array(without)
    assert_allclose(whole.pseudo_values, jackknife, atol=3 / n)
    assert_allclose(whole.pseudo_values.mean(), whole.risk)


def test_the_standard_error_of_the_risk_is_greenwoods():
    time, event, _ = world()
    free, total = 1.0, 0.0
    for at in np.unique(time[time <= 5]):
        left, events = (time >= at).sum(), ((time == at) & (event == 1)).sum()
        free *= 1 - events / left
        total += events / (left * (left - events))
    found, n = Censoring(time, event, 5.0), len(time)
    error = found.rows.standard_error(found.influence(found.y - found.risk))
    assert_allclose(error**2 * (n - 1) / n, free**2 * total, rtol=1e-10)


def test_numbers_are_those_of_scikit_survival_and_lifelines():
    found = check_survival(*world(), 5.0)  # scikit-survival 0.28, lifelines 0.30
    assert_allclose(found.estimate("brier").value, 0.21924025, atol=5e-9)
    assert_allclose(found.estimate("auc").value, 0.70169904, atol=5e-9)
    assert_allclose(found.censoring.risk, 0.4911700564597405)
    both = check_survival(*competing(), 5.0).censoring
    assert_allclose(both.risk, 0.28405046447363815)
    error = both.rows.standard_error(both.influence(both.y - both.risk))
    assert_allclose(error**2 * 399 / 400, 0.0006151227469363525)


# riskRegression 2022.11.28 in R 4.2.2: Score(…, Hist(time, status) ~ 1, times = 5) gives AUC and Brier score
# with their standard errors, and IPA; plotCalibration(method = "quantile", q = 4, cens.method = "local") gives the bins
RISK_REGRESSION = {
    world: (
        {"auc": (0.701699041111, 0.0311105250), "brier": (0.219240249122, 0.0082211985)},
        0.122765418948,
        [0.208213967637, 0.446975188681, 0.614179693967, 0.686315491362],
    ),
    competing: (
        {"auc": (0.674545465479, 0.0325806911), "brier": (0.219854389611, 0.0080303060)},
        -0.0810784884126,
        [0.115002282663, 0.215722781116, 0.350414498602, 0.447481803185],
    ),
}


@pytest.mark.parametrize("data", RISK_REGRESSION)
def test_numbers_are_those_of_risk_regression(data):
    metrics, skill, observed = RISK_REGRESSION[data]
    found = check_survival(*data(), 5.0)
    for metric, (value, error) in metrics.items():
        ours = found.estimate(metric)
        assert_allclose(ours.value, value, atol=1e-11)
        assert_allclose(
            (ours.high - ours.low) / (2 * 1.959964), error, rtol=0.02
        )  # Student's t, n − 1, log-odds
    assert_allclose(found.estimate("brier_skill").value, skill, atol=1e-11)
    assert_allclose(found.bins(4)["observed"], observed, atol=1e-11)


# The manual of riskRegression 2025.9.5 (vignette “Index of Prediction Accuracy”) prints these percentages by 3 years:
# Brier score and IPA with their intervals, for Cox models of the combined event, and for two causes. The 208 simulated
# rows are simActiveSurveillance with set.seed(18), their risks those of coxph and CSC in R, rounded to four decimals.
PRINTED = {
    "cox_ex": ((22.4, 20.5, 24.4), (6.4, -2.6, 15.4), 24.0),
    "cox_inc": ((19.9, 17.8, 21.9), (17.1, 8.3, 25.8), 24.0),
    "csc_ex": ((23.2, 21.1, 25.3), (5.0, -1.9, 11.9), 24.5),
    "csc_inc": ((20.2, 18.1, 22.2), (17.5, 10.1, 25.0), 24.5),
}


@pytest.mark.parametrize("model", PRINTED)
def test_numbers_are_those_printed_in_the_manual_of_risk_regression(model):
    rows = pd.read_csv(Path(__file__).parent / "active_surveillance.csv")
    event = rows["event"].clip(upper=1) if model.startswith("cox") else rows["event"]
    found = check_survival(rows["time"], event, rows[model], 3)
    brier, skill, null = PRINTED[model]
    for metric, printed in (("brier", brier), ("brier_skill", skill)):
        value, *ends = 100 * found.table().loc[metric]
        assert round(value, 1) == printed[0]
        assert_allclose(ends, printed[1:], atol=0.15)  # ours have Student's quantiles
    risk = found.censoring.risk
    assert round(100 * risk * (1 - risk), 1) == null


def test_without_censoring_before_the_horizon_all_is_that_of_check():
    time, _, p = world()
    found, plain = check_survival(time, np.ones(400, int), p, 3.0), check(time <= 3.0, p)
    for metric in ("brier", "auc", "slope", "in_the_large", "observed_expected"):
        ours, theirs = found.estimate(metric), plain.estimate(metric, "none")
        assert_allclose([ours.value, ours.low, ours.high], [theirs.value, theirs.low, theirs.high])
    assert found.verdict.finding == plain.verdict.finding


def test_rows_censored_at_the_horizon_are_known_to_be_free_of_the_event():
    time, event, p = world()
    cut = np.where(time > 5, 5.0, time), np.where(time > 5, 0, event)
    pd.testing.assert_frame_equal(
        check_survival(*cut, p, 5).table(), check_survival(time, event, p, 5).table()
    )


def test_counts_are_repeated_rows():
    time, kind, weight, _ = tied(3)
    p = np.linspace(0.1, 0.9, len(time))
    times = weight.astype(int)
    repeated = check_survival(*(np.repeat(each, times) for each in (time, kind, p)), 4)
    counted = check_survival(time, kind, p, 4, sample_weight=weight)
    pd.testing.assert_frame_equal(counted.metrics, repeated.metrics)
    assert_allclose(counted.bins(3)["observed"], repeated.bins(3)["observed"])


@pytest.mark.parametrize("metric", ["observed_expected", "in_the_large", "slope", "brier", "auc"])
def test_intervals_are_as_wide_as_resampled_rows_are_spread(metric):
    time, event, p = world()
    rng, n = np.random.default_rng(0), len(time)
    found = check_survival(time, event, p, 5).estimate(metric)
    drawn = []
    for _ in range(200):
        at = rng.integers(0, n, n)
        drawn.append(
            check_survival(time[at], event[at], p[at], 5).evaluation.estimate(metric, "none", False).value
        )
    assert found.low < found.value < found.high
    assert_allclose((found.high - found.low) / (2 * 1.96), np.std(drawn), rtol=0.15)


def test_copies_of_rows_in_one_cluster_tell_no_more_than_the_rows():
    time, event, p = world(200)
    once = check_survival(time, event, p, 5)
    whose = np.tile(np.arange(200), 3)
    thrice = check_survival(*(np.tile(each, 3) for each in (time, event, p)), 5, cluster=whose)
    for metric in ("brier", "auc", "slope", "observed_expected"):
        ends = [[each.estimate(metric).low, each.estimate(metric).high] for each in (once, thrice)]
        assert_allclose(*ends, rtol=0.02)


def test_groups_of_censoring_remove_the_bias_of_censoring_that_depends_on_them():
    rng, n = np.random.default_rng(2), 20_000
    high = rng.random(n) < 0.5
    risk = np.where(high, 0.6, 0.1)
    event, end = rng.exponential(-1 / np.log(1 - risk)), rng.exponential(np.where(high, 0.4, 4.0))
    data = np.minimum(event, end), event <= end, risk, 1.0
    assert abs(check_survival(*data, censoring_groups=high).censoring.risk - 0.35) < 0.01
    assert abs(check_survival(*data).censoring.risk - 0.35) > 0.03


def test_bins_hold_the_risk_estimated_from_their_own_rows():
    time, kind, p = competing()
    table = check_survival(time, kind, p, 5).bins(4)
    at = np.searchsorted(table["right"], p)
    assert_allclose(
        table["observed"],
        [aalen_johansen(time[at == b], kind[at == b], np.ones((at == b).sum()), 5) for b in range(4)],
    )
    assert_allclose(table["risk"], [p[at == b].mean() for b in range(4)])
    assert (table["lower"] < table["observed"]).all()
    assert (table["observed"] < table["upper"]).all()


def test_a_bin_that_nobody_leaves_the_horizon_in_is_unknown():
    time, event, p = world()
    short = np.where((p < 0.2), np.minimum(time, 1.0), time)
    table = check_survival(short, np.where(short < time, 0, event), p, 5).bins([0, 0.2, 1])
    assert np.isnan(table.loc[0, ["observed", "lower", "upper"]].astype(float)).all()
    assert table.loc[1, "observed"] > 0


def test_the_curve_follows_the_risk_that_is_observed():
    rng, n = np.random.default_rng(4), 20_000
    risk = rng.uniform(0.05, 0.9, n)
    event, end = rng.exponential(-1 / np.log(1 - risk)), rng.exponential(1.5, n)
    found = check_survival(np.minimum(event, end), event <= end, np.sqrt(risk), 1)
    curve = found.curve()
    inner = curve[(curve["risk"] > 0.3) & (curve["risk"] < 0.9)]
    assert_allclose(inner["observed"], inner["risk"] ** 2, atol=0.03)
    ici = found.estimate("ici")
    assert_allclose(ici.value, np.mean(np.sqrt(risk) - risk), atol=0.01)
    assert ici.low < np.mean(np.sqrt(risk) - risk) < ici.high


@pytest.mark.parametrize(("metric", "share"), [("e50", 0.5), ("e90", 0.9)])
def test_quantiles_of_distances_have_intervals_that_include_0_if_the_risks_are_right(metric, share):
    rng, n = np.random.default_rng(5), 1_000
    risk = rng.uniform(0.05, 0.9, n)
    event, end = rng.exponential(-1 / np.log(1 - risk)), rng.exponential(1.5, n)
    right, wrong = (check_survival(np.minimum(event, end), event <= end, p, 1) for p in (risk, np.sqrt(risk)))
    assert right.estimate(metric).low == 0
    found, curve = wrong.estimate(metric), wrong.evaluation._cells("none")
    assert 0 < found.low < np.quantile(np.sqrt(risk) - risk, share) < found.high
    far = np.repeat(np.abs(curve.observed - curve.points), curve.count.astype(int))
    assert_allclose(found.value, np.quantile(far, share, method="inverted_cdf"))


def test_a_weighted_calibrator_fits_the_slope():
    found = check_survival(*world(), 5)
    known = found.known
    fitted = Logistic().fit(known["none"], known["y"], sample_weight=known["weight"])
    assert_allclose(fitted.coefficients_[1], found.estimate("slope").value, rtol=1e-5)


def test_the_horizon_moves_with_functions_and_is_refused_for_arrays():
    time, event, _ = world()
    hazard = 0.02 + 0.25 * ((np.arange(1, 401) * 0.6180339887) % 1.0)

    def by(t):
        return 1 - np.exp(-t * hazard)

    moved = check_survival(time, event, by, 5).at(2)
    pd.testing.assert_frame_equal(moved.table(), check_survival(time, event, by(2), 2).table())
    fixed = check_survival(time, event, by(5), 5)
    pd.testing.assert_frame_equal(fixed.at(2, by(2)).table(), moved.table())
    with pytest.raises(InputError, match=r"risks are by 5.*risk="):
        fixed.at(2)


def test_the_verdict_says_how_many_rows_were_censored_and_asks_about_survival():
    time, event, p = world()
    assert says(check_survival(time, event, p, 5).verdict.sentence, "102 of 400 rows were censored before 5")
    assert says(check_survival(time, event, 1 - p, 5).verdict.sentence, "1 − survival")
    assert check_survival(time, event, p, 5).figure().data


TIME, EVENT, RISK = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 0]), np.array([0.1, 0.4, 0.5, 0.2])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"time": [-1.0, 2, 3, 4]}, r"time must not be negative, but is -1 at position 0"),
        ({"time": [np.nan, 2, 3, 4]}, r"time must be finite.*position 0"),
        ({"time": [1.0, 2, 3]}, r"Lengths differ: time has 3"),
        ({"event": [0, 0, 0, 0]}, r"Every row is censored.*Check the codes"),
        ({"event": [1, 2, 1, 2]}, r"contains '?1'?.*cause=.*censored="),
        ({"event": ["dead", "alive", "dead", "alive"]}, r"'dead', 'alive'.*cause="),
        ({"event": [1, None, 1, 0]}, r"event is missing at position 1"),
        ({"horizon": 0.5}, r"no event by 0.5.*first of 2 is at 1.*later horizon"),
        ({"event": [2, 0, 2, 0], "cause": 2, "horizon": 0.5}, r"no event by"),
        ({"horizon": 9}, r"Nobody is followed up to 9.*last row is censored at 4.*at most 4"),
        ({"horizon": -1}, r"horizon must be a number above 0"),
        ({"risk": [0.1, 1.4, 0.5, 0.2]}, r"risk must lie in \[0, 1\], but is 1.4 at position 1.*percentages"),
        ({"risk": {"cox": [0.1, np.nan, 0.5, 0.2]}}, r"risk\['cox'\] must be finite"),
        ({"risk": {}}, r"no predictions"),
        ({"censoring_groups": ["a", "a", "b", "a"], "horizon": 4}, None),
        (
            {"censoring_groups": ["a", "b", "a", "a"], "horizon": 4},
            r"group 'b' is followed up to 4.*merge groups",
        ),
        ({"sample_weight": [-1, 1, 1, 1]}, r"must not be negative"),
    ],
)
def test_bad_input_gets_one_message_with_the_remedy(change, said):
    given = {"time": TIME, "event": EVENT, "risk": RISK, "horizon": 3.5, **change}
    if said is None:
        assert check_survival(**given).censoring.n == 4
        return
    with pytest.raises(InputError, match=said):
        check_survival(**given)


def test_codes_may_be_words():
    time, kind, p = competing()
    words = np.array(["alive", "relapse", "dead"])[kind]
    named = check_survival(time, words, p, 5, cause="relapse", censored="alive")
    pd.testing.assert_frame_equal(named.table(), check_survival(time, kind, p, 5).table())

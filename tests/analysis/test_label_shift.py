"""The base rate of rows without labels, against the maximum of the likelihood, simulated truth and a ratio test."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

from calib import Recipe, evaluate, load_sample, sources
from calib.analysis.label_shift import (
    compare_base_rates,
    estimate_base_rate,
    estimate_of_rows,
    likeliest_rate,
)
from calib.data import prepare
from calib.evaluate import calibrate, fit
from calib.figures import formatted_rates
from calib.kernel.base_rate import BaseRate
from calib.kernel.checks import InputError
from calib.kernel.wording import number
from calib.synthetic import GaussianPair


def probabilities(n, rate, fitted=0.3, apart=1.5, seed=0):
    """Right at ``fitted``, of rows that are of class 1 as often as ``rate``: two normal laws, the posterior known."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n) + apart * (rng.random(n) < rate)
    odds = np.exp(apart * x - apart**2 / 2) * fitted / (1 - fitted)
    return odds / (1 + odds)


def log_likelihood(rate, p, fitted):
    return np.log(p * rate / fitted + (1 - p) * (1 - rate) / (1 - fitted)).sum()


@pytest.mark.parametrize(("rate", "fitted"), [(0.01, 0.3), (0.6, 0.3), (0.2, 0.2), (0.05, 0.9)])
def test_em_ends_at_the_maximum_of_the_likelihood_and_the_interval_at_its_ratio(rate, fitted):
    p = probabilities(3000, rate, fitted, seed=int(100 * rate))
    found = estimate_base_rate(p, fitted)
    best = minimize_scalar(
        lambda r: -log_likelihood(r, p, fitted), bounds=(0, 1), method="bounded", options={"xatol": 1e-12}
    )
    assert found.rate == pytest.approx(best.x, rel=1e-5)
    by_em = 0.5
    for _ in range(10_000):
        by_em = BaseRate(fitted, by_em).adjust(p).mean()
    assert found.rate == pytest.approx(by_em, rel=1e-9)
    assert found.rate == likeliest_rate(p, fitted)
    for end in (found.lower, found.upper):
        fall = 2 * (log_likelihood(found.rate, p, fitted) - log_likelihood(end, p, fitted))
        assert fall == pytest.approx(chi2.ppf(0.95, 1), rel=1e-6) or (end == 0 and fall < chi2.ppf(0.95, 1))


def test_the_estimate_is_where_the_mean_of_the_moved_probabilities_is_the_rate_itself():
    p = probabilities(500, 0.4)
    found = estimate_base_rate(p, 0.3)
    mean = BaseRate(0.3, found.rate).adjust(p).mean()
    assert mean == pytest.approx(found.rate, rel=1e-9)


def test_simulated_rates_are_found_and_intervals_hold_them_as_often_as_they_say():
    held, rates = 0, []
    for seed in range(300):
        found = estimate_base_rate(probabilities(400, 0.1, seed=seed), 0.3)
        held += found.lower <= 0.1 <= found.upper
        rates.append(found.rate)
    assert abs(np.mean(rates) - 0.1) < 4 * np.std(rates) / np.sqrt(300)
    assert abs(held / 300 - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 300)


@pytest.mark.parametrize(("p", "rate"), [([0.0, 0.0, 0.1], 0), ([1.0, 0.9], 1), ([0.2, 0.25], 0)])
def test_rows_that_are_all_like_one_class_give_an_end(p, rate):
    found = estimate_base_rate(p, 0.5)
    assert found.rate == rate
    assert found.lower == 0 if rate == 0 else found.upper == 1
    assert 0 <= found.lower < found.upper <= 1


def test_certain_rows_of_both_classes_are_counted():
    found = estimate_base_rate([0.0, 0.0, 0.0, 1.0], 0.5)
    assert found.rate == pytest.approx(0.25)
    assert 0 < found.lower < 0.25 < found.upper < 1


@pytest.mark.parametrize(
    ("p", "fitted", "says"),
    [([], 0.5, "empty|at least"), ([0.3, 0.3], 0.3, "not separate the classes"), ([0.5], 1, "base_rate")],
)
def test_what_tells_nothing_is_refused(p, fitted, says):
    with pytest.raises(InputError, match=says):
        estimate_base_rate(p, fitted)


@pytest.fixture(scope="module")
def evaluated():
    data = GaussianPair([0, 0], np.eye(2), [1.5, 1], np.eye(2)).sample(4000, random_state=0)
    fitted = fit(Recipe(model="logistic_regression", calibrators=("none", "platt"), base_rate=0.2), data)
    return calibrate(fitted.recipe, fitted), fitted


def test_rows_of_another_table_give_their_own_rate_whatever_rate_was_stated(evaluated):
    evaluation, fitted = evaluated
    rows = GaussianPair([0, 0], np.eye(2), [1.5, 1], np.eye(2)).sample(40_000, random_state=1)
    kept = np.flatnonzero(np.random.default_rng(0).random(40_000) < np.where(rows.y == 1, 0.05 / 0.95, 1))
    truth = rows.y[kept].mean()
    for key in ("none", "platt"):
        found = estimate_of_rows(evaluation, fitted, rows.X.iloc[kept][["x2", "x1"]].assign(other="a"), key)
        assert found.rows == len(kept)
        assert found.rate == pytest.approx(truth, abs=0.01)
        assert found.lower < found.rate < found.upper
        assert found.fitted == pytest.approx(evaluation.calibration_y.mean(), abs=0.01)


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (pd.DataFrame({"x1": [1.0]}), "needs 'x2'"),
        (pd.DataFrame({"x1": [1.0], "x2": ["a"]}), "'x2' contains values of a different type"),
    ],
)
def test_a_table_of_other_columns_is_refused_by_their_names(evaluated, frame, says):
    with pytest.raises(InputError, match=says):
        estimate_of_rows(*evaluated, frame, "platt")


def test_infinite_numbers_of_another_table_are_missing_as_in_the_first(evaluated):
    rows = evaluated[0].dataset.X.iloc[:200]
    gaps, infinite = rows.copy(), rows.copy()
    gaps.iloc[::9, 0], infinite.iloc[::9, 0] = np.nan, np.inf
    found, wanted = (estimate_of_rows(*evaluated, each, "platt") for each in (infinite, gaps))
    assert (found.rate, found.lower, found.upper) == (wanted.rate, wanted.lower, wanted.upper)


def test_folds_have_no_one_model_to_score_new_rows():
    data = GaussianPair([0], [[1]], [1], [[1]]).sample(100, random_state=0)
    fitted = fit(Recipe(model="naive_bayes", calibrators=("platt",), evaluation="folds", folds=2), data)
    with pytest.raises(InputError, match="one per fold"):
        estimate_of_rows(calibrate(fitted.recipe, fitted), fitted, data.X, "platt")


def test_before_and_after_stand_below_each_other(evaluated):
    evaluation, _ = evaluated
    table = compare_base_rates(evaluation)
    assert list(zip(table["calibrator"], table["place"], strict=True)) == [
        *(("none", place) for place in ("table", "stated")),
        *(("platt", place) for place in ("table", "stated")),
    ]
    line = table.iloc[3]
    predictions = evaluation.predictions["platt"]
    assert line["base_rate"] == pytest.approx(0.2)
    assert line["mean_p"] == pytest.approx(np.average(predictions.p, weights=predictions.weight))
    assert line["observed_expected"] == pytest.approx(0.2 / line["mean_p"])
    assert table.iloc[2]["base_rate"] == evaluation.y.mean()
    shown = formatted_rates(evaluation, table)
    assert shown["Where"].tolist()[2:] == ["in the table", "at 20 %"]
    assert len(compare_base_rates(evaluation.unadjusted)) == 2


def test_counts_of_rows_without_labels_are_the_repeated_rows():
    p, n = probabilities(200, 0.1).round(2).clip(0.01), np.random.default_rng(0).integers(0, 9, 200)
    one, other = estimate_base_rate(p, 0.3, sample_weight=n), estimate_base_rate(np.repeat(p, n), 0.3)
    assert (one.rate, one.lower, one.upper) == pytest.approx((other.rate, other.lower, other.upper), rel=1e-9)
    assert one.rows == other.rows == n.sum()


def test_a_table_without_labels_counts_as_the_column_of_weights_says():
    data = load_sample("counts")
    recipe = Recipe(data="sample:counts", weight="count", content="predictions", calibrators=("platt",))
    fitted = fit(recipe, sources.load(recipe))
    evaluation, scores = calibrate(recipe, fitted), data.X.iloc[:, 0].to_numpy()
    n = np.random.default_rng(1).integers(0, 4, len(scores))
    name = data.X.columns[0]
    counted, repeated = pd.DataFrame({name: scores, "count": n}), pd.DataFrame({name: np.repeat(scores, n)})
    one, other = (estimate_of_rows(evaluation, fitted, each, "platt") for each in (counted, repeated))
    assert one.rows == other.rows == n.sum()
    assert (one.rate, one.upper) == pytest.approx((other.rate, other.upper), rel=1e-9)


def test_the_note_says_by_how_much_odds_are_multiplied_at_the_rate_that_calibrated():
    rng = np.random.default_rng(0)
    part = np.repeat(["train", "calibrate", "test"], 300)
    y = rng.random(900) < np.repeat([0.5, 0.5, 0.2], 300)  # the test rows have another rate
    table = pd.DataFrame({"x": rng.normal(size=900) + y, "part": part, "y": y.astype(int)})
    recipe = Recipe(calibrators=("platt",), part="part", split="file", base_rate=0.1, model="naive_bayes")
    found = evaluate(recipe, prepare(table, "y", roles={"part": "part"}))
    fitted = y[part == "calibrate"].mean()
    assert any(
        f"multiplied by {number(BaseRate(fitted, 0.1).ratio)}, computed" in note for note in found.notes
    )

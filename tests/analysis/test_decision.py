"""Decisions against the definition: each row's costs added up, and thresholds tried one by one."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calib import Predictions, Recipe, evaluate
from calib.analysis.decision import (
    CURVE_THRESHOLDS,
    decide,
    expected_costs,
    mean_intervals,
    net_benefit,
    realised_costs,
    threshold,
    undecided,
)
from calib.kernel.checks import InputError
from calib.sources import load

cases = st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=25)
costs = st.integers(1, 9)


def brute_cost(p, y, t, c_fa, c_miss):
    """Mean cost of acting where p > t, in exact fractions."""
    paid = [c_fa * (not label) if value > t else c_miss * label for value, label in zip(p, y, strict=True)]
    return Fraction(sum(paid), len(paid))


@given(cases, costs, costs)
def test_realised_cost_is_what_each_mistake_costs(objects, c_fa, c_miss):
    p = [Fraction(value, 20) for value, _ in objects]
    y = [int(label) for _, label in objects]
    t = Fraction(c_fa, c_fa + c_miss)
    act = np.array([value > t for value in p])
    got = realised_costs(np.array(y), act, c_fa, c_miss).mean()
    assert got == pytest.approx(float(brute_cost(p, y, t, c_fa, c_miss)))


@given(costs, costs, st.integers(0, 40))
def test_the_threshold_is_where_acting_begins_to_be_expected_to_cost_less(c_fa, c_miss, twentieths):
    p = Fraction(twentieths, 40)
    act, not_act = c_fa * (1 - p), c_miss * p
    t = Fraction(c_fa, c_fa + c_miss)
    assert threshold(c_fa, c_miss) == pytest.approx(float(t))
    assert (act < not_act) == (p > t)
    assert expected_costs(np.array([float(p)]), c_fa, c_miss)[0] == pytest.approx(float(min(act, not_act)))


@given(cases, st.lists(st.integers(1, 19), min_size=1, max_size=5))
def test_net_benefit_is_hits_less_false_alarms_at_the_thresholds_odds(objects, twentieths):
    p = np.array([value / 20 for value, _ in objects])
    y = np.array([int(label) for _, label in objects])
    thresholds = np.array(twentieths) / 20
    expected = [
        sum((1 if label else -t / (1 - t)) for value, label in zip(p, y, strict=True) if value > t) / len(p)
        for t in thresholds
    ]
    np.testing.assert_allclose(net_benefit(y, p, thresholds), expected, atol=1e-12)


def test_net_benefit_of_acting_on_all_and_on_none():
    y = np.array([0, 0, 0, 1])
    odds = CURVE_THRESHOLDS / (1 - CURVE_THRESHOLDS)
    np.testing.assert_allclose(net_benefit(y, np.ones(4)), 0.25 - 0.75 * odds)
    np.testing.assert_array_equal(net_benefit(y, np.zeros(4)), np.zeros(99))


@given(st.integers(0, 10), st.integers(0, 10), st.integers(0, 10))
def test_a_case_is_open_where_the_two_ends_of_its_interval_decide_differently(low, high, t):
    low, high = min(low, high) / 10, max(low, high) / 10
    predicted = Predictions(np.array([1]), np.array([low]), np.array([low]), np.array([high]))
    assert undecided(predicted, t / 10)[0] == ((low > t / 10) != (high > t / 10))


def test_intervals_agree_with_scipys_bootstrap_and_with_the_normal_one_for_many_rows():
    rng = np.random.default_rng(4)
    values = rng.exponential(size=(2, 300))
    lower, upper = mean_intervals(values, random_state=0)
    for i in range(2):
        reference = stats.bootstrap((values[i],), np.mean, method="percentile", n_resamples=9999, rng=1)
        np.testing.assert_allclose([lower[i], upper[i]], reference.confidence_interval, rtol=0.015)
    many = rng.exponential(size=(1, 30_000))
    lower, upper = mean_intervals(many, random_state=0)
    half = 1.959964 * many.std() / np.sqrt(30_000)
    np.testing.assert_allclose([lower[0], upper[0]], [many.mean() - half, many.mean() + half])


COSTS = {"cost_false_alarm": 2, "cost_miss": 6}


@pytest.fixture(scope="module")
def evaluation():
    recipe = Recipe(data="sample:rare_faults", model="naive_bayes")
    return evaluate(recipe, load(recipe))


def test_the_table_adds_up(evaluation):
    decision = decide(evaluation, **COSTS)
    y, n = evaluation.y, len(evaluation.y)
    assert decision.threshold == 0.25
    for key, predictions in evaluation.predictions.items():
        line = decision.table.loc[key]
        assert line.false_alarms == sum(
            p > 0.25 and not label for p, label in zip(predictions.p, y, strict=True)
        )
        assert line.misses == sum(p <= 0.25 and label for p, label in zip(predictions.p, y, strict=True))
        assert line.realised == pytest.approx((2 * line.false_alarms + 6 * line.misses) / n)
        assert line.expected == pytest.approx(sum(min(2 * (1 - p), 6 * p) for p in predictions.p) / n)
        # the same order as the decision curve's: cost = c_miss (share − net benefit)
        assert line.realised == pytest.approx(
            6 * (y.mean() - net_benefit(y, predictions.p, np.array([0.25]))[0])
        )
        assert line.realised_lower <= line.realised <= line.realised_upper
        assert line.difference == pytest.approx(line.realised - decision.table.loc["none", "realised"])
    assert decision.never == pytest.approx(6 * y.mean())
    assert decision.always == pytest.approx(2 * (1 - y.mean()))
    assert decision.cheapest == decision.table["realised"].idxmin()


def test_probabilities_that_are_right_keep_their_promise():
    p = np.random.default_rng(0).beta(2, 3, 400)
    gaps = []
    for seed in range(200):
        y = (np.random.default_rng(seed).random(400) < p).astype(int)
        gaps.append(realised_costs(y, p > 0.2, 1, 4).mean() - expected_costs(p, 1, 4).mean())
    assert abs(np.mean(gaps)) < 3 * np.std(gaps) / np.sqrt(200)


def test_open_cases_are_listed_widest_first_with_their_features(evaluation):
    decision = decide(evaluation, **COSTS)
    table = decision.undecided_frame("venn_abers")
    predictions = evaluation.predictions["venn_abers"]
    assert len(table) == decision.undecided["venn_abers"].sum() > 0
    assert (table["lower end"] <= 0.25).all()
    assert (table["upper end"] > 0.25).all()
    assert (np.diff(table["upper end"] - table["lower end"]) <= 1e-12).all()
    features = evaluation.dataset.X.loc[table["row"] - 1]
    pd.testing.assert_frame_equal(table[features.columns], features, check_names=False)
    position = {row + 1: i for i, row in enumerate(evaluation.dataset.X.index[evaluation.rows])}
    np.testing.assert_array_equal(table["venn_abers"], [predictions.p[position[row]] for row in table["row"]])
    assert len(decision.undecided_frame("venn_abers", 2)) == 2


def test_the_same_rows_the_same_intervals_and_a_view_refits_nothing(evaluation):
    one, other = decide(evaluation, **COSTS), decide(evaluation, **COSTS)
    pd.testing.assert_frame_equal(one.table, other.table)
    moved = decide(evaluation, cost_false_alarm=2, cost_miss=2)
    assert moved.threshold == 0.5
    assert moved.evaluation.predictions is evaluation.predictions


@pytest.mark.parametrize("field", ["cost_false_alarm", "cost_miss"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "1"])
def test_a_cost_that_is_none_is_refused_by_name(evaluation, field, value):
    with pytest.raises(InputError, match=field):
        decide(evaluation, **{field: value})


def test_a_hundred_thousand_rows_are_decided():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"p": rng.random(150_000).round(4)})
    frame["y"] = (rng.random(150_000) < frame["p"]).astype(int)
    recipe = Recipe(data="upload:big", content="predictions", target="y", positive="1", test_size=0.7)
    evaluation = evaluate(recipe, load(recipe, {"big": frame}))
    decision = decide(evaluation)
    line = decision.table.loc["none"]  # right probabilities: the two costs agree
    assert line.realised_lower <= line.expected <= line.realised_upper


def test_the_share_that_is_undecided_is_that_of_the_rows_repeated_by_their_weights():
    rng = np.random.default_rng(3)
    p, weight = rng.random(200), rng.integers(1, 5, 200)
    table = pd.DataFrame({"label": (rng.random(200) < p).astype(int), "p": p.round(3), "w": weight})
    recipe = Recipe(data="upload:x", target="label", content="predictions", weight="w", weight_as="counts")
    evaluation = evaluate(recipe, load(recipe, {"x": table}))
    predictions = evaluation.predictions["venn_abers"]
    t = np.median(predictions.lower + predictions.upper) / 2
    decision = decide(evaluation, cost_false_alarm=t, cost_miss=1 - t)
    spelt_out = np.repeat(decision.undecided["venn_abers"], decision.evaluation.weight.astype(int))
    assert decision.undecided_share("venn_abers") == pytest.approx(spelt_out.mean(), abs=1e-12)
    assert decision.undecided_share("venn_abers") != decision.undecided["venn_abers"].mean()

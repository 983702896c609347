"""Groups by any column, and judgements of them that are right as often as they promise."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from calib.analysis.curves import binomial_interval
from calib.analysis.subgroups import MISSING_GROUP, REST, Grouping, group_rows, judge_groups
from tests.analysis.given import given_evaluation
from tests.figures.evaluations import evaluation

columns = st.one_of(
    st.lists(st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True)), min_size=1, max_size=60),
    st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=1, max_size=60),
    st.lists(st.booleans(), min_size=1, max_size=20),
    st.lists(st.integers(-5, 5), min_size=1, max_size=60),
)


@given(columns)
def test_every_row_is_in_one_group_and_no_two_groups_share_a_name(values):
    grouping = group_rows(pd.Series(values))
    assert len(grouping.index) == len(values)
    assert len(set(grouping.names)) == len(grouping.names)
    assert grouping.index.max() < len(grouping.names)
    assert grouping.count.sum() == len(values)
    assert len(grouping.names) <= 14


def test_values_make_groups_from_the_largest_and_the_rest_are_one():
    values = pd.Series(list("aaabbc") + [None] + [f"rare {i}" for i in range(5)])
    grouping = group_rows(values, most=3)
    assert grouping.names == ("a", "b", REST, MISSING_GROUP)
    np.testing.assert_array_equal(grouping.count, [3, 2, 6, 1])


def test_few_different_numbers_are_groups_in_their_order():
    assert group_rows(pd.Series([3, 1, 2, 2, 2.5, np.inf])).names == ("1", "2", "2.5", "3", MISSING_GROUP)


def test_many_numbers_make_groups_of_equal_size_between_quantiles():
    values = pd.Series(np.random.default_rng(0).normal(size=1000))
    grouping = group_rows(values, quantiles=4)
    np.testing.assert_array_equal(grouping.count, [250] * 4)
    edges = np.quantile(values, [0.25, 0.5, 0.75])
    np.testing.assert_array_equal(grouping.index, np.searchsorted(edges, values, side="right"))


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (np.linspace(6800, 121_600, 100), ("6,800 to 64,200", "64,200 to 122,000")),
        (np.linspace(0, 1, 101), ("0 to 0.5", "0.5 to 1")),
        (1 + np.linspace(0, 2e-7, 101), ("1 to 1.0000001", "1.0000001 to 1.0000002")),
        (np.linspace(1e9, 3e9, 101), ("1000000000.0 to 2000000000.0", "2000000000.0 to 3000000000.0")),
    ],
)
def test_quantile_groups_are_named_by_ends_that_can_be_read_and_told_apart(values, names):
    assert group_rows(pd.Series(values), quantiles=2).names == names


def test_dates_make_groups_named_by_days_or_by_the_time_of_day():
    days = pd.Series(pd.date_range("2020-01-01", periods=101))
    assert group_rows(days, quantiles=2).names == ("2020-01-01 to 2020-02-20", "2020-02-20 to 2020-04-10")
    hours = pd.Series(pd.date_range("2020-01-01", periods=101, freq="h"))
    assert group_rows(hours, quantiles=2).names[0] == "2020-01-01 00:00 to 2020-01-03 02:00"


def test_the_table_holds_what_pandas_and_the_definition_say():
    e = evaluation(calibrators=("none", "platt"))
    grouping = group_rows(e.dataset.X["b"].iloc[e.rows])
    table = judge_groups(e, grouping).table
    for key, predictions in e.predictions.items():
        lines = table[table["calibrator"] == key]
        groups = pd.DataFrame({"y": e.y, "p": predictions.p}).groupby(grouping.index)
        np.testing.assert_allclose(lines["mean_p"], groups["p"].mean())
        np.testing.assert_allclose(lines["observed"], groups["y"].mean())
        np.testing.assert_array_equal(lines["count"], groups.size())
        ends = binomial_interval(groups["y"].sum(), groups.size())
        np.testing.assert_allclose(lines[["lower", "upper"]], np.column_stack(ends))
        for g, line in enumerate(lines.itertuples()):
            y, p = e.y[grouping.index == g], predictions.p[grouping.index == g]
            assert line.brier == pytest.approx(np.mean((y - p) ** 2))
            assert line.z == pytest.approx((y.sum() - p.sum()) / np.sqrt((p * (1 - p)).sum()))
            assert line.off == (abs(line.z) > norm.isf(0.025 / len(grouping.names)))
    assert list(judge_groups(e, grouping, ["platt"]).table["calibrator"].unique()) == ["platt"]


def test_right_probabilities_are_called_off_in_one_sample_of_twenty():
    rng = np.random.default_rng(2)
    alarms = []
    for _ in range(400):
        p = rng.beta(2, 2, 600)
        y = (rng.random(600) < p).astype(int)
        grouping = Grouping(tuple("abcdef"), rng.integers(6, size=600))
        alarms.append(judge_groups(given_evaluation(y, {"none": p}), grouping).table["off"].any())
    assert np.mean(alarms) == pytest.approx(0.05, abs=0.03)


def test_a_group_that_is_wrong_though_the_whole_is_right_is_found():
    rng = np.random.default_rng(3)
    group = np.repeat([0, 1], 500)
    y = (rng.random(1000) < np.where(group == 1, 0.6, 0.4)).astype(int)
    table = judge_groups(given_evaluation(y, {"none": np.full(1000, 0.5)}), Grouping(("a", "b"), group)).table
    assert table["off"].all()
    assert list(np.sign(table["z"])) == [-1, 1]


def test_certain_predictions_are_off_when_wrong_and_right_when_right():
    e = given_evaluation([0, 1, 1], {"none": [0.0, 1.0, 0.0]})
    table = judge_groups(e, Grouping(("right", "wrong"), np.array([0, 0, 1]))).table
    np.testing.assert_array_equal(table["off"], [False, True])
    np.testing.assert_array_equal(table["z"], [0, np.inf])


def test_a_subset_holds_the_numbers_of_its_rows():
    e = evaluation()
    rows = np.flatnonzero(e.y == 1)[:10]
    part = e.at(rows)
    np.testing.assert_array_equal(part.rows, e.rows[rows])
    for key, predictions in e.predictions.items():
        for name in ("y", "p", "lower", "upper", "p0", "p1"):
            whole, own = getattr(predictions, name), getattr(part.predictions[key], name)
            assert (own is None) == (whole is None)
            if whole is not None:
                np.testing.assert_array_equal(own, whole[rows])
    assert part.metrics.loc["none", "brier"] == pytest.approx(np.mean((1 - part.predictions["none"].p) ** 2))
    assert e.metrics.loc["none", "brier"] != part.metrics.loc["none", "brier"]


def test_the_largest_groups_keep_their_order():
    largest = Grouping(("a", "b", "c"), np.array([2, 0, 2, 1, 1, 1])).largest(2)
    assert list(largest) == ["b", "c"]
    np.testing.assert_array_equal(largest["c"], [0, 2])

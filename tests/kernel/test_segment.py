"""Conditions on columns: each group of a column is one, and means the same for other rows."""

import numpy as np
import pandas as pd
import pytest

from calib.analysis.subgroups import group_rows
from calib.kernel.checks import InputError
from calib.kernel.segment import check_condition, met, segment_in_words

N = 500
RNG = np.random.default_rng(0)
GONE = RNG.random(N) < 0.1
COLUMNS = {
    "floats": pd.Series(RNG.normal(size=N)).mask(GONE),
    "infinite": pd.Series(RNG.normal(size=N)).mask(GONE, np.inf),
    "integers": pd.Series(RNG.integers(0, 40, N)),
    "nullable": pd.Series(RNG.integers(0, 40, N)).astype("Int64").mask(GONE),
    "few": pd.Series(RNG.integers(0, 5, N)),
    "dates": pd.Series(pd.date_range("2024-01-01", periods=N, freq="7h")).mask(GONE),
    "texts": pd.Series(RNG.choice(list("abcdefghijklmnopqrst"), N)).mask(GONE),
    "dotted": pd.Series(RNG.choice(["1..2", "2..3"], N)),
    "booleans": pd.Series(RNG.random(N) < 0.3),
    "categories": pd.Series(RNG.choice(list("abc"), N)).astype("category"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_the_conditions_of_a_group_are_met_by_its_rows_and_by_no_other(name):
    values = COLUMNS[name]
    grouping = group_rows(values)
    assert len(grouping.names) > 1
    for i, group in enumerate(grouping.names):
        rows = met(grouping.segment(group, "c"), lambda _: values, ["c"])
        assert np.array_equal(rows, grouping.index == i), group


def test_a_range_means_the_same_for_other_rows():
    segment = group_rows(pd.Series(range(100))).segment("39.6 to 59.4", "age")
    other = pd.Series([39.5, 39.6, 59.3, 59.4, 1000.0, np.nan])
    assert met(segment, lambda _: other, ["age"]).tolist() == [False, True, True, False, False, False]


def test_names_of_columns_may_begin_alike_and_hold_signs():
    table = pd.DataFrame({"a": [1, 2], "a=b": ["x", "y"], "a!": ["p", "q"]})
    second = [False, True]
    for segment, rows in {
        "a=b=x": [True, False],
        "a=2": second,
        "a!=q": second,
        "a!!=q": [True, False],
    }.items():
        assert met((segment,), table.__getitem__, table.columns).tolist() == rows, segment


@pytest.mark.parametrize("segment", ["b=1", "a=x..y", "a"])
def test_what_does_not_suit_the_table_is_refused(segment):
    table = pd.DataFrame({"a": [1.0, 2.0]})
    with pytest.raises(InputError, match="segment"):
        met((segment,), table.__getitem__, table.columns)


@pytest.mark.parametrize("value", ["age", "=5", "!=5", 7, ""])
def test_only_conditions_are_allowed(value):
    with pytest.raises(InputError, match="segment"):
        check_condition(value, "segment")


def test_a_person_reads_ends_and_signs():
    assert segment_in_words(("age=60.0..", "work!=none")) == "age from 60 and work ≠ none"
    assert (
        segment_in_words(("day=2024-01-02T00:00:00..2024-02-01T00:00:00",))
        == "day from 2024-01-02 to below 2024-02-01"
    )

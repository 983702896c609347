"""Tables of Python values that grow piece by piece are those that are typed as a whole."""

import datetime
import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib.data import json_table, read_table
from calib.data.column_builder import ColumnBuilder
from calib.data.column_types import typed_objects

KINDS = [
    st.sampled_from([None, float("nan"), 1, 2, -7]),
    st.sampled_from([None, 0.5, 2, 1e20, float("inf")]),
    st.sampled_from([True, False, None]),
    st.sampled_from(["a", "1", "2,5", "?", "\ud800", None]),
    st.sampled_from([datetime.date(2020, 1, 2), datetime.datetime(2021, 3, 4, 5, 6), None]),
    st.sampled_from([10**15, 10**15 - 1, 2**63, 10**400, 0.5, True, {"a": 1}, [], "x", None]),
]


@given(st.lists(st.sampled_from(KINDS).flatmap(lambda kind: st.lists(kind, max_size=6)), max_size=4))
def test_pieces_of_any_kinds_are_typed_as_one_column(pieces):
    column = ColumnBuilder()
    for values in pieces:
        column.add(values)
    whole = [value for values in pieces for value in values]
    pd.testing.assert_series_equal(column.typed("x"), typed_objects(whole, "x").values)


def test_gaps_before_and_after_are_values_that_are_missing():
    column = ColumnBuilder()
    column.skip_to(2)
    column.add([1])
    column.add_first([7])
    column.skip_to(6)
    pd.testing.assert_series_equal(
        column.typed("x"), typed_objects([7, None, None, 1, None, None], "x").values
    )


RECORDS = [
    {"a": i, "b": [i], "c": "x,]" if i % 3 else None} | ({"late": i / 2} if i > 6 else {}) for i in range(9)
]
JSON = {
    "records": json.dumps(RECORDS),
    "lines": "\n".join(map(json.dumps, RECORDS)),
    "wrapped": json.dumps({"n": 9, "data": [1], "rows": RECORDS, "more": [1]}, indent=1),
    "columns": json.dumps({"a": list(range(9)), "data": [[1, 2], "x"] + [None] * 7}),
    "damaged": json.dumps(RECORDS)[:-9],
    "no table": json.dumps([*RECORDS, 1]),
}


@pytest.mark.parametrize("kind", JSON)
@pytest.mark.parametrize("size", [1, 7, 40])
def test_json_is_the_same_table_in_pieces_of_any_size(kind, size, monkeypatch):
    def outcome():
        try:
            return read_table(JSON[kind].encode(), "t.json").to_csv()
        except ValueError as error:
            return str(error)

    whole = outcome()
    monkeypatch.setattr(json_table, "PARSED_AT_ONCE", size)
    monkeypatch.setattr(json_table, "PLAIN_AT_ONCE", size)
    assert outcome() == whole

"""A column is typed by all its values, and none of them is lost or changed."""

import datetime
import decimal
import fractions
import json
import numbers

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib.data import DataError, class_counts, notation, read_table
from calib.data.column_types import ColumnBuilder, texts_of, typed_frame, typed_objects, typed_text
from calib.data.notation import TOO_LARGE, label


def typed(*cells):
    return typed_text(pa.chunked_array([list(cells)], pa.string())).values


@pytest.mark.parametrize("gap", ["", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "#N/A", "<NA>", " ? "])
def test_gaps_among_numbers_and_words_are_missing(gap):
    assert typed("1", gap, "2").tolist()[::2] == [1.0, 2.0]
    assert typed("1", gap, "2").isna().tolist() == [False, True, False]
    assert typed("a", gap, "b").isna().tolist() == [False, True, False]
    assert typed(gap, gap).isna().all()
    assert typed(gap, gap).dtype == "float64"


@pytest.mark.parametrize("word", ["None", "-", ".", "missing", "unknown", "n/a"])
def test_words_for_nothing_are_gaps_among_numbers_only(word):
    assert typed("1", word, "2").isna().tolist() == [False, True, False]
    assert typed("a", word, "b").tolist() == ["a", word, "b"]
    assert typed(word, word).tolist() == [word, word]


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1", "+2", "-3"], [1, 2, -3]),
        (["1e3", "-.5", "5."], [1000, -0.5, 5]),
        (["inf", "-Infinity", "1"], [np.inf, -np.inf, 1]),
        (["007", "010"], [7, 10]),
        (["0.1", "0.30000000000000004"], [0.1, 0.30000000000000004]),
        (["123456789012345", "1"], [123456789012345, 1]),
    ],
)
def test_numbers(cells, numbers):
    assert typed(*cells).tolist() == numbers


@pytest.mark.parametrize(
    "cells",
    [
        ["1", "2", "x"],
        ["0x1", "0x2"],
        ["1_000", "2"],
        ["12345678901234567890", "1"],  # would be rounded: an account number
        ["1234567890123456", "?"],
        ["1e", "2"],
        ["٣", "1"],
        ["1 000", "2"],
        [",", "1"],
    ],
)
def test_what_is_no_number_stays_as_it_is_written(cells):
    expected = [None if cell == "?" else cell for cell in cells]
    assert [None if pd.isna(cell) else cell for cell in typed(*cells)] == expected


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (["2020-01-31", "2019-12-01"], ["2020-01-31", "2019-12-01"]),
        (["31.01.2020", "01.12.2019"], ["2020-01-31", "2019-12-01"]),
        (["31/1/2020", "1/12/2019"], ["2020-01-31", "2019-12-01"]),
        (["1/31/2020", "12/1/2019"], ["2020-01-31", "2019-12-01"]),
        (["2020/01/31", "2019/12/01"], ["2020-01-31", "2019-12-01"]),
        (["2020-01-31T10:30:00Z", "2019-12-01T00:00:00+02:00"], ["2020-01-31T10:30", "2019-11-30T22:00"]),
        (["31.01.2020 10:30", "01.12.2019 00:00"], ["2020-01-31T10:30", "2019-12-01"]),
    ],
)
def test_dates(cells, days):
    column = typed(*cells, "?", "n/a")
    assert column.tolist()[:2] == [pd.Timestamp(day) for day in days]
    assert column.isna().tolist() == [False, False, True, True]


DAYS = [datetime.date(2020, 1, 2), datetime.datetime(2021, 3, 4, 5, 6), np.datetime64("2020-01-02")]
KINDS = [
    st.sampled_from([None, float("nan"), pd.NA, 1, 2, -7, np.int32(3)]),
    st.sampled_from([None, 0.5, 2, 1e20, float("inf")]),
    st.sampled_from([True, False, None, np.True_, pd.NaT]),
    st.sampled_from(["a", "1", "2,5", "?", "\ud800", None]),
    st.sampled_from([*DAYS, pd.Timestamp("2020-01-02 03:04+05:00"), None]),
    st.sampled_from([10**15, 10**15 - 1, 2**63, 10**400, 0.5, True, {"a": 1}, [], "x", b"y", None]),
]
# No file has these, but tables in memory may
ONLY_IN_MEMORY = [
    st.sampled_from([np.float32(0.1), fractions.Fraction(1, 3), 2, None]),
    st.sampled_from([*DAYS, None, np.datetime64("999999-01-01")]),  # beyond what pandas can hold
]


def by_each_value(values):
    """Type of Python values, by looking at each of them."""
    cells = [value if isinstance(value, (list, dict)) or pd.notna(value) else None for value in values]
    known = [cell for cell in cells if cell is not None]
    if known and all(isinstance(cell, (bool, np.bool_)) for cell in known):
        return pd.Series(cells, dtype="bool" if len(known) == len(cells) else "boolean")
    if known and all(isinstance(cell, (datetime.date, np.datetime64)) for cell in known):
        dates = pd.to_datetime(pd.Series(cells, dtype=object), errors="coerce", utc=True).dt.tz_localize(None)
        if dates.notna().sum() == len(known):
            return dates
    whole = [isinstance(cell, numbers.Integral) for cell in known]
    number = [isinstance(cell, numbers.Real) and not isinstance(cell, (bool, np.bool_)) for cell in known]
    large = any(one and abs(int(cell)) >= TOO_LARGE for one, cell in zip(whole, known, strict=True))
    if known and all(number) and not large:
        return pd.Series(cells, dtype="int64" if all(whole) and len(known) == len(cells) else "float64")
    return typed_text(pa.chunked_array([texts_of(cells)])).values


@given(st.sampled_from(KINDS + ONLY_IN_MEMORY).flatmap(lambda kind: st.lists(kind, max_size=8)))
def test_python_values_of_any_kinds_have_the_type_of_each_of_them(values):
    pd.testing.assert_series_equal(typed_objects(values), by_each_value(values))


def test_values_of_numpy_that_fit_no_type_are_text():
    """Arrow would end the process at the second mixture, and int() fails for a duration."""
    assert typed_objects([np.timedelta64(3, "s"), 1]).tolist() == ["0:00:03", "1"]
    assert typed_objects([np.datetime64("999999-01-01"), np.int64(7), "x"]).tolist()[1:] == ["7", "x"]


@given(st.lists(st.sampled_from(KINDS).flatmap(lambda kind: st.lists(kind, max_size=6)), max_size=4))
def test_pieces_of_any_kinds_are_typed_as_one_column(pieces):
    column = ColumnBuilder()
    for values in pieces:
        column.add(values)
    whole = [value for values in pieces for value in values]
    pd.testing.assert_series_equal(column.typed("x"), typed_objects(whole))


def test_gaps_before_and_after_are_values_that_are_missing():
    column = ColumnBuilder()
    column.skip_to(2)
    column.add([1])
    column.skip_to(5)
    pd.testing.assert_series_equal(column.typed("x"), pd.Series([None, None, 1, None, None], dtype=float))


@pytest.mark.parametrize(
    ("cells", "shares"),
    [
        (["45%", "7.5 %", "100%", "?"], [0.45, 0.075, 1.0, np.nan]),
        (["0%", "n/a", "-12,5%", "1.250,0%"], [0.0, np.nan, -0.125, 12.5]),
    ],
)
def test_percentages_are_shares(cells, shares):
    found = typed_text(pa.chunked_array([cells]), "p")
    assert found.values.tolist() == pytest.approx(shares, nan_ok=True)
    assert "45 % is 0.45" in found.note
    assert found.spelling[0.45 if cells[0] == "45%" else 0.0] == cells[0]


@pytest.mark.parametrize("other", ["45", "%", "a%", "4%5%"])
def test_what_is_not_all_percentages_is_left_as_it_is(other):
    assert typed("12%", "7%", other).tolist() == ["12%", "7%", other]


def test_a_date_that_could_be_two_is_said():
    text = pa.chunked_array([["1/2/2020", "3/4/2020"]])
    found = typed_text(text, "day")
    assert found.values[0] == pd.Timestamp("2020-02-01")
    assert "day, month, year" in found.note
    assert typed_text(pa.chunked_array([["13/2/2020"]])).note is None


@pytest.mark.parametrize(
    ("cell", "form"), [("31/01/2020 10:30", "%d/%m/%Y %H:%M"), ("1-13-2020 9:05:30", "%m-%d-%Y %H:%M:%S")]
)
def test_pandas_is_only_asked_for_the_form_that_dates_have(cell, form, monkeypatch):
    """Of 25 forms, which took a table of five thousand columns longer than five minutes."""
    asked, read_dates = [], notation.read_dates
    monkeypatch.setattr(
        notation, "read_dates", lambda text, form, *more: asked.append(form) or read_dates(text, form, *more)
    )
    assert typed(cell, "?").tolist()[0] == pd.to_datetime(cell, format=form)
    assert [one for one in asked if one != "ISO8601"] == [form]


@pytest.mark.parametrize(
    ("last", "form"),
    [
        ("03/04/2020 10:30:00", "%d/%m/%Y %H:%M:%S"),
        ("31/04/2020 10:30:00", None),
        ("13/04/2020 1:3:0", "%d/%m/%Y %H:%M:%S"),
        ("04/13/2020 10:30:00", "%m/%d/%Y %H:%M:%S"),
        ("13/04/0999 10:30:60", "%d/%m/%Y %H:%M:%S"),
        ("13/04/0999 10:30:00", "%d/%m/%Y %H:%M:%S"),
        ("13/04/0000 10:30:00", None),
        ("13/04/202x 10:30:00", None),
        ("13/04/2020  10:30:00", "%d/%m/%Y %H:%M:%S"),
        ("13/04/2020 10:30", None),
        ("2020-04-13 10:30:00", None),
        ("13.04.2020 10:30:00", None),
    ],
)
def test_what_is_read_in_parts_is_one_column_to_its_last_row(last, form, monkeypatch):
    """As pandas reads all of it in one form; of two that fit the day comes first."""
    monkeypatch.setattr("calib.data.notation.PARSED_AS_ONE_BLOCK", 100)
    monkeypatch.setattr("calib.data.notation.ROWS_AT_ONCE", 100)
    cells = [f"{1 + i % 12:02d}/{1 + i % 7:02d}/2020 {i % 24:02d}:30:00" for i in range(1500)]
    cells = [*cells, *["?"] * 150, last]
    found = typed_text(pa.chunked_array([cells[:700], cells[700:]]), "t")
    if form is None:
        assert found.values.tolist()[-1] == last
        return
    dates = pd.to_datetime(pd.Series([None if cell == "?" else cell for cell in cells]), format=form)
    pd.testing.assert_series_equal(found.values, dates)
    assert (found.note is None) == (last != "03/04/2020 10:30:00")


@pytest.mark.parametrize("first", ["1999-12-01", "1500-01-01"])
def test_a_nanosecond_in_the_last_row_is_kept_and_years_that_know_none_make_words(first, monkeypatch):
    monkeypatch.setattr("calib.data.notation.ROWS_AT_ONCE", 100)
    cells = [first] * 1500 + ["2020-01-01T00:00:00.123456789+02:00"]
    column = typed(*cells)
    assert (column.dtype == "M8[ns]") == (first > "1677")
    assert column.iloc[-1] == (pd.Timestamp("2019-12-31T22:00:00.123456789") if first > "1677" else cells[-1])


@pytest.mark.parametrize(
    "cells", [["1.2.10", "1.2.11"], ["0-4", "15-19"], ["2020-13-45", "2020-01-01"], ["10.0.0.1", "x"]]
)
def test_versions_ranges_and_impossible_dates_are_words(cells):
    assert typed(*cells).tolist() == cells


@pytest.mark.parametrize(
    ("cells", "dtype", "values"),
    [
        ([1, 2], "int64", [1, 2]),
        ([1, None, 2.5], "float64", [1, None, 2.5]),
        ([True, False], "bool", [True, False]),
        ([True, None], "boolean", [True, None]),
        ([decimal.Decimal("1.5"), None], "float64", [1.5, None]),
        ([1, "2", "?"], "float64", [1, 2, None]),
        ([1, "x"], "str", ["1", "x"]),
        ([True, "x"], "str", ["True", "x"]),
        ([10**20, 1], "str", ["100000000000000000000", "1"]),
        ([{"a": [1]}, None], "str", ['{"a": [1]}', None]),
        ([[1, 2], [3]], "str", ["[1, 2]", "[3]"]),
        (["\ud800", "b"], "str", ["\\ud800", "b"]),
        ([datetime.time(10, 30), None], "str", ["10:30:00", None]),
        ([None, None], "float64", [None, None]),
        ([], "float64", []),
    ],
)
def test_python_values(cells, dtype, values):
    column = typed_objects(cells)
    assert column.dtype == dtype
    assert [None if pd.isna(value) else value for value in column] == values


def test_python_dates():
    column = typed_objects([datetime.date(2020, 1, 31), datetime.datetime(2019, 12, 1, 6), None, pd.NaT])
    assert column.tolist()[:2] == [pd.Timestamp("2020-01-31"), pd.Timestamp("2019-12-01 06:00")]
    assert column.isna().tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    "spelt",
    [
        ("g", "b"),
        ("TRUE", "FALSE"),
        ("true", "False"),
        ("<50", ">50_1"),
        ("1", "2"),
        ("-1", "1"),
        ("+1", "-1"),
        ("1.0", "2.0"),
        ("01", "02"),
        ("1e0", "0"),
        ("None", "some"),
        ("yes", "no"),
        ("2020-01-01", "x"),
        ("ja, sicher", "nein"),
        ("0,5", "1,5"),
    ],
)
def test_labels_keep_the_spelling_of_the_file(spelt):
    first, second = spelt
    text = f'x;target\n1;"{first}"\n2;"{second}"\n3;?\n4;"{first}"\n'
    assert class_counts(read_table(text.encode(), "t.csv"), "target") == {first: 2, second: 1}


def test_truth_values_keep_the_spelling_of_their_format():
    records = [{"x": 1, "target": True}, {"x": 2, "target": False}, {"x": 3, "target": None}]
    assert class_counts(read_table(json.dumps(records).encode(), "t.json"), "target") == {
        "false": 1,
        "true": 1,
    }


@given(st.lists(st.sampled_from(["1", "1.0", "+1", "2", "02", "-0", "0", "?"]), min_size=3))
def test_equal_numbers_are_one_label_however_they_are_spelt(cells):
    present = [cell for cell in cells if cell != "?"]
    text = "x,target\n" + "".join(f"{i}.5,{cell}\n" for i, cell in enumerate(cells))
    counts = class_counts(read_table(text.encode(), "t.csv"), "target")
    assert sum(counts.values()) == len(present)
    assert len(counts) == len({float(cell) for cell in present})
    assert set(counts) <= set(present)


def test_label_spells_numbers_as_a_person_does():
    assert [label(v) for v in (1.0, np.float64(2), np.int64(3), 0.5, np.inf, 1e300, np.bool_(True), "x")] == [
        *("1", "2", "3", "0.5", "inf", "1e+300", "True", "x")
    ]


def test_a_typed_frame_has_typed_columns_whatever_it_had():
    frame = pd.DataFrame(
        {
            "objects": np.array([1, "x", None], dtype=object),
            "digits": pd.Series(["1", "2", "?"], dtype="str"),
            "zoned": pd.to_datetime(["2020-01-01"] * 3).tz_localize("Europe/Rome"),
            "period": pd.period_range("2020-01", periods=3, freq="M"),
            "span": pd.to_timedelta([1, 2, 3], unit="D"),
            "sparse": pd.arrays.SparseArray([0.0, 0.0, 1.0]),
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "arrow": pd.array([1.5, None, 3], dtype=pd.ArrowDtype(pa.float64())),
            "level": pd.Categorical(["a", "b", None]),
            7: [True, False, True],
        }
    )
    frame.index = [5, 5, 5]
    typed = typed_frame(frame)
    assert typed.columns.tolist() == [str(name) for name in frame.columns]
    assert typed.index.tolist() == [0, 1, 2]
    assert typed["digits"].tolist()[:2] == [1.0, 2.0]
    assert typed["zoned"][0] == pd.Timestamp("2019-12-31 23:00")
    assert typed["period"][1] == pd.Timestamp("2020-02-01")
    assert typed["span"].tolist() == [1.0, 2.0, 3.0]
    assert typed["sparse"].dtype == "float64"
    assert not any(typed[name].dtype == object for name in typed)


@pytest.mark.parametrize("frame", [pd.DataFrame(), [[1, 2]], pd.DataFrame([[1, 2]], columns=["a", "a"])])
def test_what_is_no_table_of_named_columns_is_refused(frame):
    with pytest.raises(DataError):
        typed_frame(frame)

"""What each format can say beyond a plain table: types, sheets, sparse rows, quoted names, nested values."""

import datetime
import decimal
import io
import json

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from calib.data import (
    DataError,
    class_counts,
    formats,
    json_table,
    looks_like_predictions,
    prepare,
    prepare_predictions,
    read_table,
    reading_of,
)
from calib.data.column_types import typed_objects
from scripts.hostile_files import container, document, ods_row, old_workbook


def arff(*lines):
    return read_table("\n".join(["@relation r", *lines]).encode(), "t.arff")


def test_arff_names_and_values_may_be_quoted():
    frame = arff(
        "@ATTRIBUTE\t'my attribute' REAL",
        '@attribute "it\'s" {\'a b\', "c,d", e}',
        "@attribute plain {0,1}",
        "@data",
        "% a remark",
        "1.5,'a b',0",
        "",
        '?,"c,d",1',
        "2, e ,?",
    )
    assert frame.columns.tolist() == ["my attribute", "it's", "plain"]
    assert frame["my attribute"].tolist()[::2] == [1.5, 2.0]
    assert frame["it's"].tolist() == ["a b", "c,d", "e"]
    assert frame["plain"].cat.categories.tolist() == ["0", "1"]
    assert frame.isna().to_numpy().tolist() == [[False] * 3, [True, False, False], [False, False, True]]


def test_arff_nominal_attributes_are_categories_with_all_declared_levels():
    frame = arff(
        "@attribute x {low,mid,high}", "@attribute y {0,1} % the label", "@data", "low,1", "high,0", "low,0"
    )
    assert isinstance(frame["x"].dtype, pd.CategoricalDtype)
    assert frame["x"].cat.categories.tolist() == ["low", "mid", "high"]
    assert class_counts(frame, "y") == {"0": 2, "1": 1}
    assert prepare(frame, "y").classes == ("0", "1")


def test_arff_whole_numbers_are_not_cut_and_ranges_are_no_hindrance():
    frame = arff(
        "@attribute x integer",
        "@attribute z numeric [0, 10]",
        "@attribute y {a,b}",
        "@data",
        "1.5,3,a",
        "2,4,b",
    )
    assert frame["x"].tolist() == [1.5, 2.0]
    assert frame["z"].tolist() == [3, 4]


def test_arff_dates_are_dates():
    frame = arff('@attribute d date "yyyy-MM-dd"', "@attribute y {a,b}", "@data", "'2020-01-31',a", "?,b")
    assert frame["d"][0] == pd.Timestamp("2020-01-31")
    assert pd.isna(frame["d"][1])


def test_arff_sparse_rows_are_zero_or_the_first_level_where_they_say_nothing():
    frame = arff(
        "@attribute x numeric",
        "@attribute y {no,yes}",
        "@attribute s {0,1}",
        "@data",
        "{0 1.5, 1 yes}",
        "{}",
        "{2 1, 0 ?}",
    )
    assert frame["x"].tolist()[:2] == [1.5, 0.0]
    assert np.isnan(frame["x"][2])
    assert frame["y"].tolist() == ["yes", "no", "no"]
    assert frame["s"].tolist() == ["0", "0", "1"]


def sheet(*rows, title="data", book=None):
    book = book or openpyxl.Workbook()
    page = (
        book.active
        if book.active.max_row <= 1 and book.active["A1"].value is None
        else book.create_sheet(title)
    )
    for row in rows:
        page.append(row)
    return book


def excel(book):
    buffer = io.BytesIO()
    book.save(buffer)
    return read_table(buffer.getvalue(), "t.xlsx")


def test_excel_cells_keep_their_types():
    day = datetime.datetime(2020, 1, 31, 12)
    frame = excel(
        sheet(
            ["n", "flag", "day", "word", "note", "error", None],
            [1, True, day, "a", 1, "#DIV/0!", None],
            [None, None, None, None, None, None, None],
            [2.5, False, day, "b", "x", 3, "beyond"],
        )
    )
    assert frame["n"].tolist() == [1, 2.5]
    assert frame["flag"].dtype == bool
    assert frame["day"].tolist() == [pd.Timestamp(day)] * 2
    assert frame["note"].tolist() == ["1", "x"]
    assert frame["error"].isna().tolist() == [True, False]
    assert frame["column 7"].tolist()[1] == "beyond"
    assert class_counts(frame, "flag") == {"FALSE": 1, "TRUE": 1}


def test_excel_reads_the_first_filled_sheet_and_says_so():
    book = openpyxl.Workbook()
    for title in ("one", "two"):
        page = book.create_sheet(title)
        page.append([f"{title} x", "target"])
        page.append([1, "a"])
    frame = excel(book)
    assert frame.columns.tolist() == ["one x", "target"]
    assert "Only sheet 'one'" in reading_of(frame).notes[0]
    with pytest.raises(DataError, match="All sheets of .* are empty"):
        excel(openpyxl.Workbook())
    with pytest.raises(DataError, match="both called 'x'"):
        excel(sheet(["x", "x"], [1, 2]))
    with pytest.raises(DataError, match="no rows"):
        excel(sheet(["x", "y"]))


def parquet(table):
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(table, buffer)
    return read_table(buffer.getvalue(), "t.parquet")


def test_parquet_types_become_columns_a_model_can_use():
    frame = parquet(
        pa.table(
            {
                "int": pa.array([1, None, 3], pa.int16()),
                "decimal": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("2.25")]),
                "day": pa.array([datetime.date(2020, 1, 31), None, datetime.date(2020, 2, 1)]),
                "zoned": pa.array([0, None, 3_600_000_000], pa.timestamp("us", tz="Europe/Rome")),
                "level": pa.array(["a", "b", "a"]).dictionary_encode(),
                "code": pa.array([7, 8, 7]).dictionary_encode(),
                "flag": [True, None, False],
                "digits": ["1", "2", "?"],
                "nested": [[1, 2], None, [3]],
                "struct": [{"a": 1}, None, {"a": 2}],
                "bytes": [b"x", b"y", None],
                "nothing": pa.nulls(3),
            }
        )
    )
    assert frame["int"].tolist()[::2] == [1, 3]
    assert frame["decimal"].tolist()[::2] == [1.5, 2.25]
    assert frame["day"][0] == pd.Timestamp("2020-01-31")
    assert frame["zoned"][2] == pd.Timestamp("1970-01-01 01:00")
    assert frame["level"].cat.categories.tolist() == ["a", "b"]
    assert frame["code"].tolist() == [7, 8, 7]
    assert frame["flag"].tolist()[::2] == [True, False]
    assert frame["digits"].tolist()[:2] == [1, 2]
    assert frame["nested"].tolist()[::2] == ["[1, 2]", "[3]"]
    assert frame["struct"][0] == '{"a": 1}'
    assert frame["nothing"].isna().all()
    assert not any(frame[name].dtype == object for name in frame)


def test_columns_of_parquet_that_come_a_few_at_a_time_are_all_in_their_place(monkeypatch):
    monkeypatch.setattr(formats, "COLUMNS_AT_ONCE", 2)
    columns = {f"c{i}": [i, i + 1, i + 2] for i in range(5)}
    # Arrow hands over the b of "a" where "a.b" is asked for
    columns |= {"a": [{"b": 7}, {"b": 8}, None], "a.b": ["x", "y", "z"], "a.c": [1.5, 2.5, 3.5]}
    frame = parquet(pa.table(columns))
    assert list(frame) == list(columns)
    assert all(frame[f"c{i}"].tolist() == columns[f"c{i}"] for i in range(5))
    assert frame["a"].tolist()[:2] == ['{"b": 7}', '{"b": 8}']
    assert frame["a.b"].tolist() == ["x", "y", "z"]
    assert frame["a.c"].tolist() == [1.5, 2.5, 3.5]


def test_numbers_of_parquet_that_come_batch_by_batch_are_all_in_their_place(monkeypatch):
    monkeypatch.setattr(formats, "BATCH", 6)
    whole, gaps = list(range(10)), [*range(7), None, 8, 9]
    frame = parquet(pa.table({"whole": pa.array(whole, pa.int16()), "gaps": gaps}))
    assert frame["whole"].tolist() == whole
    assert frame["whole"].dtype == np.int16
    assert frame["gaps"].isna().tolist() == [value is None for value in gaps]
    assert frame["gaps"].dropna().tolist() == [value for value in gaps if value is not None]


NOON, DAY = datetime.datetime(1960, 1, 31, 12, 30), datetime.date(1960, 1, 31)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *((pa.timestamp(unit), NOON) for unit in ("s", "ms", "us", "ns")),
        (pa.timestamp("us", "Europe/Berlin"), NOON),
        (pa.timestamp("ns", "UTC"), NOON),
        (pa.date32(), DAY),
        (pa.date64(), DAY),
        (pa.bool_(), True),
    ],
    ids=str,
)
def test_dates_and_truth_values_of_parquet_are_those_of_single_python_values(kind, value):
    for given in ([value, value], [value, None], [None, None]):
        column = pa.array(given, kind)
        found = parquet(pa.table({"a": column, "y": ["0", "1"]}))["a"]
        pd.testing.assert_series_equal(found, typed_objects(column.to_pylist()), check_names=False)


def test_parquet_with_two_columns_of_one_name_is_refused():
    with pytest.raises(DataError, match="both called 'a'"):
        parquet(pa.table([[1], [2]], names=["a", "a"]))


def test_json_records_may_lack_keys_and_hold_nested_values():
    frame = read_table(b'[{"a": 1, "b": {"c": 2}}, {"a": 2.5, "d": "x"}, {"a": null}]', "t.json")
    assert frame.columns.tolist() == ["a", "b", "d"]
    assert frame["a"].tolist()[:2] == [1, 2.5]
    assert frame["b"].tolist()[:1] == ['{"c": 2}']
    assert frame["d"].isna().tolist() == [True, False, True]


@pytest.mark.parametrize("wrap", ["data", "records", "rows"])
def test_json_records_may_be_wrapped(wrap):
    records = [{"a": 1, "y": True}, {"a": 2, "y": False}]
    frame = read_table(json.dumps({"version": 1, wrap: records}).encode(), "t.json")
    assert frame["a"].tolist() == [1, 2]
    assert class_counts(frame, "y") == {"false": 1, "true": 1}


def test_json_numbers_beyond_all_bounds_do_no_harm():
    frame = read_table(b'[{"a": 1e999, "b": 123456789012345678901}, {"a": NaN, "b": 1}]', "t.json")
    assert np.isposinf(frame["a"][0])
    assert np.isnan(frame["a"][1])
    assert frame["b"].tolist() == ["123456789012345678901", "1"]


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


# --- lists in a Parquet file
LABEL = np.arange(6) % 3
SHARES = np.random.default_rng(0).dirichlet([1, 1, 1], 6)


def lists(kind, values=SHARES, **others):
    """A Parquet file with a column of lists beside the label."""
    column = pa.array(list(values), kind)
    return written(pa.table({"label": LABEL, "probs": column, **others}))


def written(table):
    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file)
    return file.getvalue()


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.float64()),
        pa.list_(pa.float32()),
        pa.large_list(pa.float64()),
        pa.list_(pa.float64(), 3),
        pa.list_(pa.float16(), 3),
    ],
    ids=str,
)
def test_lists_of_numbers_in_parquet_are_columns(kind):
    frame = read_table(lists(kind, SHARES.astype(kind.value_type.to_pandas_dtype())), "net.parquet")
    assert list(frame) == ["label", "probs_0", "probs_1", "probs_2"]
    np.testing.assert_array_equal(frame.iloc[:, 1:], SHARES.astype(kind.value_type.to_pandas_dtype()))
    assert looks_like_predictions(frame)
    assert prepare_predictions(frame, "label").names == ("0", "1", "2")


def test_gaps_among_lists_are_gaps():
    values = [*SHARES[:4], None, [0.5, None, 0.5]]
    for kind in (pa.list_(pa.float64()), pa.list_(pa.float64(), 3)):
        frame = read_table(lists(kind, values), "net.parquet")
        assert frame.iloc[4, 1:].isna().all()
        assert frame.iloc[5, 1:].isna().tolist() == [False, True, False]
        np.testing.assert_array_equal(frame.iloc[:4, 1:], SHARES[:4])
    whole = read_table(lists(pa.list_(pa.int64()), [[1, 0, 0]] * 5 + [None]), "net.parquet")
    assert whole.iloc[0, 1:].tolist() == [1, 0, 0]
    assert whole.iloc[5, 1:].isna().all()
    plain = read_table(lists(pa.list_(pa.int64()), [[1, 0, 0]] * 6), "net.parquet")
    assert (plain.dtypes == "int64").all()


def test_lists_of_different_lengths_stay_texts():
    frame = read_table(lists(pa.list_(pa.float64()), [[1.0], [1.0, 2.0]] * 3), "net.parquet")
    assert list(frame) == ["label", "probs"]
    assert frame["probs"].iloc[1] == "[1.0, 2.0]"
    words = read_table(lists(pa.list_(pa.string()), [["a", "b"]] * 6), "net.parquet")
    assert list(words) == ["label", "probs"]


def test_lists_of_many_rows_keep_their_order_and_names_are_checked():
    values = np.random.default_rng(1).random((2_000, 4), np.float32)
    table = pa.table({"x": pa.FixedSizeListArray.from_arrays(values.ravel(), 4), "i": np.arange(2_000)})
    frame = read_table(written(table), "long.parquet")
    np.testing.assert_array_equal(frame[["x_0", "x_1", "x_2", "x_3"]], values)
    np.testing.assert_array_equal(frame["i"], np.arange(2_000))
    alone = read_table(written(table.select(["x"])), "long.parquet")
    np.testing.assert_array_equal(alone, values)
    with pytest.raises(DataError, match="both called 'probs_1'"):
        read_table(lists(pa.list_(pa.float64()), probs_1=LABEL), "net.parquet")


def test_lists_are_bounded_by_the_columns_that_they_become():
    wide = [np.zeros(6_000)] * 6
    with pytest.raises(DataError, match="6,000 columns, which is too many"):
        read_table(lists(pa.list_(pa.float64()), wide), "net.parquet")


# --- spreadsheets of other programs
# ---------------------------------------------------------------------------------


OTHERS = {
    "old.xls": lambda: container(
        old_workbook(
            *((i, j, cell) for i, row in enumerate(SHEET) for j, cell in enumerate(row) if cell != "")
        )
    ),
    "open.ods": lambda: document([ods_row(*row) for row in SHEET] + [ods_row("", repeated=2**20 - 9)]),
}
SHEET = [("Sales", "", ""), ("size", "n", "target"), (1.5, 1, "g"), (-2.25, 2, "b"), (4.0, 40, "g")]


@pytest.mark.parametrize("name", OTHERS)
def test_a_spreadsheet_of_another_program_is_read_like_one_of_excel(name):
    frame = read_table(OTHERS[name](), name)
    assert frame.to_dict("list") == {"size": [1.5, -2.25, 4.0], "n": [1, 2, 40], "target": ["g", "b", "g"]}
    assert frame.dtypes.astype(str).tolist() == ["float64", "int64", "str"]
    assert reading_of(frame).header == 2

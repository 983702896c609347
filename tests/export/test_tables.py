"""A CSV from here is safe to open in a spreadsheet, and nothing in it is lost."""

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib.export import safe_csv

DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
LETTERS = st.characters(exclude_categories=("Cs", "Cc"), include_characters="\t\n\r")
ODD = st.text(st.sampled_from([*DANGEROUS, *';|," ', "a", "1"]), max_size=12)
TEXT = st.builds(str.__add__, st.sampled_from(["", *DANGEROUS]), st.text(LETTERS, max_size=12)) | ODD
FLOATS = st.floats(allow_nan=False, width=64)


def cells(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


@given(
    st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8),
    TEXT.filter(lambda name: name != "b"),
    st.sampled_from([object, "str", "category"]),
)
def test_no_cell_and_no_name_begins_like_a_formula(rows, name, kind):
    frame = pd.DataFrame(rows, columns=[name, "b"], dtype=object).astype(kind)
    for row in cells(safe_csv(frame)):
        assert not any(cell.startswith(DANGEROUS) for cell in row)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8))
@pytest.mark.parametrize("separator", [";", "\t", "|"])
@pytest.mark.parametrize("quotes", [csv.QUOTE_MINIMAL, csv.QUOTE_NONE])
def test_no_cell_begins_like_a_formula_where_a_spreadsheet_splits_elsewhere(separator, quotes, rows):
    frame = pd.DataFrame(rows, columns=["x", "y"], dtype=object)
    text = safe_csv(frame).decode("utf-8-sig")
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator, quoting=quotes):
        for cell in row:
            assert not cell.startswith(tuple("=+-@＝＋－＠"))


@given(st.lists(TEXT, min_size=1, max_size=8))
def test_text_is_kept_but_for_apostrophes_before_a_formula(texts):
    content = cells(safe_csv(pd.DataFrame({"x": texts, "i": range(len(texts))}, dtype=object)))
    read = [row[0] for row in content[1:]]
    for text, found in zip(texts, read, strict=True):
        assert found.replace("'", "") == text.replace("'", "")
        if not re.search(r"[;|\t\r\n]", text):
            assert found == (f"'{text}" if text.startswith(DANGEROUS) else text)


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("a;=1+1", "a;'=1+1"),
        ("a\t@SUM(A1)", "a\t'@SUM(A1)"),
        ('a;"=1', "a;\"'=1"),
        ("a; -5", "a; '-5"),
        ("a\n=1", "a\n'=1"),
        ("x, -y; b-c | d", "x, -y; b-c | d"),
    ],
)
def test_what_follows_a_separator_is_defused_and_nothing_else(cell, written):
    assert cells(safe_csv(pd.DataFrame({"x": [cell]})))[1] == [written]


@given(st.lists(st.tuples(FLOATS, st.integers(-(2**53), 2**53)), min_size=1, max_size=20))
def test_numbers_keep_every_digit_and_their_sign(rows):
    frame = pd.DataFrame(rows, columns=["x", "n"])
    read = pd.read_csv(io.BytesIO(safe_csv(frame)), encoding="utf-8-sig")
    np.testing.assert_array_equal(read["x"], frame["x"])
    np.testing.assert_array_equal(read["n"], frame["n"])


@pytest.mark.parametrize(
    "evil",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "=cmd|' /C calc'!A0",
        "＝1",
        '=HYPERLINK("http://e.org")',
    ],
)
def test_known_attacks_are_defused_in_cells_names_categories_and_index(evil):
    frame = pd.DataFrame(
        {evil: pd.Categorical([evil, "b"]), "o": [evil, 1]}, index=pd.Index([evil, "x"], name=evil + "i")
    )
    for row in cells(safe_csv(frame, index=True)):
        for cell in row:
            assert not cell.startswith(DANGEROUS)
    assert evil.replace("'", "") in [cell.replace("'", "") for cell in cells(safe_csv(frame))[0]]


def test_what_a_spreadsheet_needs_stands_at_the_beginning():
    content = safe_csv(pd.DataFrame({"ü": ["–"]}))
    assert content.startswith(b"\xef\xbb\xbf")
    assert content.decode("utf-8-sig") == "ü\r\n–\r\n"


def test_missing_values_and_dates_survive():
    frame = pd.DataFrame({"x": [1.5, np.nan], "d": pd.to_datetime(["2020-01-02", None]), "b": [True, False]})
    assert safe_csv(frame).decode("utf-8-sig") == "x,d,b\r\n1.5,2020-01-02,True\r\n,,False\r\n"


def test_the_table_itself_is_not_touched():
    frame = pd.DataFrame({"=a": ["=1"]})
    before = frame.copy(deep=True)
    safe_csv(frame, index=True)
    pd.testing.assert_frame_equal(frame, before)


def test_two_columns_of_one_name_are_both_kept():
    frame = pd.DataFrame([["=1", 2], ["b", 3]], columns=["x", "x"])
    assert cells(safe_csv(frame)) == [["x", "x"], ["'=1", "2"], ["b", "3"]]

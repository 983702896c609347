"""Delimiter, decimal comma, header and quoting are found out, and no row is lost on the way."""

import numpy as np
import pandas as pd
import pytest

from calib.data import DataError, delimited, read_table, reading_of
from calib.data.column_types import DICTIONARY_TYPE
from calib.data.delimited import Layout, header, sniff
from calib.kernel.progress import Watch

ABC = Layout(",", "abc", False, 0, (), {})


def read(text, name="t.csv"):
    return read_table(text.encode(), name)


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("1,5;2,5\n2,5;3,5\n", ";"),
        ("a\tb\n1,5\t2\n", "\t"),
        ("a|b\nx;y|2\nz|3\n", "|"),
        ('a,b\n"x;y",1\n"u;v",2\n', ","),
        ("a,b\n1,2\n3,4,5\n6,7\n", ","),
        ("5.1  3.5 0\n4.9\t3.0  1\n", " "),
        ("one\ntwo\n", ","),
    ],
)
def test_the_delimiter_is_the_one_that_makes_even_lines(text, delimiter):
    assert sniff(text.encode()) == delimiter


def test_lines_of_spaced_numbers_are_columns():
    frame = read("  70.0 1.0  2\n 67.0 0.0  1\n", "heart.dat")
    assert frame.to_numpy().tolist() == [[70, 1, 2], [67, 0, 1]]
    assert "spaces" in reading_of(frame).notes[0]
    assert "no header" in reading_of(frame).notes[1]


@pytest.mark.parametrize(
    ("rows", "headed"),
    [
        ([["a", "b"], ["1", "2"]], True),
        ([["5.1", "3.5", "setosa"], ["4.9", "3.0", "setosa"]], False),
        ([["5.1", "3.5"], ["4.9", "3.0"]], False),
        ([["0", "1", "2"], ["4.9", "3.0", "7"]], True),  # running numbers name pixels
        ([["400", "402", "404"], ["0.1", "0.2", "0.3"]], True),  # and wavelengths
        ([["2019", "2020", "label"], ["1.5", "2.5", "yes"], ["2.5", "3.5", "no"]], True),
        ([["2019", "2020", "label"], ["1.5", "2.5", "1"], ["2.5", "3.5", "0"]], True),
        ([["x", "o", "b", "x", "win"], ["o", "x", "b", "o", "lose"], ["x", "o", "b", "x", "win"]], False),
        ([["1", "0.9", "?", "g"], ["0", "0.1", "?", "b"], ["1", "0.8", "3", "g"]], False),
        ([["sex", "smokes"], ["m", "yes"], ["f", "no"]], True),
        ([["id", "name"], ["1", "Ada"], ["2", "Bo"]], True),
    ],
)
def test_a_first_row_of_data_is_told_from_a_header(rows, headed):
    names, found = header(rows)
    assert found is headed
    assert names == (rows[0] if headed else [f"column {i}" for i in range(1, len(rows[0]) + 1)])


def test_a_file_without_a_header_keeps_its_first_row_and_says_so():
    frame = read("5.1,3.5,a\n4.9,3.0,b\n4.7,3.2,a\n")
    assert len(frame) == 3
    assert frame["column 1"].tolist() == [5.1, 4.9, 4.7]
    assert "no header line" in reading_of(frame).notes[0]


def test_row_names_without_a_header_and_delimiters_at_the_end_are_columns_of_their_own():
    frame = read('"x","y"\n"1",5,"a"\n"2",6,"b"\n')  # as R's write.table writes it
    assert frame.columns.tolist() == ["column 1", "x", "y"]
    assert frame["x"].tolist() == [5, 6]
    frame = read("x,y\n5,a,\n6,b,\n")
    assert frame["y"].tolist() == ["a", "b"]
    assert frame["column 3"].isna().all()


def test_a_header_too_short_for_its_rows_is_refused():
    with pytest.raises(DataError, match=r"Line 2 .*\b3 cells.*\b2\b"):
        read("a,b\n1,2,3\n4,5,6\n")


def test_blank_lines_are_no_rows_and_rows_of_gaps_are():
    frame = read("\n\na,b\n\n1,2\n,\n\n3,4\n\n\n")
    assert frame["a"].isna().tolist() == [False, True, False]


def test_quoted_cells_may_hold_delimiters_quotes_and_lines():
    frame = read('a,b\n"x, ""y""\nz",1\nw,2\n')
    assert frame["a"].tolist() == ['x, "y"\nz', "w"]


def test_a_mark_for_inches_is_not_an_open_quote():
    assert read('size,price\n5",1\n7",2\n3,4\n')["size"].tolist() == ['5"', '7"', "3"]
    assert len(read('size,price\n5",1\n7,2\n')) == 2


def test_a_ragged_line_is_named_by_its_number_in_the_file():
    with pytest.raises(DataError, match=r"Line 5002 .*\b3 cells.*\b2\b"):
        read("a,b\n" + "1,2\n" * 5000 + "1,2,3\n" + "1,2\n" * 5000)
    with pytest.raises(DataError, match=r"Line 5 .*\b1 cell\b.*\b2\b"):
        read("sep=;\na;b\n1;2\n3;4\n5\n")


def test_decimal_commas_and_thousands():
    frame = read("a;b;c\n1,5;1.234,5;1.234\n2,25;3,0;999\n")
    assert frame.to_numpy().tolist() == [[1.5, 1234.5, 1234.0], [2.25, 3.0, 999.0]]
    assert sum("decimal comma" in note for note in reading_of(frame).notes) == 3
    frame = read("a;b\n1.234;x\n2.567;y\n")  # no decimal comma anywhere: dots are decimal points
    assert frame["a"].tolist() == [1.234, 2.567]
    frame = read("a;b\n1,234;x\n2,567;y\n")  # ambiguous, but commas with semicolons are decimal
    assert frame["a"].tolist() == [1.234, 2.567]
    frame = read('a,b\n"1,234",x\n"12,345,678.5",y\n')  # and between commas they are thousands
    assert frame["a"].tolist() == [1234, 12345678.5]
    frame = read('a,b\n"1,5",x\n"2,25",y\n')
    assert frame["a"].tolist() == [1.5, 2.25]
    assert read('a,b\n"1,5",x\n"2.5",y\n')["a"].tolist() == ["1,5", "2.5"]  # contradictory: left as it is


def test_a_large_text_goes_to_arrow_piece_by_piece_whatever_its_letters():
    """Letters of one to four bytes, over several of Arrow's blocks of 16 MB; what is left of these is ASCII."""
    words = ["a", "ß", "…", "🙂"]
    content = ("x,word\n" + "".join(f"{i},{words[i % 4] * 40}\n" for i in range(250_000))).encode()
    frame = read_table(content, "t.csv")
    assert frame["x"].tolist() == list(range(250_000))
    assert frame["word"].tolist() == [words[i % 4] * 40 for i in range(250_000)]


ROWS = 4_400  # of which the first 1,000 tell what the columns hold
COLUMNS = {
    "fractions": lambda rng: rng.random(ROWS).round(4).astype(str),
    "whole": lambda rng: rng.integers(-500, 5000, ROWS).astype(str),
    "running": lambda rng: np.arange(ROWS).astype(str),
    "exponents": lambda rng: np.char.mod("%.3e", rng.normal(size=ROWS)),
    "long": lambda rng: rng.integers(10**14, 10**16, ROWS).astype(str),
    "few": lambda rng: rng.choice(["0", "1", "01", "1.0"], ROWS),
    "words": lambda rng: rng.choice(["red", " blue", "NA", "none", "Ünal", "1"], ROWS),
    "names": lambda rng: np.char.mod("name %d", rng.integers(0, ROWS, ROWS)),
    "commas": lambda rng: np.char.replace(rng.random(ROWS).round(3).astype(str), ".", ","),
    "thousands": lambda rng: np.char.mod("%d.500", rng.integers(1, 999, ROWS)),
    "shares": lambda rng: np.char.mod("%d %%", rng.integers(0, 200, ROWS)),
    "days": lambda rng: np.array([f"{d % 28 + 1:02}/{d % 12 + 1:02}/2020" for d in rng.integers(0, 9999, ROWS)]),
    "empty": lambda rng: np.full(ROWS, ""),
}  # fmt: skip
STRAYS = [
    "",
    "NA",
    "?",
    "-",
    " 7",
    "7 ",
    "1.5",
    "0x1F",
    "inf",
    "nan",
    "word",
    "12345678901234567890",
    "1,5",
    "+3",
]
STRAYS += ["\u00a05", '"8"', "1e400", "-0"]


def random_text(rng: np.random.Generator) -> str:
    """Columns of many kinds, into which strays come early, late or not at all."""
    delimiter = rng.choice([",", ";", "\t"])
    names = rng.choice(list(COLUMNS), rng.integers(2, 6), replace=False)
    columns = [COLUMNS[name](rng).astype(object) for name in names]
    for column in columns:
        for stray in rng.choice(STRAYS, rng.integers(0, 3)):
            begin = rng.choice([0, 1200])
            column[begin + rng.integers(0, ROWS - begin, rng.integers(1, 40))] = stray
        if delimiter == ",":
            column[:] = [f'"{cell}"' if "," in cell else cell for cell in column]
    lines = map(delimiter.join, zip(*columns, strict=True))
    return "\n".join([delimiter.join(names), *lines]) + "\n"


def by_kind_from_now_on(monkeypatch):
    """Let texts of any length be read by the kinds of their first rows, in many blocks."""
    monkeypatch.setattr(delimited, "LONG_TEXT", 0)
    monkeypatch.setattr(delimited, "SMALL_BLOCK", 4_000)
    monkeypatch.setattr(delimited, "BLOCK_TOPS", 1)
    monkeypatch.setattr(delimited, "HEAD_CELLS", 0)


@pytest.mark.parametrize("seed", range(60))
def test_a_long_text_is_read_by_its_first_rows_as_it_is_cell_by_cell(seed, monkeypatch):
    text = random_text(np.random.default_rng(seed)).encode()
    monkeypatch.setattr(delimited, "LONG_TEXT", len(text) + 1)
    by_cells = read_table(text, "t.csv")
    by_kind_from_now_on(monkeypatch)
    by_kind = read_table(text, "t.csv")
    pd.testing.assert_frame_equal(by_kind, by_cells, check_exact=True)
    assert reading_of(by_kind) == reading_of(by_cells)


@pytest.mark.parametrize("last", ["", "word,1,a\n"])  # the word makes all cells text
def test_a_text_that_reports_its_rows_is_the_same_table(last, monkeypatch):
    text = "a,b,c\n" + "".join(f"{i},{i / 7},{'ab'[i % 2]}\n" for i in range(100_000)) + last
    at_once, seen = delimited.read_delimited(text.encode()), []
    monkeypatch.setattr(delimited, "TOLD", 0)
    watch = Watch(lambda share, doing: seen.append((share, doing)))
    pd.testing.assert_frame_equal(
        delimited.read_delimited(text.encode(), watch=watch), at_once, check_exact=True
    )
    rows = len(at_once)
    assert seen[0][0] < 1
    assert seen[-1] == (1.0, f"{rows:,} of {rows:,} rows")


@pytest.mark.parametrize("many", [0, 10_000_000])  # cells, from which every column is an array of its own
def test_columns_of_a_long_text_are_read_by_kind(many, monkeypatch):
    """Whether the test above compares two things: numbers and levels come as such, and a late word undoes it."""
    rows = "".join(f"{i},{i / 7},{'ab'[i % 2]}\n" for i in range(5_000)).encode()
    by_kind_from_now_on(monkeypatch)
    monkeypatch.setattr("calib.data.column_types.MANY_CELLS", many)
    numbers, others = delimited._by_kind(rows, ABC, Watch())
    assert numbers.dtypes.to_dict() == {"a": np.int64, "b": np.float64}
    assert others.schema.types == [DICTIONARY_TYPE]
    for last in (b"x,1,a\n", b"0x1F,1,a\n", b"1,1e20,a\n", b"1,2\n"):
        assert delimited._by_kind(rows + last, ABC, Watch()) is None


def test_a_line_longer_than_a_block_is_read_as_text(monkeypatch):
    rows = "".join(f"{i},{i / 7},{'ab'[i % 2]}\n" for i in range(5_000)).encode()
    long = b"1,2," + b"c" * 9_000 + b"\n"
    by_kind_from_now_on(monkeypatch)
    assert delimited._by_kind(rows + long, ABC, Watch()) is None
    assert read_table(b"a,b,c\n" + rows + long, "t.csv")["c"].iloc[-1] == "c" * 9_000


def test_columns_of_the_same_levels_share_what_was_found_but_not_their_notes(monkeypatch):
    """Thousands of columns of 0 and 1 are recognised once; a note names its own column."""
    cells = ["1,5;50 %;01;x;1,5", "2,5;5 %;1;y;2,5"]
    content = ("a;b;c;d;e\n" + "".join(f"{cells[i % 2]}\n" for i in range(2_000))).encode()
    cell_by_cell = read_table(content, "t.csv")
    by_kind_from_now_on(monkeypatch)
    frame = read_table(content, "t.csv")
    pd.testing.assert_frame_equal(frame, cell_by_cell, check_exact=True)
    assert reading_of(frame) == reading_of(cell_by_cell)
    assert [note for note in reading_of(frame).notes if "Column 'e'" in note]

    monkeypatch.setattr(delimited, "FEWEST_HEAD", 20)
    same = ("a,b,y\n" + "".join(f"0{i % 2},{i % 2},{i % 2}\n" for i in range(2_000))).encode()
    frame = read_table(same, "t.csv")
    assert frame["b"].tolist() == frame["y"].tolist() == [0, 1] * 1_000
    assert reading_of(frame).spelling == {"a": {0: "00", 1: "01"}}


def test_a_text_in_pieces_is_the_text_as_a_whole(monkeypatch):
    spaced = b"a b  y\n" + b" 1   2 x \n3\t4 y\n" * 50
    quoted = b"a,y\n" + b'"one\ntwo",0\n' * 50 + b"1\n"
    whole = read_table(spaced, "t.csv")
    monkeypatch.setattr("calib.data.delimited.READ_AT_ONCE", 7)
    pd.testing.assert_frame_equal(read_table(spaced, "t.csv"), whole)
    with pytest.raises(DataError, match=r"Line 102 .*\b1 cell\b.*\b2\b"):
        read_table(quoted, "t.csv")


def test_a_ragged_line_is_named_even_if_the_header_has_no_name_for_the_row_names():
    with pytest.raises(DataError, match=r"Line 4 .*\b2 cells\b.*\b3\b"):
        read("a,b\nr1,1,2\nr2,3,4\nr3,5\nr4,6,7\n")

"""Titles, remarks and empty lines above a table are found; a plain header stays where it is; a choice is obeyed."""

import io

import numpy as np
import openpyxl
import pandas as pd
import pytest

from calib.data import DataError, TableFile, read_table, reading_of

ROWS = pd.DataFrame(
    {"age": [31, 40, 22, 58], "town": ["Ulm", "Bonn", "Ulm", "Kiel"], "target": ["n", "y", "n", "y"]}
)
TABLE = ROWS.to_csv(index=False)

ABOVE = {
    "nothing": "",
    "a title": "Customers of 2020\n",
    "a title and an empty line": "Customers of 2020\n\n",
    "remarks": "# made by hand, twice\n# and checked\n",
    "remarks of another kind": "% one\n% two, three, four\n",
    "a padded title": "Customers,,\n",
    "names and values": "made by,us\nmade on,2020-01-01\n\n",
    "title, empty rows, names and values": "Customers,,\n,,\nmade by,us,\n",
    "a long title": "Customers, towns, ages, and what they bought: all of 2020\n",
}


@pytest.mark.parametrize("above", ABOVE)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_what_stands_above_the_header_is_not_read_and_is_said(above, delimiter):
    text = (ABOVE[above] + TABLE).replace(",", delimiter)
    frame = read_table(text.encode(), "t.csv")
    pd.testing.assert_frame_equal(frame, ROWS, check_dtype=False)
    line = ABOVE[above].count("\n") + 1
    assert reading_of(frame).header == line
    assert reading_of(frame).stated == ({} if line == 1 else {"header": line})
    assert any(f"in line {line};" in note for note in reading_of(frame).notes) == (line > 1)
    assert reading_of(frame).top[line - 1].startswith("age")


PLAIN = [
    "a,b\n1,2\n3,4\n",
    ",a,b\n1,2,3\n2,5,6\n",  # row names without a name
    "a,b,\n1,2,\n3,4,\n",
    "#id,x,y\n1,7,3\n2,3,9\n",
    "x,\n1,2\n3,4\n",
    "name,note,z\nA,,1\nB,,2\n",
    "5.1,3.5,a\n4.9,3.0,b\n6.0,3.1,a\n5.0,3.3,b\n",  # no header at all
    "0,1,2\n5,6,7\n8,9,1\n",
]


@pytest.mark.parametrize("text", PLAIN)
def test_a_table_that_begins_at_once_is_read_from_its_first_line(text):
    frame = read_table(text.encode(), "t.csv")
    assert reading_of(frame).stated == {}
    assert reading_of(frame).header in (0, 1)
    assert len(frame) == text.count("\n") - (reading_of(frame).header > 0)


def test_the_header_can_be_chosen():
    text = "Customers\n" + TABLE
    chosen = read_table(text.encode(), "t.csv", header=3)
    assert chosen.columns.tolist() == ["31", "Ulm", "n"]
    assert len(chosen) == len(ROWS) - 1
    none = read_table(TABLE.encode(), "t.csv", header=0)
    assert none.columns.tolist() == ["column 1", "column 2", "column 3"]
    assert none.iloc[0].tolist() == ["age", "town", "target"]
    with pytest.raises(DataError, match="line 99"):
        read_table(text.encode(), "t.csv", header=99)


def test_a_line_that_is_wrong_is_named_as_the_file_counts():
    text = "Customers\n\n" + TABLE + "1,2\n"
    with pytest.raises(DataError, match=r"Line 8 .*\b2 cells.*\b3\b"):
        read_table(text.encode(), "t.csv")


def book(above=(), sheets=1) -> bytes:
    made = openpyxl.Workbook()
    for i in range(sheets):
        page = made.active if i == 0 else made.create_sheet()
        page.title = f"year {2020 + i}"
        for row in above:
            page.append(list(row))
        page.append(list(ROWS.columns))
        for row in ROWS.assign(age=ROWS["age"] + i).itertuples(index=False):
            page.append(list(row))
    content = io.BytesIO()
    made.save(content)
    return content.getvalue()


@pytest.mark.parametrize(
    "above", [(), [("Customers",)], [("Customers",), (), ("made by", None)], [(None,), ("All",)]]
)
def test_titles_of_a_sheet_are_not_read(above):
    frame = read_table(book(above), "t.xlsx")
    pd.testing.assert_frame_equal(frame, ROWS, check_dtype=False)
    assert reading_of(frame).header == len(above) + 1
    assert reading_of(frame).stated == ({"header": len(above) + 1} if above else {})


def test_sheet_and_header_row_can_be_chosen():
    content = book([("Customers",)], sheets=3)
    assert reading_of(read_table(content, "t.xlsx")).stated == {"sheet": "year 2020", "header": 2}
    file = TableFile("t.xlsx", content)
    for i in range(3):
        frame = file.read(sheet=f"year {2020 + i}")
        np.testing.assert_array_equal(frame["age"], ROWS["age"] + i)
        assert reading_of(frame).sheets == ("year 2020", "year 2021", "year 2022")
    assert file.read(sheet="year 2021", header=3).columns.tolist() == ["32", "Ulm", "n"]
    assert file.read(header=0).columns[0] == "column 1"
    with pytest.raises(DataError, match="no sheet 'year 1'.*'year 2020'"):
        file.read(sheet="year 1")
    with pytest.raises(DataError, match="row 50"):
        file.read(header=50)

"""Every format comes back as it was written, whatever its name, encoding and compression; nonsense is refused."""

import gzip
import io
import json
import pickle
import threading
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calib.data import DataError, TooLargeError, limits, read_table, reading_of
from calib.kernel.progress import Cancelled, Watch
from tests.saying import assert_says

TABLE = pd.DataFrame(
    {
        "size": [1.5, -2.25, np.nan, 4.0],
        "count": [1, 2, 3, 40],
        "colour": ["blau", "größer", "rot, hell", "grün"],
        "target": ["g", "b", "g", "b"],
    }
)
CSV = TABLE.to_csv(index=False)
# Two small characters in front of every cell keep the texts apart from numbers, dates and gaps.
WORDS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=8).map(
    lambda text: ("w_" + text).strip()
)


def parquet(table):
    buffer = io.BytesIO()
    table.to_parquet(buffer, index=False)
    return buffer.getvalue()


def excel(table, **options):
    buffer = io.BytesIO()
    table.to_excel(buffer, index=False, **options)
    return buffer.getvalue()


def arff_text(table):
    cells = (
        table.astype(object)
        .where(table.notna(), "?")
        .map(lambda cell: f"'{cell}'" if isinstance(cell, str) else cell)
    )
    cells = cells.replace("'?'", "?")
    kinds = ["numeric", "integer", "string", "{g,b}"]
    head = [f"@attribute {name} {kind}" for name, kind in zip(table, kinds, strict=True)]
    rows = [",".join(map(str, row)) for row in cells.itertuples(index=False)]
    return "\n".join(["% made by hand", "@relation r", *head, "@data", *rows])


FILES = {
    "comma.csv": CSV.encode(),
    "bom.csv": CSV.encode("utf-8-sig"),
    "utf16.csv": CSV.encode("utf-16"),
    "utf16-be-unmarked.csv": CSV.encode("utf-16-be"),
    "utf16-le-unmarked.csv": CSV.encode("utf-16-le"),
    "utf32.csv": CSV.encode("utf-32"),
    "latin1.csv": CSV.encode("latin-1"),
    "windows-lines.csv": CSV.replace("\n", "\r\n").encode(),
    "old-mac-lines.csv": CSV.replace("\n", "\r").encode(),
    "tab.tsv": TABLE.to_csv(index=False, sep="\t").encode(),
    "semicolon.csv": TABLE.to_csv(index=False, sep=";").encode(),
    "decimal-comma.csv": TABLE.to_csv(index=False, sep=";", decimal=",").encode(),
    "stated.csv": b"sep=;\r\n" + TABLE.to_csv(index=False, sep=";", decimal=",").encode(),
    "bar.txt": TABLE.to_csv(index=False, sep="|").encode(),
    "no-ending": CSV.encode(),
    "gaps.data": TABLE.to_csv(index=False, na_rep="?").encode(),
    "comma.csv.gz": gzip.compress(CSV.encode()),
    "packed.csv": gzip.compress(CSV.encode()),
    "latin1.tsv.gz": gzip.compress(TABLE.to_csv(index=False, sep="\t").encode("latin-1")),
    "table.parquet": parquet(TABLE),
    "table.parquet.gz": gzip.compress(parquet(TABLE)),
    "table.xlsx": excel(TABLE),
    "table.xlsx.gz": gzip.compress(excel(TABLE)),
    "records.json": TABLE.to_json(orient="records").encode(),
    "records-utf16.json": TABLE.to_json(orient="records", force_ascii=False).encode("utf-16"),
    "wrapped.json": json.dumps({"data": json.loads(TABLE.to_json(orient="records")), "rows": 4}).encode(),
    "lines.jsonl": TABLE.to_json(orient="records", lines=True).encode(),
    "columns.json": json.dumps(
        {name: json.loads(column.to_json(orient="values")) for name, column in TABLE.items()}
    ).encode(),
    "table.arff": arff_text(TABLE).encode(),
    "latin1.arff": arff_text(TABLE).encode("latin-1"),
    "table.arff.gz": gzip.compress(arff_text(TABLE).encode()),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_table(name):
    frame = read_table(FILES[name], name)
    frame["target"] = frame["target"].astype("str")
    pd.testing.assert_frame_equal(frame, TABLE.astype({"colour": "str", "target": "str"}), check_dtype=False)
    assert [frame[column].dtype.kind for column in ("size", "count")] == ["f", "i"]


def test_a_path_is_read_like_its_bytes(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(CSV, encoding="utf-8")
    by_path, by_bytes = read_table(path), read_table(CSV.encode(), "people.csv")
    pd.testing.assert_frame_equal(by_path, by_bytes)
    assert reading_of(by_path).name == "people"
    pd.testing.assert_frame_equal(read_table(str(path), "other.csv"), by_bytes)


def test_the_encoding_that_was_assumed_is_said():
    assert "Windows-1252" in reading_of(read_table(CSV.encode("latin-1"), "a.csv")).notes[0]
    assert reading_of(read_table(CSV.encode(), "a.csv")).notes == ()
    frame = read_table("a,b\n“q”,1\nx,2\n".encode("cp1252"), "a.csv")  # quotation marks that Latin-1 lacks
    assert frame["a"].tolist() == ["“q”", "x"]
    # 81 is no Windows-1252
    assert "Latin-1" in reading_of(read_table(b"a,b\n\x81\xe4,1\nx,2\n", "a.csv")).notes[0]


class Trap:
    """Unpickling this would write a file."""

    def __reduce__(self):
        return (open, ("trap-was-sprung", "w"))


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


REFUSED = {
    "empty.csv": (b"", "empty"),
    "blank.csv": (b" \r\n\n\t ", "empty"),
    "empty.csv.gz": (gzip.compress(b""), "empty"),
    "header-only.csv": (b"a,b,target\n", "no rows"),
    "one-column.csv": (b"a\n1\n2\n", "one column"),
    "prose.txt": (b"It was the best of times.\nIt was the worst of times, it was the age.\n", ""),
    "garbage.csv": (bytes(range(256)) * 20, "binary"),
    "nul.csv": (b"a,b\n1,\x00\n", "binary"),
    "duplicates.csv": (b"a,b,a\n1,2,3\n", "Columns 1 and 3 are both called 'a'"),
    "short-line.csv": (b"a,b\n1,2\n3\n4,5\n", "Line 3 has 1 cell, but 2"),
    "long-line.csv": (b"\n\na,b\n1,2\n\n3,4,5\n", "Line 6 has 3 cells, but 2"),
    "after-a-long-cell.csv": (b'a,b\n"1\n1",2\n3\n', "Line 4 has 1 cell"),
    "open-quote.csv": (b'a,b\n1,"x\n2,y\n3,z\n', "quotation mark"),
    "page.csv": (b"<!DOCTYPE html><html><body>Not found</body></html>", "web page"),
    "page.json": (b"\n <html>\n</html>", "web page"),
    "really-parquet.csv": (parquet(TABLE), "ends in .csv, but contains Parquet"),
    "really-csv.parquet": (CSV.encode(), "ends in .parquet, but contains delimited text"),
    "really-csv.xlsx": (CSV.encode(), "but contains delimited text"),
    "really-json.csv": (FILES["records.json"], "but contains JSON"),
    "really-arff.csv": (FILES["table.arff"], "but contains ARFF"),
    "really-csv.arff": (CSV.encode(), "instead of ARFF"),
    "table.pdf": (CSV.encode(), ".pdf is not a known table format"),
    "table.zip": (zipped(table=CSV), ".zip is not a known table format"),
    "table.xlsx": (zipped(table=CSV), "ZIP archive, not an Excel"),
    "damaged.xlsx": (excel(TABLE)[:-200], "damaged Excel"),
    "hollow.xlsx": (zipped(**{"xl/workbook.xml": "<nonsense"}), "damaged Excel"),
    "old.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "damaged Excel"),
    "damaged.parquet": (parquet(TABLE)[:-40], "damaged Parquet"),
    "stub.parquet": (b"PAR1PAR1", "damaged Parquet"),
    "damaged.csv.gz": (gzip.compress(CSV.encode())[:-9], "damaged gzip"),
    "no-gzip.csv.gz": (CSV.encode(), "not gzip"),
    "twice.csv.gz": (gzip.compress(gzip.compress(CSV.encode())), "twice"),
    "model.pkl": (pickle.dumps(Trap()), "pickle"),
    "model.csv": (pickle.dumps(Trap()), "pickle"),
    "image.png": (b"\x89PNG\r\n\x1a\n" + bytes(50), "image"),
    "tar.csv": (bytes(b"x" * 257 + b"ustar" + b"x" * 300), "tar"),
    "damaged-utf16.csv": (b"\xff\xfea\x00,\x00b", "damaged UTF-16"),
    "broken.json": (b'[{"a": 1,', "not valid JSON"),
    "list.json": (b"[1, 2, 3]", "not a table"),
    "false.json": (b"false", "not a table"),
    "nothing.json": (b"[]", "not a table"),
    "object.json": (b'{"a": 1, "b": 2}', "not a table"),
    "uneven.json": (b'{"a": [1, 2], "b": [1]}', "differ in length"),
    "twice-named.json": (b'[{"a": 1, "a": 2}]', "both called 'a'"),
    "deep.json": (b"[" * 100_000, "not valid JSON"),
    "big-number.json": (b'[{"a": ' + b"9" * 5000 + b"}]", "not valid JSON"),
    "no-data.arff": (b"@relation r\n@attribute a numeric\n", "ARFF"),
    "strange-value.arff": (b"@relation r\n@attribute a {x,y}\n@data\nz\n", "Line 4"),
    "ragged.arff": (b"@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n1\n", "Line 5"),
    "word-for-number.arff": (
        b"@relation r\n@attribute a numeric\n@attribute b {x}\n@data\n1,x\ntwo,x\n",
        "row 2",
    ),
    "twice-named.arff": (b"@relation r\n@attribute a numeric\n@attribute a numeric\n@data\n1,2\n", "ARFF"),
    "relational.arff": (b"@relation r\n@attribute a relational\n@data\n1\n", "each cell contains a table"),
    "no-type.arff": (b"@relation r\n@attribute\n@data\n1\n", "does not declare an attribute"),
    "no-rows.arff": (b"@relation r\n@attribute a numeric\n@data\n", "no rows"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_table_is_refused_with_reason_and_remedy(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content, said = REFUSED[name]
    with pytest.raises(DataError) as caught:
        read_table(content, name)
    assert said in str(caught.value)
    assert caught.value.remedy.endswith(".")
    assert len(str(caught.value)) < 600
    assert caught.value.__cause__ is None
    assert list(tmp_path.iterdir()) == []  # nothing was executed


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.csv cannot be opened"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(DataError, match="cannot be opened"):
        read_table(tmp_path)


def test_a_gzip_bomb_is_refused_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr(limits, "ALWAYS", 100_000)
    bomb = gzip.compress(b"a,b\n" + b"1,2\n" * 1_000_000)
    assert len(bomb) < 50_000
    with pytest.raises(DataError, match="expands to more than"):
        read_table(bomb, "bomb.csv.gz")


def test_a_sheet_that_claims_a_million_cells_is_read_as_far_as_it_is_filled():
    sheet = zipfile.ZipFile(io.BytesIO(excel(TABLE)))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in sheet.namelist():
            content = sheet.read(member)
            if member.endswith("sheet1.xml"):
                content = content.replace(b'ref="A1:D5"', b'ref="A1:XFD1048576"')
                assert b"XFD1048576" in content
            archive.writestr(member, content)
    assert read_table(buffer.getvalue(), "claims.xlsx").shape == TABLE.shape


def npz(table):
    """The bytes of a NumPy archive."""
    file = io.BytesIO()
    np.savez(file, y=np.arange(len(table)), p=np.ones((len(table), 3)))
    return file.getvalue()


LISTS = pd.DataFrame({"y": [0, 1], "p": [[0.1, 0.9], [0.4, 0.6]]})


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (CSV.encode(), "a.csv"),
        (parquet(TABLE), "a.parquet"),
        (parquet(LISTS), "b.parquet"),
        (npz(TABLE), "a.npz"),
        *((FILES[name], name) for name in ("records.json", "table.arff", "table.xlsx")),
    ],
)
def test_a_table_for_which_there_is_no_memory_is_refused_and_read_when_there_is(content, name, monkeypatch):
    monkeypatch.setattr(limits, "LARGE_FILE", 1)
    monkeypatch.setattr(limits, "free", lambda: limits.SPARE + 10)
    with pytest.raises(TooLargeError, match="0 MB of memory.*0 MB .*free.*sample"):
        read_table(content, name)
    assert limits.promised() == 0
    monkeypatch.setattr(limits, "free", lambda: limits.SPARE + 10**7)
    assert len(read_table(content, name)) > 0


def test_large_files_are_read_one_after_the_other(monkeypatch):
    """The second begins when the first has ended; a small one waits for nobody."""
    monkeypatch.setattr(limits, "LARGE_FILE", 1_000)
    done, began = list[str](), threading.Event()

    def second() -> None:
        began.set()
        with limits.in_turn(2_000):
            done.append("second")

    with limits.in_turn(2_000):
        other = threading.Thread(target=second)
        other.start()
        began.wait()
        with limits.in_turn(10):
            done.append("small")
        done.append("first")
    other.join()
    assert done == ["small", "first", "second"]


def test_a_table_of_too_many_columns_is_refused(monkeypatch):
    monkeypatch.setattr(limits, "MOST_TABLE_COLUMNS", 3)
    with pytest.raises(DataError, match="4 columns"):
        read_table(CSV.encode(), "a.csv")


@pytest.mark.parametrize(
    "name", [name for name in FILES if name.endswith((".json", ".jsonl", ".arff", ".xlsx", ".parquet"))]
)
def test_reading_can_be_cancelled(name):
    watch = Watch()
    watch.cancel.set()
    with pytest.raises(Cancelled):
        read_table(FILES[name], name, watch=watch)


def test_waiting_for_another_large_file_can_be_cancelled(monkeypatch):
    monkeypatch.setattr(limits, "LARGE_FILE", 1)
    said, done = list[str](), list[str]()
    watch = Watch(lambda share, what: (said.append(what), watch.cancel.set()))

    def second() -> None:
        with pytest.raises(Cancelled):
            read_table(CSV.encode(), "a.csv", watch=watch)
        done.append("cancelled")

    with limits.in_turn(2_000):
        other = threading.Thread(target=second)
        other.start()
        other.join()
    assert (set(said), done) == ({"waiting until another large file has been read"}, ["cancelled"])
    assert read_table(CSV.encode(), "a.csv").shape == TABLE.shape


def outcome(content, name):
    """The table, or the DataError; any other exception passes through and fails the test."""
    try:
        return read_table(content, name)
    except DataError as error:
        return error


def is_answer(result):
    return bool(result.remedy) if isinstance(result, DataError) else len(result) > 0


STARTS = {
    "a.parquet": b"PAR1",
    "a.xlsx": b"PK\x03\x04",
    "a.csv.gz": b"\x1f\x8b",
    "a.arff": b"@relation r\n@attribute ",
}


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=200), st.sampled_from(["a.csv", "a", "a.json", *STARTS]))
def test_no_bytes_raise_anything_but_data_error(content, name):
    assert is_answer(outcome(content, name))
    assert is_answer(outcome(STARTS.get(name, b"a,b\n1,2\n") + content, name))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(list(FILES)), st.integers(0, 10**6), st.integers(0, 255), st.integers(0, 10**6))
def test_no_damage_to_a_good_file_raises_anything_but_data_error(name, where, byte, end):
    content = bytearray(FILES[name])
    content[where % len(content)] = byte
    assert is_answer(outcome(bytes(content), name))
    assert is_answer(outcome(bytes(content[: end % len(content)]), name))


@given(st.data())
def test_numbers_and_words_survive_every_dialect(data):
    n = data.draw(st.integers(2, 8))
    finite = st.floats(allow_nan=False, allow_infinity=False, width=32)
    table = pd.DataFrame(
        {
            "x": np.array(data.draw(st.lists(finite, min_size=n, max_size=n)), dtype=float),
            "k": data.draw(st.lists(st.integers(-(10**9), 10**9), min_size=n, max_size=n)),
            "w": pd.Series(data.draw(st.lists(WORDS, min_size=n, max_size=n)), dtype="str"),
        }
    )
    separator = data.draw(st.sampled_from([",", ";", "\t", "|"]))
    decimal = data.draw(st.sampled_from([".", ","])) if separator != "," else "."
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
    text = table.to_csv(index=False, sep=separator, decimal=decimal)
    content = text.encode(encoding)
    frame = read_table(gzip.compress(content) if data.draw(st.booleans()) else content, "t")
    np.testing.assert_array_equal(frame["x"].to_numpy(dtype=float), table["x"].to_numpy())
    np.testing.assert_array_equal(frame["k"].to_numpy(), table["k"].to_numpy())
    assert frame["w"].tolist() == table["w"].tolist()


def test_a_column_of_scores_alone_is_a_table_where_no_label_is_asked_for():
    assert read_table(b"score\n0.1\n0.25\n", "s.csv", fewest=1)["score"].tolist() == [0.1, 0.25]
    bare = read_table(b"0.1\n0.25\n", "s.csv", fewest=1)
    (note,) = reading_of(bare).notes
    assert_says(note, "no header line", "column 1")
    with pytest.raises(DataError, match="Only one column"):
        read_table(b"score\n0.1\n0.25\n", "s.csv")


def test_letters_that_fall_into_two_pieces_are_utf_8_and_half_a_letter_is_not(monkeypatch):
    monkeypatch.setattr("calib.data.read.DECODED_AT_ONCE", 3)
    text = "name,y\né…🙂ß,0\nb,1\n"
    assert read_table(text.encode(), "t.csv")["name"].tolist() == ["é…🙂ß", "b"]
    frame = read_table("y,name\n0,b\n1,é".encode()[:-1], "t.csv")
    assert frame["name"].tolist() == ["b", "Ã"]
    assert "Windows-1252" in reading_of(frame).notes[0]

"""Files made to break a reader: each ends in a clear message or in the right table, within its bounds."""

import datetime
import decimal
import gzip
import io
import json
import re
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet
import pytest

from calib.data import (
    DataError,
    guess_target,
    limits,
    prepare,
    read_table,
    summarise_columns,
    validate,
)
from calib.kernel.checks import InputError
from tests.saying import assert_says

NAMES = [
    "<script>alert(1)</script>",
    '"quoted"',
    "=1+1",
    "\u202eright to left",
    "a\nb",
    "' OR 1=1 --",
    "€",
    "a,b",
]


def arff(*lines):
    return read_table("\n".join(["@relation r", *lines]).encode(), "t.arff")


def parquet(columns):
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(columns), buffer, compression="zstd")
    return buffer.getvalue()


def sheet(rows, before="", **parts):
    """An Excel file whose only sheet holds these rows of XML; ``parts`` of it hold what is given instead."""
    book, plain, made = openpyxl.Workbook(), io.BytesIO(), io.BytesIO()
    book.save(plain)
    source = zipfile.ZipFile(plain)
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in source.namelist():
            if not name.endswith("sheet1.xml"):
                archive.writestr(name, parts.get(Path(name).stem, source.read(name)))
                continue
            with archive.open(name, "w") as file:
                space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
                file.write(f'{before}<worksheet xmlns="{space}"><sheetData>'.encode())
                file.writelines(row.encode() for row in rows)
                file.write(b"</sheetData></worksheet>")
    return made.getvalue()


# --- what was a traceback
# -------------------------------------------------------------------------------------------


def test_a_question_mark_among_the_levels_of_an_arff_attribute_is_no_level():
    frame = arff("@attribute x {a,?,b}", "@attribute y {0,1}", "@data", "a,0", "?,1", "b,0")
    assert frame["x"].cat.categories.tolist() == ["a", "b"]
    assert frame["x"].isna().tolist() == [False, True, False]


def test_half_a_surrogate_pair_is_spelt_out_in_names_levels_and_values():
    frame = arff(
        "@attribute 'x\\ud800' string", "@attribute y {'\\udfff',1}", "@data", "'a\\ud800','\\udfff'", "b,1"
    )
    assert frame.columns[0] == "x\\ud800"
    assert frame.iloc[0].tolist() == ["a\\ud800", "\\udfff"]
    json.dumps(frame.to_dict(), ensure_ascii=False).encode()


def test_a_delimiter_that_no_reader_takes_is_named_with_those_that_are():
    with pytest.raises(DataError, match=r"the delimiter '§'.*semicolons"):
        read_table("sep=§\na§b\n1§x\n2§y\n".encode(), "weird.csv")


def test_nested_values_of_any_kind_become_text():
    nested = {"d": datetime.date(2020, 1, 31), "n": decimal.Decimal("1.5"), "b": b"\xff"}
    frame = read_table(
        parquet({"a": [nested] * 2, "l": [[nested["d"]]] * 2, "y": ["0", "1"]}), "nested.parquet"
    )
    assert json.loads(frame["a"][0])["d"] == "2020-01-31"
    assert frame["l"][0] == '["2020-01-31"]'


@pytest.mark.parametrize("seed", ["99999999999999999999999", "-1", "2147483648"])
def test_a_seed_out_of_range_is_refused_by_the_command_line(seed, capsys):
    from calib.__main__ import main

    assert main(["simulate", "order", "--seed", seed]) == 2
    assert_says(capsys.readouterr().err, "seed", "whole number", "0 to 2147483647")


@pytest.mark.parametrize(
    ("content", "name", "why"),
    [
        (b"[" * 100_000 + b"]" * 100_000, "t.json", "nested too deeply"),
        (b"[" + b"9" * 5000 + b"]", "t.json", "a whole number has more than 4,300 digits"),
        (
            b"a,y\n" + b"x" * 200_000 + b",0\n1,1\n",
            "t.csv",
            "line 2 or a later line is longer than 131,072 characters",
        ),
    ],
)
def test_what_a_library_cannot_read_is_told_in_words_of_ours(content, name, why):
    with pytest.raises(DataError, match=why):
        read_table(content, name)


# --- what took too long
# ---------------------------------------------------------------------------------------------


def test_one_line_of_a_hundred_thousand_blanks_is_read():
    assert read_table(b"a b\n1" + b" " * 100_000 + b"2\n3 4\n", "blanks.csv").to_numpy().tolist() == [
        [1, 2],
        [3, 4],
    ]


def cell(place, value="<v>1</v>"):
    return f'<c r="{place}">{value}</c>'


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [f'<row r="1">{cell("A1")}</row><row r="{10**6}">{cell(f"XFD{10**6}")}</row>'],
            r"takes more than 756 MB .*outside the table",
        ),
        (
            [f'<row r="{i}">{cell(f"A{i}")}{cell(f"XFD{i}")}</row>' for i in range(1, 400)],
            r"more than 1,048,576 rows .*5,000 columns",
        ),
    ],
)
def test_a_cell_far_from_the_table_is_no_reason_to_walk_there(rows, said):
    with pytest.raises(DataError, match=said):
        read_table(sheet(rows), "far.xlsx")


HEADER = "<row>" + "".join(f'<c t="str"><v>n{i}</v></c>' for i in range(10)) + "</row>"
ROW = f"<row>{'<c><v>1</v></c>' * 10}</row>"


def test_the_bounds_stand_in_the_guide():
    text = Path(__file__).parents[2].joinpath("docs", "data.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (.*?) \| (.*?) \|$", text.partition("## Size limits")[2], re.M))
    assert {
        kind: re.findall(r"\d[\d,]*\d|\d", limit) for kind, limit in rows.items() if re.search(r"\d", limit)
    } == {
        "file": [f"{limits.UPLOAD_LIMIT // 10**6:,}"],
        "columns": [f"{limits.MOST_TABLE_COLUMNS:,}"],
        "a compressed file, after expansion": [
            f"{limits.ALWAYS // 10**6}",
            f"{limits.MOST_EXPANSION}",
            f"{limits.UPLOAD_LIMIT // 10**6:,}",
        ],
    }


def test_an_entity_of_a_doctype_stays_as_it_is():
    """Entities that expand to each other make gigabytes of a few bytes."""
    entity = "<!DOCTYPE worksheet [<!ENTITY e 'expanded'>]>"
    rows = ["<row><c t='inlineStr'><is><t>&e;</t></is></c></row>", ROW, ROW]
    with pytest.raises(DataError, match="damaged Excel file .*&e;"):
        read_table(sheet(rows, before=entity), "odd.xlsx")


def test_a_text_of_several_looks_is_one_text_without_the_way_it_is_spoken():
    text = "<r><t>To</t></r><r><rPr><b/></rPr><t>kyo</t></r><rPh sb='0' eb='2'><t>TOKYO</t></rPh>"
    rows = [f"<row><c t='inlineStr'><is>{text}</is></c><c t='inlineStr'><is><t>y</t></is></c></row>"]
    content = sheet([*rows, "<row><c><v>1</v></c><c t='b'><v>0</v></c></row>"])
    assert read_table(content, "t.xlsx").columns.tolist() == ["Tokyo", "y"]


def test_more_columns_than_anyone_can_look_at_are_refused_before_they_are_typed():
    many = range(limits.MOST_TABLE_COLUMNS + 1)
    text = ",".join(f"c{i}" for i in many) + "\n" + "\n".join(",".join("1" for _ in many) for _ in range(3))
    sparse = ["@relation r", *(f"@attribute a{i} numeric" for i in many), "@data", *["{7 1}"] * 3]
    nested = json.dumps([{f"c{i}": 1 for i in many}] * 2).encode()
    for content, name in (
        (text.encode(), "w.csv"),
        ("\n".join(sparse).encode(), "w.arff"),
        (nested, "w.json"),
    ):
        with pytest.raises(DataError, match=r"5,001 columns.*at most 5,000"):
            read_table(content, name)


def test_names_and_levels_that_would_be_html_formulas_or_commands_are_only_text():
    frame = read_table(
        json.dumps([{**dict.fromkeys(NAMES, 1.5 * i), "y": NAMES[i % 2]} for i in range(40)]).encode(),
        "n.json",
    )
    assert frame.columns.tolist() == [*NAMES, "y"]
    assert set(summarise_columns(frame)["column"]) == {*NAMES, "y"}
    assert prepare(frame, "y").classes == tuple(sorted(NAMES[:2]))


# --- what filled the memory
# -----------------------------------------------------------------------------------------


def npz(save, **arrays):
    """The bytes of a NumPy archive."""
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def _lists(values):
    """A column of lists, one per row."""
    return pa.FixedSizeListArray.from_arrays(values.ravel(), values.shape[1])


def _softmax(rows, classes, kind=np.float32):
    """Labels, and the probabilities of many classes."""
    logits = np.random.default_rng(0).standard_normal((rows, classes), np.float32)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return np.arange(rows) % classes, logits.astype(kind)


LINE = b"1.5,2.5,abc,0\n"
BOMBS = {
    "csv.csv.gz": lambda: gzip.compress(b"a,b,c,y\n" + LINE * ((500 << 20) // len(LINE)), 9),
    "integers.json.gz": lambda: gzip.compress(b"[" + b"1," * (50 << 20) + b"1]", 9),
    "records.json.gz": lambda: gzip.compress(b"[" + b",".join([b'{"a":1,"y":0}'] * 7_000_000) + b"]", 9),
    "integers.json": lambda: b"[" + b"1," * (50 << 20) + b"1]",
    "empty.xlsx": lambda: sheet(f'<row r="{i}">{"<c/>" * 1000}</row>' for i in range(1, 75_000)),
    "texts.parquet": lambda: parquet({"c": ["x" * 300] * 5_000_000, "y": ["y" * 300] * 5_000_000}),
    "zeros.parquet": lambda: parquet({f"c{i}": np.zeros(20_000_000) for i in range(4)}),
    "lists.parquet": lambda: parquet({"y": range(50), "p": _lists(np.zeros((50, 4_000_000), np.float32))}),
    "zeros.npz": lambda: npz(np.savez_compressed, y=np.zeros(60_000), p=np.zeros((60_000, 1000), np.float32)),
}
READ = """
import re, sys
from calib.data import DataError, read_table
try:
    read_table(sys.argv[1])
except DataError as error:
    print(error)
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])  # ru_maxrss holds the parent's, too
"""


def _read(path: Path, most: int = resource.RLIM_INFINITY) -> tuple[str, int]:
    """What a process of its own says to a file, and the bytes of memory it needed; within so many seconds of work."""
    found = subprocess.run(
        [sys.executable, "-c", READ, path],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (most, most)),
    )
    *message, kilobytes = found.stdout.strip().split("\n")
    return "\n".join(message), int(kilobytes) * 1024


@pytest.mark.soak
@pytest.mark.skipif(sys.platform != "linux", reason="the most memory of a process is read from /proc")
@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_that_becomes_a_large_one_is_refused_within_the_memory_of_a_small_one(name, tmp_path):
    """At most four times the file and 500 MB, of which the libraries take 200; a minute of processor time ends it."""
    path = tmp_path / name
    path.write_bytes(BOMBS[name]())
    message, memory = _read(path, 60)
    assert any(most in message for most in ("more than 64 MB", "000,000 cells", "is not a table"))
    assert memory < 4 * path.stat().st_size + (500 << 20)


def _honest() -> bytes:
    """100 MB of short rows."""
    rng = np.random.default_rng(0)
    lines = [
        f"{a / 10},{b / 100},w{c},{c % 2}\n" for a, b, c in rng.integers(100, 10_000, (20_000, 3)).tolist()
    ]
    return b"a,b,w,y\n" + "".join(lines).encode() * 270


def _wide(*values: bytes) -> bytes:
    """As many columns as are read, and 40 million cells."""
    names = b",".join(b"c%d" % i for i in range(limits.MOST_TABLE_COLUMNS))
    rows = [b",".join([value] * limits.MOST_TABLE_COLUMNS) for value in values]
    return b"\n".join([names, *rows * (40_000_000 // limits.MOST_TABLE_COLUMNS // len(rows))])


def _attributes() -> bytes:
    lines = ["@relation r", *(f"@attribute {name} numeric" for name in "ab"), "@attribute y {0,1}", "@data"]
    return "\n".join([*lines, *["1.25,37,0", "2.5,1,1"] * 500_000]).encode()


def _moments(order: tuple[slice, slice, slice], sign: bytes) -> bytes:
    """180 MB of different dates with a time, every 20th missing."""
    times = np.datetime64("2000-01-01", "s") + np.arange(8_000_000) * 77
    iso = np.datetime_as_string(times).astype("S19").view("S1").reshape(-1, 19)
    rows = np.full((len(iso), 22), sign, dtype="S1")
    rows[:, 11:19] = iso[:, 11:]
    at = 0
    for part in order:
        width = part.stop - part.start
        rows[:, at : at + width], at = iso[:, part], at + width + 1
    rows[:, 10] = b" "
    rows[:, 19:] = np.frombuffer(b",0\n", "S1")
    rows[::20, :19] = np.frombuffer(b"?" + b" " * 18, "S1")
    return b"t,y\n" + rows.tobytes()


YEAR, MONTH, DAY = slice(0, 4), slice(5, 7), slice(8, 10)
HONEST = {
    "moments.csv": lambda: _moments((YEAR, MONTH, DAY), b"-"),
    "moments of days first.csv": lambda: _moments((DAY, MONTH, YEAR), b"/"),
    "short.csv": _honest,
    "short.csv.gz": lambda: gzip.compress(_honest(), 1),
    "digits.csv": lambda: b"a,b,c,d,e,f,g,y\n" + b"1,2,3,4,5,6,7,0\n" * 5_000_000,
    "wide.csv": lambda: _wide(b"1", b"2"),
    "wide words.csv": lambda: _wide(b"no", b"yes"),
    "blanks.csv": lambda: b"a b c y\n" + b"1   2  3 0\n" * 8_000_000,
    "short.arff": _attributes,
    "numbers.xlsx": lambda: sheet([HEADER, *[ROW.replace(">1<", ">1.25<")] * 140_000]),
    "long.parquet": lambda: parquet(
        dict(zip("aby", np.random.default_rng(0).integers(0, 1000, (3, 8_000_000)), strict=True))
    ),
    "wide.parquet": lambda: parquet(
        {f"c{i}": np.random.default_rng(i).integers(0, 1000, 5_000) for i in range(5000)}
    ),
    "classes.npz": lambda: npz(np.savez, **dict(zip("yp", _softmax(50_000, 1_000), strict=True))),
    "half precision.npz": lambda: npz(
        np.savez, **dict(zip("yp", _softmax(55_000, 1_000, np.float16), strict=True))
    ),
    "packed.npz": lambda: npz(np.savez_compressed, **dict(zip("yp", _softmax(50_000, 1_000), strict=True))),
    "classes.parquet": lambda: parquet(
        {"y": _softmax(50_000, 1_000)[0], "p": _lists(_softmax(50_000, 1_000)[1])}
    ),
    "dates.parquet": lambda: parquet(
        {
            "b": np.random.default_rng(0).random(4_000_000) < 0.5,
            "t": np.random.default_rng(1).integers(0, 10**15, 4_000_000).astype("datetime64[us]"),
        }
    ),
}


@pytest.mark.soak
@pytest.mark.skipif(sys.platform != "linux", reason="the most memory of a process is read from /proc")
@pytest.mark.parametrize("name", HONEST)
def test_a_large_honest_file_is_read_within_four_times_its_size_and_500_megabytes(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(HONEST[name]())
    message, memory = _read(path)
    assert not message
    assert memory < 4 * path.stat().st_size + (500 << 20)


@pytest.mark.soak
@pytest.mark.skipif(sys.platform != "linux", reason="the most memory of a process is read from /proc")
def test_a_packed_file_is_read_within_four_times_what_it_unpacks_to_and_500_megabytes(tmp_path):
    """Of what it is packed that may be up to 200 times as much: a name that fills it up brings it to the bound."""
    content = HONEST["digits.csv"]()
    packed = bytearray(gzip.compress(content, 9))
    packed[3] |= 8  # a name follows the header
    packed[10:10] = b"x" * (len(content) // limits.MOST_EXPANSION - len(packed)) + b"\0"
    path = tmp_path / "digits.csv.gz"
    path.write_bytes(packed)
    assert limits.MOST_EXPANSION * len(packed) < 1.01 * len(content)
    message, memory = _read(path)
    assert not message
    assert memory < 4 * len(content) + (500 << 20)


@pytest.mark.soak
@pytest.mark.skipif(sys.platform != "linux", reason="the most memory of a process is read from /proc")
def test_a_last_line_that_is_too_short_is_named_within_the_same_memory(tmp_path):
    path = tmp_path / "ragged.csv"
    path.write_bytes(b"a,b,y\n" + b"1,2,3\n" * 16_000_000 + b"1,2\n")
    message, memory = _read(path)
    assert_says(message, "Line 16000002", "2 cells", 3)
    assert memory < 4 * path.stat().st_size + (500 << 20)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.parquet"])
def test_what_is_packed_is_refused_by_what_it_becomes(name, monkeypatch):
    monkeypatch.setattr(limits, "ALWAYS", 100_000)
    content = {
        "a.csv.gz": lambda: gzip.compress(b"a,b\n" + b"1,2\n" * 1_000_000),
        "a.parquet": lambda: parquet({"a": ["x" * 100] * 100_000, "y": ["y"] * 100_000}),
    }[name]()
    assert len(content) < 100_000
    with pytest.raises(DataError, match=r"expands to more than \d+ MB"):
        read_table(content, name)


# --- whatever is read can be looked at
# ------------------------------------------------------------------------------

EDGES = {
    "one row": b"x,y\n1,a\n",
    "one class": b"x,y\n" + b"1,a\n" * 30,
    "all the same": b"x,z,y\n" + b"1,2,a\n" * 15 + b"1,2,b\n" * 15,
    "extremes": b"x,z,y\n" + b"1e308,inf,a\n-1e308,-inf,b\n,nan,a\n0,1e-320,b\n" * 10,
    "mixed types": b"x,y\n" + b"1,a\ntwo,b\n3.5,a\n2020-01-01,b\n" * 10,
    "empty names": b",,y\n" + b"1,2,a\n3,4,b\n" * 10,
    "mixed encodings": "x,ÿ\n1,é\n2,è\n".encode("latin-1") + "3,€\n".encode(),
}


@pytest.mark.parametrize("edge", EDGES)
def test_every_edge_ends_in_a_table_that_can_be_looked_at_or_a_message(edge):
    frame = read_table(EDGES[edge], "t.csv")
    summarise_columns(frame)
    target = guess_target(frame) or frame.columns[-1]
    problems = validate(frame, target)
    assert all(problem.message and problem.remedy for problem in problems)
    try:
        data = prepare(frame, target)
    except InputError:
        assert any(problem.severity == "error" for problem in problems)
    else:
        assert np.isfinite(data.X.select_dtypes("number").to_numpy(dtype=float, na_value=0)).all()

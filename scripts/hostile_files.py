"""Files that a stranger may upload to stop the server: their bytes are made here, by name, one function per format.

Each is small and costs much where it is read without limits: gigabytes, minutes, or the interpreter for everybody.
``python -m scripts.hostile`` measures them.
"""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

Make = Callable[[], bytes]
MILLION = 1_000_000
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PARTS = "http://schemas.openxmlformats.org/package/2006/relationships"


# Delimited text
def _rows(line: bytes, times: int, head: bytes = b"a,b,c,y\n") -> bytes:
    return head + line * times


def _words(rows: int, columns: int, length: int) -> bytes:
    """Distinct long words, of which none is a number."""
    head = ",".join(f"c{i}" for i in range(columns))
    word = "w" * length
    return "\n".join(
        [head, *(",".join(f"{word}{i}x{j}" for j in range(columns)) for i in range(rows))]
    ).encode()


TEXT: dict[str, Make] = {
    "columns.csv": lambda: (
        b",".join(b"c%d" % i for i in range(MILLION)) + b"\n" + b"1," * (MILLION - 1) + b"1\n"
    ),
    "one-cell.csv": lambda: b"a,y\n" + b"x" * 10 * MILLION + b",1\n2,0\n",
    "quotes.csv": lambda: b"a,y\n" + b'"' * 10 * MILLION,
    "open-quotes.csv": lambda: _rows(b'"x,1\n', 2 * MILLION, b"a,y\n"),
    "commas.csv": lambda: b"," * 10 * MILLION,
    "blanks.csv": lambda: b" " * 10 * MILLION + b"a b\n1 2\n",
    "blank-cells.csv": lambda: _rows(b"1" + b" " * 9_000 + b",0\n", 1_000, b"a,y\n"),
    "empty-lines.csv": lambda: b"a,y\n" + b"\n" * 10 * MILLION + b"1,0\n",
    "ragged.csv": lambda: b"a,b,y\n" + b"".join(b"1" + b",1" * (i % 97) + b"\n" for i in range(100_000)),
    "digits.csv": lambda: _rows(b"9" * 100_000 + b",0\n", 50, b"a,y\n"),
    "thousands.csv": lambda: _rows(b'"' + b"1,000" * 20_000 + b'",0\n', 50, b"a,y\n"),
    "dates.csv": lambda: _rows(b"1/1/" * 20_000 + b"1,0\n", 50, b"a,y\n"),
    "one-name.csv": lambda: b",".join([b"a"] * 200_000) + b"\n" + b"1," * 199_999 + b"1\n",
    "marks.csv": lambda: ("a,y\n" + ("e" + "\u0301" * 50_000 + ",0\n") * 20).encode(),
    "utf16.csv": lambda: b"\xff\xfe" + b"\x00\xd8" * 2 * MILLION,
    "words.csv": lambda: _words(200, 4_900, 3),
    "long-words.csv": lambda: _words(200, 3, 30_000),
    "brackets.csv": lambda: _rows(b"[" * 50_000 + b",0\n", 100, b"a,y\n"),
    "exponents.csv": lambda: _rows(b"1e999999999,0\n", 300_000, b"a,y\n"),
}


# gzip
PACKED: dict[str, Make] = {
    "zeros.csv.gz": lambda: gzip.compress(bytes(300 * MILLION), 6),
    "rows.csv.gz": lambda: gzip.compress(_rows(b"1.5,2.5,abc,0\n", 20 * MILLION), 6),
    "members.csv.gz": lambda: gzip.compress(b"1,2\n") * 100_000,
    "twice.csv.gz": lambda: gzip.compress(gzip.compress(bytes(100 * MILLION), 9)),
    "integers.json.gz": lambda: gzip.compress(b"[" + b"1," * 30 * MILLION + b"1]", 6),
}


# JSON
def _keys(count: int, **more: Any) -> bytes:
    return json.dumps([{f"k{i}": i, **more} for i in range(count)]).encode()


JSON: dict[str, Make] = {
    "keys.json": lambda: _keys(150_000),
    "keys-of-one.json": lambda: json.dumps([{f"k{i}": 1 for i in range(300_000)}]).encode(),
    "columns.json": lambda: json.dumps({f"k{i}": [1] for i in range(300_000)}).encode(),
    "lists.json": lambda: b"[" * 5 * MILLION,
    "nested.json": lambda: b'[{"a":' + b'{"a":' * 900 + b"1" + b"}" * 900 + b',"y":1}]',
    "digits.json": lambda: b'[{"a":' + b"9" * 5 * MILLION + b',"y":1}]',
    "many-digits.json": lambda: b"[" + b",".join([b'{"a":' + b"9" * 4_000 + b',"y":1}'] * 1_000) + b"]",
    "integers.json": lambda: b"[" + b"1," * 3 * MILLION + b"1]",
    "one-text.json": lambda: b'[{"a":"' + b"x" * 10 * MILLION + b'","y":1}]',
    "wide-text.json": lambda: ('[{"a":"' + "x" * 9 * MILLION + '\U0001f600","y":1}]').encode(),
    "halves.json": lambda: b'[{"a":"' + b"\\ud800" * MILLION + b'","y":1}]',
    "empty.json": lambda: b"[" + b"{}," * 2 * MILLION + b"{}]",
    "lines.jsonl": lambda: b'{"a":1,"y":0}\n' * 500_000,
    "one-key.json": lambda: b"[{" + b'"a":1,' * MILLION + b'"a":1}]',
    "late-end.json": lambda: b'{"data":[' + b'{"a":1,"y":0},' * 300_000 + b'{"a":1,"y":0}]}}',
    "infinite.json": lambda: b"[" + b",".join([b'{"a":1e999,"y":NaN}'] * 200_000) + b"]",
}


# Parquet
def _parquet(columns: dict[str, Any], compression: str = "zstd", **options: Any) -> bytes:
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file, compression=compression, **options)
    return file.getvalue()


def _nested(depth: int) -> bytes:
    kind = pa.int64()
    value: Any = 1
    for _ in range(depth):
        kind, value = pa.list_(kind), [value]
    return _parquet({"a": pa.array([value] * 9, kind), "y": [0, 1, 0] * 3})


def elsewhere_parquet(path: str = "/etc/passwd") -> bytes:
    """A Parquet file whose columns say that their data are in another file."""
    whole, footer = _parquet({"a": [1, 2], "y": [0, 1]}), io.BytesIO()
    described = parquet.read_metadata(io.BytesIO(whole))
    described.set_file_path(path)
    described.write_metadata_file(footer)
    length = struct.unpack("<I", whole[-8:-4])[0]
    return whole[: -8 - length] + footer.getvalue()[4:]


def _texts(length: int, rows: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), pa.array(["x" * length]))


PARQUET: dict[str, Make] = {
    "nulls.parquet": lambda: _parquet({c: pa.nulls(40 * MILLION, pa.int64()) for c in "ay"}),
    "null-columns.parquet": lambda: _parquet({f"c{i}": pa.nulls(20_000, pa.float64()) for i in range(4_000)}),
    "untyped-nulls.parquet": lambda: _parquet(
        {"a": pa.nulls(10 * MILLION), "y": np.zeros(10 * MILLION, np.int8)}
    ),
    "zeros.parquet": lambda: _parquet({c: np.zeros(10 * MILLION) for c in "abcy"}),
    "truth.parquet": lambda: _parquet({c: pa.array(np.zeros(30 * MILLION, bool)) for c in "ay"}),
    "texts.parquet": lambda: _parquet({"a": _texts(MILLION, 100_000), "y": np.arange(100_000) % 2}),
    "levels.parquet": lambda: _parquet({"a": _texts(300, 5 * MILLION), "y": np.arange(5 * MILLION) % 2}),
    "columns.parquet": lambda: _parquet({f"c{i}": [1, 2] for i in range(20_000)}),
    "groups.parquet": lambda: _parquet({c: np.arange(60_000) for c in "ay"}, row_group_size=4),
    "lists.parquet": lambda: _parquet(
        {
            "a": pa.FixedSizeListArray.from_arrays(np.zeros(40 * MILLION, np.float32), 2 * MILLION),
            "y": range(20),
        }
    ),
    "nested.parquet": partial(_nested, 60),
    "elsewhere.parquet": elsewhere_parquet,
    "dates.parquet": lambda: _parquet(
        {"a": pa.array([2**62, -(2**62)] * 100_000, pa.timestamp("us")), "y": [0, 1] * 100_000}
    ),
    "no-footer.parquet": lambda: b"PAR1" + bytes(100) + struct.pack("<I", 2**31) + b"PAR1",
}


# Excel
def archive(parts: dict[str, Any]) -> bytes:
    """A ZIP archive; a part of several pieces is a list of them."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            with file.open(name, "w", force_zip64=False) as part:
                for piece in content if isinstance(content, list) else [content]:
                    part.write(piece.encode() if isinstance(piece, str) else piece)
    return made.getvalue()


def workbook(
    rows: Any = "", styles: Any = "", texts: Any = "", sheets: int = 1, before: str = "", **more: Any
) -> bytes:
    """An Excel file of so many equal sheets, with these pieces of XML in its parts."""
    numbers = range(1, sheets + 1)
    listed = "".join(f'<sheet name="s{i}" sheetId="{i}" r:id="r{i}"/>' for i in numbers)
    targets = "".join(
        f'<Relationship Id="r{i}" Type="{LINKS}/worksheet" Target="worksheets/s{i}.xml"/>' for i in numbers
    )
    targets += f'<Relationship Id="st" Type="{LINKS}/styles" Target="styles.xml"/>'
    targets += f'<Relationship Id="tx" Type="{LINKS}/sharedStrings" Target="sharedStrings.xml"/>'
    root = f'<Relationship Id="r" Type="{LINKS}/officeDocument" Target="xl/workbook.xml"/>'
    pieces = rows if isinstance(rows, list) else [rows]
    sheet = [f'{before}<worksheet xmlns="{MAIN}"><sheetData>', *pieces, "</sheetData></worksheet>"]
    return archive(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": f'<Relationships xmlns="{PARTS}">{root}</Relationships>',
            "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{LINKS}"><sheets>{listed}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PARTS}">{targets}</Relationships>',
            "xl/styles.xml": [
                f'<styleSheet xmlns="{MAIN}">',
                *(styles if isinstance(styles, list) else [styles]),
                "</styleSheet>",
            ],
            "xl/sharedStrings.xml": [
                f'<sst xmlns="{MAIN}">',
                *(texts if isinstance(texts, list) else [texts]),
                "</sst>",
            ],
            **{f"xl/worksheets/s{i}.xml": sheet for i in numbers},
            **more,
        }
    )


def cell(place: str, value: Any = 1, kind: str = "n") -> str:
    return f'<c r="{place}" t="{kind}"><v>{value}</v></c>'


ROWS = [
    f'<row r="1">{cell("A1", "a", "str")}{cell("B1", "y", "str")}</row>',
    *(f'<row r="{i}">{cell(f"A{i}", i)}{cell(f"B{i}", i % 2)}</row>' for i in range(2, 30)),
]


def _sheet_of_texts() -> list[str]:
    return [
        f'<row r="{i}">' + "".join(f'<c t="s"><v>{i % 3}</v></c>' for _ in range(50)) + "</row>"
        for i in range(1, 20_000)
    ]


def _far(*places: str) -> list[str]:
    numbers = [int("".join(filter(str.isdigit, place))) for place in places]
    return [f'<row r="{n}">{cell(place)}</row>' for n, place in zip(numbers, places, strict=True)]


def _overlapping() -> bytes:
    """An archive whose members share the same bytes."""
    whole = workbook(ROWS, more=bytes(30 * MILLION))
    at, (count,) = (
        whole.rindex(b"PK\x05\x06"),
        struct.unpack("<H", whole[whole.rindex(b"PK\x05\x06") + 10 :][:2]),
    )
    start = struct.unpack("<I", whole[at + 16 :][:4])[0]
    directory = whole[start:at]
    last = directory[directory.rindex(b"PK\x01\x02") :]
    end = whole[at : at + 8] + struct.pack(
        "<HHII", count + 999, count + 999, len(directory) + 999 * len(last), start
    )
    return whole[:start] + directory + last * 999 + end + whole[at + 20 :]


XLSX: dict[str, Make] = {
    "format.xlsx": lambda: workbook(
        ROWS,
        [
            '<numFmts><numFmt numFmtId="170" formatCode="',
            "[" * 20 * MILLION,
            '"/></numFmts><cellXfs><xf numFmtId="170"/></cellXfs>',
        ],
    ),
    "styles.xlsx": lambda: workbook(ROWS, ["<cellXfs>", '<xf numFmtId="1"/>' * MILLION, "</cellXfs>"]),
    "texts.xlsx": lambda: workbook(_sheet_of_texts(), texts=["<si><t>", "x" * 20 * MILLION, "</t></si>"] * 3),
    "many-texts.xlsx": lambda: workbook(ROWS, texts="<si><t/></si>" * 4 * MILLION),
    "one-text.xlsx": lambda: workbook(
        ["<row><c t='inlineStr'><is><t>", "x" * 50 * MILLION, "</t></is></c></row>"]
    ),
    "runs.xlsx": lambda: workbook(ROWS, texts=["<si>", "<r><t>x</t></r>" * 3 * MILLION, "</si>"]),
    "sheets.xlsx": lambda: workbook([*ROWS] * 4, sheets=3_000),
    "long-sheets.xlsx": lambda: workbook(["<row>" + "<c><v>1</v></c>" * 200 + "</row>"] * 400, sheets=40),
    "attribute.xlsx": lambda: workbook(['<row r="', "1" * 50 * MILLION, '"></row>']),
    "attributes.xlsx": lambda: workbook(["<row ", *(f'a{i}="1" ' for i in range(500_000)), "></row>"]),
    "corner.xlsx": lambda: workbook(_far("A1", "XFD1048576")),
    "far-columns.xlsx": lambda: workbook(_far(*(f"XFD{i}" for i in range(1, 30_000)))),
    "far-row.xlsx": lambda: workbook(_far("A1", f"A{10**15}")),
    "impossible-column.xlsx": lambda: workbook(_far("A1", "ZZZZZZZ2")),
    "last-row.xlsx": lambda: workbook(_far("A1", "B1048576")),
    "empty-cells.xlsx": lambda: workbook([f"<row>{'<c/>' * 1_000}</row>"] * 12_000),
    "rows.xlsx": lambda: workbook(["<row/>" * 5 * MILLION]),
    "numbers.xlsx": lambda: workbook([f"<row>{'<c><v>1</v></c>' * 1_000}</row>"] * 3_500),
    "digits.xlsx": lambda: workbook(
        [f"<row>{cell('A1')}</row><row><c><v>", "9" * 30 * MILLION, "</v></c></row>"]
    ),
    "elements.xlsx": lambda: workbook(["<a>" * 2 * MILLION]),
    "laughs.xlsx": lambda: workbook(
        ["<row><c t='inlineStr'><is><t>&e9;</t></is></c></row>"],
        before="<!DOCTYPE x [<!ENTITY e0 'ha'>"
        + "".join(f"<!ENTITY e{i + 1} '{f'&e{i};' * 10}'>" for i in range(9))
        + "]>",
    ),
    "outside.xlsx": lambda: workbook(
        ["<row><c t='inlineStr'><is><t>&e;</t></is></c></row>"],
        before="<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>",
    ),
    "link.xlsx": lambda: workbook(
        ["<row><c r='A1' t='str'><f>'file:///etc/[passwd]s'!A1</f></c></row>", *ROWS],
        **{"xl/externalLinks/e1.xml": '<externalLink><externalBook r:id="x"/></externalLink>'},
    ),
    "target.xlsx": lambda: workbook(ROWS).replace(b"worksheets/s1.xml", b"../../../etc/pass"),
    "formulas.xlsx": lambda: workbook(["<row><c><f>", "(" * 20 * MILLION, "</f><v>1</v></c></row>"]),
    "merged.xlsx": lambda: workbook(
        [
            *ROWS,
            "</sheetData><mergeCells>",
            '<mergeCell ref="A1:XFD1048576"/>' * MILLION,
            "</mergeCells><sheetData>",
        ]
    ),
    "names.xlsx": lambda: workbook(ROWS, **{f"xl/more/{i}": b"" for i in range(60_000)}),
    "overlap.xlsx": _overlapping,
    "dates.xlsx": lambda: workbook(
        [f'<row><c s="1"><v>{10**300}</v></c><c s="1"><v>-1e308</v></c></row>'] * 9_000,
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>',
    ),
    "binary.xlsb": lambda: archive({"xl/workbook.bin": b"\xff" * MILLION, "_rels/.rels": "<x/>"}),
}


# OpenDocument
def document(table: Any, before: str = "") -> bytes:
    """An OpenDocument spreadsheet with these pieces of XML as its first sheet."""
    space = "urn:oasis:names:tc:opendocument:xmlns"
    spaces = "".join(
        f' xmlns:{key}="{space}:{name}:1.0"'
        for key, name in (("office", "office"), ("table", "table"), ("text", "text"))
    )
    pieces = table if isinstance(table, list) else [table]
    head = f'{before}<office:document-content{spaces}><office:body><office:spreadsheet><table:table table:name="s">'
    tail = "</table:table></office:spreadsheet></office:body></office:document-content>"
    return archive(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "META-INF/manifest.xml": "<manifest/>",
            "content.xml": [head, *pieces, tail],
        }
    )


def ods_row(*values: Any, repeated: int = 1) -> str:
    cells = "".join(
        f'<table:table-cell office:value-type="float" office:value="{value}"/>'
        if isinstance(value, (int, float))
        else f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
        for value in values
    )
    return f'<table:table-row table:number-rows-repeated="{repeated}">{cells}</table:table-row>'


MANY_CELLS = (
    '<table:table-cell table:number-columns-repeated="{}" office:value-type="float" office:value="1"/>'
)
ODS: dict[str, Make] = {
    "repeated-rows.ods": lambda: document([ods_row("a", "y"), ods_row(1, 0, repeated=2**31 - 1)]),
    "repeated-cells.ods": lambda: document(
        [f"<table:table-row>{MANY_CELLS.format(2**31 - 1)}</table:table-row>"]
    ),
    "repeated-both.ods": lambda: document(
        [
            f'<table:table-row table:number-rows-repeated="1048576">{MANY_CELLS.format(16_384)}</table:table-row>'
        ]
    ),
    "text.ods": lambda: document(
        [
            "<table:table-row><table:table-cell office:value-type='string'><text:p>",
            "x" * 50 * MILLION,
            "</text:p></table:table-cell></table:table-row>",
        ]
    ),
    "elements.ods": lambda: document(["<table:table-row>" * 2 * MILLION]),
    "laughs.ods": lambda: document(
        ods_row("&e;"), before="<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>"
    ),
}


# Excel before 2007: a container of sectors of 512 bytes
def container(stream: bytes, table: list[int] | None = None, name: str = "Workbook") -> bytes:
    """A compound file with one stream of at least 4,096 bytes; ``table`` is its table of sectors."""
    sectors = -(-len(stream) // 512)
    end, free, own = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
    chain = table or [own, end, *range(3, sectors + 2), end]
    head = (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
        + bytes(16)
        + struct.pack("<HHHHH", 62, 3, 0xFFFE, 9, 6)
        + bytes(6)
    )
    head += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, end, 0, end, 0) + struct.pack("<I", 0) + b"\xff" * 432
    entries = b""
    for entry, kind, start, size, child in (("Root Entry", 5, end, 0, 1), (name, 2, 2, len(stream), free)):
        text = entry.encode("utf-16-le").ljust(64, b"\0")
        entries += text + struct.pack("<HBBIII", 2 * len(entry) + 2, kind, 1, free, free, child) + bytes(36)
        entries += struct.pack("<IQ", start, size)
    fat = struct.pack(f"<{len(chain)}I", *chain).ljust(512, b"\xff")
    return head + fat + entries.ljust(512, b"\0") + stream.ljust(512 * sectors, b"\0")


def _record(kind: int, content: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(content)) + content


def old_workbook(*cells: tuple[int, int, float | str], texts: bytes = b"", more: bytes = b"") -> bytes:
    """The stream of an old Excel file with one sheet of cells (row, column, number or text)."""
    begin = _record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0005, 0, 0, 0, 0))
    sheet_name = _record(0x0085, struct.pack("<IHBB", len(begin) + 4 + 9 + len(texts) + 4, 0, 1, 0) + b"s")
    sheet = _record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0010, 0, 0, 0, 0))
    for row, column, value in cells:
        place = struct.pack("<HHH", row, column, 0)
        if isinstance(value, str):
            sheet += _record(0x0204, place + struct.pack("<HB", len(value), 0) + value.encode("latin-1"))
        else:
            sheet += _record(0x0203, place + struct.pack("<d", value))
    return (begin + sheet_name + texts + _record(0x000A) + sheet + more + _record(0x000A)).ljust(4_608, b"\0")


XLS: dict[str, Make] = {
    "loop.xls": lambda: container(old_workbook((0, 0, 1.0)), [0xFFFFFFFD, 0xFFFFFFFE, *[2] * 60]),
    "texts.xls": lambda: container(
        old_workbook((0, 0, 1.0), texts=_record(0x00FC, struct.pack("<II", 2**31, 2**31)))
    ),
    "far.xls": lambda: container(old_workbook((0, 0, 1.0), (65_535, 65_535, 1.0))),
    "chains.xls": lambda: container(b"\xff" * 512 * 100),
    "nothing.xls": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\xff" * MILLION,
    "word.xls": lambda: container(bytes(9_000), name="WordDocument"),
}


# ARFF
def _arff(attributes: list[str], *rows: str) -> bytes:
    return "\n".join(["@relation r", *(f"@attribute {each}" for each in attributes), "@data", *rows]).encode()


NUMBERS = [f"a{i} numeric" for i in range(4_999)]
ARFF: dict[str, Make] = {
    "sparse.arff": lambda: _arff(NUMBERS, *["{1 1}"] * 100_000),
    "sparse-far.arff": lambda: _arff(NUMBERS, *["{4998 1}"] * 30_000),
    "attributes.arff": lambda: _arff([f"a{i} numeric" for i in range(300_000)], "1"),
    "levels.arff": lambda: _arff(
        ["a {" + ",".join(f"l{i}" for i in range(300_000)) + "}", "y {0,1}"], *["l1,0"] * 1_000
    ),
    "quotes.arff": lambda: _arff(["a string", "y {0,1}"], *["'" + "\\'" * 100_000 + "',0"] * 20),
    "open-quote.arff": lambda: _arff(["a string", "y {0,1}"], "'" + "x," * 2 * MILLION),
    "attribute.arff": lambda: _arff(["'" + "\\" * 2 * MILLION, "y {0,1}"], "1,0"),
    "level.arff": lambda: _arff(["a {" + "'" * 200_000, "y {0,1}"], "1,0"),
    "escapes.arff": lambda: _arff(["a string", "y {0,1}"], *["'\\u0041" + "\\\\" * 50_000 + "',0"] * 30),
}


# NumPy
def _npy(shape: str, kind: str = "<f8", content: bytes = b"") -> bytes:
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + content


NPZ: dict[str, Make] = {
    "shape.npz": lambda: archive({"y.npy": _npy(f"({10**12},)"), "p.npy": _npy(f"({10**12}, 3)")}),
    "zeros.npz": lambda: archive(
        {
            "y.npy": _npy("(60000,)", content=bytes(480_000)),
            "p.npy": [_npy("(60000, 400)"), *[bytes(MILLION)] * 192],
        }
    ),
    "members.npz": lambda: archive({f"a{i}.npy": _npy("(2,)", content=bytes(16)) for i in range(20_000)}),
    "nested-head.npz": lambda: archive({"y.npy": _npy("(" * 5_000 + ")" * 5_000)}),
    "objects.npz": lambda: archive(
        {"y.npy": _npy("(2,)", "|O", b"\x80\x04K\x01."), "p.npy": _npy("(2, 2)", content=bytes(32))}
    ),
}


# Settings, calibrators and protocols (results files are SQLite's, which lets other sessions work)
def _calibrators(most: int) -> bytes:
    return b'{"format":"calibration-explorer","version":1,"calibrators":[' + b"[]," * most + b"[]]}"


OTHERS: dict[str, tuple[str, Make]] = {
    "lists.calibrator": ("calibrator", lambda: b"[" * 5 * MILLION),
    "pairs.calibrator": ("calibrator", lambda: _calibrators(10 * MILLION)),
    "twice.calibrator": (
        "calibrator",
        lambda: b"{" + b",".join(b'"k%d":1' % i for i in range(300_000)) + b',"k299999":2}',
    ),
    "pairs.recipe": ("recipes", lambda: _calibrators(10 * MILLION)),
    "twice.recipe": (
        "recipes",
        lambda: b"{" + b",".join(b'"k%d":1' % i for i in range(300_000)) + b',"k299999":2}',
    ),
    "keys.protocol": ("protocol", lambda: b"".join(b"a.b%d.c=1\n" % i for i in range(300_000))),
    "pairs.protocol": ("protocol", lambda: b"a=[" + b"[]," * 3 * MILLION + b"]\n"),
    "lines.protocol": ("protocol", lambda: b'a="""' + b"\\\n  " * 2 * MILLION),
}
FILES: dict[str, Make] = {**TEXT, **PACKED, **JSON, **PARQUET, **XLSX, **ODS, **XLS, **ARFF, **NPZ}

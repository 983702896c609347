"""Delimited text: delimiter, decimal comma and missing header are found out; a ragged line is named, not dropped."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Sequence

import pandas as pd
import pyarrow as pa
import pyarrow.csv

from calib.data.columns import MISSING, decimal_comma, refuse_duplicates, typed_text
from calib.data.errors import DataError

DELIMITERS = {"\t": "tab", ";": "semicolon", "|": "vertical bar", ",": "comma"}
SAMPLE_ROWS = 200
SAMPLE_CHARACTERS = 200_000
NUMBER = re.compile(r"^[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?$")


def read_delimited(text: str) -> pd.DataFrame:
    """Delimited text → a typed table; remarks on how it was read in ``attrs["notes"]``.

    >>> read_delimited("a;b\\n1,5;x\\n2,5;y\\n")["a"].tolist()
    [1.5, 2.5]
    """
    text = text.strip("\ufeff\n\r\x1a")
    stated = re.match(r'^"?sep=(.)"?\r?\n', text)
    if stated:
        text = text[stated.end() :]
    delimiter = stated.group(1) if stated else sniff(text)
    if delimiter == " ":
        text = re.sub(r"(?m)^[ \t]+|[ \t]+$", "", text)
        text = re.sub(r"[ \t]+", " ", text)
    rows = sample(text, delimiter)
    if max(map(len, rows), default=0) < 2:
        raise DataError(
            "Only one column was found. A table needs a label and at least one other column, "
            "separated by commas, semicolons, tabs or vertical bars."
        )
    notes = [] if delimiter in ",\t" else [f"Columns are separated by {DELIMITERS.get(delimiter, 'spaces')}s."]
    names, headed = header(rows)
    refuse_duplicates(names)
    if not headed:
        notes.append(f"The file has no header line: its columns are called {names[0]} to {names[-1]}.")
    table = _parse(text, delimiter, names, headed)
    return typed_table(table, notes, delimiter)


def sample(text: str, delimiter: str) -> list[list[str]]:
    """The first rows as lists of trimmed cells; blank lines are no rows."""
    start = text[:SAMPLE_CHARACTERS]
    if len(text) > len(start):
        start = start[: start.rfind("\n") + 1] or start
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(start), delimiter=delimiter):
            if row:
                rows.append([cell.strip() for cell in row])
            if len(rows) > SAMPLE_ROWS:
                break
    except csv.Error as error:
        raise DataError(f"The text cannot be read as a table ({error}). Save it as CSV with one row a line.") from None
    return rows


def sniff(text: str) -> str:
    """The delimiter whose cells are most even from line to line; spaces only where nothing else makes columns.

    >>> sniff("x;y\\n1,5;2\\n"), sniff("x,y\\n1,5\\n"), sniff("1.0  2.0\\n3.0  4.0\\n")
    (';', ',', ' ')
    """
    best, found = 0.0, None
    for delimiter in DELIMITERS:
        widths = Counter(len(row) for row in sample(text, delimiter))
        width, alike = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        even = alike / max(1, widths.total())
        if width > 1 and even > best:
            best, found = even, delimiter
    if found is not None:
        return found
    lines = [line.split() for line in text[:SAMPLE_CHARACTERS].splitlines()[:SAMPLE_ROWS] if line.strip()]
    words = {len(line) for line in lines}
    return " " if len(words) == 1 and words != {1} and len(lines) > 1 else ","


def header(rows: Sequence[Sequence[str]]) -> tuple[list[str], bool]:
    """(column names, whether the file states them). The first row is data where its cells look like those below it.

    >>> header([["5.1", "a"], ["4.9", "b"], ["6.0", "a"]])
    (['column 1', 'column 2'], False)
    >>> header([["x", "y"], ["1", "a"]])
    (['x', 'y'], True)
    """
    if not rows:
        raise DataError("The file holds no rows. Choose a file with a header line and one row a case.")
    first, rest = list(rows[0]), rows[1:]
    width = Counter(len(row) for row in rest).most_common(1)[0][0] if rest else len(first)
    numbered = [f"column {i}" for i in range(1, max(width, len(first)) + 1)]
    if rest and _is_data(first, [row for row in rest if len(row) == len(first)]):
        return numbered, False
    if rest and width == len(first) + 1:  # row names without a header (R), or a delimiter after the last cell
        trailing = all(row[-1] == "" for row in rest if len(row) == width)
        first = [*first, ""] if trailing else ["", *first]
    return [name or numbered[i] for i, name in enumerate(first)], True


def _is_data(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is one of the data: numbers over numbers, words that occur again below."""
    if not rest:
        return False
    alike, recurring, words = 0, 0, 0
    for i, cell in enumerate(first):
        below = [row[i] for row in rest if row[i] not in MISSING]
        if cell in MISSING or not below:
            continue
        numeric = sum(bool(NUMBER.match(value)) for value in below) > 0.9 * len(below)
        if NUMBER.match(cell):
            alike += numeric
        elif numeric:
            return False  # a word over numbers is a name
        else:
            words += 1
            recurring += cell in below
    numbers = [cell for cell in first if NUMBER.match(cell)]
    if words == 0:
        return alike > 0 and not _counting(numbers)
    return recurring == words or (alike > 0 and recurring > 0)


def _counting(cells: Sequence[str]) -> bool:
    """Whether the cells are running numbers, as headers of pixel or lag columns are: 0, 1, 2."""
    if len(cells) < 2 or not all(cell.isdecimal() for cell in cells):
        return False
    steps = {int(b) - int(a) for a, b in itertools.pairwise(cells)}
    return steps == {1}


def _parse(text: str, delimiter: str, names: Sequence[str], headed: bool) -> pa.Table:
    """All cells as text. Arrow reads a million rows in a fraction of a second."""
    keys = [str(i) for i in range(len(names))]
    quoted = '"' in text
    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(text.encode("utf-8", "replace")),
            pyarrow.csv.ReadOptions(column_names=keys, skip_rows_after_names=int(headed), block_size=1 << 24),
            pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=quoted),
            pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(keys, pa.string())),
        )
    except pa.ArrowInvalid:
        raise _ragged(text, delimiter, len(names)) from None
    if quoted and text.count('"') % 2 and len(table) + headed < sum(map(bool, text.split("\n"))):
        raise DataError(
            "A quotation mark is opened and not closed, so that rows run into each other. "
            "Close or remove the stray quotation mark, or save the table again as CSV."
        )
    return table.rename_columns(list(names))


def _ragged(text: str, delimiter: str, width: int) -> DataError:
    """What is wrong with a text that Arrow refused: the first line with another number of cells."""
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    remedy = "Put cells that contain the delimiter in quotation marks, or complete the line, and bring the file again."
    try:
        for row in reader:
            if row and len(row) != width:
                return DataError(f"Line {reader.line_num} has {len(row)} cells where {width} are expected. {remedy}")
    except csv.Error:
        pass
    return DataError(f"The text is not an even table of {width} columns. {remedy}")


def typed_table(table: pa.Table, notes: Sequence[str] = (), delimiter: str = ",") -> pd.DataFrame:
    """A table of texts → a table of typed columns, with ``notes`` and ``spelling`` in its attrs."""
    comma = any(decimal_comma(column) for column in table.columns) if delimiter != "," else False
    typed = [
        typed_text(column, name, comma or delimiter == ";")
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    frame = pd.DataFrame({name: t.values for name, t in zip(table.column_names, typed, strict=True)})
    frame.attrs = {
        "notes": (*notes, *(t.note for t in typed if t.note)),
        "spelling": {name: t.spelling for name, t in zip(table.column_names, typed, strict=True) if t.spelling},
    }
    return frame

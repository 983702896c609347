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

from calib.data.errors import DataError, check_names
from calib.data.typed import MISSING, Comma, decimal_comma, typed_text

DELIMITERS = {"\t": "tabs", ";": "semicolons", "|": "vertical bars", ",": "commas", " ": "spaces"}
SAMPLE_LINES = 200
NUMBER = re.compile(r"^[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?$")


def read_delimited(text: str) -> pd.DataFrame:
    """Delimited text → a typed table; remarks on how it was read in ``attrs["notes"]``.

    >>> read_delimited("a;b\\n1,5;x\\n2,5;y\\n")["a"].tolist()
    [1.5, 2.5]
    """
    whole = text.rstrip("\n\x1a")
    stated = re.match(r'\s*"?sep=(.)"?\n', whole)  # what Excel writes to tell itself the delimiter
    text = whole[stated.end() if stated else 0 :].lstrip("\n")
    above = whole.count("\n", 0, len(whole) - len(text))
    delimiter = stated.group(1) if stated else sniff(text)
    if delimiter == " ":
        text = re.sub(r"(?m)^[ \t]+|[ \t]+$", "", text)
        text = re.sub(r"[ \t]+", " ", text)
    rows = sample(text, delimiter)
    if max(map(len, rows), default=0) < 2:
        raise DataError(
            "Only one column was found.",
            "A table needs a label and another column, separated by commas, semicolons, tabs or vertical bars.",
        )
    if len(rows) == 1:
        raise DataError("The file has a header but no rows.", "Choose a file with one row a case.")
    names, headed = header(rows)
    check_names(names)
    notes = [] if delimiter in ",\t" else [f"Columns are separated by {DELIMITERS.get(delimiter, repr(delimiter))}."]
    if not headed:
        notes.append(f"The file has no header line: its columns are called {names[0]} to {names[-1]}.")
    return _typed(_parse(text, delimiter, names, headed, above), delimiter, notes)


def sample(text: str, delimiter: str) -> list[list[str]]:
    """The first rows as lists of trimmed cells; blank lines are no rows."""
    start = "\n".join(text.split("\n", SAMPLE_LINES)[:SAMPLE_LINES])
    try:
        return [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(start), delimiter=delimiter) if row]
    except csv.Error as error:
        raise DataError(f"The text cannot be read as a table ({error}).", "Save it as CSV, one row a line.") from None


def sniff(text: str) -> str:
    """The delimiter whose cells are most even from line to line; spaces only where nothing else makes columns.

    >>> sniff("x;y\\n1,5;2\\n"), sniff("x,y\\n1,5\\n"), sniff("1.0  2.0\\n3.0  4.0\\n")
    (';', ',', ' ')
    """
    best, found = 0.5, None
    for delimiter in "\t;|,":
        widths = Counter(len(row) for row in sample(text, delimiter))
        width, alike = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        even = alike / max(1, widths.total())
        if width > 1 and even > best:
            best, found = even, delimiter
    if found is not None:
        return found
    words = {len(line.split()) for line in text.split("\n", SAMPLE_LINES)[:SAMPLE_LINES] if line.strip()}
    return " " if len(words) == 1 and words != {1} and "\n" in text.strip() else ","


def header(rows: Sequence[Sequence[str]]) -> tuple[list[str], bool]:
    """(column names, whether the file states them). The first row is data where its cells look like those below it.

    >>> header([["5.1", "a"], ["4.9", "b"], ["6.0", "a"]])
    (['column 1', 'column 2'], False)
    >>> header([["x", "y"], ["1", "a"]])
    (['x', 'y'], True)
    """
    first, rest = list(rows[0]), rows[1:]
    width = Counter(len(row) for row in rest).most_common(1)[0][0]
    if _is_data(first, [row for row in rest if len(row) == len(first)]):
        return [f"column {i}" for i in range(1, len(first) + 1)], False
    if width == len(first) + 1 > 2:
        full = [row for row in rest if len(row) == width]
        if all(row[-1] == "" for row in full):  # a delimiter after every last cell
            first = [*first, ""]
        elif _are_row_names([row[0] for row in full]):
            first = ["", *first]
    return [name or f"column {i}" for i, name in enumerate(first, start=1)], True


def _are_row_names(cells: Sequence[str]) -> bool:
    """Whether cells number or name the rows, which R writes without a header."""
    running = list(cells) == [str(i) for i in range(1, len(cells) + 1)]
    return running or (len(set(cells)) == len(cells) and not any(NUMBER.match(cell) for cell in cells))


def _is_data(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is one of the data: numbers over numbers, words that occur again below."""
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
    if words:
        return recurring == words or (alike > 0 and recurring > 0)
    return alike > 0 and not _counting(first)


def _counting(cells: Sequence[str]) -> bool:
    """Whether the cells count evenly upwards, as the headers of pixels, lags and wavelengths do: 0, 1, 2."""
    if len(cells) < 3 or not all(cell.isascii() and cell.isdecimal() and len(cell) < 10 for cell in cells):
        return False
    steps = {int(b) - int(a) for a, b in itertools.pairwise(cells)}
    return len(steps) == 1 and steps.pop() > 0


def _parse(text: str, delimiter: str, names: Sequence[str], headed: bool, above: int) -> pa.Table:
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
        raise _ragged(text, delimiter, len(names), above) from None
    if quoted and text.count('"') % 2 and len(table) + headed < sum(map(bool, text.split("\n"))):
        raise DataError(
            "A quotation mark is opened and never closed, so that rows run into each other.",
            "Close or remove the stray quotation mark, or save the table again as CSV.",
        )
    return table.rename_columns(list(names))


def _ragged(text: str, delimiter: str, width: int, above: int) -> DataError:
    """What is wrong with a text that Arrow refused: its first line with another number of cells."""
    said = f"The text is no even table of {width} columns."
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    try:
        for row in reader:
            if row and len(row) != width:
                cells = f"{len(row)} cell{'' if len(row) == 1 else 's'}"
                said = f"Line {above + reader.line_num} has {cells} where {width} are expected."
                break
    except csv.Error:
        pass  # the general sentence has to do
    return DataError(said, "Complete the line, or put cells that contain the delimiter in quotation marks.")


def _typed(table: pa.Table, delimiter: str, notes: Sequence[str]) -> pd.DataFrame:
    """Texts → typed columns, with ``notes`` and ``spelling`` in the attrs."""
    comma: Comma = "likely" if delimiter == ";" else "no"
    if delimiter != "," and any(decimal_comma(column) for column in table.columns):
        comma = "certain"
    typed = {name: typed_text(table[name], name, comma) for name in table.column_names}
    frame = pd.DataFrame({name: column.values for name, column in typed.items()})
    frame.attrs = {
        "notes": (*notes, *(column.note for column in typed.values() if column.note)),
        "spelling": {name: column.spelling for name, column in typed.items() if column.spelling},
    }
    return frame

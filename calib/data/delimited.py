"""Read delimited text: infer delimiter, decimal comma and a missing header, and report ragged lines."""

from __future__ import annotations

import csv
import ctypes
import io
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from calib.data.about import describe
from calib.data.column_types import (
    GAPS,
    TOO_LARGE,
    Comma,
    Typed,
    as_frame,
    decimal_comma,
    kind_of,
    typed_cells,
)
from calib.data.errors import DataError
from calib.data.head import COMMENT, NUMBER, header_note, is_data, rows_above
from calib.data.limits import PER_BYTE, PER_CELL, check_columns, check_memory, check_names
from calib.kernel.memory import release_memory

DELIMITERS = {"\t": "tabs", ";": "semicolons", "|": "vertical bars", ",": "commas", " ": "spaces"}
SAMPLE_LINES = 200
SAMPLE_CHARACTERS, FEWEST_LINES = 500_000, 10  # of the sample for the delimiter
SAMPLE_CELLS, FEWEST_ROWS = 200_000, 20  # of the rows that show whether the first is a header
PIECE = 1_000_000  # characters
MANY_COLUMNS = 100
GIVEN_BACK = 1_000_000  # cells that are typed between releases of memory
TOP_LINES = 20  # of a text, kept for the choice of the header
LONG_TEXT = 2_000_000  # characters, from which Arrow parses numbers directly
HEAD_ROWS, HEAD_CELLS = 10_000, 1_000_000  # used to infer the types of columns
FEWEST_HEAD, SURE_ROWS = 250, 1_000  # fewest such rows; fewest if they also decide on decimal commas


def read_delimited(text: str, at: int | None = None, fewest: int = 2) -> pd.DataFrame:
    """Read delimited text as a typed table; the notes in ``about`` say how it was read.

    Parameters
    ----------
    at
        Line of the header, counted from 1; 0 if the file has none; None infers it.
    fewest
        Smallest number of columns; a table with fewer is refused.

    Examples
    --------
    >>> read_delimited("a;b\\n1,5;x\\n2,5;y\\n")["a"].tolist()
    [1.5, 2.5]
    >>> read_delimited("Sales 2020\\n\\na,b\\n1,x\\n2,y\\n").attrs["about"].header
    3
    """
    whole = text.rstrip("\n\x1a")
    top = tuple(line[:200] for line in _lines(whole, TOP_LINES))
    stated = re.match(r'\s*"?sep=(.)"?\n', whole)  # Excel states the delimiter this way
    text = whole[stated.end() if stated else 0 :].lstrip("\n")
    above = whole.count("\n", 0, len(whole) - len(text))
    if at:
        text, above = _from_line(whole, at), at - 1
    delimiter = _checked_delimiter(stated.group(1)) if stated else sniff(text)
    text, skipped = _single_blanks(text, delimiter), max(at or 0, 1) - 1
    rows, lines = numbered(text, delimiter)
    check_columns(max(map(len, rows), default=0))
    if at is None and rows and (skipped := lines[rows_above(rows)] - 1):
        text, above = text.split("\n", skipped)[-1], above + skipped
        rows = sample(text, delimiter)
    if max(map(len, rows), default=0) < fewest:
        raise DataError(
            "Only one column was found.",
            "Upload a table with a label and at least one other column, separated by commas, semicolons, "
            "tabs or vertical bars.",
        )
    if len(rows) == 1 and at != 0:
        raise DataError("The file has a header but no rows.", "Choose a file with rows below the header.")
    names, headed = header(rows, None if at is None else bool(at))
    check_names(names)
    notes = (
        []
        if delimiter in ",\t"
        else [f"Columns are separated by {DELIMITERS.get(delimiter, repr(delimiter))}."]
    )
    if not headed:
        notes.append(_names_note(names))
    if skipped:
        notes.append(header_note(above + 1, skipped, "line"))
    del rows, lines  # for thousands of columns, a hundred megabytes
    given = [_parse(text, delimiter, names, headed, above)]
    del text, whole
    frame = _typed(given, delimiter, notes)
    return describe(
        frame,
        header=above + 1 if headed else 0,
        top=tuple(top),
        stated={"header": above + 1} if skipped else {},
    )


def _names_note(names: Sequence[str]) -> str:
    """Return the note on a file without a header."""
    one = f"its column is called {names[0]}"
    many = f"its columns are called {names[0]} to {names[-1]}"
    return f"The file has no header line: {many if names[1:] else one}."


def _checked_delimiter(stated: str) -> str:
    """Return the delimiter that a file states, or refuse it."""
    if stated.isascii():
        return stated
    raise DataError(
        f"The file declares the delimiter {stated!r}, which is not supported.",
        f"Save the file again, separated by {', '.join(list(DELIMITERS.values())[:3])} or commas.",
    )


def _from_line(text: str, line: int) -> str:
    parts = text.split("\n", line - 1)
    if len(parts) < line or not parts[-1].strip():
        raise DataError(
            f"The file has no line {line}, so the header cannot be there.", "Choose a line of the file."
        )
    return parts[-1]


def _single_blanks(text: str, delimiter: str) -> str:
    """Reduce several blanks to one, and remove those at the ends of lines, if blanks are the delimiter."""
    if delimiter != " ":
        return text
    return "".join(re.sub(r"(?m)^ | $", "", re.sub(r"[ \t]+", " ", piece)) for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    """Yield a text in blocks of whole lines, because processing a block may take ten times its memory."""
    at = 0
    while at < len(text):
        end = text.find("\n", at + PIECE) + 1 or len(text)
        yield text[at:end]
        at = end


def _lines(text: str, most: int) -> list[str]:
    """Return the first lines of a text, without copying the others."""
    return _top(text, most).split("\n")


def _top(text: str, lines: int) -> str:
    end = -1
    for _ in range(lines):
        end = text.find("\n", end + 1)
        if end < 0:
            return text
    return text[:end]


def numbered(text: str, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """Return the first rows as lists of trimmed cells, and the line on which each begins; skip blank lines."""
    start = "\n".join(_lines(text, SAMPLE_LINES))
    reader = csv.reader(io.StringIO(start), delimiter=delimiter)
    rows, lines, line = [], [], 1
    try:
        for row in reader:
            if row:
                rows.append([cell.strip() for cell in row])
                lines.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        what = f"a cell in line {line} or below is longer than {csv.field_size_limit():,} characters"
        why = what if "field limit" in str(error) else error
        raise DataError(
            f"The text cannot be read as a table ({why}).", "Save the table as CSV, with one row per line."
        ) from None
    return rows, lines


def sample(text: str, delimiter: str) -> list[list[str]]:
    """Return the first rows as lists of trimmed cells; skip blank lines."""
    return numbered(text, delimiter)[0]


def sniff(text: str) -> str:
    """Guess the delimiter that gives the most even rows; spaces only if no other gives columns.

    >>> sniff("x;y\\n1,5;2\\n"), sniff("x,y\\n1,5\\n"), sniff("1.0  2.0\\n3.0  4.0\\n")
    (';', ',', ' ')
    """
    text = re.sub(rf"\A(\s*({'|'.join(COMMENT)}).*\n)+", "", text) or text
    best, found = 0.5, None
    first = _first_lines(text)
    for delimiter in "\t;|,":
        widths = Counter(len(row) for row in sample(first, delimiter))
        width, alike = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        even = alike / max(1, widths.total())
        if width > 1 and even > best:
            best, found = even, delimiter
    if found is not None:
        return found
    words = {len(line.split()) for line in _lines(text, SAMPLE_LINES) if line.strip()}
    return " " if len(words) == 1 and words != {1} and "\n" in text.strip() else ","


def _first_lines(text: str) -> str:
    """Return enough lines to infer the delimiter; fewer if they are long, because that takes time."""
    return "\n".join(_lines(text, max(FEWEST_LINES, text.count("\n", 0, SAMPLE_CHARACTERS))))


def header(rows: Sequence[Sequence[str]], headed: bool | None = None) -> tuple[list[str], bool]:
    """Return (column names, whether the file states them). The first row is data if its cells look like those below.

    Parameters
    ----------
    headed
        Whether the first row is the header; None infers it.

    Examples
    --------
    >>> header([["5.1", "a"], ["4.9", "b"], ["6.0", "a"]])
    (['column 1', 'column 2'], False)
    >>> header([["x", "y"], ["1", "a"]])
    (['x', 'y'], True)
    """
    first, rest = list(rows[0]), rows[1:]
    width = Counter(len(row) for row in rest or rows).most_common(1)[0][0]
    if headed is None:
        below = rest[: max(FEWEST_ROWS, SAMPLE_CELLS // len(first))]
        headed = not is_data(first, [row for row in below if len(row) == len(first)])
    if not headed:
        return [f"column {i}" for i in range(1, len(first) + 1)], False
    if width == len(first) + 1 > 2:
        full = [row for row in rest if len(row) == width]
        if all(row[-1] == "" for row in full):  # a delimiter after every last cell
            first = [*first, ""]
        elif _are_row_names([row[0] for row in full]):
            first = ["", *first]
    return [name or f"column {i}" for i, name in enumerate(first, start=1)], True


def _are_row_names(cells: Sequence[str]) -> bool:
    """Tell whether cells number or name the rows, which R writes without a header."""
    running = list(cells) == [str(i) for i in range(1, len(cells) + 1)]
    return running or (len(set(cells)) == len(cells) and not any(NUMBER.match(cell) for cell in cells))


def _parse(text: str, delimiter: str, names: Sequence[str], headed: bool, above: int) -> pa.Table:
    """Parse the cells: as numbers and levels if a long text begins with such columns, else as text."""
    cells = min(text.count(delimiter), text.count("\n") * len(names)) + len(names)
    check_memory(PER_BYTE * sys.getsizeof(text) + PER_CELL * cells)
    table = _by_kind(text, delimiter, len(names), headed)
    if table is None:
        try:
            table = _cells(text, delimiter, len(names), headed)
        except pa.ArrowInvalid:
            raise _ragged(text, delimiter, len(names), above) from None
    if '"' in text and text.count('"') % 2 and len(table) + headed < sum(map(bool, text.split("\n"))):
        raise DataError(
            "A quotation mark is never closed, so several rows were read as one cell.",
            "Close or remove the stray quotation mark, or save the table again as CSV.",
        )
    release_memory(len(table) * len(names))
    return table.rename_columns(list(names))


def _cells(
    text: str, delimiter: str, width: int, headed: bool, kinds: Sequence[pa.DataType] | None = None
) -> pa.Table:
    """Parse columns "0", "1", … as these types, else as text. Arrow reads a million rows in a fraction of a second."""
    keys = [str(i) for i in range(width)]
    return pyarrow.csv.read_csv(
        _encoded(text),
        pyarrow.csv.ReadOptions(column_names=keys, skip_rows_after_names=int(headed), block_size=1 << 24),
        pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values='"' in text),
        pyarrow.csv.ConvertOptions(
            column_types=dict(zip(keys, kinds or [pa.string()] * width, strict=True)), null_values=GAPS
        ),
        memory_pool=_pool(width),
    )


def _by_kind(text: str, delimiter: str, width: int, headed: bool) -> pa.Table | None:
    """Parse a long text with the types of its first rows, in a third of the time that text alone takes.

    Return None if later rows of a column do not have this type; all cells are then parsed as text.
    """
    fewest = FEWEST_HEAD if delimiter == "," else SURE_ROWS
    top = _top(text, min(HEAD_ROWS, max(fewest, HEAD_CELLS // width)))
    if len(text) < max(LONG_TEXT, 4 * len(top)):
        return None
    try:
        head = _cells(top, delimiter, width, headed)
        if delimiter != "," and any(map(decimal_comma, head.columns)):
            return None
        kinds = [kind_of(column) for column in head.columns]
        if pa.int64() in kinds and _may_be_hexadecimal(text):
            return None
        table = _cells(text, delimiter, width, headed, kinds)
    except pa.ArrowInvalid:
        return None
    numbers = (column for column in table.columns if pa.types.is_primitive(column.type))
    ends = (pc.min_max(column).as_py() for column in numbers)
    return table if all(max(abs(each["min"]), abs(each["max"])) < TOO_LARGE for each in ends) else None


def _may_be_hexadecimal(text: str) -> bool:
    """Tell whether the text may contain 0x1F, which Arrow reads as 31; a search for one letter first is fast."""
    return any(letter in text and f"0{letter}" in text for letter in "xX")


def _pool(columns: int) -> pa.MemoryPool:
    """Return a memory pool that frees each column once it is typed, unless many columns would each waste a page."""
    return pa.system_memory_pool() if columns < MANY_COLUMNS else pa.default_memory_pool()


def _encoded(text: str) -> pa.NativeFile:
    """Return a text as UTF-8: the bytes of ASCII text itself, other text in blocks, because a copy is large."""
    if text.isascii():
        size = ctypes.c_ssize_t()
        begin = _utf8(text, ctypes.byref(size))
        return pa.BufferReader(pa.foreign_buffer(begin, size.value, base=text))
    return pa.PythonFile(_Encoded(text), "r")


# ASCII needs no copy. This is our own prototype, because all code shares that of ctypes.pythonapi
_utf8 = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
    ("PyUnicode_AsUTF8AndSize", ctypes.pythonapi)
)


class _Encoded(io.RawIOBase):
    """Text as a file of UTF-8, encoded block by block."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Read at most ``size`` bytes; a character has up to four."""
        end = len(self._text) if size < 0 else self._at + max(1, size // 4)
        piece = self._text[self._at : end]
        self._at += len(piece)
        return piece.encode("utf-8", "replace")


def _ragged(text: str, delimiter: str, width: int, above: int) -> DataError:
    """Return the error for a text that Arrow refused, with its first line of another number of cells."""
    message = f"Some rows of the text do not have {width} columns."
    lines = (line for piece in _pieces(text) for line in io.StringIO(piece))
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        for row in reader:
            if row and len(row) != width:
                cells = f"{len(row)} cell{'' if len(row) == 1 else 's'}"
                message = f"Line {above + reader.line_num} has {cells}, but {width} are expected."
                break
    except csv.Error:
        pass  # keep the general message
    return DataError(
        message, "Complete the line, or put quotation marks around cells that contain the delimiter."
    )


def _typed(given: list[pa.Table], delimiter: str, notes: Sequence[str]) -> pd.DataFrame:
    """Type the columns of the table in ``given``, which is taken out of the list; add notes and spelling."""
    table = given.pop()
    comma: Comma = "likely" if delimiter == ";" else "no"
    if delimiter != "," and any(map(decimal_comma, table.columns)):
        comma = "certain"
    texts, typed = dict(zip(table.column_names, table.columns, strict=True)), dict[str, Typed]()
    del table  # texts of millions of rows are large: each is freed once it is typed
    done = 0
    for name in list(texts):
        typed[name] = typed_cells(texts.pop(name), name, comma)
        if (done := done + len(typed[name].values)) >= GIVEN_BACK:
            release_memory()
            done = 0
    frame = as_frame({name: column.values for name, column in typed.items()})
    return describe(
        frame,
        notes=(*notes, *(column.note for column in typed.values() if column.note)),
        spelling={name: column.spelling for name, column in typed.items() if column.spelling},
    )

"""Read delimited text: infer delimiter, decimal comma and a missing header, and report ragged lines."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from calib.data.column_types import Typed, are_plain, as_frame, kinds_of, own_numbers, typed_cells
from calib.data.errors import DataError
from calib.data.head import COMMENT, NUMBER_PATTERN, header_note, is_data, rows_above
from calib.data.limits import PER_BYTE, PER_CELL, check_columns, check_memory, check_names
from calib.data.notation import MISSING_VALUES, Comma, decimal_comma
from calib.data.table import note_reading
from calib.kernel.memory import release_memory
from calib.kernel.progress import Watch

DELIMITERS = {"\t": "tabs", ";": "semicolons", "|": "vertical bars", ",": "commas", " ": "spaces"}
SAMPLE_LINES, SAMPLE_BYTES = 200, 500_000  # of the sample: as many lines as fit, up to this number
FEWEST_LINES, FEWEST_TO_SNIFF = 40, 10  # of the sample, however long they are
SAMPLE_CELLS, FEWEST_ROWS = 200_000, 20  # of the rows that show whether the first is a header
READ_AT_ONCE = 1_000_000  # bytes
MANY_COLUMNS = 100
GIVEN_BACK = 1_000_000  # cells that are typed between releases of memory
TOP_LINES = 20  # of a text, kept for the choice of the header
LONG_TEXT = 2_000_000  # bytes, from which Arrow parses numbers directly
LINES_PER_LOOK = 100_000  # lines that are checked between looks at Cancel
TOLD = 20_000_000  # bytes of a text, from which reading it reports progress
SMALL_BLOCK, LARGE_BLOCK = 1 << 20, 1 << 24  # bytes that Arrow parses at once
BLOCK_TOPS = 25  # a small block is at least so many times as long as the first lines: columns cost time, too
HEAD_ROWS, HEAD_CELLS = 2_500, 1_000_000  # used to infer the types of columns
FEWEST_HEAD, SURE_ROWS = 250, 1_000  # fewest such rows; fewest if they also decide on decimal commas
# Lines above the table that begin with a comment sign
REMARKS = re.compile(rb"(\s*(%b).*\n)+" % "|".join(COMMENT).encode())


class Layout(NamedTuple):
    """Layout of a delimited text, which its first lines show.

    Attributes
    ----------
    delimiter
        Sign between two cells.
    names
        Names of the columns.
    headed
        Whether the text states the names.
    above
        Number of lines above the header or, if there is none, above the first row.
    notes, stated
        As in ``TableReading``.
    """

    delimiter: str
    names: Sequence[str]
    headed: bool
    above: int
    notes: tuple[str, ...]
    stated: Mapping[str, Any]


def read_delimited(
    text: bytes, at: int | None = None, fewest: int = 2, watch: Watch | None = None
) -> pd.DataFrame:
    """Read delimited text as a typed table; the notes in ``reading_of`` say how it was read.

    Parameters
    ----------
    text
        In UTF-8, with "\\n" between lines.
    at
        Line of the header, counted from 1; 0 if the file has none; None infers it.
    fewest
        Smallest number of columns; a table with fewer is refused.
    watch
        Progress in rows, of a text that takes a while.

    Examples
    --------
    >>> read_delimited(b"a;b\\n1,5;x\\n2,5;y\\n")["a"].tolist()
    [1.5, 2.5]
    >>> read_delimited(b"Sales 2020\\n\\na,b\\n1,x\\n2,y\\n").attrs["reading"].header
    3
    """
    top = tuple(line[:200] for line in _lines(text, TOP_LINES))
    layout, text = lay_out(text, at, fewest)
    given = _parse(text, layout, watch or Watch())
    del text
    frame = _typed(given, layout)
    return note_reading(frame, header=layout.above + 1 if layout.headed else 0, top=top, stated=layout.stated)


def lay_out(text: bytes, at: int | None = None, fewest: int = 2) -> tuple[Layout, bytes]:
    """Return the layout of a text, and the text without the lines above the header.

    Parameters and errors are those of ``read_delimited``.

    >>> layout, rest = lay_out(b"Sales 2020\\n\\na;b\\n1,5;x\\n2,5;y\\n")
    >>> layout.delimiter, layout.names, layout.above, rest[:4]
    (';', ['a', 'b'], 2, b'a;b\\n')
    """
    whole = text
    # Excel states the delimiter this way
    stated = re.match(r'\s*"?sep=(.)"?\n', "\n".join([*_lines(text, TOP_LINES), ""]))
    text = text[len(stated.group().encode()) if stated else 0 :].lstrip(b"\n")
    above = whole.count(b"\n", 0, len(whole) - len(text))
    if at:
        text, above = _from_line(whole, at), at - 1
    delimiter = _checked_delimiter(stated.group(1)) if stated else sniff(text)
    text, skipped = _single_blanks(text, delimiter), max(at or 0, 1) - 1
    rows, lines = numbered(text, delimiter)
    check_columns(max(map(len, rows), default=0))
    if at is None and rows and (skipped := lines[rows_above(rows)] - 1):
        text, above = text.split(b"\n", skipped)[-1], above + skipped
        rows = numbered(text, delimiter)[0]
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
    layout = Layout(delimiter, names, headed, above, tuple(notes), {"header": above + 1} if skipped else {})
    return layout, text


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


def _from_line(text: bytes, line: int) -> bytes:
    parts = text.split(b"\n", line - 1)
    if len(parts) < line or not parts[-1].strip():
        raise DataError(
            f"The file has no line {line}, so this line cannot contain the header.",
            "Choose a line that exists.",
        )
    return parts[-1]


def _single_blanks(text: bytes, delimiter: str) -> bytes:
    """Reduce several blanks to one, and remove those at the ends of lines, if blanks are the delimiter."""
    if delimiter != " ":
        return text
    return b"".join(re.sub(rb"(?m)^ | $", b"", re.sub(rb"[ \t]+", b" ", piece)) for piece in _pieces(text))


def _pieces(text: bytes) -> Iterator[bytes]:
    """Yield a text in blocks of whole lines, because processing a block may take ten times its memory."""
    at = 0
    while at < len(text):
        end = text.find(b"\n", at + READ_AT_ONCE) + 1 or len(text)
        yield text[at:end]
        at = end


def _lines(text: bytes, most: int) -> list[str]:
    """Return the first lines of a text, without copying the others."""
    return text[: _end(text, most)].decode().split("\n")


def _end(text: bytes, lines: int) -> int:
    """Return where the first lines end, without the line ends after the last line of all."""
    end = -1
    for _ in range(lines):
        end = text.find(b"\n", end + 1)
        if end < 0:
            return len(text.rstrip(b"\n"))
    return end


def numbered(text: bytes, delimiter: str, fewest: int = FEWEST_LINES) -> tuple[list[list[str]], list[int]]:
    """Return the first rows as lists of trimmed cells, and the line on which each begins; skip blank lines."""
    sampled = min(SAMPLE_LINES, max(fewest, text.count(b"\n", 0, SAMPLE_BYTES)))
    reader = csv.reader(io.StringIO("\n".join(_lines(text, sampled))), delimiter=delimiter)
    rows, lines, line = [], [], 1
    try:
        for row in reader:
            if row:
                rows.append([cell.strip() for cell in row])
                lines.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        what = f"a cell in line {line} or a later line is longer than {csv.field_size_limit():,} characters"
        why = what if "field limit" in str(error) else error
        raise DataError(
            f"The text cannot be read as a table ({why}).", "Save the table as CSV, with one row per line."
        ) from None
    return rows, lines


def sniff(text: bytes) -> str:
    """Guess the delimiter that gives the most even rows; spaces only if no other gives columns.

    >>> sniff(b"x;y\\n1,5;2\\n"), sniff(b"x,y\\n1,5\\n"), sniff(b"1.0  2.0\\n3.0  4.0\\n")
    (';', ',', ' ')
    """
    if remarks := REMARKS.match(text):
        text = text[remarks.end() :] or text
    best, found = 0.5, None
    for delimiter in "\t;|,":
        widths = Counter(map(len, numbered(text, delimiter, FEWEST_TO_SNIFF)[0]))
        width, alike = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        even = alike / max(1, widths.total())
        if width > 1 and even > best:
            best, found = even, delimiter
    if found is not None:
        return found
    return " " if _separated_by_blanks(_lines(text, SAMPLE_LINES)) else ","


def _separated_by_blanks(lines: Sequence[str]) -> bool:
    """Tell whether blanks give even rows; the header may lack a name for row names, as R writes it."""
    reader = csv.reader((" ".join(line.split()) for line in lines if line.strip()), delimiter=" ")
    try:
        first, *rest = (len(row) for row in reader)
    except (csv.Error, ValueError):
        return False
    return len(set(rest)) == 1 and rest[0] > 1 and first in (rest[0], max(rest[0] - 1, 2))


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
    return running or (
        len(set(cells)) == len(cells) and not any(NUMBER_PATTERN.match(cell) for cell in cells)
    )


def _parse(text: bytes, layout: Layout, watch: Watch) -> list[pd.DataFrame | pa.Table]:
    """Parse the cells: as numbers and levels if a long text begins with such columns, else as text.

    Return the columns of numbers, and the others.
    """
    width = len(layout.names)
    check_memory(PER_BYTE * len(text) + PER_CELL * min(len(text), _lines_of(text) * width))
    given = _by_kind(text, layout, watch)
    if given is None:
        try:
            table = parse_cells(text, layout, watch)
        except pa.ArrowInvalid:
            raise wrong_line(io.BytesIO(text.rstrip(b"\n")), layout, watch) or DataError(
                f"Some rows of the text do not have {width} columns.", "Save the table as CSV again."
            ) from None
        given = [pd.DataFrame(index=pd.RangeIndex(len(table))), table]
    rows = len(given[0])
    if b'"' in text and text.count(b'"') % 2 and rows + layout.headed < sum(map(bool, text.split(b"\n"))):
        raise DataError(
            "A quotation mark is never closed, so several rows were read as one cell.",
            "Close or remove the stray quotation mark, or save the table again as CSV.",
        )
    release_memory(rows * width)
    return given


def _lines_of(text: bytes) -> int:
    """Count the lines, in a third of the time that ``bytes.count`` takes."""
    letters = np.frombuffer(text, np.uint8)
    pieces = (letters[at : at + READ_AT_ONCE] for at in range(0, len(letters), READ_AT_ONCE))
    return 1 + sum(int(np.count_nonzero(piece == ord("\n"))) for piece in pieces)


def parse_cells(text: bytes, layout: Layout, watch: Watch, kinds: Sequence[pa.DataType] = ()) -> pa.Table:
    """Parse columns as these types, else as text. Arrow reads a million rows in a fraction of a second.

    Known types are parsed in blocks that fit into the processor's cache; a line that is longer than a block is refused.
    """
    names = layout.names
    types = dict(zip(names, kinds or [pa.string()] * len(names), strict=True))
    block = block_for(text, SMALL_BLOCK) if kinds else LARGE_BLOCK
    # The system's pool frees each column once it is typed, but would waste a page for each of many columns.
    pool = pa.system_memory_pool() if len(names) < MANY_COLUMNS else pa.default_memory_pool()
    given = pa.BufferReader(text), *csv_options(layout, types, block, newlines=b'"' in text), pool
    if watch.report is None or len(text) < TOLD:
        return pyarrow.csv.read_csv(*given)
    lines = _lines_of(text) - text.endswith(b"\n") - layout.headed
    return _in_batches(pyarrow.csv.open_csv(*given), lines, watch)


def block_for(text: bytes, least: int) -> int:
    """Return the bytes to parse at once, by the length of the first lines."""
    return min(LARGE_BLOCK, max(least, BLOCK_TOPS * _end(text, TOP_LINES)))


def csv_options(
    layout: Layout,
    types: Mapping[str, pa.DataType],
    block: int,
    newlines: bool,
    above: int = 0,
    check_utf8: bool = False,
) -> tuple[Any, Any, Any]:
    """Return Arrow's options for some columns of a text, with this number of lines above its header."""
    return (
        pyarrow.csv.ReadOptions(
            column_names=list(layout.names),
            skip_rows=above,
            skip_rows_after_names=int(layout.headed),
            block_size=block,
        ),
        pyarrow.csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=newlines),
        pyarrow.csv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=MISSING_VALUES, check_utf8=check_utf8
        ),
    )


def _in_batches(reader: pyarrow.csv.CSVStreamingReader, rows: int, watch: Watch) -> pa.Table:
    """Read about so many rows, with progress; on two processors it takes as long as reading at once."""
    batches, done = [], 0
    for batch in reader:
        batches.append(batch)
        done += batch.num_rows
        watch.step(min(done / rows, 1.0), f"{done:,} of {rows:,} rows")
    return pa.Table.from_batches(batches, reader.schema)


def _by_kind(text: bytes, layout: Layout, watch: Watch) -> list[pd.DataFrame | pa.Table] | None:
    """Parse a long text with the types of its first rows, in a third of the time that text alone takes.

    Return the columns of numbers, and the others. Return None if later rows of a column do not have its type; all
    cells are then parsed as text.
    """
    delimiter = layout.delimiter
    fewest = FEWEST_HEAD if delimiter == "," else SURE_ROWS
    top = text[: _end(text, min(HEAD_ROWS, max(fewest, HEAD_CELLS // len(layout.names))))]
    if len(text) < max(LONG_TEXT, 4 * len(top)):
        return None
    try:
        head = _head(top, layout)
        texts = [] if delimiter == "," else [column for _, column in head.select_dtypes("str").items()]
        if any(decimal_comma(pa.chunked_array([pa.array(column, pa.string())])) for column in texts):
            return None
        kinds = kinds_of(head)
        if pa.int64() in kinds and any(x in text and b"0" + x in text for x in (b"x", b"X")):
            return None  # Arrow reads 0x1F as 31; a search for one letter first is fast
        table = parse_cells(text, layout, watch, kinds)
    except ValueError:  # of pandas or Arrow
        return None
    given = [table.select([i for i, kind in enumerate(kinds) if pa.types.is_primitive(kind)])]
    others = table.select([i for i, kind in enumerate(kinds) if not pa.types.is_primitive(kind)])
    del table
    numbers = own_numbers(given)
    return [numbers, others] if are_plain(numbers) else None


def _head(top: bytes, layout: Layout) -> pd.DataFrame:
    """Parse the first rows with pandas, which finds the types of thousands of columns faster than Arrow."""
    return pd.read_csv(
        io.BytesIO(top),
        sep=layout.delimiter,
        header=0 if layout.headed else None,
        names=list(layout.names),
        na_values=list(MISSING_VALUES),
        keep_default_na=False,
        low_memory=False,
    )


def wrong_line(file: Iterable[bytes], layout: Layout, watch: Watch) -> DataError | None:
    """Return the error for the first line that does not fit the layout; None if there is none.

    ``file`` yields the lines from the header on.
    """
    width, row, line, following = len(layout.names), [""], layout.above + 1, layout.above + 1
    reader = csv.reader(_decoded(file, watch), delimiter=layout.delimiter)
    try:
        if layout.headed:  # row names have no name in the header
            next(reader, None)
        following = layout.above + reader.line_num + 1
        for row in reader:
            line, following = following, layout.above + reader.line_num + 1
            if row and len(row) != width:
                break
        else:
            return _never_closed(line) if "\n" in "".join(row[-1:]) else None
        if "\n" in row[-1] and next(reader, None) is None:
            return _never_closed(line)
    except UnicodeDecodeError:
        at = layout.above + reader.line_num + 1
        return DataError(f"Line {at} is not UTF-8 text.", "Save the file as UTF-8, or as Parquet.")
    except csv.Error:  # a cell longer than any
        return _never_closed(following)
    found = f"{len(row)} cell{'' if len(row) == 1 else 's'}"
    return DataError(
        f"Line {line} has {found}, but {width} are expected.",
        "Complete the line, or put quotation marks around cells that contain the delimiter.",
    )


def _decoded(lines: Iterable[bytes], watch: Watch) -> Iterator[str]:
    for number, line in enumerate(lines):
        if number % LINES_PER_LOOK == 0:
            watch.step(0.0, f"{number:,} lines checked")
        yield line.decode()


def _never_closed(line: int) -> DataError:
    return DataError(f"A quotation mark in line {line} is never closed.", "Close or remove it.")


def comma_of(layout: Layout, table: pa.Table) -> Comma:
    """Tell whether a text writes decimal commas, by its columns of texts."""
    if layout.delimiter != "," and any(map(decimal_comma, table.columns)):
        return "certain"
    return "likely" if layout.delimiter == ";" else "no"


def _typed(given: list[pd.DataFrame | pa.Table], layout: Layout) -> pd.DataFrame:
    """Type the columns in ``given``, which are taken out of the list; add notes and spelling."""
    table, numbers = given.pop(), given.pop()
    comma = comma_of(layout, table)
    texts, typed = dict(zip(table.column_names, table.columns, strict=True)), dict[str, Typed]()
    del table  # texts of millions of rows are large: each is freed once it is typed
    done, seen = 0, dict[Any, Any]()
    for name in list(texts):
        typed[name] = typed_cells(texts.pop(name), name, comma, seen)
        if (done := done + len(numbers)) >= GIVEN_BACK:
            release_memory()
            done = 0
    columns = {name: column.values for name, column in typed.items()}
    others = as_frame(columns) if len(columns) >= MANY_COLUMNS else pd.DataFrame(columns, copy=False)
    frame = pd.concat([numbers, others], axis=1)[list(layout.names)] if numbers.shape[1] else others
    return note_reading(
        frame,
        notes=(*layout.notes, *(column.note for column in typed.values() if column.note)),
        spelling={name: column.spelling for name, column in typed.items() if column.spelling},
    )

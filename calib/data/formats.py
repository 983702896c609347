"""Read Parquet, Excel, ARFF and JSON with maintained libraries, and report damaged files clearly."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, dropwhile, islice, zip_longest
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from calib.data import limits
from calib.data.arrays import native, numbered
from calib.data.column_types import ColumnBuilder, as_frame, batches, is_number_type, typed_arrow
from calib.data.errors import DataError, first_line
from calib.data.head import SEARCHED, header_note, rows_above
from calib.data.limits import PER_CELL, check_columns, check_memory, check_names, most_unpacked, too_large
from calib.data.table import note_reading
from calib.kernel.memory import release_memory
from calib.kernel.progress import Cancelled, Watch

ROWS_WITH_HEADER = 4 * SEARCHED  # rows of a sheet among which the header is
TOP_ROWS = 20  # first rows of a sheet, shown for the choice of the header
LAST_ROW = 1 << 20  # last row that Excel allows
BATCH = 1 << 16  # cells per batch of a Parquet file: texts may be long
LIST_BATCH = 1 << 20  # numbers per batch of lists, which may be long
SPREADSHEET_PARTS = (
    "xl/workbook.xml",
    "xl/workbook.bin",
    "content.xml",
)  # one of them is in every packed spreadsheet
EXACT_WHOLE_NUMBERS = 2.0**53  # whole numbers below are exact
COLUMNS_AT_ONCE = 64  # of a Parquet file: with thousands of columns, batches have few rows and take minutes
SheetRow = tuple[Any, ...]  # cells of a row, up to the last that is filled
Row = tuple[int, SheetRow]  # number and cells


# ---------------------------------------------------------------------------------------------------------
# Parquet
def read_parquet(content: bytes, name: str, watch: Watch | None = None) -> pd.DataFrame:
    """Read a Parquet file as a typed table; dictionaries become categories, decimals numbers, nested values text.

    Lists of numbers that have the same length in all rows become one column per position.
    """
    from pyarrow import parquet  # only here, as it takes long to load

    try:
        with parquet.ParquetFile(pa.BufferReader(content)) as file:
            names = list(map(str, file.schema_arrow.names))
            check_names(names)
            cells = file.metadata.num_rows * max(file.metadata.num_columns, _longest(file.metadata))
            check_memory(PER_CELL * cells)
            columns = _unpacked(file, len(content), name, watch or Watch())
        del content
        typed, wide = {}, []
        for key, column in zip(names, columns, strict=True):
            array = column.array() if isinstance(column, _ListColumn) else None
            if array is None:
                typed[key] = column.typed(key)
            else:
                wide.append(numbered(key, array, range(array.shape[1])))
            release_memory(file.metadata.num_rows)
        return _with_arrays(typed, wide)
    except (DataError, MemoryError):
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise damaged(name, "Parquet", error, "Save or download it again.") from None


def _unpacked(file: Any, packed: int, name: str, watch: Watch) -> list[_NumberColumn | _OtherColumn]:
    """Read all columns, a few at a time and batch by batch, because a few thousand bytes may expand to gigabytes."""
    rows, schema = file.metadata.num_rows, file.schema_arrow
    columns = [_holder(field.type)(rows, field.type) for field in schema]
    longest = max(_longest(file.metadata), 1)
    size, most = 0, most_unpacked(packed)
    for first in range(0, len(columns), COLUMNS_AT_ONCE):
        names, at = schema.names[first : first + COLUMNS_AT_ONCE], 0
        at_once = max(1, min(BATCH, LIST_BATCH // longest) // len(names))
        for batch in file.iter_batches(at_once, columns=names):
            size += batch.nbytes
            watch.step(first / len(columns), "")
            if size > most:
                raise too_large(name, most)
            batch.validate(full=True)
            for column, key in zip(columns[first:], names, strict=False):
                # select by name, because for a column "a.b" Arrow also reads the field b of a struct a
                column.write(at, batch.column(key))
            at += len(batch)
        if at < rows:
            raise ValueError(f"it contains only {at:,} of {rows:,} rows")
    release_memory(rows)
    return columns


def _longest(metadata: Any) -> int:
    """Return the largest mean number of values per row in any column, as the file states it before unpacking."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    values = (sum(group.column(i).num_values for group in groups) for i in range(metadata.num_columns))
    return -(-max(values, default=0) // max(metadata.num_rows, 1))


def _with_arrays(typed: Mapping[str, pd.Series], wide: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Join plain columns and columns of arrays in one table."""
    if not wide:
        return _table(typed)
    table = _table(typed) if typed else pd.DataFrame(index=wide[0].index)
    check_names([*typed, *(str(name) for each in wide for name in each)])
    joined = pd.concat([table, *wide], axis=1)
    joined.attrs = table.attrs
    return joined


def _holder(kind: pa.DataType) -> type[_NumberColumn | _OtherColumn]:
    if is_number_type(kind):
        return _NumberColumn
    nested = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return _ListColumn if nested and is_number_type(kind.value_type) else _OtherColumn


class _NumberColumn:
    """Column of numbers; each batch is copied to its place at once, so no batch is held twice."""

    def __init__(self, rows: int, kind: pa.DataType) -> None:
        self._kind = pa.float64() if pa.types.is_decimal(kind) else kind
        self._values = np.empty(rows, self._kind.to_pandas_dtype())

    def write(self, at: int, piece: pa.Array) -> None:
        if piece.null_count and self._values.dtype.kind in "iu":  # integers cannot be missing
            self._values = self._values.astype(np.float64)
        self._values[at : at + len(piece)] = piece.cast(self._kind).to_numpy(zero_copy_only=False)

    def typed(self, name: str) -> pd.Series:
        return pd.Series(self._values, copy=False)


class _OtherColumn:
    """Column of any other type, which is typed as a whole."""

    def __init__(self, rows: int, kind: pa.DataType) -> None:
        self._kind, self._pieces = kind, list[pa.Array]()

    def write(self, at: int, piece: pa.Array) -> None:
        self._pieces.append(piece)

    def typed(self, name: str) -> pd.Series:
        """Return the typed column and release its pieces."""
        column, self._pieces = pa.chunked_array(self._pieces, self._kind), []
        return typed_arrow(column, name)


class _ListColumn(_OtherColumn):
    """Column of lists of numbers, which becomes an (n, K) array if all have the same length."""

    def array(self) -> np.ndarray | None:
        """Return the array and release its pieces; None for lists of different lengths."""
        lengths = pa.chunked_array([pc.list_value_length(piece).cast(pa.int64()) for piece in self._pieces])
        ends = pc.min_max(lengths)
        width = ends["min"].as_py()
        if width is None or width != ends["max"].as_py() or width < 2:
            return None
        rows, at = len(lengths), 0
        check_memory(PER_CELL * rows * width)
        check_columns(width)
        array = None
        while self._pieces:
            piece = self._pieces.pop(0)
            values = native(piece.flatten().to_numpy(zero_copy_only=False))
            if array is None:
                array = np.empty((rows, width), values.dtype)
            if (piece.null_count or values.dtype.kind == "f") and array.dtype.kind != "f":
                array = array.astype(np.float64)
            there = piece.is_valid().to_numpy(zero_copy_only=False)
            array[at : at + len(piece)][there] = values.reshape(-1, width)
            if not there.all():
                array[at : at + len(piece)][~there] = np.nan
            at += len(piece)
        return array


# -----------------------------------------------------------------------------------------------------------
# Excel
def read_excel(
    content: bytes, name: str, sheet: str | None = None, at: int | None = None, watch: Watch | None = None
) -> pd.DataFrame:
    """Read a sheet as a typed table; formulas count as their saved values.

    Parameters
    ----------
    sheet
        Name of the sheet; None takes the first with content.
    at
        Row of the header, numbered as in Excel; 0 if there is none; None infers it.
    watch
        Can cancel the reading.
    """
    read = _sheet(content, name, sheet, at, watch or Watch())
    headed, several = at != 0, len(read.sheets) > 1
    notes = []
    if several:
        notes.append(f"Only sheet {read.title!r} was read, although {len(read.sheets)} sheets have content.")
    if read.above:
        notes.append(header_note(read.number, read.above, "row"))
    frame = _table(_typed_sheet(read), notes, truth=("FALSE", "TRUE"))
    stated = {"sheet": read.title} if several else {}
    return note_reading(
        frame,
        header=read.number if headed else 0,
        sheet=read.title,
        sheets=tuple(read.sheets),
        top=tuple(" | ".join(row)[:200] for row in read.top[:TOP_ROWS]),
        stated=stated | ({"header": read.number} if read.above and headed else {}),
    )


@dataclass
class _Sheet:
    """A sheet as it is read.

    Attributes
    ----------
    title, sheets
        Its name, and all sheets with content.
    top
        First rows as texts.
    number, above
        Number of the first row of the table, and how many filled rows precede it.
    head
        Cells of the header; empty if there is none.
    columns, rows
        All rows below, and their number.
    """

    title: str
    sheets: list[str]
    top: list[list[str]]
    number: int
    above: int
    head: SheetRow
    columns: list[ColumnBuilder] = field(default_factory=list)
    rows: int = 0


def _sheet(content: bytes, name: str, sheet: str | None, at: int | None, watch: Watch) -> _Sheet:
    """Read a sheet, or refuse it."""
    try:
        book = Workbook(content, name)
        sheets = list(book)
        if not sheets:
            raise DataError(
                f"All sheets of {name} are empty.",
                "Put the table on the first sheet, with its header in the first row.",
            )
        if sheet is not None and sheet not in sheets:
            raise DataError(
                f"{name} has no sheet {sheet!r}, or the sheet is empty.",
                f"Choose one of {', '.join(map(repr, sheets))}.",
            )
        return _read_sheet(book, sheets[0] if sheet is None else sheet, sheets, at, watch)
    except (DataError, Cancelled, MemoryError):
        raise
    # calamine and zipfile raise their own errors
    except Exception as error:
        raise damaged(name, "Excel", error, "Save it again as .xlsx, or as CSV.") from None


def _read_sheet(book: Workbook, title: str, sheets: list[str], at: int | None, watch: Watch) -> _Sheet:
    """Find the header, and read the rows below it."""
    filled, width = book.rows(title), book.width(title)
    first = list(islice(filled, ROWS_WITH_HEADER))
    top = [["" if cell is None else str(cell).strip() for cell in row] for _, row in first]
    top = [row + [""] * (width - len(row)) for row in top]
    above = rows_above(top, width) if at is None else sum(number < at for number, _ in first)
    rows = dropwhile(lambda row: at and row[0] < at, chain(first[above:], filled))
    begin = next(rows, None)
    if begin is None:
        raise DataError(
            f"Sheet {title!r} has no row {at}, so this row cannot contain the header.",
            "Choose a row that exists.",
        )
    read = _Sheet(title, sheets, top, begin[0], above, begin[1] if at != 0 else ())
    for piece in batches(rows if read.head else chain([begin], rows), lambda row: len(row[1])):
        watch.step(0.0, f"{piece[-1][0]:,} rows read")
        _add_rows(read, piece)
    return read


def _add_rows(read: _Sheet, rows: Sequence[Row]) -> None:
    """Add rows to the columns; refuse a sheet in which a distant cell makes too many empty ones."""
    cells = list(zip_longest(*(row for _, row in rows)))
    if rows[-1][0] > LAST_ROW or len(cells) > limits.MOST_TABLE_COLUMNS:
        raise DataError(
            f"Sheet {read.title!r} spans more than {LAST_ROW:,} rows or {limits.MOST_TABLE_COLUMNS:,} columns.",
            "Delete stray cells outside the table, or keep fewer columns.",
        )
    check_memory(PER_CELL * (read.rows + len(rows)) * max(len(read.columns), len(cells)))
    read.columns += [ColumnBuilder() for _ in range(len(cells) - len(read.columns))]
    for column, values in zip(read.columns, cells, strict=False):
        column.skip_to(read.rows)
        column.add(values)
    read.rows += len(rows)


def _typed_sheet(read: _Sheet) -> dict[str, pd.Series]:
    """Return the typed columns; a column without a name is named by position."""
    names = [
        ("" if cell is None else str(cell).strip()) or f"column {i}"
        for i, (cell, _) in enumerate(zip_longest(read.head, read.columns), start=1)
    ]
    check_names(names)
    read.columns += [ColumnBuilder() for _ in range(len(names) - len(read.columns))]
    columns = {}
    for name, column in zip(names, read.columns, strict=True):
        column.skip_to(read.rows)
        columns[name] = column.typed(name)
    return columns


class Workbook:
    """Sheets of a spreadsheet (.xlsx, .xlsm, .xlsb, .xls, .ods), as python-calamine reads them.

    calamine holds all cells between the first and the last one, and it ends the process if memory does not suffice. So
    a spreadsheet is read in a process of its own (``confined``).

    Raises
    ------
    DataError
        If the file is not a spreadsheet, expands too much, or is protected by a password.
    """

    def __init__(self, content: bytes, name: str) -> None:
        from python_calamine import CalamineWorkbook, PasswordError  # only here: no other format needs it

        if content.startswith(b"PK"):
            _check_archive(content, name)
        try:
            self._book = CalamineWorkbook.from_filelike(io.BytesIO(content))
        except PasswordError:
            raise DataError(
                f"{name} is protected by a password.", "Save the file without a password, or as CSV."
            ) from None
        self._last: tuple[str, Any] | None = None

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the sheets with content."""
        from python_calamine import SheetTypeEnum

        for sheet in self._book.sheets_metadata:
            if sheet.typ == SheetTypeEnum.WorkSheet and next(self.rows(sheet.name), None):
                yield sheet.name

    def width(self, title: str) -> int:
        """Return the number of columns up to the last that has values."""
        return 1 + (self._sheet(title).end or (0, 0))[1]

    def _sheet(self, title: str) -> Any:
        if self._last is None or self._last[0] != title:
            self._last = None  # before the next one is held
            self._last = title, self._book.get_sheet_by_name(title)
        return self._last[1]

    def rows(self, title: str) -> Iterator[Row]:
        """Yield each row that has values."""
        sheet = self._sheet(title)
        _, left = sheet.start or (0, 0)  # calamine leaves out the columns before, but not the rows
        for number, row in enumerate(sheet.iter_rows(), start=1):
            cells = [*[None] * left, *map(_value, row)]
            while cells and cells[-1] is None:
                cells.pop()
            if cells:
                yield number, tuple(cells)


def _value(cell: Any) -> Any:
    """Return the value of a cell: None if it is empty, and whole numbers without a decimal point."""
    if cell == "":
        return None
    return (
        int(cell) if type(cell) is float and cell.is_integer() and abs(cell) < EXACT_WHOLE_NUMBERS else cell
    )


def _check_archive(content: bytes, name: str) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {member.filename: member.file_size for member in archive.infolist()}
    if not members.keys() & set(SPREADSHEET_PARTS):
        raise DataError(
            f"{name} is a ZIP archive, not an Excel table.",
            "Extract the table that it contains, and upload that table.",
        )
    if sum(members.values()) > most_unpacked(len(content)):
        raise too_large(name, most_unpacked(len(content)))


# ------------------------------------------------------------------------------------------------------------
# JSON
def read_json(text: str, watch: Watch | None = None) -> pd.DataFrame:
    """Read JSON as a typed table.

    >>> read_json('[{"a": 1, "y": "g"}, {"a": null, "y": "b"}]')["a"].tolist()
    [1.0, nan]
    """
    from calib.data import json_table  # only here: no other format needs it

    return _table(json_table.columns_of(text, watch or Watch()), truth=("false", "true"))


# ------------------------------------------------------------------------------------------------------------
# ARFF
def read_arff(text: str, watch: Watch | None = None) -> pd.DataFrame:
    """Read ARFF as a typed table."""
    from calib.data import arff_table  # only here: no other format needs it

    return _table(arff_table.columns_of(text, watch or Watch()))


# ------------------------------------------------------------------------------------------------------------------
def _table(
    columns: Mapping[str, pd.Series], notes: Iterable[str] = (), truth: tuple[str, str] = ("False", "True")
) -> pd.DataFrame:
    """Make a table with notes and spelling; ``truth`` is the format's spelling of truth values."""
    frame = as_frame(columns)
    spelling = {
        name: dict(enumerate(truth))
        for name, column in columns.items()
        if pd.api.types.is_bool_dtype(column.dtype)
    }
    return note_reading(frame, notes=tuple(notes), spelling=spelling)


def damaged(name: str, kind: str, error: Exception, remedy: str) -> DataError:
    """Return the error for a file that a library cannot read."""
    return DataError(f"{name} is a damaged {kind} file ({first_line(error)}).", remedy)

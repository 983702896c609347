"""Read Parquet, Excel, ARFF and JSON with maintained libraries, and report damaged files clearly."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import arff
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from calib.data import limits
from calib.data.about import describe
from calib.data.arrays import native, numbered
from calib.data.column_types import as_frame, typed_objects, typed_text, whole_text
from calib.data.errors import DataError
from calib.data.head import SEARCHED, header_note, rows_above
from calib.data.limits import (
    MOST_ARFF_CELLS,
    MOST_OBJECTS,
    PER_CELL,
    check_cells,
    check_columns,
    check_memory,
    check_names,
    most_unpacked,
    too_large,
)
from calib.kernel.fields import loads
from calib.kernel.memory import release_memory
from calib.kernel.wording import counted

ATTRIBUTE = re.compile(r"""(?i)@attribute\s+('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^\s'"{]+)\s*(.*)$""")
TOP_ROWS = 20  # first rows of a sheet, shown for the choice of the header
LAST_ROW = 1 << 20  # last row that Excel allows
LIST_ROWS = 256  # rows per batch of a Parquet file with lists, which may be long
BATCH = 1 << 16  # cells per batch of a Parquet file: texts may be long
COLUMNS_AT_ONCE = 64  # of a Parquet file: with thousands of columns, batches have few rows and take minutes
ROWS_AT_ONCE = 50_000  # rows of an ARFF file
SheetRow = tuple[Any, ...]  # cells of a row, up to the last that is filled
PLAIN = ("numeric", "integer", "real", "string", "date")


# ---------------------------------------------------------------------------------------------------------
# Parquet
def read_parquet(content: bytes, name: str) -> pd.DataFrame:
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
            columns = _unpacked(file, len(content), name)
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
    except DataError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        raise _damaged(name, "Parquet", error, "Save or download it again.") from None


def _unpacked(file: Any, packed: int, name: str) -> list[_NumberColumn | _OtherColumn]:
    """Read all columns, a few at a time and batch by batch, because a few thousand bytes may expand to gigabytes."""
    rows, schema = file.metadata.num_rows, file.schema_arrow
    columns = [_holder(field.type)(rows, field.type) for field in schema]
    lists = any(isinstance(column, _ListColumn) for column in columns)
    size, most = 0, most_unpacked(packed)
    for first in range(0, len(columns), COLUMNS_AT_ONCE):
        names, at = schema.names[first : first + COLUMNS_AT_ONCE], 0
        for batch in file.iter_batches(LIST_ROWS if lists else BATCH // len(names), columns=names):
            size += batch.nbytes
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
    if _is_number(kind):
        return _NumberColumn
    nested = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return _ListColumn if nested and _is_number(kind.value_type) else _OtherColumn


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


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
        kind, column = self._kind, pa.chunked_array(self._pieces, self._kind)
        self._pieces = []
        if pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type):
            return column.to_pandas()
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return typed_text(column.cast(pa.string()), name).values
        if column.null_count == len(column):
            return typed_objects([None] * len(column), name).values
        if pa.types.is_boolean(kind):
            truth = column.to_pandas(types_mapper={kind: pd.BooleanDtype()}.get)
            return truth if column.null_count else truth.astype(bool)
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            return _moments(column)
        return typed_objects(column.to_pylist(), name).values


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


def _moments(column: pa.ChunkedArray) -> pd.Series:
    """Convert dates and times to UTC, as ``typed_objects`` does but without one object per value."""
    kind = column.type
    if pa.types.is_date(kind):
        return column.cast(pa.timestamp("s")).to_pandas()
    unit = "ns" if kind.unit == "ns" else "us"
    return column.cast(pa.timestamp(unit, kind.tz)).cast(pa.timestamp(unit)).to_pandas()


# -----------------------------------------------------------------------------------------------------------
# Excel
def read_excel(content: bytes, name: str, sheet: str | None = None, at: int | None = None) -> pd.DataFrame:
    """Read a sheet as a typed table; formulas count as their saved values.

    Parameters
    ----------
    sheet
        Name of the sheet; None takes the first with content.
    at
        Row of the header, numbered as in Excel; 0 if there is none; None infers it.
    """
    title, numbers, rows, sheets = _sheet(content, name, sheet)
    notes = [f"Only sheet {title!r} is read; {len(sheets)} sheets have content."] if len(sheets) > 1 else []
    width = max(map(len, rows))
    texts = [["" if cell is None else str(cell).strip() for cell in row] for row in rows[: 4 * SEARCHED]]
    texts = [row + [""] * (width - len(row)) for row in texts]
    above = rows_above(texts, width) if at is None else sum(number < at for number in numbers)
    if above >= len(rows):
        raise DataError(
            f"Sheet {title!r} has no row {at}, so the header cannot be there.", "Choose a row of the sheet."
        )
    if above:
        notes.append(header_note(numbers[above], above, "row"))
    headed = at != 0
    frame = _table(_from_cells(rows[above:], headed), notes, truth=("FALSE", "TRUE"))
    return describe(
        frame,
        header=numbers[above] if headed else 0,
        sheet=title,
        sheets=tuple(sheets),
        top=tuple(" | ".join(row)[:200] for row in texts[:TOP_ROWS]),
        stated=({"sheet": title} if len(sheets) > 1 else {})
        | ({"header": numbers[above]} if above and headed else {}),
    )


def _sheet(content: bytes, name: str, sheet: str | None) -> tuple[str, list[int], list[SheetRow], list[str]]:
    """Return (name of the sheet, its row numbers, its rows, all sheets with content)."""
    from calib.data.workbook import Workbook  # only here: it takes longer to load than all of calib

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {member.filename: member.file_size for member in archive.infolist()}
        if "xl/workbook.xml" not in members:
            raise DataError(
                f"{name} is a ZIP archive, not an Excel table.",
                "Unpack it and upload the table that it contains.",
            )
        if sum(members.values()) > most_unpacked(len(content)):
            raise too_large(name, most_unpacked(len(content)))
        book = Workbook(content)
        sheets = [title for title in book if next(book.rows(title), None)]
        if not sheets:
            raise DataError(
                f"{name} has only empty sheets.",
                "Put the table on the first sheet, with its header in the first row.",
            )
        if sheet is not None and sheet not in sheets:
            raise DataError(
                f"{name} has no sheet {sheet!r}, or the sheet is empty.",
                f"Choose one of {', '.join(map(repr, sheets))}.",
            )
        title = sheets[0] if sheet is None else sheet
        return title, *_rows(book.rows(title), title), sheets
    except DataError:
        raise
    # openpyxl does not wrap the errors of its XML parser: KeyError, TypeError, ParseError
    except Exception as error:
        raise _damaged(name, "Excel", error, "Save it again as .xlsx, or as CSV.") from None


def _rows(filled: Iterable[tuple[int, SheetRow]], title: str) -> tuple[list[int], list[SheetRow]]:
    """Return the filled rows with their numbers; refuse a sheet in which a distant cell makes too many empty ones."""
    numbers, rows, cells = [], [], 0
    for number, row in filled:
        cells += len(row)
        if number > LAST_ROW or cells > limits.MOST_EXCEL_CELLS:
            most = limits.MOST_EXCEL_CELLS
            message = f"Sheet {title!r} spans more than {LAST_ROW:,} rows or {most:,} cells."
            raise DataError(
                message, "Delete stray cells outside the table, or save the table as CSV or Parquet."
            )
        numbers.append(number)
        rows.append(row)
    return numbers, rows


def _from_cells(rows: Sequence[SheetRow], headed: bool = True) -> dict[str, pd.Series]:
    """Return rows, the first of them the header, as typed columns; a column without a name is named by position."""
    width = max(map(len, rows))
    check_cells(len(rows), width, limits.MOST_EXCEL_CELLS)
    first = rows[0] if headed else ()
    head = [str(cell).strip() if cell is not None else "" for cell in first] + [""] * (width - len(first))
    names = [cell or f"column {i}" for i, cell in enumerate(head, start=1)]
    check_names(names)
    cells = zip(*((*row, *[None] * (width - len(row))) for row in rows[int(headed) :]), strict=True)
    columns = list(cells) or [()] * width
    return {key: typed_objects(column, key).values for key, column in zip(names, columns, strict=True)}


# ------------------------------------------------------------------------------------------------------------
# JSON
def read_json(text: str) -> pd.DataFrame:
    """Read a list of records, ``{"data": [records]}``, one record per line, or ``{column: [values]}``.

    >>> read_json('[{"a": 1, "y": "g"}, {"a": null, "y": "b"}]')["a"].tolist()
    [1.0, nan]
    """
    check_cells(text.count(",") + text.count("}\n{") + 1, 1, MOST_OBJECTS)
    value = _parse_json(text)
    if isinstance(value, dict):
        value = next((value[key] for key in ("data", "records", "rows") if _records(value.get(key))), value)
    if _records(value):
        names = list(dict.fromkeys(key for record in value for key in record))
        check_names(names)
        check_cells(len(value), len(names), MOST_OBJECTS)
        columns = {key: typed_objects([record.get(key) for record in value], key).values for key in names}
        return _table(columns, truth=("false", "true"))
    if isinstance(value, dict) and value and all(isinstance(column, list) for column in value.values()):
        check_names(list(value))
        lengths = {key: len(column) for key, column in value.items()}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{key!r} has {counted(n, 'value')}" for key, n in list(lengths.items())[:5])
            raise DataError(
                f"The JSON columns differ in length: {listed}.", "Give each column one value per row."
            )
        columns = {key: typed_objects(column, key).values for key, column in value.items()}
        return _table(columns, truth=("false", "true"))
    raise DataError(
        "This JSON is not a table.",
        'Use a list of objects, [{"column": value, …}, …], alone or under the key "data". You can also use one object '
        'per line, or {"column": [values], …}.',
    )


def _records(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(record, dict) and record for record in value)
    )


def _parse_json(text: str) -> Any:
    try:
        return loads(text, object_pairs_hook=_record)
    except DataError:
        raise
    except ValueError as error:
        whole = error
    try:
        return [loads(line, object_pairs_hook=_record) for line in text.split("\n") if line.strip()]
    except DataError:
        raise
    except ValueError:
        raise DataError(
            f"This is not valid JSON ({_first_line(whole)}).", "Export the table again."
        ) from None


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = {whole_text(key): value for key, value in pairs}
    if len(record) < len(pairs):  # the json module silently keeps the last of two equal keys
        check_names([key for key, _ in pairs])
    return record


# ------------------------------------------------------------------------------------------------------------
# ARFF
def read_arff(text: str) -> pd.DataFrame:
    """Read an ARFF file: nominal attributes become categories in the declared order, ``?`` is missing.

    liac-arff parses names, quotes and sparse rows. It receives numbers and dates as text, because it would truncate
    1.5 declared INTEGER to 1 and does not support dates.
    """
    lines, kinds = _arff_header(text)
    line = 0

    def handed() -> Iterator[str]:
        nonlocal line
        for line, each in enumerate(lines, start=1):  # noqa: B007
            yield each

    try:
        document = arff.ArffDecoder().decode(handed(), return_type=arff.DENSE_GEN)
        attributes = [(whole_text(key), values) for key, values in document["attributes"]]
        check_names([key for key, _ in attributes])
        cells = _in_columns(document["data"], len(attributes))
    except arff.ArffException as error:
        message = f"Line {line} of the ARFF file cannot be read: {_first_line(error)}."
        raise DataError(message, "Correct that line, or export the file again.") from None
    except DataError:
        raise
    except (ValueError, TypeError, IndexError, RecursionError) as error:
        raise DataError(
            f"The ARFF file cannot be read ({_first_line(error)}).", "Export the file again."
        ) from None
    return _table(
        {
            key: _arff_column(key, values, kind, column)
            for (key, values), kind, column in zip(attributes, kinds, cells, strict=True)
        }
    )


def _in_columns(rows: Iterable[Sequence[str | None]], width: int) -> list[pa.ChunkedArray]:
    """Convert rows of texts to columns; Arrow needs a tenth of the memory of Python lists."""
    pieces: list[list[pa.Array]] = [[] for _ in range(width)]
    rows = iter(rows)
    while some := list(islice(rows, ROWS_AT_ONCE)):
        for piece, cells in zip(pieces, zip(*some, strict=True), strict=True):
            texts = [None if cell is None else whole_text(cell) for cell in cells]
            piece.append(pa.array(texts, pa.string()))
    return [pa.chunked_array(piece, pa.string()) for piece in pieces]


def _arff_header(text: str) -> tuple[list[str], list[str]]:
    """Return (lines in which every plain attribute is declared STRING, the declared types)."""
    lines = text.split("\n")
    kinds: list[str] = []
    for i, line in enumerate(lines):
        stripped = line.strip()
        if stripped.lower().startswith("@data"):
            check_columns(len(kinds))
            check_cells(len(lines) - i - 1, len(kinds), MOST_ARFF_CELLS)
            break
        if not stripped.lower().startswith("@attribute"):
            continue
        match = ATTRIBUTE.match(stripped)
        if not match:
            message = f"Line {i + 1} of the ARFF file does not declare an attribute: {stripped[:80]!r}."
            raise DataError(message, "Write @attribute, then a name and a type.")
        name, declared = match.group(1), re.sub(r"\}\s*%[^}]*$", "}", match.group(2))
        kind = declared.split()[0].lower() if declared else ""
        if kind == "relational":
            raise DataError(
                f"Attribute {name} is relational: each cell contains a table.",
                "Export one flat table instead.",
            )
        kinds.append(kind if kind in PLAIN else "nominal")
        lines[i] = f"@attribute {name} {'STRING' if kind in PLAIN else declared}"
    return lines, kinds


def _arff_column(name: str, values: Any, kind: str, texts: pa.ChunkedArray) -> pd.Series:
    if kind == "nominal":
        # "?" is not a level
        levels = dict.fromkeys(whole_text(value) for value in values if value is not None)
        return pd.Series(pd.Categorical(texts.to_pandas(), categories=list(levels)))
    typed = typed_text(texts, name).values
    if kind in ("numeric", "integer", "real") and not pd.api.types.is_numeric_dtype(typed):
        wrong = pd.to_numeric(typed.astype(object), errors="coerce").isna() & typed.notna()
        row = int(wrong.to_numpy().argmax())
        message = (
            f"Attribute {name!r} is declared {kind}, but row {row + 1} contains {str(typed[row])[:40]!r}."
        )
        raise DataError(message, "Correct the cell, or declare the attribute as a string.")
    return typed


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
    return describe(frame, notes=tuple(notes), spelling=spelling)


def _damaged(name: str, kind: str, error: Exception, remedy: str) -> DataError:
    return DataError(f"{name} is a damaged {kind} file ({_first_line(error)}).", remedy)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).split("\n")[0].rstrip(".")[:160]

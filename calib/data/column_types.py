"""Convert columns to types: texts, columns of Arrow, Python values and whole tables take the same path.

All values of a column decide its type together: numbers, truth values, dates, else text. No value becomes missing
because it does not fit.
"""

from __future__ import annotations

import datetime
import decimal
import json
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from calib.data.errors import DataError
from calib.data.limits import check_names
from calib.data.notation import (
    DATE,
    DECIMAL_COMMAS,
    MISSING_CODES,
    MISSING_NUMBER,
    PLAIN,
    SPELT_VALUES,
    STARTS_NUMBER,
    TOO_LARGE,
    Comma,
    Notation,
    dates_of,
    label,
    numbers_of,
    own,
    read_dates,
    spelling_of,
    without_tokens,
)
from calib.data.vectors import unpack_vectors
from calib.kernel.cache import cached_result, is_known, mark_known
from calib.kernel.memory import WORTH_RELEASING, release_memory

FEW_CODES = 1 << 15  # levels, whose codes fit into two bytes and are cached
FEW_LEVELS = 10  # many columns may have the same levels if they are so few
MANY_CELLS = 10_000_000  # a copy is 80 MB or more
DICTIONARY_TYPE = pa.dictionary(pa.int32(), pa.string())
OBJECTS_AT_ONCE = 500_000  # Python objects that are held at once
# Types of Python values that Arrow may see: some mixtures with others end the process
ARROW_READS = frozenset((int, float, bool, str, type(None)))
Codes = tuple[np.ndarray, Any]  # of levels, and the distinct values
Row = TypeVar("Row")


@dataclass(frozen=True)
class Typed:
    """Typed column, the file's spelling of its values (if different), and a note on how it was read.

    ``written`` is the notation of numbers, the format of dates, or None for texts.
    """

    values: pd.Series
    spelling: Mapping[Any, str]
    note: str | None = None
    written: Notation | str | None = None


def typed_text(text: pa.ChunkedArray, name: str = "", comma: Comma = "no") -> Typed:
    """Convert text to numbers, dates or text, whichever fits the whole column; strip blanks, and make gaps missing.

    Parameters
    ----------
    comma
        Whether the file writes decimal commas. It decides what "1,234" means, and if "certain", also what
        "1.234" means.

    Examples
    --------
    >>> typed_text(pa.chunked_array([["1", " 2", "?"]])).values.tolist()
    [1.0, 2.0, nan]
    >>> typed_text(pa.chunked_array([["1,5", "1.234,5"]])).values.tolist()
    [1.5, 1234.5]
    """
    text = _trimmed(text)
    return _recognised(text, name, comma) or Typed(_as_typed(text), {})


def _trimmed(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Strip blanks, and make gaps missing."""
    chunks = text.chunks if len(text) >= WORTH_RELEASING else [text.combine_chunks()]
    pieces = [without_tokens(pc.utf8_trim_whitespace(piece), MISSING_CODES) for piece in chunks]
    text = pa.chunked_array(pieces, text.type)
    del pieces
    release_memory(len(text))
    return text


def _recognised(text: pa.ChunkedArray, name: str, comma: Comma) -> Typed | None:
    """Convert trimmed text to numbers or dates; return None if it does not fit a whole column."""
    if text.null_count == len(text):
        return Typed(pd.Series(np.full(len(text), np.nan)), {}, written=PLAIN)
    known = without_tokens(text, MISSING_NUMBER)
    if known.null_count < len(known):
        at = pc.index(pc.is_valid(known), True).as_py() if known.null_count else 0
        first = known[at].as_py()
        if DATE.match(first):  # a date is never a number
            if (dates := dates_of(known)) is not None:
                values, form, ambiguous = dates
                note = f"Column {name!r}: dates were read as day, month, year." if ambiguous else None
                return Typed(values, {}, note, form)
        elif first[0] in STARTS_NUMBER and (found := numbers_of(known, comma)) is not None:
            values, notation = found
            return Typed(own(values), spelling_of(known, values), notation.notes(name), notation)
    return None


def read_as_written(text: pa.ChunkedArray, written: Notation | str | None, comma: Comma) -> pd.Series | None:
    """Type texts as others of their column were typed; return None if one of them is written otherwise.

    Parameters
    ----------
    written, comma
        Of the other texts: ``Typed.written``, and what ``typed_text`` was told.

    Examples
    --------
    >>> written = typed_text(pa.chunked_array([["1,5", "2,25"]])).written
    >>> read_as_written(pa.chunked_array([["1,500", "NA"]]), written, "no").tolist()
    [1.5, nan]
    >>> read_as_written(pa.chunked_array([["1.5"]]), written, "no") is None
    True
    """
    text = _trimmed(text)
    if written is None:
        return _as_typed(text)
    known = without_tokens(text, MISSING_NUMBER)
    if known.null_count == len(known):
        return pd.Series(np.full(len(text), np.nan), dtype="M8[us]" if isinstance(written, str) else None)
    if isinstance(written, str):
        return read_dates(known, written, repeated=True)
    # whole numbers are written in the same way with and without decimal commas
    also = (
        (DECIMAL_COMMAS._replace(percent=written.percent),) if comma != "no" and not written.pattern else ()
    )
    read = (values for each in (written, *also) if (values := each.read(known)) is not None)
    return next(map(own, read), None)


def strings(text: pa.Array | pa.ChunkedArray) -> pd.arrays.ArrowStringArray:
    """Return Arrow's text as an array of pandas' type ``str``."""
    return pd.arrays.ArrowStringArray(text, dtype=pd.StringDtype(na_value=np.nan))


def _as_typed(text: pa.ChunkedArray) -> pd.Series:
    texts = pd.Series(strings(text))
    mark_known(arrow(texts), "typed")
    return texts


def _as_coded(levels: pa.ChunkedArray, rows: pa.Array, codes: Codes | None) -> pd.Series:
    """Return the trimmed level of each row as text, whose codes (``columns.coded``) are then known."""
    texts = _as_typed(levels.take(rows))
    if codes:
        of_level, values = codes
        of_row = of_level[rows.fill_null(-1).to_numpy()]
        cached_result(arrow(texts), "coded", lambda: (of_row, values))
    return texts


def _codes(levels: pa.ChunkedArray) -> Codes | None:
    """Return (code of each level, then −1 for a gap; the distinct values), if the levels are few enough."""
    if len(levels) > FEW_CODES:
        return None
    codes, values = strings(levels).factorize()
    return np.append(codes, -1).astype(code_type(len(values))), values


def code_type(levels: int) -> np.dtype:
    """Return the smallest type for the codes of so many levels, −1 included."""
    return np.min_scalar_type(-levels - 1)


def kinds_of(head: pd.DataFrame) -> list[pa.DataType]:
    """Return Arrow's types for the columns of a long text, judged by its first rows.

    Columns of few values become levels, so that their spelling is kept; others numbers if they are plain, else text.

    >>> kinds_of(pd.DataFrame({"a": np.arange(200) / 2, "b": [0, 1] * 100})) == [pa.float64(), DICTIONARY_TYPE]
    True
    """
    numbers = head.select_dtypes("number")
    values = np.sort(numbers.to_numpy(float), axis=0)  # gaps come last
    many = (values[1:] > values[:-1]).sum(axis=0) >= SPELT_VALUES
    plain = many & (np.fmax.reduce(np.abs(values)) < TOO_LARGE)
    kinds = {
        name: pa.int64() if kind == np.int64 else pa.float64() for name, kind in numbers.dtypes[plain].items()
    }
    return [
        kinds.get(name) or (DICTIONARY_TYPE if len(column.unique()) <= SPELT_VALUES else pa.string())
        for name, column in head.items()
    ]


def are_plain(numbers: pd.DataFrame) -> bool:
    """Tell whether all numbers are so small that their text may not be an account number; see ``ACCOUNT_NUMBER``."""
    if numbers.size < MANY_CELLS:  # the columns of a type are one array
        parts = [numbers.select_dtypes(kind) for kind in (np.int64, np.float64)]
    else:
        parts = [column for _, column in numbers.items()]
    ends = (end.reduce(part.to_numpy(), axis=None, initial=0) for part in parts for end in (np.fmax, np.fmin))
    return all(abs(end) < TOO_LARGE for end in ends)


def typed_cells(cells: pa.ChunkedArray, name: str, comma: Comma, seen: dict[Any, Any]) -> Typed:
    """Type a column that was read as text or as levels; see ``typed_text``.

    Thousands of columns often have the same levels, so ``seen`` keeps what was found for each list of levels.
    """
    if cells.type != DICTIONARY_TYPE:
        return typed_text(cells, name, comma)
    cells = cells.unify_dictionaries().combine_chunks()
    levels, rows = cells.dictionary, cells.indices
    key = (*levels.to_pylist(),) if len(levels) <= FEW_LEVELS else name
    if key in seen:
        text, found, codes = seen[key]
    else:
        text = _trimmed(pa.chunked_array([levels]))
        found = _recognised(text, name, comma)
        codes = None if found else _codes(text)
        if len(levels) <= FEW_LEVELS and not (found and found.note):  # a note names its column
            seen[key] = text, found, codes
    if found is None:
        return Typed(_as_coded(text, rows, codes), {})
    return replace(found, values=pd.Series(found.values.to_numpy()[rows.to_numpy()], copy=False))


def own_numbers(given: list[pa.Table]) -> pd.DataFrame:
    """Copy columns of numbers out of Arrow's memory, as ``own`` and ``as_frame`` do, each freed once it is copied.

    The table in ``given`` is taken out of the list.
    """
    many = given[0].num_rows * given[0].num_columns >= MANY_CELLS
    return given.pop().to_pandas(split_blocks=many, self_destruct=True)


def as_frame(columns: Mapping[str, pd.Series], index: pd.Index | None = None) -> pd.DataFrame:
    """Make a table of columns that nothing else uses; copy a small one into one block, which is faster to scan."""
    few = sum(map(len, columns.values())) < MANY_CELLS
    return pd.DataFrame({name: column.array for name, column in columns.items()}, index, copy=few)


def arrow(column: pd.Series) -> pa.ChunkedArray:
    """Return the Arrow array of a column of texts, which stays the same object until the column is written to."""
    return column.array.__arrow_array__()  # type: ignore[union-attr]


# ----------------------------------------------------------------------------------------------------------------
# Columns of Arrow, and of Python values
def typed_arrow(column: pa.ChunkedArray, name: str = "") -> pd.Series:
    """Type a column of any of Arrow's types: texts by what they say, nested values as text.

    >>> typed_arrow(pa.chunked_array([["1", "?"]])).tolist(), typed_arrow(pa.chunked_array([[True], [None]])).dtype
    ([1.0, nan], BooleanDtype)
    """
    kind = column.type
    if pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type):
        return column.to_pandas()
    if is_text_type(kind):
        return typed_text(column.cast(pa.string()), name).values
    if column.null_count == len(column):
        return pd.Series(np.full(len(column), np.nan))
    if pa.types.is_boolean(kind):
        return typed_truth(column)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return utc_times(column)
    return typed_objects(column.to_pylist(), name)


def is_text_type(kind: pa.DataType) -> bool:
    """Tell whether Arrow's type is one of texts."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def is_number_type(kind: pa.DataType) -> bool:
    """Tell whether Arrow's type is one of numbers."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def typed_truth(column: pa.ChunkedArray) -> pd.Series:
    """Return a column of truth values, nullable if values are missing."""
    truth = column.to_pandas(types_mapper={pa.bool_(): pd.BooleanDtype()}.get)
    return truth if column.null_count else truth.astype(bool)


def utc_times(column: pa.ChunkedArray) -> pd.Series:
    """Convert dates and times to UTC, without one object per value."""
    kind = column.type
    if pa.types.is_date(kind):
        return column.cast(pa.timestamp("s")).to_pandas()
    unit = "ns" if kind.unit == "ns" else "us"
    return column.cast(pa.timestamp(unit, kind.tz)).cast(pa.timestamp(unit)).to_pandas()


def typed_objects(values: Sequence[Any], name: str = "") -> pd.Series:
    """Type a column of Python values: their common type, else text.

    >>> typed_objects([1, None, 2.5]).tolist(), typed_objects([True, False]).dtype
    ([1.0, nan, 2.5], dtype('bool'))
    """
    column = ColumnBuilder()
    column.add(values)
    return column.typed(name)


def batches(
    rows: Iterable[Row], size: Callable[[Any], int] = len, most: int = OBJECTS_AT_ONCE
) -> Iterator[list[Row]]:
    """Yield rows in lists, each of which ends when the sum of their sizes, by default of their cells, is ``most``.

    >>> [len(some) for some in batches([range(300_000)] * 5)]
    [2, 2, 1]
    """
    piece, cells = list[Row](), 0
    for row in rows:
        piece.append(row)
        cells += size(row)
        if cells >= most:
            yield piece
            piece, cells = list[Row](), 0
    if piece:
        yield piece


class ColumnBuilder:
    """Column of Python values that grows piece by piece, because Python objects take ten times the memory of others.

    All values decide the type together: truth values, dates or numbers if all are, else text.

    >>> column = ColumnBuilder()
    >>> column.add([1, None])
    >>> column.skip_to(3)
    >>> column.add([2.5])
    >>> column.typed("x").tolist()
    [1.0, nan, nan, 2.5]
    """

    def __init__(self) -> None:
        self.rows = 0
        self._pieces: list[Any] = []  # Arrow arrays, and lists of dates

    def add(self, values: Sequence[Any]) -> None:
        """Add values."""
        self.rows += len(values)
        self._pieces.append(_compact(values))

    def skip_to(self, rows: int) -> None:
        """Add missing values up to this number of rows."""
        if rows > self.rows:
            self._pieces.append(pa.nulls(rows - self.rows))
            self.rows = rows

    def typed(self, name: str) -> pd.Series:
        """Return the typed column, and release its pieces."""
        held, self._pieces = [piece for piece in self._pieces if len(piece)], []
        kinds = {_kind(piece) for piece in held} - {"null"}
        if (
            kinds == {"date"}
            and (dates := _dates([value for piece in held for value in _values(piece)])) is not None
        ):
            return dates
        if kinds and kinds <= {"int64", "double"}:
            return pd.Series(_joined(held, kinds), copy=False)
        if kinds <= {"bool"}:
            return typed_arrow(pa.chunked_array([piece.cast(pa.bool_()) for piece in held], pa.bool_()), name)
        for i, piece in enumerate(held):
            if _kind(piece) not in ("string", "null"):
                held[i] = texts_of(_values(piece))
        return typed_arrow(pa.chunked_array([piece.cast(pa.string()) for piece in held]), name)


def _compact(values: Sequence[Any]) -> pa.Array | list[Any]:
    """Return values as an array of one type, dates as a list; mixed values are text."""
    types = set(map(type, values))
    if types <= ARROW_READS:
        # Arrow refuses several types, and whole numbers that are too large
        with suppress(pa.ArrowException, ValueError, OverflowError):
            found = pa.array(values, from_pandas=True)
            several = bool in types and str(found.type) == "double"
            if str(found.type) in ("null", "bool", "string") or (_small_numbers(found) and not several):
                return found
    cells = [None if is_gap(value) else value for value in values]
    present = [value for value in cells if value is not None]
    if not present:
        return pa.nulls(len(cells))
    if all(isinstance(value, (bool, np.bool_)) for value in present):
        return pa.array(cells, pa.bool_())
    if all(isinstance(value, (datetime.date, np.datetime64)) for value in present):
        return cells
    if all(map(_is_plain_number, present)):
        whole = all(isinstance(value, numbers.Integral) for value in present)
        to, kind = (int, pa.int64()) if whole else (float, pa.float64())
        return pa.array([None if cell is None else to(cell) for cell in cells], kind)
    return texts_of(cells)


def _dates(values: Sequence[Any]) -> pd.Series | None:
    """Return dates and times in UTC, or None if one of them is beyond the range of pandas."""
    cells = pd.Series([None if is_gap(value) else value for value in values], dtype=object)
    dates = pd.to_datetime(cells, errors="coerce", utc=True).dt.tz_localize(None)
    return None if (dates.isna() & cells.notna()).any() else dates


def _small_numbers(found: pa.Array) -> bool:
    """Tell whether all are numbers that are exact as float64; a larger whole number is a name."""
    if str(found.type) not in ("int64", "double"):
        return False
    ends = pc.min_max(found)
    return (
        not found.null_count < len(found)
        or -TOO_LARGE < ends["min"].as_py() <= ends["max"].as_py() < TOO_LARGE
    )


def _kind(piece: pa.Array | list[Any]) -> str:
    return "date" if isinstance(piece, list) else str(piece.type)


def _values(piece: pa.Array | list[Any]) -> list[Any]:
    return piece if isinstance(piece, list) else piece.to_pylist()


def _joined(held: list[Any], kinds: set[str]) -> np.ndarray:
    """Join numbers in one array, and release the pieces on the way; whole numbers stay whole if none is missing."""
    whole = kinds == {"int64"} and not any(piece.null_count for piece in held)
    joined = np.empty(sum(map(len, held)), np.int64 if whole else np.float64)
    at = len(joined)
    while held:
        piece = held.pop()
        at -= len(piece)
        if whole:
            joined[at : at + len(piece)] = piece.to_numpy()
        else:
            joined[at : at + len(piece)] = piece.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return joined


def texts_of(cells: Iterable[Any]) -> pa.Array:
    """Return cells as texts, those that are None as missing."""
    return pa.array([None if cell is None else _as_text(cell) for cell in cells], pa.string())


def is_gap(value: Any) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)


def _is_plain_number(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_, np.timedelta64)) or not isinstance(
        value, (numbers.Real, decimal.Decimal)
    ):
        return False
    return not isinstance(value, numbers.Integral) or abs(int(value)) < TOO_LARGE


def _as_text(cell: Any) -> str:
    if isinstance(cell, str):
        return whole_text(cell)
    if isinstance(cell, (dict, list)):
        return json.dumps(cell, ensure_ascii=True, default=str)
    return label(cell)


def whole_text(text: str) -> str:
    """Escape unpaired surrogates, which no file or page can contain.

    >>> whole_text("a\\ud800")
    'a\\\\ud800'
    """
    return text.encode("utf-8", "backslashreplace").decode()


# ----------------------------------------------------------------------------------------------------------------
# Tables
def typed_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with text names and typed columns; columns from ``read_table`` pass unchanged.

    Raises
    ------
    DataError
        For duplicate names and for an empty table.
    """
    if not isinstance(frame, pd.DataFrame):
        raise DataError(
            f"The data must be a table (pandas DataFrame), but are of type {type(frame).__name__}.",
            "Read a file with calib.data.read_table.",
        )
    if frame.shape[1] == 0:
        raise DataError("The table has no columns.", "Choose a file with a header and at least two columns.")
    names = [str(name) for name in frame.columns]
    check_names(names)
    read = frame.set_axis(pd.RangeIndex(len(frame)), axis=0)
    read.attrs = {}  # pandas copies them with every column that is selected
    columns = [column for _, column in read.items()]
    if names == list(read.columns) and all(map(_is_typed, columns)):
        return read
    return unpack_vectors(
        pd.DataFrame(dict(zip(names, map(_typed_series, columns, names), strict=True)), copy=False)
    )


def _is_typed(column: pd.Series) -> bool:
    """Tell whether a column already has a type that typing returns."""
    kind = column.dtype
    if isinstance(column.array, pd.arrays.ArrowStringArray):
        return is_known(arrow(column), "typed")
    return kind.kind in "biufM" if isinstance(kind, np.dtype) else isinstance(kind, pd.CategoricalDtype)


def _typed_series(column: pd.Series, name: str) -> pd.Series:
    if _is_typed(column):
        return column
    kind = column.dtype
    if isinstance(kind, pd.DatetimeTZDtype):
        return column.dt.tz_convert("UTC").dt.tz_localize(None)
    if isinstance(kind, pd.SparseDtype):
        return column.sparse.to_dense()
    if isinstance(kind, pd.PeriodDtype):
        return column.dt.to_timestamp()
    if pd.api.types.is_timedelta64_dtype(kind):
        return column.dt.total_seconds() / 86_400
    if isinstance(kind, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(kind) or kind.kind == "M":
        return column
    if pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_complex_dtype(kind):
        return column
    if isinstance(kind, pd.StringDtype):
        return typed_text(pa.chunked_array([pa.array(column, pa.string(), from_pandas=True)]), name).values
    return typed_objects(column.tolist(), name)

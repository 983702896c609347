"""Convert text and Python values to typed columns: numbers, truth values, dates, else text.

All values of a column decide its type together. No value becomes missing because it does not fit.
"""

from __future__ import annotations

import datetime
import decimal
import itertools
import json
import numbers
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from calib.data.errors import DataError
from calib.data.limits import check_names
from calib.data.vectors import unpack_vectors
from calib.kernel.cache import cached_result, is_known, mark_known
from calib.kernel.memory import WORTH_RELEASING, release_memory

MISSING_CODES = (
    *("", "?", "NA", "N/A", "<NA>", "NaN", "nan", "null", "NULL"),
    *("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!"),
)
# These are ordinary values among words ("none" for a garage), but gaps among numbers and dates.
MISSING_NUMBER = (
    *(".", "-", "--", "None", "none", "na", "n/a", "n.a.", "N.A.", "nil"),
    *("missing", "Missing", "unknown", "Unknown"),
)
MISSING_VALUES = MISSING_CODES + MISSING_NUMBER
# Columns with at most so many values keep the file's spelling: one may be the label
SPELT_VALUES = 100
FEW_CODES = 1 << 15  # levels, whose codes fit into two bytes and are cached
FEW_LEVELS = 10  # many columns may have the same levels if they are so few
# inf and nan included: a column that begins otherwise contains words
STARTS_NUMBER = frozenset("0123456789+-.,iInN")
TOO_LARGE = 10**15
MANY_CELLS = 10_000_000  # a copy is 80 MB or more
ACCOUNT_NUMBER = r"^[+-]?\d{16,}$"  # beyond exact floating point: an account number, not a quantity
DECIMAL_COMMA = r"^[+-]?(\d+|[1-9]\d{0,2}(\.\d{3})+)?(,\d*)?([eE][+-]?\d+)?$"
COMMA_THOUSANDS = r"^[+-]?([1-9]\d{0,2}(,\d{3})+|\d+)(\.\d*)?$"
DOT_THOUSANDS = r"^[+-]?([1-9]\d{0,2}(\.\d{3})+|\d{1,3})$"
PERCENT_VALUE = r"^[^%]*\d\s*%$"
DATE = re.compile(r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([ T]\d{1,2}:\d{2}.*)?$")
# If both fit, the day comes first, and a note says so.
DATE_FORMATS = (
    *("%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m/%d/%Y", "%m.%d.%Y", "%m-%d-%Y"),
    *("%Y/%m/%d", "%Y.%m.%d"),
)
TIME_FORMATS = ("", " %H:%M", " %H:%M:%S")
# Checked before pandas, which takes a millisecond to reject a format
DATE_PATTERNS = {"Y": r"\d{4}", "m": "(1[0-2]|0?[1-9])", "d": r"(3[01]|[12]\d|0?[1-9])"}
DATE_PATTERNS |= dict.fromkeys("HMS", r"\d{1,2}") | {".": r"\.", " ": r"\s+"}
DATE_SHAPES = {
    form: re.compile(re.sub("%?(.)", lambda part: DATE_PATTERNS.get(part[1], part[1]), form) + "$")
    for form in (date + time for date in DATE_FORMATS for time in TIME_FORMATS)
}
ISO, YEAR_FIRST = "ISO8601", re.compile(r"^\d{4}")
DICTIONARY_TYPE = pa.dictionary(pa.int32(), pa.string())
ROWS_AT_ONCE = 1 << 18  # parsed by pandas as objects
PARSED_AS_ONE_BLOCK = 10_000  # parsed as one block

Codes = tuple[np.ndarray, Any]  # of levels, and the distinct values
Comma = Literal["no", "likely", "certain"]  # whether a file writes decimal commas


class Notation(NamedTuple):
    """Notation of a column of numbers.

    Attributes
    ----------
    pattern
        Pattern that all texts match, without a percent sign; "" if only plain numbers do.
    removed
        Sign that separates thousands.
    decimal
        Decimal sign.
    note
        What to say about it.
    percent
        Whether all texts end in a percent sign.
    """

    pattern: str = ""
    removed: str = ""
    decimal: str = "."
    note: str = ""
    percent: bool = False

    def read(self, text: pa.ChunkedArray) -> pa.ChunkedArray | None:
        """Return the numbers, or None if a text is not in this notation."""
        if self.percent:
            if not _all_match(text, PERCENT_VALUE):
                return None
            shares = self._replace(percent=False).read(pc.replace_substring_regex(text, r"\s*%$", ""))
            return None if shares is None else pc.divide(pc.cast(shares, pa.float64()), 100.0)
        if self.pattern and not _all_match(text, self.pattern):
            return None
        if self.removed:
            text = pc.replace_substring(text, self.removed, "")
        if self.decimal != ".":
            text = pc.replace_substring(text, self.decimal, ".")
        return _cast(text)

    def notes(self, name: str) -> str | None:
        """Return the note on a column that was read so."""
        shares = "percentages were read as shares (45 % is 0.45)." if self.percent else ""
        return " ".join(f"Column {name!r}: {note}" for note in (self.note, shares) if note) or None


PLAIN = Notation()
DECIMAL_COMMAS = Notation(DECIMAL_COMMA, ".", ",", "commas were read as decimal commas.")
COMMAS_OF_THOUSANDS = Notation(
    COMMA_THOUSANDS, ",", note="commas were read as thousands separators (1,234 is 1234)."
)
DOTS_OF_THOUSANDS = Notation(
    DOT_THOUSANDS,
    ".",
    note="dots were read as thousands separators, because the file uses decimal commas.",
)


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
            dates = _dates(known, name)
            if dates is not None:
                return dates
        elif first[0] in STARTS_NUMBER and (found := _numbers(known, comma)) is not None:
            values, notation = found
            return Typed(own(values), _spelling(known, values), notation.notes(name), notation)
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
        return _read_as(known, written, repeated=True)
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


def own(values: pa.ChunkedArray) -> pd.Series:
    """Copy numbers out of Arrow's memory, which is read-only and also keeps the bytes between the columns."""
    parts = [part.to_numpy(zero_copy_only=False) for part in values.chunks]
    return pd.Series(np.concatenate(parts) if parts else values.to_numpy(), copy=False)


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


def without_tokens(text: pa.ChunkedArray, tokens: Sequence[str]) -> pa.ChunkedArray:
    """Make texts missing that are one of ``tokens``; longer texts are not looked up, which takes most of the time."""
    shortest = pc.min(pc.binary_length(text)).as_py()
    if shortest is None or shortest > max(map(len, tokens)):
        return text
    gaps = pc.is_in(text, value_set=pa.array(tokens, type=text.type))
    return pc.if_else(gaps, pa.scalar(None, text.type), text) if pc.any(gaps).as_py() else text


def _numbers(text: pa.ChunkedArray, comma: Comma) -> tuple[pa.ChunkedArray, Notation] | None:
    """Return (numbers, their notation), or None if the column is not all numbers."""
    percent = _all_match(text, PERCENT_VALUE)
    digits = pc.replace_substring_regex(text, r"\s*%$", "") if percent else text
    for notation in _notations(digits, comma):
        notation = notation._replace(percent=percent)
        if (values := notation.read(text)) is not None:
            return values, notation
    return None


def _notations(text: pa.ChunkedArray, comma: Comma) -> Iterator[Notation]:
    """Yield the notations that numbers may have, the likeliest first."""
    if comma == "certain" and _any_match(text, r"\."):
        yield DOTS_OF_THOUSANDS
    yield PLAIN
    if comma != "no" or not _all_match(text, COMMA_THOUSANDS):
        yield DECIMAL_COMMAS
    yield COMMAS_OF_THOUSANDS


def _cast(text: pa.ChunkedArray) -> pa.ChunkedArray | None:
    for kind in (pa.int64(), pa.float64()):
        try:
            # Try few rows first: Arrow scans all rows before it reports that they are not numbers
            for rows in (20, 1000, len(text)):
                values = pc.cast(text.slice(0, rows), kind)
        except pa.ArrowInvalid:
            continue
        ends = pc.min_max(values).as_py()
        if max(abs(ends["min"]), abs(ends["max"])) >= TOO_LARGE and _any_match(text, ACCOUNT_NUMBER):
            return None
        # Arrow reads 0x1F as 31; a reader of the table would not.
        if kind == pa.int64() and any(pc.any(pc.match_substring(text, letter)).as_py() for letter in "xX"):
            return None
        return values
    return None


def _any_match(text: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(text, pattern)).as_py())


def _all_match(text: pa.ChunkedArray, pattern: str) -> bool:
    parts = itertools.chain([text.slice(0, 20)], _blocks(text))
    return all(pc.all(pc.match_substring_regex(part, pattern)).as_py() is not False for part in parts)


def decimal_comma(text: pa.ChunkedArray) -> bool:
    """Tell whether a column proves that its file writes decimal commas: 1,5 and not only 1,500."""
    if text.type != pa.string():
        return False
    text = without_tokens(pc.utf8_trim_whitespace(text.slice(0, 1000)), MISSING_VALUES)
    return _any_match(text, ",") and _all_match(text, DECIMAL_COMMA) and not _all_match(text, COMMA_THOUSANDS)


def _spelling(text: pa.ChunkedArray, values: pa.ChunkedArray) -> dict[Any, str]:
    """Return value → the file's spelling, for columns of few values that Python would write otherwise (1.0, +1, 01)."""
    if len(pc.unique(text.slice(0, 10_000))) > SPELT_VALUES:
        return {}
    if values.type == pa.int64() and pc.all(pc.equal(pc.cast(values, text.type), text)).as_py():
        return {}
    pairs = (
        pa.table([text, values], ["text", "value"])
        .group_by(["text", "value"], use_threads=False)
        .aggregate([])
    )
    if len(pairs) > SPELT_VALUES:
        return {}
    found = zip(pairs["text"].to_pylist(), pairs["value"].to_pylist(), strict=True)
    known = ((spelt, value) for spelt, value in found if value is not None)
    # Keep the shortest of several spellings, because Arrow does not keep the file's order
    shortest_last = sorted(known, key=lambda pair: (len(pair[0]), pair[0]), reverse=True)
    spelling: dict[Any, str] = {value: spelt for spelt, value in shortest_last}
    return spelling if any(spelt != label(value) for value, spelt in spelling.items()) else {}


def _dates(text: pa.ChunkedArray, name: str) -> Typed | None:
    some = _distinct(text, 100)
    repeated = len(some) < 100 or len(text) > PARSED_AS_ONE_BLOCK or text.null_count > 0
    if not all(map(DATE.match, some)):
        return None
    if all(map(YEAR_FIRST.match, some)) and (dates := _read_as(text, ISO, repeated)) is not None:
        return Typed(dates, {}, written=ISO)
    forms = (form for form, shape in DATE_SHAPES.items() if all(map(shape.match, some)))
    readings = ((_read_as(text, form, repeated), form) for form in forms)
    complete = ((dates, form) for dates, form in readings if dates is not None)
    if (found := next(complete, None)) is None:
        return None
    two = next(complete, None) is not None
    note = f"Column {name!r}: dates were read as day, month, year." if two else None
    return Typed(found[0], {}, note, found[1])


def _blocks(text: pa.ChunkedArray) -> Iterator[pa.ChunkedArray]:
    """Yield texts in blocks; the first is short, because it shows most misfits."""
    at, rows = 0, 1000 if len(text) > PARSED_AS_ONE_BLOCK else len(text)
    while at < len(text):
        yield text.slice(at, rows)
        at, rows = at + rows, ROWS_AT_ONCE


def _distinct(text: pa.ChunkedArray, most: int) -> list[str]:
    """Return the first ``most`` distinct texts."""
    found: dict[str, None] = {}
    for block in itertools.chain([text.slice(0, 1000)], _blocks(text)):
        found |= dict.fromkeys(pc.unique(block.drop_null()).slice(0, most).to_pylist())
        if len(found) >= most:
            break
    return list(found)[:most]


def _read_as(text: pa.ChunkedArray, form: str, repeated: bool) -> pd.Series | None:
    """Parse dates that are all written in one format, or return None.

    If ``repeated``, each distinct text is parsed once per block; else there must be no gaps.
    """
    read = []
    for block in _blocks(text):
        texts = block.combine_chunks()
        coded = texts.dictionary_encode() if repeated else None
        dates = _moments(coded.dictionary if coded else texts, form)
        if dates.null_count:
            return None
        read.append(dates.take(coded.indices) if coded else dates)
    finest = pa.timestamp("ns" if any(dates.type.unit == "ns" for dates in read) else "us")
    try:
        return own(pa.chunked_array([dates.cast(finest) for dates in read], finest))
    except pa.ArrowInvalid:  # nanoseconds in one block, years out of their range in another
        return None


def _moments(text: pa.Array, form: str) -> pa.Array:
    """Parse dates without gaps; a text of another format becomes missing. Arrow parses ISO dates many times faster."""
    iso = text if form == ISO else _as_iso(text, form)
    with suppress(pa.ArrowInvalid):
        dates = pc.cast(iso, pa.timestamp("us"))
        if not dates.null_count:
            return dates
    found = _by_pandas(iso, ISO)
    # Formats that only pandas accepts: a leap second, two blanks
    return _by_pandas(text, form) if found.null_count and form != ISO else found


def _by_pandas(text: pa.Array, form: str) -> pa.Array:
    dates = pd.to_datetime(text.to_pandas(), format=form, errors="coerce", utc=True, cache=False)
    return pa.array(dates.dt.tz_localize(None))


def _as_iso(text: pa.Array, form: str) -> pa.Array:
    """Rewrite dates of this format as ISO dates, which are parsed many times faster; a misfit becomes missing."""
    if (made := _iso_by_bytes(text, form)) is not None:
        return made
    pattern = re.sub("%[^Y]", r"(\\d{1,2})", form.replace(".", r"\.")).replace("%Y", r"([1-9]\d{3})")
    date, order = pattern.partition(" ")[0], re.findall("%(.)", form)
    iso = "-".join(rf"\{order.index(part) + 1}" for part in "Ymd")
    fits = pc.match_substring_regex(text, f"^{pattern}$")
    return pc.if_else(fits, pc.replace_substring_regex(text, f"^{date}", iso), None)


def _iso_by_bytes(text: pa.Array, form: str) -> pa.Array | None:
    """Rewrite dates as ISO by moving bytes, if all texts have the format's length and signs; else return None.

    A year below 1000 also gives None, because pandas reads the year 0 only in the original format.
    """
    shape = re.sub("%(.)", lambda part: part[1] * (4 if part[1] == "Y" else 2), form)
    ends = np.frombuffer(text.buffers()[1], np.int32)[text.offset :][: len(text) + 1]
    if not len(text) or (np.diff(ends) != len(shape)).any():
        return None
    cells = np.frombuffer(text.buffers()[2], np.uint8)[ends[0] : ends[-1]].reshape(len(text), -1)
    signs, year = [i for i, letter in enumerate(shape) if not letter.isalpha()], shape.index("Y")
    if (cells[:, signs] != [ord(shape[i]) for i in signs]).any() or (cells[:, year] == ord("0")).any():
        return None
    parts = [range(start := shape.index(part), start + shape.count(part)) for part in "Ymd"]
    moved = cells.take([*parts[0], signs[0], *parts[1], signs[0], *parts[2], *range(10, len(shape))], axis=1)
    moved[:, [4, 7]] = ord("-")
    return pa.StringArray.from_buffers(len(text), pa.py_buffer(ends - ends[0]), pa.py_buffer(moved))


def utc_times(column: pa.ChunkedArray) -> pd.Series:
    """Convert dates and times to UTC, as ``typed_objects`` does but without one object per value."""
    kind = column.type
    if pa.types.is_date(kind):
        return column.cast(pa.timestamp("s")).to_pandas()
    unit = "ns" if kind.unit == "ns" else "us"
    return column.cast(pa.timestamp(unit, kind.tz)).cast(pa.timestamp(unit)).to_pandas()


def typed_objects(values: Iterable[Any], name: str = "") -> Typed:
    """Type a column of Python values (cells of a spreadsheet or of JSON): their common type, else text.

    >>> typed_objects([1, None, 2.5]).values.tolist()
    [1.0, nan, 2.5]
    >>> typed_objects([True, False]).values.dtype
    dtype('bool')
    """
    cells = [None if is_gap(value) else value for value in values]
    present = [value for value in cells if value is not None]
    if present and all(isinstance(value, (bool, np.bool_)) for value in present):
        return Typed(pd.Series(cells, dtype="bool" if len(present) == len(cells) else "boolean"), {})
    if present and all(isinstance(value, (datetime.date, np.datetime64)) for value in present):
        dates = pd.to_datetime(pd.Series(cells, dtype=object), errors="coerce", utc=True).dt.tz_localize(None)
        if not (dates.isna() & pd.Series([cell is not None for cell in cells])).any():
            return Typed(dates, {})
    if present and all(plain_number(value) for value in present):
        whole = len(present) == len(cells) and all(isinstance(value, numbers.Integral) for value in present)
        return Typed(pd.Series(cells, dtype="int64" if whole else "float64"), {})
    return typed_text(pa.chunked_array([texts_of(cells)]), name)


def texts_of(cells: Iterable[Any]) -> pa.Array:
    """Return cells as texts, those that are None as missing."""
    return pa.array([None if cell is None else _as_text(cell) for cell in cells], pa.string())


def is_gap(value: Any) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)


def plain_number(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (numbers.Real, decimal.Decimal)):
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


def label(value: Any) -> str:
    """Write a value as a person does: whole numbers without a decimal point, days without midnight.

    >>> [label(value) for value in (1.0, -1, 0.5, True, "g")]
    ['1', '-1', '0.5', 'True', 'g']
    """
    if (
        isinstance(value, (float, np.floating))
        and abs(float(value)) < TOO_LARGE
        and float(value).is_integer()
    ):
        return str(int(value))
    if isinstance(value, np.generic):
        value = value.item()
    return str(value).removesuffix(" 00:00:00")


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
    return typed_objects(column.tolist(), name).values

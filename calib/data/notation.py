"""Read numbers and dates as texts write them: decimal commas, separators of thousands, percentages, days first.

A notation fits a whole column or is not used, so no value becomes missing because it does not fit.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

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
# inf and nan included: a column that begins otherwise contains words
STARTS_NUMBER = frozenset("0123456789+-.,iInN")
TOO_LARGE = 10**15
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
# Columns with at most so many values keep the file's spelling: one may be the label
SPELT_VALUES = 100
ROWS_AT_ONCE = 1 << 18  # parsed by pandas as objects
PARSED_AS_ONE_BLOCK = 10_000  # parsed as one block
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
    DOT_THOUSANDS, ".", note="dots were read as thousands separators, because the file uses decimal commas."
)


def numbers_of(text: pa.ChunkedArray, comma: Comma) -> tuple[pa.ChunkedArray, Notation] | None:
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


def dates_of(text: pa.ChunkedArray) -> tuple[pd.Series, str, bool] | None:
    """Return (dates, their format, whether another format fits, too), or None if the column is not all dates."""
    some = _distinct(text, 100)
    repeated = len(some) < 100 or len(text) > PARSED_AS_ONE_BLOCK or text.null_count > 0
    if not all(map(DATE.match, some)):
        return None
    if all(map(YEAR_FIRST.match, some)) and (dates := read_dates(text, ISO, repeated)) is not None:
        return dates, ISO, False
    forms = (form for form, shape in DATE_SHAPES.items() if all(map(shape.match, some)))
    readings = ((read_dates(text, form, repeated), form) for form in forms)
    complete = ((dates, form) for dates, form in readings if dates is not None)
    if (found := next(complete, None)) is None:
        return None
    return *found, next(complete, None) is not None


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


def read_dates(text: pa.ChunkedArray, form: str, repeated: bool) -> pd.Series | None:
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


def without_tokens(text: pa.ChunkedArray, tokens: Sequence[str]) -> pa.ChunkedArray:
    """Make texts missing that are one of ``tokens``; longer texts are not looked up, which takes most of the time."""
    shortest = pc.min(pc.binary_length(text)).as_py()
    if shortest is None or shortest > max(map(len, tokens)):
        return text
    gaps = pc.is_in(text, value_set=pa.array(tokens, type=text.type))
    return pc.if_else(gaps, pa.scalar(None, text.type), text) if pc.any(gaps).as_py() else text


def own(values: pa.ChunkedArray) -> pd.Series:
    """Copy numbers out of Arrow's memory, which is read-only and also keeps the bytes between the columns."""
    parts = [part.to_numpy(zero_copy_only=False) for part in values.chunks]
    return pd.Series(np.concatenate(parts) if parts else values.to_numpy(), copy=False)


def spelling_of(text: pa.ChunkedArray, values: pa.ChunkedArray) -> dict[Any, str]:
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

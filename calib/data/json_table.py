"""Read JSON as a table, record by record, so that it is never held as Python objects as a whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from calib.data.column_types import ColumnBuilder, batches, whole_text
from calib.data.errors import DataError, first_line
from calib.data.limits import PER_CELL, check_columns, check_memory, check_names
from calib.kernel.fields import loads
from calib.kernel.progress import Watch
from calib.kernel.wording import counted

WHITE_SPACE = re.compile(r"[ \t\n\r]*")
STRUCTURE = re.compile(r'["\[\]{}]')
PARSED_AT_ONCE = 1 << 23  # characters whose values are Python objects at one time, about 100 MB
PLAIN_AT_ONCE = 1 << 16  # characters of plain values that are parsed at once, which takes a fifth of the time
WRAPS = ("data", "records", "rows")  # keys of a list of records
Columns = dict[str, pd.Series]


def columns_of(text: str, watch: Watch) -> Columns:
    """Read a list of records, ``{"data": [records]}``, one record per line, or ``{column: [values]}``."""
    cells = text.count(",") + text.count("}\n{") + 1
    check_memory(len(text) + 2 * PER_CELL * cells)
    try:
        return loads(text, partial(_read, watch=watch))
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"This is not valid JSON ({first_line(error)}).", "Export the table again.") from None


def _read(text: str, watch: Watch) -> Columns:
    try:
        found = _Document(text, watch).table()
    except DataError:
        raise
    except ValueError as whole:
        try:
            found = _of_records(_Document(text, watch).lines())
        except json.JSONDecodeError:
            raise whole from None
    if found is None:
        raise DataError(
            "This JSON is not a table.",
            'Use a list of objects, [{"column": value, …}, …], alone or under the key "data". You can also use one '
            'object per line, or {"column": [values], …}.',
        )
    return found


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if not "".join(record).isascii():
        record = {whole_text(key): value for key, value in pairs}
    if len(record) < len(pairs):  # the json module silently keeps the last of two equal keys
        check_names([key for key, _ in pairs])
    return record


DECODER = json.JSONDecoder(object_pairs_hook=_record)


def _of_records(lists: Iterable[list[Any]]) -> Columns | None:
    """Return the columns of records, or None if there are none, or other values among them."""
    columns: dict[str, ColumnBuilder] = {}
    rows, records = 0, True
    for elements in lists:
        records = records and all(isinstance(value, dict) and value for value in elements)
        if not records:
            columns.clear()
            continue  # to the end, which may be damaged
        keys = dict.fromkeys(key for record in elements for key in record)
        check_columns(len(columns.keys() | keys))
        for key in keys:
            column = columns.setdefault(key, ColumnBuilder())
            column.skip_to(rows)
            column.add([record.get(key) for record in elements])
        rows += len(elements)
        check_names(list(columns))
        check_memory(PER_CELL * rows * len(columns))
    if not (records and rows):
        return None
    for column in columns.values():
        column.skip_to(rows)
    return {key: columns.pop(key).typed(key) for key in list(columns)}


def _of_nested(nested: Mapping[str, Mapping[str, Any]]) -> Columns | None:
    """Return the columns of {column: {row: value}}, or of {row: {column: value}}.

    pandas writes the first with orient="columns", its default, and the second with orient="index". There are more rows
    than columns, and row names are usually numbers.
    """
    rows = list(dict.fromkeys(row for values in nested.values() for row in values))
    numbered, columns_numbered = (all(name.isdecimal() for name in names) for names in (nested, rows))
    if not columns_numbered and (numbered or len(nested) > len(rows)):
        return _of_records([list(map(dict, nested.values()))])
    check_names(list(nested))
    check_memory(PER_CELL * len(rows) * len(nested))
    columns = {}
    for name, values in nested.items():
        column = ColumnBuilder()
        column.add([values.get(row) for row in rows])
        columns[name] = column.typed(name)
    return columns


class _Document:
    """JSON value whose lists are read element by element."""

    def __init__(self, text: str, watch: Watch) -> None:
        self._text, self._at, self._watch = text, 0, watch

    def table(self) -> Columns | None:
        """Return the table, or None if there is none."""
        self._skip()
        if self._starts("["):
            found = _of_records(self._in_pieces(self._elements()))
        elif self._starts("{"):
            found = self._object()
        else:
            self._value()
            found = None
        self._skip()
        if self._at < len(self._text):
            raise self._wrong("Extra data")
        return found

    def lines(self) -> Iterator[list[Any]]:
        """Yield the values of all lines, in pieces."""
        return self._in_pieces(self._line_values())

    def _line_values(self) -> Iterator[Any]:
        while self._at < len(self._text):
            end = self._text.find("\n", self._at)
            end = len(self._text) if end < 0 else end
            line, self._at = self._text[self._at : end].strip(), end + 1
            if line:
                yield DECODER.decode(line)

    def _in_pieces(self, values: Iterator[Any]) -> Iterator[list[Any]]:
        last = self._at

        def read(_value: Any) -> int:
            nonlocal last
            last, size = self._at, self._at - last
            return size

        for piece in batches(values, read, PARSED_AT_ONCE):
            self._watch.step(min(self._at / len(self._text), 1.0), "")
            yield piece

    def _object(self) -> Columns | None:
        """Return the records under one of ``WRAPS``, else the columns that the keys name."""
        names, columns, wrapped = [], dict[str, ColumnBuilder | None](), dict[str, Columns]()
        nested, split = dict[str, dict[str, Any]](), list[str]()
        for key in self._keys():
            names.append(key)
            columns[key] = None
            if not self._starts("["):
                value = self._value()
                if isinstance(value, dict):
                    nested[key] = value
                continue
            begin = self._at
            if key == "columns":
                split = [whole_text(str(name)) for name in self._value()]
                self._at = begin
            elif key == "data" and split and (rows := self._split_rows(split)) is not None:
                wrapped[key] = rows
                continue
            self._at = begin
            if key in WRAPS and (records := _of_records(self._in_pieces(self._elements()))) is not None:
                wrapped[key] = records
                continue
            self._at = begin
            column = columns[key] = ColumnBuilder()
            for piece in self._in_pieces(self._elements()):
                column.add(piece)
        check_names(names)
        for key in WRAPS:
            if key in wrapped:
                return wrapped[key]
        if nested and len(nested) == len(columns):
            return _of_nested(nested)
        full = {key: column for key, column in columns.items() if column is not None}
        if not full or len(full) < len(columns):
            return None
        if len({column.rows for column in full.values()}) > 1:
            listed = ", ".join(
                f"{key!r} has {counted(column.rows, 'value')}" for key, column in list(full.items())[:5]
            )
            raise DataError(
                f"The JSON columns differ in length: {listed}.", "Give each column one value per row."
            )
        return {key: column.typed(key) for key, column in full.items()}

    def _split_rows(self, names: Sequence[str]) -> Columns | None:
        """Return the columns of a list of rows, as pandas writes them with orient="split"; None for anything else."""
        check_names(list(names))
        columns = [ColumnBuilder() for _ in names]
        for rows in self._in_pieces(self._elements()):
            if not all(isinstance(row, list) and len(row) == len(names) for row in rows):
                return None
            for column, values in zip(columns, zip(*rows, strict=True), strict=True):
                column.add(list(values))
        return {name: column.typed(name) for name, column in zip(names, columns, strict=True)}

    def _elements(self) -> Iterator[Any]:
        """Yield the elements of the list that begins here."""
        self._next()
        more = not self._ends("]")
        while more:
            value = self._value()
            yield value
            more = self._goes_on("]")
            if more and not isinstance(value, (str, list, dict)):
                yield from self._plain_values()

    def _plain_values(self) -> list[Any]:
        """Return the next values, without the last before a comma, if all are numbers or words."""
        end = self._text.rfind(",", self._at, self._at + PLAIN_AT_ONCE)
        piece = self._text[self._at : max(end, 0)]
        if not piece or STRUCTURE.search(piece):
            return []
        try:
            values = DECODER.decode(f"[{piece}]")
        except ValueError:  # read one by one, they show where
            return []
        self._at = end
        self._next()
        return values

    def _keys(self) -> Iterator[str]:
        """Yield the keys of the object that begins here; the value of each begins where the reading is then."""
        self._next()
        more = not self._ends("}")
        while more:
            if not self._starts('"'):
                raise self._wrong("Expecting property name enclosed in double quotes")
            key = whole_text(self._value())
            self._skip()
            if not self._starts(":"):
                raise self._wrong("Expecting ':' delimiter")
            self._next()
            yield key
            more = self._goes_on("}")

    def _value(self) -> Any:
        value, self._at = DECODER.raw_decode(self._text, self._at)
        return value

    def _starts(self, sign: str) -> bool:
        return self._text.startswith(sign, self._at)

    def _ends(self, sign: str) -> bool:
        """Tell whether a list or object ends here, and go beyond its end."""
        ends = self._starts(sign)
        self._at += ends
        return ends

    def _goes_on(self, end: str) -> bool:
        """Tell whether another element or key follows in a list or object, and go to it, or beyond the end."""
        self._skip()
        if self._ends(end):
            return False
        if not self._starts(","):
            raise self._wrong("Expecting ',' delimiter")
        self._next()
        return True

    def _next(self) -> None:
        self._at += 1
        self._skip()

    def _skip(self) -> None:
        self._at = WHITE_SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]

    def _wrong(self, why: str) -> json.JSONDecodeError:
        return json.JSONDecodeError(why, self._text, self._at)

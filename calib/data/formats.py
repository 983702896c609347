"""Parquet, Excel, ARFF and JSON: each a kept library's reader, wrapped so that a bad file gives one clear message."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import arff
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from calib.data.columns import refuse_duplicates, typed_objects, typed_text
from calib.data.errors import DataError

MOST_CELLS = 200_000_000  # what a small compressed file may at most claim to hold


def read_parquet(content: bytes, name: str) -> pd.DataFrame:
    """A Parquet file as a typed table; dictionaries become categories, decimals numbers, nested values text."""
    try:
        file = pyarrow.parquet.ParquetFile(pa.BufferReader(content))
        if file.metadata.num_rows * max(1, file.metadata.num_columns) > MOST_CELLS:
            raise DataError(f"{name} holds more than {MOST_CELLS:,} cells. Take a sample of its rows or fewer columns.")
        table = file.read()
        refuse_duplicates(table.column_names)
        columns = {key: _from_arrow(column, key) for key, column in zip(table.column_names, table.columns, strict=True)}
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{name} is a damaged Parquet file ({_first_line(error)}). Write or download it again."
        ) from None
    return _table(columns)


def _from_arrow(column: pa.ChunkedArray, name: str) -> pd.Series:
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column.to_pandas().astype("str")
    if pa.types.is_dictionary(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return column.to_pandas()
    if pa.types.is_decimal(kind):
        return column.cast(pa.float64()).to_pandas()
    return typed_objects(column.to_pylist(), name).values


def read_excel(content: bytes, name: str) -> pd.DataFrame:
    """The first sheet that holds a table; formulas count as the values they were saved with."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
        if not any(member.filename == "xl/workbook.xml" for member in members):
            raise DataError(f"{name} is a ZIP archive, not an Excel table. Unpack it and bring the table inside.")
        if sum(member.file_size for member in members) > MOST_CELLS * 5:
            raise DataError(f"{name} is too large once unpacked. Save the table as CSV or Parquet.")
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheets = [(sheet.title, list(sheet.iter_rows(values_only=True))) for sheet in book.worksheets]
    except DataError:
        raise
    except Exception as error:  # openpyxl lets whatever its XML meets fall through: KeyError, TypeError, ParseError
        raise DataError(
            f"{name} is a damaged Excel file ({_first_line(error)}). Save it again as .xlsx or CSV."
        ) from None
    filled = [(title, rows) for title, rows in sheets if any(any(c is not None for c in row) for row in rows)]
    if not filled:
        raise DataError(f"{name} has no filled sheet. Put the table on the first sheet, header in its first row.")
    title, rows = filled[0]
    notes = [f"Of {len(filled)} sheets, only {title!r} is read."] if len(filled) > 1 else []
    return _table(_from_cells(rows), notes)


def _from_cells(rows: Sequence[Sequence[Any]]) -> dict[str, pd.Series]:
    """Rows of cells, the first filled one the header, as typed columns; cells below no name must be empty."""
    first = next(i for i, row in enumerate(rows) if any(cell is not None for cell in row))
    last = max(i for i, row in enumerate(rows) if any(cell is not None for cell in row))
    width = max(len(row) for row in rows[first : last + 1])
    body = [(*row, *[None] * (width - len(row))) for row in rows[first : last + 1]]
    names = [str(cell).strip() if cell is not None else "" for cell in body[0]]
    cells = list(zip(*body[1:], strict=True)) or [()] * width
    kept = [i for i in range(width) if names[i] or any(cell is not None for cell in cells[i])]
    names = [names[i] or f"column {i + 1}" for i in kept]
    refuse_duplicates(names)
    return {key: typed_objects(cells[i], key).values for key, i in zip(names, kept, strict=True)}


def read_json(text: str) -> pd.DataFrame:
    """A list of records, ``{"data": [records]}``, one record a line, or ``{column: [values]}``.

    >>> read_json('[{"a": 1, "y": "g"}, {"a": null, "y": "b"}]')["a"].tolist()
    [1.0, nan]
    """
    value = _parse_json(text)
    if isinstance(value, dict):
        value = next((value[key] for key in ("data", "records", "rows") if isinstance(value.get(key), list)), value)
    if isinstance(value, list) and value and all(isinstance(record, dict) for record in value):
        names = list(dict.fromkeys(key for record in value for key in record))
        return _table({key: typed_objects([record.get(key) for record in value], key).values for key in names})
    if isinstance(value, dict) and value and all(isinstance(column, list) for column in value.values()):
        lengths = {key: len(column) for key, column in value.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"The JSON columns have different lengths ({lengths}). Give each column one value a row.")
        return _table({key: typed_objects(column, key).values for key, column in value.items()})
    raise DataError(
        'This JSON is no table. Give a list of objects, [{"column": value, …}, …], '
        'the same under "data", one object a line, or {"column": [values]}.'
    )


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_record)
    except (ValueError, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        whole = error
    try:
        return [json.loads(line, object_pairs_hook=_record) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"This is not valid JSON ({_first_line(whole)}). Export the table again.") from None


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = {key.encode("utf-8", "replace").decode(): value for key, value in pairs}
    if len(record) < len(pairs):
        refuse_duplicates([key for key, _ in pairs])
    return record


def read_arff(text: str) -> pd.DataFrame:
    """An ARFF file: nominal attributes become categories in the order declared, ``?`` is missing.

    liac-arff parses names, quotes and sparse rows; numbers and dates go through it as text, because it would cut 1.5
    declared INTEGER down to 1 and knows no dates.
    """
    lines, declared = _arff_header(text)
    decoder = arff.ArffDecoder()
    try:
        document = decoder.decode(lines)
    except arff.ArffException as error:
        raise DataError(
            f"The ARFF file is wrong in line {error.line}: {_first_line(error)}. Correct that line."
        ) from None
    except (ValueError, TypeError, IndexError, RecursionError) as error:
        raise DataError(f"The ARFF file cannot be read ({_first_line(error)}). Export it again.") from None
    names = [attribute for attribute, _ in document["attributes"]]
    cells = list(zip(*document["data"], strict=True)) or [()] * len(names)
    columns = {}
    for (key, values), kind, column in zip(document["attributes"], declared, cells, strict=True):
        columns[key] = _arff_column(key, values, kind, column)
    return _table(columns)


def _arff_header(text: str) -> tuple[list[str], list[str]]:
    """(lines with every plain attribute declared STRING, the types they had)."""
    lines, declared = text.split("\n"), []
    for i, line in enumerate(lines):
        stripped = line.strip()
        if stripped.lower().startswith("@data"):
            break
        if not stripped.lower().startswith("@attribute"):
            continue
        match = re.match(r"""(?i)@attribute\s+('(?:\\.|[^'])*'|"(?:\\.|[^"])*"|[^\s'"{]+)\s*(.*)$""", stripped)
        if not match:
            raise DataError(f"Line {i + 1} of the ARFF file declares no attribute: {stripped[:80]!r}. Correct it.")
        name, kind = match.groups()
        word = kind.split()[0].lower() if kind else ""
        if word == "relational":
            raise DataError(f"Attribute {name} is relational (a table in a cell). Export one flat table instead.")
        plain = word in ("numeric", "integer", "real", "string", "date")
        declared.append(word if plain else "nominal")
        lines[i] = f"@attribute {name} {'STRING' if plain else kind}"
    return lines, declared


def _arff_column(name: str, values: Any, kind: str, cells: Iterable[str | None]) -> pd.Series:
    if kind == "nominal":
        return pd.Series(pd.Categorical(list(cells), categories=list(dict.fromkeys(values))))
    typed = typed_text(pa.chunked_array([list(cells)], pa.string()), name)
    if kind in ("numeric", "integer", "real") and not pd.api.types.is_numeric_dtype(typed.values):
        bad = pd.to_numeric(typed.values.astype(object), errors="coerce").isna() & typed.values.notna()
        row = int(bad.to_numpy().argmax())
        raise DataError(
            f"Attribute {name!r} is declared {kind}, but row {row + 1} holds {str(typed.values[row])[:40]!r}. "
            "Correct the cell or declare the attribute as string."
        )
    return typed.values


def _table(columns: Mapping[str, pd.Series], notes: Iterable[str] = ()) -> pd.DataFrame:
    frame = pd.DataFrame(dict(columns))
    frame.attrs = {"notes": tuple(notes), "spelling": {}}
    return frame


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).split("\n")[0].rstrip(".")[:160]

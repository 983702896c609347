"""Read ARFF: liac-arff parses the header, and rows with quotes or blanks; Arrow parses all other rows, as CSV."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import arff
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from calib.data.column_types import batches, typed_text, whole_text
from calib.data.errors import DataError, first_line
from calib.data.limits import PER_CELL, check_columns, check_memory, check_names
from calib.kernel.progress import Watch

ATTRIBUTE = re.compile(r"""(?i)@attribute\s+('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^\s'"{]+)\s*(.*)$""")
ARFF_TYPES = ("numeric", "integer", "real", "string", "date")
NO_CSV = re.compile(r"""["'{}%]|[^\S\n]""")  # liac-arff reads quotes, sparse rows, comments and blanks
CHARACTERS_AT_ONCE = 1 << 23  # characters
PER_CHARACTER = 5  # bytes of memory besides the text


def columns_of(text: str, watch: Watch) -> dict[str, pd.Series]:
    """Read an ARFF file: nominal attributes become categories in the declared order, ``?`` is missing.

    liac-arff receives numbers and dates as text, because it would truncate 1.5 declared INTEGER to 1 and does not
    support dates.
    """
    check_memory(PER_CHARACTER * len(text))
    head, kinds, at = _header(text)
    line = 0

    def by_liac(lines: Sequence[str]) -> dict[str, Any]:
        nonlocal line
        begin = line

        def counted() -> Iterator[str]:
            nonlocal line
            for number, each in enumerate((*head, *lines), start=1):
                line = begin + number - len(head)
                yield each

        return arff.ArffDecoder().decode(counted(), return_type=arff.DENSE_GEN)

    try:
        line = len(head)
        attributes = [(whole_text(key), values) for key, values in by_liac(())["attributes"]]
        check_names([key for key, _ in attributes])
        # a sparse row writes few of its cells
        check_memory(PER_CELL * len(attributes) * (text.count("\n", at) + 1))
        columns: list[list[pa.Array]] = [[] for _ in attributes]
        while at < len(text):
            end = text.find("\n", at + CHARACTERS_AT_ONCE)
            block = text[at : end if end >= 0 else len(text)]
            lines = block.count("\n") + 1
            cells = _by_arrow(block, attributes)
            if cells is None:
                lines = 0  # counted on the way
                cells = _in_columns(by_liac(block.split("\n"))["data"], len(attributes))
            line += lines
            for column, piece in zip(columns, cells, strict=True):
                column.extend(piece)
            at += len(block) + 1
            watch.step(min(at / len(text), 1.0), f"{sum(map(len, columns[0])):,} rows read")
    except arff.ArffException as error:
        message = f"Line {line} of the ARFF file cannot be read: {first_line(error)}."
        raise DataError(message, "Correct that line, or export the file again.") from None
    except DataError:
        raise
    except (ValueError, TypeError, IndexError, RecursionError) as error:
        raise DataError(
            f"The ARFF file cannot be read ({first_line(error)}).", "Export the file again."
        ) from None
    typed = {}
    for (key, values), kind in zip(attributes, kinds, strict=True):
        typed[key] = _column(key, values, kind, pa.chunked_array(columns.pop(0), pa.string()))
    return typed


def _header(text: str) -> tuple[list[str], list[str], int]:
    """Return (lines of the header, in which every plain attribute is STRING; declared types; where rows begin)."""
    head: list[str] = []
    kinds: list[str] = []
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        line, at = text[at : end if end >= 0 else len(text)], end + 1 if end >= 0 else len(text)
        head.append(line)
        stripped = line.strip()
        if stripped.lower().startswith("@data"):
            check_columns(len(kinds))
            break
        if not stripped.lower().startswith("@attribute"):
            continue
        match = ATTRIBUTE.match(stripped)
        if not match:
            message = f"Line {len(head)} of the ARFF file does not declare an attribute: {stripped[:80]!r}."
            raise DataError(message, "Write @attribute, then a name and a type.")
        name, declared = match.group(1), re.sub(r"\}\s*%[^}]*$", "}", match.group(2))
        kind = declared.split()[0].lower() if declared else ""
        if kind == "relational":
            raise DataError(
                f"Attribute {name} is relational: each cell contains a table.",
                "Export one flat table instead.",
            )
        kinds.append(kind if kind in ARFF_TYPES else "nominal")
        head[-1] = f"@attribute {name} {'STRING' if kind in ARFF_TYPES else declared}"
    return head, kinds, at


def _by_arrow(block: str, attributes: Sequence[tuple[str, Any]]) -> list[list[pa.Array]] | None:
    """Parse rows without quotes and blanks as CSV; None if there are others, or a row is wrong."""
    from pyarrow import csv  # only here, as it takes long to load

    if NO_CSV.search(block):
        return None
    names = list(map(str, range(len(attributes))))
    try:
        table = csv.read_csv(
            io.BytesIO(block.encode()),
            csv.ReadOptions(column_names=names, block_size=8 * CHARACTERS_AT_ONCE),
            csv.ParseOptions(quote_char=False),
            csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=["?", ""],
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowException:
        return None
    for (_, levels), column in zip(attributes, table.columns, strict=True):
        if (
            not isinstance(levels, str)
            and not pc.all(pc.is_in(column, value_set=pa.array([*levels, None], pa.string()))).as_py()
        ):
            return None
    return [column.chunks for column in table.columns]


def _in_columns(rows: Iterable[Sequence[str | None]], width: int) -> list[list[pa.Array]]:
    """Convert rows of texts to columns; Arrow needs a tenth of the memory of Python lists."""
    found: list[list[pa.Array]] = [[] for _ in range(width)]
    for few in batches(rows):
        for piece, cells in zip(found, zip(*few, strict=True), strict=True):
            texts = [None if cell is None else whole_text(cell) for cell in cells]
            piece.append(pa.array(texts, pa.string()))
    return found


def _column(name: str, values: Any, kind: str, texts: pa.ChunkedArray) -> pd.Series:
    if kind == "nominal":
        # "?" is not a level
        levels = dict.fromkeys(whole_text(value) for value in values if value is not None)
        return pd.Series(pd.Categorical(texts.to_pandas(), categories=list(levels)))
    typed = typed_text(texts, name).values
    if kind in ("numeric", "integer", "real") and not pd.api.types.is_numeric_dtype(typed):
        wrong = pd.to_numeric(typed.astype(object), errors="coerce").isna() & typed.notna()
        row = int(wrong.to_numpy().argmax())
        message = (
            f"Attribute {name!r} is declared as {kind}, but row {row + 1} contains {str(typed[row])[:40]!r}."
        )
        raise DataError(message, "Correct the cell, or declare the attribute as a string.")
    return typed

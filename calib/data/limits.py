"""The limits above which a file is refused, and the refusals."""

from __future__ import annotations

from collections.abc import Sequence

from calib.data.errors import DataError, TooLargeError

UPLOAD_LIMIT = 200 << 20  # bytes of a file once unpacked: read within ten seconds, whatever its columns hold
# What is packed may become so many bytes, or so many times its own: no table shrinks more. Reading takes up to
# four times the bytes once unpacked, and 500 MB
ALWAYS, TIMES = 1 << 26, 50
# Of a text or a Parquet file: read, a cell takes twelve bytes, and may stand in two of the file's
MOST_CELLS = 40_000_000
# Of a NumPy archive or of lists in a Parquet file, whose cells stay four or eight bytes
MOST_ARRAY_CELLS = 60_000_000
# Cells of a format that is read cell by cell, from five to nine seconds each
MOST_OBJECTS, MOST_ARFF_CELLS = 4_000_000, 3_000_000  # JSON, whose cells are Python's own; ARFF
MOST_EXCEL_CELLS = 1_500_000
MOST_XML = 1 << 27  # bytes of XML that are read of an Excel file
MOST_COLUMNS = 5_000
MODEL_LIMIT = 1 << 28  # bytes of an ONNX file


def most_unpacked(packed: int) -> int:
    """Return the bytes to which a compressed file of this size may expand: more is a bomb, or costs as much.

    >>> most_unpacked(1_000) >> 20, most_unpacked(1 << 30) >> 20
    (64, 200)
    """
    return min(UPLOAD_LIMIT, max(ALWAYS, TIMES * packed))


def too_large(name: str, most: int) -> DataError:
    """Return the refusal of a file that expands to more than ``most`` bytes."""
    remedy = "Upload a sample of the rows, or fewer columns."
    return TooLargeError(f"{name} expands to more than {most >> 20} MiB, which is the limit.", remedy)


def large_excel() -> DataError:
    """Return the refusal of an Excel file that would take too long."""
    return DataError(
        f"The Excel file is too large: at most {MOST_EXCEL_CELLS:,} cells (or other elements) and {MOST_XML >> 20} MiB "
        "of XML can be read.",
        "Save the sheet as CSV or Parquet; their limits are higher.",
    )


def check_cells(rows: int, columns: int, most: int) -> None:
    """Refuse a table that a small file claims to hold and no memory would."""
    if rows * columns > most:
        raise TooLargeError(
            f"The table has {rows:,} rows and {columns:,} columns, but at most {most:,} cells can be read.",
            "Upload a sample of the rows, or fewer columns.",
        )


def check_columns(count: int) -> None:
    """Refuse more columns than anyone can look at."""
    if count > MOST_COLUMNS:
        raise DataError(
            f"The table has {count:,} columns, which is too many.", f"Keep at most {MOST_COLUMNS:,} columns."
        )


def check_names(names: Sequence[str]) -> None:
    """Refuse two columns of one name, and too many."""
    check_columns(len(names))
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if name in seen:
            raise DataError(
                f"Columns {seen[name]} and {position} are both called {name!r}.",
                "Rename one of them in the header and upload the file again.",
            )
        seen[name] = position

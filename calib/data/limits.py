"""Limits above which a file is refused, and the errors that refuse it."""

from __future__ import annotations

from collections.abc import Sequence

from calib.data.errors import DataError, TooLargeError

# Bytes of an unpacked file; such a file is read within ten seconds, whatever it contains
UPLOAD_LIMIT = 200 << 20
# A compressed file may expand to this many bytes, or this many times its size: no table compresses better. Reading
# takes up to four times the unpacked bytes, and 500 MB
ALWAYS, TIMES = 1 << 26, 50
# Cells of a text or Parquet file: each takes twelve bytes once read, and at least two in the file
MOST_CELLS = 40_000_000
# Cells of a NumPy archive or of lists in a Parquet file, which stay at four or eight bytes
MOST_ARRAY_CELLS = 60_000_000
# Cells of formats that are read cell by cell; these limits take five to nine seconds each
MOST_OBJECTS, MOST_ARFF_CELLS = 4_000_000, 3_000_000  # JSON, whose cells are Python objects; ARFF
MOST_EXCEL_CELLS = 1_500_000
MOST_XML = 1 << 27  # bytes of XML in an Excel file
MOST_COLUMNS = 5_000
MODEL_LIMIT = 1 << 28  # bytes of an ONNX file


def most_unpacked(packed: int) -> int:
    """Return the number of bytes to which a compressed file may expand; a file that exceeds it may be a zip bomb.

    >>> most_unpacked(1_000) >> 20, most_unpacked(1 << 30) >> 20
    (64, 200)
    """
    return min(UPLOAD_LIMIT, max(ALWAYS, TIMES * packed))


def too_large(name: str, most: int) -> DataError:
    """Return the error for a file that expands to more than ``most`` bytes."""
    remedy = "Upload a sample of the rows, or fewer columns."
    return TooLargeError(f"{name} expands to more than {most >> 20} MiB, which is the limit.", remedy)


def large_excel() -> DataError:
    """Return the error for an Excel file that would take too long to read."""
    return DataError(
        f"The Excel file is too large: at most {MOST_EXCEL_CELLS:,} cells (or other elements) and {MOST_XML >> 20} MiB "
        "of XML can be read.",
        "Save the sheet as CSV or Parquet; their limits are higher.",
    )


def check_cells(rows: int, columns: int, most: int) -> None:
    """Refuse a table with more than ``most`` cells, before memory is allocated for it."""
    if rows * columns > most:
        raise TooLargeError(
            f"The table has {rows:,} rows and {columns:,} columns, but at most {most:,} cells can be read.",
            "Upload a sample of the rows, or fewer columns.",
        )


def check_columns(count: int) -> None:
    """Refuse more than ``MOST_COLUMNS`` columns."""
    if count > MOST_COLUMNS:
        raise DataError(
            f"The table has {count:,} columns, which is too many.", f"Keep at most {MOST_COLUMNS:,} columns."
        )


def check_names(names: Sequence[str]) -> None:
    """Refuse duplicate column names, and too many columns."""
    check_columns(len(names))
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if name in seen:
            raise DataError(
                f"Columns {seen[name]} and {position} are both called {name!r}.",
                "Rename one of them in the header and upload the file again.",
            )
        seen[name] = position

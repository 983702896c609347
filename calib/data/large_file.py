"""Files that do not fit into memory: Arrow reads Parquet and text in place, block by block, as it reads small files.

The first rows are read as a small file. Their layout and types hold for all rows.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from calib.data.column_types import is_text_type
from calib.data.delimited import Layout, block_for, comma_of, csv_options, lay_out, parse_cells, wrong_line
from calib.data.errors import DataError, first_line
from calib.data.formats import damaged, read_parquet
from calib.data.notation import PLAIN, TOO_LARGE, Comma
from calib.data.read import EXTENSIONS, TEXT, as_utf8, read_table, refuse_changed, state_of
from calib.data.relation import BLOCK_ROWS, ArrowRelation
from calib.data.table import note_reading
from calib.kernel.progress import Watch

# Rows above which predictions are counted even if they fit into memory: row by row, 10 million take minutes
COUNTED_ROWS = 2_000_000
FIRST_ROWS, FIRST_BYTES = 20_000, 4_000_000  # of a file, read to learn its columns and types
TEXT_BLOCK = 1 << 22  # bytes of a text that are parsed at once, unless its lines are long


class LargeFile(ArrowRelation):
    """Parquet or text file of any size, which is read in place.

    Attributes
    ----------
    path
        Path of the file.
    rows
        Number of rows, estimated for a text.
    """

    def __init__(self, path: Path, head: pd.DataFrame, rows: int) -> None:
        self.path, self.name, self.head, self.rows = path, path.name, head, rows
        self._opened = state_of(path)

    def blocks(self, names: Sequence[str] | None, watch: Watch) -> Iterator[pd.DataFrame]:
        yield from super().blocks(names, watch)
        refuse_changed(self.path, self._opened)


class _Parquet(LargeFile):
    """Parquet file; ``first`` are its first rows as Arrow has them."""

    def __init__(self, path: Path, head: pd.DataFrame, rows: int, first: pa.Table) -> None:
        super().__init__(path, head, rows)
        self._first = first

    def first_texts(self, name: str) -> pa.ChunkedArray | None:
        column = self._first.column(name)
        return column.cast(pa.string()) if is_text_type(column.type) else None

    def pieces(self, names: Sequence[str], watch: Watch) -> Iterator[pa.RecordBatch]:
        from pyarrow import parquet  # only here, as it takes long to load

        done = 0
        try:
            with parquet.ParquetFile(self.path) as file:
                for batch in file.iter_batches(BLOCK_ROWS, columns=list(names)):
                    done += len(batch)
                    watch.step(done / max(self.rows, 1), f"{done:,} of {self.rows:,} rows read")
                    yield batch
        except (pa.ArrowException, OSError) as error:
            raise damaged(self.name, "Parquet", error, "Save it again.") from None


class _Text(LargeFile):
    """Delimited text in UTF-8; ``start`` are its first lines from the header on."""

    def __init__(
        self, path: Path, head: pd.DataFrame, rows: int, layout: Layout, start: bytes, packed: bool
    ) -> None:
        super().__init__(path, head, rows)
        self._layout, self._start, self._packed = layout, start, packed

    @cached_property
    def _first(self) -> pa.Table:
        return parse_cells(self._start, self._layout, Watch())

    @cached_property
    def comma(self) -> Comma:  # type: ignore[override]
        return comma_of(self._layout, self._first)

    def first_texts(self, name: str) -> pa.ChunkedArray:
        return self._first.column(name)

    def pieces(self, names: Sequence[str], watch: Watch) -> Iterator[pa.RecordBatch]:
        """Yield the rows, with plain numbers as numbers; from the first that is not plain, as texts."""
        done, texts = 0, dict.fromkeys(names, pa.string())
        numbers = {name: pa.float64() for name in names if self.written(name) == PLAIN}
        with suppress(pa.ArrowInvalid):
            for batch in self._read(texts | numbers, watch):
                if not _are_plain(batch):
                    break
                done += len(batch)
                yield batch
            else:
                return
        try:
            for batch in self._read(texts, watch):
                if len(batch) > done:
                    yield batch.slice(done)
                done = max(0, done - len(batch))
        except pa.ArrowInvalid as error:
            reason = f"{self.name} could not be read completely ({first_line(error)})."
            raise self._wrong(watch) or DataError(reason, "Check the file, and save it again.") from None

    def _read(self, kinds: dict[str, pa.DataType], watch: Watch) -> Iterator[pa.RecordBatch]:
        block, above = block_for(self._start, TEXT_BLOCK), self._layout.above
        with self._opened_text() as (file, share):
            counted = _CountsQuotes(file)
            source = pa.PythonFile(counted, "r")
            options = csv_options(self._layout, kinds, block, newlines=True, above=above, check_utf8=True)
            for batch in pyarrow.csv.open_csv(source, *options):
                watch.step(done := share(), f"{done:.0%} read")
                yield batch
        if counted.quotes % 2 and (wrong := self._wrong(watch)) is not None:
            raise wrong

    def _wrong(self, watch: Watch) -> DataError | None:
        with self._opened_text() as (file, _):
            for _ in range(self._layout.above):
                file.readline()
            return wrong_line(file, self._layout, watch)

    @contextmanager
    def _opened_text(self) -> Iterator[tuple[Any, Callable[[], float]]]:
        """Open the text, and tell which share of the file was read."""
        size = max(1, self.path.stat().st_size)
        with open(self.path, "rb") as file, gzip.GzipFile(fileobj=file) if self._packed else file as text:
            yield text, lambda: min(file.tell() / size, 1.0)


class _CountsQuotes(io.RawIOBase):
    """File that counts the quotation marks that were read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.quotes = file, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        found = self._file.read(size)
        self.quotes += found.count(b'"')
        return found


def _are_plain(batch: pa.RecordBatch) -> bool:
    """Tell whether all numbers are so small that their text may not be an account number."""
    numbers = [column.drop_null().to_numpy() for column in batch.columns if pa.types.is_floating(column.type)]
    return all(not (np.abs(values[np.isfinite(values)]) >= TOO_LARGE).any() for values in numbers)


def open_large(path: Path, header: int | None = None) -> LargeFile:
    """Read the first rows of a Parquet or text file of any size.

    Parameters
    ----------
    header
        Line of the header of a text, as in ``read_table``.

    Raises
    ------
    DataError
        For another format, or a file that cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "p.csv")
    ...     _ = path.write_text("label,p\\n1,0.5\\n0,0.5\\n1,0.5\\n", encoding="utf-8")
    ...     open_large(path).count("label", "p").values.tolist()
    [[0.0, 0.5, 1.0], [1.0, 0.5, 2.0]]
    """
    try:
        with open(path, "rb") as file:
            start = file.read(4)
        return _parquet(path) if start == b"PAR1" else _text(path, start.startswith(b"\x1f\x8b"), header)
    except EOFError:
        raise DataError(f"{path.name} is a damaged gzip file.", "Compress it again.") from None
    except OSError as error:
        raise DataError(f"{path} cannot be opened ({error.strerror}).", "Check the path.") from None


def open_if_many(path: Path) -> LargeFile | None:
    """Open a Parquet or text file of more than ``COUNTED_ROWS`` rows; return None for any other file."""
    try:
        # a row of a text has more bytes, and one of Parquet hardly fewer
        if path.stat().st_size < COUNTED_ROWS:
            return None
        file = open_large(path)
    except (DataError, OSError):
        return None
    return file if file.rows > COUNTED_ROWS else None


def _parquet(path: Path) -> LargeFile:
    from pyarrow import parquet  # only here, as it takes long to load

    try:
        with parquet.ParquetFile(path) as file:
            batches = [batch for batch, _ in zip(file.iter_batches(FIRST_ROWS), range(1), strict=False)]
            first, rows = pa.Table.from_batches(batches, file.schema_arrow), file.metadata.num_rows
    except (pa.ArrowException, OSError, ValueError) as error:
        raise damaged(path.name, "Parquet", error, "Save it again.") from None
    written = io.BytesIO()
    parquet.write_table(first, written)
    head = note_reading(read_parquet(written.getvalue(), path.name), name=path.name.split(".")[0])
    _check_cells(path, head, first.column_names)
    return _Parquet(path, head, rows, first)


def _text(path: Path, packed: bool, header: int | None) -> LargeFile:
    name = path.name.removesuffix(".gz")
    if EXTENSIONS.get(Path(name).suffix[1:].lower(), TEXT) != TEXT:
        raise DataError(
            f"{path.name} is too large: files of this format must fit into memory.",
            "Save the table as Parquet or CSV.",
        )
    with (gzip.open if packed else open)(path, "rb") as file:
        start = file.read(FIRST_BYTES)
    if len(start) == FIRST_BYTES:
        start = start[: start.rfind(b"\n") + 1]
    head = read_table(start, name, header=header)
    if not _is_utf8(start):
        raise DataError(f"{path.name} is not UTF-8 text.", "Save the file as UTF-8, or as Parquet.")
    layout, lines = lay_out(as_utf8(start, name)[0], header)
    if layout.delimiter == " ":
        raise DataError(
            f"The columns of {path.name} are separated by spaces.", "Separate the columns by commas."
        )
    _check_cells(path, head, layout.names)
    rows = 0 if packed else len(head) * path.stat().st_size // max(len(start), 1)
    return _Text(path, head, rows, layout, lines, packed)


def _is_utf8(start: bytes) -> bool:
    with suppress(UnicodeDecodeError):
        return "\0" not in start.decode()
    return False


def _check_cells(path: Path, head: pd.DataFrame, names: Sequence[str]) -> None:
    """Refuse cells that contain several numbers, which become columns only in memory."""
    if list(map(str, head)) != list(map(str, names)):
        raise DataError(
            f"Cells of {path.name} contain several numbers, which cannot be read from a file that is too large for "
            "memory.",
            "Save one number per column.",
        )

"""Read a file as a table: its name suggests a format, its content decides, and nothing in it is executed.

``read_table`` reads a file that you trust, ``read_confined`` a stranger's: in a process with limits.

Delimited text, ARFF and JSON are decoded first (UTF-8, UTF-16, UTF-32, else Windows-1252, which contains Latin-1).
Parquet and Excel are recognised by their first bytes. Compressed files are unpacked up to ``most_unpacked`` bytes.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calib.data import confined
from calib.data.arrays import is_npz, read_npz
from calib.data.delimited import read_delimited
from calib.data.errors import DataError, TooLargeError
from calib.data.formats import read_arff, read_excel, read_json, read_parquet
from calib.data.limits import (
    FEWER,
    LATER,
    UPLOAD_LIMIT,
    bounds,
    check_memory,
    in_turn,
    most_unpacked,
    too_large,
)
from calib.data.table import note_reading, reading_of
from calib.data.vectors import unpack_vectors
from calib.kernel.memory import is_bounded, release_memory
from calib.kernel.progress import Watch

FORMATS_READ = "CSV, TSV, Parquet, Excel or OpenDocument (.xlsx, .xls, .ods), ARFF, JSON or NumPy (.npz)"
SAVE_AS = f"Save the table as {FORMATS_READ} and upload that file."
MODEL_AS = (
    f"If it contains a table, save that table as {FORMATS_READ}. If it contains a model, save the model as ONNX "
    "(evaluate … --onnx) or upload its predictions."
)
TEXT, PARQUET, EXCEL, ARFF, JSON = "delimited text", "Parquet", "Excel", "ARFF", "JSON"
NPZ = "a NumPy archive"
EXTENSIONS = {
    **dict.fromkeys(("csv", "tsv", "tab", "psv"), TEXT),
    **dict.fromkeys(("parquet", "pq"), PARQUET),
    **dict.fromkeys(("xlsx", "xlsm", "xlsb", "xls", "ods"), EXCEL),
    "arff": ARFF,
    **dict.fromkeys(("json", "jsonl", "ndjson"), JSON),
    "npz": NPZ,
}
FOREIGN = re.compile(
    "pkl|pickle|joblib|npy|mat|h5|hdf5|rds|rda|rdata|sav|dta|sas7bdat|feather|orc|db|sqlite"
    "|docx?|pdf|rtf|odt|pptx?|zip|tar|tgz|7z|rar|bz2|xz|zst|png|jpe?g|gif|svg|webp|html?|xml|py|r|exe"
)
SIGNATURES = (
    (b"PAR1", PARQUET),
    (b"PK\x03\x04", EXCEL),
    (b"\xd0\xcf\x11\xe0", EXCEL),
    (b"%PDF", "a PDF"),
    (b"SQLite format 3\x00", "a SQLite database"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"ARROW1", "a Feather file"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x7fELF", "a program"),
    *((b"\x80" + bytes([protocol]), "a pickle") for protocol in range(2, 6)),
)
BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, because its mark begins with that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
FILLED = re.compile(rb"[^\x00 \t\r\n]")
CONTROL_BYTES = bytes([*range(0x01, 0x09), *range(0x0E, 0x1A), *range(0x1B, 0x20)])
COPIES = 2  # of a file: one for the process that reads it, and its table
DECODED_AT_ONCE = 1_000_000  # bytes that are decoded at once
CONTROL_SHARE = 0.002  # a few control characters occur in text; many mean a binary file


def read_table(
    data: bytes | str | os.PathLike,
    name: str | None = None,
    sheet: str | None = None,
    header: int | None = None,
    fewest: int = 2,
    watch: Watch | None = None,
) -> pd.DataFrame:
    """Read a table from a file's bytes or path; the file's extension is checked against the content.

    A spreadsheet is read as ``read_confined`` reads it, because its reader ends the process if memory does not suffice.
    Columns become numbers, texts, booleans, categories or dates; values that mean "missing" become missing.
    ``calib.data.about`` returns the notes on how the file was read, and its name without extensions.

    Parameters
    ----------
    data
        Bytes of the file, or its path.
    name
        Name of the file; by default that of the path.
    sheet
        Sheet of an Excel file; None takes the first with content.
    header
        Line of the header, counted from 1; 0 if there is none; None infers it.
    fewest
        Smallest number of columns of a text: 1 if no label is needed.
    watch
        Progress, which can cancel the reading between its steps.

    Raises
    ------
    DataError
        If the file cannot be read as a table; with the reason and a remedy.
    Cancelled
        If it was cancelled.

    Examples
    --------
    >>> read_table(b"age,target\\n31,yes\\n?,no\\n", "people.csv")
        age target
    0  31.0    yes
    1   NaN     no
    """
    whole, name = _content(data, name)
    extension, content = _unpack(whole, name)
    if not FILLED.search(content):
        raise DataError(f"{name} is empty.", "Choose a file with a header line and rows below it.")
    found = _recognise(content)
    if found not in (None, PARQUET, EXCEL, NPZ):
        never = " Pickles can run code, so they are never opened." if "pickle" in found else ""
        raise DataError(f"{name} is {found}, not a table.{never}", MODEL_AS if never else SAVE_AS)
    if FOREIGN.fullmatch(extension):
        raise DataError(f"{name} cannot be read: .{extension} is not a known table format.", SAVE_AS)
    if found == EXCEL and confined.AVAILABLE:
        return read_confined(whole, name, sheet, header, fewest, watch)
    given = [content]
    del whole, content  # as large as the table, so it is freed once it is decoded
    watch = watch or Watch()
    try:
        with in_turn(len(given[0]), watch):
            frame = _read(given, extension, found, name, sheet, header, fewest, watch)
    except MemoryError:
        if is_bounded():  # this process knows no more than its caller
            raise
        raise TooLargeError(
            f"Reading {name} needs more memory than is available.", f"{FEWER} {LATER}"
        ) from None
    if len(frame) == 0:
        raise DataError(f"{name} has a header but no rows.", "Choose a file with rows below the header.")
    frame = unpack_vectors(frame)
    release_memory(len(frame))
    return note_reading(frame, name=Path(name).name.split(".")[0] or name)


def read_confined(
    data: bytes | str | os.PathLike,
    name: str | None = None,
    sheet: str | None = None,
    header: int | None = None,
    fewest: int = 2,
    watch: Watch | None = None,
) -> pd.DataFrame:
    """Read a table as ``read_table`` does, in a process with limits of memory and time (``limits.bounds``).

    On systems that cannot limit a process (Windows), the table is read in this one.

    Parameters
    ----------
    data, name, sheet, header, fewest, watch
        As for ``read_table``; Cancel ends the process at once.

    Raises
    ------
    DataError
        As for ``read_table``, and if a limit is exceeded.
    Cancelled
        If it was cancelled.

    Examples
    --------
    >>> read_confined(b"age,target\\n31,yes\\n", "people.csv")
       age target
    0   31    yes
    """
    content, name = _content(data, name)
    watch = watch or Watch()
    options = {"name": name, "sheet": sheet, "header": header, "fewest": fewest}
    with in_turn(len(content), watch):
        check_memory(COPIES * len(content))
        return confined.run(
            read_table, [content], (), options, name=name, bounds=bounds(content), watch=watch
        )


@contextmanager
def unchanged(path: Path) -> Iterator[None]:
    """Refuse a file that changes while the block reads it.

    Raises
    ------
    DataError
        If its size or the time of its last change differ afterwards.
    """
    before = state_of(path)
    yield
    refuse_changed(path, before)


def refuse_changed(path: Path, before: tuple[int, int] | None) -> None:
    """Refuse a file that is no longer in the state ``before``."""
    if before != state_of(path):
        raise DataError(f"{path.name} changed while it was being read.", "Read it again.")


def state_of(path: Path) -> tuple[int, int] | None:
    """Return a file's size and the time of its last change; None if the system does not say it."""
    with suppress(OSError):  # said by whoever reads it
        now = path.stat()
        return now.st_size, now.st_mtime_ns
    return None


def _content(data: bytes | str | os.PathLike, name: str | None) -> tuple[bytes, str]:
    if isinstance(data, (bytes, bytearray, memoryview)):
        content, name = bytes(data), name or "The file"
    else:
        where, name = name or data, name or Path(data).name  # a server's page does not show its paths
        try:
            with open(data, "rb") as file:
                large = os.fstat(file.fileno()).st_size > UPLOAD_LIMIT  # known without reading a gigabyte
                content = b"" if large else file.read(UPLOAD_LIMIT + 1)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise DataError(
                f"{where} cannot be opened ({reason}).", "Check the path and the file name."
            ) from None
        if large:
            raise too_large(name, UPLOAD_LIMIT)
    return _bounded(content, name, UPLOAD_LIMIT), name


def _bounded(content: bytes, name: str, most: int) -> bytes:
    if len(content) > most:
        raise too_large(name, most)
    return content


def _unpack(content: bytes, name: str) -> tuple[str, bytes]:
    """Return (extension without .gz, content after gzip)."""
    endings = Path(name).name.lower().split(".")[1:]
    packed = content.startswith(b"\x1f\x8b")
    if endings[-1:] == ["gz"]:
        endings.pop()
        if content and not packed:
            raise DataError(
                f"{name} ends in .gz but is not gzip.",
                "Remove the extension .gz, or compress the file again.",
            )
    if packed:
        try:
            with gzip.open(io.BytesIO(content)) as file:
                most = most_unpacked(len(content))
                content = _bounded(file.read(most + 1), name, most)
        except (OSError, EOFError, zlib.error) as error:
            remedy = "Compress or download the file again."
            raise DataError(f"{name} is a damaged gzip file ({error}).", remedy) from None
        if content.startswith(b"\x1f\x8b"):
            raise DataError(f"{name} is compressed twice.", "Decompress it once and read it again.")
    return endings[-1].strip() if endings else "", content


def _recognise(content: bytes) -> str | None:
    """Return the binary format that the first bytes identify, or None for possible text."""
    for signature, found in SIGNATURES:
        if content.startswith(signature):
            return NPZ if found == EXCEL and is_npz(content) else found
    return "a tar archive" if content[257:262] == b"ustar" else None


@dataclass(frozen=True, eq=False)
class TableFile:
    """File in memory or on disk, from which tables are read with different options; the last table is cached.

    A stranger's file is ``confined``: it is read by ``read_confined``.
    """

    name: str
    content: bytes | Path
    confined: bool = False
    _last: dict[Any, pd.DataFrame] = field(default_factory=dict, repr=False)

    def read(
        self, sheet: str | None = None, header: int | None = None, watch: Watch | None = None
    ) -> pd.DataFrame:
        """Read a table; parameters and errors are those of ``read_table``."""
        if (sheet, header) not in self._last:
            read = read_confined if self.confined else read_table
            frame = read(self.content, self.name, sheet, header, watch=watch)
            self._last.clear()
            self._last[sheet, header] = frame
        return self._last[sheet, header]


def _read(
    given: list[bytes],
    extension: str,
    found: str | None,
    name: str,
    sheet: str | None,
    header: int | None,
    fewest: int,
    watch: Watch,
) -> pd.DataFrame:
    """Read the content in ``given``, which is taken out of the list so that it can be freed."""
    expected, encoding = EXTENSIONS.get(extension), None
    content = given.pop()
    if found is None:
        check_memory(len(content))
        content, encoding = as_utf8(content, name)
        found = _text_format(content, expected, name)
    if expected is not None and expected != found:
        raise DataError(
            f"{name} ends in .{extension}, but contains {found} instead of {expected}.",
            f"Give the file the matching extension, or save the table again as {FORMATS_READ}.",
        )
    if found == PARQUET:
        return read_parquet(content, name, watch)
    if found == NPZ:
        return read_npz(content, name)
    if found == EXCEL:
        return read_excel(content, name, sheet, header, watch)
    given, content = [content], b""
    if found == TEXT:
        frame = read_delimited(given.pop(), header, fewest, watch)
    else:
        check_memory(_as_text_takes(given[0]))
        frame = (read_arff if found == ARFF else read_json)(str(given.pop(), "utf-8"), watch)
    if encoding is not None:
        note = f"The text is not in Unicode, so it was read as {encoding}."
        note_reading(frame, notes=(note, *reading_of(frame).notes))
    return frame


def _as_text_takes(content: bytes) -> int:
    """Return the most bytes of memory that a Python text of UTF-8 takes: a wide character makes all others wide."""
    if content.isascii():
        return len(content)
    return len(content) * (4 if np.frombuffer(content, np.uint8).max() >= 0xF0 else 2)


def as_utf8(content: bytes, name: str) -> tuple[bytes, str | None]:
    """Return (text in UTF-8 with "\\n" between lines, the encoding if it is not Unicode)."""
    encoding = next(
        (encoding for mark, encoding in BOMS if content.startswith(mark)), None
    ) or _unmarked_utf16(content)
    fallback = None
    try:
        if encoding in (None, "utf-8-sig"):
            _check_utf8(content)
        else:
            content = content.decode(encoding).encode()
    except UnicodeDecodeError:
        if encoding is not None:
            raise DataError(
                f"{name} contains damaged {encoding.upper()} text.", "Save the file again as UTF-8."
            ) from None
        content, fallback = _western(content)
    start = content[: 1 << 20]
    controls = len(start) - len(start.translate(None, CONTROL_BYTES))
    if b"\x00" in content or controls > CONTROL_SHARE * len(start):
        raise DataError(f"{name} is not a table: its content is binary.", SAVE_AS)
    if b"\r" in content:  # a search takes a tenth of the time of replacing
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    while content.startswith(codecs.BOM_UTF8):
        content = content.removeprefix(codecs.BOM_UTF8)
    ends = content[-64:].rstrip(b"\n").endswith(b"\x1a")  # most texts need no copy
    return content.rstrip(b"\n\x1a") if ends else content, fallback


def _check_utf8(content: bytes) -> None:
    """Raise UnicodeDecodeError if bytes are not UTF-8, without a copy of them all as text."""
    if not content.isascii():
        decoder = codecs.getincrementaldecoder("utf-8")()
        for at in range(0, len(content), DECODED_AT_ONCE):
            decoder.decode(content[at : at + DECODED_AT_ONCE])
        decoder.decode(b"", final=True)


def _unmarked_utf16(content: bytes) -> str | None:
    """Detect UTF-16 without a byte order mark, which in Western text has a zero in every other byte."""
    head = np.frombuffer(content[:4096], dtype=np.uint8)
    if len(content) % 2 or len(head) < 4:
        return None
    even, odd = (float((head[start::2] == 0).mean()) for start in (0, 1))
    if max(even, odd) < 0.4 or min(even, odd) > 0.1:
        return None
    return "utf-16-be" if even > odd else "utf-16-le"


def _western(content: bytes) -> tuple[bytes, str]:
    try:
        return content.decode("cp1252").encode(), "Windows-1252"
    except UnicodeDecodeError:
        return content.decode("latin-1").encode(), "Latin-1"


def _text_format(text: bytes, expected: str | None, name: str) -> str:
    start = text[:100_000].decode(errors="ignore").lstrip()
    if re.match(r"(?i)<(!doctype|html|head|body|table|\?xml|svg)", start):
        raise DataError(
            f"{name} is a web page or XML, not a table. You may have saved the web page instead of the file.",
            f"Download the file itself, as {FORMATS_READ}.",
        )
    lines = (line.strip().lower() for line in start.split("\n"))
    if next((line for line in lines if line and not line.startswith("%")), "").startswith("@relation"):
        return ARFF
    return JSON if expected == JSON or re.match(r'\[\s*[\[{\]]|\{\s*["}]', start) else TEXT

"""Limits above which a file is refused, and the errors that refuse it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from calib.data.errors import DataError, TooLargeError
from calib.kernel.memory import free, is_bounded
from calib.kernel.progress import Watch

FEWER = "Upload a sample of the rows, or fewer columns."
LATER = "You can also try again when other users have finished."

# Bytes of an unpacked file; server.maxUploadSize and deploy/Caddyfile follow it
UPLOAD_LIMIT = 1_000_000_000
# A compressed file may expand to this many bytes, or this many times its size: no table compresses better
ALWAYS, MOST_EXPANSION = 64_000_000, 50
# Memory for reading, besides the file itself: for the libraries, per byte of a text and per cell
SPARE = 500_000_000
PER_BYTE, PER_CELL, PER_OBJECT = 3, 10, 100  # a cell of a query is a Python object
SECONDS_PER_LOOK = 0.3  # seconds between looks at Cancel
LARGE_FILE = 50_000_000  # bytes; files above this size are read one after the other
MOST_TABLE_COLUMNS = 5_000
# A process that reads one file may take SPARE, and this many bytes per byte of a text (or per byte of ALWAYS, if that
# is more), or per byte that a packed file may expand to
PER_TEXT, PER_UNPACKED = 10, 4
LEAST_SECONDS, BYTES_PER_SECOND = 20, 1_000_000  # seconds of processor time, and bytes of a file for one more
PACKED = (b"\x1f\x8b", b"PK", b"PAR1", b"\xd0\xcf\x11\xe0")  # first bytes of gzip, ZIP, Parquet and .xls
MODEL_LIMIT = 1 << 28  # bytes of an ONNX file


def most_unpacked(packed: int) -> int:
    """Return the number of bytes to which a compressed file may expand; a file that exceeds it may be a zip bomb.

    >>> most_unpacked(1_000), most_unpacked(1_000_000_000)
    (64000000, 1000000000)
    """
    return min(UPLOAD_LIMIT, max(ALWAYS, MOST_EXPANSION * packed))


class Bounds(NamedTuple):
    """Limits of a process that reads one file.

    Attributes
    ----------
    memory
        Bytes, besides the libraries; the result is not larger, either.
    seconds
        Processor time.
    """

    memory: int
    seconds: int


def bounds(content: bytes) -> Bounds:
    """Return the limits for a file; a large one may take all memory that is free, as only one is read at a time.

    >>> bounds(b"a,b\\n1,2").seconds
    20
    """
    size = len(content)
    packed = content.startswith(PACKED)
    most = PER_UNPACKED * most_unpacked(size) if packed else max(PER_UNPACKED * ALWAYS, PER_TEXT * size)
    left = min(free(), 1 << 60)
    return Bounds(
        int(left if size > LARGE_FILE else min(SPARE + most, left)), LEAST_SECONDS + size // BYTES_PER_SECOND
    )


def format_bytes(size: float) -> str:
    """Write a number of bytes.

    >>> format_bytes(64_000_000), format_bytes(1_000_000_000), format_bytes(2_345_000_000)
    ('64 MB', '1 GB', '2.3 GB')
    """
    return f"{size / 1e6:,.0f} MB" if size < 999_500_000 else f"{size / 1e9:.1f} GB".replace(".0 ", " ")


def too_large(name: str, most: int) -> DataError:
    """Return the error for a file that expands to more than ``most`` bytes."""
    return TooLargeError(f"{name} expands to more than {format_bytes(most)}, which is the limit.", FEWER)


class _Turn:
    """The lock that one large file at a time is read under, and the memory that it may take."""

    def __init__(self) -> None:
        self.alone, self.taken, self.needed = threading.RLock(), False, 0.0


_TURN = _Turn()


@contextmanager
def in_turn(size: int, watch: Watch | None = None) -> Iterator[None]:
    """Read large files one after the other, so that each knows how much memory is free; waiting can be cancelled."""
    if size <= LARGE_FILE:
        yield
        return
    watch = watch or Watch()
    while not _TURN.alone.acquire(timeout=SECONDS_PER_LOOK):
        watch.step(0.0, "waiting until another large file has been read")
    try:
        _TURN.taken = True
        try:
            yield
        finally:
            _TURN.taken, _TURN.needed = False, 0.0
    finally:
        _TURN.alone.release()


def promised() -> float:
    """Return the memory, in bytes, that the large file being read may take."""
    return _TURN.needed


def check_memory(needed: float) -> None:
    """Refuse a table that needs more memory than is free.

    Raises
    ------
    TooLargeError
        If fewer bytes than ``needed`` and ``SPARE`` are free.
    """
    if needed > LARGE_FILE and (left := free() - SPARE) < needed:
        allowed = "allowed for a file of its size" if is_bounded() else "free now"
        raise TooLargeError(
            f"Reading the table needs {format_bytes(needed)} of memory, but only "
            f"{format_bytes(max(left, 0))} are "
            f"{allowed}.",
            FEWER if is_bounded() else f"{FEWER} {LATER}",
        )
    if _TURN.taken:
        _TURN.needed = max(_TURN.needed, needed)


def check_columns(count: int) -> None:
    """Refuse more than ``MOST_TABLE_COLUMNS`` columns."""
    if count > MOST_TABLE_COLUMNS:
        raise DataError(
            f"The table has {count:,} columns, which is too many.",
            f"Keep at most {MOST_TABLE_COLUMNS:,} columns.",
        )


def check_names(names: Sequence[str]) -> None:
    """Refuse duplicate column names, and too many columns."""
    check_columns(len(names))
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if name in seen:
            raise DataError(
                f"Columns {seen[name]} and {position} are both called {name!r}.",
                "Rename one of these columns in the header and read the file again.",
            )
        seen[name] = position

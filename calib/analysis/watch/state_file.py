"""History of watched rows in a file that one process at a time changes, and that a crash or a full disk leaves whole.

The file is one line (mark, version, SHA-256 of the rest) and a Parquet table of the rows; the schema of the table
holds the settings as JSON. A new state is written beside the file, flushed to the disk and renamed over it; the state
before remains as ``FILE.previous``. A lock, which the system frees when its process dies, is held from reading to
writing.
"""

from __future__ import annotations

import glob
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from calib.analysis.watch.history import History
from calib.analysis.watch.watcher import moment_in_words
from calib.kernel.checks import InputError
from calib.kernel.fields import parse
from calib.kernel.wording import counted

STATE_VERSION = 3
FILE_MARK = b"calib.watch"
EARLIER = b'{"what": "calibration watch"'  # versions 1 and 2 were JSON
LONGEST_WAIT = 300.0  # seconds to wait for another process
METADATA_KEY = b"watch"  # key in the metadata of the schema
TIME_TYPES = {"date": pa.int64(), "number": pa.float64(), "row": pa.int64()}


def to_bytes(history: History) -> bytes:
    """Return the history as the content of a state file.

    >>> again = of_bytes(to_bytes(History(alpha=0.01)))
    >>> again.alpha, len(again.rows)
    (0.01, 0)
    """
    kind = history.kind or "row"
    settings = {name: getattr(history, name) for name in ("alpha", "horizon", "key", "kind", "before", "now")}
    settings["start"] = None if history.start is None else repr(history.start)  # JSON would round nanoseconds
    schema = pa.schema(
        [
            ("p", pa.float64()),
            ("y", pa.float64()),
            ("when", TIME_TYPES[kind]),
            ("piece", pa.int64()),
            ("out", pa.bool_()),
            ("key", pa.string()),
        ],
        metadata={METADATA_KEY: json.dumps(settings, allow_nan=False).encode()},
    )
    columns = [pa.array(history.rows[each.name].to_numpy(), each.type, from_pandas=True) for each in schema]
    content = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, schema=schema), content, compression="zstd")
    body = content.getvalue()
    return b"%s %d %s\n" % (FILE_MARK, STATE_VERSION, hashlib.sha256(body).hexdigest().encode()) + body


def of_bytes(content: bytes) -> History:
    """Return the history of a state file.

    Raises
    ------
    InputError
        If the content is not what ``to_bytes`` wrote: of another version, cut, changed or made up.
    """
    head, _, body = content.partition(b"\n")
    mark, _, rest = head.partition(b" ")
    if content.startswith(EARLIER):
        raise InputError("was written by an earlier version of this program, which did not keep the rows")
    version, _, digest = rest.partition(b" ")
    if mark == FILE_MARK and version.isdigit() and len(version) < 9 and int(version) != STATE_VERSION:
        raise InputError(f"has version {int(version)}, but this program reads version {STATE_VERSION}")
    if (
        mark != FILE_MARK
        or version != str(STATE_VERSION).encode()
        or digest != hashlib.sha256(body).hexdigest().encode()
    ):
        raise InputError("is damaged, or was not written by watch (its checksum is wrong)")
    try:
        return _of_table(pq.read_table(io.BytesIO(body)))
    except (
        pa.ArrowException,
        ValueError,
        TypeError,
        KeyError,
        OverflowError,
        RecursionError,
        OSError,
    ) as error:
        reason = str(error) if isinstance(error, InputError) else type(error).__name__
        raise InputError(f"was not written by watch ({reason})") from None


def _of_table(table: pa.Table) -> History:
    fields = parse((table.schema.metadata or {})[METADATA_KEY], "The settings")
    kind = fields.choice("kind", (*TIME_TYPES, None))
    rows = pd.DataFrame({name: table[name].to_pandas() for name in ("p", "y", "when", "piece", "out", "key")})
    _check(rows, kind)
    key = fields.text("key") if fields.gives("key") else None
    if key is not None and (rows["key"].isna().any() or rows["key"].duplicated().any()):
        raise InputError("keys are missing or not unique")
    history = History(
        fields.number("alpha"),
        fields.count("horizon"),
        key,
        kind,
        rows.astype({"key": object}),
        _start(fields.text("start"), kind) if fields.gives("start") else None,
        fields.choice("before", (False, True)),
        fields.choice("now", (False, True)),
    )
    fields.check_nothing_else()
    return history


def _start(text: str, kind: str | None) -> float:
    start = float(text) if kind == "number" else int(text)
    if not -(2**63) <= start < 2**63:
        raise InputError("the start is out of range")
    return start


def _check(rows: pd.DataFrame, kind: str | None) -> None:
    """Refuse values that a history never holds."""
    whole = {"when": np.float64 if kind == "number" else np.int64, "p": np.float64, "y": np.float64}
    for name, dtype in {**whole, "piece": np.int64, "out": np.bool_}.items():
        if rows[name].dtype != dtype:
            raise InputError(f"column {name} has the type {rows[name].dtype}, not {np.dtype(dtype)}")
    p, y, when = (rows[name].to_numpy() for name in ("p", "y", "when"))
    numbers = (p >= 0) & (p <= 1) & (np.isnan(y) | (y == 0) | (y == 1)) & np.isfinite(when)
    pieces = np.diff(
        rows["piece"].to_numpy(), prepend=0
    )  # tables are numbered from 0 on, in the order of reading
    if kind is None and len(rows):
        raise InputError("the type of the times is missing")
    ordered = kind in ("date", "number") or bool((when == np.arange(len(rows))).all())
    if not numbers.all() or not np.isin(pieces, (0, 1)).all() or not ordered:
        raise InputError("values are out of range")


def load(path: Path) -> History | None:
    """Return the history in a file, or None if there is no file.

    Raises
    ------
    InputError
        If the file is damaged or from another program, with the way out: the state before, if it is whole.
    """
    if not path.exists():
        return None
    try:
        return of_bytes(_content(path))
    except InputError as error:
        raise InputError(f"{path} {error}. {_way_out(path)}") from None


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}") from None


def previous(path: Path) -> Path:
    """Return the name of the file that keeps the state before the last change."""
    return path.with_name(f"{path.name}.previous")


def _way_out(path: Path) -> str:
    try:
        kept = of_bytes(_content(previous(path)))
    except InputError:
        return "Start again with a new file and all rows."
    last = f", up to {moment_in_words(kept.rows['when'].max(), kept.kind)}" if len(kept.rows) else ""
    return (
        f"The previous state file is complete ({counted(len(kept.rows), 'row')}{last}): copy {previous(path).name} to "
        f"{path.name}, then supply the last table again."
    )


def save(path: Path, history: History) -> None:
    """Replace the file; whatever happens, the old or the new state is whole.

    Raises
    ------
    InputError
        If the file cannot be written, as on a full disk; the old state is then unchanged.
    """
    try:
        _replace(path, to_bytes(history))
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}. The state is unchanged. Fix the cause, then run "
            "the same command again."
        ) from None


def _replace(path: Path, content: bytes) -> None:
    for left in path.parent.glob(
        f".{glob.escape(path.name)}.*.new"
    ):  # by a process that was killed, because this one has the lock
        left.unlink()
    handle, fresh = tempfile.mkstemp(".new", f".{path.name}.", path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            os.chmod(fresh, path.stat().st_mode & 0o777)
            _keep(path, Path(f"{fresh}.new"))
        os.replace(fresh, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(fresh)
        raise
    _flush_names(path.parent)


def _keep(path: Path, other: Path) -> None:
    """Keep the present file under the name of the state before; the file itself stays in place."""
    try:
        os.link(path, other)
    except OSError:  # a file system without links
        other.write_bytes(path.read_bytes())
    os.replace(other, previous(path))
    other.unlink(
        missing_ok=True
    )  # two names of one file are not renamed, as after a kill between the renames


def _flush_names(folder: Path) -> None:
    """Flush the renamed names to the disk, if the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def locked(path: Path, wait: float = LONGEST_WAIT) -> Iterator[None]:
    """Keep other processes from the state until the block ends; the system frees the lock if this process dies.

    Raises
    ------
    InputError
        If another process holds the lock for longer than ``wait`` seconds, or the lock cannot be written.
    """
    lock = FileLock(f"{path}.lock", timeout=wait, preserve_lock_file=True)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(
            f"Another process has been using {path} for {wait:g} seconds. "
            "Run the same command again when that process has ended."
        ) from None
    except (OSError, NotImplementedError) as error:
        raise InputError(
            f"{path}.lock cannot be locked ({getattr(error, 'strerror', None) or error}). Choose a --state in a folder "
            "that can be written and locked."
        ) from None
    try:
        yield
    finally:
        lock.release()

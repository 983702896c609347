"""Read a stranger's file in a process that can be ended: it has limits of memory, time and output.

On Linux, this process has no file system, no network and no other program either (``seccomp``).
"""

from __future__ import annotations

import atexit
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pandas as pd
import pyarrow as pa

from calib.data import errors
from calib.data.confined import seccomp
from calib.data.confined.wire import LENGTH_BYTES, send_json, send_part, send_table, take_json, take_table
from calib.data.errors import DataError, TooLargeError
from calib.data.limits import Bounds, format_bytes
from calib.kernel.progress import Watch
from calib.kernel.wording import split_words

# Whether calls run in a process of their own (Linux, macOS); not in such a process
AVAILABLE = hasattr(os, "fork") and hasattr(socket, "send_fds")
SECONDS_BETWEEN_LOOKS = 0.1  # seconds between looks at Cancel
SECONDS_TO_START = 120.0  # seconds within which the first process starts
WALL = 6  # times the processor time that a call may last, because others use the processors too
SMALLER = (
    "Delete cells outside the table, keep fewer rows or columns, or save the table as CSV; then upload that "
    "file."
)
SAVE_AGAIN = "Save the table as CSV, and upload that file."
LOG = logging.getLogger(__name__)
SECONDS_TO_END = 5.0  # seconds within which the end of a process is told
READY = b"."  # what the waiting process says when it has loaded its modules
NO_MEMORY = 2  # exit status of a process whose memory has ended
KEPT_VARIABLES = split_words("PATH LD_LIBRARY_PATH SYSTEMROOT TZ LANG LC_ALL")  # others may hold passwords
# One thread, because a process with several cannot be forked safely
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
WORKING_DIRECTORY = "/"  # its working directory
COMMAND = [sys.executable, "-P", "-m", "calib.data.confined.process"]


def can_confine() -> bool:
    """Tell whether the process is without files and network, too (Linux on x86-64 and ARM64)."""
    return AVAILABLE and seccomp.known()


def run(
    function: Callable[..., Any],
    contents: Sequence[bytes],
    tables: Sequence[pd.DataFrame] = (),
    options: Mapping[str, Any] = {},  # never mutated
    *,
    name: str,
    bounds: Bounds,
    watch: Watch | None = None,
) -> Any:
    """Return ``function(*contents, *tables, **options)``, computed in a process of its own if there can be one.

    Parameters
    ----------
    function
        Function of a module. If it has a parameter ``watch``, its progress is reported.
    contents, tables
        Bytes of files, and typed tables.
    options
        Further arguments, which can be written as JSON.
    name
        Name of the file, for messages.
    bounds
        Limits of memory and processor time; the result is not larger than the memory.
    watch
        Progress; Cancel ends the process.

    Returns
    -------
    object
        A typed table, or what can be written as JSON.

    Raises
    ------
    DataError
        As the function raises it, and if it breaks.
    TooLargeError
        If the process exceeds a limit.
    Cancelled
        If it was cancelled.
    """
    if not AVAILABLE:
        return function(*contents, *tables, **options)
    watch = watch or Watch()
    watch.step(0.0, "")
    with _Call(name, bounds, watch) as call:
        return call.answer(function, contents, tables, options)


class _Call:
    """One call: the process is ended when the sockets close."""

    def __init__(self, name: str, bounds: Bounds, watch: Watch) -> None:
        self.name, self.bounds, self.watch = name, bounds, watch
        self.share, self.doing, self.taken = 0.0, "", 0
        self.until = time.monotonic() + SECONDS_TO_START
        self.data, self.end = begin(bounds.memory)
        self.data.settimeout(SECONDS_BETWEEN_LOOKS)
        self.end.settimeout(SECONDS_TO_END)

    def __enter__(self) -> _Call:
        return self

    def __exit__(self, *_: Any) -> None:
        self.end.close()
        self.data.close()

    def answer(
        self,
        function: Callable[..., Any],
        contents: Sequence[bytes],
        tables: Sequence[pd.DataFrame],
        options: Mapping[str, Any],
    ) -> Any:
        what = {
            "function": [function.__module__, function.__name__],
            **{"contents": len(contents), "tables": len(tables), "options": options},
            **self.bounds._asdict(),
        }
        self._begin()
        try:
            send_json(self.send, what)
            for content in contents:
                send_part(self.send, content)
            for table in tables:
                send_table(self.send, table)
            return self._answered()
        except DataError:
            raise
        except (ConnectionError, EOFError):
            raise self._why_ended() from None
        except (pa.ArrowException, LookupError, ValueError, TypeError):  # no such table
            raise _broken(self.name) from None

    def _begin(self) -> None:
        """Wait until the process says that it is there."""
        try:
            take_json(self.take)
        except (ConnectionError, EOFError):
            raise RuntimeError("the process that reads files did not start") from None
        self.until = time.monotonic() + WALL * self.bounds.seconds

    def _answered(self) -> Any:
        while True:
            said = take_json(self.take)
            if "found" in said:
                return said["found"]
            if "table" in said:
                return take_table(self.take)
            if "refused" in said:
                raise getattr(errors, said["refused"], DataError)(*said["said"])
            if "failed" in said:
                LOG.error("a reader failed: %s", said["failed"])
                raise _broken(self.name)
            self.share, self.doing = float(said["share"]), str(said["doing"])

    def send(self, part: Any) -> None:
        view = memoryview(part)
        while view:
            try:
                view = view[self.data.send(view) :]
            except TimeoutError:
                self._look()

    def take(self, size: int) -> bytearray:
        """Return exactly so many bytes. Raises EOFError if the process has ended."""
        self.taken += size
        if self.taken > self.bounds.memory:
            raise _beyond(self.name, self.bounds)
        taken = bytearray(size)
        view = memoryview(taken)
        while view:
            try:
                got = self.data.recv_into(view)
            except TimeoutError:
                self._look()
                continue
            if not got:
                raise EOFError
            view = view[got:]
        return taken

    def _look(self) -> None:
        self.watch.step(self.share, self.doing)
        if time.monotonic() > self.until:
            raise _beyond(self.name, self.bounds)

    def _why_ended(self) -> Exception:
        """Return the error for a process that has ended by itself."""
        status = 0
        with suppress(OSError):
            status = int.from_bytes(self.end.recv(4), "little", signed=True)
        if status < 0 or status == NO_MEMORY:
            return _beyond(self.name, self.bounds)
        LOG.error("a reader ended with status %d", status)
        return _broken(self.name)


def _beyond(name: str, bounds: Bounds) -> TooLargeError:
    return TooLargeError(
        f"Reading {name} takes more than {format_bytes(bounds.memory)} of memory or {bounds.seconds:,} seconds of "
        "processor time, which are the limits for a file of its size.",
        SMALLER,
    )


def _broken(name: str) -> DataError:
    return DataError(f"{name} cannot be read, because its content crashes the reader.", SAVE_AGAIN)


class _Waiting:
    """The process that waits for calls, started with the first call or by ``warm``."""

    def __init__(self) -> None:
        self.lock, self.control = threading.Lock(), socket.socket()
        self.modules: tuple[str, ...] = ()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process unless it runs."""
        if self.process is not None and self.process.poll() is None:
            return
        self.control.close()
        self.control, there = socket.socketpair()
        path = os.pathsep.join(os.path.abspath(place) for place in sys.path)
        given = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        with there:
            self.process = subprocess.Popen(
                [*COMMAND, *self.modules],
                stdin=there.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=WORKING_DIRECTORY,
                env={**given, **ONE_THREAD, "PYTHONPATH": path},
            )

    def begin(self, memory: int, *sockets: socket.socket) -> None:
        """Hand over the memory and the sockets of a call."""
        with self.lock:
            self.start()
            socket.send_fds(
                self.control, [memory.to_bytes(LENGTH_BYTES, "little")], [each.fileno() for each in sockets]
            )

    def is_ready(self, modules: Sequence[str]) -> bool:
        """Tell whether the process has loaded these modules; it says so once, which stays to be read."""
        if not set(modules) <= set(self.modules):
            return False
        with suppress(OSError):
            return self.control.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == READY
        return False

    def warm(self, modules: Sequence[str]) -> None:
        with self.lock:
            self.modules = tuple(modules)
            self.start()

    def stop(self) -> None:
        """End the process and all calls."""
        with self.lock:
            self.control.close()
            if self.process is not None:
                self.process.wait()
                self.process = None


_WAITING = _Waiting()
atexit.register(_WAITING.stop)


def begin(memory: int) -> tuple[socket.socket, socket.socket]:
    """Begin a call, and return the sockets of its data and of its end; the process ends when they close."""
    data, theirs = socket.socketpair()
    end, their_end = socket.socketpair()
    with theirs, their_end:
        _WAITING.begin(memory, theirs, their_end)
    return data, end


def is_ready(modules: Sequence[str]) -> bool:
    """Tell whether the waiting process has loaded these modules, so that a call begins at once."""
    return AVAILABLE and _WAITING.is_ready(modules)


def warm(*modules: str) -> None:
    """Start the waiting process, which takes seconds to load what readers of tables, and these modules, need."""
    if AVAILABLE:
        _WAITING.warm(modules)

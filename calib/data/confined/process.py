"""Answer calls in processes that may take little memory and time, and nothing else: no file, no network, no program.

One process has loaded what readers need, and the modules that its command names, and waits (``python -m
calib.data.confined.process MODULE …``). For each call it forks a process, which serves this call alone and ends. The
waiting process ends one whose caller has hung up. A module's function ``load`` imports what it would import later.
"""

from __future__ import annotations

import gc
import importlib
import inspect
import os
import selectors
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import ModuleType
from typing import Any

import pandas as pd
import pyarrow as pa

from calib.data import confined
from calib.data.confined import apart, seccomp
from calib.data.confined.wire import (
    LENGTH_BYTES,
    Reports,
    Send,
    Take,
    send_json,
    send_table,
    take_from,
    take_json,
    take_part,
    take_table,
)
from calib.data.errors import DataError
from calib.kernel import memory
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.kernel.wording import split_words

# What readers import when they first need it, which a confined process cannot. words: right, names of modules
IMPORTED_BY_READERS = split_words("""
    pyarrow.csv pyarrow.json pyarrow.parquet pyarrow.acero python_calamine numpy.lib.format
    encodings.utf_8_sig encodings.utf_16 encodings.utf_16_le encodings.utf_16_be encodings.utf_32
    encodings.cp1252 encodings.latin_1 encodings.cp437 encodings.idna zipfile gzip zoneinfo _strptime calendar
    calib.data.onnx_model calib.data.too_large calib.data.arff_table calib.data.json_table onnx onnxruntime
""")
# Seconds between looks at the memory of processes; libraries reserve much more than they take
SECONDS_BETWEEN_LOOKS_AT_MEMORY = 0.02
READER_NICENESS = 5  # pages come first


def main() -> None:
    """Serve the process at the other end of standard input until it ends."""
    confined.AVAILABLE = False
    control = socket.socket(fileno=0)
    for name in IMPORTED_BY_READERS:
        with suppress(ImportError):  # onnx is optional
            importlib.import_module(name)
    for name in sys.argv[1:]:
        _loaded(name)
    pa.enable_signal_handlers(False)  # for which reading would make pipes
    gc.freeze()  # so that children share these pages
    control.sendall(confined.READY)
    _WaitingProcess(control).serve()


class _WaitingProcess:
    """The process that waits for calls; ``calls`` are those that are served: process → (its caller, most memory)."""

    def __init__(self, control: socket.socket) -> None:
        self.control, self.calls = control, dict[int, tuple[socket.socket, int]]()
        self.events = selectors.DefaultSelector()
        self.ended, self.wake = socket.socketpair()
        self.ended.setblocking(False)
        self.wake.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.wake.fileno(), warn_on_full_buffer=False)
        self.events.register(self.control, selectors.EVENT_READ, self.begin)
        self.events.register(self.ended, selectors.EVENT_READ, self.reap)

    def serve(self) -> None:
        while True:
            limited = any(most < apart.NO_LIMIT for _, most in self.calls.values())
            for key, _ in self.events.select(SECONDS_BETWEEN_LOOKS_AT_MEMORY if limited else None):
                key.data()
            for pid, (_, most) in self.calls.items():
                if _resident(pid) > most:
                    os.kill(pid, signal.SIGKILL)

    def begin(self) -> None:
        """Fork a process for a call, which arrives as its memory, and two sockets: for its data, and for its end."""
        message, (*sockets,), _, _ = socket.recv_fds(self.control, LENGTH_BYTES, 2)
        if not message:
            for pid in self.calls:
                os.kill(pid, signal.SIGKILL)
            os._exit(0)
        data, end = (socket.socket(fileno=number) for number in sockets)
        pid = os.fork()
        if not pid:
            _serve_and_exit(data)
        data.close()
        most = int.from_bytes(message, "little")
        self.calls[pid] = end, most if most == apart.NO_LIMIT else most + _resident(os.getpid())
        self.events.register(end, selectors.EVENT_READ, partial(self.kill, pid))

    def kill(self, pid: int) -> None:
        """End a process whose caller has hung up."""
        if pid in self.calls:  # else it has ended meanwhile
            self.events.unregister(self.calls[pid][0])
            os.kill(pid, signal.SIGKILL)

    def reap(self) -> None:
        """Tell the callers of the processes that have ended how they ended."""
        with suppress(BlockingIOError):
            self.ended.recv(1 << 12)
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = found
                end, _ = self.calls.pop(pid)
                with suppress(KeyError):  # as its caller has hung up
                    self.events.unregister(end)
                with suppress(OSError), end:
                    end.send(os.waitstatus_to_exitcode(status).to_bytes(4, "little", signed=True))


def _resident(pid: int) -> int:
    """Return the bytes that a process takes; 0 if it has ended, or the system (other than Linux) does not say it."""
    with suppress(OSError), open(f"/proc/{pid}/statm", "rb") as file:
        return memory.resident(file.read())
    return 0


def _serve_and_exit(data: socket.socket) -> None:
    """Serve one call in a process of its own, and end it."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(data.fileno(), 0)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")  # if memory ends, this process is ended and not the server
        _serve(socket.socket(fileno=0))
    finally:
        os._exit(1)


def _serve(data: socket.socket) -> None:
    send, take = data.sendall, partial(take_from, data)
    send_json(send, os.getpid())
    call = take_json(take)
    if call == "trusted":
        apart.serve(data)
        os._exit(0)
    module, name = call["function"]
    function = getattr(_loaded(module), name)
    _limit(call["memory"], call["seconds"])
    try:
        _answer(send, take, function, call)
    except InputError as error:
        said = [error.message, error.remedy] if isinstance(error, DataError) else [str(error)]
        send_json(send, {"refused": type(error).__name__, "said": said})
    except MemoryError:
        os._exit(confined.NO_MEMORY)
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        send_json(send, {"failed": f"{type(error).__name__} at {place.filename}:{place.lineno}"})
    os._exit(0)


def _loaded(name: str) -> ModuleType:
    """Return a module that needs no further imports, which its limits would forbid."""
    module = importlib.import_module(name)
    getattr(module, "load", lambda: None)()
    return module


def _limit(most_memory: int, seconds: int) -> None:
    """Let this process take no more time than this, and touch nothing; ``_WaitingProcess`` limits its memory."""
    import resource  # not on every system

    os.nice(READER_NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    memory.bound(most_memory)
    if seccomp.known():
        seccomp.confine()


def _answer(send: Send, take: Take, function: Callable[..., Any], call: dict[str, Any]) -> None:
    given: list[Any] = [bytes(take_part(take)) for _ in range(call["contents"])]
    given += [take_table(take) for _ in range(call["tables"])]
    options = dict(call["options"])
    if "watch" in inspect.signature(function).parameters:
        options["watch"] = Watch(Reports(send))
    found = function(*given, **options)
    del given
    if isinstance(found, pd.DataFrame):
        send_json(send, {"table": len(found)})
        send_table(send, found)
    else:
        send_json(send, {"found": found})


if __name__ == "__main__":
    main()

"""Calls that a stranger would make in a confined process: each returns what the system said to it."""

import ctypes
import os
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calib.kernel.checks import InputError


def _said(attempt: Callable[[], Any]) -> str:
    try:
        return f"done: {attempt()}"
    except OSError as error:
        return type(error).__name__


def read(content: bytes) -> str:
    return _said(lambda: Path(content.decode()).read_bytes())


def write(content: bytes) -> str:
    return _said(lambda: Path(content.decode()).write_bytes(b"x"))


def listed(content: bytes) -> str:
    return _said(lambda: os.listdir(content.decode()))


def removed(content: bytes) -> str:
    return _said(lambda: os.unlink(content.decode()))


def connected(content: bytes) -> str:
    return _said(lambda: socket.create_connection(("127.0.0.1", int(content)), 5))


def local_socket(content: bytes) -> str:
    return _said(lambda: socket.socket(socket.AF_UNIX).connect(content.decode()))


def program(content: bytes) -> str:
    return _said(lambda: subprocess.run(["/bin/true"]))


def forked(content: bytes) -> str:
    return _said(os.fork)


def killed(content: bytes) -> str:
    return _said(lambda: os.kill(int(content), signal.SIGTERM))


def larger(content: bytes) -> str:
    import resource

    try:
        resource.setrlimit(resource.RLIMIT_CPU, (1_000, 1_000))
    except ValueError:  # as Python says it
        return "PermissionError"
    return "done"


ATTEMPTS = (read, write, listed, removed, connected, local_socket, program, forked, killed, larger)


def threads(content: bytes) -> int:
    """A library may still start threads."""
    done: list[int] = []
    few = [threading.Thread(target=done.append, args=(i,)) for i in range(4)]
    for each in few:
        each.start()
    for each in few:
        each.join()
    return len(done)


def memory(content: bytes) -> int:
    held = [np.ones(1 << 20) for _ in range(1_000)]  # 8 MB each
    return len(held)


def endless(content: bytes) -> None:
    while True:
        pass


def waits(content: bytes) -> None:
    threading.Event().wait()


def holds_the_interpreter(content: bytes) -> bool:
    return bool(re.match(r"(a+)+$", "a" * 60 + "b"))


def crashes(content: bytes) -> None:
    ctypes.string_at(0)


def much(content: bytes) -> pd.DataFrame:
    return pd.DataFrame({f"c{i}": np.zeros(1_000_000) for i in range(40)})


def lies(content: bytes) -> None:
    """Speaks to the caller by itself."""
    os.write(0, content)
    os._exit(0)


def fails(content: bytes) -> None:
    raise KeyError("a secret")


def unchecked(model: bytes, table: pd.DataFrame) -> str:
    """Start a model without looking at it."""
    from calib.data.onnx_model import _probability, _started

    try:
        found, _ = _probability(_started(model), {"x": table.to_numpy(np.float64)})
    except Exception as error:
        return type(error).__name__
    return str(found.tolist())


def doubled(numbers, watch):
    """Return the same object, and another."""
    watch.step(0.5, "doubling")
    return numbers, numbers * 2, os.getpid()


def refused(watch):
    raise InputError("No rows.")


def raised_unsendable(watch):
    class Local(Exception):
        pass

    raise Local("why")


class Making:
    """What makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def making(path, watch):
    """Return what would call a program when it is unpickled, and the process that made it."""
    return Making(path), os.getpid()


def in_danger(watch):
    """Return what Linux adds to the share of memory by which it chooses the process to end."""
    return int(Path("/proc/self/oom_score_adj").read_text())


def ended_from_outside(watch):
    os.kill(os.getpid(), signal.SIGKILL)


def counting(path, watch):
    """Write ever more into a file."""
    while True:
        watch.step(0.1, str(os.getpid()))
        with open(path, "a") as file:
            file.write("x")
        time.sleep(0.005)

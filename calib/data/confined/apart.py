"""Call a function of our own in another process, so that the threads of this one do not wait for Python's interpreter.

The process that waits for calls on strangers' files forks one for each call here, too. This one has no limits, and the
two trust each other: they exchange pickled objects. The arguments that a result holds come back as the same objects.
"""

from __future__ import annotations

import io
import os
import pickle
import select
import signal
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from functools import partial
from typing import Any

from calib.data import confined
from calib.data.confined.wire import Reports, send_json, send_part, take_from, take_json, take_part
from calib.kernel.progress import Watch

# What fits import, so that each process finds it loaded
MODULES = (
    "calib.evaluate.chain",
    "calib.models.probability_forest",
    "scipy.optimize",
    "scipy.sparse",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "sklearn.naive_bayes",
    "sklearn.tree",
)
NO_LIMIT = (1 << 63) - 1  # bytes of memory
NICENESS = 10  # pages come first
SECONDS_BETWEEN_LOOKS = 0.1  # seconds between looks at Cancel, and at work that goes first


def call(function: Callable[..., Any], *args: Any, watch: Watch) -> Any:
    """Return ``function(*args, watch)``, computed in a process of its own once the waiting process has loaded.

    While the watch holds its caller, the process stands still.

    Parameters
    ----------
    function
        Function of a module.
    args
        Its arguments; what cannot be pickled is computed here.
    watch
        Progress; Cancel ends the process.

    Raises
    ------
    BrokenExecutor
        If the process was ended from outside, for example because the machine has no memory left.
    Cancelled
        If it was cancelled.
    Exception
        As the function raises it.
    """
    if not confined.is_ready(MODULES):
        return function(*args, watch)
    try:
        asked = pickle.dumps((function, args), pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, TypeError, AttributeError):
        return function(*args, watch)
    data, end = confined.begin(NO_LIMIT)
    with data, end:
        try:
            said, found = _answer(data, asked, args, watch)
        except (ConnectionError, EOFError):
            raise BrokenExecutor("the process has ended") from None
    if said == "unknown":
        return function(*args, watch)
    if said == "raised":
        raise found
    return found


def _answer(data: socket.socket, asked: bytes, args: Sequence[Any], watch: Watch) -> tuple[str, Any]:
    """Return how the call ended, and its result or its error."""
    take = partial(take_from, data)
    process, step = take_json(take), (0.0, "")
    send_json(data.sendall, "trusted")
    send_part(data.sendall, asked)
    while True:
        while not select.select([data], [], [], SECONDS_BETWEEN_LOOKS)[0]:
            _look(process, watch, step)
        said = take_json(take)
        if isinstance(said, str):
            with data.makefile("rb") as file:
                return said, None if said == "unknown" else _Unpickler(file, args).load()
        step = said["share"], said["doing"]
        _look(process, watch, step)


def _look(process: int, watch: Watch, step: tuple[float, str]) -> None:
    """Report the progress; others may go first, and meanwhile the process stands still."""
    _send_signal(process, signal.SIGSTOP)
    watch.step(*step)
    _send_signal(process, signal.SIGCONT)


def _send_signal(process: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)


class _Pickler(pickle.Pickler):
    """Writes the arguments of a call as their numbers."""

    def __init__(self, file: io.BufferedIOBase, args: Sequence[Any]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.numbers = {id(each): i for i, each in enumerate(args)}

    def persistent_id(self, obj: Any) -> int | None:
        return self.numbers.get(id(obj))


class _Unpickler(pickle.Unpickler):
    """Reads what ``_Pickler`` wrote."""

    def __init__(self, file: io.BufferedIOBase, args: Sequence[Any]) -> None:
        super().__init__(file)
        self.args = args

    def persistent_load(self, pid: int) -> Any:
        return self.args[pid]


def serve(data: socket.socket) -> None:
    """Compute one call, and send its result piece by piece, so that it is not held twice."""
    os.nice(NICENESS)
    asked = take_part(partial(take_from, data))
    try:
        function, args = pickle.loads(asked)
    except Exception:  # such as a class that only the other process knows
        send_json(data.sendall, "unknown")
        return
    try:
        said, found = "made", function(*args, Watch(Reports(data.sendall)))
    except Exception as error:
        said, found = "raised", _sendable(error)
    send_json(data.sendall, said)
    with data.makefile("wb") as file:
        _Pickler(file, args).dump(found)


def _sendable(error: Exception) -> Exception:
    """Return the error, or one that says the same if it cannot be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error

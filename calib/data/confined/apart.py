"""Call a function of our own in another process, so that the threads of this one do not wait for Python's interpreter.

The process that waits for calls on strangers' files forks one for each call here, too. This one has no limits, and
computes what this process pickles. Its pickled result may name only classes of our libraries, and the arguments that it
holds come back as the same objects.
"""

from __future__ import annotations

import io
import logging
import os
import pickle
import select
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from calib.data import confined
from calib.data.confined.wire import Reports, send_json, send_part, take_from, take_json, take_part
from calib.kernel.checks import InputError
from calib.kernel.progress import Watch
from calib.kernel.wording import split_words

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
SECONDS_BETWEEN_LOOKS = 0.1  # seconds between looks at Cancel, and at work that goes first
# Whose classes a result may name
NAMED_LIBRARIES = split_words("calib collections numpy pandas pyarrow scipy sklearn")
BUILTINS = (slice, complex, range, bytearray, set, frozenset)  # and errors
# Functions that make such objects again. words: right, their names
RESTORING_FUNCTIONS = split_words("""
    numpy._core.multiarray._reconstruct numpy._core.multiarray.scalar numpy._core.numeric._frombuffer
    numpy.random._pickle.__bit_generator_ctor numpy.random._pickle.__generator_ctor
    numpy.random._pickle.__randomstate_ctor numpy.random.bit_generator.__pyx_unpickle_SeedSequence
    pandas._libs.arrays.__pyx_unpickle_NDArrayBacked pandas._libs.internals._unpickle_block
    pandas.core.indexes.base._new_Index
    pyarrow.lib._restore_array pyarrow.lib.py_buffer pyarrow.lib.type_for_alias
    sklearn.metrics._dist_metrics.newObj sklearn.neighbors._ball_tree.newObj sklearn.neighbors._kd_tree.newObj
""")
LOG = logging.getLogger(__name__)


def call(function: Callable[..., Any], *args: Any, watch: Watch) -> Any:
    """Return ``function(*args, watch)``, computed in a process of its own once the waiting process has loaded.

    While the watch holds its caller, the process stands still.

    Parameters
    ----------
    function
        Function of a module.
    args
        Its arguments; what cannot be pickled, or has a result that names other classes, is computed here.
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
        except pickle.UnpicklingError as error:
            LOG.warning("%s; it is computed here", error)
            return function(*args, watch)
    if said == "unknown":
        return function(*args, watch)
    if said == "raised":
        why, places = found
        if not isinstance(why, InputError):
            LOG.error("a call failed: %s\n%s", type(why).__name__, "".join(places))
        raise why
    return found


def _answer(data: socket.socket, asked: bytes, args: Sequence[Any], watch: Watch) -> tuple[str, Any]:
    """Return how the call ended, and its result or its error."""
    take = partial(take_from, data)
    process, step = take_json(take), (0.0, "")
    send_json(data.sendall, "trusted")
    send_part(data.sendall, asked)
    with _GOING.going(process):
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
    with _GOING.standing(process):
        watch.step(*step)


class _Going:
    """Processes that compute, in the order of their begin; true: this one stands still while others go first."""

    def __init__(self) -> None:
        self.lock, self.standing_still, self.most = threading.Lock(), dict[int, bool](), sys.maxsize

    def limit(self, most: int) -> None:
        """Let the last ``most`` go on."""
        with self.lock:
            self.most = most
            self._send_signals()

    @contextmanager
    def going(self, process: int) -> Iterator[None]:
        self._set(process, False)
        try:
            yield
        finally:
            with self.lock:
                del self.standing_still[process]
                self._send_signals()

    @contextmanager
    def standing(self, process: int) -> Iterator[None]:
        self._set(process, True)
        yield
        self._set(process, False)

    def _set(self, process: int, still: bool) -> None:
        with self.lock:
            self.standing_still[process] = still
            self._send_signals()

    def _send_signals(self) -> None:
        free = self.most
        for process, still in reversed(self.standing_still.items()):
            goes = free > 0 and not still
            free -= goes
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT if goes else signal.SIGSTOP)


_GOING = _Going()


def limit(most: int = sys.maxsize) -> None:
    """Let at most so many calls go on, those that were begun last, until this is called again."""
    _GOING.limit(most)


class _Pickler(pickle.Pickler):
    """Writes the arguments of a call as their numbers."""

    def __init__(self, file: io.BufferedIOBase, args: Sequence[Any]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.numbers = {id(each): i for i, each in enumerate(args)}

    def persistent_id(self, obj: Any) -> int | None:
        return self.numbers.get(id(obj))


class _Unpickler(pickle.Unpickler):
    """Reads what ``_Pickler`` wrote, and makes objects of our libraries only, so that it runs no program."""

    def __init__(self, file: io.BufferedIOBase, args: Sequence[Any] = ()) -> None:
        super().__init__(file)
        self.args = args

    def persistent_load(self, pid: int) -> Any:
        return self.args[pid]

    def find_class(self, module: str, name: str) -> Any:
        if f"{module}.{name}" in RESTORING_FUNCTIONS:
            return super().find_class(module, name)
        if _package(module) in (*NAMED_LIBRARIES, "builtins"):
            found = super().find_class(module, name)
            # of a class that a module imports, the module where it is defined counts
            if isinstance(found, type) and (
                _package(found.__module__) in NAMED_LIBRARIES or _is_plain(found)
            ):
                return found
        raise pickle.UnpicklingError(f"the result names {module}.{name}")


def _package(module: str) -> str:
    return module.partition(".")[0]


def _is_plain(found: type) -> bool:
    return found in BUILTINS or (found.__module__ == "builtins" and issubclass(found, Exception))


def serve(data: socket.socket) -> None:
    """Compute one call, and send its result piece by piece, so that it is not held twice."""
    asked = take_part(partial(take_from, data))
    try:
        function, args = pickle.loads(asked)
    except Exception:  # such as a class that only the other process knows
        send_json(data.sendall, "unknown")
        return
    try:
        said, found = "made", function(*args, Watch(Reports(data.sendall)))
    except Exception as error:
        said, found = "raised", (_sendable(error), traceback.format_tb(error.__traceback__))
    send_json(data.sendall, said)
    with data.makefile("wb") as file:
        _Pickler(file, args).dump(found)


def _sendable(error: Exception) -> Exception:
    """Return the error, or one that says the same if it cannot be sent."""
    try:
        _Unpickler(io.BytesIO(pickle.dumps(error))).load()
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error

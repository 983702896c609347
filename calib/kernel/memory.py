"""Measure the memory of any object in bytes (a forest, a table, a figure), and return freed memory to the system.

Sizes are those of the pickled object, but nothing is written. Large parts (buffers of arrays and tables) are
identified by address, so that shared buffers count once.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import pickle
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

ROOT = Path("/")
STATM = 200  # more bytes than the file statm of a process has
_bound: tuple[int, int] | None = (
    None  # of ``bound``: the open file statm of this process, and the most it may take
)
WORTH_RELEASING = 100_000  # rows from which it is worth a few milliseconds
NO_PICKLES = (pickle.PicklingError, TypeError, AttributeError, RecursionError, ValueError)
MOST_TRIES = 5  # at an object that another thread changes


def release_memory(rows: int = WORTH_RELEASING) -> None:
    """Return freed memory to the system, if the table that was processed has enough rows.

    Arrow and the C library keep freed memory for the next allocation. After a large table, this is as much again as
    its results, for the life of the process. Nothing happens if the C library has no such call.
    """
    if rows < WORTH_RELEASING:
        return
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's; musl has none
        if trim is not None:
            trim(0)


def free() -> float:
    """Return the bytes that this process may still take: of the machine, its container or its own limit (ulimit -v).

    Returns
    -------
    float
        At least 0; infinity where the system (other than Linux) does not say it.

    Examples
    --------
    >>> 0 <= free()
    True
    """
    return max(0, min(_free_of_machine(), _free_of_process(), *_free_of_groups()))


def _free_of_machine() -> float:
    with suppress(OSError, ValueError, IndexError):
        said = (ROOT / "proc/meminfo").read_text().partition("MemAvailable:")[2].split()
        return int(said[0]) * 1024
    return float("inf")


def resident(statm: bytes) -> int:
    """Return the bytes of memory that a process takes, from its file ``statm`` (Linux)."""
    return int(statm.split()[1]) * mmap.PAGESIZE


def bound(more: int) -> None:
    """Let ``free`` know that this process may take at most so many further bytes, although it can open no file later.

    Nothing happens on systems that do not say what a process takes.
    """
    global _bound
    with suppress(OSError):
        statm = os.open(ROOT / "proc/self/statm", os.O_RDONLY)
        _bound = statm, resident(os.pread(statm, STATM, 0)) + more


def is_bounded() -> bool:
    """Tell whether this process has called ``bound``."""
    return _bound is not None


def _free_of_process() -> float:
    if _bound is not None:
        statm, most = _bound
        return most - resident(os.pread(statm, STATM, 0))
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource  # not on every system

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            pages = int((ROOT / "proc/self/statm").read_text().split()[0])
            return most - pages * resource.getpagesize()
    return float("inf")


def _free_of_groups() -> Iterator[float]:
    """Yield what each group of processes that this one is in leaves free (cgroups 1 and 2; a container is one)."""
    yield float("inf")
    with suppress(OSError):
        for line in (ROOT / "proc/self/cgroup").read_text().splitlines():
            _, kind, path = line.split(":", 2)
            if kind in ("", "memory"):
                root = ROOT / "sys/fs/cgroup" / kind
                inside = root / path.strip("/")
                for group in (root, inside, *inside.parents[: len(inside.parts) - len(root.parts)]):
                    yield _free_of_group(group)


def _free_of_group(group: Path) -> float:
    """Cached files make way, so they count as free."""
    for most, used, cached in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        with suppress(OSError, ValueError):  # no such group here, or no limit ("max")
            held = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
            left = int((group / most).read_text()) - int((group / used).read_text())
            return left + int(held.get(cached, 0))
    return float("inf")


def size(*things: Any) -> int:
    """Return the bytes of all objects together, with shared parts counted once.

    >>> import numpy as np
    >>> numbers = np.zeros(1000)
    >>> 8000 < size(numbers) < 8200, size(numbers, numbers[:]) - size(numbers) < 200
    (True, True)
    """
    return total(buffers_of(thing) for thing in things)


def buffers_of(thing: Any) -> dict[int, int]:
    """Return address → bytes of each buffer of an object; its small parts together are under the object's own address.

    If a part cannot be pickled (a lock, an open store), only the parts before it are counted.
    """
    for _ in range(MOST_TRIES):
        scale = _Scale()
        try:
            with suppress(*NO_PICKLES):
                scale.dump(thing)
            break
        except RuntimeError:  # another thread cached a result in the object meanwhile
            continue
    return scale.buffers | {id(thing): scale.small}


def total(counted: Iterable[dict[int, int]]) -> int:
    """Return the total bytes of several results of ``buffers_of``."""
    together: dict[int, int] = {}
    for one in counted:
        together |= one
    return sum(together.values())


class _Scale(pickle.Pickler):
    """Pickler that writes nothing and records the size."""

    def __init__(self) -> None:
        self.small, self.buffers = 0, dict[int, int]()
        super().__init__(self, protocol=5, buffer_callback=self._buffer)  # type: ignore[arg-type]

    def write(self, data: bytes) -> None:
        self.small += len(data)

    def _buffer(self, buffer: pickle.PickleBuffer) -> None:
        view = np.frombuffer(buffer.raw(), np.uint8)
        self.buffers[view.__array_interface__["data"][0]] = view.nbytes

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, MappingProxyType):
            return dict, (dict(thing),)
        # Pickling takes longer
        if type(thing) is np.ndarray and not thing.dtype.hasobject and thing.flags.forc:
            self.buffers[thing.__array_interface__["data"][0]] = thing.nbytes
            return bool, ()
        if isinstance(thing, FunctionType):  # negligible, and only importable functions can be pickled
            return bool, ()
        return NotImplemented

"""What things hold in memory, in bytes, whatever they are: a forest, a table, a figure; and how it is given back.

Counted is what pickling would write of them, which is all that they are made of; nothing is written. Large
parts, the buffers of arrays and tables, come by their address, so that what several things share is counted
once.
"""

from __future__ import annotations

import ctypes
import pickle
import sys
from collections.abc import Iterable
from contextlib import suppress
from types import FunctionType, MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

LARGE = 100_000  # rows from which it is worth a few milliseconds
NO_PICKLES = (pickle.PicklingError, TypeError, AttributeError, RecursionError, ValueError)


def give_back(rows: int = LARGE) -> None:
    """Return freed memory to the system, after work on a table of so many rows if that is worth it.

    Arrow and the C library keep what they were given, against the next table. After a large one that is as
    much again as what is held of it, for the life of the process. Where the C library has no such call,
    nothing happens.
    """
    if rows < LARGE:
        return
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's; musl has none
        if trim is not None:
            trim(0)


def size(*things: Any) -> int:
    """Bytes of all of them together, what they share counted once.

    >>> import numpy as np
    >>> numbers = np.zeros(1000)
    >>> 8000 < size(numbers) < 8200, size(numbers, numbers[:]) - size(numbers) < 200
    (True, True)
    """
    return total(held(thing) for thing in things)


def held(thing: Any) -> dict[int, int]:
    """Address → bytes of each buffer of a thing; all its small parts together stand under its own address.

    Of what cannot be pickled (a lock, an open store) the parts before are counted.
    """
    scale = _Scale()
    with suppress(*NO_PICKLES):
        scale.dump(thing)
    return scale.buffers | {id(thing): scale.small}


def total(counted: Iterable[dict[int, int]]) -> int:
    """Bytes of several things, as ``held`` counts them, together."""
    together: dict[int, int] = {}
    for one in counted:
        together |= one
    return sum(together.values())


class _Scale(pickle.Pickler):
    """Pickles into nothing, and notes how much it was."""

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
        if isinstance(thing, FunctionType):  # as good as nothing, and pickled by name only if it has one
            return bool, ()
        return NotImplemented

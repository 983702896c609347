"""Memory that was freed goes back to the system.

Arrow and the C library keep what they were given, against the next table. After a large one that is as much again as
what is held of it, for the life of the process.
"""

from __future__ import annotations

import ctypes
import sys

import pyarrow as pa

LARGE = 100_000  # rows from which it is worth a few milliseconds


def give_back(rows: int) -> None:
    """After work on a table of so many rows. Where the C library has no such call, nothing happens."""
    if rows < LARGE:
        return
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's; musl has none
        if trim is not None:
            trim(0)

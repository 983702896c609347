"""Process rows in blocks that fit into the processor's cache, so that a million rows leave no large copies."""

from __future__ import annotations

from collections.abc import Iterator

ROWS_AT_ONCE = 1 << 16


def row_slices(n: int) -> Iterator[slice]:
    """Cut n rows into slices of ``ROWS_AT_ONCE``.

    >>> list(row_slices(70_000))
    [slice(0, 65536, None), slice(65536, 70000, None)]
    """
    return (slice(begin, min(begin + ROWS_AT_ONCE, n)) for begin in range(0, n, ROWS_AT_ONCE))

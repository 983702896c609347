"""Cache results computed from a frozen record for as long as it exists, with a limit on bytes per record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

from calib.kernel.memory import size

MOST_CACHED = 16_000_000  # bytes cached per record, besides its largest result

Known = dict[Any, tuple[Any, int]]  # key → result and its bytes

_KNOWN: dict[int, tuple[ref, Known]] = {}
"""Address of a record → its cached results; by address, since Arrow's arrays have no hash."""


def cached_result(record: Any, key: Any, make: Callable[[], Any]) -> Any:
    """Return the result of ``make``, computed once; ``key`` names it and everything it depends on besides the record.

    Parameters
    ----------
    record
        Object that never changes. Its results are dropped with the last reference to it. Beyond ``MOST_CACHED``
        bytes besides the largest result, the oldest results are dropped and computed again on demand.

    Examples
    --------
    >>> from calib.kernel.records import Problem
    >>> record = Problem("info", None, "", "")
    >>> cached_result(record, "sum", lambda: 3), cached_result(record, "sum", lambda: 4)
    (3, 3)
    """
    known = _known(record)
    if (found := known.get(key)) is not None:
        return found[0]
    made = make()
    known[key] = made, size(made)
    _forget(known, key)
    return made


def mark_known(record: Any, key: Any) -> None:
    """Let ``is_known`` be true of this key."""
    _known(record)[key] = True, 0


def is_known(record: Any, key: Any) -> bool:
    """Tell whether ``cached_result`` has cached the result of this key."""
    return key in _known(record)


def _known(record: Any) -> Known:
    return _KNOWN[id(record)][1] if id(record) in _KNOWN else _keep(record, {})


def _keep(record: Any, known: Known) -> Known:
    """Start the cache of a record and return it; if another thread was faster, return that thread's cache."""
    # Bound here, because at exit the module's names are deleted first
    place, forget = (
        id(record),
        _KNOWN.pop,
    )
    return _KNOWN.setdefault(place, (ref(record, lambda _: forget(place, None)), known))[1]


def _forget(known: Known, latest: Any) -> None:
    """Drop the oldest results beyond the limit, but neither the latest nor the largest, which would return each time.

    Another thread may do so at the same time.
    """
    if sum(weight for _, weight in list(known.values())) <= MOST_CACHED:
        return
    weights = {key: weight for key, (_, weight) in known.copy().items()}
    largest = max(weights, key=weights.__getitem__)
    too_much = sum(weights.values()) - weights[largest] - MOST_CACHED
    for key in [key for key in weights if key not in (latest, largest)]:
        if too_much <= 0:
            return
        too_much -= known.pop(key, (None, 0))[1]


def share(record: Any, other: Any) -> None:
    """Share the cached results of one record with another, which must be equal in everything they depend on.

    Examples
    --------
    >>> from calib.kernel.records import Problem
    >>> record, other = Problem("info", None, "", ""), Problem("info", None, "", "")
    >>> share(record, other)
    >>> cached_result(record, "sum", lambda: 3), cached_result(other, "sum", lambda: 4)
    (3, 3)
    """
    _keep(other, _known(record))

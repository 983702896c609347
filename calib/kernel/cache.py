"""Numbers worked out once for a frozen record, and forgotten with it; the latest of each record, by their bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

from calib.kernel.memory import size

MOST = 16_000_000  # bytes worked out for one record

Known = dict[Any, tuple[Any, int]]  # key → what was worked out, and its bytes

_KNOWN: dict[int, tuple[ref, Known]] = {}
"""Address of a record → what is known of it, which goes with it; by address, since Arrow's arrays have no hash."""


def once(record: Any, key: Any, make: Callable[[], Any]) -> Any:
    """Return the result of ``make``, computed once; ``key`` names it and all that it depends on besides the record.

    Parameters
    ----------
    record
        Anything that never changes; with the last reference to it go its numbers. Beyond ``MOST`` bytes of
        them the oldest go, and are worked out again when they are asked for.

    Examples
    --------
    >>> from calib.kernel.records import Problem
    >>> record = Problem("info", None, "", "")
    >>> once(record, "sum", lambda: 3), once(record, "sum", lambda: 4)
    (3, 3)
    """
    known = _known(record)
    if key in known:
        return known[key][0]
    made = make()
    known[key] = made, size(made)
    _forget(known, key)
    return made


def is_known(record: Any, key: Any) -> bool:
    """Whether ``once`` has worked it out."""
    return key in _known(record)


def _known(record: Any) -> Known:
    return _KNOWN[id(record)][1] if id(record) in _KNOWN else _keep(record, {})


def _keep(record: Any, known: Known) -> Known:
    """What is known of a record from now on; where another thread was first, what it knows."""
    # Bound here: at the end of the program the module's names go first
    place, forget = (
        id(record),
        _KNOWN.pop,
    )
    return _KNOWN.setdefault(place, (ref(record, lambda _: forget(place, None)), known))[1]


def _forget(known: Known, latest: Any) -> None:
    """Drop the oldest beyond the bound; the latest stays. Another thread may do the same."""
    too_much = sum(each for _, each in list(known.values())) - MOST
    for key in [key for key in list(known) if key != latest]:
        if too_much <= 0:
            return
        too_much -= known.pop(key, (None, 0))[1]


def share(record: Any, other: Any) -> None:
    """Let all that is worked out for one record hold for another, from which it differs in nothing of that.

    Examples
    --------
    >>> from calib.kernel.records import Problem
    >>> record, other = Problem("info", None, "", ""), Problem("info", None, "", "")
    >>> share(record, other)
    >>> once(record, "sum", lambda: 3), once(other, "sum", lambda: 4)
    (3, 3)
    """
    _keep(other, _known(record))

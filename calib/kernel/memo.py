"""Numbers worked out once for a frozen record, and forgotten with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

_KNOWN: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()


def once(record: Any, key: Any, make: Callable[[], Any]) -> Any:
    """What ``make`` returns, worked out once; ``key`` names it and all that it depends on beside the record.

    Parameters
    ----------
    record
        Anything compared by identity; with the last reference to it go its numbers.

    Examples
    --------
    >>> from calib.kernel.records import Problem
    >>> record = Problem("info", None, "", "")
    >>> once(record, "sum", lambda: 3), once(record, "sum", lambda: 4)
    (3, 3)
    """
    known = _KNOWN.setdefault(record, {})
    if key not in known:
        known[key] = make()
    return known[key]

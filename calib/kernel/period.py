"""Read and write a Recipe's period, FIRST..LAST: two dates, numbers or row numbers, both included."""

from __future__ import annotations

from typing import Any

import numpy as np

from calib.kernel import checks
from calib.kernel.checks import Array, InputError

PERIOD_SEPARATOR = ".."


def check_period(value: Any, name: str) -> str | None:
    """Refuse a period that is not FIRST..LAST.

    >>> check_period("2023-01-01..2023-01-31", "period")
    '2023-01-01..2023-01-31'
    """
    if value is None:
        return None
    text = checks.text(value, name)
    first, between, last = text.partition(PERIOD_SEPARATOR)
    if not (first and between and last):
        raise InputError(f"{name} must be FIRST{PERIOD_SEPARATOR}LAST, but is {checks.short_repr(value)}.")
    return text


def write_period(first: str, last: str) -> str:
    """Join two ends to a period.

    >>> write_period("1", "500")
    '1..500'
    """
    return f"{first}{PERIOD_SEPARATOR}{last}"


def period_in_words(period: str) -> str:
    """Write a period for a person.

    >>> period_in_words("2023-01-01..2023-01-31"), period_in_words("7..7")
    ('2023-01-01 to 2023-01-31', '7')
    """
    first, _, last = period.partition(PERIOD_SEPARATOR)
    return first if first == last else f"{first} to {last}"


def in_period(when: Array, period: str) -> Array:
    """Tell which times, or numbers, lie in the period; the last day is included to its end.

    >>> times = np.array(["2023-01-31T23:00", "2023-02-01T00:00"], "datetime64[ns]")
    >>> in_period(times, "2023-01-01..2023-01-31").tolist()
    [True, False]
    """
    first, _, last = period.partition(PERIOD_SEPARATOR)
    if when.dtype.kind == "M":
        try:
            low, high = np.datetime64(first), np.datetime64(last)
        except ValueError:
            raise _refused(period, "dates") from None
        return (when >= low) & (when < high + 1)
    try:
        return (when >= float(first)) & (when <= float(last))
    except ValueError:
        raise _refused(period, "numbers") from None


def _refused(period: str, kind: str) -> InputError:
    return InputError(
        f"period: {period!r} must consist of {kind}, because the time column contains {kind}. Remove the period."
    )

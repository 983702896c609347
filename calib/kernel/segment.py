"""Read and write a Recipe's segment: conditions on columns, all of which its rows meet.

A condition is COLUMN=VALUE, COLUMN!=VALUE, or COLUMN=LOW..HIGH of numbers or dates, with LOW included and HIGH
excluded; one end may be missing. It refers only to the values of a row, so it means the same for other tables.

A period, FIRST..LAST, is two dates, numbers or row numbers, both included.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd

from calib.kernel import checks
from calib.kernel.checks import Array, InputError
from calib.kernel.wording import without_direction_marks

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


EQUAL, UNEQUAL = "=", "!="
MISSING_GROUP = "(missing)"


def check_condition(value: Any, name: str) -> str:
    """Refuse a condition that is not COLUMN=VALUE or COLUMN!=VALUE.

    >>> check_condition("age=60.0..", "segment")
    'age=60.0..'
    """
    text = checks.text(value, name)
    if not text.partition(EQUAL)[1] or text.startswith((EQUAL, UNEQUAL)):
        raise InputError(
            f"{name}: a condition is COLUMN=VALUE or COLUMN=LOW..HIGH, but is {checks.short_repr(value)}."
        )
    return text


def write_range(column: str, low: Any, high: Any) -> str:
    """Write a condition on a range; None is a missing end.

    >>> write_range("age", 60.0, None), write_range("day", None, pd.Timestamp("2024-02-01"))
    ('age=60.0..', 'day=..2024-02-01T00:00:00')
    """

    def end(value: Any) -> str:
        return (
            ""
            if value is None
            else value.isoformat()
            if isinstance(value, pd.Timestamp)
            else repr(float(value))
        )

    return f"{column}{EQUAL}{end(low)}{PERIOD_SEPARATOR}{end(high)}"


def segment_in_words(segment: Sequence[str]) -> str:
    """Write a segment for a person.

    >>> segment_in_words(("age=60.0..75.5", "income=..1234567.0", "work=self-employed", "day=2024-02-01T00:00:00.."))
    'age from 60 to below 75.5, income below 1,234,567, work = self-employed and day from 2024-02-01'
    """
    words = [_in_words(each) for each in segment]
    return without_direction_marks(" and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]])))


def _in_words(condition: str) -> str:
    column, equal, value = condition.partition(EQUAL)
    if column.endswith("!"):
        return f"{column[:-1]} ≠ {value}"
    ends = value.split(PERIOD_SEPARATOR)
    if len(ends) != 2:
        return f"{column} {equal} {value}"
    low, high = map(_short, ends)
    return f"{column} " + " to ".join(filter(None, [low and f"from {low}", high and f"below {high}"]))


def _short(end: str) -> str:
    try:
        return f"{float(end):,.10g}"
    except ValueError:
        return end.removesuffix("T00:00:00")


def is_ordered(values: pd.Series) -> bool:
    """Tell whether values are numbers, and not truth values."""
    return pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)


def is_missing(values: pd.Series) -> Array:
    """Return which values are missing or infinite, bool (n,)."""
    lost = values.isin([np.inf, -np.inf]) | values.isna() if is_ordered(values) else values.isna()
    return lost.to_numpy(dtype=bool)


def group_texts(known: pd.Series) -> pd.Series:
    """Return values as texts for groups, numbers with six digits."""
    ordered = is_ordered(known)
    return known.map(lambda value: f"{value:.6g}" if ordered else str(value)).astype(object)


def met(segment: Sequence[str], column: Callable[[str], pd.Series], columns: Collection[str]) -> Array:
    """Return which rows meet all conditions, bool (n,).

    Parameters
    ----------
    segment
        One or more conditions.
    column
        Name → values (n,).
    columns
        Names of the columns.

    Raises
    ------
    InputError
        If there is no such column, or an end of a range does not have the column's type.

    Examples
    --------
    >>> table = pd.DataFrame({"age": [20, 60, 75, None], "work": ["a", "a", "b", "a"]})
    >>> met(("age=60.0..", "work=a"), table.__getitem__, table.columns).tolist()
    [False, True, False, False]
    """
    return np.logical_and.reduce([_meets(each, column, columns) for each in segment])


def _meets(condition: str, column: Callable[[str], pd.Series], columns: Collection[str]) -> Array:
    name, unequal, value = _parted(condition, columns)
    values = column(name)
    lost = is_missing(values)
    ends = value.split(PERIOD_SEPARATOR)
    dates = values.dtype.kind == "M"
    if value == MISSING_GROUP:
        found = lost
    elif len(ends) == 2 and (is_ordered(values) or dates):
        found = _between(values, lost, ends, dates, condition)
    else:
        found = np.zeros(len(values), dtype=bool)
        found[~lost] = (group_texts(values[~lost]) == value).to_numpy(dtype=bool)
    return ~found if unequal else found


def _parted(condition: str, columns: Collection[str]) -> tuple[str, bool, str]:
    """Return (column, whether unequal, value); of several matching column names, the longest."""
    found = [
        (name, sign == UNEQUAL, condition[len(name) + len(sign) :])
        for name in columns
        for sign in (EQUAL, UNEQUAL)
        if condition.startswith(name + sign)
    ]
    if not found:
        raise InputError(f"segment: no column matches the condition {condition!r}. Remove the segment.")
    return max(found, key=lambda each: len(each[0]))


def _between(values: pd.Series, lost: Array, ends: Sequence[str], dates: bool, condition: str) -> Array:
    try:
        low, high = (None if end == "" else pd.Timestamp(end) if dates else float(end) for end in ends)
    except ValueError:
        kind = "dates" if dates else "numbers"
        raise InputError(f"segment: the ends of {condition!r} must be {kind}. Remove the segment.") from None
    found = ~lost
    for end, inside in ((low, values.ge), (high, values.lt)):
        if end is not None:
            found &= inside(end).fillna(False).to_numpy(dtype=bool)
    return found

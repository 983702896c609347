"""Counts and lists as the notes write them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def count(n: int, noun: str) -> str:
    """
    >>> count(1, "row"), count(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def listed(items: Sequence[object], most: int = 5) -> str:
    """
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' …"
    """
    return ", ".join(map(repr, items[:most])) + (" …" if len(items) > most else "")


def row_numbers(marked: np.ndarray, most: int = 10) -> str:
    """Numbers of the marked rows as a person counts them, from 1.

    >>> row_numbers(np.array([False, True, True]))
    'rows 2, 3'
    """
    rows = np.flatnonzero(marked) + 1
    shown = ", ".join(map(str, rows[:most])) + (" …" if len(rows) > most else "")
    return f"row{'' if len(rows) == 1 else 's'} {shown}"

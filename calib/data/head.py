"""Find the header of a table in a file: titles, remarks and empty lines may precede it.

The result is a proposal: a note states it, and the user can choose another line. Rows are lists of texts, "" for an
empty cell.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence

from calib.data.notation import MISSING_CODES

NUMBER_PATTERN = re.compile(r"^[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?$")
COMMENT = ("#", "//", "%")
SEARCHED = 50  # rows that are searched for the header

TextRow = Sequence[str]


def rows_above(rows: Sequence[TextRow], width: int | None = None) -> int:
    """Count the first rows that do not belong to the table: remarks, titles, and lines above a clear header.

    Parameters
    ----------
    width
        Number of columns; None takes the most frequent number of cells.

    Examples
    --------
    >>> rows_above([["# made by us"], ["Sales 2020", "", ""], ["a", "b", "c"], ["1", "2", "3"], ["4", "5", "6"]])
    2
    >>> rows_above([["a", "b"], ["1", "2"]])
    0
    """
    width = width or Counter(len(row) for row in rows[1:] or rows).most_common(1)[0][0]
    above = 0
    while above < len(rows) - 2 and rows[above][0].startswith(COMMENT):
        if len(rows[above]) == width and is_data(rows[above + 1], rows[above + 2 :]):
            return above  # a header that begins with a comment sign
        above += 1
    titles = sum(
        1 for _ in itertools.takewhile(lambda row: _is_title(row, width), rows[above : above + SEARCHED])
    )
    if titles and above + titles < len(rows) - 1:
        below = rows[above + titles :]
        if width > 2 or not is_data(below[0], below[1:]):
            above += titles
    for i in range(above + 1, min(len(rows) - 1, above + SEARCHED)):
        if any(len(row) == width and all(row) for row in rows[above:i]):
            break
        if is_header(rows[i], rows[i + 1 :], width):
            return i
    return above


def _is_title(row: TextRow, width: int) -> bool:
    """Tell whether only the first cells are filled, at most half of them."""
    filled = [i for i, cell in enumerate(row) if cell]
    return len(filled) <= width / 2 and filled == list(range(len(filled)))


def is_header(row: TextRow, rest: Sequence[TextRow], width: int) -> bool:
    """Tell whether a row is clearly a header: a distinct name per column, and at least one column of numbers below."""
    below = [other for other in rest if len(other) == width]
    if (
        len(row) != width
        or len(set(row)) < width
        or not all(row)
        or any(map(NUMBER_PATTERN.match, row))
        or not below
    ):
        return False
    return any(
        all(NUMBER_PATTERN.match(other[i]) for other in below if other[i] not in MISSING_CODES)
        for i in range(width)
    )


def is_data(first: TextRow, rest: Sequence[TextRow]) -> bool:
    """Tell whether the first row is data: numbers over numbers, words that occur again below."""
    alike, recurring, words = 0, 0, 0
    for i, cell in enumerate(first):
        below = [row[i] for row in rest if len(row) > i and row[i] not in MISSING_CODES]
        if cell in MISSING_CODES or not below:
            continue
        numeric = sum(bool(NUMBER_PATTERN.match(value)) for value in below) > 0.9 * len(below)
        if NUMBER_PATTERN.match(cell):
            alike += numeric
        elif numeric:
            return False  # a word over numbers is a name
        else:
            words += 1
            recurring += cell in below
    if words:
        return recurring == words or (alike > 0 and recurring > 0)
    return alike > 0 and not _counting(first)


def _counting(cells: TextRow) -> bool:
    """Tell whether the cells are evenly increasing integers, as in headers of pixels, lags and wavelengths: 0, 1, 2."""
    if len(cells) < 3 or not all(cell.isascii() and cell.isdecimal() and len(cell) < 10 for cell in cells):
        return False
    steps = {int(b) - int(a) for a, b in itertools.pairwise(cells)}
    return len(steps) == 1 and steps.pop() > 0


def header_note(line: int, above: int, what: str) -> str:
    """Return the note on a header that is not at the top; ``what`` is "line" or "row".

    >>> header_note(4, 3, "line")
    'The header is in line 4; everything above it is ignored.'
    """
    return f"The header is in {what} {line}; everything above it is ignored." if above else ""

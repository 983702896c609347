"""What is known of a table besides its cells, and a table with its label column and positive class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

KEY = "about"


class About(NamedTuple):
    """How a table was read and what was made of it; it travels in ``attrs``, because ``read_table`` gives a DataFrame.

    A named tuple, because pandas writes ``attrs`` as JSON into Parquet files.

    Attributes
    ----------
    name
        Of the table.
    notes
        One sentence for everything that was decided about it.
    spelling
        Column → value → how the file spells it, where this differs.
    header
        The line of a text or the row of a sheet that holds the names, from 1; 0 if none does; None for other formats.
    sheet, sheets
        Of a workbook: the sheet that was read, and all that are filled.
    top
        The first lines of the file.
    stated
        Arguments that read the file like this again, where they had to be found out.
    judged_on
        The file with the test rows, if two were joined.
    model_score
        The column with the output of an existing model.
    """

    name: str | None = None
    notes: tuple[str, ...] = ()
    spelling: Mapping[str, Mapping[Any, str]] = {}  # never changed in place
    header: int | None = None
    sheet: str | None = None
    sheets: tuple[str, ...] = ()
    top: tuple[str, ...] = ()
    stated: Mapping[str, Any] = {}
    judged_on: str | None = None
    model_score: str | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> About:
        """Return itself: pandas copies ``attrs`` with every column that is taken."""
        return self


class Table(NamedTuple):
    """A table with its label column and its positive class; None where they are not chosen yet."""

    frame: pd.DataFrame
    target: str | None = None
    positive: str | None = None


def about(frame: pd.DataFrame) -> About:
    """Return what is known of a table; nothing of one that was not read here.

    >>> about(pd.DataFrame()).notes
    ()
    """
    found = frame.attrs.get(KEY)
    return found if isinstance(found, About) else About()


def describe(frame: pd.DataFrame, **changes: Any) -> pd.DataFrame:
    """Change what is known of a table in place, and return the table.

    >>> about(describe(pd.DataFrame(), name="people")).name
    'people'
    """
    frame.attrs[KEY] = about(frame)._replace(**changes)
    return frame

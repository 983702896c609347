"""A table with its label column and positive class, its metadata, and what a person may state about reading it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

READING_ATTRIBUTE = "reading"
# What a person may state about how a table is read
SCORES_AS = {
    "probabilities": "Probabilities",
    "percentages": "Percentages: each value is divided by 100",
    "logits": "Logits: converted by the sigmoid, or by the softmax if there is one column per class",
    "margins": "Scores that are not probabilities",
    "shares": "Shares: each row is divided by its sum",
    "right": "Confidence: the probability that the predicted class is right",
    "confidence": "Confidence of the predicted class, converted to the positive class",
}
"""How a person may state that scores are to be read → its words."""
WRONG_SCORES = {
    "exclude": "Exclude their rows",
    "certain": "Exclude rows with a score of exactly 0 or 1, because these values represent missing scores",
}
LABELS_AS = {
    "classes": "Classes: every label is a class",
    "shares": "Shares: the share of annotators who chose class 1",
}
"""How a person may state that labels are to be read → its words."""
WEIGHT_AS = {"counts": "repeats the row", "importance": "weights the row"}
"""Meaning of whole weights → the effect of each line of the table."""
LEARN_ROWS = 1_000_000  # default number of rows to learn from, of a table too large for memory


class TableReading(NamedTuple):
    """Record of how a table was read; it travels in ``attrs``, because ``read_table`` returns a DataFrame.

    It is a named tuple, because pandas writes ``attrs`` as JSON into Parquet files.

    Attributes
    ----------
    name
        Name of the table.
    notes
        One sentence per decision of the reader.
    spelling
        Column → value → its spelling in the file, if this differs.
    labels
        Label → number of rows before labels were merged or excluded; empty if none were.
    header
        Line of a text or row of a sheet with the column names, from 1; 0 if there is none; None for other formats.
    sheet, sheets
        For a workbook: the sheet that was read, and all sheets with content.
    top
        First lines of the file.
    stated
        Arguments that the reader had to infer; with them, it reads the file in the same way again.
    test_file
        Name of the file with the test rows, if two files were joined.
    model_score
        Column with the output of an existing model.
    rest
        Rows outside this sample (``calib.data.Rest``), if the table is a sample.
    """

    name: str | None = None
    notes: tuple[str, ...] = ()
    spelling: Mapping[str, Mapping[Any, str]] = {}  # never mutated
    labels: Mapping[str, int] = {}
    header: int | None = None
    sheet: str | None = None
    sheets: tuple[str, ...] = ()
    top: tuple[str, ...] = ()
    stated: Mapping[str, Any] = {}
    test_file: str | None = None
    model_score: str | None = None
    rest: Any = None

    def __deepcopy__(self, memo: dict[int, Any]) -> TableReading:
        """Return itself, because pandas copies ``attrs`` with every column that is selected."""
        return self


class Table(NamedTuple):
    """Table with its label column and its positive class; both are None until they are chosen."""

    frame: pd.DataFrame
    target: str | None = None
    positive: str | None = None


def reading_of(frame: pd.DataFrame) -> TableReading:
    """Return the metadata of a table, or empty metadata if this package did not read it.

    >>> reading_of(pd.DataFrame()).notes
    ()
    """
    found = frame.attrs.get(READING_ATTRIBUTE)
    return found if isinstance(found, TableReading) else TableReading()


def note_reading(frame: pd.DataFrame, **changes: Any) -> pd.DataFrame:
    """Update the metadata of a table in place, and return the table.

    >>> reading_of(note_reading(pd.DataFrame(), name="people")).name
    'people'
    """
    frame.attrs[READING_ATTRIBUTE] = reading_of(frame)._replace(**changes)
    return frame

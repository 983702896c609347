"""Remedy for a file that is too large: the query that counts its predictions by score and label, for its columns.

Only the first bytes of the file are needed, or the end of a Parquet file, where its columns are listed.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from calib.data import confined
from calib.data.column_types import typed_frame
from calib.data.columns import in_unit_interval
from calib.data.errors import DataError
from calib.data.label import guess_target
from calib.data.limits import FEWER, bounds
from calib.data.read import read_table
from calib.data.score_columns import looks_like_predictions, score_columns, scores_among_features

BYTES_OF_END = 2_000_000  # bytes of each end of a file, which show its columns
# Rounded log-odds change the odds by at most 0.5 %, and make no probability 0 or 1
ROUNDED_LOG_ODDS = (
    "CASE WHEN {0} BETWEEN 1e-300 AND 1 - 1e-12 "
    "THEN 1 / (1 + EXP(-ROUND(100 * LN({0} / (1 - {0}))) / 100)) ELSE {0} END"
)
COUNT_THERE = (
    "Run this query in your database, and upload the result. For calibration, the number of rows per score and "
    "label is enough."
)
GROUPS_OF_ROWS = 100  # of rows


class Remedy(NamedTuple):
    """Remedy for a file that is too large.

    Attributes
    ----------
    advice
        A sentence.
    query
        SQL that makes the counts; None if the file does not seem to hold predictions.
    """

    advice: str
    query: str | None = None


def remedy_for(first: bytes, last: bytes, name: str) -> Remedy:
    """Say what to do with a file that is too large, by its ends.

    Parameters
    ----------
    first, last
        Its first and last bytes; the last are needed of a Parquet file only.
    name
        Of the file.

    Examples
    --------
    >>> print(remedy_for(b"label,p\\n0,0.25\\n1,0.75\\n", b"", "big.csv").query)
    SELECT "p", "label", COUNT(*) AS "count"
    FROM (
      SELECT "label",
        CASE WHEN "p" BETWEEN 1e-300 AND 1 - 1e-12 THEN ... END AS "p"
      FROM 'big.csv'
    ) AS rounded
    GROUP BY "p", "label"
    """
    frame = None
    with suppress(DataError, pa.ArrowException, OSError, ValueError):
        if first.startswith(b"PAR1"):
            frame = _ends_of_groups(first + last)
        else:
            end = first.rfind(b"\n") + 1 if len(first) >= BYTES_OF_END else len(first)
            frame = read_table(first[:end], name)
    target = None if frame is None else guess_target(frame)
    if frame is None or target is None:
        return Remedy(FEWER)
    alone = looks_like_predictions(frame)
    scores = score_columns(frame, target) if alone else scores_among_features(typed_frame(frame), target)
    return Remedy(COUNT_THERE, counts_query(frame[scores], target, name)) if scores else Remedy(FEWER)


def confined_remedy(first: bytes, name: str, last: bytes = b"") -> Remedy:
    """Return ``remedy_for`` a stranger's file, in a process with limits.

    >>> confined_remedy(b"label,p\\n0,0.25\\n1,0.75\\n", "big.csv").advice == COUNT_THERE
    True
    """
    with suppress(DataError):
        ends, options = [first, last], {"name": name}
        return Remedy(*confined.run(remedy_for, ends, (), options, name=name, bounds=bounds(first)))
    return Remedy(FEWER)


def sql_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def sql_text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def counts_query(scores: pd.DataFrame, label: str, name: str) -> str:
    """Return SQL that counts the rows of the table ``name`` by scores and label.

    Log-odds of scores between 0 and 1 are rounded to two decimals, and other scores themselves.
    """
    keys = {column: sql_name(column) for column in map(str, scores)}
    rounded = [
        f"{(ROUNDED_LOG_ODDS if in_unit_interval(scores[column]) else 'ROUND({0}, 2)').format(key)} AS {key}"
        for column, key in keys.items()
    ]
    by = ", ".join([*keys.values(), sql_name(label)])
    count = sql_name("rows" if "count" in (*keys, label) else "count")
    inner = ",\n    ".join([f"SELECT {sql_name(label)}", *rounded])
    source = f"FROM (\n  {inner}\n  FROM {sql_text(name)}\n) AS rounded"
    return f"SELECT {by}, COUNT(*) AS {count}\n{source}\nGROUP BY {by}"


def _ends_of_groups(content: bytes) -> pd.DataFrame:
    """The least and greatest value of each column in the groups of rows of a Parquet file, as its end lists them."""
    from pyarrow import parquet  # only here, as it takes long to load

    listed = parquet.read_metadata(pa.BufferReader(content))
    ends: dict[str, list[object]] = {}
    for i in range(min(listed.num_row_groups, GROUPS_OF_ROWS)):
        for j in range(listed.num_columns):
            column = listed.row_group(i).column(j)
            known = column.statistics
            both = [known.min, known.max] if known is not None and known.has_min_max else [None, None]
            ends.setdefault(column.path_in_schema, []).extend(both)
    return typed_frame(pd.DataFrame(ends))

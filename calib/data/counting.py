"""Predictions of any number: DuckDB counts them by score and label, block by block, and the counts give exact results.

If too many scores are distinct, they are rounded, and a note bounds the error.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import ceil, log10
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from calib.data.columns import as_float, is_number
from calib.data.database import COUNT
from calib.data.errors import DataError, no_column
from calib.data.label import UNLABELLED
from calib.data.table import note_reading, reading_of
from calib.kernel.memory import release_memory
from calib.kernel.progress import Watch
from calib.kernel.wording import counted

# Distinct scores that are kept, each with both labels: evaluating them takes less than 2 GB
MOST_DISTINCT_SCORES = 5_000_000
# Decimals to which scores are rounded if more are distinct; one fewer if still too many, and so on
DECIMALS = 7
DUCKDB_MEMORY = "1GB"  # for DuckDB; larger intermediate results go to a temporary folder
MOST_DISTINCT_LABELS = 1_000
ROWS_AT_ONCE = 1_000_000  # rows that are counted at once
Blocks = Callable[[Sequence[str] | None, Watch], Iterator[pd.DataFrame]]
"""Function from column names (None for all columns) and a watch that can cancel it to all rows of a table in blocks.

The order of the rows never changes."""


def count_blocks(
    blocks: Blocks,
    head: pd.DataFrame,
    target: str,
    score: str,
    count: str | None,
    watch: Watch,
    spill: bool = True,
    most: int = MOST_DISTINCT_SCORES,
    memory: str = DUCKDB_MEMORY,
) -> pd.DataFrame:
    """Count the rows of a table by score and label.

    Parameters
    ----------
    blocks
        All rows of the table.
    head
        First rows, typed.
    target, score
        Names of the label and score columns.
    count
        Name of the column with the number of observations per row, if any.
    watch
        Reports the share of the table that was read, and can cancel the count.
    spill
        Whether DuckDB may write to a temporary folder if it needs more memory; otherwise scores are rounded further.
    most
        Largest number of distinct scores. If there are more, they are rounded to ``DECIMALS`` decimals or fewer.
    memory
        Memory limit of DuckDB, such as "1GB".

    Returns
    -------
    DataFrame
        One line per pair of label and score, with its number of rows in ``COUNT``, sorted by score. The notes in
        ``reading_of`` say what was excluded or rounded.

    Raises
    ------
    DataError
        For a missing column, scores that are not numbers, or a table that cannot be read completely.

    Examples
    --------
    >>> table = pd.DataFrame({"label": [1, 0, 1], "p": [0.5, 0.5, 0.5]})
    >>> count_blocks(lambda names, watch: iter([table]), table, "label", "p", None, Watch()).values.tolist()
    [[0.0, 0.5, 1.0], [1.0, 0.5, 2.0]]
    """
    check_roles(head, target, score, count)
    check_numbers(head, score)
    names = [name for name in dict.fromkeys((target, score, count)) if name is not None]
    with _counts(most, memory, spill) as counts:
        for block in blocks(names, watch):
            n = None if count is None else _whole(block[count], count)
            counts.add(block[target], as_float(block[score]), n)
        note = counts.finish()
        total, notes = _left_out(counts.sql, score)
        frame = _fetched(counts.sql, target, score)
    lines = (
        f"The file was read in place, and its {total:,} rows were grouped into {len(frame):,} distinct "
        f"pairs of score and label."
    )
    return note_reading(frame, name=reading_of(head).name, notes=(lines, *notes, *note))


def check_roles(head: pd.DataFrame, target: str, score: str, count: str | None) -> None:
    """Refuse a column that a table does not have."""
    for role, name in (("target", target), ("score", score), ("weight", count)):
        if name is not None and name not in head:
            raise no_column(f"{role}: column {name!r}", head)


def check_numbers(frame: pd.DataFrame, score: str) -> None:
    """Refuse a score column that is not all numbers."""
    if not is_number(frame[score]):
        raise DataError(f"score: {score!r} contains values that are not numbers.", "Choose another column.")


def excluded_rows(unlabelled: int, unscored: int, score: str) -> list[str]:
    """Return notes on the numbers of rows without a label or a score.

    >>> excluded_rows(2, 0, "p")
    ['Excluded because the label is missing: 2 rows.']
    """
    reasons = {UNLABELLED: unlabelled, f"because {score!r} is missing or infinite": unscored}
    return [f"Excluded {why}: {counted(n, 'row')}." for why, n in reasons.items() if n]


def count_scores(
    scored: Iterable[tuple[np.ndarray, np.ndarray]], most: int = MOST_DISTINCT_SCORES
) -> tuple[pd.DataFrame, list[str]]:
    """Count scores that arrive in blocks, in the same way as ``count_blocks`` counts those of a table.

    Parameters
    ----------
    scored
        Pairs of scores (m,) and labels of 0 and 1 (m,).
    most
        As in ``count_blocks``.

    Returns
    -------
    DataFrame, list of str
        Columns label, score and n, in the order of the scores; a note if scores were rounded.

    Examples
    --------
    >>> count_scores([(np.array([0.5, 0.2]), np.array([1, 0])), (np.array([0.5]), np.array([1]))])[0].values.tolist()
    [[0.0, 0.2, 1.0], [1.0, 0.5, 2.0]]
    """
    with _counts(most) as counts:
        for scores, y in scored:
            counts.add(pd.Series(y.astype(np.uint8)), scores, None)
        note = counts.finish()
        return counts.sql.execute("SELECT label, score, n FROM lines ORDER BY score, label").df(), note


class _Counts:
    """Table ``lines`` of label, score and n in DuckDB, with at most ``most`` distinct scores."""

    def __init__(self, sql: Any, most: int) -> None:
        self.sql, self._most, self._rounding = sql, most, _Rounding(sql)
        self._rows: list[pa.Table] = []  # that are not among the lines yet
        self._kept, self._waiting = 0, 0  # lines that were grouped, and others
        self._repeats = True  # whether it saves lines to group the rows that are counted at once

    def add(self, label: pd.Series, score: np.ndarray, n: np.ndarray | None) -> None:
        """Add rows, each ``n`` times or once; infinite scores are missing."""
        finite = np.isfinite(score)
        columns = {
            "label": pa.array(label, from_pandas=True),
            "score": pa.array(score.astype(np.float64, copy=False), mask=None if finite.all() else ~finite),
        }
        self._rows.append(pa.table(columns if n is None else columns | {"n": pa.array(n)}))
        if sum(map(len, self._rows)) >= ROWS_AT_ONCE:
            self._insert()

    def _insert(self) -> None:
        given, self._rows = pa.concat_tables(self._rows), []
        self.sql.register("given", given)
        # A score is rounded once, because a second rounding may move it further.
        weighted = "n" in given.column_names
        one, all_of_them = ("n", "sum(n)::BIGINT") if weighted else ("1::BIGINT", "count(*)")
        n, grouped = (all_of_them, "GROUP BY ALL") if self._repeats else (one, "")
        kept = "WHERE n > 0" if weighted else ""
        rows = f"SELECT label, {self._rounding.by} AS score, {n} AS n FROM given {kept} {grouped}"
        self.sql.execute(f"CREATE TEMP TABLE IF NOT EXISTS lines AS SELECT * FROM ({rows}) LIMIT 0")
        lines = _one(self.sql, f"INSERT INTO lines {rows}")[0]
        self.sql.unregister("given")
        self._waiting, self._repeats = self._waiting + lines, 2 * lines < len(given)
        if self._waiting > max(self._most, self._kept):
            self._group()

    def finish(self) -> list[str]:
        """Group all lines; return a note if scores were rounded."""
        if self._rows:
            self._insert()
        self.sql.execute("CREATE TEMP TABLE IF NOT EXISTS lines (label DOUBLE, score DOUBLE, n BIGINT)")
        self._group()
        return self._rounding.notes(self._most)

    def _group(self) -> None:
        """Group the lines, with scores rounded until few enough are distinct."""
        by, most = "score", self._most
        while True:
            while _one(self.sql, f"SELECT count(DISTINCT {by}) FROM lines")[0] > most:
                by = self._rounding.next()
            self._regroup(by)
            self._kept, self._waiting = _one(self.sql, "SELECT count(*) FROM lines")[0], 0
            if self._kept <= 2 * most:
                return
            by = self._rounding.next()

    def _regroup(self, by: str) -> None:
        """Group by rounded scores; if that takes too much memory, by scores of one decimal less."""
        import duckdb

        for _ in range(3):
            try:
                return _regroup(self.sql, by)
            except duckdb.OutOfMemoryException:
                by = self._rounding.next()
        _regroup(self.sql, by)


def _regroup(sql: Any, by: str) -> None:
    grouped = f"SELECT label, {by} AS score, sum(n)::BIGINT AS n FROM lines GROUP BY ALL"
    sql.execute(f"CREATE OR REPLACE TEMP TABLE lines AS {grouped}")


class _Rounding:
    """Scores rounded to fewer and fewer decimals, with a bound on the rounding error."""

    def __init__(self, sql: Any) -> None:
        self._sql, self._unit, self._moved = sql, True, 0.0
        self._decimals: int | None = None  # None as long as nothing is rounded

    def next(self) -> str:
        """Return the SQL expression of the scores, rounded to one decimal less."""
        low, high = _one(self._sql, "SELECT min(score), max(score) FROM lines")
        self._unit = low >= 0 and high <= 1
        if self._decimals is None:
            self._decimals = DECIMALS + 1 - (0 if self._unit else max(0, ceil(log10(high - low))))
        self._decimals -= 1
        self._moved += 0.5 * 10.0**-self._decimals
        return self.by

    @property
    def by(self) -> str:
        """SQL expression of the rounded scores; no probability becomes 0 or 1."""
        if self._decimals is None:
            return "score"
        half = 0.5 * 10.0**-self._decimals
        scale = f"{10.0**self._decimals!r}::DOUBLE"
        near = f"round(score * {scale}) / {scale}"
        if not self._unit:
            return near
        inside = f"greatest(least({near}, 1 - {half!r}::DOUBLE), {half!r}::DOUBLE)"
        return f"CASE WHEN score > 0 AND score < 1 THEN {inside} ELSE score END"

    def notes(self, most: int) -> list[str]:
        if self._decimals is None:
            return []
        rounded = f"each score changed by at most {_plain(self._moved)}"
        brier = f", and the Brier score changed by at most {_plain(2 * self._moved)}" if self._unit else ""
        return [
            f"Scores were rounded to {_plain(10.0**-self._decimals)}, because more than {most:,} are "
            f"distinct: {rounded}{brier}."
        ]


def _plain(value: float) -> str:
    """Write a small number without an exponent.

    >>> _plain(5e-8), _plain(10.0)
    ('0.00000005', '10')
    """
    return f"{value:.12f}".rstrip("0").rstrip(".")


def _whole(column: pd.Series, name: str) -> np.ndarray:
    n = as_float(column)
    if not ((n >= 0) & (n == np.floor(n)) & np.isfinite(n)).all():
        raise DataError(
            f"weight: {name!r} must contain whole numbers of at least 0.",
            "Correct the values, or choose another column.",
        )
    return n.astype(np.int64)


def _left_out(sql: Any, score: str) -> tuple[int, list[str]]:
    """Return the number of rows, and notes on those without a label or a score."""
    query = (
        "SELECT coalesce(sum(n), 0), coalesce(sum(n) FILTER (label IS NULL), 0), "
        "coalesce(sum(n) FILTER (score IS NULL), 0) FROM lines"
    )
    total, unlabelled, unscored = map(int, _one(sql, query))
    return total, excluded_rows(unlabelled, unscored, score)


def _fetched(sql: Any, target: str, score: str) -> pd.DataFrame:
    """Return the counted lines as a table, sorted by score."""
    there = "FROM lines WHERE label IS NOT NULL AND score IS NOT NULL"
    n, labels = _one(sql, f"SELECT count(*), count(DISTINCT label) {there}")
    if n == 0:
        raise DataError("No row has both a label and a finite score.", "Fill in missing labels and scores.")
    if labels > MOST_DISTINCT_LABELS:
        raise DataError(
            f"target: {target!r} contains {labels:,} values, so it is not a label.", "Choose another."
        )
    names = sql.sql(f"SELECT DISTINCT label {there} ORDER BY label").to_arrow_table().column(0)
    sql.execute("CREATE OR REPLACE TEMP TABLE names AS SELECT DISTINCT label " + there)
    ranked = "(SELECT label, row_number() OVER (ORDER BY label) - 1 AS code FROM names)"
    codes, scores, counts = np.empty(n, np.int16), np.empty(n), np.empty(n)
    query = f"SELECT code, score, n FROM lines JOIN {ranked} USING (label) WHERE score IS NOT NULL ORDER BY score, code"
    at = 0
    for batch in sql.sql(query).to_arrow_reader(ROWS_AT_ONCE):
        for into, values in zip((codes, scores, counts), batch.columns, strict=True):
            into[at : at + len(batch)] = values.to_numpy(zero_copy_only=False)
        at += len(batch)
    release_memory(n)
    return pd.DataFrame({target: _labels(names.to_pandas(), codes), score: scores, COUNT: counts})


def _labels(values: pd.Series, codes: np.ndarray) -> Any:
    """Return the label of each line: numbers and truth values unchanged, texts as categories."""
    if values.dtype.kind == "f" and (values == np.floor(values)).all():
        values = values.astype(np.int64)
    if is_number(values):
        return values.to_numpy()[codes]
    return pd.Categorical.from_codes(codes, values.astype(str))


def _one(sql: Any, query: str) -> tuple[Any, ...]:
    # All rows, because an unfinished result would block the next query
    return sql.execute(query).fetchall()[0]


@contextmanager
def _counts(most: int, memory: str = DUCKDB_MEMORY, spill: bool = True) -> Iterator[_Counts]:
    """Open an in-memory database that loads no extension and writes only to a temporary folder."""
    import duckdb  # only here, as it takes long to load

    with tempfile.TemporaryDirectory(prefix="calib-") as folder:
        settings: dict[str, Any] = {
            "memory_limit": memory,
            "temp_directory": folder if spill else "",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        try:
            with duckdb.connect(config=settings) as sql:
                yield _Counts(sql, most)
        except duckdb.OutOfMemoryException:
            raise DataError(
                "Counting the scores takes more memory than allowed.", "Use the command line."
            ) from None

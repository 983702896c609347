"""Predictions that do not fit into memory: DuckDB counts them by score and label, and the counts give exact results.

The file is read in place, block by block. The program's own reader infers delimiter, header, names and types from the
first rows, and these apply to all rows. A file is refused if DuckDB would read its numbers differently.
"""

from __future__ import annotations

import glob
import gzip
import io
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil, log10
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from calib.data.column_types import MISSING_CODES, MISSING_NUMBER, typed_text
from calib.data.columns import as_float, is_number
from calib.data.database import COUNT
from calib.data.delimited import sniff
from calib.data.errors import DataError
from calib.data.formats import read_parquet
from calib.data.read import EXTENSIONS, TEXT, read_table
from calib.data.table import note_reading, reading_of
from calib.kernel.memory import release_memory
from calib.kernel.progress import Watch, interrupted
from calib.kernel.wording import counted

# Distinct scores that are kept, each with both labels: evaluating them takes less than 2 GB
MOST_DISTINCT_SCORES = 5_000_000
# Decimals to which scores are rounded if more are distinct; one fewer if still too many, and so on
DECIMALS = 7
# Rows above which predictions are counted even if they fit into memory: row by row, 10 million take minutes
COUNTED_ROWS = 2_000_000
PROBED = 8_000_000  # first rows, counted to learn early that there are more
DUCKDB_MEMORY = "1GB"  # for DuckDB; larger intermediate results go to a temporary folder
FIRST_ROWS, FIRST_BYTES = 20_000, 4_000_000  # of a file, read to learn its columns and types
MOST_DISTINCT_LABELS = 1_000
OWN_COLUMNS = "hive_partitioning=false"  # otherwise a folder y=9 would replace the column y by 9
SEPARATOR = re.compile(r'\s*"?sep=(.)"?\r?\n')


@dataclass(frozen=True, eq=False)
class LargeFile:
    """Parquet or text file of any size, which is read in place.

    Attributes
    ----------
    path
        Path of the file.
    head
        First rows, typed.
    source, parameters
        SQL expression after FROM, and its parameters.
    delimiter
        Delimiter of a text; None for a Parquet file.
    texts
        Columns that a Parquet file stores as text.
    rows
        Number of rows, estimated for a text.
    """

    path: Path
    head: pd.DataFrame
    source: str
    parameters: tuple[Any, ...]
    delimiter: str | None = None
    texts: frozenset[str] = frozenset()
    rows: int = 0

    @property
    def name(self) -> str:
        return self.path.name

    def state(self) -> tuple[int, int]:
        """Return the size of the file and the time of its last change."""
        now = self.path.stat()
        return now.st_size, now.st_mtime_ns

    def is_text(self, name: str) -> bool:
        """Tell whether the file stores a column as text, even if it contains numbers."""
        return self.delimiter is not None or name in self.texts

    def column(self, name: str) -> str:
        """Return the SQL expression of a column; blanks around the cells of a text are removed."""
        return sql_name(name) if self.delimiter is None else f"trim(c{list(map(str, self.head)).index(name)})"

    def number(self, name: str) -> str:
        """Return the SQL expression of a column of finite numbers; anything else is NULL."""
        column = self.column(name)
        if self.delimiter is not None:
            column = f"CASE WHEN NOT contains({column}, '_') THEN {column} END"  # DuckDB would read 1_0
        if self.delimiter not in (None, ","):
            column = f"replace({column}, ',', '.')"
        value = f"TRY_CAST({column} AS DOUBLE)"
        return f"CASE WHEN isfinite({value}) THEN {value} END"


def open_large(path: Path, header: int | None = None) -> LargeFile:
    """Read the first rows of a Parquet or text file of any size.

    Parameters
    ----------
    header
        Line of the header of a text, as in ``read_table``.

    Raises
    ------
    DataError
        For another format, or a file that cannot be read.
    """
    try:
        with open(path, "rb") as file:
            start = file.read(4)
    except OSError as error:
        raise DataError(f"{path} cannot be opened ({error.strerror}).", "Check the path.") from None
    if start == b"PAR1":
        return _parquet(path)
    return _text_file(path, start.startswith(b"\x1f\x8b"), header)


def _parquet(path: Path) -> LargeFile:
    from pyarrow import parquet  # only here, as it takes long to load

    first = io.BytesIO()
    try:
        with parquet.ParquetFile(path) as file:
            batches = [batch for batch, _ in zip(file.iter_batches(FIRST_ROWS), range(1), strict=False)]
            parquet.write_table(pa.Table.from_batches(batches, file.schema_arrow), first)
            texts = frozenset(field.name for field in file.schema_arrow if _is_text(field.type))
            rows = file.metadata.num_rows
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{path.name} is a damaged Parquet file ({error}).", "Save it again.") from None
    head = note_reading(read_parquet(first.getvalue(), path.name), name=path.name.split(".")[0])
    source = f"read_parquet(?, {OWN_COLUMNS})"
    return LargeFile(path, head, source, (glob.escape(str(path)),), texts=texts, rows=rows)


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _text_file(path: Path, packed: bool, header: int | None) -> LargeFile:
    name = path.name.removesuffix(".gz")
    if EXTENSIONS.get(Path(name).suffix[1:].lower(), TEXT) != TEXT:
        raise DataError(
            f"{path.name} is too large: files of this format must fit into memory.",
            "Save the table as Parquet or CSV.",
        )
    opened: Any = gzip.open if packed else open
    with opened(path, "rb") as file:
        start = file.read(FIRST_BYTES)
    if len(start) == FIRST_BYTES:
        start = start[: start.rfind(b"\n") + 1]
    head = read_table(start, name, header=header)
    line = reading_of(head).header or 0
    text = start.decode("utf-8-sig", "replace")
    if "\ufffd" in text:
        raise DataError(f"{path.name} is not UTF-8 text.", "Save the file as UTF-8, or as Parquet.")
    stated = SEPARATOR.match(text)
    delimiter = stated.group(1) if stated else sniff(text.split("\n", max(line - 1, 0))[-1].encode())
    if delimiter == " ":
        raise DataError(
            f"The columns of {path.name} are separated by spaces.", "Separate the columns by commas."
        )
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(head.shape[1]))
    source = (
        f"read_csv(?, delim=?, compression=?, header=false, skip={line}, columns={{{columns}}}, {OWN_COLUMNS}, "
        """quote='"', escape='"', comment='', nullstr='', auto_detect=false, strict_mode=true)"""
    )
    how = (glob.escape(str(path)), delimiter, "gzip" if packed else "none")
    rows = 0 if packed else len(head) * path.stat().st_size // max(len(start), 1)
    return LargeFile(path, head, source, how, delimiter, rows=rows)


def open_if_many(path: Path) -> LargeFile | None:
    """Open a Parquet or text file of more than ``COUNTED_ROWS`` rows; return None for any other file."""
    try:
        if (
            path.stat().st_size < COUNTED_ROWS
        ):  # a row of a text has more bytes, and one of Parquet hardly fewer
            return None
        file = open_large(path)
    except (DataError, OSError):
        return None
    return file if file.rows > COUNTED_ROWS else None


def count_predictions(
    file: LargeFile,
    target: str,
    score: str,
    count: str | None = None,
    most: int = MOST_DISTINCT_SCORES,
    memory: str = DUCKDB_MEMORY,
    spill: bool = True,
    watch: Watch | None = None,
) -> pd.DataFrame:
    """Count the rows of a file by score and label.

    Parameters
    ----------
    file
        File, as ``open_large`` returns it.
    target, score
        Names of the label and score columns.
    count
        Name of the column with the number of observations per row, if any.
    most
        Largest number of distinct scores. If there are more, they are rounded to ``DECIMALS`` decimals or fewer.
    memory
        Memory limit of DuckDB, such as "1GB".
    spill
        Whether DuckDB may write to a temporary folder if it needs more memory; otherwise the count is refused.
    watch
        Reports the share of the file that was read, and can cancel the count.

    Returns
    -------
    DataFrame
        One line per pair of label and score, with its number of rows in ``COUNT``, sorted by score. The notes in
        ``reading_of`` say what was excluded or rounded.

    Raises
    ------
    DataError
        For a missing column, scores that are not numbers, or a file that cannot be read completely.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "p.csv")
    ...     _ = path.write_text("label,p\\n1,0.5\\n0,0.5\\n1,0.5\\n", encoding="utf-8")
    ...     count_predictions(open_large(path), "label", "p").values.tolist()
    [[0.0, 0.5, 1.0], [1.0, 0.5, 2.0]]
    """
    check_roles(file.head, target, score, count)
    seen = file.state()
    with opened(file, memory, spill, watch) as sql:
        check_first_numbers(sql, file, score, "score: ")
        rows = (
            f"SELECT {file.column(target)} AS label, {file.number(score)} AS score, "
            f"{'1' if count is None else _whole(file.number(count), count)} AS n FROM {file.source}"
        )
        note = _group(sql, rows, file.parameters, most)
        # on the counted lines, because doing it per row takes longer than everything else
        if file.delimiter is not None:
            sql.execute(f"UPDATE lines SET label = NULL WHERE label IN ({sql_list(MISSING_CODES)})")
        total, notes = _left_out(sql, file, target, score)
        frame = _fetched(sql, file, target, score)
    if file.state() != seen:
        raise DataError(f"{file.path.name} changed while it was being read.", "Read it again.")
    lines = (
        f"The file was read in place, and its {total:,} rows were grouped into {len(frame):,} distinct "
        f"pairs of score and label."
    )
    return note_reading(frame, name=reading_of(file.head).name, notes=(lines, *notes, *note))


def check_roles(head: pd.DataFrame, target: str, score: str, count: str | None) -> None:
    """Refuse a column that a table does not have."""
    for role, name in (("target", target), ("score", score), ("weight", count)):
        if name is not None and name not in head:
            known = ", ".join(map(str, head))
            raise DataError(f"{role}: column {name!r} was not found.", f"Choose one of {known}.")


def count_scores(
    scored: Iterable[tuple[np.ndarray, np.ndarray]],
    most: int = MOST_DISTINCT_SCORES,
    memory: str = DUCKDB_MEMORY,
    spill: bool = True,
) -> tuple[pd.DataFrame, list[str]]:
    """Count scores that arrive in blocks, in the same way as ``count_predictions`` counts those of a file.

    Parameters
    ----------
    scored
        Pairs of scores (m,) and labels of 0 and 1 (m,).
    most, memory, spill
        As in ``count_predictions``.

    Returns
    -------
    DataFrame, list of str
        Columns label, score and n, in the order of the scores; a note if scores were rounded.

    Examples
    --------
    >>> count_scores([(np.array([0.5, 0.2]), np.array([1, 0])), (np.array([0.5]), np.array([1]))])[0].values.tolist()
    [[0.0, 0.2, 1.0], [1.0, 0.5, 2.0]]
    """
    rounding, waiting = None, 0
    with _connection(memory, spill) as sql, _read_errors("the scores"):
        sql.execute("CREATE TEMP TABLE lines (label UTINYINT, score DOUBLE, n BIGINT)")
        for scores, y in scored:
            sql.register(
                "scored", pa.table({"label": y.astype(np.uint8), "score": scores.astype(np.float64)})
            )
            # A score is rounded once, because a second rounding may move it further.
            by = "score" if rounding is None else rounding.by
            sql.execute(f"INSERT INTO lines SELECT label, {by}, count(*) FROM scored GROUP BY ALL")
            sql.unregister("scored")
            waiting += len(scores)
            if waiting > 2 * most:
                _regroup(sql, "lines", "score", ())
                rounding, waiting = _at_most(sql, most, rounding), 0
        _regroup(sql, "lines", "score", ())
        rounding = _at_most(sql, most, rounding)
        lines = sql.execute("SELECT label, score, n FROM lines ORDER BY score, label").df()
    return lines, [] if rounding is None else [rounding.note(most)]


def _at_most(sql: Any, most: int, rounding: _Rounding | None) -> _Rounding | None:
    """Round the scores in ``lines`` until there are at most ``most``; return the rounding."""
    while _one(sql, "SELECT greatest(count(DISTINCT score), ceil(count(*) / 2)) FROM lines")[0] > most:
        rounding = rounding or _Rounding(sql, "SELECT score FROM lines", ())
        _regroup(sql, "lines", rounding.next(), ())
    return rounding


def _group(sql: Any, rows: str, parameters: tuple[Any, ...], most: int) -> list[str]:
    """Create the table ``lines`` of label, score and n with at most ``most`` scores; return a note on rounding."""
    probe = f"SELECT count(DISTINCT score) FROM (SELECT score FROM ({rows}) LIMIT {PROBED})"
    rounding = _Rounding(sql, rows, parameters) if _one(sql, probe, parameters)[0] > most else None
    if rounding is None:
        _regroup(sql, f"({rows})", "score", parameters)
    else:
        _regroup_rounded(sql, f"({rows})", rounding, parameters)
    rounding = _at_most(sql, most, rounding)
    return [] if rounding is None else [rounding.note(most)]


def _regroup(sql: Any, rows: str, by: str, parameters: tuple[Any, ...]) -> None:
    sql.execute(
        f"CREATE OR REPLACE TEMP TABLE lines AS SELECT label, {by} AS score, sum(n)::BIGINT AS n FROM {rows} "
        "GROUP BY ALL HAVING sum(n) > 0",
        parameters,
    )


def _regroup_rounded(sql: Any, rows: str, rounding: _Rounding, parameters: tuple[Any, ...]) -> None:
    """Group by rounded scores; if that takes too much memory, by scores of one decimal less."""
    import duckdb

    for _ in range(3):
        try:
            return _regroup(sql, rows, rounding.next(), parameters)
        except duckdb.OutOfMemoryException:
            pass
    _regroup(sql, rows, rounding.next(), parameters)


class _Rounding:
    """Scores rounded to fewer and fewer decimals, with a bound on the rounding error."""

    def __init__(self, sql: Any, scores: str, parameters: tuple[Any, ...]) -> None:
        low, high = _one(sql, f"SELECT min(score), max(score) FROM ({scores})", parameters)
        self._unit = low >= 0 and high <= 1
        self._decimals = DECIMALS + 1 - (0 if self._unit else max(0, ceil(log10(high - low))))
        self._moved = 0.0

    def next(self) -> str:
        """Return the SQL expression of the scores, rounded to one decimal less."""
        self._decimals -= 1
        self._moved += 0.5 * 10.0**-self._decimals
        return self.by

    @property
    def by(self) -> str:
        """SQL expression of the rounded scores; no probability becomes 0 or 1."""
        half = 0.5 * 10.0**-self._decimals
        scale = f"{10.0**self._decimals!r}::DOUBLE"
        near = f"round(score * {scale}) / {scale}"
        if not self._unit:
            return near
        inside = f"greatest(least({near}, 1 - {half!r}::DOUBLE), {half!r}::DOUBLE)"
        return f"CASE WHEN score > 0 AND score < 1 THEN {inside} ELSE score END"

    def note(self, most: int) -> str:
        rounded = f"each score changed by at most {_plain(self._moved)}"
        brier = f", and the Brier score changed by at most {_plain(2 * self._moved)}" if self._unit else ""
        return (
            f"Scores were rounded to {_plain(10.0**-self._decimals)}, because more than {most:,} are "
            f"distinct: {rounded}{brier}."
        )


def _plain(value: float) -> str:
    """Write a small number without an exponent.

    >>> _plain(5e-8), _plain(10.0)
    ('0.00000005', '10')
    """
    return f"{value:.12f}".rstrip("0").rstrip(".")


def check_first_numbers(sql: Any, file: LargeFile, name: str, role: str = "") -> None:
    """Refuse a column of numbers that DuckDB reads differently from the program's own reader.

    ``role`` is the column's role, such as "score: ".
    """
    column = file.head[name]
    if not is_number(column):
        raise DataError(f"{role}{name!r} contains values that are not numbers.", "Choose another column.")
    query = f"SELECT {file.number(name)} AS score FROM {file.source} LIMIT {len(column)}"
    sql.execute("SET threads TO 1")  # several threads may change the order of rows if IN becomes a join
    theirs = sql.execute(query, file.parameters).fetchnumpy()["score"]
    sql.execute("RESET threads")
    read, expected = np.ma.filled(theirs.astype(float), np.nan), as_float(column)
    expected = np.where(np.isfinite(expected), expected, np.nan)
    if not np.allclose(read, expected, rtol=1e-14, atol=0, equal_nan=True):  # decimals differ in the last bit
        raise DataError(
            f"{role}the numbers in {name!r} are not in plain notation, such as 0.25.",
            "Save the file as Parquet.",
        )


def _left_out(sql: Any, file: LargeFile, target: str, score: str) -> tuple[int, list[str]]:
    """Return the number of rows, and notes on those without a label or a score."""
    query = (
        "SELECT coalesce(sum(n), 0), coalesce(sum(n) FILTER (label IS NULL), 0), "
        "coalesce(sum(n) FILTER (score IS NULL), 0) FROM lines"
    )
    total, unlabelled, unscored = map(int, _one(sql, query))
    if unscored and file.delimiter is not None:
        text, known = file.column(score), sql_list((*MISSING_CODES, *MISSING_NUMBER))
        number = f"TRY_CAST({text} AS DOUBLE) IS NULL OR contains({text}, '_')"
        wrong = f"{file.number(score)} IS NULL AND {text} NOT IN ({known}) AND ({number})"
        found = sql.execute(
            f"SELECT {text} FROM {file.source} WHERE {wrong} LIMIT 1", file.parameters
        ).fetchall()
        if found:
            raise DataError(
                f"score: {score!r} contains {found[0][0][:40]!r}, which is not a number.", "Correct it."
            )
    reasons = {
        "because the label is missing": unlabelled,
        f"because {score!r} is missing or infinite": unscored,
    }
    return total, [f"Excluded {why}: {counted(n, 'row')}." for why, n in reasons.items() if n]


def _fetched(sql: Any, file: LargeFile, target: str, score: str) -> pd.DataFrame:
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
    for batch in sql.sql(query).to_arrow_reader(1_000_000):
        for into, values in zip((codes, scores, counts), batch.columns, strict=True):
            into[at : at + len(batch)] = values.to_numpy(zero_copy_only=False)
        at += len(batch)
    release_memory(n)
    return pd.DataFrame(
        {target: _labels(names, codes, file.delimiter is not None), score: scores, COUNT: counts}
    )


def _labels(names: pa.ChunkedArray, codes: np.ndarray, text: bool) -> Any:
    """Return the label of each line: numbers and truth values unchanged, texts as categories."""
    values = typed_text(names).values if text else names.to_pandas()
    if is_number(values) or values.dtype.kind == "b":
        return values.to_numpy()[codes]
    return pd.Categorical.from_codes(codes, values.astype(str))


def _whole(value: str, name: str) -> str:
    """Return the SQL expression of a count; a value that is not a whole number ends the query."""
    wrong = sql_text(f"weight: {name!r} must contain whole numbers of at least 0.")
    return f"CASE WHEN {value} >= 0 AND {value} = floor({value}) THEN {value}::BIGINT ELSE error({wrong}) END"


def sql_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def sql_text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def sql_list(values: Iterable[str]) -> str:
    return ", ".join(map(sql_text, values))


def _one(sql: Any, query: str, parameters: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    # All rows, because an unfinished result would block the next query
    return sql.execute(query, parameters).fetchall()[0]


@contextmanager
def _connection(memory: str, spill: bool) -> Iterator[Any]:
    """Open an in-memory database that loads no extension and writes only to a temporary folder."""
    import duckdb  # only here, as it takes long to load

    with tempfile.TemporaryDirectory(prefix="calib-") as folder:
        settings: dict[str, Any] = {
            "memory_limit": memory,
            "temp_directory": folder if spill else "",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        with duckdb.connect(config=settings) as connection:
            yield connection


@contextmanager
def opened(
    file: LargeFile, memory: str = DUCKDB_MEMORY, spill: bool = True, watch: Watch | None = None
) -> Iterator[Any]:
    """Open a new connection that can read the file, and convert its errors to messages for a person."""
    watch = watch or Watch()
    with _connection(memory, spill) as sql:
        sql.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")

        def called_off() -> bool:
            if watch.report is not None:
                share = max(0.0, sql.query_progress() / 100)
                watch.report(share, f"{share:.0%} read")
            return watch.cancel.is_set()

        with _read_errors(file.path.name, watch), interrupted(sql.interrupt, called_off):
            yield sql


@contextmanager
def _read_errors(name: str, watch: Watch | None = None) -> Iterator[None]:
    """Convert errors of DuckDB to messages for a person."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        if watch is not None:
            watch.step(0.0, name)
        raise _refusal(str(error), name) from None


def _refusal(said: str, name: str) -> DataError:
    line = re.search(r"CSV Error on Line: (\d+)", said)
    cells = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", said)
    if weight := re.search(r"weight: .*", said):
        return DataError(weight.group(), "Correct the values, or choose another column.")
    if "Out of Memory" in said or "out of memory" in said:
        return DataError(f"Reading {name} takes more memory than allowed.", "Use the command line.")
    if line and cells:
        expected, found = cells.groups()
        message = (
            f"Line {line[1]} has {found} cell{'' if found == '1' else 's'}, but {expected} are expected."
        )
        return DataError(
            message, "Complete the line, or put quotation marks around cells that contain the delimiter."
        )
    if line and "utf-8" in said:
        return DataError(
            f"Line {line[1]} of {name} is not UTF-8 text.", "Save the file as UTF-8, or as Parquet."
        )
    if line and "quote" in said:
        return DataError(f"A quotation mark in line {line[1]} is never closed.", "Close or remove it.")
    reason = said.strip().partition("\n")[0]
    return DataError(f"{name} could not be read completely ({reason}).", "Check the file, and save it again.")

"""Draw a sample to learn from, if a table of features does not fit into memory; read its other rows in blocks.

The sample is stratified by class, and within a class all choices of rows are equally likely. The ranks of the chosen
rows within their class are drawn first; each pass over the table recognises a row by its rank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from calib.data.column_types import (
    MISSING_CODES,
    MISSING_VALUES,
    as_frame,
    own,
    strings,
    typed_frame,
    without_tokens,
)
from calib.data.columns import bounded, is_number
from calib.data.counting import (
    DUCKDB_MEMORY,
    MOST_DISTINCT_LABELS,
    LargeFile,
    check_first_numbers,
    opened,
    sql_list,
)
from calib.data.errors import DataError
from calib.data.options import LEARN_ROWS
from calib.data.table import READING_ATTRIBUTE, note_reading, reading_of
from calib.data.target import coded_labels
from calib.kernel.memory import release_memory
from calib.kernel.progress import Watch
from calib.kernel.wording import counted

MOST_SAMPLED_CELLS = 40_000_000  # largest number of cells of a sample: 320 MB
SAMPLED_AT_ONCE = 100_000

Blocks = Callable[[Sequence[str] | None, Watch], Iterator[pd.DataFrame]]
"""Function from column names (None for all columns) and a watch that can cancel it to all rows of a table in blocks.

The order of the rows never changes."""


@dataclass(frozen=True, eq=False)
class Rest:
    """Rows of a table outside its sample. They are read again on every pass.

    Attributes
    ----------
    blocks
        All rows of the table, including the sample.
    target
        Label column.
    counts
        Label → number of rows.
    chosen
        Label → increasing ranks of its rows in the sample.
    digest
        Key of the table, size of the sample and seed; equal keys have equal samples.
    """

    blocks: Blocks
    target: str
    counts: Mapping[str, int]
    chosen: Mapping[str, np.ndarray]
    digest: str

    @property
    def sampled(self) -> int:
        """Number of rows in the sample."""
        return sum(map(len, self.chosen.values()))

    @property
    def total(self) -> int:
        """Number of rows with a label."""
        return sum(self.counts.values())

    def sample(self, watch: Watch | None = None) -> pd.DataFrame:
        """Return the rows of the sample, in the order of the table."""
        watch, rows, pieces = watch or Watch(), 0, []
        for block, drawn, _ in self._passed(None, watch):
            rows += len(block)
            watch.step(min(rows / self.total, 1.0), f"{rows:,} rows read")
            pieces.append(block[drawn])
        frame = pd.concat(pieces, ignore_index=True)
        frame.attrs = dict(pieces[0].attrs)
        release_memory(len(frame))
        return frame

    def scored(
        self, X: pd.DataFrame, positive: str, watch: Watch | None = None
    ) -> Iterator[tuple[pd.DataFrame, np.ndarray]]:
        """Yield (features, labels 0 or 1) of the rows outside the sample, in blocks.

        Parameters
        ----------
        X : (n, d)
            Features of the sample; the other rows get the same columns and types.
        positive
            Label that becomes 1.
        watch
            Can cancel the reading.
        """
        columns = [str(name) for name in X.columns]
        for block, drawn, labels in self._passed([*columns, self.target], watch):
            rows = ~drawn & (labels.codes >= 0)
            if rows.any():
                texts = labels.texts
                code = texts.index(positive) if positive in texts else len(texts)  # else, of no row
                y = labels.codes[rows] == code
                yield _as_in(block.loc[rows, columns], X), y.astype(np.int64)

    def _passed(
        self, names: Sequence[str] | None, watch: Watch | None = None
    ) -> Iterator[tuple[pd.DataFrame, np.ndarray, Any]]:
        """Yield (rows, mask of the rows in the sample, labels), block by block."""
        seen = dict.fromkeys(self.counts, 0)
        for block in self.blocks(names, watch or Watch()):
            labels, drawn = coded_labels(block, self.target), np.zeros(len(block), dtype=bool)
            for code, text in enumerate(labels.texts):
                if text not in seen:
                    raise _changed()
                rows, chosen = np.flatnonzero(labels.codes == code), self.chosen[text]
                first, last = np.searchsorted(chosen, [seen[text], seen[text] + len(rows)])
                drawn[rows[chosen[first:last] - seen[text]]] = True
                seen[text] += len(rows)
            yield block, drawn, labels
        if seen != self.counts:
            raise _changed()


def _changed() -> DataError:
    return DataError("The table changed while it was being read.", "Read it again.")


def _as_in(block: pd.DataFrame, X: pd.DataFrame) -> pd.DataFrame:
    """Convert the columns of rows to the types that ``X`` has."""
    columns = {}
    for name, like in X.items():
        column = block[name]
        if is_number(like) and not is_number(column):  # a column of numbers with texts among them
            column = pd.Series(pd.to_numeric(column, errors="coerce"), index=column.index)
        truth = pd.api.types.is_bool_dtype(like.dtype)
        columns[str(name)] = bounded(column) if is_number(like) and not truth else column
    return as_frame(columns, block.index)


class LabelCounts:
    """Numbers of rows with each label, of a table that is read in blocks."""

    def __init__(self, target: str) -> None:
        self.target, self.counts, self.missing, self.read = target, dict[str, int](), 0, 0

    def add(self, block: pd.DataFrame) -> None:
        """Count the labels of the next rows.

        Raises
        ------
        DataError
            If there are too many labels.
        """
        labels = coded_labels(block, self.target)
        found = np.bincount(labels.codes[labels.codes >= 0]).tolist()
        for text, n in zip(labels.texts, found, strict=False):
            self.counts[text] = self.counts.get(text, 0) + n
        self.missing += int((labels.codes < 0).sum())
        self.read += len(block)
        if len(self.counts) > MOST_DISTINCT_LABELS:
            raise DataError(
                f"target: {self.target!r} contains more than {MOST_DISTINCT_LABELS:,} values, so it is not a label.",
                "Choose another.",
            )


def draw_rows(
    blocks: Blocks,
    target: str,
    rows: int | None = None,
    seed: int = 0,
    columns: int = 1,
    key: str = "",
    watch: Watch | None = None,
    labels: LabelCounts | None = None,
) -> pd.DataFrame:
    """Draw a stratified sample from a table.

    Parameters
    ----------
    blocks
        All rows of the table.
    target
        Label column. Rows without a label are excluded.
    rows
        Size of the sample, at most half of the rows. None takes ``LEARN_ROWS``, but fewer if the table has few rows or
        many columns.
    seed
        Seed of the draw.
    columns
        Number of columns of the table.
    key
        Key that identifies the table.
    watch
        Reports the rows read, and can cancel.
    labels
        All labels, if they are counted already; else one more pass over the table counts them.

    Returns
    -------
    DataFrame
        Sample; ``reading_of(frame).rest`` has the other rows.

    Raises
    ------
    DataError
        If the label column has very many values or the table too few rows.
    Cancelled
        If ``watch`` was cancelled.

    Examples
    --------
    >>> table = pd.DataFrame({"x": range(1000), "y": ["a", "b"] * 500})
    >>> sample = draw_rows(lambda names, watch: iter([table]), "y", 100)
    >>> sample["y"].value_counts().to_dict(), reading_of(sample).rest.total
    ({'a': 50, 'b': 50}, 1000)
    """
    watch = watch or Watch()
    if labels is None:
        labels = LabelCounts(target)
        for block in blocks([target], watch):
            labels.add(block)
            watch.step(0.0, f"{labels.read:,} labels counted")
    counts = labels.counts
    total = sum(counts.values())
    size = _size(rows, total, columns)
    rng = np.random.default_rng(seed)
    chosen = {
        text: np.sort(rng.choice(n, max(1, round(n * size / total)), replace=False, shuffle=False))
        for text, n in sorted(counts.items())
    }
    rest = Rest(blocks, target, counts, chosen, f"{key} {size} {seed}")
    frame = rest.sample(watch)
    notes = [
        f"The model learns from {rest.sampled:,} of {total:,} rows, drawn at random within each class. It "
        f"is evaluated on the other {total - rest.sampled:,}, which were scored in batches and counted by "
        f"score and label."
    ]
    if labels.missing:
        notes.append(f"Excluded because the label is missing: {counted(labels.missing, 'row')}.")
    return note_reading(frame, notes=(*reading_of(frame).notes, *notes), rest=rest)


def _size(rows: int | None, total: int, columns: int) -> int:
    """Return the size of the sample; refuse a given size that leaves too few rows for the evaluation."""
    if total < 4:
        raise DataError("Too few rows have a label.", "Fill in missing labels.")
    if rows is None:
        return min(LEARN_ROWS, total // 2, max(MOST_SAMPLED_CELLS // columns, 1_000))
    if rows > total // 2:
        raise DataError(
            f"data_params.learn_rows is {rows:,}, but only {total:,} rows have a label.",
            f"Choose at most {total // 2:,}, or remove learn_rows to split all rows.",
        )
    if rows * columns > MOST_SAMPLED_CELLS:
        raise DataError(
            f"data_params.learn_rows is {rows:,}; with {columns:,} columns, this sample does not fit into "
            f"memory.",
            f"Choose at most {MOST_SAMPLED_CELLS // columns:,}.",
        )
    return rows


def blocks_of_frame(frame: pd.DataFrame) -> Blocks:
    """Return a function that yields the rows of a table in memory."""
    typed = typed_frame(frame)

    def blocks(names: Sequence[str] | None, _: Watch) -> Iterator[pd.DataFrame]:
        chosen = typed if names is None else typed[list(names)]
        for at in range(0, len(chosen), SAMPLED_AT_ONCE):
            block = chosen.iloc[at : at + SAMPLED_AT_ONCE]
            block.attrs = dict(frame.attrs)
            yield block

    return blocks


def blocks_of_file(file: LargeFile, spill: bool = True, memory: str = DUCKDB_MEMORY) -> Blocks:
    """Return a function that yields the rows of a file; refuse a file that changes, or texts among its numbers.

    Parameters
    ----------
    file
        File from ``open_large``; all rows get the types of its first rows.
    spill, memory
        As in ``count_predictions``.
    """
    _check_numbers(file, spill, memory)
    seen = file.state()

    def blocks(names: Sequence[str] | None, _: Watch) -> Iterator[pd.DataFrame]:
        names = list(map(str, file.head)) if names is None else list(names)
        query = f"SELECT {', '.join(_value(file, name) for name in names)} FROM {file.source}"
        with opened(file, memory, spill) as sql:
            for batch in sql.sql(query, params=file.parameters).to_arrow_reader(SAMPLED_AT_ONCE):
                if len(batch):
                    yield typed_batch(file.head, names, batch)
        if file.state() != seen:
            raise DataError(f"{file.path.name} changed while it was being read.", "Read it again.")

    return blocks


def typed_batch(head: pd.DataFrame, names: Sequence[str], batch: pa.RecordBatch) -> pd.DataFrame:
    """Return rows that have Arrow's types as a table, described as the first rows of theirs."""
    columns = {}
    for name, cells in zip(names, batch.columns, strict=True):
        column = pa.chunked_array([cells])
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            text = without_tokens(pc.utf8_trim_whitespace(column.cast(pa.string())), MISSING_CODES)
            columns[name] = pd.Series(strings(text), copy=False)
        elif pa.types.is_boolean(column.type):
            truth = column.to_pandas(types_mapper={pa.bool_(): pd.BooleanDtype()}.get)
            columns[name] = truth if column.null_count else truth.astype(bool)
        elif pa.types.is_timestamp(column.type):
            columns[name] = column.to_pandas()
        else:
            columns[name] = own(column)
    frame = as_frame(columns)
    frame.attrs[READING_ATTRIBUTE] = reading_of(head)._replace(notes=(), spelling={})
    return frame


def _value(file: LargeFile, name: str) -> str:
    """Return the SQL expression of a column with the type of its first rows; a label keeps its spelling."""
    like = file.head[name]
    if pd.api.types.is_bool_dtype(like.dtype) and file.delimiter is None:
        return file.column(name)
    if is_number(like):
        return file.number(name)
    if like.dtype.kind == "M":
        if file.delimiter is not None:
            raise DataError(
                f"{name!r} contains dates, which cannot be read from a text file that is too large for "
                "memory.",
                "Save the file as Parquet.",
            )
        return f"{file.column(name)}::TIMESTAMP"
    return f"{file.column(name)}::VARCHAR"


def _check_numbers(file: LargeFile, spill: bool, memory: str) -> None:
    """Refuse texts among numbers, and numbers in an unusual notation."""
    written = [name for name in map(str, file.head) if is_number(file.head[name]) and file.is_text(name)]
    if not written:
        return
    found = []
    for name in written:
        text = f"trim({file.column(name)})"
        gap = f"list_contains([{sql_list(MISSING_VALUES)}], {text})"
        unread = f"(TRY_CAST({text} AS DOUBLE) IS NULL OR contains({text}, '_'))"
        wrong = f"{file.number(name)} IS NULL AND NOT {gap} AND {unread}"
        found.append(f"any_value({text}) FILTER ({wrong})")
    with opened(file, memory, spill) as sql:
        for name in written:
            check_first_numbers(sql, file, name)
        values = sql.execute(f"SELECT {', '.join(found)} FROM {file.source}", file.parameters).fetchall()[0]
    for name, value in zip(written, values, strict=True):
        if value is not None:
            raise DataError(
                f"{name!r} contains {value[:40]!r}, which is not a number.",
                "Correct the value, or save the file as Parquet.",
            )

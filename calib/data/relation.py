"""A table of any size as one relation: its first rows decide names and types, and all rows come in blocks of these.

A source only yields its rows as Arrow has them. How they are typed, sampled and counted is the same for all sources.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import pandas as pd
import pyarrow as pa

from calib.data.column_types import (
    is_number_type,
    is_text_type,
    read_as_written,
    texts_of,
    typed_frame,
    typed_text,
    typed_truth,
    utc_times,
)
from calib.data.columns import content_type
from calib.data.counting import count_blocks
from calib.data.errors import DataError
from calib.data.notation import PLAIN, Comma, Notation
from calib.data.sampling import LabelCounts, draw_rows
from calib.data.table import note_reading, reading_of
from calib.kernel.progress import Watch

BLOCK_ROWS = 100_000  # rows of a block, if the source has no blocks of its own
ARROW_TYPES = {"numbers": pa.float64(), "dates": pa.timestamp("us"), "text": pa.string()}


class Relation(ABC):
    """Table of any size.

    Attributes
    ----------
    name
        Name, for messages.
    head
        First rows, typed; all rows get their types.
    """

    name: str
    head: pd.DataFrame

    @abstractmethod
    def blocks(self, names: Sequence[str] | None, watch: Watch) -> Iterator[pd.DataFrame]:
        """Yield all rows in blocks, always in the same order, with these columns (None: all).

        Raises
        ------
        DataError
            For a value that does not have the type of the first rows, and rows that cannot be read or have changed.
        Cancelled
            If ``watch`` was cancelled.
        """

    def count(
        self, target: str, score: str, count: str | None = None, watch: Watch | None = None, **limits: Any
    ) -> pd.DataFrame:
        """Count the rows by score and label; parameters, limits and errors are those of ``count_blocks``."""
        return count_blocks(self.blocks, self.head, target, score, count, watch or Watch(), **limits)

    def sample(
        self, target: str, rows: int | None = None, seed: int = 0, key: str = "", watch: Watch | None = None
    ) -> pd.DataFrame:
        """Draw a stratified sample; parameters and errors are those of ``draw_rows``."""
        return draw_rows(
            self.blocks, target, rows, seed, self.head.shape[1], key, watch, self.label_counts(target)
        )

    def label_counts(self, target: str) -> LabelCounts | None:
        """Return the counts of a label column, if they are known already."""
        return None


class FrameRelation(Relation):
    """Table in memory.

    >>> next(FrameRelation(pd.DataFrame({"x": [1, 2]})).blocks(["x"], Watch()))["x"].tolist()
    [1, 2]
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self.head, self.name = typed_frame(frame), reading_of(frame).name or "The table"
        self._attrs = dict(frame.attrs)

    def blocks(self, names: Sequence[str] | None, watch: Watch) -> Iterator[pd.DataFrame]:
        chosen = self.head if names is None else self.head[list(names)]
        for at in range(0, len(chosen), BLOCK_ROWS):
            block = chosen.iloc[at : at + BLOCK_ROWS]
            block.attrs = dict(self._attrs)
            yield block


class ArrowRelation(Relation):
    """Table whose rows come as Arrow's batches; they get the types of the first rows.

    Attributes
    ----------
    comma
        Whether its texts have decimal commas.
    """

    comma: Comma = "no"

    @abstractmethod
    def pieces(self, names: Sequence[str], watch: Watch) -> Iterator[pa.RecordBatch]:
        """Yield all rows, with at least these columns."""

    @abstractmethod
    def first_texts(self, name: str) -> pa.ChunkedArray | None:
        """Return the first rows of a column as the source writes them; None if they are not texts."""

    def blocks(self, names: Sequence[str] | None, watch: Watch) -> Iterator[pd.DataFrame]:
        names = list(map(str, self.head)) if names is None else list(names)
        known = reading_of(self.head)._replace(notes=(), spelling={})._asdict()
        for piece in self.pieces(names, watch):
            if len(piece):
                columns = {name: self._typed(name, piece.column(name)) for name in names}
                yield note_reading(pd.DataFrame(columns, copy=False), **known)

    def _typed(self, name: str, cells: pa.Array) -> pd.Series:
        """Return cells with the type of the column's first rows."""
        first = self.head[name]
        truth, content = pd.api.types.is_bool_dtype(first.dtype), content_type(first)
        if cells.null_count == len(cells):
            cells = pa.nulls(len(cells), pa.bool_() if truth else ARROW_TYPES[content])
        if pa.types.is_dictionary(cells.type):
            cells = cells.cast(cells.type.value_type)
        kind = cells.type
        if truth and pa.types.is_boolean(kind):
            return typed_truth(pa.chunked_array([cells]))
        if content == "numbers" and (is_number_type(kind) or pa.types.is_boolean(kind)):
            numbers = cells.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
            return pd.Series(numbers, copy=False)  # Arrow's memory, as nobody keeps a block
        if content == "dates" and pa.types.is_temporal(kind):
            return utc_times(pa.chunked_array([cells]))
        if is_text_type(kind):
            return self._of_texts(name, pa.chunked_array([cells.cast(pa.string())]))
        if content == "text":
            return self._of_texts(name, pa.chunked_array([texts_of(cells.to_pylist())]))
        raise self._other(name, cells.drop_null()[0].as_py())

    def _of_texts(self, name: str, texts: pa.ChunkedArray) -> pd.Series:
        written = self.written(name)
        if (found := read_as_written(texts, written, self.comma)) is not None:
            return found
        while len(texts) > 1:  # the wrong text is in the first half, or else in the second
            half = texts.slice(0, len(texts) // 2)
            wrong = read_as_written(half, written, self.comma) is None
            texts = half if wrong else texts.slice(len(half))
        raise self._other(name, texts[0].as_py().strip())

    def written(self, name: str) -> Notation | str | None:
        """Return the notation of the numbers or dates in a column, None for a column of texts."""
        if content_type(self.head[name]) == "text":
            return None
        if name not in self._notations:
            texts = self.first_texts(name)
            self._notations[name] = (
                PLAIN if texts is None else typed_text(texts, name, self.comma).written or PLAIN
            )
        return self._notations[name]

    @cached_property
    def _notations(self) -> dict[str, Notation | str]:
        return {}

    def _other(self, name: str, value: Any) -> DataError:
        return DataError(
            f"{name!r} was read as {content_type(self.head[name])}, as its first rows suggested, but it contains "
            f"{str(value)[:40]!r}.",
            "Correct the value, or convert the column.",
        )

"""Draw a sample to learn from, if a table of features does not fit into memory; read its other rows in blocks.

The sample is stratified by class, and within a class all choices of rows are equally likely. The ranks of the chosen
rows within their class are drawn first; each pass over the table recognises a row by its rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from calib.data.column_types import as_frame
from calib.data.columns import bounded, is_number
from calib.data.counting import MOST_DISTINCT_LABELS, Blocks, excluded_rows
from calib.data.errors import DataError
from calib.data.label import coded_labels
from calib.data.table import LEARN_ROWS, note_reading, reading_of
from calib.kernel.memory import release_memory
from calib.kernel.progress import Watch

MOST_SAMPLED_CELLS = 40_000_000  # largest number of cells of a sample: 320 MB


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
    notes += excluded_rows(labels.missing, 0, "")
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

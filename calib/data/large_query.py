"""Read a query of a database whose rows do not fit into memory: each pass runs the query again, with its limits.

Features are read in blocks, of which a sample is drawn (``sampling``). Predictions are counted in the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from calib.data.column_types import typed_frame
from calib.data.columns import as_float
from calib.data.counting import check_numbers, check_roles, excluded_rows
from calib.data.database import COUNT, Connection, Digest
from calib.data.errors import DataError
from calib.data.relation import ArrowRelation
from calib.data.sampling import LabelCounts
from calib.data.table import note_reading
from calib.kernel.progress import Watch
from calib.kernel.wording import counted


@dataclass(frozen=True, eq=False)
class LargeQuery(ArrowRelation):
    """Query or table of a database whose rows do not fit into memory.

    Attributes
    ----------
    connection, query
        Connection, and the name of a query or table.
    head
        First rows, typed; all rows get their types.
    texts
        Column of texts → its first rows.
    digest
        Digest of all rows, after ``measured``.
    labels
        Label column → its counts, of the column that ``measured`` was given.
    """

    connection: Connection
    query: str
    head: pd.DataFrame
    texts: Mapping[str, pa.ChunkedArray] = field(default_factory=dict)
    digest: str = ""
    labels: Mapping[str, LabelCounts] = field(default_factory=dict)

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.query} of {self.connection.name}"

    def measured(self, watch: Watch | None = None, target: str | None = None) -> LargeQuery:
        """Return this query with the digest of its rows, which are all read once.

        Parameters
        ----------
        target
            Column that is probably the label; it is counted on the way, so that a sample needs no further pass.

        Raises
        ------
        DataError
            As ``Connection.read``; and for values that do not have the type of the first rows.
        Cancelled
            If ``watch`` was cancelled.
        """
        watch, digest, rows = watch or Watch(), Digest(), 0
        labels = {} if target is None else {target: LabelCounts(target)}
        for block in super().blocks(None, watch):
            digest.add(block)
            rows += len(block)
            watch.step(0.0, f"{rows:,} rows read")
            try:
                for counts in labels.values():
                    counts.add(block)
            except DataError:  # too many for a label
                labels = {}
        return replace(self, digest=digest.text, labels=labels)

    def blocks(self, names: Sequence[str] | None, watch: Watch) -> Iterator[pd.DataFrame]:
        """Yield all rows, as any relation does; refuse rows that have changed.

        Each pass reads all columns, because their digest shows that the rows are the same, in the same order.
        """
        digest = Digest()
        for block in super().blocks(None, watch):
            digest.add(block)
            yield block if names is None else block[list(names)]
        if digest.text != self.digest:
            raise DataError(
                f"The rows of {self.name} changed while they were read.",
                "Add an ORDER BY to the query, and read it again.",
            )

    def label_counts(self, target: str) -> LabelCounts | None:
        return self.labels.get(target)

    def first_texts(self, name: str) -> pa.ChunkedArray | None:
        return self.texts.get(name)

    def pieces(self, names: Sequence[str], watch: Watch) -> Iterator[pa.RecordBatch]:
        for found, rows in self.connection.pieces(self.query, watch):
            yield pa.record_batch(list(map(_cells, zip(*rows, strict=True))), found)

    def count(
        self, target: str, score: str, count: str | None = None, watch: Watch | None = None, **limits: Any
    ) -> pd.DataFrame:
        """Let the database count the rows by score and label, with its own limits; it rounds no scores."""
        check_roles(self.head, target, score, count)
        frame = self.connection.read(self.query, watch, (target, score, count))
        check_numbers(frame, score)
        n = frame[COUNT].to_numpy(np.float64)
        unlabelled, unscored = frame[target].isna().to_numpy(), ~np.isfinite(as_float(frame[score]))
        kept = ~unlabelled & ~unscored & (n > 0)
        pairs = f"{counted(int(kept.sum()), 'distinct pair')} of score and label"
        lines = f"The database grouped {counted(int(n.sum()), 'row')} into {pairs}."
        notes = excluded_rows(int(n[unlabelled].sum()), int(n[unscored].sum()), score)
        found = frame[kept].reset_index(drop=True).astype({score: float, COUNT: float})
        return note_reading(found, name=self.query, notes=(lines, *notes))


def open_query(connection: Connection, query: str, watch: Watch | None = None) -> LargeQuery:
    """Read the first rows of a query or table of any size; errors are those of ``Connection.read``."""
    with closing(connection.pieces(query, watch or Watch())) as pieces:
        names, rows = next(pieces, ([], ()))
    head = typed_frame(pd.DataFrame.from_records(rows, columns=names, coerce_float=True))
    columns = zip(names, map(_cells, zip(*rows, strict=True)), strict=True)
    texts = {name: pa.chunked_array([cells]) for name, cells in columns if pa.types.is_string(cells.type)}
    return LargeQuery(connection, query, note_reading(head, name=query), texts)


def _cells(values: Sequence[Any]) -> pa.Array:
    """Return values of a database as Arrow's array."""
    try:
        cells = pa.array(values, from_pandas=True)
    # values of several types, as SQLite allows, or of a type that Arrow does not know
    except pa.ArrowException:
        cells = pa.array([None if value is None else str(value) for value in values])
    if pa.types.is_decimal(cells.type):  # Arrow's own conversion is not exact to the last bit
        cells = pa.array([None if value is None else float(value) for value in values])
    return cells

"""Read a query of a database whose rows do not fit into memory: each pass runs the query again, with its limits.

Features are read in blocks, of which a sample is drawn (``sampling``). Predictions are counted in the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from calib.data.column_types import typed_frame
from calib.data.columns import as_float, is_number
from calib.data.counting import check_roles
from calib.data.database import COUNT, Connection, Digest
from calib.data.errors import DataError
from calib.data.sampling import Blocks, LabelCounts, typed_batch
from calib.data.table import note_reading
from calib.kernel.progress import Watch
from calib.kernel.wording import counted


@dataclass(frozen=True, eq=False)
class LargeQuery:
    """Query or table of a database whose rows do not fit into memory.

    Attributes
    ----------
    connection, query
        Connection, and the name of a query or table.
    head
        First rows, typed; all rows get their types.
    digest
        Digest of all rows, after ``measured``.
    labels
        Label column → its counts, of the column that ``measured`` was given.
    """

    connection: Connection
    query: str
    head: pd.DataFrame
    digest: str = ""
    labels: Mapping[str, LabelCounts] = field(default_factory=dict)

    @property
    def name(self) -> str:
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
        for block in self._typed(watch):
            digest.add(block)
            rows += len(block)
            watch.step(0.0, f"{rows:,} rows read")
            try:
                for counts in labels.values():
                    counts.add(block)
            except DataError:  # too many for a label
                labels = {}
        return replace(self, digest=digest.text, labels=labels)

    def blocks(self) -> Blocks:
        """Return a function that yields all rows in blocks; it refuses rows that have changed.

        Each pass reads all columns, because their digest shows that the rows are the same, in the same order.
        """

        def blocks(names: Sequence[str] | None, watch: Watch) -> Iterator[pd.DataFrame]:
            digest = Digest()
            for block in self._typed(watch):
                digest.add(block)
                yield block if names is None else block[list(names)]
            if digest.text != self.digest:
                raise DataError(
                    f"The rows of {self.name} changed while they were read.",
                    "Add an ORDER BY to the query, and read it again.",
                )

        return blocks

    def count(
        self, target: str, score: str, count: str | None = None, watch: Watch | None = None
    ) -> pd.DataFrame:
        """Let the database count the rows by score and label; as ``count_predictions`` counts those of a file."""
        check_roles(self.head, target, score, count)
        frame = self.connection.read(self.query, watch, (target, score, count))
        if not is_number(frame[score]):
            raise DataError(
                f"score: {score!r} contains values that are not numbers.", "Choose another column."
            )
        n = frame[COUNT].to_numpy(np.float64)
        unlabelled, unscored = frame[target].isna().to_numpy(), ~np.isfinite(as_float(frame[score]))
        kept = ~unlabelled & ~unscored & (n > 0)
        pairs = f"{counted(int(kept.sum()), 'distinct pair')} of score and label"
        lines = f"The database grouped {counted(int(n.sum()), 'row')} into {pairs}."
        reasons = {
            "because the label is missing": unlabelled,
            f"because {score!r} is missing or infinite": unscored,
        }
        notes = [
            f"Excluded {why}: {counted(int(n[out].sum()), 'row')}."
            for why, out in reasons.items()
            if out.any()
        ]
        found = frame[kept].reset_index(drop=True).astype({score: float, COUNT: float})
        return note_reading(found, name=self.query, notes=(lines, *notes))

    def _typed(self, watch: Watch) -> Iterator[pd.DataFrame]:
        """Yield the rows with the types of the first rows."""
        for names, rows in self.connection.pieces(self.query, watch):
            columns = zip(names, zip(*rows, strict=True), strict=True)
            cells = [_cells(values, self.head[name], name) for name, values in columns]
            yield typed_batch(self.head, names, pa.record_batch(cells, names))


def open_query(connection: Connection, query: str, watch: Watch | None = None) -> LargeQuery:
    """Read the first rows of a query or table of any size; errors are those of ``Connection.read``."""
    with closing(connection.pieces(query, watch or Watch())) as pieces:
        names, rows = next(pieces, ([], ()))
    head = typed_frame(pd.DataFrame.from_records(rows, columns=names, coerce_float=True))
    return LargeQuery(connection, query, note_reading(head, name=query))


def _cells(values: Sequence[Any], like: pd.Series, name: str) -> pa.Array:
    """Return values of a database with the type of a column of the first rows."""
    try:
        cells = pa.array(values, from_pandas=True)
    except (
        pa.ArrowException
    ):  # values of several types, as SQLite allows, or of a type that Arrow does not know
        cells = pa.array([None if value is None else str(value) for value in values])
    if pa.types.is_decimal(cells.type):  # Arrow's own conversion is not exact to the last bit
        cells = pa.array([None if value is None else float(value) for value in values])
    kind = _kind(like)
    if cells.null_count == len(cells) or _may_become(cells.type, kind):
        with suppress(pa.ArrowException):
            return cells.cast(kind, safe=False)
    read_as = {pa.bool_(): "truth values", pa.float64(): "numbers"}.get(kind, "dates")
    example = next(value for value in values if value is not None)
    raise DataError(
        f"{name!r} was read as {read_as}, as its first rows suggested, but it contains "
        f"{str(example)[:40]!r} of type {type(example).__name__}.",
        "Convert the column in the query (CAST).",
    )


def _kind(like: pd.Series) -> pa.DataType:
    if pd.api.types.is_bool_dtype(like.dtype):
        return pa.bool_()
    return pa.float64() if is_number(like) else pa.timestamp("us") if like.dtype.kind == "M" else pa.string()


def _may_become(given: pa.DataType, kind: pa.DataType) -> bool:
    """Tell whether values of a type keep their meaning as another; SQLite has dates only as texts."""
    number = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    allowed = {
        pa.bool_(): (pa.types.is_boolean,),
        pa.float64(): number,
        pa.timestamp("us"): (pa.types.is_temporal, pa.types.is_string),
    }
    return kind == pa.string() or any(of_kind(given) for of_kind in allowed[kind])

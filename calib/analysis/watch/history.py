"""Rows read so far: what was read is recognised and not counted again, and the evidence is computed from all rows.

A row is known by its key, or without keys by its time and predictions: all rows of one time, or all that one table had
of it, are recognised when they come again. Without times either, a whole table is recognised by its predictions. A
known row may get its label later, or another label; because the evidence is that of one pass over the stored rows, the
order of the tables does not matter.

Rows of a time that counted before must not join it: if rows that come late differ in their labels from those that came
in time, each look would be at other rows, and there would be false alarms.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from calib.analysis.watch.watcher import (
    ALPHA,
    TIME_KINDS,
    Watched,
    Watcher,
    labels_or_nan,
    moment_in_words,
    numeric_times,
)
from calib.kernel import checks
from calib.kernel.checks import Array, InputError
from calib.kernel.wording import counted

NO_ALARM, NEW_ALARM, STILL = "no alarm", "new alarm", "still in alarm"
SAME = 1e-9  # relative difference of two predictions that are written with different numbers of digits
AS_NUMBER = r"^0*(\d+)(?:\.0)?$"
NAME_A_KEY = "Use --key to name a column with a unique value per row."


@dataclass(frozen=True)
class ReadRows:
    """What a table brought: numbers of rows.

    Attributes
    ----------
    new, known
        Rows that were not read before, and rows that were.
    completed, corrected
        Known rows that got their label, and known rows whose label changed.
    outdated
        Rows from before the last restart, which do not count.
    repeated
        Rows that the table has twice, with the same key.
    """

    new: int
    known: int
    completed: int = 0
    corrected: int = 0
    outdated: int = 0
    repeated: int = 0


def _no_rows() -> pd.DataFrame:
    numbers: dict[str, Any] = {"p": float, "y": float, "when": np.int64, "piece": np.int64, "out": bool}
    return pd.DataFrame({name: np.zeros(0, dtype=kind) for name, kind in numbers.items()}).assign(
        key=np.zeros(0, dtype=object)
    )


@dataclass(eq=False)
class History:
    """All rows read so far, with the alarm at the last look.

    Parameters
    ----------
    alpha, horizon
        See ``Watcher``.
    key
        Name of the column of keys, or None.

    Attributes
    ----------
    rows
        One line per row: p, y (NaN if not known yet), when (whole nanoseconds, a number, or the row's number), piece
        (number of the table), out (excluded) and key.
    kind
        "date", "number" or "row", as the first table decided.
    start
        Time, or number of the row, from which rows count; None if all do.
    before, now
        Whether there was an alarm before the last table that changed something, and after it.

    Examples
    --------
    >>> history = History()
    >>> history.read([1, 0, 1], [0.9, 0.2, 0.7]).new
    3
    >>> history.read([1, 0, 1], [0.9, 0.2, 0.7])    # the same table again
    ReadRows(new=0, known=3, completed=0, corrected=0, outdated=0, repeated=0)
    >>> history.watch().rows, history.status
    (3, 'no alarm')
    """

    alpha: float = ALPHA
    horizon: int = 1
    key: str | None = None
    kind: str | None = None
    rows: pd.DataFrame = field(default_factory=_no_rows)
    start: Any = None
    before: bool = False
    now: bool = False
    changed: bool = field(default=False, init=False)
    _watched: Watched | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        Watcher(self.alpha, self.horizon)  # refuses values that are not allowed

    @property
    def status(self) -> str:
        """ "no alarm", "new alarm" or "still in alarm"; a table that changed nothing leaves it as it was."""
        return NO_ALARM if not self.now else STILL if self.before else NEW_ALARM

    def read(
        self,
        y: ArrayLike,
        p: ArrayLike,
        when: ArrayLike | None = None,
        key: ArrayLike | None = None,
        restart: Any = None,
        skip_unlabelled: bool = False,
    ) -> ReadRows:
        """Read a table, and look.

        Parameters
        ----------
        y, p, when : (n,)
            See ``Watcher.add``.
        key : (n,)
            A different value for every row; needed if the history has the name of a column of keys.
        restart
            True to count only rows from the first one of this table on, or a time to count rows from this time on.
        skip_unlabelled
            Whether to exclude all rows that have no label yet, also when their labels come later.

        Raises
        ------
        InputError
            Nothing is read then. For rows of a time that counted before, known rows with another prediction or time,
            and rows that cannot be distinguished.
        """
        table, kind, repeated = self._table(y, p, when, key)
        at = self._positions(table, kind)
        known = at >= 0
        if kind == "row":
            table.loc[~known, "when"] = len(self.rows) + np.arange(np.count_nonzero(~known))
        start = self.start if restart is None else self._start(table, at, kind, restart)
        outdated = ~known & (table["when"].to_numpy() < start) if start is not None else np.zeros_like(known)
        new = table[~known & ~outdated]
        if kind != "row":
            self._refuse_late(new, start, kind)
        rows, completed, corrected = self._with_labels(at[known], table["y"].to_numpy()[known])
        rows = pd.concat([rows, new], ignore_index=True) if len(rows) else new.reset_index(drop=True)
        skipped = rows["y"].isna() & ~rows["out"] & skip_unlabelled
        rows["out"] |= skipped
        self.kind = kind if len(table) else self.kind
        self._keep(rows, start, bool(len(new) or completed or corrected or skipped.any()))
        return ReadRows(len(new), int(known.sum()), completed, corrected, int(outdated.sum()), repeated)

    def _with_labels(self, at: Array, given: Array) -> tuple[pd.DataFrame, int, int]:
        """Return the rows with given labels at some positions, and how many were completed and corrected."""
        rows = self.rows.copy()
        old, out = rows["y"].to_numpy()[at], rows["out"].to_numpy()[at]
        told = ~np.isnan(given) & ~out & (given != old)
        rows.loc[at[told], "y"] = given[told]
        completed = int((told & np.isnan(old)).sum())
        return rows, completed, int(told.sum()) - completed

    def _keep(self, rows: pd.DataFrame, start: Any, changed: bool) -> None:
        """Keep the rows, and look if something changed."""
        restarted = start != self.start
        self.rows, self.start, self._watched = rows, start, None
        self.changed = changed or restarted
        if self.changed:
            self.before = self.now and not restarted
            self.now = self.watch().alarm is not None

    def watch(self) -> Watched:
        """Return the evidence of all rows that count, in one pass; rows that wait for labels are kept."""
        if self._watched is None:
            rows = self.counted_rows()
            when = None if self.kind in (None, "row") else rows["when"].to_numpy()
            when = when.view("datetime64[ns]") if when is not None and self.kind == "date" else when
            self._watched = Watcher(self.alpha, self.horizon).add(rows["y"], rows["p"], when)
        return self._watched

    def counted_rows(self) -> pd.DataFrame:
        """Return the rows since the last restart that are not left out, in the order of reading."""
        counts = ~self.rows["out"]
        if self.start is not None:
            counts &= self.rows["when"] >= self.start
        return self.rows[counts]

    def since(self, row: int) -> pd.DataFrame:
        """Return the rows that count from this one on, in the order of time; only those whose labels have arrived."""
        watched = self.watch()
        return self.counted_rows().iloc[watched.order[row : watched.rows]]

    @property
    def at(self) -> str:
        """Return the preposition of a time: "on" a date, "at" a row."""
        return "on" if self.kind == "date" else "at"

    def started(self) -> str:
        """Write the time, or the row, from which rows count after a restart."""
        return moment_in_words(self.start, self.kind)

    def shown(self, moment: Any) -> str:
        """Write a time for people; of rows without times, the number among all rows that were read."""
        if self.kind == "row":
            moment = int(self.counted_rows()["when"].iloc[moment])
        return moment_in_words(moment, self.kind)

    def _table(self, y: Any, p: Any, when: Any, key: Any) -> tuple[pd.DataFrame, str, int]:
        """Return the table as rows, without rows that it has twice; the kind of its times; and the number of those."""
        labels, p = labels_or_nan(y), checks.probability_vector(p, "p")
        checks.same_length(y=labels, p=p, when=when, key=key)
        moments, kind = numeric_times(when, len(p), len(self.rows))
        if self.kind not in (None, kind) and len(p):
            raise InputError(
                f"when: earlier rows had {TIME_KINDS[self.kind]}, but these rows have {TIME_KINDS[kind]}. "
                "Use the same column."
            )
        piece = int(self.rows["piece"].max()) + 1 if len(self.rows) else 0
        table = pd.DataFrame({"p": p, "y": labels, "when": moments, "piece": piece, "out": False})
        table["key"] = pd.Series(
            None if self.key is None else self._keys(key), index=table.index, dtype=object
        )
        if self.key is None:
            return table, kind, 0
        twice = table.duplicated([name for name in table if kind != "row" or name != "when"])
        table = table[~twice].reset_index(drop=True)
        conflict = table["key"].duplicated()
        if conflict.any():
            raise InputError(
                f"{self.key}: {table['key'][conflict].iloc[0]!r} appears twice with different values. Give "
                "each row its own key."
            )
        return table, kind, int(twice.sum())

    def _keys(self, key: Any) -> Array:
        if key is None:
            raise InputError(
                f"key: earlier tables had the key column {self.key!r}. Include this column again."
            )
        column = pd.Series(np.asarray(key, dtype=object))
        if column.isna().any():
            raise InputError(
                f"{self.key}: {counted(int(column.isna().sum()), 'row')} without a key. Give each row a key."
            )
        # A column is read as numbers or as text, depending on the other keys of the table
        return column.map(str).str.replace(AS_NUMBER, r"\1", regex=True).to_numpy(dtype=object)

    def _positions(self, table: pd.DataFrame, kind: str) -> Array:
        """Return the position of each row among those read before, or −1."""
        if not len(self.rows) or not len(table):
            return np.full(len(table), -1)
        if self.key is not None:
            return self._by_key(table, kind)
        return self._by_order(table) if kind == "row" else self._by_time(table, kind)

    def _by_key(self, table: pd.DataFrame, kind: str) -> Array:
        at = pd.Index(self.rows["key"]).get_indexer(pd.Index(table["key"]))
        known = np.flatnonzero(at >= 0)
        old = self.rows.iloc[at[known]]
        names = {"p": "prediction"} if kind == "row" else {"p": "prediction", "when": "time"}
        for name, word in names.items():
            given, was = table[name].to_numpy()[known], old[name].to_numpy()
            other = np.flatnonzero(
                ~np.isclose(given, was, rtol=SAME, atol=1e-12) if name == "p" else given != was
            )
            if len(other):
                first = table["key"].iloc[known[other[0]]]
                raise InputError(
                    f"{counted(len(other), 'row')} that {'was' if len(other) == 1 else 'were'} read before "
                    f"now {'has' if len(other) == 1 else 'have'} a different {word} (first: {self.key} "
                    f"{first!r}). Supply the "
                    f"{word} that the model gave at the time. For a recalibrated model, use new keys for "
                    "new rows."
                )
        return at

    def _by_order(self, table: pd.DataFrame) -> Array:
        """Recognise a whole table by its predictions."""
        p, old = table["p"].to_numpy(), self.rows["p"].to_numpy()
        sizes = np.bincount(self.rows["piece"])
        for first, size in zip(np.cumsum(sizes) - sizes, sizes, strict=True):
            if size == len(p) and _same(old[first : first + size], p):
                return np.arange(first, first + size)
        if len(p) >= len(old) and _same(old, p[: len(old)]):
            raise InputError(
                f"The table begins with the {counted(len(old), 'row')} that were read before. {NAME_A_KEY} Or supply "
                "only new rows."
            )
        return np.full(len(p), -1)

    def _by_time(self, table: pd.DataFrame, kind: str) -> Array:
        """Recognise the rows of a time if all of them come again, or all that one table had."""
        at = np.full(len(table), -1)
        old = self.rows[self.rows["when"].isin(table["when"])]
        if not len(old):
            return at
        given = table.assign(hash=_hashes(table["p"])).groupby("when")["hash"].agg(["sum", "size"])
        whole = _matches(given, old.assign(piece=-1))
        pieces = _matches(given.drop(whole["when"]), old)
        matched = pd.concat([whole, pieces])
        was = pd.concat(
            [
                old[old["when"].isin(whole["when"])],
                old.reset_index().merge(pieces, on=["when", "piece"]).set_index("index"),
            ]
        )
        again = table[table["when"].isin(matched["when"])]
        at[again.index] = _paired(was, again)
        rest = table[~table["when"].isin(matched["when"])]
        overlap = rest.merge(old, on=["when", "p"])
        if len(overlap):
            raise InputError(
                f"{counted(len(overlap), 'row')} of {moment_in_words(overlap['when'].iloc[0], kind)} may have been "
                f"read before, but other rows with this time have changed, so new rows cannot be "
                f"distinguished from known rows. {NAME_A_KEY}"
            )
        return at

    def _refuse_late(self, new: pd.DataFrame, start: Any, kind: str) -> None:
        """Refuse new rows of a time before the last one that counted."""
        counts = self.rows[~self.rows["out"]]
        counts = counts if start is None else counts[counts["when"] >= start]
        waits = counts["when"][counts["y"].isna()].min()
        last = counts["when"][counts["when"] < waits].max() if waits == waits else counts["when"].max()
        late = int((new["when"] < last).sum())
        if late:
            is_late = "row is" if late == 1 else "rows are"
            raise InputError(
                f"{late:,} new {is_late} older than {moment_in_words(last, kind)}, which was already "
                "counted. Remove these rows, or start again with a new state file and all rows."
            )

    def _start(self, table: pd.DataFrame, at: Array, kind: str, restart: Any) -> Any:
        """Return the time, or the number of the row, from which rows count after a restart."""
        if restart is True:
            if not len(table):
                raise InputError(
                    "restart: the table is empty. Supply the rows with which monitoring restarts."
                )
            known = self.rows["when"].to_numpy()[at[at >= 0]]
            start = np.concatenate([known, table["when"].to_numpy()[at < 0]]).min()
        elif kind == "row":
            raise InputError(
                "restart: a time needs a time column. Omit the time: monitoring then restarts at the first "
                "row of the table."
            )
        else:
            moments, kind = numeric_times([restart], 1, 0)
            if kind != kind:
                raise InputError(
                    f"restart: the rows have {TIME_KINDS[kind]}, but {restart!r} has a different type."
                )
            start = moments[0]
        start = start.item()
        counts = self.counted_rows()["when"]
        if start != self.start and len(counts) and start <= counts.min():
            raise InputError(
                f"restart: {moment_in_words(start, kind)} is not after {moment_in_words(counts.min(), kind)}, "
                "the first row that counts, so no row would be excluded. Give the time of the recalibration."
            )
        return start


def _same(one: Array, other: Array) -> bool:
    return bool(np.allclose(one, other, rtol=SAME, atol=1e-12))


def _hashes(p: pd.Series) -> Array:
    """Return hashes whose sum, modulo 2⁶⁴, identifies predictions in any order."""
    return pd.util.hash_array(p.to_numpy())


def _matches(given: pd.DataFrame, old: pd.DataFrame) -> pd.DataFrame:
    """Return (when, piece) of stored rows whose predictions are those of the table at that time."""
    stored = old.assign(hash=_hashes(old["p"])).groupby(["when", "piece"])["hash"].agg(["sum", "size"])
    found = stored.reset_index().merge(given.reset_index(), on=["when", "sum", "size"])
    return found.drop_duplicates("when")[["when", "piece"]]


def _paired(was: pd.DataFrame, again: pd.DataFrame) -> Array:
    """Return the position of each row of ``again`` among ``was``, which have equal predictions at each time.

    Rows of equal time and prediction are interchangeable: those of equal label are paired first.
    """
    at = pd.Series(-1, index=again.index)
    left = again
    for by in (["when", "p", "y"], ["when", "p"]):
        one, two = (part.assign(n=part.groupby(by, dropna=False).cumcount()) for part in (left, was))
        pairs = one.reset_index().merge(two.reset_index(), on=[*by, "n"], suffixes=("", "_was"))
        at[pairs["index"]] = pairs["index_was"].to_numpy()
        left, was = left.drop(pairs["index"]), was.drop(pairs["index_was"])
    return at.to_numpy()

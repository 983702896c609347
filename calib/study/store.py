"""The results of a study in one SQLite file; a run can stop at any moment and continue later.

One process writes, any number read. A row is one setup in one fold, identified by data digest, Recipe digest, repeat,
fold and seed; metrics are stored as computed, as float64 (infinite losses too), with the fold's predictions
compressed beside them. A file of another program or another schema is refused and not changed.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import numpy as np
import pandas as pd

from calib.kernel.checks import InputError
from calib.kernel.records import Predictions
from calib.study.cell import Result, compute_metrics, rules, unpack
from calib.study.protocol import Setup
from calib.study.rows import measures

APPLICATION = 0x43414C53  # "CALS", the application ID of the SQLite file
SCHEMA = 1
STORES = (".sqlite", ".sqlite3", ".db")  # a file of this kind is not a table
BACKUP = "Use a backup copy of the file."
RUN_AGAIN = "run the same command again"
ANOTHER = "Choose a file written by calib study --store or by the Run page."

TABLES_OF_STORE = """
CREATE TABLE setups (name TEXT PRIMARY KEY, position INTEGER NOT NULL);
CREATE TABLE metric_sets (id INTEGER PRIMARY KEY, keys TEXT NOT NULL UNIQUE);
CREATE TABLE results (
    id INTEGER PRIMARY KEY, data TEXT NOT NULL, setup TEXT NOT NULL, repeat INTEGER NOT NULL, fold INTEGER NOT NULL,
    seed INTEGER NOT NULL, data_digest TEXT NOT NULL, recipe_digest TEXT NOT NULL, fit_seconds REAL,
    n_train INTEGER NOT NULL, n_calibration INTEGER NOT NULL, n_test INTEGER NOT NULL,
    metric_set INTEGER REFERENCES metric_sets, metrics BLOB,
    notes TEXT NOT NULL, error TEXT NOT NULL, traceback TEXT NOT NULL,
    UNIQUE (data, setup, data_digest, recipe_digest, repeat, fold, seed)
);
CREATE TABLE predictions (id INTEGER PRIMARY KEY REFERENCES results ON DELETE CASCADE, content BLOB NOT NULL);
"""
CELL_COLUMNS = ("data", "setup", "repeat", "fold", "seed")
PART_SIZES = ("n_train", "n_calibration", "n_test")
CELL_KEY = "data, setup, data_digest, recipe_digest, repeat, fold, seed"
Key = tuple[str, str, str, str, int, int, int]
"""(data, setup, data digest, Recipe digest, repeat, fold, seed)."""


class Store:
    """A results file, open for reading or, with ``write``, for the one process that adds to it.

    Examples
    --------
    >>> import tempfile
    >>> with Store(Path(tempfile.mkdtemp()) / "new.sqlite", write=True) as store:
    ...     len(store.rows())
    0
    """

    _lock: sqlite3.Connection | None  # keeps other processes from writing

    def __init__(self, path: Path | str, write: bool = False) -> None:
        self._begin(path)
        if write:
            if not self.path.parent.is_dir():
                raise InputError(
                    f"{self.path} cannot be written: there is no folder {self.path.parent}. Create the folder first."
                )
            if self.path.is_dir():
                raise InputError(
                    f"{self.path} is a folder. Add the name of a file, such as {self.path / 'results.sqlite'}."
                )
            self._check()
            self._lock = _locked(self.path)
        elif not self.path.is_file():
            raise InputError(f"Results file {self.path} does not exist. Check the path.")
        else:
            self._check()
        try:
            self._db = self._connect(write)
            if write:
                self._make()
        except sqlite3.Error as error:
            self.close()
            raise refusal(self.path, error) from None

    def _begin(self, path: Path | str) -> None:
        self.path = Path(path)
        self._lock = None
        self._known: dict[str, int] = {}  # metric sets by their keys
        # Held while rows are added, so that no thread reads half a cell
        self._whole = threading.RLock()

    def _check(self) -> None:
        """Refuse a file that is not a store, before changing anything in it."""
        if not self.path.exists() or not self.path.stat().st_size:
            return
        with contextlib.closing(_read_only(self.path)) as db:
            _check_marks(db, str(self.path))

    @classmethod
    def in_memory(cls, name: str = "results.sqlite") -> Self:
        """Create a store for writing without a file; ``content`` returns the bytes of its file.

        >>> store = Store.in_memory()
        >>> store.note_order(["VAP"])
        >>> len(Store.of_bytes(store.content(), "results.sqlite").rows())
        0
        """
        store = cls.__new__(cls)
        store._begin(name)
        store._db = _in_memory()
        store._make()
        return store

    @classmethod
    def of_bytes(cls, content: bytes, name: str) -> Self:
        """Open the content of an uploaded file as a store; additions stay in memory, no file is written.

        Raises
        ------
        InputError
            If the content is not a store.
        """
        store = cls.__new__(cls)
        store._begin(name)
        store._db = _in_memory()
        # Bytes 18 and 19 state that a write-ahead log exists, which a database in memory does not have.
        store._db.deserialize(content[:18] + b"\1\1" + content[20:])
        _check_marks(store._db, name)
        with _readable(name):
            (answer,) = store._db.execute("PRAGMA quick_check(1)").fetchone()
            if answer != "ok":
                raise sqlite3.DatabaseError(answer)
            _check_tables(store._db, name)
        store._db.execute("PRAGMA foreign_keys = ON")
        return store

    def content(self) -> bytes:
        """Return the bytes of a file with everything in the store; it can be opened anywhere, and added to."""
        with self._whole:
            return self._db.serialize()

    def _connect(self, write: bool) -> sqlite3.Connection:
        if not write:
            return _read_only(self.path)
        db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        return db

    def _make(self) -> None:
        """Create the tables of a new store."""
        self._db.execute("PRAGMA foreign_keys = ON")
        if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'results'").fetchone():
            marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA};"
            self._db.executescript(f"BEGIN; {TABLES_OF_STORE} {marks} COMMIT;")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        for db in (getattr(self, "_db", None), self._lock):
            if db is not None:
                db.close()

    def stored_keys(self, failed: bool | None = None) -> set[Key]:
        """Return the keys of stored rows: all, only the failed ones, or only those with a result."""
        where = {None: "", True: "WHERE error != ''", False: "WHERE error = ''"}[failed]
        with self._whole:
            return set(self._db.execute(f"SELECT {CELL_KEY} FROM results {where}"))

    def add(self, results: Iterable[Result]) -> None:
        """Store results in one transaction; a repetition replaces a failed result."""
        with self._transaction():
            for result in results:
                self._add(result)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """Commit everything done in this context, or nothing."""
        with self._whole:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk has ended it
                    self._db.execute("ROLLBACK")
                self._known.clear()
                raise

    def _add(self, one: Result) -> None:
        key = (one.data, one.setup, one.data_digest, one.digest, one.repeat, one.fold, one.seed)
        fields = dict(zip((*CELL_KEY.split(", "), *PART_SIZES), (*key, *one.sizes), strict=True)) | {
            "fit_seconds": one.fit_seconds,
            "metric_set": self._metric_set(list(one.metrics)),
            "metrics": np.array(list(one.metrics.values()), dtype="<f8").tobytes(),
            "notes": "\n".join(one.notes),
            "error": one.error,
            "traceback": one.traceback,
        }
        names, marks = ", ".join(fields), ", ".join("?" * len(fields))
        cursor = self._db.execute(
            f"INSERT OR REPLACE INTO results ({names}) VALUES ({marks})", list(fields.values())
        )
        if one.predictions:
            self._db.execute("INSERT INTO predictions VALUES (?, ?)", (cursor.lastrowid, one.predictions))

    def _metric_set(self, keys: list[str]) -> int:
        text = json.dumps(keys)
        if text not in self._known:
            self._db.execute("INSERT OR IGNORE INTO metric_sets (keys) VALUES (?)", (text,))
            found = self._db.execute("SELECT id FROM metric_sets WHERE keys = ?", (text,)).fetchone()
            self._known[text] = found[0]
        return self._known[text]

    def complete(self, wanted: Mapping[Key, Setup], metrics: Sequence[str]) -> None:
        """Compute metrics that rows lack from the stored predictions, so that a further metric needs no new fit.

        A row that lacks a metric of the true probability, which is not stored, is dropped: it has to be computed
        again.
        """
        for number, text in self._metric_sets():
            new = [key for key in metrics if key not in json.loads(text)]
            found = f"SELECT id, {CELL_KEY} FROM results WHERE metric_set = ? AND error = ''"
            rows = self._db.execute(found, (number,)).fetchall() if new else []
            with self._transaction():
                for row, *key in rows:
                    setup = wanted.get(tuple(key))
                    if setup is not None:
                        self._complete(row, setup, json.loads(text), new)

    def _complete(self, row: int, setup: Setup, keys: list[str], new: list[str]) -> None:
        if any(measures()[key].needs == "posterior" for key in new):
            self._db.execute("DELETE FROM results WHERE id = ?", (row,))
            return
        of = "SELECT metrics, content FROM results JOIN predictions USING (id) WHERE id = ?"
        values, content = self._db.execute(of, (row,)).fetchone()
        more = compute_metrics(setup, {rule: unpack(content, rule) for rule in rules(setup)}, new)
        values += np.array([more[key] for key in new], dtype="<f8").tobytes()
        number = self._metric_set([*keys, *new])
        self._db.execute("UPDATE results SET metrics = ?, metric_set = ? WHERE id = ?", (values, number, row))

    def note_order(self, setups: Iterable[str]) -> None:
        """Store the order of setups, in which rows are returned; new setups come after known ones."""
        with self._transaction():
            for name in setups:
                self._db.execute("INSERT OR IGNORE INTO setups SELECT ?, COUNT(*) FROM setups", (name,))

    def rows(self, sizes: bool = False, of: Collection[Key] | None = None) -> pd.DataFrame:
        """Return one row per fold with a result: data, setup, repeat, fold, seed, one column per metric, fit_seconds.

        Sorted by data set, setup as in the protocol, repeat and fold. A metric that was not computed is NaN.

        Parameters
        ----------
        sizes
            Whether n_train, n_calibration and n_test follow.
        of
            Only rows with these keys, such as ``Summary.keys``; None for all.
        """
        with _readable(self.path):
            return self._all_rows((*CELL_COLUMNS, "fit_seconds", *(PART_SIZES if sizes else ())), of)

    def _all_rows(self, columns: Sequence[str], of: Collection[Key] | None) -> pd.DataFrame:
        frames = [self._rows(number, json.loads(keys), columns, of) for number, keys in self._metric_sets()]
        filled = [frame for frame in frames if len(frame)]
        table = (
            pd.concat(filled, ignore_index=True) if filled else frames[0] if frames else _empty(columns, [])
        )
        places = dict(self._db.execute("SELECT name, position FROM setups"))
        table = table.assign(place=table["setup"].map(places)).sort_values(
            ["data", "place", "repeat", "fold"]
        )
        metrics = [name for name in table.columns if name not in (*columns, "place")]
        return table[[*CELL_COLUMNS, *metrics, *columns[len(CELL_COLUMNS) :]]].reset_index(drop=True)

    def _metric_sets(self) -> list[tuple[int, str]]:
        return self._db.execute("SELECT id, keys FROM metric_sets ORDER BY id").fetchall()

    def _rows(
        self, number: int, keys: list[str], columns: Sequence[str], of: Collection[Key] | None
    ) -> pd.DataFrame:
        """Return the rows that have exactly these metrics."""
        found = self._found(", ".join((*columns, "metrics")), f"metric_set = {number} AND error = ''", of)
        if not found:
            return _empty(columns, keys)
        *named, metrics = zip(*found, strict=True)
        values = np.frombuffer(b"".join(metrics), dtype="<f8").reshape(len(found), len(keys))
        return pd.DataFrame(dict(zip(columns, named, strict=True))).join(pd.DataFrame(values, columns=keys))

    def failures(self, of: Collection[Key] | None = None) -> pd.DataFrame:
        """Return one row per failed fold: data, setup, repeat, fold, seed, error, traceback."""
        columns = (*CELL_COLUMNS, "error", "traceback")
        return pd.DataFrame(self._found(", ".join(columns), "error != ''", of), columns=list(columns))

    def notes(self, of: Collection[Key] | None = None) -> pd.Series:
        """Return warning of a model → number of rows, the most frequent first."""
        texts = [str(text) for (text,) in self._found("notes", "notes != ''", of)]
        return pd.Series([note for text in texts for note in text.split("\n")], dtype="str").value_counts()

    def _found(self, columns: str, where: str, of: Collection[Key] | None) -> list[tuple]:
        """Return columns of the results that meet a condition, in the order of arrival."""
        text = f"FROM results WHERE {where} ORDER BY id"
        with self._whole, _readable(self.path):
            if of is None:
                return self._db.execute(f"SELECT {columns} {text}").fetchall()
            return [
                row[7:] for row in self._db.execute(f"SELECT {CELL_KEY}, {columns} {text}") if row[:7] in of
            ]

    def predictions(
        self, data: str, setup: str, repeat: int | None = None, merge: str = ""
    ) -> Iterator[tuple[int, int, Predictions]]:
        """Yield (repeat, fold, predictions) of a setup on a data set, in order.

        Parameters
        ----------
        repeat
            Only this repeat; None for all.
        merge
            A merge rule of the protocol.
        """
        with _readable(self.path):
            found = self._db.execute(
                "SELECT repeat, fold, content FROM results JOIN predictions USING (id) WHERE data = ? AND setup = ? "
                "AND repeat = coalesce(?, repeat) ORDER BY repeat, fold",
                (data, setup, repeat),
            )
            for number, fold, content in found:
                yield number, fold, unpack(content, merge)

    def repeats(self) -> StoredPredictions:
        """Return all predictions by data set, setup and repeat, each read on demand."""
        with _readable(self.path):
            found = self._db.execute(
                "SELECT DISTINCT data, setup, repeat FROM results JOIN predictions USING (id) LEFT JOIN setups ON "
                "name = setup ORDER BY data, position, repeat"
            ).fetchall()
        return StoredPredictions(self, found)

    def pooled(self, data: str, setup: str, repeat: int | None = None, merge: str = "") -> Predictions:
        """Return predictions of all folds (of one repeat) together, for measures that need many rows."""
        parts = [one for *_, one in self.predictions(data, setup, repeat, merge)]
        if not parts:
            raise InputError(
                f"The results file contains no predictions of the setup {setup!r} on the data set {data!r}."
            )
        return Predictions.joined(parts)


class StoredPredictions(Mapping[tuple[str, str, int], Predictions]):
    """Map (data, setup, repeat) to the predictions of that repeat's folds, read from the store on demand."""

    def __init__(self, store: Store, keys: Iterable[tuple[str, str, int]]) -> None:
        self._store, self._keys = store, dict.fromkeys(keys)

    def __getitem__(self, key: tuple[str, str, int]) -> Predictions:
        if key not in self._keys:
            raise KeyError(key)
        return self._store.pooled(*key)

    def __iter__(self) -> Iterator[tuple[str, str, int]]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


def _empty(columns: Sequence[str], keys: Sequence[str]) -> pd.DataFrame:
    kinds = dict.fromkeys(("data", "setup"), "str") | dict.fromkeys((*CELL_COLUMNS[2:], *PART_SIZES), "int64")
    return pd.DataFrame({name: pd.Series(dtype=kinds.get(name, "float64")) for name in (*columns, *keys)})


def _check_marks(db: sqlite3.Connection, name: str) -> None:
    """Refuse a file that is not a store of this schema."""
    try:
        made_by = db.execute("PRAGMA application_id").fetchone()[0]
        schema = db.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            raise InputError(f"{name} is not a results file of a study ({error}). {ANOTHER}") from None
        raise refusal(name, error) from None
    if made_by != APPLICATION:
        raise InputError(f"{name} is an SQLite file, but not a results file of a study. {ANOTHER}")
    if schema != SCHEMA:
        raise InputError(
            f"{name} was written by another version of this program (schema {schema}; this version uses "
            f"schema {SCHEMA}). "
            "Choose another file, or continue with the version that wrote this one."
        )


@contextlib.contextmanager
def _readable(name: Path | str) -> Iterator[None]:
    """Report a store that cannot be read, as after an incomplete download, as damaged."""
    try:
        yield
    except InputError:
        raise
    except sqlite3.DatabaseError as error:
        raise refusal(name, error) from None
    except (zlib.error, ValueError, TypeError) as error:
        raise InputError(f"{name} is damaged ({error}). {BACKUP}") from None


def refusal(name: Path | str, error: sqlite3.Error) -> InputError:
    """Return the message for a store that fails while it is read or written: why, what is safe, and what to do."""
    match getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF:  # without the details
        case sqlite3.SQLITE_FULL:
            return InputError(
                f"The disk with {name} is full. Saved results are kept. Free space, then {RUN_AGAIN}."
            )
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return InputError(
                f"{name} cannot be opened ({error}). Check the permissions of the file and its folder. Or "
                "copy it into your own folder, together with the -wal file of the same name if there is one."
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | sqlite3.SQLITE_IOERR | sqlite3.SQLITE_NOMEM:
            return InputError(
                f"{name} cannot be read or written now ({error}). Check the disk, then {RUN_AGAIN}."
            )
    return InputError(f"{name} is damaged ({error}). {BACKUP}")


def _check_tables(db: sqlite3.Connection, name: str) -> None:
    """Refuse an upload with other tables than ours: a trigger or view in it would run with every added row."""
    with contextlib.closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(TABLES_OF_STORE)
        listed = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name"
        if db.execute(listed).fetchall() != empty.execute(listed).fetchall():
            raise InputError(
                f"{name} is not a results file of a study, or was changed by another program. {ANOTHER}"
            )


def _read_only(path: Path) -> sqlite3.Connection:
    """Open a store for reading; in a folder without write permission as a file that nobody changes.

    SQLite would otherwise create a file for readers beside it.
    """
    fixed = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
    how = "mode=ro&immutable=1" if fixed else "mode=ro"
    try:
        return sqlite3.connect(f"file:{quote(str(path.absolute()))}?{how}", uri=True, check_same_thread=False)
    except sqlite3.Error as error:
        raise refusal(path, error) from None


def _in_memory() -> sqlite3.Connection:
    """Open a database that never writes to disk: by default SQLite sorts large results in a temporary file."""
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA temp_store = MEMORY")
    return db


def _locked(path: Path) -> sqlite3.Connection:
    """Lock the store for as long as this connection lives; the system frees the lock when the process dies."""
    with contextlib.ExitStack() as opened:
        try:
            lock = sqlite3.connect(f"{path}-lock", timeout=0, isolation_level=None, check_same_thread=False)
            opened.callback(lock.close)
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise InputError(
                    f"{path}-lock cannot be written ({error}). Choose a --store in a writable folder."
                ) from None
            raise InputError(
                f"Another process is writing to {path}. Wait until it finishes, stop it, or choose another --store."
            ) from None
        opened.pop_all()
    return lock


def distinct_failures(failures: pd.DataFrame) -> pd.DataFrame:
    """Return the first failure of each data set and error, with the number of such failures in ``results``."""
    alike = failures.groupby(["data", "error"], sort=False)
    return failures.assign(results=alike["error"].transform("size")).drop_duplicates(["data", "error"])

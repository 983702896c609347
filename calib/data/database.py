"""Read tables of databases, through connections and queries that the operator names; read-only and within limits.

Connections are defined in ``.streamlit/secrets.toml`` under ``[connections.NAME]``, as Streamlit does, so pages and
command line share them. SQLAlchemy connects to DuckDB and SQLite files and to PostgreSQL. Users choose a table or a
query that the file names.
"""

from __future__ import annotations

import hashlib
import logging
import time
import tomllib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from math import ceil
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from calib.data.column_types import typed_frame
from calib.data.errors import DataError, TooManyRowsError
from calib.data.limits import PER_CELL, PER_OBJECT, check_memory, check_names
from calib.data.table import note_reading
from calib.kernel.progress import Watch, interrupted
from calib.kernel.version import to_install

SECRETS = ("~/.streamlit/secrets.toml", ".streamlit/secrets.toml")
MOST_ROWS_OF_QUERY, MOST_SECONDS_OF_QUERY = 1_000_000, 60.0  # unless a connection says otherwise
MOST_SAID_ROWS = 1e15  # that it may say
ROWS_AT_ONCE = 50_000
COUNT = "count"  # column of counts
By: TypeAlias = tuple[str, str, str | None]
ADDRESS_PARTS = ("drivername", "username", "password", "host", "port", "database")
DATABASES_NEEDED = f"Install the packages for databases: {to_install('database')}."
LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Connection:
    """Database that can be read.

    Attributes
    ----------
    name
        Name of the connection.
    url
        SQLAlchemy URL. It may contain a password, so it is never shown.
    queries
        Name → SQL.
    rows, seconds
        Largest number of rows that a query may return, and longest time.
    """

    name: str
    url: Any = field(repr=False)
    queries: Mapping[str, str] = field(default_factory=dict, repr=False)
    rows: int = MOST_ROWS_OF_QUERY
    seconds: float = MOST_SECONDS_OF_QUERY

    def tables(self) -> list[str]:
        """List the named queries, then the tables and views.

        Raises
        ------
        DataError
            If the database does not answer.
        """
        sql = _sqlalchemy()
        with _refusing(self), self._connected() as connection:
            found = sql.inspect(connection)
            names = sorted({*found.get_table_names(), *found.get_view_names()})
        return [*self.queries, *(name for name in names if name not in self.queries)]

    def read(self, name: str, watch: Watch | None = None, by: By | None = None) -> pd.DataFrame:
        """Read a named query or a table.

        Parameters
        ----------
        name
            Name from ``tables``.
        watch
            Progress, which can cancel the running query.
        by
            Label, score and column of counts or None: the database counts its rows by label and score, in a column
            ``COUNT``. The limits hold for these lines.

        Returns
        -------
        DataFrame
            Table, typed as by ``read_table``.

        Raises
        ------
        DataError
            For an unknown name, too many rows, a query that fails or takes too long, or a lost connection.
        Cancelled
            If it was cancelled.
        """
        watch = watch or Watch()
        known = self.tables()
        if name not in known:
            raise DataError(
                f"Connection {self.name} has no query or table {name!r}.",
                f"Choose one of {', '.join(known[:20]) or 'none'}.",
            )
        frame = self._fetched(name, watch, by)
        watch.step(0.5, name)
        if len(frame) == 0:
            raise DataError(f"Query {name} of connection {self.name} returned no rows.", "Check the query.")
        return note_reading(typed_frame(frame), name=name)

    def _fetched(self, name: str, watch: Watch, by: By | None) -> pd.DataFrame:
        pieces, rows = [], 0
        for names, piece in self.pieces(name, watch, by):
            rows += len(piece)
            watch.step(0.0, f"{rows:,} rows read")
            check_memory(len(names) * (PER_OBJECT * len(piece) + PER_CELL * rows))
            pieces.append(pd.DataFrame.from_records(piece, columns=names, coerce_float=True))
        return pd.concat(pieces, ignore_index=True) if pieces else pd.DataFrame()

    def pieces(
        self, name: str, watch: Watch, by: By | None = None
    ) -> Generator[tuple[list[str], Sequence[Any]]]:
        """Run a named query or read a table, and yield (column names, some of its rows) until all rows have come.

        Only the time that the database itself takes counts against the limit. Parameters and errors are those of
        ``read``.
        """
        rows, left = 0, self.seconds
        with _refusing(self, name), self._connected() as connection:

            def timed(call: Callable[[], Any]) -> Any:
                nonlocal left
                begin = time.monotonic()
                if left <= 0:
                    raise self._late(name)
                with self._in_time(connection, name, watch, left):
                    found = call()
                left -= time.monotonic() - begin
                return found

            result = timed(lambda: connection.execute(self._statement(name, by)))
            names = list(map(str, result.keys()))
            check_names(names)
            partitions = result.partitions(ROWS_AT_ONCE)
            while piece := timed(lambda: next(partitions, None)):
                rows += len(piece)
                if rows > self.rows:
                    raise TooManyRowsError(
                        f"Query {name} of connection {self.name} returns more than {self.rows:,} rows.",
                        "Count predictions by score and label in the query (GROUP BY), or take a sample.",
                    )
                yield names, piece

    def _statement(self, name: str, by: By | None) -> Any:
        sql = _sqlalchemy()
        query = self.queries.get(name, "").replace(":", "\\:")
        if by is None:
            return sql.text(query) if query else sql.select(sql.text("*")).select_from(sql.table(name))
        *keys, weight = by
        columns = [sql.column(key) for key in keys]
        n = sql.func.count() if weight is None else sql.func.sum(sql.column(weight))
        rows = sql.text(f"({query.rstrip().rstrip(';')}\n) AS counted") if query else sql.table(name)
        counts = sql.select(*columns, n.label(COUNT)).select_from(rows)
        return counts.group_by(*columns).order_by(*columns[::-1])

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        """Open a separate, read-only connection."""
        engine = _engine(self)
        try:
            with engine.connect() as connection:
                raw = connection.connection.driver_connection
                if engine.dialect.name == "sqlite":
                    import sqlite3  # only here: no other database needs it

                    raw.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
                streamed = engine.dialect.name == "postgresql"
                yield connection.execution_options(stream_results=streamed)
        finally:
            engine.dispose()

    @contextmanager
    def _in_time(self, connection: Any, name: str, watch: Watch, seconds: float) -> Iterator[None]:
        """Interrupt the running query after these seconds or when it is cancelled."""
        raw = connection.connection.driver_connection
        stop: Callable[[], None] = getattr(raw, "interrupt", None) or raw.cancel
        begin = time.monotonic()

        def late() -> bool:  # by the clock, because PostgreSQL's own limit may end the query first
            return time.monotonic() - begin >= seconds

        try:
            with interrupted(stop, lambda: late() or watch.cancel.is_set()):
                yield
        except Exception:
            watch.step(0.0, name)
            if late():
                raise self._late(name) from None
            raise

    def _late(self, name: str) -> DataError:
        return DataError(
            f"Query {name} of connection {self.name} took longer than {self.seconds:g} seconds.",
            "Simplify the query, or ask the administrator of the program for more time.",
        )


def connections(files: tuple[str, ...] = SECRETS) -> dict[str, Connection]:
    """Read the connections that the secrets files define; for equal names the later file counts.

    Raises
    ------
    DataError
        For a file that is not TOML, or a connection without an address.

    Examples
    --------
    >>> connections(files=())
    {}
    """
    found: dict[str, Connection] = {}
    for name in files:
        path = Path(name).expanduser()
        try:
            content = path.read_text(encoding="utf-8") if path.is_file() else ""
            stated = tomllib.loads(content).get("connections", {})
            if not isinstance(stated, Mapping):
                raise ValueError("connections must be a table, with one table per connection")
        except (OSError, ValueError) as error:
            raise DataError(f"{path} cannot be read ({error}).", "Correct the file.") from None
        found |= {key: _connection(key, settings) for key, settings in stated.items()}
    return found


def connection(name: str) -> Connection:
    """Return one of ``connections``, or refuse its name."""
    known = connections()
    if name not in known:
        listed = ", ".join(known) or "none are defined in .streamlit/secrets.toml"
        raise DataError(f"Connection {name!r} is not defined.", f"Connections: {listed}.")
    return known[name]


class Digest:
    """Digest of a table that arrives in blocks: 16 hexadecimal digits from its names, types, and values in order."""

    def __init__(self) -> None:
        self._found: Any = None

    def add(self, block: pd.DataFrame) -> None:
        """Add the next rows; all blocks have the same columns and types."""
        if self._found is None:
            columns = [(str(name), str(column.dtype)) for name, column in block.items()]
            self._found = hashlib.blake2b(repr(columns).encode(), digest_size=8)
        self._found.update(np.ascontiguousarray(pd.util.hash_pandas_object(block, index=False)).tobytes())

    @property
    def text(self) -> str:
        return "" if self._found is None else self._found.hexdigest()


def digest_of(frame: pd.DataFrame) -> str:
    """Return the ``Digest`` of a table.

    >>> digest_of(pd.DataFrame({"p": [0.5]})) == digest_of(pd.DataFrame({"p": [0.5]}))
    True
    """
    found = Digest()
    found.add(frame)
    return found.text


def _connection(name: str, settings: Any) -> Connection:
    if not isinstance(settings, Mapping):
        raise DataError(f"connections.{name} in the secrets must be a table.", "See the guide on databases.")
    if "allow_sql" in settings:
        _warn_once(
            f"connections.{name}.allow_sql in the secrets has no effect, because users cannot type SQL. "
            f"Delete the line, and define queries for users under connections.{name}.queries."
        )
    stated = dict(settings)
    stated["drivername"] = stated.pop("dialect", stated.get("drivername"))
    url = stated.get("url") or {part: stated[part] for part in ADDRESS_PARTS if stated.get(part) is not None}
    if not url:
        raise DataError(f"connections.{name} in the secrets has no url.", "Add its SQLAlchemy URL.")
    queries = stated.get("queries", {})
    if not isinstance(queries, Mapping) or not all(isinstance(sql, str) for sql in queries.values()):
        raise DataError(f"connections.{name}.queries must map names to SQL queries.", "Correct the file.")
    rows, seconds = stated.get("rows", MOST_ROWS_OF_QUERY), stated.get("seconds", MOST_SECONDS_OF_QUERY)
    for key, value in (("rows", rows), ("seconds", seconds)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < MOST_SAID_ROWS:
            raise DataError(
                f"connections.{name}.{key} must be a number above 0 and below 1e15, but is {str(value)[:20]}."
            )
    return Connection(name, url, dict(queries), ceil(rows), float(seconds))


@cache
def _warn_once(message: str) -> None:
    """Warn whoever runs the program; pages read the secrets again and again."""
    LOG.warning(message)


def _sqlalchemy() -> Any:
    try:
        return import_module("sqlalchemy")
    except ImportError:
        raise DataError("Databases need SQLAlchemy, which is not installed.", DATABASES_NEEDED) from None


def _engine(connection: Connection) -> Any:
    """Create a read-only SQLAlchemy engine."""
    sql = _sqlalchemy()
    try:
        url = (
            sql.engine.make_url(connection.url)
            if isinstance(connection.url, str)
            else sql.URL.create(**connection.url)
        )
    except Exception:  # its message may contain the password
        raise DataError(
            f"The address of {connection.name} is not an SQLAlchemy URL.", "Correct it."
        ) from None
    backend = url.get_backend_name()
    if backend not in DRIVER_OPTIONS:
        known = ", ".join(DRIVER_OPTIONS)
        raise DataError(
            f"{connection.name} uses the database system {backend!r}.", f"The program can read: {known}."
        )
    if backend in FILES:
        path = Path(url.database or "")
        if not path.is_file():
            raise DataError(
                f"{connection.name}: database file {path.name!r} was not found.", "Correct its url."
            )
        if backend == "sqlite":
            url = url.set(database=f"file:{path.resolve()}", query={"mode": "ro", "uri": "true"})
    if backend == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    arguments = DRIVER_OPTIONS[backend](connection)
    return sql.create_engine(url, poolclass=sql.pool.NullPool, connect_args=arguments)


FILES = ("duckdb", "sqlite")
DRIVER_OPTIONS: Mapping[str, Callable[[Connection], dict[str, Any]]] = {
    "duckdb": lambda _: {
        "read_only": True,
        "config": {
            "enable_external_access": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "lock_configuration": True,
        },
    },
    "sqlite": lambda _: {"check_same_thread": False},
    "postgresql": lambda one: {
        "connect_timeout": 10,
        "options": "-c default_transaction_read_only=on -c synchronize_seqscans=off "
        f"-c statement_timeout={int(1000 * one.seconds)}",
    },
}
"""Kind of database → arguments of its driver besides the URL."""


@contextmanager
def _refusing(connection: Connection, name: str = "") -> Iterator[None]:
    """Convert errors of a database to messages for a person; none contains the URL, which may hold a password."""
    sql = _sqlalchemy()
    what = f"{name} of {connection.name}" if name else connection.name
    try:
        yield
    except (sql.exc.NoSuchModuleError, ImportError):
        raise DataError(
            f"{connection.name} needs a package that is not installed.", DATABASES_NEEDED
        ) from None
    except sql.exc.DBAPIError as error:
        reason = str(error.orig).strip().partition("\n")[0]
        if error.connection_invalidated or "terminat" in reason or "closed" in reason:
            raise DataError(f"The connection to {connection.name} was lost.", "Try again.") from None
        if isinstance(error, sql.exc.OperationalError) and not name:
            raise DataError(
                f"{connection.name} does not respond.", "Try again, or ask the administrator of the database."
            ) from None
        raise DataError(
            f"{what} could not be read ({reason}).", "Correct the query, or choose another."
        ) from None
    except sql.exc.SQLAlchemyError as error:
        raise DataError(f"{what} could not be read ({type(error).__name__}).", "Choose another.") from None

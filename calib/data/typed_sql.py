"""SQL that a person types: one SELECT, without access to files, checked by the database's own parser.

DuckDB splits and classifies statements itself. SQLite asks an authorizer for every action. PostgreSQL reads the query
in a cursor, which takes one SELECT only, in a session that can only read; its role must not be able to read files.
"""

from __future__ import annotations

import hashlib
import sqlite3
from typing import Any

from calib.data.errors import DataError

PREFIX = "SQL "
MOST_CHARACTERS = 20_000
ONE_SELECT = "Type one SELECT, which only reads tables of this database."
SQLITE_MAY = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE))
SQLITE_FILES = frozenset(
    ("load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "lsdir", "zipfile")
)
# words: right, SQL
POSTGRES_ROLE = """
SELECT rolsuper OR pg_has_role(rolname, 'pg_read_server_files', 'MEMBER')
    OR pg_has_role(rolname, 'pg_write_server_files', 'MEMBER')
    OR pg_has_role(rolname, 'pg_execute_server_program', 'MEMBER')
    OR EXISTS (
        SELECT FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
        WHERE has_schema_privilege(pg_namespace.oid, 'USAGE') AND has_function_privilege(pg_proc.oid, 'EXECUTE')
            AND (proname LIKE 'pg\\_read\\_%file' OR proname LIKE 'pg\\_ls\\_%' OR proname LIKE 'dblink%'
                OR proname IN ('pg_stat_file', 'lo_import', 'lo_export', 'pg_file_write'))
            AND NOT (nspname = 'pg_catalog' AND proname IN ('pg_ls_logicalsnapdir', 'pg_ls_logicalmapdir'))
    )
FROM pg_roles WHERE rolname = current_user
"""


def query_name(sql: str) -> str:
    """Return the name by which links know a typed query, which is none of its words.

    >>> query_name("SELECT 1")
    'SQL be673850'
    """
    return PREFIX + hashlib.blake2b(sql.encode(), digest_size=4).hexdigest()


def check_typed(raw: Any, backend: str, sql: str) -> None:
    """Refuse a statement that is not one SELECT, or that could do more than read tables.

    Parameters
    ----------
    raw
        The driver's connection, which can only read. On SQLite it gets an authorizer.
    backend
        "duckdb", "sqlite" or "postgresql".
    sql
        What was typed.

    Raises
    ------
    DataError
        With the reason.
    """
    if not sql.strip():
        raise DataError("There is no SQL.", ONE_SELECT)
    if len(sql) > MOST_CHARACTERS:
        raise DataError(f"The SQL has more than {MOST_CHARACTERS:,} characters.", "Shorten it.")
    {"duckdb": _duckdb, "sqlite": _sqlite, "postgresql": _postgresql}[backend](raw, sql)


def _duckdb(raw: Any, sql: str) -> None:
    import duckdb  # only here, as it takes long to load

    try:
        statements = raw.extract_statements(sql)
    except duckdb.Error as error:
        raise _unread(error) from None
    if len(statements) != 1:
        raise DataError(f"The SQL has {len(statements)} statements.", ONE_SELECT)
    if statements[0].type != duckdb.StatementType.SELECT:
        raise DataError(f"The SQL is a statement of type {statements[0].type.name}.", ONE_SELECT)


def _sqlite(raw: sqlite3.Connection, sql: str) -> None:
    def may(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        called = (second or "").lower()
        reads = action in SQLITE_MAY or (action == sqlite3.SQLITE_FUNCTION and called not in SQLITE_FILES)
        return sqlite3.SQLITE_OK if reads else sqlite3.SQLITE_DENY

    raw.set_authorizer(may)
    try:
        raw.execute(f"EXPLAIN {sql}").close()  # parsed, not run
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise _unread(error) from None


def _postgresql(raw: Any, sql: str) -> None:
    with raw.cursor() as cursor:
        if cursor.execute(POSTGRES_ROLE).fetchone()[0]:
            raise DataError(
                "Typed SQL needs a role that cannot read files of the server.",
                "Ask whoever runs the server for a role with SELECT only.",
            )


def _unread(error: Exception) -> DataError:
    reason = str(error).strip().partition("\n")[0]
    return DataError(f"The SQL cannot be used ({reason}).", ONE_SELECT)

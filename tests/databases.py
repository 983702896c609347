"""Databases in files, for tests."""

import sqlite3
from pathlib import Path

import duckdb
import pandas as pd


def in_files(
    folder: Path, name: str, rows: pd.DataFrame, of_sqlite: pd.DataFrame | None = None
) -> dict[str, str]:
    """Write a table into a DuckDB and an SQLite file, and return their URLs; SQLite may need other values."""
    with duckdb.connect(folder / "w.duckdb") as made:
        made.register("given", rows)
        made.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
    with sqlite3.connect(folder / "w.sqlite") as made:
        (rows if of_sqlite is None else of_sqlite).to_sql(name, made, index=False)
    return {"duckdb": f"duckdb:///{folder}/w.duckdb", "sqlite": f"sqlite:///{folder}/w.sqlite"}

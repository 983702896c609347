"""Tables of the server's folder and of its databases, which are not uploaded.

A table is opened when an address or a choice names it, and is kept like an upload, under the digest of its content. A
file is checked on every run, a database only on request; a message says if a table has changed.
"""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from functools import cache
from typing import Any

import streamlit as st

from calib import sources
from calib.data import (
    Connection,
    Folder,
    FolderTable,
    TableFile,
    TooLargeError,
    connection,
    digest_of,
    guess_target,
    looks_like_predictions,
    open_large,
)
from calib.data.typed_sql import PREFIX
from calib.kernel.checks import InputError
from calib.kernel.progress import Cancelled, Watch
from calib.recipe import DEFAULT_DATA, Recipe
from pages.ui import controls, state
from pages.ui.text import plain
from pages.ui.uploads import keep_file

SETTING = "CALIBRATION_EXPLORER_FOLDER"
WANTED, TYPED = "wanted_table", "typed_sql"
AGAIN = 0.3  # seconds between looks at a query
NO_FOLDER = "This server has no folder of tables. Whoever runs it can start it with --folder DIR."


@cache
def _folder(root: str) -> Folder:
    return Folder(root)


def folder() -> Folder | None:
    """Return the folder that the server was started with, or None."""
    root = os.environ.get(SETTING)
    return _folder(root) if root else None


def refresh_tables() -> bool:
    """Open the tables that the settings name if they are new or have changed; report those that cannot be opened.

    Returns
    -------
    bool
        Whether the settings name another state of a table now.
    """
    recipe = state.recipe()
    wanted = st.session_state.pop(WANTED, None)
    if wanted is not None and not _same(wanted, recipe.data):
        now = _open_or_report(wanted, f" Still using: {state.data_name(recipe)}.")
        if now is not None:
            controls.choose_data(now)
        return state.recipe() != recipe
    for field, data in (("data", wanted or recipe.data), ("judge_on", recipe.judge_on)):
        if sources.place(data) is None or (now := _open_or_report(data)) in (None, getattr(recipe, field)):
            continue
        if sources.file_key(getattr(recipe, field)) is None and recipe.target is None:
            controls.choose_data(now)  # a name alone: as if it were chosen
            continue
        state.update(**{field: now})
        if sources.file_key(getattr(recipe, field)):
            name = (sources.place(now) or ("", now, ""))[1]
            state.say(f"{name} has changed since these settings were made. The page shows the new version.")
    return state.recipe() != recipe


def _same(one: str, other: str) -> bool:
    """Tell whether two data fields name one table, whatever the version."""
    return (sources.place(one) or ())[:2] == (sources.place(other) or (other,))[:2]


def want(data: str) -> None:
    """Open a table at the beginning of the next run, and switch to it."""
    st.session_state[WANTED] = data


def _open_or_report(data: str, still: str = "") -> str | None:
    """Open a table and return its field; if that fails, say why and what is ``still`` used, and return None."""
    kind, name, key = sources.place(data) or ("", "", "")
    try:
        return _of_folder(name) if kind == "folder" else _of_database(name, key)
    except InputError as error:
        if still or state.message() is None:
            state.say(f"{error}{still}")
    except Cancelled:
        state.say(f"Reading {name} was cancelled.{still}")
    return None


def _of_folder(name: str) -> str:
    """Open a table of the folder unless its current version is open; return the ``data`` field that names it."""
    if (place := folder()) is None:
        raise InputError(NO_FOLDER)
    table = place.find(name)
    key = place.digest(table)
    data = f"folder:{name}@{key}"
    if key not in state.held():
        with st.spinner(f"Reading {plain(name)}"):
            upload = _read(place, table, data)
        place.check(table)
        keep_file(key, upload)
    return data


def _of_database(name: str, seen: str) -> str:
    """Read a table or a named query unless it is open; return the ``data`` field that names it."""
    if seen and seen in state.held():
        return f"database:{name}@{seen}"
    which, _, query = name.partition("/")
    frame = _run_query(_with_typed(connection(which), query), query)
    key = digest_of(frame)
    data = f"database:{name}@{key}"
    keep_file(key, state.Upload(name, frame, guess_target(frame), looks_like_predictions(frame), frame, data))
    return data


def want_sql(database: Connection, sql: str) -> None:
    """Run typed SQL at the beginning of the next run; only this session knows its words."""
    try:
        name = database.with_typed(sql)[1]
    except InputError as error:
        state.say(str(error))
        return
    st.session_state.setdefault(TYPED, {})[name] = sql
    want(f"database:{database.name}/{name}")


def _with_typed(database: Connection, query: str) -> Connection:
    """Add a query that was typed in this session; refuse one that was typed elsewhere."""
    if not query.startswith(PREFIX):
        return database
    sql = st.session_state.get(TYPED, {}).get(query)
    if sql is None:
        raise InputError("Links do not contain typed SQL. Type the query again on Data.")
    return database.with_typed(sql)[0]


def _run_query(database: Connection, query: str) -> Any:
    """Run a query in the background; a click on Cancel, or on anything else, cancels it."""
    watch, place = Watch(), st.empty()
    with place.container(horizontal=True, vertical_alignment="center"):
        said = st.empty()
        st.button("Cancel", key="cancel_query", on_click=_cancel_query)
    began = time.monotonic()
    found: Future[Any] = Future()
    threading.Thread(
        target=_query_into, args=(found, database, query, watch), name="query", daemon=True
    ).start()
    try:
        while True:
            seconds = time.monotonic() - began
            said.caption(
                f"Reading {plain(query)} of {plain(database.name)}: {seconds:.0f} s"
            )  # ends if called off
            with suppress(TimeoutError):
                return found.result(timeout=AGAIN)
    finally:
        watch.cancel.set()
        place.empty()


def _query_into(found: Future[Any], database: Connection, query: str, watch: Watch) -> None:
    try:
        found.set_result(database.read(query, watch))
    except Exception as error:
        found.set_exception(error)


def _cancel_query() -> None:
    """After Cancel, show the previous data again, or the first data set."""
    if sources.file_key(state.recipe().data) not in state.held() and sources.place(state.recipe().data):
        controls.choose_data(DEFAULT_DATA)
    state.say("The query was cancelled.")


def _read(place: Folder, table: FolderTable, data: str) -> state.Upload:
    file = TableFile(table.name, place.path(table.name))
    try:
        frame = file.read()
    except TooLargeError:
        return _large(place, table, data)
    return state.Upload(table.name, frame, guess_target(frame), looks_like_predictions(frame), file, data)


def _large(place: Folder, table: FolderTable, data: str) -> state.Upload:
    """Open a table that does not fit into memory: predictions are counted, of features only the first rows are read.

    Nothing is written to disk for it.
    """
    large = open_large(place.path(table.name))
    target = guess_target(large.head)
    if target is None or not looks_like_predictions(large.head):
        return state.Upload(table.name, large.head, target, False, large, data)
    recipe, frame = sources.count_large_file(Recipe(content="predictions", target=target), large, spill=False)
    said = {name: getattr(recipe, name) for name in ("weight", "weight_as", "data_params")}
    return state.Upload(table.name, frame, target, True, frame, data, said)

"""Tables of the server's folder and of its databases, which are not uploaded.

A table is opened when an address or a choice names it, and is kept like an upload, under the digest of its content. A
file is checked on every run, a database only on request; a message says if a table has changed. The Data page lists
these tables.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

import pandas as pd
import streamlit as st

from calib import sources
from calib.data import (
    Connection,
    Folder,
    LargeFile,
    LargeQuery,
    OpenTable,
    TableFile,
    TooLargeError,
    connection,
    connections,
    guess_target,
    looks_like_predictions,
    open_if_many,
    open_large,
)
from calib.kernel.checks import InputError
from calib.kernel.progress import Cancelled, Watch
from calib.kernel.wording import counted
from calib.recipe import Recipe
from pages.ui import controls, state
from pages.ui.text import plain
from pages.ui.uploads import cancel_reading, keep_file
from pages.ui.waiting import in_background
from pages.ui.widget import show_widget

SETTING = "CALIBRATION_EXPLORER_FOLDER"
WANTED = "wanted_table"
NO_FOLDER = "This server has no folder of tables. The administrator can start it with --folder DIR."


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
    for field, data in (("data", wanted or recipe.data), ("test_data", recipe.test_data)):
        if sources.parse_place(data) is None or (now := _open_or_report(data)) in (
            None,
            getattr(recipe, field),
        ):
            continue
        if sources.file_key(getattr(recipe, field)) is None and recipe.target is None:
            controls.choose_data(now)  # a name alone: as if it were chosen
            continue
        before = sources.file_key(getattr(recipe, field)) or ""
        _follow(field, now, before)
    return state.recipe() != recipe


def _follow(field: str, now: str, before: str) -> None:
    """Name the table that was opened in the settings, and say what differs from the one that they were made with."""
    _, name, key = sources.parse_place(now) or ("", now, "")
    digest, _, how = key.partition(".")
    seen, _, seen_how = before.partition(".")
    counted = (
        state.uploaded_files()[key].said if f".{how}" == sources.COUNTS_SUFFIX and field == "data" else {}
    )
    state.update(**{field: now}, **counted)
    if before and digest != seen and how == seen_how:
        state.say(f"{name} has changed since these settings were saved. The page shows the new version.")
    elif before and digest != seen:
        what = (
            "only the rows per score and label are counted"
            if counted
            else "the model is trained on a sample of its rows"
        )
        state.say(
            f"{name} does not fit into memory at the moment, so {what}. The program does not know whether "
            "the table has changed since these settings were saved."
        )


def _same(one: str, other: str) -> bool:
    """Tell whether two data fields name one table, whatever the version."""
    return (sources.parse_place(one) or ())[:2] == (sources.parse_place(other) or (other,))[:2]


def want(data: str) -> None:
    """Open a table at the beginning of the next run, and switch to it."""
    st.session_state[WANTED] = data


def _open_or_report(data: str, still: str = "") -> str | None:
    """Open a table and return its field; if that fails, say why and what is ``still`` used, and return None."""
    kind, name, key = sources.parse_place(data) or ("", "", "")
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
    table = place.open(name)
    key = table.known_digest
    if key is None or key not in state.uploaded_files():
        key, upload = in_background(f"Reading {name}", lambda watch: _read(table, watch), cancel_reading)
        table.check()
        keep_file(key, upload)
    return f"folder:{name}@{key}"


def _of_database(name: str, seen: str) -> str:
    """Read a table or a named query unless it is open; return the ``data`` field that names it."""
    if seen and seen in state.uploaded_files():
        return f"database:{name}@{seen}"
    which, _, query = name.partition("/")
    database = connection(which)
    what = f"Reading {query} of {database.name}"
    upload = in_background(what, lambda watch: _queried(database, query, seen, watch), cancel_reading)
    keep_file(sources.parse_place(upload.data)[2], upload)
    return upload.data


def _queried(database: Connection, query: str, seen: str, watch: Watch) -> state.Upload:
    """Read a query; count or measure one that does not fit into memory or into the limit of rows."""
    name = f"{database.name}/{query}"
    found = sources.read_query(database, query, seen=seen, watch=watch)
    if isinstance(found, LargeQuery) and not found.digest:
        return _count_large(
            name, found, watch, lambda counts: sources.data_of_query(database, query, counts, True)
        )
    frame = found.head if isinstance(found, LargeQuery) else found
    alone = frame is found and looks_like_predictions(frame)
    data = sources.data_of_query(database, query, found)
    return state.Upload(name, frame, guess_target(frame), alone, found, data)


def _read(table: OpenTable, watch: Watch) -> tuple[str, state.Upload]:
    """Return the digest of a table of the folder, and the table: its rows, or its counts or a sample if it is large."""
    key = table.digest(watch.within(0.0, 0.5))
    return key, _upload(table, f"folder:{table.name}@{key}", watch.within(0.5, 1.0))


def _upload(table: OpenTable, data: str, watch: Watch) -> state.Upload:
    if (many := open_if_many(table.path)) is not None and sources.holds_predictions(many):
        return _count_large(table.name, many, watch, lambda _: data)
    file = TableFile(table.name, table.path, confined=True)
    try:
        frame = file.read(watch=watch)
    except TooLargeError:
        large = open_large(table.path)
        target = guess_target(large.head)
        if target is not None and looks_like_predictions(large.head):
            return _count_large(table.name, large, watch, lambda _: data)
        return state.Upload(table.name, large.head, target, False, large, data)
    return state.Upload(table.name, frame, guess_target(frame), looks_like_predictions(frame), file, data)


def _count_large(
    name: str, large: LargeFile | LargeQuery, watch: Watch, named: Callable[[pd.DataFrame], str]
) -> state.Upload:
    """Count predictions that do not fit into memory, without writing to disk; ``named`` is the field of the counts."""
    target = guess_target(large.head)
    recipe, frame = sources.count_large(Recipe(content="predictions", target=target), large, False, watch)
    said = {name: getattr(recipe, name) for name in ("weight", "weight_as", "data_params")}
    return state.Upload(name, frame, target, True, frame, named(frame), said)


def choose(recipe: Recipe) -> None:
    """List the tables of the server's folder and databases; nothing if it was started without any."""
    kind, name, _ = sources.parse_place(recipe.data) or ("", "", "")
    try:
        _choose_from_folder(name if kind == "folder" else None)
        _choose_from_databases(name if kind == "database" else None)
    except InputError as error:
        if state.message() is None:  # a query that was lost has told why
            st.error(plain(error))


def _choose_from_folder(now: str | None) -> None:
    place = folder()
    if place is None:
        return
    found = place.listing()
    tables = {table.name: table.label for table in found.tables}
    if found.unnamed:
        st.caption(
            f"{counted(found.unnamed, 'table')} in the server's folder cannot be listed, because file names must be "
            "UTF-8. Ask the server's administrator to rename the files."
        )
    if found.more:
        st.caption(
            f"The first {len(tables):,} tables are listed. To open another table, use a link with its name."
        )
    if not tables:
        st.caption("The server's folder contains no tables.")
        return
    show_widget(
        st.selectbox,
        "placed_table",
        now if now in tables else None,
        lambda chosen: want(f"folder:{chosen}"),
        f"Or a table in the server's folder “{plain(place.root.name)}”",
        list(tables),
        format_func=tables.get,
        placeholder="Choose a table",
        help="The server reads the table in its folder. Links contain the name of the table, so you can "
        "open such a link without an upload.",
    )


def _choose_from_databases(now: str | None) -> None:
    """Draw the choice of a database, then of its queries and tables; it is queried only once it is chosen."""
    known = connections()
    if not known:
        return
    database, _, query = (now or "").partition("/")
    opened = st.session_state.get("asked_database", database or None)
    # Empty columns would leave a gap on a phone
    columns = st.columns([3, 6, 2], vertical_alignment="bottom") if opened in known else [st.container()]
    with columns[0]:
        show_widget(
            st.selectbox,
            "database",
            opened if opened in known else None,
            lambda chosen: st.session_state.update(asked_database=chosen),
            "Or a database",
            list(known),
            placeholder="Choose a database",
            help="The administrator of the server defines the databases and their queries. Databases are "
            "opened read-only.",
        )
    if opened not in known:
        return
    tables = known[opened].tables()
    with columns[1]:
        show_widget(
            st.selectbox,
            "database_table",
            query if opened == database and query in tables else None,
            lambda chosen: want(f"database:{opened}/{chosen}"),
            "Query or table",
            tables,
            placeholder="Choose a query or a table",
            help=f"At most {known[opened].rows:,} rows, within {known[opened].seconds:g} seconds.",
        )
    if opened == database and query in tables:
        with columns[2]:
            st.button("Read again", key="read_again", on_click=lambda: want(f"database:{now}"))

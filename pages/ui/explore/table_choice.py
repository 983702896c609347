"""Part of the Data page for tables that are not uploaded: those of the server's folder and of its databases."""

from __future__ import annotations

import streamlit as st

from calib import sources
from calib.data import connections
from calib.kernel.checks import InputError
from calib.kernel.wording import counted
from calib.recipe import Recipe
from pages.ui import server_tables, state
from pages.ui.text import plain
from pages.ui.widget import show_widget


def choose(recipe: Recipe) -> None:
    """List the tables of the server's folder and databases; nothing if it was started without any."""
    kind, name, _ = sources.parse_place(recipe.data) or ("", "", "")
    try:
        _of_folder(name if kind == "folder" else None)
        _of_databases(name if kind == "database" else None)
    except InputError as error:
        if state.message() is None:  # a query that was lost has told why
            st.error(plain(error))


def _of_folder(now: str | None) -> None:
    place = server_tables.folder()
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
        lambda chosen: server_tables.want(f"folder:{chosen}"),
        f"Or a table in the server's folder “{plain(place.root.name)}”",
        list(tables),
        format_func=tables.get,
        placeholder="Choose a table",
        help="The server reads the table in its folder. Links contain the name of the table, so you can "
        "open such a link without an upload.",
    )


def _of_databases(now: str | None) -> None:
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
            lambda chosen: server_tables.want(f"database:{opened}/{chosen}"),
            "Query or table",
            tables,
            placeholder="Choose a query or a table",
            help=f"At most {known[opened].rows:,} rows, within {known[opened].seconds:g} seconds.",
        )
    if opened == database and query in tables:
        with columns[2]:
            st.button("Read again", key="read_again", on_click=lambda: server_tables.want(f"database:{now}"))

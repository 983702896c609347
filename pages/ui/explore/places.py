"""The part of the Data page for tables that stay where they are: those of the server's folder."""

from __future__ import annotations

import streamlit as st

from calib import sources
from calib.kernel.checks import InputError
from calib.recipe import Recipe
from pages.ui import controls, places, state
from pages.ui.text import plain
from pages.ui.widget import shown


def choose(recipe: Recipe) -> None:
    """List the tables of the server's folder; nothing if it was started without one."""
    try:
        place = places.folder()
    except InputError as error:
        st.error(plain(error))
        return
    if place is None:
        return
    tables = {table.name: table.label for table in place.tables()}
    if not tables:
        st.caption("The server's folder contains no tables.")
        return
    placed = sources.place(recipe.data)
    now = placed[1] if placed and placed[1] in tables else None
    shown(
        st.selectbox,
        "placed_table",
        now,
        _chosen,
        f"Or a table in the server's folder “{plain(place.root.name)}”",
        list(tables),
        format_func=tables.get,
        placeholder="Choose a table",
        help="The server reads the table where it is. Links name it, so opening a link needs no upload.",
    )


def _chosen(name: str | None) -> None:
    if name is None:
        return
    try:
        data = places.open_table(name)
    except InputError as error:
        state.say(f"{error} Still using: {state.data_name(state.recipe())}.")
        return
    if data != state.recipe().data:
        controls.choose_data(data)

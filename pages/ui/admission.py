"""Show the file of a notebook's or command's server only to browsers that present its token."""

from __future__ import annotations

import secrets

import streamlit as st

from calib.recipe import Recipe
from pages.ui import controls, state, uploads
from pages.ui.given_file import GivenFile, given
from pages.ui.state import TOKEN

CLOSED = (
    "This dashboard shows data from a notebook or a command. Open the address that was printed there; it "
    "ends in a token."
)


def admit() -> None:
    """Admit a session whose address holds the token, and put the file among its uploads; others see nothing."""
    file = given()
    if file is None:
        return
    if not st.session_state.get("admitted"):
        if not secrets.compare_digest(st.query_params.get(TOKEN, "").encode(), file.token.encode()):
            st.error(CLOSED)
            st.stop()
        st.session_state["admitted"] = True
        linked = bool(state.query_parameters())  # a link with settings of its own
        uploads.open_table(file, lambda key: None if linked else _use(file, key))
        if not linked:
            page = "explore_data" if file.recipe is None else "explore_reliability"
            st.session_state["asked_for"] = (f"pages/{page}.py", state.here())
    if st.query_params.get(TOKEN) != file.token:
        st.query_params[TOKEN] = file.token


def _use(file: GivenFile, key: str) -> None:
    if file.recipe is None:
        controls.choose_data(f"upload:{key}")
    else:
        state.replace(Recipe.from_json(file.recipe))

"""Uploaded files: read once, when they come, and named in messages about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from calib.kernel.checks import InputError
from pages.ui import state
from pages.ui.text import about_file, plain

Found = TypeVar("Found")
LARGE = 20_000_000  # bytes, of which reading takes a second or more


def received(widget: str, read: Callable[[bytes, str], Found], instead: str = "") -> Found | None:
    """What ``read(content, name)`` makes of the file that a picker got; None where there is none.

    What is wrong with it stands at the head of the page, with what is in use ``instead``.
    """
    file = st.session_state[widget]
    if file is None:
        return None
    state.say(None)
    if file.size > LARGE:
        st.toast(f"Reading {plain(file.name)} …", duration="long")
    try:
        return read(file.getvalue(), file.name)
    except InputError as error:
        state.say(f"{about_file(file.name, error)}{instead and f' Still using: {instead}.'}")
        return None


def remember(widget: str, read: Callable[[bytes, str], Any]) -> None:
    """What ``read(content, name)`` makes of the file that a picker got: the picker forgets it on another page."""
    file = st.session_state[widget]
    found = None
    if file is not None:
        try:
            found = read(file.getvalue(), file.name)
        except InputError as error:
            found = about_file(file.name, error)
    st.session_state[f"{widget}_read"] = found


def remembered(widget: str) -> Any:
    """What the picker's last file held; a refusal is said, and then there is nothing."""
    found = st.session_state.get(f"{widget}_read")
    if isinstance(found, str):
        st.error(plain(found))
        return None
    return found

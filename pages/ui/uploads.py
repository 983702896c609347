"""Read uploaded files once, when they arrive, and name them in messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from calib import sources
from calib.data import TableFile, guess_target, looks_like_predictions
from calib.kernel.checks import InputError
from pages.ui import session_cache, state
from pages.ui.text import about_file, plain

Found = TypeVar("Found")
KEPT_FILES = 4
LARGE = 20_000_000  # bytes; reading a larger file takes a second or more


def keep_table(content: bytes, name: str) -> str:
    """Read a table, keep it with its file, and return its digest."""
    file, key = TableFile(name, content), sources.digest(content)
    table = file.read()
    keep_file(key, state.Upload(name, table, guess_target(table), looks_like_predictions(table), file))
    return key


def keep_file(key: str, file: state.Upload | state.Model) -> None:
    """Keep a file with the latest few, within the limits; files that the settings need always stay."""
    files, needed = state.held(), {key, *sources.missing(state.recipe(), ())}
    files[key] = file
    for other in [one for one in files if one not in needed][: max(0, len(files) - KEPT_FILES)]:
        del files[other]
    session_cache.within(files, session_cache.OF_UPLOADS, needed)


def received(widget: str, read: Callable[[bytes, str], Found], instead: str = "") -> Found | None:
    """Return ``read(content, name)`` of the file in a picker, or None.

    An error message appears at the head of the page, and says what is still in use (``instead``).
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
    """Keep ``read(content, name)`` of the picker's file, because the picker forgets it on another page."""
    file = st.session_state[widget]
    found = None
    if file is not None:
        try:
            found = read(file.getvalue(), file.name)
        except InputError as error:
            found = about_file(file.name, error)
    st.session_state[f"{widget}_read"] = found


def remembered(widget: str) -> Any:
    """Return what ``remember`` kept; if the file was refused, show the reason and return None."""
    found = st.session_state.get(f"{widget}_read")
    if isinstance(found, str):
        st.error(plain(found))
        return None
    return found

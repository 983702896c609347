"""Uploaded files: read once, when they come, and named in messages about them."""

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
LARGE = 20_000_000  # bytes, of which reading takes a second or more


def keep_table(content: bytes, name: str) -> str:
    """Read a table and keep it with its file; its digest."""
    file, key = TableFile(name, content), sources.digest(content)
    table = file.read()
    keep_file(key, state.Upload(name, table, guess_target(table), looks_like_predictions(table), file))
    return key


def keep_file(key: str, file: state.Upload | state.Model) -> None:
    """Keep it beside the last few, within their bounds; what the settings need stays in any case."""
    files, needed = state.held(), {key, *sources.missing(state.recipe(), ())}
    files[key] = file
    for other in [one for one in files if one not in needed][: max(0, len(files) - KEPT_FILES)]:
        del files[other]
    session_cache.within(files, session_cache.OF_UPLOADS, needed)


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

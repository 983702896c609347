"""Files that are brought to a page: read once, when they come, and named in what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from calib.kernel.checks import InputError
from pages.ui import state
from pages.ui.text import about_file

Found = TypeVar("Found")


def received(widget: str, read: Callable[[bytes, str], Found]) -> Found | None:
    """What ``read(content, name)`` makes of the file that a picker got; None where there is none.

    What is wrong with it stands at the head of the page.
    """
    file = st.session_state[widget]
    if file is None:
        return None
    state.say(None)
    try:
        return read(file.getvalue(), file.name)
    except InputError as error:
        state.say(about_file(file.name, error))
        return None

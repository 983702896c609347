"""Where a lesson's step shows the one chart that it names: beside its text, above the page that is folded away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import streamlit as st

# Parts of a stage that are no charts: what is asked, what plays, the controls that matter most, the others, a table
# of the numbers that the step names, the advice
RESERVED = ("words", "player", "controls", "more", "numbers", "advice")

# In a room the drawer with the controls opens over the words, and the picture beside them stays as it is
OVER_WORDS = """<style>@media (min-width: 1100px) {
    .stSidebar[data-collapsed=false]
        {position: absolute !important; max-height: 100dvh; overflow-y: auto; box-shadow: 0 0 1.5rem rgb(0 0 0 / .3)}
}</style>"""


def set_up(places: Mapping[str, Any]) -> None:
    """Until the page's next run: where the parts of these names go, charts and those that are none."""
    st.session_state["stage"] |= places


def drawer_over_words() -> None:
    st.html(OVER_WORDS)


def has(part: str) -> bool:
    """Whether this part would go on the stage."""
    return part in st.session_state.get("stage", {})


def clear() -> None:
    st.session_state["stage"] = {}


@contextmanager
def on(part: str) -> Iterator[bool]:
    """On the stage, once a run, where it has such a part; else where the page is. Tells which of them."""
    place = st.session_state.get("stage", {}).pop(part, None)
    with place or nullcontext():
        yield place is not None


@contextmanager
def on_picture() -> Iterator[None]:
    """In the place of the named chart, above it: how far its numbers are, or why there are none."""
    parts = st.session_state.get("stage", {})
    with next((place for part, place in parts.items() if part not in RESERVED), None) or nullcontext():
        yield

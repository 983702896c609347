"""Where a lesson's step shows the one chart that it names: beside its text, above the page that is folded away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import streamlit as st

# Parts of a stage other than charts: what is asked, what plays, the controls that matter most, the others, a table
# of the numbers that the step names, the advice, the words of a room, what is being read, and that marks move
RESERVED = (
    *("words", "player", "controls", "more", "numbers", "advice", "room", "reading", "moving"),
    "under",  # what belongs to the chart of a step, below it
)

# In a room: how much of the page the words have, over which its drawer opens, and the picture beside them
ROOM = (0.32, 0.68)


def set_up(places: Mapping[str, Any]) -> None:
    """Until the page's next run: where the parts of these names go, charts and those that are none."""
    st.session_state["stage"] |= places


def beside_the_page() -> Any | None:
    """In a room, outside of lessons: the column for words, over which the drawer opens; the page is at its right."""
    return st.session_state.get("stage", {}).get("room")


def words() -> AbstractContextManager:
    """That column, so that one window holds what is asked and the picture; elsewhere where the page is."""
    return beside_the_page() or nullcontext()


def side_by_side(shares: Sequence[float]) -> Sequence[Any]:
    """Columns of these shares; one below the other in a room, where each needs the width."""
    return [st.container() for _ in shares] if beside_the_page() else st.columns(shares, gap="medium")


def reading() -> AbstractContextManager:
    """The head of the page, which says that data are being read."""
    return st.session_state.get("stage", {}).get("reading") or nullcontext()


def has(part: str) -> bool:
    """Whether this part would go on the stage."""
    return part in st.session_state.get("stage", {})


def clear() -> None:
    st.session_state["stage"] = {}
    st.session_state["in_step"] = {}


@contextmanager
def controls(names: Sequence[str]) -> Iterator[None]:
    """Here the controls of these fields are drawn, and nowhere else until the page's next run."""
    st.session_state["in_step"] = dict.fromkeys(names, True)
    yield
    st.session_state["in_step"] = dict.fromkeys(names, False)


def takes(field: str) -> bool:
    """Whether a control of this field is drawn now: not if it stands in the step already."""
    return st.session_state.get("in_step", {}).get(field, True)


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

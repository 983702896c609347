"""Stage of a lesson's step: the one chart that the step names, beside its text, above the folded page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import streamlit as st

# Parts of a stage other than charts: the question, the player, the main controls, the others, the table of numbers
# that the step names, the words in presenter view, the reading message, and a chart whose marks move
PARTS_OF_STAGE = (
    *("words", "player", "controls", "more", "numbers", "room", "reading", "moving"),
    "under",  # below the chart of a step
)

# In presenter view: shares of the words, over which the drawer opens, and of the picture beside them
COLUMN_WIDTHS = (0.32, 0.68)


def set_up(places: Mapping[str, Any]) -> None:
    """Register the containers of these parts, charts or others, until the page's next run."""
    st.session_state["stage"] |= places


def beside_the_page() -> Any | None:
    """Return the column for words beside the page in presenter view, outside of lessons, else None."""
    return st.session_state.get("stage", {}).get("room")


def words() -> AbstractContextManager:
    """Return that column as a context, so that one window shows controls and picture; otherwise a null context."""
    return beside_the_page() or nullcontext()


def side_by_side(shares: Sequence[float]) -> Sequence[Any]:
    """Return columns of these shares; in presenter view, containers one below the other, since each needs the
    width.
    """
    return [st.container() for _ in shares] if beside_the_page() else st.columns(shares, gap="medium")


def reading() -> AbstractContextManager:
    """Return the place at the head of the page that says that data are being read."""
    return st.session_state.get("stage", {}).get("reading") or nullcontext()


def has(part: str) -> bool:
    """Tell whether the stage has this part."""
    return part in st.session_state.get("stage", {})


def clear() -> None:
    st.session_state["stage"] = {}


@contextmanager
def on(part: str) -> Iterator[bool]:
    """Draw on the stage, once per run, if it has this part; otherwise in place. Yield whether it is on the stage."""
    place = st.session_state.get("stage", {}).pop(part, None)
    with place or nullcontext():
        yield place is not None


def picture_waits() -> bool:
    """Tell whether the named chart is still to be drawn in this run."""
    return any(part not in PARTS_OF_STAGE for part in st.session_state.get("stage", {}))


@contextmanager
def on_picture() -> Iterator[None]:
    """Draw above the named chart, in its place, for example progress or a reason why the chart is missing."""
    parts = st.session_state.get("stage", {})
    with next((place for part, place in parts.items() if part not in PARTS_OF_STAGE), None) or nullcontext():
        yield

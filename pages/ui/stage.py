"""Where a lesson's step shows the one chart that it names: beside its text, above the page that is folded away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import streamlit as st


def set_up(chart: str, picture: Any, words: Any, controls: Any) -> None:
    """Until the page's next run: where the chart of this name goes, what is asked of it, and its first controls."""
    st.session_state["stage"] = {chart: picture, "words": words, "controls": controls}


def clear() -> None:
    st.session_state["stage"] = {}


def open_here() -> bool:
    """Whether the page stands under a step of a lesson."""
    return "controls" in st.session_state.get("stage", {})


@contextmanager
def on(part: str) -> Iterator[bool]:
    """On the stage, once a run, where it has such a part; else where the page is. Tells which of them."""
    place = st.session_state.get("stage", {}).pop(part, None)
    with place or nullcontext():
        yield place is not None


@contextmanager
def on_picture() -> Iterator[None]:
    """In the place of the named chart while that is not there: how far its numbers are, or why there are none."""
    parts = st.session_state.get("stage", {})
    with on(next((part for part in parts if part not in ("words", "controls")), "")):
        yield

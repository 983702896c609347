"""Headings that keep their level order, and the places of a page's finding: its sentence, numbers and picture.

The page's question, or the title of a lesson's step, is the first level. Parts of the page, and charts before the
first part, are the second; headings within a part are the third.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import streamlit as st

from pages.ui import lesson_layout
from pages.ui.text import plain, unbroken

PICTURE_AND_WORDS = [0.58, 0.42]  # of the page's width: the picture, and the numbers and words beside it


class FindingPlaces(NamedTuple):
    """Containers of a finding: its sentence, the picture below, and the numbers and words beside the picture."""

    picture: Any
    sentence: Any
    words: Any


def clear() -> None:
    """Begin again with the first level."""
    st.session_state["in_a_part"] = False


def part(text: str, **options: Any) -> None:
    """Begin a part of the page; following headings are one level deeper."""
    st.header(text, anchor=False, **options)
    st.session_state["in_a_part"] = True


def heading(text: object, anchor: Any = False, **options: Any) -> None:
    """Draw a heading above a chart or table, of the level that comes next here."""
    write = st.subheader if st.session_state.get("in_a_part") else st.header
    write(unbroken(plain(text)), anchor=anchor, **options)


def at_this_level(draw: Callable[[], None]) -> Callable[[], None]:
    """Let a part that is drawn again by itself, after the page's end, keep the level of its headings."""
    within = st.session_state.get("in_a_part", False)

    def again() -> None:
        st.session_state["in_a_part"] = within
        draw()

    return again


def finding(beside: bool = True) -> FindingPlaces:
    """Make the places of a finding: the sentence, the picture below it, and its numbers and words beside the picture.

    On a phone the words are below the picture, as they are if ``beside`` is False, for a picture that needs the
    width. In presenter view all words are beside the page.
    """
    block = st.container(key="finding")
    if column := lesson_layout.beside_the_page():
        with column:
            return FindingPlaces(block, st.container(), st.container(key="numbers"))
    with block:
        sentence = st.container()
        picture, words = (
            st.columns(PICTURE_AND_WORDS, gap="medium") if beside else (st.container(), st.container())
        )
    return FindingPlaces(picture, sentence, words.container(key="numbers"))


def details(key: str = "details") -> Any:
    """Return the fold for what need not be read at first, such as further reasons, sources and settings of a test."""
    return st.expander("Details", key=key, type="compact")


def rows() -> Any:
    """Return a container in which each metric takes one line: label, value and change (frame.NARROW)."""
    return st.container(gap=None, key="headline")

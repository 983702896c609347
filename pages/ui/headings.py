"""Headings without a jump, and the place of a page's finding: the sentence, its numbers, the picture.

The page's question, or the title of a lesson's step, is the first level; parts of the page and charts before
any part are the second; what stands in a part is the third.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import streamlit as st

from pages.ui import placing, stage
from pages.ui.text import plain

BESIDE = [0.58, 0.42]  # of the page's width: the picture, and the numbers and words beside it


class FindingPlaces(NamedTuple):
    """Where the finding goes: its sentence, the picture below that, and beside the picture its numbers and words."""

    picture: Any
    sentence: Any
    words: Any


def clear() -> None:
    """Begin a page."""
    st.session_state["in_a_part"] = False
    st.session_state["ghost"] = None
    st.session_state["said"] = ""
    st.session_state["across"] = ()
    ask(None)


def part(text: str, **options: Any) -> None:
    """A part of the page: what follows stands in it."""
    st.header(text, anchor=False, **options)
    st.session_state["in_a_part"] = True


def ask(answers: Callable[[], None] | None, posed: bool = False, kept: Collection[str] = ()) -> None:
    """While a question is still to be answered, pictures name their topic, and are empty unless they pose the question.

    ``answers`` draws those to choose from, under the first picture; None: nothing is asked. ``kept`` names the traces
    that stay in an empty picture.
    """
    st.session_state["asked"] = answers is not None
    st.session_state["empty"] = answers is not None and not posed
    st.session_state["kept_traces"] = kept
    st.session_state["answers"] = answers


def keep_guess(ghost: placing.Ghost) -> None:
    """Leave the reader's guess in the picture of the step."""
    st.session_state["ghost"] = ghost


def say(finding: str) -> None:
    """Keep what the step says above its picture, once it is answered, instead of the figure's own title."""
    st.session_state["said"] = finding


def said() -> str:
    """The step's own finding, or nothing."""
    return st.session_state.get("said", "")


def zoom(across: Collection[Any]) -> None:
    """Draw only this part of the horizontal axis of the step's picture, if it is not empty."""
    st.session_state["across"] = across


def across() -> Collection[Any]:
    """The part of the horizontal axis that the step's picture shows; empty for all of it."""
    return st.session_state.get("across", ())


def ghost() -> placing.Ghost | None:
    """The guess that stays in the picture of the step."""
    return st.session_state.get("ghost")


def asked() -> bool:
    """Whether what the pictures show waits for the reader's answer."""
    return st.session_state.get("asked", False)


def empty() -> bool:
    """Whether pictures show only their axes, since their data are the answer."""
    return st.session_state.get("empty", False)


def kept() -> Collection[str]:
    """The names of the traces that an empty picture shows, since they do not tell the answer."""
    return st.session_state.get("kept_traces", ())


def to_be_answered() -> bool:
    """Whether answers to choose from are still to come, under the next picture."""
    return st.session_state.get("answers") is not None


def answers() -> None:
    """What can be answered, once a run: under the first picture, or where that would be."""
    draw, st.session_state["answers"] = st.session_state.get("answers"), None
    if draw is not None:
        draw()


def heading(text: object, anchor: Any = False) -> None:
    """Above a chart or a table: of the level that is next here."""
    write = st.subheader if st.session_state.get("in_a_part") else st.header
    write(plain(text), anchor=anchor)


def finding(beside: bool = True) -> FindingPlaces:
    """The sentence, below it the picture, and beside that its numbers and words; on a phone below it.

    In a room all words stand beside the page; without ``beside`` they stand below a picture that needs the width.
    """
    block = st.container(key="finding")
    if room := stage.beside_the_page():
        with room:
            return FindingPlaces(block, st.container(), st.container(key="numbers"))
    with block:
        sentence = st.container()
        picture, words = st.columns(BESIDE, gap="medium") if beside else (st.container(), st.container())
    return FindingPlaces(picture, sentence, words.container(key="numbers"))


def rows() -> Any:
    """A container whose metrics are rows: label, value and change in one line each (frame.NARROW)."""
    return st.container(gap=None, key="headline")

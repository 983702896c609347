"""Headings that keep their level order, and the places of a page's finding: its sentence, numbers and picture.

The page's question, or the title of a lesson's step, is the first level. Parts of the page, and charts before the
first part, are the second; headings within a part are the third.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import streamlit as st

from calib.lessons import narrowing
from pages.ui import placing, stage
from pages.ui.text import plain

BESIDE = [0.58, 0.42]  # of the page's width: the picture, and the numbers and words beside it


class FindingPlaces(NamedTuple):
    """Containers of a finding: its sentence, the picture below, and the numbers and words beside the picture."""

    picture: Any
    sentence: Any
    words: Any


def clear() -> None:
    """Reset the state of headings and questions at the beginning of a page."""
    st.session_state["in_a_part"] = False
    st.session_state["ghost"] = None
    st.session_state["said"] = ""
    st.session_state["narrowed"] = {}
    ask(None)


def part(text: str, **options: Any) -> None:
    """Begin a part of the page; following headings are one level deeper."""
    st.header(text, anchor=False, **options)
    st.session_state["in_a_part"] = True


def ask(answers: Callable[[], None] | None, posed: bool = False, kept: Collection[str] = ()) -> None:
    """While a question is open, let pictures name only their topic, and be empty unless they pose the question.

    ``answers`` draws the answers to choose from under the first picture; None: no question is open. ``kept`` names
    the traces that stay in an empty picture.
    """
    st.session_state["asked"] = answers is not None
    st.session_state["empty"] = answers is not None and not posed
    st.session_state["kept_traces"] = kept
    st.session_state["answers"] = answers


def keep_guess(ghost: placing.Ghost) -> None:
    """Keep the reader's guess in the picture of the step."""
    st.session_state["ghost"] = ghost


def say(finding: str) -> None:
    """Keep the finding that the step states above its picture after the answer, instead of the figure's own title."""
    st.session_state["said"] = finding


def said() -> str:
    """Return the step's own finding, or an empty string."""
    return st.session_state.get("said", "")


def narrow(picture: Mapping[str, Any]) -> None:
    """Draw only a part of the step's picture: ``across`` the horizontal axis, and all traces but ``without``."""
    st.session_state["narrowed"] = picture


def narrowed(figure: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a figure that the step shows, with the step's name of the model."""
    return narrowing.narrowed(figure, st.session_state.get("narrowed", {}))


def of_step(name: str, default: Any = None) -> Any:
    """Return an entry of the step's ``picture``, or the default."""
    return st.session_state.get("narrowed", {}).get(name, default)


def renamed(text: str) -> str:
    """Return a text in which the model has the name that the step gives it."""
    return narrowing.renamed(text, st.session_state.get("narrowed", {}))


def known() -> dict[str, Any]:
    """Return the options of the step's figure while its question is open: a state that the reader has seen before."""
    return dict(of_step("known", {})) if empty() else {}


def ghost() -> placing.Ghost | None:
    """Return the guess that stays in the picture of the step."""
    return st.session_state.get("ghost")


def asked() -> bool:
    """Tell whether the content of the pictures waits for the reader's answer."""
    return st.session_state.get("asked", False)


def empty() -> bool:
    """Tell whether pictures show only their axes, because their data are the answer."""
    return st.session_state.get("empty", False)


def kept() -> Collection[str]:
    """Return the names of the traces that an empty picture shows, because they do not give away the answer."""
    return st.session_state.get("kept_traces", ())


def answers() -> None:
    """Draw the answers to choose from, once per run: under the first picture, or where it would be."""
    draw, st.session_state["answers"] = st.session_state.get("answers"), None
    if draw is not None:
        draw()


def heading(text: object, anchor: Any = False) -> None:
    """Draw a heading above a chart or table, of the level that comes next here."""
    write = st.subheader if st.session_state.get("in_a_part") else st.header
    write(plain(text), anchor=anchor)


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
    if room := stage.beside_the_page():
        with room:
            return FindingPlaces(block, st.container(), st.container(key="numbers"))
    with block:
        sentence = st.container()
        picture, words = st.columns(BESIDE, gap="medium") if beside else (st.container(), st.container())
    return FindingPlaces(picture, sentence, words.container(key="numbers"))


def rows() -> Any:
    """Return a container in which each metric takes one line: label, value and change (frame.NARROW)."""
    return st.container(gap=None, key="headline")

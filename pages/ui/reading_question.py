"""How a table was read, in one line with its other readings; or the question that a person must answer first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from calib import sources
from calib.data import ReadingQuestion
from calib.kernel.read_as import Answer
from calib.kernel.records import Dataset
from calib.kernel.wording import short_class
from calib.recipe import Recipe
from pages.ui import state
from pages.ui.text import plain

READING_BUTTONS = 3  # other readings that are buttons, where there is room; more are folded
MOST_LETTERS = 40  # of such buttons; if they have more, they are folded


def line(recipe: Recipe, data: Dataset, at_once: int = 1) -> None:
    """Write how the table was read, with one button per other reading; long ones and more than ``at_once`` are folded.

    *Data* also names the label. Nothing is written there for a table of features: its controls show the label and the
    positive class.
    """
    reading = data.read_as
    if reading is None or state.lesson_open() or (at_once == READING_BUTTONS and not reading.scores):
        return
    if not reading.scores and reading.positive is not None:  # the sidebar and *Data* say the rest
        with st.popover(
            f"Positive class: {plain(short_class(reading.positive))}", key="read_as", type="tertiary"
        ):
            st.caption(plain(reading))
            _buttons(reading.others)
        return
    with st.container(horizontal=True, vertical_alignment="center", key="read_as"):
        st.caption(plain(reading.of_scores if at_once < READING_BUTTONS else reading), width="content")
        letters = sum(len(other.label) for other in reading.others)
        if len(reading.others) > at_once or letters > MOST_LETTERS:
            with st.popover("Change", key="other_readings", type="tertiary"):
                _buttons(reading.others)
        else:
            _buttons(reading.others, "Change: ")
        if stated := sources.without_answers(recipe):
            st.button("Ask again", key="ask_again", type="tertiary", on_click=apply, args=(stated,))


def ask(question: ReadingQuestion) -> None:
    """Draw a question with one button per answer, and what follows from each."""
    with st.container(border=True, key="question"):
        st.markdown(f"**{plain(question.message)}**")
        for i, answer in enumerate(question.answers):
            with st.container(horizontal=True, vertical_alignment="center", key=f"answer_{i}"):
                st.button(plain(answer.label), key=f"choose_{i}", on_click=apply, args=(answer.fix,))
                if answer.consequence:
                    st.markdown(plain(answer.consequence), width="content")
        st.caption("No result is computed until you choose. You can change the answer later.")


def _buttons(answers: tuple[Answer, ...], begin: str = "") -> None:
    for answer in answers:
        label = f"{begin}{answer.label[0].lower()}{answer.label[1:]}" if begin else answer.label
        key = f"read_{answer.label}"
        st.button(
            plain(label),
            key=key,
            type="tertiary",
            on_click=apply,
            args=(answer.fix,),
            help=answer.consequence or None,
        )


def apply(fix: Mapping[str, Any]) -> None:
    """Change the Recipe by an answer; results that depend on the old reading are dropped with its data."""
    state.update(**sources.with_answer(state.recipe(), fix))

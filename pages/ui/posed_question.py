"""The question that a page or a step of a lesson asks: what its pictures hide until the answer, and show after it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from calib.figures import narrowing
from pages.ui import placed_guess


@dataclass
class PosedQuestion:
    """State of the question during one run of a page.

    Attributes
    ----------
    open
        Whether the content of the pictures waits for the reader's answer, so that they name only their topic.
    empty
        Whether pictures show only their axes, because their data are the answer.
    kept
        The names of the traces that an empty picture shows, because they do not give away the answer.
    draw_answers
        Draws the answers to choose from; None once they are drawn.
    ghost
        The guess that stays in the picture.
    finding
        What the step states above its picture after the answer, instead of the figure's own title.
    picture
        The step's ``picture``: the part of the figure that is drawn, and the name of the model.
    moving
        Draws the picture by a script, in a step that asks for this.
    """

    open: bool = False
    empty: bool = False
    kept: Collection[str] = ()
    draw_answers: Callable[[], None] | None = None
    ghost: placed_guess.Ghost | None = None
    finding: str = ""
    picture: Mapping[str, Any] = field(default_factory=dict)
    moving: Callable[[], None] | None = None

    def ask(
        self, answers: Callable[[], None] | None, posed: bool = False, kept: Collection[str] = ()
    ) -> None:
        """Ask; pictures are empty unless they pose the question. ``answers`` None: no question is open."""
        self.open, self.empty = answers is not None, answers is not None and not posed
        self.kept, self.draw_answers = kept, answers

    def hide_others(self) -> None:
        """Show only the axes of the pictures that follow, until the answer: the one above poses the question."""
        self.empty = self.open

    def answers(self) -> None:
        """Draw the answers to choose from, once per run: under the first picture, or where it would be."""
        draw, self.draw_answers = self.draw_answers, None
        if draw is not None:
            draw()

    def narrowed(self, figure: dict[str, Any]) -> dict[str, Any]:
        """Return the part of a figure that the step shows, with the step's name of the model."""
        return narrowing.narrowed(figure, self.picture)

    def renamed(self, text: str) -> str:
        """Return a text in which the model has the name that the step gives it."""
        return narrowing.renamed(text, self.picture)


def current_question() -> PosedQuestion:
    """Return the question of this run of the page."""
    return st.session_state.setdefault("posed_question", PosedQuestion())


def ask_nothing() -> None:
    """Begin a page, on which no question is open yet."""
    st.session_state["posed_question"] = PosedQuestion()

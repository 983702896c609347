"""A question with answers and immediate feedback: right or wrong, why, and how sure the reader was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import streamlit as st

from calib.experiments.forecasts import Forecast, draw, levels, prepare
from calib.lessons import Question
from pages.ui import chart, current, placed_guess
from pages.ui.text import plain, unbroken

RIGHT = ":green-badge[:material/check_circle: Correct.]"
NOT_QUITE = ":red-badge[:material/cancel: Not quite.]"


def ask(
    about: str,
    key: str,
    answers: Sequence[str],
    choose: Callable[[int], None],
    skip: Callable[[], None] | None = None,
) -> None:
    """Ask how sure the reader is, and draw a button for each answer, which calls ``choose`` with its number from 1.

    Parameters
    ----------
    about
        Key of the question, under which the first answer is remembered.
    key
        Prefix of the buttons' keys.
    """
    with _answers(about, key, len(answers), skip):
        for i, answer in enumerate(answers, start=1):
            st.button(plain(answer), key=f"{key}_{i}", on_click=partial(_chosen, about, choose, i))


def ask_in_picture(
    about: str, key: str, question: Question, choose: Callable[[int, Any], None], skip: Callable[[], None]
) -> None:
    """Ask for a guess in the picture; ``choose`` takes the matching answer, and the guess."""

    def placed(guess: Any) -> None:
        _chosen(about, lambda answer: choose(answer, guess), question.answer_to(guess))

    with _answers(about, key, len(question.answers), skip):
        placed_guess.place_guess(f"{key}_place", question, placed)


@contextmanager
def _answers(about: str, key: str, number: int, skip: Callable[[], None] | None) -> Iterator[None]:
    """Draw the choice of a confidence, the content of this context, and a button that skips the question."""
    chance, *_ = steps = levels(number)
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"answers_{key}"):
        st.segmented_control(  # before the answers: feedback on an answer is immediate
            "How sure are you? (optional)",
            steps,
            format_func=lambda sure: "A guess" if sure == chance else f"{100 * sure:.0f} %",
            key=f"sure_{about}",
            help="Your own reliability diagram shows your first answer to each question.",
        )
        with st.container(horizontal=True, vertical_alignment="bottom", width="content"):
            yield
            if skip:
                st.button("Skip", key=f"{key}_skip", type="tertiary", on_click=skip)


def _chosen(about: str, choose: Callable[[int], None], number: int) -> None:
    if sure := st.session_state.get(f"sure_{about}"):
        st.session_state.setdefault("sure", {}).setdefault(about, sure)
    choose(number)


def feedback(about: str, text: str, right: bool) -> None:
    """Show whether an answer was right, with its sign, and remember the first answer to a question."""
    sure = st.session_state.get("sure", {})
    if about in sure:
        forecasts().setdefault(about, Forecast(sure[about], right))
    st.markdown(f"{RIGHT if right else NOT_QUITE} {unbroken(text)}")


def sign(right: bool) -> str:
    """Return the sign for right or wrong."""
    return ":green[:material/check_circle:]" if right else ":red[:material/cancel:]"


def forecasts() -> dict[str, Forecast]:
    """Return, by question, the reader's first answers in this session."""
    return st.session_state.setdefault("forecasts", {})


def own_calibration() -> None:
    """Draw the reader's own reliability diagram once there is an answer."""
    found: Mapping[str, Forecast] = forecasts()
    if not found:
        return
    record = prepare(list(found.values()))
    with st.expander(f"How well do you know what you know? {plain(record.title)}", key="own_calibration"):
        st.plotly_chart(
            draw(record, current.theme()), theme=None, key="chart_own_calibration", alt=record.alt
        )
        chart.caption(record.caption, "own_calibration")

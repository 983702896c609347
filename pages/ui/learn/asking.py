"""A question with answers to choose from, met at once: right or wrong, why, and how sure the reader was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from calib.experiments.forecasts import USUAL, Forecast, draw, levels, prepare
from pages.ui import current
from pages.ui.text import plain

RIGHT = ":green-badge[:material/check_circle: Correct.]"
WRONG = ":red-badge[:material/cancel: Not quite.]"


def ask(
    about: str,
    key: str,
    answers: Sequence[str],
    choose: Callable[[int], None],
    skip: Callable[[], None] | None = None,
) -> None:
    """How sure, and a button for each answer; ``choose`` is called with its number from 1.

    Parameters
    ----------
    about
        The question, by which the first answer is remembered.
    key
        Of the buttons.
    """
    chance, *_ = steps = levels(len(answers))
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"answers_{key}"):
        st.segmented_control(  # first: an answer is met at once
            "How sure are you?",
            steps,
            default=USUAL,
            format_func=lambda sure: "A guess" if sure == chance else f"{sure:.0%}",
            key=f"sure_{about}",
            help="Your first answers make a reliability diagram of your own.",
        )
        with st.container(horizontal=True, vertical_alignment="bottom", width="content"):
            for i, answer in enumerate(answers, start=1):
                st.button(plain(answer), key=f"{key}_{i}", on_click=partial(_chosen, about, choose, i))
            if skip:
                st.button("Skip", key=f"{key}_skip", type="tertiary", on_click=skip)


def _chosen(about: str, choose: Callable[[int], None], number: int) -> None:
    st.session_state.setdefault("sure", {}).setdefault(about, st.session_state.get(f"sure_{about}") or USUAL)
    choose(number)


def met(about: str, text: str, right: bool) -> None:
    """What became of an answer, in its own colour and sign; the first one to a question is remembered."""
    sure = st.session_state.get("sure", {})
    if about in sure:
        forecasts().setdefault(about, Forecast(sure[about], right))
    st.markdown(f"{RIGHT if right else WRONG} {text}")


def sign(right: bool) -> str:
    """The sign of right or wrong alone."""
    return ":green[:material/check_circle:]" if right else ":red[:material/cancel:]"


def forecasts() -> dict[str, Forecast]:
    """Question → the reader's first answer to it, of this session."""
    return st.session_state.setdefault("forecasts", {})


def own_calibration() -> None:
    """The reader's own reliability diagram, as soon as there is an answer."""
    found: Mapping[str, Forecast] = forecasts()
    if not found:
        return
    record = prepare(list(found.values()))
    with st.expander(f"How well do you know what you know? {plain(record.title)}", key="own_calibration"):
        st.plotly_chart(
            draw(record, current.theme()), theme=None, key="chart_own_calibration", alt=record.alt
        )
        st.caption(plain(record.caption))

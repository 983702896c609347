"""The reader's answers to a lesson, which the browser's tab keeps: a reload gets them back."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import streamlit as st

from calib.kernel.checks import InputError
from calib.lessons import LESSONS, parse_step
from pages.ui import browser
from pages.ui.learn.lessons import Guess, guesses

NAME = "kept_answers"


def keep() -> None:
    """Have the browser keep the answers, or take those that it kept before a reload."""
    quiz: dict[int, int] = st.session_state.setdefault("quiz", {})
    sure: dict[str, float] = st.session_state.setdefault("sure", {})

    def came_back() -> None:
        kept = st.session_state[NAME].answers
        if isinstance(kept, Mapping):
            guesses().update(_placed(kept.get("guesses")))
            quiz.update(_chosen(kept.get("quiz")))
            sure.update({str(about): each for about, each in _items(kept.get("sure")) if _is_share(each)})

    answers = {
        "guesses": {place: [guess.answer, guess.placed] for place, guess in guesses().items()},
        "quiz": {str(number): answer for number, answer in quiz.items()},
        "sure": sure,
    }
    session = st.session_state.setdefault("session", secrets.token_hex(8))
    browser.component("kept")(
        key=NAME,
        data={"session": session, "answers": answers},
        on_answers_change=came_back,
        height="content",
    )


def _placed(kept: Any) -> dict[str, Guess]:
    """Return the guesses of steps that exist; anything else in the browser's storage is not an answer."""
    found = {}
    for place, guess in _items(kept):
        try:
            lesson, number = parse_step(str(place))
            answer, placed = guess
        except (InputError, TypeError, ValueError):
            continue
        question = lesson.steps[number - 1].question
        if question and _is_answer(answer, len(question.answers), 0) and _fits(question.kind, answer, placed):
            found[str(place)] = Guess(answer, placed)
    return found


def _chosen(kept: Any) -> dict[int, int]:
    (lesson,) = LESSONS.values()
    found = {int(number): answer for number, answer in _items(kept) if str(number).isdecimal()}
    asked = dict(enumerate(lesson.questions, start=1))
    return {n: a for n, a in found.items() if n in asked and _is_answer(a, len(asked[n].answers), 1)}


def _items(kept: Any) -> list[tuple[Any, Any]]:
    return list(kept.items()) if isinstance(kept, Mapping) else []


def _is_answer(value: Any, most: int, least: int) -> bool:
    return type(value) is int and least <= value <= most


def _fits(kind: str, answer: int, placed: Any) -> bool:
    """Tell whether a guess in the picture is one of this kind; a choice has none, and a skipped question neither."""
    if kind == "choice" or answer == 0:
        return placed is None
    if kind == "curve":
        return isinstance(placed, list) and len(placed) > 1 and all(map(_is_point, placed))
    return kind == "mark" and _is_share(placed)


def _is_point(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_share, value))


def _is_share(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1

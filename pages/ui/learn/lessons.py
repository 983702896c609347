"""Lessons: the panel above the page of an open step, the list of lessons, and presenter view."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from calib.experiments import ASK, Experiment, chosen_experiment
from calib.lessons import LESSONS, Lesson, Question, Step, parse_step
from calib.recipe import Recipe
from pages.ui import (
    browser,
    lesson_layout,
    placed_guess,
    state,
    style,
)
from pages.ui.learn import asking, experiments, handout, live_quiz
from pages.ui.learn.glossary import linked
from pages.ui.posed_question import current_question
from pages.ui.text import plain

LIST = "pages/learn_two_probabilities.py"
TEXT_AND_PICTURE = [380, 900]  # pixels of the text, and of the picture in a window of 1366 (desk.css)
VIEW = "two_probabilities.experiment"


def shows(script: str) -> bool:
    """Tell whether this page is the one of the open step."""
    named = state.lesson_open()
    if named is None:
        return False
    lesson, number = parse_step(named)
    return lesson.steps[number - 1].page == Path(script).stem


def panel(script: str) -> bool:
    """Draw the open step above its page, or a way back to it on other pages; return whether it is this page's step."""
    named = state.lesson_open()
    if named is None:
        return False
    lesson, number = parse_step(named)
    step, here = lesson.steps[number - 1], shows(script)
    with st.container(border=not here, key="lesson"):
        if here:
            _on_stage(lesson, number, step)
        else:
            _aside(lesson, number, step)
    return here


def _on_stage(lesson: Lesson, number: int, step: Step) -> None:
    """Draw the step's title above its text and, beside the text, the chart that it names."""
    style.add("lesson")
    if not state.presenter():
        style.add("desk")
    waits = _waits(step)
    if waits:
        style.add("asked")
    _place(lesson, number, step)
    title = st.container()
    with st.container(key="lesson_beside"):
        text, picture = st.columns(
            lesson_layout.COLUMN_WIDTHS if state.presenter() else TEXT_AND_PICTURE, gap="medium"
        )
    with (
        text if state.presenter() else title
    ):  # the drawer in presenter view covers either all of the text or nothing
        st.title(plain(step.title), anchor=False)
    with text:
        if not (state.presenter() and _answered(step)):  # the words need the height
            st.markdown(*linked((step.text,)))
        parts = {
            "words": st.container(key=None if step.question else "step_words")
        }  # a phone's order (lesson.css)
        if step.question is not None:
            _question(step, step.question)
        with st.container(key="untold") if waits else nullcontext():
            parts |= {"numbers": _place_of("numbers")} if step.beside else {}
            if not waits:
                _what_to_see(step)
            parts |= {name: _place_of(name) for name in ("player", "controls")}
        _moves(lesson, number, waits)
    with picture:
        parts |= {chart_of(step): _place_of(chart_of(step))}
        parts["under"] = st.container(key="under_picture")
    if step.moving and not step.departed(state.recipe()):
        parts["moving"] = picture
    if step.heading and not step.departed(state.recipe()):
        current_question().finding = step.heading
    current_question().picture = step.picture
    lesson_layout.set_up(parts)


def _waits(step: Step) -> bool:
    """Tell whether the picture waits for an answer, to the step's own question or to that of its experiment."""
    if not state.guesses_first():
        return False
    if step.question is not None:
        return step.place not in guesses()
    experiment = _experiment(step)
    return experiment is not None and experiments.guess_of(state.recipe(), experiment) == ASK


def _answered(step: Step) -> bool:
    """Tell whether the step, or the experiment on its page, has asked and has its answer."""
    experiment = None if step.question else _experiment(step)
    if experiment is not None:
        return experiments.guess_of(state.recipe(), experiment).isdecimal()
    return guesses().get(step.place, Guess(0)).answer > 0


def _experiment(step: Step) -> Experiment | None:
    """Return the experiment on the page of a step."""
    section, _, page = step.page.partition("_")
    return chosen_experiment(dict(state.recipe().settings), page) if section == "learn" else None


@dataclass(frozen=True)
class Guess:
    """The reader's answer to a step's question: its number, 0 if skipped, and what was placed in the picture."""

    answer: int
    placed: Any = None


def guesses() -> dict[str, Guess]:
    """Return the guesses of this session by the place of their step."""
    return st.session_state.setdefault("guesses", {})


def _question(step: Step, question: Question) -> None:
    """Ask, or say whether the answer was right and leave the guess in the picture."""
    guess = guesses().get(step.place, Guess(0))
    with st.container(key="asked"):
        browser.read_out("asked")
        if _waits(step):
            current_question().ask(lambda: None, kept=question.shows)
            current_question().answers()  # they are here
            st.markdown(f"**{plain(question.text)}**")
            _ask(step, question)
        elif guess.answer:
            _feedback(step, question, guess)
        elif state.guesses_first():  # but not guessed
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f"{_the_answer(question)} {plain(question.remark)}".strip())
                _offer_again(step)
    answered = st.session_state.get("answered", 0)
    # after an answer, or a question asked again
    focus = (
        ".st-key-answers_answer [role=radio]" if _waits(step) else ".st-key-lesson_moves button[kind=primary]"
    )
    browser.keep_focus("step", answered, focus, still=True, seen=".st-key-asked")


def _ask(step: Step, question: Question) -> None:
    skip = partial(_answer, step, Guess(0))
    if question.kind == "choice":
        asking.ask(step.place, "answer", question.answers, lambda i: _answer(step, Guess(i)), skip)
    else:
        asking.ask_in_picture(
            step.place, "answer", question, lambda i, placed: _answer(step, Guess(i, placed)), skip
        )


def _answer(step: Step, guess: Guess | None) -> None:
    """Keep the reader's guess; None: ask again."""
    st.session_state["answered"] = st.session_state.get("answered", 0) + 1
    guesses().pop(step.place, None)
    if guess is not None:
        guesses()[step.place] = guess


def _feedback(step: Step, question: Question, guess: Guess) -> None:
    current_question().ghost = placed_guess.Ghost(
        question, guess.answer if guess.placed is None else guess.placed
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        right = question.is_right(guess.answer, guess.placed)
        asking.feedback(step.place, _reply(question, guess.answer, guess.placed), right)
        _offer_again(step)


def _the_answer(question: Question) -> str:
    right = question.right - 1
    return f"The answer is “{plain(question.answers[right])}”: {plain(question.why[right])}"


def _offer_again(step: Step) -> None:
    st.button("Ask me again", key="ask_step_again", type="tertiary", on_click=_answer, args=(step, None))


def _reply(question: Question, answer: int, placed: Any = None) -> str:
    """Return the answer with its reason and, if it is wrong, the right answer with its reason.

    A guess in the picture says how far off it is, instead of the answer that it stands for; a mark's reader has not
    seen the answers.
    """
    far = "" if placed is None else question.how_far(placed)
    text = f"{far or f'{plain(question.answers[answer - 1])}:'} {plain(question.why[answer - 1])}"
    if answer != question.right:
        measured = far and question.kind == "mark"
        text += f" {plain(question.why[question.right - 1]) if measured else _the_answer(question)}"
    return f"{text} {plain(question.remark)}".strip()


def _place_of(part: str) -> Any:
    """Return the container of a part of the stage; a key lets old results turn grey while new ones are computed."""
    return st.container(key=f"{'step' if part in ('player', 'controls') else 'results'}_{part}")


def chart_of(step: Step) -> str:
    """Return the key of the one chart that a step is about."""
    section, _, page = step.page.partition("_")
    return step.chart or (
        step.recipe.setting(VIEW) if section == "learn" else "pairs" if page == "venn_abers" else page
    )


def presenter(kind: str = "secondary") -> None:
    """Draw the button that switches presenter view on or off."""
    on = state.presenter()
    st.button(
        "End presenting" if on else "Present",
        key="presenter",
        type=kind,
        on_click=partial(state.present, not on),
        help="Uses large type for a room. Settings are in a drawer, and the arrow keys move through a lesson.",
    )


def _place(lesson: Lesson, number: int, step: Step) -> None:
    """Draw one row: the place in the lesson, reset of the step, presenter view, and leaving."""
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_place"):
        # The number first: a phone cuts a long title
        st.caption(f"Step {number} of {len(lesson.steps)} · {plain(lesson.title)}", width="stretch")
        if step.departed(state.recipe()):
            reset = partial(state.replace, step.recipe, step.place)
            st.button("Reset this step", key="lesson_reset", type="tertiary", on_click=reset)
        _leave("Leave the lesson", "tertiary")
        presenter("tertiary")  # last, so that a second click meets the same button


def _moves(lesson: Lesson, number: int, waits: bool) -> None:
    """Draw the buttons for the previous and the next step; the arrow keys do this too, unless a field has the focus.

    While a question waits, its answers are the main buttons, and the bar is not kept in sight over them.
    """
    kind = "secondary" if waits else "primary"
    with st.container(horizontal=True, key="lesson_moves"):
        if st.button("Previous", key="lesson_previous", disabled=number == 1, shortcut="Left"):
            open_step(lesson, number - 1)
        if number == len(lesson.steps):
            if st.button("Three questions", key="lesson_end", type=kind, shortcut="Right"):
                _go(Path(LIST).stem, state.before_lesson().replace(**{VIEW: "questions"}))
        elif st.button("Next", key="lesson_next", type=kind, shortcut="Right"):
            open_step(lesson, number + 1)


def _what_to_see(step: Step) -> None:
    """Say where to look and what to remember."""
    look, point = linked((step.look, step.point))
    st.markdown(f"**Look at** {look}")
    if point:
        st.markdown(f"**Remember:** {point}")


def _aside(lesson: Lesson, number: int, step: Step) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"{plain(lesson.title)} is open at step {number} of {len(lesson.steps)}.", width="content"
        )
        if st.button("Back to the step", key="lesson_back", type="primary"):
            _go(step.page, state.recipe(), state.lesson_open())
        _leave("Leave the lesson", "tertiary")


def _leave(label: str, kind: str) -> None:
    if st.button(label, key="lesson_leave", type=kind, help="Restores your own data and settings."):
        _go(Path(LIST).stem, state.before_lesson())


def open_step(lesson: Lesson, number: int) -> None:
    """Go to a step with its own settings, whatever was changed before."""
    step = lesson.steps[number - 1]
    _go(step.page, step.recipe, step.place)


def _go(page: str, recipe: Recipe, lesson: str | None = None) -> None:
    state.replace(recipe, lesson)
    st.switch_page(f"pages/{page}.py", query_params=state.here())


def contents(recipe: Recipe) -> None:
    """Say what the lesson is about, with its beginning and what a teacher takes to class; its steps are in a fold."""
    (lesson,) = LESSONS.values()
    about, steps = st.columns([0.4, 0.6], gap="large")
    with about:
        st.markdown(lesson.summary)
        if st.button(f"Begin ({lesson.minutes} minutes)", key="begin", type="primary"):
            open_step(lesson, 1)
        st.toggle(
            "Guess first",
            value=state.guesses_first(),
            key="asks_first",
            on_change=lambda: state.ask_first(st.session_state["asks_first"]),
            help="If this is on, pictures show their data only after a guess. Links keep this setting.",
        )
        live_quiz.offer(lesson)
        handout.offer(lesson)
    with steps.expander(f"All {len(lesson.steps)} steps"):
        for i, step in enumerate(lesson.steps, start=1):
            if st.button(f"{i}. {plain(step.title)}", key=f"step_{i}", type="tertiary"):
                open_step(lesson, i)


def questions(recipe: Recipe) -> None:
    """Draw three questions with feedback, the score, and the points to remember, folded until all are answered."""
    (lesson,) = LESSONS.values()
    chosen: dict[int, int] = st.session_state.setdefault("quiz", {})
    for number, question in enumerate(lesson.questions, start=1):
        with st.container(border=True, key=f"question_{number}"):
            browser.read_out(f"question_{number}")
            _asked(lesson, number, question, chosen)
    still = next((number for number, _ in enumerate(lesson.questions, 1) if number not in chosen), 0)
    browser.keep_focus(
        "quiz", len(chosen), f".st-key-quiz_{still}_1 button" if still else ".st-key-card input"
    )
    if answered := len(chosen) == len(lesson.questions):
        right = sum(
            chosen[number] == question.right for number, question in enumerate(lesson.questions, start=1)
        )
        st.metric("Your score", f"{right} of {len(lesson.questions)}")
    with st.expander("To remember", expanded=answered):
        st.markdown("\n".join(f"- {plain(step.point)}" for step in lesson.steps))
    handout.card(lesson)
    asking.own_calibration()


def _asked(lesson: Lesson, number: int, question: Question, chosen: dict[int, int]) -> None:
    about = f"{lesson.key}:question:{number}"  # lesson:number is a step
    st.markdown(f"**{number}. {plain(question.text)}**")
    if number not in chosen:
        asking.ask(about, f"quiz_{number}", question.answers, partial(chosen.__setitem__, number))
        return
    asking.feedback(about, _reply(question, chosen[number]), chosen[number] == question.right)

"""Lessons: the panel above the page of an open step, the list of lessons, and the view for a room."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from calib.experiments import shown
from calib.export.cards import lesson_card
from calib.lessons import LESSONS, Lesson, Question, Step, place
from calib.metrics import METRICS
from calib.recipe import Recipe
from pages.ui import browser, downloads, headings, jobs, stage, state, style
from pages.ui.learn import asking, handout, live_quiz
from pages.ui.learn.glossary import linked
from pages.ui.text import plain

# The chart of a step on an Explore page that names no other chart
FIRST = {
    "reliability": "reliability",
    "venn_abers": "pairs",
    "trees": "depth",
    "out_of_bag": "setups",
    "decide": "costs",
    "watch": "watch_evidence",
}
LIST = "pages/learn_lessons.py"
AT_THE_END = "What have you learnt?"  # the title at the end of a lesson


def panel(script: str) -> bool:
    """Draw the open step above its page, or a way back to it on other pages; return whether it is this page's step."""
    named = state.lesson_open()
    if named is None:
        return False
    lesson, number = place(named)
    step = lesson.steps[number - 1]
    here = step.page == Path(script).stem
    with st.container(border=not here, key="lesson"):
        if here:
            _on_stage(lesson, number, step)
        else:
            _aside(lesson, number, step)
    return here


def _on_stage(lesson: Lesson, number: int, step: Step) -> None:
    """Draw the step's title above its text and, beside the text, the chart that it names."""
    style.add("lesson")
    _place(lesson, number, step)
    title = st.container()
    with st.container(key="lesson_beside"):
        text, picture = st.columns(stage.ROOM if state.presenter() else [0.36, 0.64], gap="medium")
    with (
        text if state.presenter() else title
    ):  # the drawer of a room covers either all of the text or nothing
        st.title(plain(step.title), anchor=False)
    below = () if state.presenter() else ("player",)  # in a room they would be below the window
    above = dict.fromkeys(("words", *map(part_of, step.beside), *({"player"} - {*below})))  # each once
    with text:
        _text(step)
        parts = {name: _place_of(name) for name in above}
        _moves(lesson, number)
    with picture:
        parts |= {name: _place_of(name) for name in (chart_of(step), *below, "controls")}
    stage.set_up(parts)


def _place_of(part: str) -> Any:
    """Return the container of a part of the stage; a key lets old results turn grey while new ones are computed."""
    return st.container(key=None if part in ("words", "player", "controls") else f"results_{part}")


def chart_of(step: Step) -> str:
    """Return the key of the one chart that a step is about."""
    section, _, page = step.page.partition("_")
    return step.chart or (shown(dict(step.recipe.settings), page).key if section == "learn" else FIRST[page])


def part_of(beside: str) -> str:
    """Return the part of the stage that shows this; all numbers share one table."""
    return "numbers" if beside in METRICS else beside


def presenter(kind: str = "secondary") -> None:
    """Draw the button that switches between the view for a desk and the view for a room."""
    on = state.presenter()
    st.button(
        "End presenting" if on else "Present",
        key="presenter",
        type=kind,
        on_click=partial(state.present, not on),
        help="Uses large type for a room. Settings are in a drawer, and the arrow keys move through a lesson.",
    )


def _place(lesson: Lesson, number: int, step: Step) -> None:
    """Draw one row: the place in the lesson, reset of the step, the view for a room, and leaving."""
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_place"):
        st.caption(f"{plain(lesson.title)} · step {number} of {len(lesson.steps)}", width="stretch")
        if step.departed(state.recipe()):
            st.button("Reset this step", key="lesson_reset", type="tertiary", on_click=partial(_reset, step))
        presenter("tertiary")
        _leave("Leave the lesson", "tertiary")


def _moves(lesson: Lesson, number: int) -> None:
    """Draw the buttons for the previous and the next step; the arrow keys do this too, unless a field has the focus."""
    with st.container(horizontal=True, key="lesson_moves"):
        if st.button("Previous", key="lesson_previous", disabled=number == 1, shortcut="Left"):
            open_step(lesson, number - 1)
        if number == len(lesson.steps):
            if st.button("Three questions", key="lesson_end", type="primary", shortcut="Right"):
                _go(Path(LIST).stem, state.own().replace(**{"lessons.end": lesson.key}))
        elif st.button("Next", key="lesson_next", type="primary", shortcut="Right"):
            open_step(lesson, number + 1)


def _text(step: Step) -> None:
    text, look = linked((step.text, step.look))
    st.markdown(text)
    st.markdown(f"**Look at** {look}")


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
        _go(Path(LIST).stem, state.own())


def open_step(lesson: Lesson, number: int) -> None:
    """Go to a step with its own settings, whatever was changed before."""
    step = lesson.steps[number - 1]
    _go(step.page, step.recipe, step.place)


def _reset(step: Step) -> None:
    state.replace(step.recipe, step.place)


def _go(page: str, recipe: Recipe, lesson: str | None = None) -> None:
    state.replace(recipe, lesson)
    st.switch_page(f"pages/{page}.py", query_params=state.here())


def opened(recipe: Recipe) -> None:
    """Show the end of a lesson if the link names one, else the list of lessons."""
    key = recipe.setting("lessons.end")
    if key is None:
        listed()
    else:
        _end(LESSONS[key])
    asking.own_calibration()


def _end(lesson: Lesson) -> None:
    """Draw three questions with feedback, the score, and the points to remember, folded until all are answered."""
    headings.heading(f"Three questions on “{lesson.title}”")
    chosen: dict[int, int] = st.session_state.setdefault("quiz", {}).setdefault(lesson.key, {})
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
    _card(lesson)
    handout.offer(lesson)
    st.button("All lessons", key="all_lessons", on_click=partial(state.update, **{"lessons.end": None}))


def _asked(lesson: Lesson, number: int, question: Question, chosen: dict[int, int]) -> None:
    about = f"{lesson.key}:{number}"
    st.markdown(f"**{number}. {plain(question.text)}**")
    if number not in chosen:
        asking.ask(about, f"quiz_{number}", question.answers, partial(chosen.__setitem__, number))
        return
    answer, right = chosen[number], question.right
    text = f"{plain(question.answers[answer - 1])}: {plain(question.why[answer - 1])}"
    if answer != right:
        text += f" The answer is “{plain(question.answers[right - 1])}”: {plain(question.why[right - 1])}"
    asking.met(about, text, answer == right)


def _card(lesson: Lesson) -> None:
    """Offer the summary card, which is drawn on request."""
    if not st.toggle("Draw a summary card to print on one sheet", key="card"):
        return
    found = jobs.run("lesson_card", "Drawing", {lesson.key: lambda watch: lesson_card(lesson, watch=watch)})
    if found is not None:
        downloads.button("Summary card (HTML)", found[0], f"{lesson.key}.html", "text/html", "card_file")


def listed() -> None:
    """List every lesson with its summary, its length and a link to each of its steps."""
    for lesson in LESSONS.values():
        with st.container(border=True, key=f"lesson_{lesson.key}"):
            words, actions = st.columns([0.68, 0.32], vertical_alignment="center", gap="medium")
            with words:
                headings.heading(lesson.title)
                st.markdown(f"{lesson.summary} About {lesson.minutes} minutes.")
                handout.offer(lesson)
            with actions.container(horizontal=True, horizontal_alignment="right"):
                with st.popover(f"{len(lesson.steps)} steps", help="Links to each step of the lesson."):
                    for i, step in enumerate(lesson.steps, start=1):
                        query = state.address(step.recipe, step.place)
                        st.page_link(
                            f"pages/{step.page}.py", label=f"{i}. {plain(step.title)}", query_params=query
                        )
                live_quiz.offer(lesson.key)
                if st.button("Start", key=f"start_{lesson.key}", type="primary"):
                    open_step(lesson, 1)

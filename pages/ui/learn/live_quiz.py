"""Live quiz: the room on the projector, the phone of a student, and the page where both begin.

``calib.lessons.live_quiz`` says what a room holds and who may do what. The address names the room, and with a key its
teacher. Pages of an open room poll for news every second or two; nothing else runs for it.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

import segno
import streamlit as st

from calib.experiments import EXPERIMENTS
from calib.experiments.ballots import Ballots, draw, letter, prepare, rounds
from calib.experiments.forecasts import Forecast, levels
from calib.experiments.forecasts import draw as draw_forecasts
from calib.experiments.forecasts import prepare as prepare_forecasts
from calib.export.cards import staged
from calib.figures.projector import ROOM, for_a_room
from calib.figures.theme import controls
from calib.kernel.checks import InputError
from calib.kernel.wording import counted
from calib.lessons import LESSONS
from calib.lessons.live_quiz import LENGTH, Rooms, Round, Seen, Vote
from pages.ui import browser, chart, current, jobs, state, style
from pages.ui.grid import grid
from pages.ui.learn import handout
from pages.ui.learn.asking import RIGHT, WRONG
from pages.ui.text import plain

SCRIPT = "pages/learn_class.py"
PROJECTOR, PHONE = 1, 2  # seconds between two polls
HERE_ONLY = ("127.0.0.1", "localhost", "[::1]")
HIGHEST = 700  # pixels, of a picture on a projector


@st.cache_resource
def rooms() -> Rooms:
    """Return the rooms of this server, one object for all sessions."""
    return Rooms()


def named() -> str:
    """Return the code of the room in the address; if there is none, clear the address and return an empty text."""
    code = st.query_params.get("room", "").strip().upper()
    if not code:
        for name in st.query_params.keys() & {"room", "key", "seat"}:
            del st.query_params[name]
    return code


def show(code: str) -> None:
    """Draw this room for its teacher or a student."""
    key = st.query_params.get("key")
    style.add("live_quiz")
    try:
        if key is None:
            _student(code)
        else:
            _teacher(code, key)
        st.session_state["been_in"] = code
    except InputError as error:
        _gone(code, error)


def offer(key: str) -> None:
    """Draw a button that opens a room for this lesson or experiment."""
    help = "Students answer on their phones. The room has a four-letter code, asks for no names and stores nothing."
    if st.button("Start a live quiz", key=f"room_{key}", type="tertiary", help=help):
        _open(key)


def _open(key: str) -> None:
    """Open a new room in place of this session's old one."""
    _close_own()
    try:
        code, secret = rooms().open(rounds(key))
    except InputError as error:
        st.error(plain(error))
        return
    st.session_state["own_room"] = code, secret
    st.switch_page(SCRIPT, query_params={"room": code, "key": secret})


def _close_own() -> None:
    if "own_room" in st.session_state:
        _move(rooms().close, *st.session_state.pop("own_room"))


def _move(move: Callable[..., object], *args: object) -> None:
    """Make a move in a room that may be closed by now; then the page says so."""
    try:
        move(*args)
    except InputError:
        st.session_state.pop("own_room", None)


def _gone(code: str, error: InputError) -> None:
    """Draw a message and a way out for a wrong or closed code, or a wrong key."""
    if st.session_state.get("been_in") == code:
        st.info(f"Room {plain(code)} is closed, and its data are deleted.")
    else:
        st.error(plain(error))
    if st.button("Join or open another room", key="room_out"):
        st.switch_page(SCRIPT, query_params={})


def begin() -> None:
    """Draw the field where a student enters a code, and the form where a teacher opens a room."""
    join, teach = st.columns(2, gap="large")
    with join, st.form("room_join", border=True):
        st.markdown("**Join a class**")
        code = st.text_input("Code", max_chars=LENGTH, help="Enter the four letters that your teacher shows.")
        if st.form_submit_button("Join", type="primary") and code.strip():
            _enter(code.strip().upper())
    with teach.container(border=True):
        st.markdown("**Teach a class**")
        _own_room()
        names = {key: lesson.title for key, lesson in LESSONS.items()}
        names |= {key: f"One question: {experiment.name}" for key, experiment in EXPERIMENTS.items()}
        chosen = st.selectbox("About", list(names), format_func=names.__getitem__, key="room_about")
        if st.button("Open a room", key="room_open", type="primary"):
            _open(chosen)
        if chosen in LESSONS:
            handout.offer(LESSONS[chosen])
        st.caption(
            "Students answer on their phones, without names. A room exists only in the server's memory. It is "
            "deleted when you close it, or after three hours without activity."
        )


def _own_room() -> None:
    """Draw the way back to this session's open room."""
    if "own_room" not in st.session_state:
        return
    code, secret = st.session_state["own_room"]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Room {code} is open.", width="content")
        if st.button("Go back to the room", key="room_back"):
            st.switch_page(SCRIPT, query_params={"room": code, "key": secret})
        st.button("Close the room", key="room_close_own", on_click=_close_own)


def _enter(code: str) -> None:
    try:
        rooms().look(code)
    except InputError as error:
        st.error(plain(error))
        return
    st.switch_page(SCRIPT, query_params={"room": code})


# --- the projector


def _teacher(code: str, key: str) -> None:
    rooms().check(code, key)
    style.add("projected")
    st.session_state["own_room"] = code, key
    seen = rooms().look(code)
    _moves(code, key, seen)
    if seen.number == 0:
        _arrivals(code, seen)
    elif seen.round is None:
        _calibration_of_class(code, key)
    else:
        _round(code, key, seen, seen.round)


def _moves(code: str, key: str, seen: Seen) -> None:
    """Draw the place of the class, and the moves: previous, reveal, next, close."""
    go = partial(_move, rooms().go, code, key)
    with st.container(horizontal=True, vertical_alignment="center", key="room_moves"):
        st.markdown(f"Room **{code}** · {_whereabouts(seen)}", width="stretch")
        browser.copy_button("Copy link", browser.link({"room": code}), "Copies the link for students.")
        st.button(
            "Close the room",
            key="room_close",
            type="tertiary",
            on_click=partial(_move, rooms().close, code, key),
        )
        st.button(
            "Previous",
            key="room_previous",
            disabled=seen.number == 0,
            shortcut="Left",
            on_click=go,
            args=(seen.number - 1,),
        )
        if seen.asked:
            st.button("Skip", key="room_next", on_click=go, args=(seen.number + 1,))
            st.button(
                "Reveal",
                key="room_reveal",
                type="primary",
                shortcut="Right",
                on_click=partial(_move, rooms().reveal, code, key),
            )
        elif seen.number <= seen.rounds:
            label = "Begin" if seen.number == 0 else "Next"
            st.button(
                label, key="room_next", type="primary", shortcut="Right", on_click=go, args=(seen.number + 1,)
            )


def _whereabouts(seen: Seen) -> str:
    if seen.number == 0:
        return "joining"
    return f"{seen.number} of {seen.rounds}" if seen.round else "the end"


def _ways_in(code: str) -> None:
    """Draw the link as a QR code and as text."""
    link = browser.link({"room": code})
    drawn = io.BytesIO()
    segno.make(link, error="m", micro=False).save(
        drawn, kind="svg", scale=16, border=3, light="#fff", xmldecl=False
    )
    with st.container(key="room_qr"):
        st.image(drawn.getvalue().decode(), alt=f"The link to the room {code} as a QR code")
    with st.container(key="room_link"):
        st.markdown(f"{plain(link.partition('://')[2].partition('?')[0])} · **{code}**")
    if urlsplit(link).hostname in HERE_ONLY:
        st.caption(
            "This address works on this computer only. Phones need the server's address: see “Deployment” in the guide."
        )


def _arrivals(code: str, seen: Seen) -> None:
    ways, words = st.columns([0.4, 0.6], gap="large", vertical_alignment="center")
    with ways:
        _ways_in(code)
    with words:
        st.markdown("Scan the code, or open the address and enter")
        with st.container(key="room_code"):
            st.title(code, anchor=False)
        _follow(code, seen, lambda now: st.header(f"{counted(now.joined, 'phone')} joined", anchor=False))


def _follow(code: str, drawn: Seen, show: Callable[[Seen], None]) -> None:
    """Redraw a changing part every second; rerun the whole page if the room is in another round."""

    @st.fragment(run_every=PROJECTOR)
    def live() -> None:
        try:
            now = rooms().look(code)
        except InputError:
            st.rerun()
        if (now.number, now.revealed) != (drawn.number, drawn.revealed):
            st.rerun()
        show(now)

    live()


def _round(code: str, key: str, seen: Seen, asked: Round) -> None:
    """Draw the question with its answers; beside it the way in, and after the reveal the picture."""
    words, beside = st.columns([0.5, 0.5], gap="large")
    with words:
        if not asked.answers:
            st.header(plain(asked.title), anchor=False)
            st.markdown(asked.text)
        else:
            st.header(plain(asked.text), anchor=False)
            _follow(code, seen, partial(_ballots, code, key))
            if seen.revealed:
                _reasons(asked)
    with beside:
        if seen.asked or asked.step is None:
            _ways_in(code)
        _picture(asked, hidden=seen.asked)


def _ballots(code: str, key: str, seen: Seen) -> None:
    """Draw how many have answered, and their votes once they may be seen."""
    record: Ballots = prepare(seen)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(key="counted", width="stretch"):
            browser.read_out("counted")
            st.markdown(f"**{plain(record.title)}**")
        if not seen.revealed:
            label = "Hide the answers" if seen.shown else "Show the answers so far"
            show = partial(_move, rooms().show, code, key, not seen.shown)
            st.button(label, key="room_show", type="tertiary", on_click=show)
    figure = draw(record, current.theme())
    st.plotly_chart(figure, theme=None, key="chart_ballots", alt=record.alt, config={"displayModeBar": False})


def _reasons(asked: Round) -> None:
    """Draw why the right answer is right, then the mistake behind each other answer."""
    numbers = sorted(range(1, len(asked.answers) + 1), key=lambda number: number != asked.right)
    for number in numbers:
        sign = f"{RIGHT} " if number == asked.right else ""
        st.markdown(f"{sign}**{letter(number)}** {plain(asked.why[number - 1])}")


def _picture(asked: Round, hidden: bool) -> None:
    """Draw the picture of a step, computed while the class answers, and shown after the reveal."""
    step = asked.step
    if step is None:
        return
    make = {(step.page, step.title): partial(staged, step)}
    found = jobs.run("class_picture", "Drawing the picture", make)
    if found is None or hidden:
        return
    (here,) = found
    record, drawn = here.chart.record, here.chart.draw(current.theme())
    figure = for_a_room(drawn).update_layout(height=min(ROOM * (drawn.layout.height or HIGHEST), HIGHEST))
    st.plotly_chart(figure, theme=None, key="chart_class", alt=record.alt, config=controls("select2d"))
    st.markdown(f"**{plain(record.title)}**")
    if here.numbers is not None:
        grid(here.numbers, width="stretch", key="class_numbers", alt="Table of the metrics of this step")
    for i, sentence in enumerate(here.advice):
        st.markdown(plain(sentence) if i else f"**{plain(sentence)}**")
    query = state.address(step.recipe, step.place or None)
    st.page_link(f"pages/{step.page}.py", label="Open the page of this picture", query_params=query)


def _calibration_of_class(code: str, key: str) -> None:
    """Draw how sure the class was and how often it was right, over all rounds."""
    forecasts = [Forecast(sure, right) for sure, right in rooms().forecasts(code, key)]
    st.header("How well does the class know what it knows?", anchor=False)
    if not forecasts:
        st.markdown("Nobody said how sure they were.")
        return
    record = prepare_forecasts(forecasts, "The class was")
    picture, words = st.columns([0.55, 0.45], gap="large", vertical_alignment="center")
    with picture:
        figure = for_a_room(draw_forecasts(record, current.theme()))
        st.plotly_chart(figure, theme=None, key="chart_class_calibration", alt=record.alt)
    with words:
        st.subheader(plain(record.title), anchor=False)
        chart.caption(record.caption, "class_calibration")


# --- the phone


def _student(code: str) -> None:
    """Draw the page of a student, whose token is in the address, so that it survives a reload."""
    seat = rooms().join(code, st.query_params.get("seat"))
    if st.query_params.get("seat") != seat:
        st.query_params["seat"] = seat

    @st.fragment(run_every=PHONE)
    def live() -> None:
        try:
            now = rooms().look(code, seat)
        except InputError:
            st.rerun()  # closed: the page says so, and polls no more
        with st.container(key="phone"):
            browser.read_out("phone")
            _phone(code, seat, now)

    live()


def _phone(code: str, seat: str, seen: Seen) -> None:
    st.caption(f"Room {code} · {_whereabouts(seen)}")
    if seen.number == 0:
        st.title("You are in", anchor=False)
        st.markdown("The first question will appear here.")
    elif seen.round is None:
        _own_score(seen)
    elif not seen.round.answers:
        st.title(plain(seen.round.title), anchor=False)
        st.markdown("Look at the picture on the projector.")
    elif seen.revealed:
        _told(seen.mine, seen.round)
    else:
        _answers(code, seat, seen, seen.round)


def _answers(code: str, seat: str, seen: Seen, asked: Round) -> None:
    number, mine = seen.number, seen.mine
    st.markdown(f"**{plain(asked.text)}**")
    with st.container(key="room_answers"):
        for i, answer in enumerate(asked.answers, start=1):
            chosen = mine is not None and mine.answer == i
            st.button(
                f"**{letter(i)}** {plain(answer)}",
                key=f"answer_{number}_{i}",
                type="primary" if chosen else "secondary",
                width="stretch",
                on_click=_vote,
                args=(code, seat, number, i),
            )
    chance, *_ = steps = levels(len(asked.answers))
    st.segmented_control(
        "How sure are you? (optional)",
        steps,
        default=mine.sure if mine else None,
        format_func=lambda sure: "A guess" if sure == chance else f"{100 * sure:.0f} %",
        key=f"sure_{number}",
        on_change=_vote,
        args=(code, seat, number, mine.answer if mine else None),
    )
    if mine:
        st.markdown(
            f"Your answer is in: **{letter(mine.answer)}**. You can change it until your teacher reveals the right "
            "answer."
        )


def _vote(code: str, seat: str, number: int, answer: int | None) -> None:
    if answer is not None:
        _move(rooms().vote, code, seat, number, Vote(answer, st.session_state.get(f"sure_{number}")))


def _told(mine: Vote | None, asked: Round) -> None:
    """Draw whether the answer was right, and why."""
    st.markdown(f"**{plain(asked.text)}**")
    right = _reason(asked, asked.right)
    if mine is None:
        st.markdown(right)
    elif mine.answer == asked.right:
        st.markdown(f"{RIGHT} {right}")
    else:
        st.markdown(f"{WRONG} {_reason(asked, mine.answer)}")
        st.markdown(f"The answer is {right}")


def _reason(asked: Round, answer: int) -> str:
    return f"**{letter(answer)}** {plain(asked.answers[answer - 1])}: {plain(asked.why[answer - 1])}"


def _own_score(seen: Seen) -> None:
    """Draw the score of this student in a sentence or two."""
    st.title("That was the last question", anchor=False)
    right = sum(vote.answer == answer for vote, answer in seen.told)
    st.markdown(f"You answered {right} of {counted(len(seen.told), 'question')} correctly.")
    forecasts = [
        Forecast(vote.sure, vote.answer == answer) for vote, answer in seen.told if vote.sure is not None
    ]
    if forecasts:
        st.markdown(f"{plain(prepare_forecasts(forecasts).title)}.")

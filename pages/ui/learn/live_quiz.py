"""Live quiz: the room on the projector, the phone of a student, and the page where both begin.

``calib.lessons.live_quiz`` says what a room holds and who may do what. The address names the room, the same for all;
the browser says who it is there (``browser.in_room``). Pages of an open room poll for news every second or two; nothing
else runs for it.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from urllib.parse import urlsplit

import plotly.graph_objects as go
import streamlit as st

from calib.experiments import EXPERIMENTS, Experiment
from calib.experiments.ballots import answers, ballots, letter, rounds
from calib.experiments.forecasts import Forecast, levels
from calib.experiments.forecasts import draw as draw_forecasts
from calib.experiments.forecasts import prepare as prepare_forecasts
from calib.export.lessons import Staged, staged
from calib.figures.narrowing import renamed, without_data
from calib.figures.projector import for_projector
from calib.kernel.checks import InputError
from calib.kernel.wording import counted
from calib.lessons import LESSONS, QUIZZES, Lesson
from calib.lessons.live_quiz import LENGTH, Rooms, RoomState, Round, Vote
from pages.ui import browser, chart, current, downloads, jobs, state, style
from pages.ui.learn import handout
from pages.ui.learn.asking import NOT_QUITE, RIGHT
from pages.ui.learn.small_pictures import known, pictures
from pages.ui.text import plain

SCRIPT = "pages/learn_class.py"
PROJECTOR, PHONE = 1, 2  # seconds between two polls
VOTES_SHARE, CODE_SHARE = 0.4, 0.12  # shares of the width beside a picture
HERE_ONLY = ("127.0.0.1", "localhost", "[::1]")
PICTURE_BESIDE_VOTES = 834  # pixels, of a picture beside the votes (live_quiz.css)


@st.cache_resource
def rooms() -> Rooms:
    """Return the rooms of this server, one object for all sessions."""
    return Rooms()


def named() -> str:
    """Return the code of the room in the address; nothing else stays there, and without a code nothing at all."""
    code = st.query_params.get("room", "").strip().upper()
    wanted = {"room": code} if code else {}
    if dict(st.query_params) != wanted:
        st.query_params.from_dict(wanted)
    return code


def show(code: str) -> None:
    """Draw this room for its teacher or a student."""
    try:
        rooms().look(code)
    except InputError as error:
        browser.in_room(code, closed=True)
        _gone(code, error)
        return
    own_code, key = st.session_state.get("own_room", ("", ""))
    mine = key if own_code == code else None
    who = browser.in_room(code, mine)
    if mine or (who and _opened(code, who["key"])):
        _teacher(*st.session_state["own_room"])
    elif who:
        _student(code, who["seat"])
    else:
        st.caption(f"Joining room {plain(code)} …")
    st.session_state["been_in"] = code


def _opened(code: str, key: str | None) -> bool:
    """Tell whether this browser opened the room in an earlier session, for example before a reload."""
    if key is None:
        return False
    try:
        rooms().check(code, key)
    except InputError:
        return False
    st.session_state["own_room"] = code, key
    return True


def offer(topic: Lesson | Experiment) -> None:
    """Draw a button that opens a room for this lesson or experiment."""
    help = (
        "Students answer on their phones. The room has a four-letter code, and students do not enter names."
    )
    if st.button("Start a live quiz", key=f"room_{topic.key}", type="tertiary", help=help):
        _open(topic)


def _open(topic: Lesson | Experiment) -> None:
    """Open a new room in place of this session's old one, unless that has answers, which would be lost."""
    if _count_answers():
        st.switch_page(SCRIPT)
    _close_own()
    try:
        code, secret = rooms().open(rounds(topic))
    except InputError as error:
        st.error(plain(error))
        return
    st.session_state["own_room"] = code, secret
    st.switch_page(SCRIPT, query_params={"room": code})


def _count_answers() -> int:
    """Return how many answers this session's own room has."""
    try:
        return len(rooms().answers(*st.session_state["own_room"]))
    except (KeyError, InputError):
        return 0


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
    """Draw a message and a way out for a wrong or closed code."""
    if st.session_state.get("own_room", ("",))[0] == code:
        del st.session_state["own_room"]
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
        several = [*QUIZZES.values(), *LESSONS.values()]
        topics: dict[str, Lesson | Experiment] = {lesson.title: lesson for lesson in several}
        topics |= {f"One question: {experiment.name}": experiment for experiment in EXPERIMENTS.values()}
        chosen = topics[st.selectbox("About", list(topics), key="room_about")]
        if st.button("Open a room", key="room_open", type="primary"):
            _open(chosen)
        if isinstance(chosen, Lesson):
            handout.offer(chosen)
            handout.card(chosen)
        st.caption(
            "Students answer on their phones, without names. A room exists only in the server's memory. It is "
            "deleted when you close it, or after three hours without activity. Save the answers before you close the "
            "room."
        )


def _own_room() -> None:
    """Draw the way back to this session's open room."""
    if "own_room" not in st.session_state:
        return
    code, _ = st.session_state["own_room"]
    if given := _count_answers():
        st.warning(
            f"Room {code} has {counted(given, 'answer')}. Save them and close the room before you open another one."
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Room {code} is open.", width="content")
        if st.button("Go back to the room", key="room_back"):
            st.switch_page(SCRIPT, query_params={"room": code})
        _closing()


def _closing() -> None:
    """Ask before this session's own room is closed, and offer its answers."""
    code, secret = st.session_state["own_room"]
    with st.popover("Close the room", type="tertiary", key="room_closing"):
        st.markdown("Closing deletes all answers. Save them first if you need them.")
        here = rooms()  # looked up by the page: the file is written outside it
        downloads.table("Answers (CSV)", lambda: answers(here.answers(code, secret)), f"live_quiz_{code}.csv")
        st.button("Close and delete", key="room_close", type="primary", on_click=_close_own)


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
    style.add("room")
    style.add("live_quiz")
    seen = rooms().look(code)
    _moves(code, key, seen)
    if seen.number == 0:
        _arrivals(code, seen)
    elif seen.round is None:
        _calibration_of_class(code, key)
    else:
        _round(code, key, seen, seen.round)


def _moves(code: str, key: str, seen: RoomState) -> None:
    """Draw the place of the class, and the moves: previous, reveal, next, close."""
    go = partial(_move, rooms().go, code, key)
    with st.container(horizontal=True, vertical_alignment="center", key="room_moves"):
        st.markdown(f"Room **{code}** · {_whereabouts(seen)} · {_address()}", width="stretch")
        browser.copy_button("Copy link", browser.link({"room": code}), "Copies the link for students.")
        _closing()
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


def _whereabouts(seen: RoomState) -> str:
    if seen.number == 0:
        return "joining"
    return f"{seen.number} of {seen.rounds}" if seen.round else "the end"


def _address() -> str:
    """Return the address of the page, as a person types it."""
    return plain(browser.link({}).partition("://")[2])


def _qr(code: str) -> None:
    """Draw the link as a QR code."""
    import segno  # here, because only a projector needs it

    drawn = io.BytesIO()
    segno.make(browser.link({"room": code}), error="m", micro=False).save(
        drawn, kind="svg", scale=16, border=3, light="#fff", xmldecl=False
    )
    with st.container(key="room_qr"):
        st.image(drawn.getvalue().decode(), alt=f"The link to the room {code} as a QR code")


def _arrivals(code: str, seen: RoomState) -> None:
    ways, words = st.columns([0.4, 0.6], gap="large", vertical_alignment="center")
    with ways:
        _qr(code)
    with words:
        st.markdown(f"Scan the code, or open **{_address()}** and enter")
        with st.container(key="room_code"):
            st.title(code, anchor=False)
        _follow(code, seen, lambda now: st.header(f"{counted(now.joined, 'phone')} joined", anchor=False))
        if urlsplit(browser.link({})).hostname in HERE_ONLY:
            st.caption(
                "This address works only on this computer. Phones need the server's address: see "
                "“Deployment” in the guide."
            )


def _follow(code: str, drawn: RoomState, show: Callable[[RoomState], None]) -> None:
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


def _round(code: str, key: str, seen: RoomState, asked: Round) -> None:
    """Draw the question over the whole width; below it the votes, a step's picture and, while asked, the way in."""
    with st.container(key="room_question"):
        if asked.story and seen.asked:
            st.markdown(plain(asked.story))
        st.header(plain(asked.text if asked.answers else asked.title), anchor=False)
    beside, joins = asked.step is not None, seen.asked or asked.step is None
    words, *rest = st.columns(_shares(beside, joins), gap="medium")
    with words:
        if asked.answers:
            _follow(code, seen, partial(_ballots, code, key))
        else:
            st.markdown(asked.text)
        if seen.revealed:
            _reasons(asked)
        numbers = st.container()
    made = _made(asked) if beside else None
    if made is not None:
        with rest[0]:
            _picture(made, asked, empty=seen.asked and not asked.posed)
    if joins:
        with rest[-1]:
            _qr(code)
    if made is not None and not seen.asked:
        with numbers:
            _numbers(made, asked)


def _shares(picture: bool, code: bool) -> list[float]:
    """Return the shares of the width that votes, a picture and the QR code take."""
    if not picture:
        return [1 - CODE_SHARE, CODE_SHARE]
    return [VOTES_SHARE, 1 - VOTES_SHARE - CODE_SHARE, CODE_SHARE] if code else [VOTES_SHARE, 1 - VOTES_SHARE]


def _ballots(code: str, key: str, seen: RoomState) -> None:
    """Draw how many have answered, and their votes once they may be seen."""
    title, bars = ballots(seen)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(key="counted", width="stretch"):
            browser.read_out("counted")
            st.markdown(f"**{plain(title)}**")
        if not seen.revealed:
            label = "Hide the answers" if seen.shown else "Show the answers so far"
            show = partial(_move, rooms().show, code, key, not seen.shown)
            st.button(label, key="room_show", type="tertiary", on_click=show)
    browser.ballots([asdict(bar) for bar in bars])


def _reasons(asked: Round) -> None:
    """Draw why the right answer is right, and on request the mistake behind each other answer."""
    st.markdown(f"{RIGHT} {plain(asked.why[asked.right - 1])}")
    with st.popover("The other answers", type="tertiary", key="room_reasons"):
        for number, why in enumerate(asked.why, start=1):
            if number != asked.right:
                st.markdown(f"**{letter(number)}** {plain(why)}")


def _made(asked: Round) -> Staged | None:
    """Return the contents of a round's step, computed while the class answers, and have them drawn for phones."""
    step = asked.step
    if step is None:
        return None
    key = step.page, step.title
    found = jobs.run_one("class_picture", "Drawing the picture", key, partial(staged, step))
    if found is not None:
        pictures().ask(asked, found.chart)
    return found


def _picture(made: Staged, asked: Round, empty: bool) -> None:
    """Draw the picture of a round; ``empty``: only its axes, and what the question shows."""
    assert asked.step is not None, "only a round that shows a step has a picture"
    drawn = made.chart.draw(current.theme())
    if empty:
        drawn = go.Figure(without_data(drawn.to_dict(), kept=known(asked)))
    figure = for_projector(drawn, highest=PICTURE_BESIDE_VOTES, fills=True)
    with st.container(key="projected_class"):
        st.plotly_chart(
            figure,
            theme=None,
            key="chart_class",
            height="stretch",
            alt="The axes of the picture." if empty else renamed(made.chart.record.alt, asked.step.picture),
            config={"displayModeBar": False},
        )


def _numbers(made: Staged, asked: Round) -> None:
    """Draw what the picture shows in a sentence, and the numbers that the step names."""
    step = asked.step
    assert step is not None, "only a round that shows a step has numbers"
    found = step.heading or renamed(made.chart.record.title, step.picture)
    st.markdown(f"**{plain(found)}**")
    if made.numbers is not None:
        st.table(made.numbers)
    query = state.address(step.recipe, None)
    st.page_link(f"pages/{step.page}.py", label="Open the page of this picture", query_params=query)


def _calibration_of_class(code: str, key: str) -> None:
    """Draw how sure the class was and how often it was right, over all rounds."""
    forecasts = [Forecast(sure, right) for sure, right in rooms().forecasts(code, key)]
    with st.container(key="room_question"):
        st.header("How well does the class know what it knows?", anchor=False)
    if not forecasts:
        st.markdown("No student said how sure they were.")
        return
    record = prepare_forecasts(forecasts, "The class was")
    picture, words = st.columns([0.55, 0.45], gap="large", vertical_alignment="center")
    with picture, st.container(key="projected_class"):
        figure = for_projector(draw_forecasts(record, current.theme()), highest=PICTURE_BESIDE_VOTES)
        st.plotly_chart(figure, theme=None, key="chart_class_calibration", height="stretch", alt=record.alt)
    with words:
        st.subheader(plain(record.title), anchor=False)
        chart.caption(record.caption, "class_calibration")


# --- the phone


def _student(code: str, seat: str) -> None:
    """Draw the page of a student, whose token is in the browser's storage, the same in all its tabs."""
    style.add("live_quiz")
    try:
        seat = rooms().join(code, seat)
    except InputError as error:  # the room is full
        st.error(plain(error))
        return

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


def _phone(code: str, seat: str, seen: RoomState) -> None:
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
        _feedback(seen.mine, seen.round)
    else:
        _answers(code, seat, seen, seen.round)
    if seen.round and (image := pictures().of(seen.round, current.theme(), seen.asked)):
        st.image(image, alt="The picture on the projector", width="stretch")


def _answers(code: str, seat: str, seen: RoomState, asked: Round) -> None:
    number, mine = seen.number, seen.mine
    if asked.story:
        st.markdown(plain(asked.story))
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
            f"Your answer is in: **{letter(mine.answer)}**. You can change your answer until your teacher "
            "reveals the right answer."
        )


def _vote(code: str, seat: str, number: int, answer: int | None) -> None:
    if answer is not None:
        _move(rooms().vote, code, seat, number, Vote(answer, st.session_state.get(f"sure_{number}")))


def _feedback(mine: Vote | None, asked: Round) -> None:
    """Draw whether the answer was right, and why."""
    st.markdown(f"**{plain(asked.text)}**")
    right = _reason(asked, asked.right)
    if mine is None:
        st.markdown(right)
    elif mine.answer == asked.right:
        st.markdown(f"{RIGHT} {right}")
    else:
        st.markdown(f"{NOT_QUITE} {_reason(asked, mine.answer)}")
        st.markdown(f"The answer is {right}")


def _reason(asked: Round, answer: int) -> str:
    return f"**{letter(answer)}** {plain(asked.answers[answer - 1])}: {plain(asked.why[answer - 1])}"


def _own_score(seen: RoomState) -> None:
    """Draw the score of this student in a sentence or two."""
    st.title("That was the last question", anchor=False)
    right = sum(vote.answer == answer for vote, answer in seen.past_votes)
    st.markdown(f"You answered {right} of {counted(len(seen.past_votes), 'question')} correctly.")
    forecasts = [
        Forecast(vote.sure, vote.answer == answer)
        for vote, answer in seen.past_votes
        if vote.sure is not None
    ]
    if forecasts:
        st.markdown(f"{plain(prepare_forecasts(forecasts).title)}.")

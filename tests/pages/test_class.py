"""A class in a room: the teacher asks, students answer, and all see the reveal; each with a session of its own."""

import io
import json
import secrets

import pandas as pd
import pytest
import streamlit as st

from calib.experiments import EXPERIMENTS
from calib.experiments.ballots import rounds
from calib.lessons import LESSONS, QUIZZES
from pages.ui.learn import live_quiz
from pages.ui.learn.asking import NOT_QUITE, RIGHT
from tests.lessons.every import EVERY
from tests.pages.app import at_once, experiment, faults, keys, messages, page, settled
from tests.saying import assert_says

ASKED = rounds(QUIZZES["bank"])
CLOSED = "Room {} is not open: it was closed, or a letter of the code is wrong. Check the four letters."


def words(at) -> str:
    kinds = (at.caption, at.markdown, at.title, at.header, at.subheader)
    return " ".join(element.value for kind in kinds for element in kind).replace("\\", "")


@pytest.fixture
def opened():
    """A room about a lesson; its code and key."""
    code, key = live_quiz.rooms().open(ASKED)
    yield code, key
    live_quiz._move(live_quiz.rooms().close, code, key)


@pytest.fixture(autouse=True)
def storage(monkeypatch):
    """Stands for the browser's storage: who the next session is, which AppTest has no browser to say."""
    stored = {"seat": "", "key": None}
    monkeypatch.setattr(
        live_quiz.browser,
        "in_room",
        lambda code, key=None, closed=False: (
            None if closed else st.session_state.setdefault("who", dict(stored))
        ),
    )
    return stored


@pytest.fixture
def teacher(storage):
    """A session whose tab opened the room, before it was loaded again."""

    def come(opened):
        storage["key"] = opened[1]
        at = settled(at_once("learn_class", room=opened[0]))
        storage["key"] = None
        return at

    return come


@pytest.fixture
def student(storage):
    """A session of a browser, by default one that nobody has used before."""

    def come(opened, seat=None):
        storage["seat"] = seat or secrets.token_urlsafe(16)
        return at_once("learn_class", room=opened[0])

    return come


def seat(at) -> str:
    return at.session_state["who"]["seat"]


def test_every_lesson_and_every_question_can_be_chosen_on_the_page():
    at = page("learn_class")
    offered = at.selectbox(key="room_about").options
    lessons = [lesson.title for lesson in EVERY.values()]
    assert offered == lessons + [f"One question: {experiment.name}" for experiment in EXPERIMENTS.values()]
    for lesson in EVERY.values():
        at.selectbox(key="room_about").select(lesson.title).run()
        at.button(key="room_open").click().run()
        code, _ = at.session_state["own_room"]
        assert live_quiz.rooms().look(code).rounds == len(lesson.steps) + len(lesson.questions)
        at.query_params.clear()
        at.switch_page("pages/learn_class.py").run()


def test_a_room_is_opened_from_a_lesson_and_from_a_question_and_a_second_one_closes_the_first():
    at = page("learn_two_probabilities")
    at.button(key="room_venn_abers").click().run()
    code, key = at.session_state["own_room"]
    assert live_quiz.rooms().look(code).rounds == len(LESSONS["venn_abers"].steps) + 3
    at = experiment("cl_gl", **{"cl_gl.n": "50"})
    at.button(key="room_cl_gl").click().run()
    other, _ = at.session_state["own_room"]
    assert live_quiz.rooms().look(other).rounds == 1
    at.query_params.clear()
    at.switch_page("pages/learn_class.py").run()
    assert f"Room {other} is open." in words(at)
    at.button(key="room_open").click().run()
    with pytest.raises(live_quiz.InputError):
        live_quiz.rooms().look(other)
    for one in ((code, key), at.session_state["own_room"]):
        live_quiz.rooms().close(*one)


NUMBER, QUESTION = next((i, one) for i, one in enumerate(ASKED, start=1) if one.right == 3)


@pytest.fixture
def asked(opened, teacher, student):
    """The teacher, one student who answers right in the end, and one who does not."""
    host, right, wrong = teacher(opened), student(opened), student(opened)
    live_quiz.rooms().go(*opened, NUMBER)
    right.run().button(key=f"answer_{NUMBER}_1").click().run()
    right.button(key=f"answer_{NUMBER}_{QUESTION.right}").click().run()
    wrong.run().button(key=f"answer_{NUMBER}_2").click().run()
    return host.run(), right, wrong


def test_the_teacher_leads_from_the_code_of_the_room_to_a_question(opened, teacher, student):
    host = teacher(opened)
    assert faults(host) == []
    assert opened[0] in words(host)
    one, _ = student(opened), student(opened)
    assert "You are in" in [title.value for title in one.title]
    for _ in range(NUMBER):
        host.button(key="room_next").click().run()
    assert_says(words(settled(host)), "0 of 2 answered")


def test_guesses_come_in_and_can_be_changed(opened, asked):
    host, right, _ = asked
    assert_says(words(right), "can change")
    assert_says(words(host), "2 of 2 answered")
    assert live_quiz.rooms().look(opened[0]).votes[:3] == (0, 1, 1)


def test_the_reveal_shows_every_reason_and_how_many_were_right(asked):
    host = settled(asked[0].button(key="room_reveal").click().run())
    assert faults(host) == []
    assert all(why in words(host) for why in QUESTION.why)
    assert len(host.get("plotly_chart")) == 1
    assert_says(words(host), "1 of 2 answers right")


def test_the_reveal_meets_each_student_with_the_answer_given(opened, asked):
    _, right, wrong = asked
    live_quiz.rooms().reveal(*opened)
    assert RIGHT in words(right.run())
    assert f"answer_{NUMBER}_1" not in keys(right)
    assert f"{NOT_QUITE} **B** {QUESTION.answers[1]}: {QUESTION.why[1]}" in words(wrong.run())
    assert QUESTION.why[QUESTION.right - 1] in words(wrong)


def test_after_the_reveal_the_next_question_is_asked(asked):
    host, right, _ = asked
    host.button(key="room_reveal").click().run()
    host.button(key="room_next").click().run()
    assert ASKED[NUMBER].text in words(right.run())


def test_a_page_loaded_again_is_the_same_students_and_so_is_another_tab(opened, student):
    live_quiz.rooms().go(*opened, 3)
    at = student(opened)
    at.button(key="answer_3_2").click().run()
    again = student(opened, seat=seat(at))
    assert live_quiz.rooms().look(opened[0]).joined == 1
    assert "Your answer is in" in words(again)
    again.button(key="answer_3_1").click().run()
    assert live_quiz.rooms().look(opened[0]).votes[:2] == (1, 0), "one voter, whose last answer counts"
    assert at.query_params == {"room": opened[0]}, "neither seat nor key is in the address"
    assert student(opened).run()
    assert live_quiz.rooms().look(opened[0]).joined == 2


def bars(host) -> list[dict]:
    """The answers on the projector with their votes."""
    (found,) = (
        json.loads(one.proto.json) for one in host.get("bidi_component") if '"answers"' in one.proto.json
    )
    return found["answers"]


def test_the_answers_so_far_are_hidden_until_the_teacher_shows_them(opened, teacher, student):
    live_quiz.rooms().go(*opened, 3)
    student(opened).button(key="answer_3_2").click().run()
    host = teacher(opened)
    assert {bar["votes"] for bar in bars(host)} == {""}
    host.button(key="room_show").click().run()
    assert [bar["votes"] for bar in bars(host)][:2] == ["0", "1"]
    assert [bar["share"] for bar in bars(host)][:2] == [0, 1]


def test_the_class_sees_its_own_calibration_at_the_end_and_a_student_their_score(opened, teacher, student):
    rooms = live_quiz.rooms()
    at = student(opened)
    for number, sure in ((7, 0.9), (8, 0.6)):
        rooms.go(*opened, number)
        at.run().segmented_control(key=f"sure_{number}").set_value(sure).run()
        at.button(key=f"answer_{number}_{2 if number == 7 else 3}").click().run()
        rooms.reveal(*opened)
    rooms.go(*opened, len(ASKED) + 1)
    host = teacher(opened)
    assert faults(host) == []
    assert_says(words(host), "class", "75 % sure", "right in 50 %", "2 answers")
    assert "1 of 2 questions" in words(at.run())
    assert_says(words(at), "You were 75 % sure")


def test_of_a_code_out_of_any_address_only_letters_are_shown_and_no_more_than_a_code_has():
    at = at_once("learn_class", room="<b>$x$" + "A" * 5000)
    assert messages(at) == [CLOSED.format("<B>$…")]
    assert r"\<B\>\$…" in at.error[0].value


@pytest.mark.parametrize("query", [{"room": "ZZZZ"}, {"room": "zzzz", "key": "x"}, {"room": "", "seat": "x"}])
def test_a_code_of_no_open_room_gets_one_message(query):
    at = at_once("learn_class", **query)
    said = [] if not query["room"] else [CLOSED.format("ZZZZ")]
    assert messages(at) == said
    assert [e.message for e in at.exception] == []


def test_a_closed_room_is_left_with_one_message(opened, teacher, student):
    at, host = student(opened), teacher(opened)
    host.button(key="room_close").click().run()
    for one in (at.run(), host):
        (message,) = messages(one)
        assert_says(message, opened[0], "closed", "deleted")
    assert messages(at_once("learn_class", room=opened[0])) == [CLOSED.format(opened[0])]


def test_a_wrong_key_is_a_students(opened, teacher):
    at = teacher((opened[0], "guessed"))
    assert "You are in" in [title.value for title in at.title]
    assert not {"room_close", "room_next"} & set(keys(at))


def test_answers_are_offered_before_the_room_is_closed_and_before_another_one_is_opened(
    opened, teacher, student, downloads
):
    live_quiz.rooms().go(*opened, 8)
    at = student(opened)
    at.segmented_control(key="sure_8").set_value(0.9).run()
    at.button(key="answer_8_1").click().run()
    host = teacher(opened)
    host.query_params.clear()
    host.switch_page("pages/learn_class.py").run()
    assert f"Room {opened[0]} has 1 answer." in host.warning[0].value
    host.button(key="room_open").click().run()
    assert live_quiz.rooms().look(opened[0]).answered == 1, "no answer is lost by opening another room"
    found = pd.read_csv(io.BytesIO(downloads["Answers (CSV)"]()))
    asked = ASKED[7]
    right = "yes" if asked.right == 1 else "no"
    assert found.to_numpy().tolist() == [[8, asked.text, 1, asked.answers[0], right, 0.9]]


def test_a_room_leaves_the_settings_of_other_pages_alone(opened):
    at = page("explore_reliability", bins="7")
    at.switch_page("pages/learn_class.py")
    at.query_params.update({"room": opened[0]})
    at.run()
    assert faults(at) == []
    at.query_params.clear()
    settled(at.switch_page("pages/explore_reliability.py").run())
    assert at.session_state["recipe"].bins == 7

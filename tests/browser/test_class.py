"""A class in real browsers: a projector and phones, each with a storage of its own."""

from __future__ import annotations

import io
from functools import partial

import pandas as pd
import pytest

from calib.experiments import EXPERIMENTS
from calib.experiments.ballots import letter, rounds
from calib.lessons import QUIZZES
from tests.browser.driver import Tab
from tests.waiting import until

ASKED = EXPERIMENTS["pooling"]
# Whether a phone has stored a seat, and what its tab has
KEPT = """() => [/^[A-Z]{4} [0-9a-f]{32}$/.test(localStorage.getItem("calibration-explorer-room")),
    sessionStorage.getItem("calibration-explorer-room")]"""

END_OF_LINES = """element =>
    element.getBoundingClientRect().bottom - parseFloat(getComputedStyle(element).paddingBottom)"""


def press(tab, key):
    """A button whose name ends with its key on the keyboard."""
    tab.by_key(key).get_by_role("button").click()
    return tab


def close(host):
    """Ask to close the room, and do it."""
    press(host, "room_closing")
    host.page.get_by_role("button", name="Close and delete").click()


@pytest.fixture
def phone(new_tab):
    """A tab of a phone that nobody has used before."""
    return lambda: new_tab(width=390, has_touch=True, fresh=True)


@pytest.fixture
def opened(new_tab):
    """Opens a room about a lesson or question of this name: the projector's tab, and the code."""

    def begin(name, **options):
        host = new_tab(width=1920, **options).open("learn_class")
        host.choose("room_about", name)
        host.by_key("room_open").get_by_role("button").press("Enter")
        host.by_key("room_code").wait_for()
        return host, host.by_key("room_code").inner_text().strip()

    return begin


def test_two_phones_follow_the_projector_from_the_code_to_the_reveal(opened, phone):
    host, code = opened(f"One question: {ASKED.name}")
    host.by_key("room_qr").locator("img").wait_for()
    first, other = phone().open("learn_class", room=code), phone().open("learn_class")
    other.page.get_by_label("Code", exact=True).fill(code.lower())
    other.press("Join").page.get_by_text("You are in").wait_for()
    host.page.get_by_text("2 phones joined").wait_for()
    assert host.page.evaluate("() => document.activeElement === document.body"), (
        "no key closes the room at once"
    )
    host.page.keyboard.press("ArrowRight")
    for tab, answer in ((first, ASKED.answers[0]), (other, ASKED.answers[1])):
        tab.page.get_by_role("button", name=answer).click()
        tab.page.get_by_text("Your answer is in").wait_for()
        assert tab.by_key("phone").get_attribute("aria-live") == "polite", "question and verdict are read out"
        widths = "elements => elements.map(element => element.scrollWidth)"
        assert tab.page.locator("html, .stMain").evaluate_all(widths) == [390, 390]
        assert tab.page.evaluate(KEPT) == [True, None], "a random seat is stored for this room"
        assert not tab.by_key("sure_1").locator("[aria-checked=true]").count(), "a confidence has no default"
    first.by_key("sure_1").get_by_text("90 %", exact=True).click()
    first.settle()
    first.page.reload()
    first.page.get_by_text("Your answer is in").wait_for()
    host.page.get_by_text("2 of 2 answered").wait_for()
    assert host.by_key("counted").get_attribute("aria-live") == "polite", "how many have answered is read out"
    heights = "buttons => buttons.map(button => button.getBoundingClientRect().height)"
    answers = first.by_key("room_answers").get_by_role("button")  # which the page draws anew now and then
    until(lambda: min(answers.evaluate_all(heights), default=0) >= 48, "the answers are as high as a thumb")
    host.page.keyboard.press("ArrowRight")
    host.page.get_by_text("1 of 2 answers right").wait_for()
    first.page.get_by_text("Correct.").wait_for()
    other.page.get_by_text(ASKED.why[1]).wait_for()
    host.page.keyboard.press("ArrowRight")
    title = host.page.get_by_role("heading", name="How well does the class know what it knows?")
    picture = host.by_key("projected_class")
    host.page.get_by_text("The class was 90 % sure").wait_for()
    assert title.evaluate(END_OF_LINES) <= picture.bounding_box()["y"] + 1, "the picture covers no title"
    close(host)
    for tab in (host, first, other):
        tab.page.get_by_text(f"Room {code} is closed, and its data are deleted.").wait_for()
    until(lambda: first.page.evaluate(KEPT) == [False, None], "the seat is forgotten with its room")


def test_the_teachers_key_is_in_no_address_and_a_reload_keeps_the_class(opened, phone):
    """Neither in that of the projector, nor in a request, nor in what a request says that it comes from."""
    host, code = opened(f"One question: {ASKED.name}", fresh=True)
    told = []
    host.page.on("request", lambda request: told.extend((request.url, *request.all_headers().values())))
    key = host.page.evaluate("sessionStorage.getItem('calibration-explorer-room')").removeprefix(f"{code} ")
    assert len(key) >= 16
    host.page.keyboard.press("ArrowRight")
    host.page.get_by_text("0 of 0 answered").wait_for()
    host.page.reload()
    host.by_key("room_reveal").wait_for()
    assert host.recipe_query() == {"room": code}
    assert told
    assert not [text for text in told if key in text]
    assert key not in host.page.content(), "nor is it on the page"
    copied = Tab(host.page.context.new_page(), host.address).open("learn_class", **host.recipe_query())
    copied.by_key("phone").wait_for()
    assert not copied.by_key("room_moves").count(), "whoever has the projector's address is a student"
    close(host)
    for kept in ("sessionStorage", "localStorage"):
        gone = f"{kept}.getItem('calibration-explorer-room') === null"
        until(lambda asked=gone: host.page.evaluate(asked), f"nothing of ours is left in {kept}")


# Predictions of all that is drawn in the diagram but its diagonal
SEEN = """charts => charts.flatMap(chart => chart._fullData ?? [])
    .filter(({yaxis, x, y}) => yaxis === "y" && [...x].join() !== [...y].join()).flatMap(({x}) => [...x])"""


def seen_in(picture):
    return picture.locator(".js-plotly-plot").evaluate_all(SEEN)


SIZE = "element => parseFloat(getComputedStyle(element).fontSize)"


@pytest.mark.parametrize(("width", "height"), [pytest.param(1920, 1080, marks=pytest.mark.soak), (1280, 720)])
def test_a_projector_has_a_large_question_and_on_reveal_votes_and_one_reason_left_of_the_picture(
    opened, width, height
):
    host, _ = opened("Why calibrate?")
    host.page.set_viewport_size({"width": width, "height": height})
    press(host, "room_next")
    host.by_key("room_question").get_by_text("A bank asks a model").wait_for()
    host.page.locator(".ballots p").first.wait_for()
    scale, question = width / 1920, host.by_key("room_question").locator("h2")
    until(lambda: question.count() == 1, "the page before has gone")
    assert question.evaluate(SIZE) == pytest.approx(48 * scale, abs=0.5)
    assert question.bounding_box()["width"] > 0.9 * width
    assert host.page.locator(".ballots p").first.evaluate(SIZE) == pytest.approx(32 * scale, abs=0.5)
    code = host.by_key("room_qr").locator("img").bounding_box()
    assert code["width"] == code["height"] >= 160 * scale
    assert code["x"] > 0.85 * width, "in a corner"
    picture = host.by_key("projected_class")
    axes = picture.bounding_box()
    assert axes["x"] + axes["width"] <= code["x"], "the axes to think in are between the answers and the code"
    assert axes["y"] + axes["height"] <= height
    press(host, "room_reveal")
    reasons = host.page.get_by_test_id("stMarkdown").get_by_text("Correct.")
    reasons.wait_for()
    assert reasons.count() == 1
    left = picture.bounding_box()["x"]
    for part in (host.page.locator(".ballots"), reasons):
        box = part.bounding_box()
        assert box["x"] + box["width"] <= left
    box = picture.bounding_box()
    assert box["y"] + box["height"] <= height
    assert host.page.locator(".ballots b").all_inner_texts(), "the votes are there"
    until(lambda: seen_in(picture), "the marks are drawn")
    assert min(seen_in(picture)) > 0.4, "the next question is about the mark on the left"


def shows(host, votes):
    """Whether the projector shows these numbers of votes."""
    return host.page.locator(".ballots b").all_inner_texts() == votes


class Eight:
    """Eight students by the number of their seat, and what each has answered in which round."""

    def __init__(self, open_tab, code):
        self.open_tab, self.code = open_tab, code
        self.tabs, self.given = {}, {}

    def join(self, seat):
        tab = self.tabs[seat] = self.open_tab().open("learn_class", room=self.code)
        tab.by_key("phone").wait_for()

    def answer(self, seat, number, asked, choice, sure=None, tab=None):
        tab = tab or self.tabs[seat]
        tab.by_key(f"answer_{number}_{choice}").get_by_role("button").click()
        tab.page.get_by_text(f"Your answer is in: {letter(choice)}").wait_for()
        if sure is not None:
            tab.by_key(f"sure_{number}").get_by_text(f"{sure:.0%}".replace("%", " %"), exact=True).click()
            tab.settle()
        self.given[number, seat] = (asked, choice, sure)


@pytest.mark.soak
def test_a_class_of_eight_goes_through_a_lesson_and_every_answer_is_counted(opened, phone):
    """One has two tabs, one loads the page again, one comes late, one leaves a question out."""
    host, code = opened("Why calibrate?")
    room = Eight(phone, code)
    for seat in range(1, 8):
        room.join(seat)
    second = Tab(room.tabs[2].page.context.new_page(), host.address).open("learn_class", room=code)
    host.page.get_by_text("7 phones joined").wait_for()
    for number, asked in enumerate(rounds(QUIZZES["bank"]), start=1):
        press(host, "room_next")
        host.page.get_by_text(f"{number} of 8").first.wait_for()
        if number == 3:
            room.join(8)
        if not asked.answers:
            continue
        for seat in room.tabs:
            choice = 1 + (seat * number) % len(asked.answers)
            if (seat, number) == (7, 6):
                continue
            room.answer(seat, number, asked, choice, 0.9 if seat == 1 else None)
            if seat == 2:
                room.answer(seat, number, asked, 1 + choice % len(asked.answers), tab=second)
            if (seat, number) == (3, 7):
                room.tabs[3].page.reload()
                room.tabs[3].page.get_by_text(f"Your answer is in: {letter(choice)}").wait_for()
        here = [choice for (of, _), (_, choice, _) in room.given.items() if of == number]
        host.page.get_by_text(f"{len(here)} of {len(room.tabs)} answered").wait_for()
        press(host, "room_reveal")
        right = here.count(asked.right)
        host.page.get_by_text(f"{right} of {len(here)} answers right").wait_for()
        votes = [str(here.count(1 + i)) for i in range(len(asked.answers))]
        until(partial(shows, host, votes), f"the votes of round {number} are {votes}")
        for seat, tab in room.tabs.items():
            given = room.given.get((number, seat))
            if given:
                verdict = "Correct." if given[1] == asked.right else "Not quite."
                tab.page.get_by_text(verdict).wait_for()
    press(host, "room_next")
    host.page.get_by_text("How well does the class know what it knows?").wait_for()
    for seat, tab in room.tabs.items():
        own = [choice == asked.right for (_, s), (asked, choice, _) in room.given.items() if s == seat]
        tab.page.get_by_text(f"You answered {sum(own)} of {len(own)} question").wait_for()
    press(host, "room_closing")
    button = host.page.get_by_role("button", name="Answers (CSV)")
    found = pd.read_csv(io.BytesIO(host.download(button.click)))
    rows = [
        (
            n,
            asked.text,
            seat,
            asked.answers[choice - 1],
            "yes" if choice == asked.right else "no",
            sure,
        )
        for (n, seat), (asked, choice, sure) in sorted(room.given.items())
    ]
    columns = ["round", "question", "seat", "answer", "right", "sure"]
    pd.testing.assert_frame_equal(found, pd.DataFrame(rows, columns=columns), check_dtype=False)
    host.page.get_by_role("button", name="Close and delete").click()
    for tab in (host, second, *room.tabs.values()):
        tab.page.get_by_text(f"Room {code} is closed, and its data are deleted.").wait_for()

"""Rooms of a class: joins, votes, reveal, close; how many there may be, how long, and who may do what."""

import re
import threading
import weakref
from collections import Counter

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from calib.experiments.ballots import rounds
from calib.kernel.checks import InputError
from calib.lessons import live_quiz as rooms_module
from calib.lessons.live_quiz import CODE_LETTERS, MOST_ROOMS, MOST_SEATS, SILENCE, UNFIT, Rooms, Round, Vote
from tests.lessons.every import EVERY

ROUNDS = (
    Round("One", "A?", ("a", "b", "c"), 2, ("no", "yes", "no")),
    Round("Two", "Look."),
    Round("Three", "B?", ("a", "b"), 1, ("yes", "no")),
)


class Later:
    """Stands for threading.Timer: nothing happens until the test says so."""

    def __init__(self):
        self.calls = []

    def __call__(self, seconds, call):
        assert seconds <= 15 * 60
        self.calls.append(call)
        return self

    def start(self):
        self.started = True


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def later():
    return Later()


@pytest.fixture
def rooms(clock, later):
    return Rooms(clock, later)


class Class(RuleBasedStateMachine):
    """A room beside the plainest account of what must be so: each seat's last vote of each round before its reveal."""

    def __init__(self):
        super().__init__()
        self.rooms = Rooms(Clock(), Later())
        self.code, self.key = self.rooms.open(ROUNDS)
        self.seats, self.votes, self.revealed, self.number = [], {}, set(), 0

    @rule()
    def join(self):
        self.seats.append(self.rooms.join(self.code))

    @precondition(lambda self: self.seats)
    @rule(pick=st.integers(0, 99))
    def come_back(self, pick):
        seat = self.seats[pick % len(self.seats)]
        assert self.rooms.join(self.code, seat) == seat

    @precondition(lambda self: self.seats)
    @rule(
        pick=st.integers(0, 99),
        number=st.integers(0, 4),
        answer=st.integers(1, 2),
        sure=st.sampled_from([None, 0.5, 1.0]),
    )
    def vote(self, pick, number, answer, sure):
        seat = self.seats[pick % len(self.seats)]
        open_now = number == self.number and number in (1, 3) and number not in self.revealed
        assert self.rooms.vote(self.code, seat, number, Vote(answer, sure)) == open_now
        if open_now:
            self.votes[number, seat] = Vote(answer, sure)

    @rule(number=st.integers(-1, 9))
    def go(self, number):
        self.rooms.go(self.code, self.key, number)
        self.number = min(max(number, 0), 4)

    @rule()
    def reveal(self):
        self.rooms.reveal(self.code, self.key)
        self.revealed |= {self.number} & {1, 3}

    @invariant()
    def what_is_seen_is_what_was_done(self):
        seen = self.rooms.look(self.code)
        here = [vote.answer for (number, _), vote in self.votes.items() if number == self.number]
        assert (seen.joined, seen.answered, seen.number) == (len(self.seats), len(here), self.number)
        assert [i for i, n in enumerate(seen.votes, 1) for _ in range(n)] == sorted(here)
        assert seen.revealed == (self.number in self.revealed)
        told = [(v, ROUNDS[n - 1].right) for (n, _), v in self.votes.items() if n in self.revealed]
        said = [(v.sure, v.answer == right) for v, right in told if v.sure is not None]
        assert self.rooms.forecasts(self.code, self.key) == sorted(said)
        by_seat = [one for seat in self.seats for one in self.rooms.look(self.code, seat).past_votes]
        assert Counter(by_seat) == Counter(told)


TestClass = Class.TestCase


def test_a_code_has_four_letters_that_are_told_apart_and_calls_no_word_to_mind(rooms, monkeypatch):
    monkeypatch.setattr(rooms_module, "MOST_ROOMS", 3000)
    codes = [rooms.open(ROUNDS)[0] for _ in range(3000)]
    assert len(set(codes)) == 3000
    assert all(len(set(code)) == len(code) == 4 and set(code) <= set(CODE_LETTERS) for code in codes)
    assert not set(CODE_LETTERS) & set("AEIOUYCLQSV")
    assert not [code for code in codes if any(part in code for part in UNFIT)]


def test_only_the_key_moves_a_room_and_no_code_nor_seat_does(rooms):
    code, key = rooms.open(ROUNDS)
    seat = rooms.join(code)
    other = rooms.open(ROUNDS)[1]
    for wrong in (code, seat, other, "", "ä"):
        for move in (rooms.reveal, rooms.close, rooms.show, rooms.forecasts, rooms.answers):
            with pytest.raises(InputError, match="Only the person who opened room"):
                move(code, wrong)
        with pytest.raises(InputError, match="Only the person who opened room"):
            rooms.go(code, wrong, 1)
    assert rooms.look(code).number == 0
    rooms.go(code, key, 1)
    assert rooms.look(code).round == ROUNDS[0]


def test_places_and_keys_are_drawn_at_random_from_more_than_anyone_can_try(rooms, clock, later):
    def drawn(rooms):
        code, key = rooms.open(ROUNDS)
        return {key, *(rooms.join(code) for _ in range(20))}

    mine, others = drawn(rooms), drawn(Rooms(clock, later))
    assert len(mine | others) == 42
    assert min(map(len, mine)) >= 12  # of 64 letters


def test_nothing_of_a_closed_room_is_kept(rooms):
    code, key = rooms.open(ROUNDS)
    seat, held = rooms.join(code), weakref.ref(rooms._rooms[code])
    rooms.close(code, key)
    assert held() is None
    for move in (rooms.join, rooms.look, lambda code: rooms.vote(code, seat, 1, Vote(1))):
        with pytest.raises(InputError, match=f"Room {code} is not open"):
            move(code)


def test_a_silent_room_closes_by_itself_even_if_nobody_asks_and_looking_keeps_none_open(rooms, clock, later):
    code, key = rooms.open(ROUNDS)
    other, _ = rooms.open(ROUNDS)
    assert len(later.calls) == 1
    assert later.daemon
    clock.now = SILENCE - 1
    rooms.look(other)
    rooms.go(code, key, 1)
    later.calls.pop()()
    clock.now = SILENCE
    later.calls.pop()()
    assert list(rooms._rooms) == [code]
    seat = rooms.join(code)
    clock.now += SILENCE - 1
    rooms.vote(code, seat, 1, Vote(1))
    clock.now += SILENCE
    later.calls.pop()()
    assert rooms._rooms == {}
    assert later.calls == [], "with no room left nothing waits"
    rooms.open(ROUNDS)
    assert len(later.calls) == 1


def test_rooms_and_places_are_bounded(rooms, clock):
    codes = [rooms.open(ROUNDS) for _ in range(MOST_ROOMS)]
    with pytest.raises(InputError, match=f"{MOST_ROOMS} open rooms"):
        rooms.open(ROUNDS)
    rooms.close(*codes[0])
    code, _ = rooms.open(ROUNDS)
    seats = [rooms.join(code) for _ in range(MOST_SEATS)]
    with pytest.raises(InputError, match=f"Room {code} is full"):
        rooms.join(code)
    assert rooms.join(code, seats[3]) == seats[3]
    clock.now = SILENCE
    rooms.open(ROUNDS)


def test_a_place_is_of_one_room_and_a_vote_of_one_of_its_answers(rooms):
    code, key = rooms.open(ROUNDS)
    seat = rooms.join(rooms.open(ROUNDS)[0])
    rooms.go(code, key, 1)
    assert not rooms.vote(code, seat, 1, Vote(1))
    mine = rooms.join(code, seat)
    for vote, words in (
        (Vote(4), "answer must be"),
        (Vote(0), "answer must be"),
        (Vote(1, 1.5), "sure must be"),
    ):
        with pytest.raises(InputError, match=words):
            rooms.vote(code, mine, 1, vote)
    assert rooms.look(code).answered == 0


def test_a_browser_brings_its_own_token_and_no_other_text_is_one(rooms):
    code, _ = rooms.open(ROUNDS)
    token = "0123456789abcdef" * 2
    assert rooms.join(code, token) == rooms.join(code, token) == token
    assert rooms.look(code).joined == 1
    for other in (None, "", "short", "a" * 65, "<script>alert(1)</script>", "0123456789abcdeé"):
        assert rooms.join(code, other) not in (other, token)


def test_all_answers_are_listed_by_round_and_seat_with_the_last_one_of_each(rooms):
    code, key = rooms.open(ROUNDS)
    seats = [rooms.join(code) for _ in range(3)]
    for number, votes in ((3, {2: Vote(1)}), (1, {1: Vote(3, 0.5), 0: Vote(2)}), (1, {1: Vote(1, 0.9)})):
        rooms.go(code, key, number)
        for seat, vote in votes.items():
            rooms.vote(code, seats[seat], number, vote)
    found = [(one.number, one.seat, one.vote) for one in rooms.answers(code, key)]
    assert found == [(1, 1, Vote(2)), (1, 2, Vote(1, 0.9)), (3, 3, Vote(1))]
    assert not set(seats) & set(str(rooms.answers(code, key)).split("'")), "no token leaves the room"


def test_how_the_class_is_divided_is_shown_when_the_teacher_says_so_for_that_round_only(rooms):
    code, key = rooms.open(ROUNDS)
    rooms.go(code, key, 1)
    assert not rooms.look(code).shown
    rooms.show(code, key)
    assert rooms.look(code).shown
    rooms.go(code, key, 3)
    assert not rooms.look(code).shown
    rooms.go(code, key, 1)
    rooms.show(code, key, False)
    assert not rooms.look(code).shown


def test_forty_at_once_lose_no_vote(rooms):
    code, key = rooms.open(ROUNDS)
    rooms.go(code, key, 1)
    ready, failed = threading.Barrier(40), []

    def student(number):
        try:
            seat = rooms.join(code)
            ready.wait()
            for i in range(20):
                rooms.vote(code, seat, 1, Vote(1 + (number + i) % 3))
                rooms.look(code, seat)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=student, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    last = Counter(1 + (number + 19) % 3 for number in range(40))
    assert rooms.look(code).votes == (last[1], last[2], last[3])
    assert (rooms.look(code).joined, rooms.look(code).answered) == (40, 40)


@pytest.mark.parametrize("key", EVERY)
def test_a_live_quiz_asks_for_an_answer_and_never_for_a_mark_or_a_line_that_it_has_not(key):
    asked = [one.text for one in rounds(EVERY[key]) if one.answers]
    assert asked
    assert [text for text in asked if re.search(r"\b(Place|Draw)\b", text)] == []
    placed = [step.question for step in EVERY[key].steps if step.question and step.question.cuts]
    assert {question.text for question in placed} <= set(asked)

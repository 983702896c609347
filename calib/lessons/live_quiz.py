"""The rooms of live quizzes: rounds, students, their answers, and the revealed rounds.

No names: a student's browser is a random token, the teacher another one. Everything is in memory only. It is
deleted when the teacher closes the room, or after hours of silence.
"""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.wording import counted
from calib.lessons import Step

CODE_LETTERS = "BDFGHJKMNPRTWXZ"
"""Letters of a code. Without vowels they form no words; easily confused letters are missing."""
UNFIT = ("DMN", "FGT", "FK", "FTZ", "HJ", "KZ", "MRD", "NGR", "NZ", "PRN", "WNK", "WTF")
"""Offensive sequences that need no vowels; no letter occurs twice in a code, which excludes others."""
LENGTH = 4
MOST_ROOMS, MOST_SEATS = 50, 200
SEAT = re.compile(r"[\w-]{16,64}", re.ASCII)  # a token that a browser has made
SILENCE = 3 * 3600.0  # seconds without a move of the teacher, a new student or an answer


@dataclass(frozen=True)
class Round:
    """One round of a class: a question, or only a picture.

    Attributes
    ----------
    title
        A word or two.
    text
        The question, or where to look.
    answers
        Choices.
    right
        Number of the right answer, from 1.
    why
        For each answer, why it is right or which mistake it makes.
    step
        Step of the lesson with its picture.
    posed
        Whether the picture belongs to the question; other pictures are without data until the reveal.
    story
        What the question is about, before it.
    """

    title: str
    text: str
    answers: tuple[str, ...] = ()
    right: int = 0
    why: tuple[str, ...] = ()
    step: Step | None = None
    posed: bool = False
    story: str = ""


@dataclass(frozen=True)
class Vote:
    """One student's answer to a round.

    Attributes
    ----------
    answer
        Number of the answer, from 1.
    sure
        Probability that the student gives to it, if any.
    """

    answer: int
    sure: float | None = None


@dataclass(frozen=True)
class RoomAnswer:
    """One answer of a class.

    Attributes
    ----------
    number
        Number of the round, from 1.
    round
        The round.
    seat
        Number of the student's browser, from 1, in the order of joining.
    vote
        The answer.
    """

    number: int
    round: Round
    seat: int
    vote: Vote


@dataclass(frozen=True)
class RoomState:
    """State of a room at one moment.

    Attributes
    ----------
    number
        Number of the round, from 1; 0 while the class joins, ``rounds`` + 1 at the end.
    rounds
        Number of rounds.
    round
        The open round.
    revealed
        Whether the right answer is shown.
    shown
        Whether the teacher shows the votes before the reveal.
    joined, answered
        Numbers of students.
    votes
        Number of votes for each answer.
    mine
        Vote of the student who looks.
    past_votes
        Votes of this student in revealed rounds, each with the number of the right answer.
    """

    number: int
    rounds: int
    round: Round | None
    revealed: bool
    shown: bool
    joined: int
    answered: int
    votes: tuple[int, ...]
    mine: Vote | None = None
    past_votes: tuple[tuple[Vote, int], ...] = ()

    @property
    def asked(self) -> bool:
        """Whether the round has a question that still accepts answers."""
        return self.round is not None and bool(self.round.answers) and not self.revealed


@dataclass
class _Room:
    key: str
    rounds: tuple[Round, ...]
    stirred: float
    number: int = 0
    seats: dict[str, int] = field(default_factory=dict)  # token → number, in the order of joining
    votes: dict[int, dict[str, Vote]] = field(default_factory=dict)
    revealed: set[int] = field(default_factory=set)
    shown: set[int] = field(default_factory=set)

    def seen(self, seat: str | None) -> RoomState:
        inside = 1 <= self.number <= len(self.rounds)
        round = self.rounds[self.number - 1] if inside else None
        votes = self.votes.get(self.number, {})
        chosen = [vote.answer for vote in votes.values()]
        answers = range(1, len(round.answers) + 1) if round else ()
        answered = [
            (self.votes.get(i, {}).get(seat or ""), self.rounds[i - 1].right) for i in sorted(self.revealed)
        ]
        return RoomState(
            self.number,
            len(self.rounds),
            round,
            self.number in self.revealed,
            self.number in self.shown,
            len(self.seats),
            len(votes),
            tuple(chosen.count(answer) for answer in answers),
            votes.get(seat or ""),
            tuple((vote, right) for vote, right in answered if vote),
        )


class Rooms:
    """All rooms of a server. Any thread may call any method.

    Each method raises InputError if no open room has the code, or if the key is not the teacher's.

    Parameters
    ----------
    clock : callable
        Returns seconds that never fall.
    later : callable
        Starts a call after a number of seconds, like ``threading.Timer``.

    Examples
    --------
    >>> rooms = Rooms()
    >>> code, key = rooms.open([Round("Bins", "Do more bins raise the ECE?", ("Yes", "No"), 1, ("So.", "Not quite."))])
    >>> seat = rooms.join(code)
    >>> rooms.go(code, key, 1)
    >>> rooms.vote(code, seat, 1, Vote(2, sure=0.9))
    True
    >>> rooms.reveal(code, key)
    >>> rooms.look(code).votes, rooms.forecasts(code, key)
    ((0, 1), [(0.9, False)])
    >>> [(one.number, one.seat, one.vote.answer) for one in rooms.answers(code, key)]
    [(1, 1, 2)]
    >>> rooms.close(code, key)
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        later: Callable[..., threading.Timer] = threading.Timer,
    ) -> None:
        self._clock, self._later = clock, later
        self._rooms: dict[str, _Room] = {}
        self._lock = threading.RLock()
        self._waiting = False

    def open(self, rounds: Sequence[Round]) -> tuple[str, str]:
        """Open a room; return its code, for students, and its key, for the teacher."""
        with self._lock:
            self._close_silent()
            if len(self._rooms) >= MOST_ROOMS:
                raise InputError(
                    f"This server already has {MOST_ROOMS} open rooms: close one of yours, or try again later."
                )
            code, key = self._new_code(), secrets.token_urlsafe(16)
            self._rooms[code] = _Room(key, tuple(rounds), self._clock())
            self._watch()
            return code, key

    def join(self, code: str, seat: str | None = None) -> str:
        """Return the token that identifies a student's votes: ``seat`` if it is one, else a new one.

        A browser makes its token and sends it from all its tabs, so that they count as one student.
        """
        with self._lock:
            room = self._room(code)
            if seat is None or not SEAT.fullmatch(seat):
                seat = secrets.token_urlsafe(16)
            if seat in room.seats:
                return seat
            if len(room.seats) >= MOST_SEATS:
                raise InputError(
                    f"Room {code} is full ({counted(MOST_SEATS, 'student')}). Ask your teacher to open another room."
                )
            room.seats[seat] = len(room.seats) + 1
            room.stirred = self._clock()
            return seat

    def look(self, code: str, seat: str | None = None) -> RoomState:
        """Return the state of a room; looking does not keep it open."""
        with self._lock:
            return self._room(code).seen(seat)

    def vote(self, code: str, seat: str, number: int, vote: Vote) -> bool:
        """Answer a round, or change the answer; return whether the round still accepts this student's answers."""
        with self._lock:
            room = self._room(code)
            if seat not in room.seats or number != room.number or not room.seen(seat).asked:
                return False
            checks.in_range(vote.answer, "answer", 1, len(room.rounds[number - 1].answers), integer=True)
            if vote.sure is not None:
                checks.in_range(vote.sure, "sure", 0, 1)
            room.votes.setdefault(number, {})[seat] = vote
            room.stirred = self._clock()
            return True

    def check(self, code: str, key: str) -> None:
        """Refuse anyone but the teacher of this room."""
        with self._lock:
            self._own(code, key)

    def show(self, code: str, key: str, on: bool = True) -> None:
        """Show the votes before the reveal, or hide them."""
        with self._lock:
            room = self._own(code, key)
            (room.shown.add if on else room.shown.discard)(room.number)

    def reveal(self, code: str, key: str) -> None:
        """Show the right answer of the open round, which then accepts no more votes."""
        with self._lock:
            room = self._own(code, key)
            if room.seen(None).asked:
                room.revealed.add(room.number)

    def go(self, code: str, key: str, number: int) -> None:
        """Open a round: at 0 the class joins, the number of rounds + 1 is the end."""
        with self._lock:
            room = self._own(code, key)
            room.number = min(max(number, 0), len(room.rounds) + 1)

    def forecasts(self, code: str, key: str) -> list[tuple[float, bool]]:
        """List how sure each vote was and whether it was right, for revealed rounds, not in the order of students."""
        with self._lock:
            room = self._own(code, key)
            votes = [
                (room.rounds[i - 1].right, vote)
                for i in room.revealed
                for vote in room.votes.get(i, {}).values()
            ]
            return sorted((vote.sure, vote.answer == right) for right, vote in votes if vote.sure is not None)

    def answers(self, code: str, key: str) -> list[RoomAnswer]:
        """List all answers, by round and by the number of the seat."""
        with self._lock:
            room = self._own(code, key)
            return [
                RoomAnswer(number, room.rounds[number - 1], room.seats[seat], votes[seat])
                for number, votes in sorted(room.votes.items())
                for seat in sorted(votes, key=room.seats.__getitem__)
            ]

    def close(self, code: str, key: str) -> None:
        """Forget everything about the room."""
        with self._lock:
            self._own(code, key)
            del self._rooms[code]

    def _room(self, code: str) -> _Room:
        self._close_silent()
        if code not in self._rooms:
            named = code if len(code) <= LENGTH else f"{code[:LENGTH]}…"
            raise InputError(
                f"Room {named} is not open: it was closed, or a letter of the code is wrong. Check the four "
                "letters."
            )
        return self._rooms[code]

    def _own(self, code: str, key: str) -> _Room:
        room = self._room(code)
        if not secrets.compare_digest(room.key.encode(), key.encode()):
            raise InputError(
                f"Only the person who opened room {code} can do this. Use the browser window in which you opened the "
                "room."
            )
        room.stirred = self._clock()
        return room

    def _new_code(self) -> str:
        while True:
            code = "".join(secrets.SystemRandom().sample(CODE_LETTERS, LENGTH))
            if code not in self._rooms and not any(part in code for part in UNFIT):
                return code

    def _close_silent(self) -> None:
        now = self._clock()
        self._rooms = {code: room for code, room in self._rooms.items() if now - room.stirred < SILENCE}

    def _watch(self) -> None:
        """Check again while there are rooms, so that a silent room closes even if nobody asks for a room."""
        if not self._waiting and self._rooms:
            self._waiting = True
            timer = self._later(SILENCE / 12, self._look_again)
            timer.daemon = True
            timer.start()

    def _look_again(self) -> None:
        with self._lock:
            self._waiting = False
            self._close_silent()
            self._watch()

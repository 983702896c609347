"""A server's workers, which sessions take in turns: however much one of them asks for, the others come to theirs.

Next is who has the fewest workers, and of those who had one longest ago. Work that takes long gives its worker on
whenever others wait, at its next step, and goes on when it is its turn again. What has just begun may be short: beside
the workers as many pieces of work are tried for a moment, so that nothing short waits behind what is long.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

TURN = 2.0  # seconds of work after which others come first
TRIAL = 0.5  # seconds in which most work that is short ends
NICE = 10  # how far the system puts work behind the pages that people wait for, where it can for a thread


class Owner:
    """A session. What it asks for after it is gone never begins."""

    gone = False


class Ticket:
    """One piece of work: who asked for it, in which order, and what came of it.

    Attributes
    ----------
    beside
        Whether the owner's page can be shown without it, so that other work of this owner goes first.
    off
        Whether it is called off.
    dropped
        Whether that is because its owner was gone.
    """

    def __init__(self, owner: Owner, call: Callable[[], Any], beside: bool = False) -> None:
        self.owner, self.call, self.beside, self.number = owner, call, beside, 0
        self.future: Future = Future()
        self.off, self.dropped, self.begun, self.since = False, False, False, 0.0
        self.may_go_on = threading.Event()

    def called_off(self) -> None:
        """It is to stop at its next step."""


class Turns:
    """The workers, what they work on and what waits; ``tried`` pieces of work may be tried beside them."""

    def __init__(self, workers: int, seconds: float = TURN, tried: int = 0, trial: float = TRIAL) -> None:
        self.workers, self.seconds, self.tried, self.trial = workers, seconds, tried, trial
        self._lock = threading.RLock()
        self._waiting: list[Ticket] = []
        self._running: list[Ticket] = []
        self._on_trial: list[Ticket] = []
        self._served: WeakKeyDictionary[Owner, int] = WeakKeyDictionary()
        self._count = itertools.count(1)

    def submit(self, ticket: Ticket) -> None:
        """Have it done when it is its turn; ``ticket.future`` has the result then."""
        with self._lock:
            ticket.number = next(self._count)
            self._waiting.append(ticket)
            if ticket.owner.gone:
                self._drop(ticket)
            self._fill()

    def place(self, ticket: Ticket) -> int:
        """1 for the one that begins next, 2 for the one after; 0 where it does not wait."""
        with self._lock:
            order = self._order()
        return order.index(ticket) + 1 if ticket in order else 0

    def give_way(self, ticket: Ticket) -> None:
        """Called between steps of the work: after a while others come first, and this call lasts until it goes on."""
        with self._lock:
            on = next((those for those in (self._running, self._on_trial) if ticket in those), None)
            turn = self.trial if on is self._on_trial else self.seconds
            if on is None or ticket.off or time.monotonic() - ticket.since < turn:
                return
            on.remove(ticket)
            ticket.may_go_on.clear()
            self._waiting.append(ticket)
            self._fill()
        ticket.may_go_on.wait()
        _after_the_pages()

    def cancel(self, ticket: Ticket) -> None:
        """What has not begun never will; what has wakes up, and ends at its next step."""
        with self._lock:
            ticket.off = True
            ticket.future.cancel()
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            ticket.may_go_on.set()

    def end(self, owner: Owner) -> None:
        """The session is gone: so is all that it asked for."""
        with self._lock:
            owner.gone = True
            for ticket in (*self._waiting, *self._running, *self._on_trial):
                if ticket.owner is owner:
                    self._drop(ticket)

    def _drop(self, ticket: Ticket) -> None:
        ticket.dropped = True
        ticket.called_off()
        self.cancel(ticket)

    def _order(self) -> list[Ticket]:
        """Return the waiting tickets in the order in which they would begin if nothing ended meanwhile."""
        running = Counter(ticket.owner for ticket in (*self._running, *self._on_trial))
        served, waiting, order = dict(self._served), list(self._waiting), list[Ticket]()
        while waiting:
            first = min(waiting, key=lambda t: (running[t.owner], served.get(t.owner, 0), t.beside, t.number))
            waiting.remove(first)
            order.append(first)
            running[first.owner] += 1
            served[first.owner] = next(self._count)
        return order

    def _fill(self) -> None:
        """Give the free workers to those who are next, and try those who are new."""
        for ticket in self._order()[: max(0, self.workers - len(self._running))]:
            self._let(ticket, self._running)
        new = [ticket for ticket in self._order() if not ticket.begun]
        for ticket in new[: max(0, self.tried - len(self._on_trial))]:
            self._let(ticket, self._on_trial)

    def _let(self, ticket: Ticket, on: list[Ticket]) -> None:
        """Let it begin, or go on."""
        self._waiting.remove(ticket)
        on.append(ticket)
        self._served[ticket.owner], ticket.since = next(self._count), time.monotonic()
        if ticket.begun:
            ticket.may_go_on.set()
        else:
            ticket.begun = True
            call = partial(self._work, ticket, behind=on is self._running)
            threading.Thread(target=call, name="work", daemon=True).start()

    def _work(self, ticket: Ticket, behind: bool) -> None:
        if behind:
            _after_the_pages()
        try:
            if ticket.future.set_running_or_notify_cancel():
                ticket.future.set_result(ticket.call())
        except BaseException as error:  # whatever ends the work, whoever waits for it hears of it
            ticket.future.set_exception(error)
        finally:
            with self._lock:
                for those in (self._running, self._on_trial):
                    if ticket in those:
                        those.remove(ticket)
                self._fill()


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2


def _after_the_pages() -> None:
    """Put this thread behind those of the pages: a slider is answered while others' models are fitted."""
    if sys.platform == "linux":  # elsewhere it would be the whole process
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)

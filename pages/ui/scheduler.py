"""Workers of a server, which sessions take in turns, so that no session's requests block the others.

The next session is the one with the fewest workers; among equals, the one served longest ago. Long work gives up its
worker between two steps if others wait, and continues when it is its turn again. New work may be short: beside the
workers, a few jobs are tried for a moment, so that nothing short waits behind something long.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

TIME_SLICE = 2.0  # seconds of work after which waiting work goes first
TRIAL = 0.5  # seconds in which most short work ends


class Owner:
    """Session that requests work. After it is gone, its waiting work never begins; ``closed`` marks its last close."""

    gone = False
    closed: object = None


class WorkItem:
    """Request for work: its owner, its place in the order, and its result.

    Attributes
    ----------
    beside
        Whether the owner's page can be shown without it, so that the owner's other work goes first.
    off
        Whether it is cancelled.
    dropped
        Whether it is cancelled because its owner is gone.
    same
        Key of work that several sessions request alike; it begins once the one that has begun is over, whose result
        it can then use. None for work of one session.
    """

    def __init__(
        self, owner: Owner, call: Callable[[], Any], beside: bool = False, same: Hashable = None
    ) -> None:
        self.owner, self.call, self.beside, self.same, self.number = owner, call, beside, same, 0
        self.future: Future = Future()
        self.off, self.dropped, self.begun, self.since = False, False, False, 0.0
        self.may_go_on = threading.Event()

    def request_stop(self) -> None:
        """Ask the work to stop at its next step."""


class Scheduler:
    """Workers with their running and waiting work; ``tried`` further jobs may run on trial."""

    def __init__(
        self, workers: int, seconds: float = TIME_SLICE, tried: int = 0, trial: float = TRIAL
    ) -> None:
        self.workers, self.seconds, self.tried, self.trial = workers, seconds, tried, trial
        self._lock = threading.RLock()
        self._waiting: list[WorkItem] = []
        self._running: list[WorkItem] = []
        self._on_trial: list[WorkItem] = []
        self._served: WeakKeyDictionary[Owner, int] = WeakKeyDictionary()
        self._count = itertools.count(1)

    def submit(self, item: WorkItem) -> None:
        """Queue the work; its result will be in ``item.future``."""
        with self._lock:
            item.number = next(self._count)
            self._waiting.append(item)
            if item.owner.gone:
                self._drop(item)
            self._fill()

    def place(self, item: WorkItem) -> int:
        """Return the place in the queue: 1 for the next one to begin; 0 if it does not wait."""
        with self._lock:
            order = self._order()
        return order.index(item) + 1 if item in order else 0

    def give_way(self, item: WorkItem) -> None:
        """Let others go first after a while; called between steps, it returns when the work may continue."""
        with self._lock:
            on = next((those for those in (self._running, self._on_trial) if item in those), None)
            allowed = self.trial if on is self._on_trial else self.seconds
            if on is None or item.off or time.monotonic() - item.since < allowed:
                return
            on.remove(item)
            item.may_go_on.clear()
            self._waiting.append(item)
            self._fill()
        item.may_go_on.wait()

    def cancel(self, item: WorkItem) -> None:
        """Cancel work: if it has not begun it never will, else it wakes up and ends at its next step."""
        with self._lock:
            item.off = True
            item.future.cancel()
            if item in self._waiting:
                self._waiting.remove(item)
            item.may_go_on.set()

    def end(self, owner: Owner) -> None:
        """Cancel all work of a session that is gone."""
        with self._lock:
            owner.gone = True
            for item in (*self._waiting, *self._running, *self._on_trial):
                if item.owner is owner:
                    self._drop(item)

    def _drop(self, item: WorkItem) -> None:
        item.dropped = True
        item.request_stop()
        self.cancel(item)

    def _order(self) -> list[WorkItem]:
        """Return the waiting items in the order in which they would begin if nothing ended meanwhile."""
        running = Counter(item.owner for item in (*self._running, *self._on_trial))
        served, waiting, order = dict(self._served), list(self._waiting), list[WorkItem]()
        while waiting:
            first = min(waiting, key=lambda t: (running[t.owner], served.get(t.owner, 0), t.beside, t.number))
            waiting.remove(first)
            order.append(first)
            running[first.owner] += 1
            served[first.owner] = next(self._count)
        return order

    def _fill(self) -> None:
        """Give the free workers to the next items, and try new ones."""
        while len(self._running) < self.workers and (ready := self._ready()):
            self._let(ready[0], self._running)
        while len(self._on_trial) < self.tried and (new := [one for one in self._ready() if not one.begun]):
            self._let(new[0], self._on_trial)

    def _ready(self) -> list[WorkItem]:
        """Return the waiting items that may begin or continue now, in their order."""
        return [item for item in self._order() if not self.is_held_back(item)]

    def is_held_back(self, item: WorkItem) -> bool:
        """Tell whether the item waits for the result of the same work, which has begun for another session."""
        if item.begun or item.same is None:
            return False
        with self._lock:
            others = (*self._running, *self._on_trial, *self._waiting)
        return any(other.begun and other.same == item.same for other in others)

    def _let(self, item: WorkItem, on: list[WorkItem]) -> None:
        """Let an item begin or continue."""
        self._waiting.remove(item)
        on.append(item)
        self._served[item.owner], item.since = next(self._count), time.monotonic()
        if item.begun:
            item.may_go_on.set()
        else:
            item.begun = True
            threading.Thread(target=partial(self._work, item), name="work", daemon=True).start()

    def _work(self, item: WorkItem) -> None:
        # At no lower priority than the pages: while it holds Python's lock and gets no processor, all of them wait
        try:
            if item.future.set_running_or_notify_cancel():
                item.future.set_result(item.call())
        except BaseException as error:  # whatever ends the work is passed on to whoever waits for it
            item.future.set_exception(error)
        finally:
            item.call = _over
            with self._lock:
                for those in (self._running, self._on_trial):
                    if item in those:
                        those.remove(item)
                self._fill()


def _over() -> None:
    """Stand in for the call of work that has ended, which would keep its tables in memory as long as its result."""


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2

"""Let pages run one after the other: at once, they would wait for Python's interpreter at every message they send.

A page takes about 0.15 seconds, but one of five at once took a second and more (docs/load.md). At first, fits leave two
processors to a page and to what sends it; then one, if the page takes long, so that fits always go on. No priority does
this: beside other busy programs, fits of a lower priority would hardly go on.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from calib.data.confined import apart
from pages.ui.scheduler import processors

FIRST = 0.4  # seconds of a turn in which fits leave two processors, on a machine with two of them all
LONGEST_TURN = 1.0  # seconds after which the next page runs beside one that takes long
_OF_THREAD = threading.local()


class _Queue:
    """Pages that wait for their turn, first come, first served."""

    def __init__(self) -> None:
        self.changed, self.waiting = threading.Condition(), deque[object]()
        self.holder, self.ends = object(), 0.0  # who has the turn, and until when at most
        self.first: threading.Timer  # ends the part of the holder's turn in which fits leave two processors

    def take(self, page: object) -> None:
        """Wait for the turn."""
        with self.changed:
            self.waiting.append(page)
            while (others := self.waiting[0] is not page) or time.monotonic() < self.ends:
                self.changed.wait(None if others else self.ends - time.monotonic())
            self.waiting.popleft()
            self.holder, self.ends = page, time.monotonic() + LONGEST_TURN
            apart.limit(max(processors() - 2, 0))
            self.first = threading.Timer(FIRST, self.take_less, [page])
            self.first.daemon = True
            self.first.start()
            self.changed.notify_all()

    def take_less(self, page: object) -> None:
        """Leave fits a processor more, if this page still has the turn."""
        with self.changed:
            if self.holder is page and self.ends:
                apart.limit(max(processors() - 1, 1))

    def give_up(self, page: object) -> None:
        """End the turn of this page, unless another page has it meanwhile."""
        with self.changed:
            if self.holder is page:
                self.ends = 0.0
                self.first.cancel()
                apart.limit()
                self.changed.notify_all()


_QUEUE = _Queue()


@contextmanager
def turn() -> Iterator[None]:
    """Run the block when no other page runs, or after those before it have had their time."""
    page = _OF_THREAD.page = object()
    _QUEUE.take(page)
    try:
        yield
    finally:
        _OF_THREAD.page = None
        _QUEUE.give_up(page)


@contextmanager
def given_up() -> Iterator[None]:
    """Let other pages run during the block, which waits."""
    page = getattr(_OF_THREAD, "page", None)
    if page is None:
        yield
        return
    _QUEUE.give_up(page)
    try:
        yield
    finally:
        _QUEUE.take(page)

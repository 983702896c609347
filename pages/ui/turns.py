"""Let pages run one after the other: at once, they would wait for Python's interpreter at every message they send.

A page takes about 0.15 seconds, but one of five at once took a second and more (docs/load.md). Meanwhile fits leave it
a processor. No priority does this: beside other busy programs, fits of a lower priority would hardly go on.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from calib.data.confined import apart
from pages.ui.scheduler import processors

LONGEST_TURN = 1.0  # seconds after which a page runs beside those that take long
_ONE_PAGE = threading.Semaphore()
_OF_THREAD = threading.local()


@contextmanager
def turn() -> Iterator[None]:
    """Run the block when no other page runs, or after a while."""
    _take()
    try:
        yield
    finally:
        _give_up()


@contextmanager
def given_up() -> Iterator[None]:
    """Let other pages run during the block, which waits."""
    held = _give_up()
    try:
        yield
    finally:
        if held:
            _take()


def _take() -> None:
    _OF_THREAD.held = _ONE_PAGE.acquire(timeout=LONGEST_TURN)
    if _OF_THREAD.held:
        apart.limit(max(processors() - 1, 1))


def _give_up() -> bool:
    held = getattr(_OF_THREAD, "held", False)
    _OF_THREAD.held = False
    if held:
        apart.limit()
        _ONE_PAGE.release()
    return held

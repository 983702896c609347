"""Let pages run one after the other: at once, they would wait for Python's interpreter at every message they send.

A page takes about 0.15 seconds, but one of five at once took a second and more (docs/load.md).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_TURN = 1.0  # seconds after which a page runs beside those that take long
_ONE_PAGE = threading.Semaphore()
_OF_THREAD = threading.local()


@contextmanager
def turn() -> Iterator[None]:
    """Run the block when no other page runs, or after a while."""
    _OF_THREAD.held = _ONE_PAGE.acquire(timeout=LONGEST_TURN)
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
            _OF_THREAD.held = _ONE_PAGE.acquire(timeout=LONGEST_TURN)


def _give_up() -> bool:
    held = getattr(_OF_THREAD, "held", False)
    _OF_THREAD.held = False
    if held:
        _ONE_PAGE.release()
    return held

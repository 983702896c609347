"""Waiting for a state: looked for until it is there. A limit is an end, not a budget: machines are slow and busy."""

import time
from collections.abc import Callable

LIMIT = 300  # seconds


def until(there: Callable[[], object], what: str) -> None:
    """Check ever more rarely whether ``there()`` is true; fail with ``what`` after ``LIMIT`` seconds."""
    begin, pause = time.monotonic(), 0.02
    while not there():
        assert time.monotonic() < begin + LIMIT, f"{what}: not within {LIMIT} s"
        time.sleep(pause)
        pause = min(1.25 * pause, 2)

"""Waiting for a state: looked for until it is there. A limit is an end, not a budget: machines are slow and busy."""

import time
from collections.abc import Callable

LIMIT = 300  # seconds


def until(there: Callable[[], object], what: str, every: float = 0.05) -> None:
    """Look every so many seconds whether ``there()`` is true; fail, naming ``what``, where it never is."""
    end = time.monotonic() + LIMIT
    while not there():
        assert time.monotonic() < end, f"{what}: not within {LIMIT} s"
        time.sleep(every)

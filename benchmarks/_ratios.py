"""Print numbers beside their bounds, and record whether all bounds of a run hold."""

import time
from collections.abc import Callable


class Verdicts:
    """Writer of numbers with their bounds; ``status`` is 0 while no bound is broken, then 1."""

    def __init__(self) -> None:
        self.status = 0

    def __call__(self, ratio: float, bound: float | None, *, at_least: bool = False) -> str:
        """Return the number with its bound, if there is one, and BROKEN if the bound does not hold."""
        if bound is None:
            return f"{ratio:9.2f}"
        kept = ratio >= bound if at_least else ratio <= bound
        self.status |= not kept
        return f"{ratio:9.2f} ({'≥' if at_least else '≤'} {bound:g}{'' if kept else ' BROKEN'})"


def elapsed(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds that the work takes: those that pass, or with ``time.process_time`` those of the processor."""
    begin = clock()
    work()
    return clock() - begin

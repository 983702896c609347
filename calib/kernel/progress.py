"""Report progress and cancel long work: one object is passed to every long loop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field


class Cancelled(Exception):
    """Exception that ends long work after its cancel event was set; it is not an error."""


@dataclass(frozen=True)
class Watch:
    """Progress callback ``report(share done in [0, 1], what)`` and cancel event, both optional.

    >>> seen = []
    >>> watch = Watch(report=lambda share, what: seen.append((share, what)))
    >>> for i in watch.loop(range(2), "trees"):
    ...     pass
    >>> seen
    [(0.0, 'trees'), (0.5, 'trees'), (1.0, 'trees')]
    """

    report: Callable[[float, str], None] | None = None
    cancel: threading.Event = field(default_factory=threading.Event)

    def step(self, share: float, what: str) -> None:
        """Raise Cancelled if cancelled, else report."""
        if self.cancel.is_set():
            raise Cancelled(what)
        if self.report is not None:
            self.report(share, what)

    def loop(self, items, what: str):
        """Iterate over a sized collection, stepping before each item and once after the last."""
        total = len(items)
        for i, item in enumerate(items):
            self.step(i / total, what)
            yield item
        self.step(1.0, what)

    def within(self, start: float, stop: float) -> Watch:
        """Return a watch that maps its progress to the share [start, stop] of this one, with the same cancel event."""
        report = self.report
        if report is None:
            return Watch(None, self.cancel)
        return Watch(lambda share, what: report(start + share * (stop - start), what), self.cancel)


@contextmanager
def interrupted(stop: Callable[[], object], ends: Callable[[], bool]) -> Iterator[None]:
    """Call ``stop`` from another thread, until the block ends, as soon as ``ends()`` is true."""
    ended = threading.Event()

    def wait() -> None:
        while not ended.wait(0.05):
            if ends():
                with suppress(Exception):  # the block may have ended just now
                    stop()

    guard = threading.Thread(target=wait, daemon=True)
    guard.start()
    try:
        yield
    finally:
        ended.set()
        guard.join()

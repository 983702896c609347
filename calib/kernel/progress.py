"""Long work reports progress and can be cancelled: one object, passed to every loop that may take long."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field


class Cancelled(Exception):
    """Raised inside long work after its cancel event was set. Not an error: nobody asked for the result any more."""


@dataclass(frozen=True)
class Watch:
    """A progress callback ``report(share done in [0, 1], what)`` and a cancel event, both optional.

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
        """A watch whose whole is the share [start, stop] of this one; the same cancel event."""
        report = self.report
        if report is None:
            return Watch(None, self.cancel)
        return Watch(lambda share, what: report(start + share * (stop - start), what), self.cancel)

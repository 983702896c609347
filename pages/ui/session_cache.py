"""Caches of computed results, limited in number and in bytes; evicted results are computed again.

Each session has its own caches; the least recently used result is evicted first, whichever cache it is in. Results
that all sessions can use (a figure of a sample, a forest of a lesson) are kept once for all.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, MutableMapping
from contextlib import suppress
from functools import partial
from typing import Any
from weakref import WeakSet

import streamlit as st
from cachetools import LRUCache, cached

from calib.kernel.cache import cached_result
from calib.kernel.memory import buffers_of, size, total

# The bounds, in bytes. Results of the open page are kept in any case, or every run would compute them again.
OF_SESSION = 400_000_000  # results of one session
OF_ALL_SESSIONS = 2_000_000_000  # if more sessions are open than fit, each has an equal share
OF_UPLOADS = 600_000_000  # files that one session uploaded; the server cannot restore them
FOR_ALL = 64_000_000  # each of the caches that all sessions share
SECONDS_WITHOUT_RUN = 60.0  # seconds without a run after which the limits apply to a session


class SessionCache:
    """Results that a session has computed, by the name of a cache and a key."""

    def __init__(self) -> None:
        self._things: OrderedDict[tuple[str, Hashable], Any] = OrderedDict()  # least recently used first
        self._used: set[tuple[str, Hashable]] = set()  # in the current run, or in the last one
        self._counted: dict[tuple[str, Hashable], dict[int, int]] = {}
        self._most: dict[str, int] = {}  # of each cache: the largest number requested
        self._alone = threading.Lock()
        self.entered = time.monotonic()

    def cache(self, name: str, most: int) -> Cache:
        self._most[name] = max(most, self._most.get(name, 0))
        return Cache(self, name, self._most[name])

    def things(self) -> list[Any]:
        """Return all results of all caches."""
        return list(self._things.values())

    @property
    def bytes(self) -> int:
        things = dict(self._things)
        counted = {place: self._count(place, thing) for place, thing in things.items()}
        self._counted.clear()
        self._counted.update(counted)
        return total(counted.values())

    def _count(self, place: tuple[str, Hashable], thing: Any) -> dict[int, int]:
        """Return the memory of a result, measured once unless it is still growing."""
        grows = isinstance(thing, dict) or getattr(thing, "made", thing) is None
        return _memory_of(thing) if grows or place not in self._counted else self._counted[place]

    def enter(self, bound: int) -> None:
        """Begin a run: evict results that the last run did not use until they fit into the limit."""
        self.entered = time.monotonic()
        self.trim(bound)
        self._used.clear()

    def trim(self, bound: int) -> None:
        """Evict the least recently used results, except those of the last run, until the rest fits into the limit."""
        with self._alone:
            for place in [place for place in list(self._things) if place not in self._used]:
                if self.bytes <= bound:
                    return
                self._things.pop(place, None)


class Cache(MutableMapping):
    """One cache of a session: the last ``most`` results."""

    def __init__(self, kept: SessionCache, name: str, most: int) -> None:
        self._things, self._used, self._counted = kept._things, kept._used, kept._counted
        self.name, self.most = name, most

    def __getitem__(self, key: Hashable) -> Any:
        found = self._things[self.name, key]
        self._things.move_to_end((self.name, key))
        self._used.add((self.name, key))
        return found

    def __setitem__(self, key: Hashable, thing: Any) -> None:
        self._things[self.name, key] = thing
        self._counted.pop((self.name, key), None)
        self[key]
        for oldest in list(self)[: -self.most]:
            del self[oldest]

    def __delitem__(self, key: Hashable) -> None:
        del self._things[self.name, key]
        self._used.discard((self.name, key))

    def __contains__(self, key: object) -> bool:
        return (self.name, key) in self._things

    def __iter__(self) -> Iterator[Hashable]:
        return iter([key for name, key in list(self._things) if name == self.name])

    def __len__(self) -> int:
        return len(list(iter(self)))


def _memory_of(thing: Any) -> dict[int, int]:
    """Return the memory that a result holds; a record is measured once, a growing collection part by part."""
    if isinstance(thing, dict | list | tuple):
        parts: dict[int, int] = {}
        for part in list(thing.values() if isinstance(thing, dict) else thing):
            parts |= _memory_of(part)
        return parts
    thing = getattr(thing, "made", thing)  # the result of a job
    try:
        return cached_result(thing, _memory_of, partial(buffers_of, thing))
    except TypeError:  # no weak reference possible, so nothing large except an array or a table
        return buffers_of(thing)


def session() -> SessionCache:
    """Return the cache of this session."""
    if "kept" not in st.session_state:
        st.session_state["kept"] = SessionCache()
        _sessions().add(st.session_state["kept"])
    return st.session_state["kept"]


def cache(name: str, most: int) -> Cache:
    """Return the session's cache of this name, which holds at least the last ``most`` results."""
    return session().cache(name, most)


@st.cache_resource
def _sessions() -> WeakSet[SessionCache]:
    return WeakSet()


def enter() -> None:
    """Begin a run of this session: apply the limits to it, and to sessions that have been idle for a while."""
    mine, others = session(), list(_sessions())
    bound = min(OF_SESSION, OF_ALL_SESSIONS // max(1, len(others)))
    mine.enter(bound)
    for other in others:
        if time.monotonic() - other.entered > SECONDS_WITHOUT_RUN:
            other.trim(bound)


def forget_without_sessions() -> None:
    """Forget the results that sessions share, if none is left: forests of many visitors hold much memory."""
    if not _sessions():
        shared.clear()


def latest(things: dict[Any, Any], most: int) -> None:
    """Remove the oldest entries until at most ``most`` are left."""
    for oldest in list(things)[:-most]:
        del things[oldest]


def within(things: dict[Any, Any], bound: int, needed: set) -> None:
    """Remove the oldest entries, except the needed ones, until the rest fits into the limit."""
    for key in [key for key in things if key not in needed]:
        if total(map(_memory_of, things.values())) <= bound:
            return
        del things[key]


@st.cache_resource(show_spinner=False)
def shared() -> Shared:
    """Return the results of jobs that serve all sessions."""
    return Shared()


class Shared:
    """Results of one session that serve the others: the latest, limited in bytes."""

    def __init__(self) -> None:
        self._things: LRUCache = LRUCache(FOR_ALL, getsizeof=lambda sized: sized[1])
        self._alone = threading.Lock()

    def get(self, key: Hashable) -> Any | None:
        with self._alone:
            return self._things.get(key, (None, 0))[0]

    def keep(self, key: Hashable, thing: Any) -> None:
        sized = thing, size(thing)
        with self._alone, suppress(ValueError):  # too large to be kept
            self._things[key] = sized

    def __len__(self) -> int:
        return len(self._things)


def for_all(call: Callable[..., Any] | None = None, key: Callable[..., Hashable] | None = None) -> Any:
    """Decorate a function to remember its latest results for all sessions, limited in bytes."""
    if call is None:
        return partial(for_all, key=key)
    named = {} if key is None else {"key": key}
    return cached(LRUCache(FOR_ALL, getsizeof=size), lock=threading.Lock(), **named)(call)

"""Change what the server does and has no setting for (SECURITY.md), and ask it for what it tells nobody.

A logged error quotes its message, which may quote a cell of the data. If a page of another origin connects, Streamlit
asks an Amazon server for its own address. It keeps the sessions of closed tabs, with all their data, until another tab
is closed much later. It collects garbage after every run, or never. ``upload_memory`` changes how it receives uploads.

The command that starts the server imports this module, so it imports nothing that takes long: the libraries load while
the browser does.

``tests/pages/test_streamlit_internals.py`` has the reason for each private name that this module or the stylesheets and
scripts use, and fails if the name is gone or no longer needed.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import os
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import streamlit as st
from streamlit import net_util, runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

VERSIONS_TRIED = {"streamlit": "1.67", "starlette": "1.10"}  # versions that all this was tried with
LOGGER = "calibration_explorer"
LOGGERS = (LOGGER, "streamlit.error_util")  # of failed jobs, and of errors in a page's script


class _WithoutMessages(logging.Filter):
    """Keep the kind and place of an error, not its message, which may quote data."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and (error := record.exc_info[1]):
            record.exc_info, record.exc_text = None, "".join(_places(error))
        return True


WITHOUT_MESSAGES = _WithoutMessages()


def _places(error: BaseException) -> list[str]:
    """Return the origin of an error and of its causes, in the order of a traceback."""
    before = error.__cause__ or error.__context__
    lines = [*_places(before), "\nThen:\n\n"] if before else []
    return [*lines, *traceback.format_tb(error.__traceback__), f"{type(error).__name__}\n"]


def protect_data() -> None:
    """Keep data out of the log, and the server from asking outside."""
    net_util.get_external_ip = lambda: None
    for name in LOGGERS:
        logging.getLogger(name).addFilter(WITHOUT_MESSAGES)  # adding it again has no effect


M_ARENA_MAX, ARENAS = -8, 2  # glibc's number of this setting, and the value


@cache
def limit_arenas() -> None:
    """Let threads share a few of the C library's pools of memory (mallopt, as MALLOC_ARENA_MAX does).

    Each piece of work has a thread of its own. With a pool for each of them, most of the memory of finished work stayed
    in pools that a few small objects kept open. If MALLOC_ARENA_MAX is set, it decides.
    """
    if sys.platform != "linux" or "MALLOC_ARENA_MAX" in os.environ:
        return
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):  # musl has none
        mallopt(M_ARENA_MAX, ARENAS)


SECONDS_BETWEEN_BUNDLES = 0.01


class _Bundle:
    """Messages of a session's page to the server's loop, which takes them together."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop, self.awake = loop, False
        self.waiting: deque[Callable[[], None]] = deque()

    def take(self) -> None:
        """Take what waits, and look again after a moment, until nothing waits."""
        if self.waiting:
            while self.waiting:
                self.loop.call_soon(self.waiting.popleft())
            self.loop.call_later(SECONDS_BETWEEN_BUNDLES, self.take)
            return
        self.awake = False
        if self.waiting:  # since it was asked above
            self.awake = True
            self.loop.call_soon(self.take)


_BUNDLES: WeakKeyDictionary[AppSession, _Bundle] = WeakKeyDictionary()


@cache
def bundle_messages() -> None:
    """Let page scripts wake the server's loop once for many messages; calling it again has no effect.

    A page sends about 150 messages. Each woke the loop, whose thread then took Python's interpreter from the page.
    """
    wake = AppSession._call_soon_on_event_loop

    def add(session: AppSession, message: Callable[[], None]) -> None:
        if session not in _BUNDLES:
            _BUNDLES[session] = _Bundle(session._event_loop)
        bundle = _BUNDLES[session]
        bundle.waiting.append(message)
        if not bundle.awake:
            bundle.awake = True
            wake(session, bundle.take)

    AppSession._call_soon_on_event_loop = add  # type: ignore[method-assign]


def begin_with_app() -> None:
    """Let the first session, too, begin with app.py, which knows the addresses of former pages.

    Because there is a folder called pages, Streamlit looks for an address among its scripts until app.py has run once.
    """
    PagesManager.uses_pages_directory = False


SEARCH_EVERY = 10.0  # seconds


class _Searches:
    """Time of the last garbage collection, and whether the server's loop will collect by itself."""

    def __init__(self) -> None:
        self.last, self.planned = time.monotonic(), False


@st.cache_resource(show_spinner=False)
def _searches() -> _Searches:
    """Return the server's one record of garbage collections."""
    return _Searches()


def search_for_garbage() -> None:
    """Collect garbage at most every ``SEARCH_EVERY`` seconds; Python also collects after many allocations.

    Streamlit would collect after every run of a page or a fragment: with twenty clients that was most of the
    processor's time.
    """
    searches = _searches()
    if time.monotonic() > searches.last + SEARCH_EVERY:
        searches.last = time.monotonic()
        gc.collect()


def lost_its_session() -> bool:
    """Tell whether a browser with a drawn page has a new session, because the server was restarted or forgot it.

    The browser then sends the values of widgets that this session does not know. A Streamlit version that keeps them
    elsewhere does not tell.
    """
    context: Any = get_script_run_ctx()
    with suppress(AttributeError):
        return bool(context.session_state._state._new_widget_state.states)
    return False


def session_id() -> str:
    """Return the server's name of the running session."""
    context: Any = get_script_run_ctx()
    return context.session_id


def forget_when_closed(session_id: str, stayed_closed: Callable[[], bool]) -> None:
    """Delete the session of a closed tab, with its data, once the tab can no longer come back."""
    if not runtime.exists():
        return
    session = runtime.get_instance().get_app_session(session_id)
    wait = st.get_option("server.disconnectedSessionTTL") + 1
    if session is not None:
        with suppress(RuntimeError):  # the server itself is ending
            asyncio.get_running_loop().call_later(wait, _forget, session, stayed_closed)


def _forget(session: Any, stayed_closed: Callable[[], bool]) -> None:
    """Delete a session and empty it, because modules hold the first session, and Streamlit's loop the last one."""
    if runtime.get_instance().is_active_session(session.id) or not stayed_closed():
        return
    session.shutdown()
    session.session_state.clear()
    with suppress(AttributeError):
        session.session_state._new_widget_state.widget_metadata.clear()  # it references the callbacks' objects
        session._fragment_storage.clear()
    if not _searches().planned:
        _searches().planned = True
        asyncio.get_running_loop().call_later(SEARCH_EVERY, _search_once)


def _search_once() -> None:
    """Collect what forgotten sessions have left: once for all that were closed together, because all wait for it.

    A course that ends closes a hundred tabs: a search for each kept the others waiting for seconds.
    """
    from calib.kernel.memory import release_memory
    from pages.ui import session_cache

    _searches().planned = False
    session_cache.forget_without_sessions()
    search_for_garbage()
    release_memory()

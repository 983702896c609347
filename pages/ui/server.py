"""Change four behaviours of the server that have no setting (SECURITY.md).

Starlette writes uploads above one megabyte to disk. A logged error quotes its message, which may quote a cell of the
data. If a page of another origin connects, Streamlit asks an Amazon server for its own address. It also keeps the
sessions of closed tabs, with all their data, until another tab is closed much later.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import time
import traceback
from contextlib import suppress
from typing import Any

import streamlit as st
from starlette.formparsers import MultiPartParser
from streamlit import config, net_util, runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from calib.kernel.memory import release_memory

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
    """Keep uploads in memory, data out of the log, and the server from asking outside."""
    MultiPartParser.spool_max_size = sys.maxsize  # bytes; server.maxUploadSize ends an upload before
    net_util.get_external_ip = lambda: None
    for name in LOGGERS:
        logging.getLogger(name).addFilter(WITHOUT_MESSAGES)  # adding it again has no effect


SEARCH_EVERY = 10.0  # seconds


class _Searches:
    """Time of the last garbage collection."""

    def __init__(self) -> None:
        self.last = time.monotonic()


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

    The browser then sends the values of widgets that this session does not know.
    """
    context: Any = get_script_run_ctx()
    return context is not None and bool(context.session_state._state._new_widget_state.states)


def session_id() -> str:
    """Return the server's name of the running session."""
    context: Any = get_script_run_ctx()
    return context.session_id


def forget_older(key: str) -> None:
    """Forget the callbacks of earlier pictures of a chart, because only the latest is on the page.

    Streamlit names each widget by its content, and keeps all callbacks as long as the session lasts. A Streamlit
    version that keeps them elsewhere is left alone.
    """
    context: Any = get_script_run_ctx()
    with suppress(AttributeError):
        state = context.session_state._state
        known, latest = state._new_widget_state.widget_metadata, state._key_id_mapper.get_id_from_key(key)
        for name in [name for name in known if name.endswith(f"-{key}") and name != latest]:
            del known[name]


def forget_when_closed(session_id: str) -> None:
    """Delete the session of a closed tab, with its data, once the tab can no longer come back."""
    if not runtime.exists():
        return
    manager: Any = runtime.get_instance()._session_mgr
    closed = manager.get_active_session_info(session_id)
    wait = config.get_option("server.disconnectedSessionTTL") + 1
    if closed is not None:
        with suppress(RuntimeError):  # the server itself is ending
            asyncio.get_running_loop().call_later(wait, _forget, manager, closed.session)


def _forget(manager: Any, session: Any) -> None:
    """Delete a session and empty it, because modules hold the first session, and Streamlit's loop the last one."""
    manager._session_storage._cache.expire()
    if session.id in {info.session.id for info in manager.list_sessions()}:  # it came back
        return
    session.shutdown()
    session.session_state.clear()
    with suppress(AttributeError):
        session.session_state._new_widget_state.widget_metadata.clear()  # it references the callbacks' objects
    session._fragment_storage.clear()
    gc.collect()
    release_memory()

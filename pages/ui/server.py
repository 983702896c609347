"""What the server under the pages would do by itself, and here does not (SECURITY.md).

Starlette puts uploads above a megabyte on disk; a logged error quotes its message, and that may quote a cell;
asked by a page of another origin, Streamlit asks a server of Amazon for its own address; and it keeps the sessions of
closed tabs, with all that they hold, until another tab is closed long after. None of the four has a setting.
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

from calib.kernel.memory import give_back

OURS = "calibration_explorer"
LOGGERS = (OURS, "streamlit.error_util")  # of failed jobs, and of what a page's script raised


class _WithoutMessages(logging.Filter):
    """Keep the kind and place of an error, not its message, which may quote data."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.exc_info and (error := record.exc_info[1]):
            record.exc_info, record.exc_text = None, "".join(_places(error))
        return True


WITHOUT_MESSAGES = _WithoutMessages()


def _places(error: BaseException) -> list[str]:
    """Where an error came from and what caused it, in the order of a traceback."""
    before = error.__cause__ or error.__context__
    lines = [*_places(before), "\nThen:\n\n"] if before else []
    return [*lines, *traceback.format_tb(error.__traceback__), f"{type(error).__name__}\n"]


def keep_in() -> None:
    """Keep uploads in memory, data out of the log, and the server from asking outside."""
    MultiPartParser.spool_max_size = sys.maxsize  # bytes; server.maxUploadSize ends an upload before
    net_util.get_external_ip = lambda: None
    for name in LOGGERS:
        logging.getLogger(name).addFilter(WITHOUT_MESSAGES)  # the same one is added once


SEARCH_EVERY = 10.0  # seconds


class _Searches:
    """When garbage was last searched for."""

    def __init__(self) -> None:
        self.last = time.monotonic()


@st.cache_resource(show_spinner=False)
def _searches() -> _Searches:
    """Once for the server."""
    return _Searches()


def search_for_garbage() -> None:
    """Now and then; Python by itself searches when much has been made.

    Streamlit would search after every run of a page or a fragment: with twenty clients that was most of the
    processor's time.
    """
    searches = _searches()
    if time.monotonic() > searches.last + SEARCH_EVERY:
        searches.last = time.monotonic()
        gc.collect()


def lost_its_session() -> bool:
    """Whether a browser that had drawn a page already comes as a new one: the server was started again, or forgot it.

    It tells then what its widgets stood at, of which this session knows none.
    """
    context: Any = get_script_run_ctx()
    return context is not None and bool(context.session_state._state._new_widget_state.states)


def session_id() -> str:
    """Return the server's name of the running session."""
    context: Any = get_script_run_ctx()
    return context.session_id


def forget_older(key: str) -> None:
    """Forget what clicks on earlier pictures of a chart would need; only the latest is on the page.

    Streamlit names each by what it shows, and keeps the callbacks of all as long as the session lasts. One that keeps
    them in another place is left alone.
    """
    context: Any = get_script_run_ctx()
    with suppress(AttributeError):
        state = context.session_state._state
        known, latest = state._new_widget_state.widget_metadata, state._key_id_mapper.get_id_from_key(key)
        for name in [name for name in known if name.endswith(f"-{key}") and name != latest]:
            del known[name]


def forget_when_closed(session_id: str) -> None:
    """A tab was closed: forget its session as soon as it is sure not to come back, and what it held."""
    if not runtime.exists():
        return
    manager: Any = runtime.get_instance()._session_mgr
    closed = manager.get_active_session_info(session_id)
    wait = config.get_option("server.disconnectedSessionTTL") + 1
    if closed is not None:
        with suppress(RuntimeError):  # the server itself is ending
            asyncio.get_running_loop().call_later(wait, _forget, manager, closed.session)


def _forget(manager: Any, session: Any) -> None:
    """Empty it too: the first session was there when all was loaded, and Streamlit's loop keeps hold of the last."""
    manager._session_storage._cache.expire()
    if session.id in {info.session.id for info in manager.list_sessions()}:  # it came back
        return
    session.shutdown()
    session.session_state.clear()
    with suppress(AttributeError):
        session.session_state._new_widget_state.widget_metadata.clear()  # which keeps what callbacks refer to
    session._fragment_storage.clear()
    gc.collect()
    give_back()

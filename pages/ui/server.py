"""Change what the server does and has no setting for (SECURITY.md), and ask it for what it tells nobody.

Starlette writes uploads above one megabyte to disk, and accepts them whatever memory is free. Streamlit keeps all files
that a session sends. A logged error quotes its message, which may quote a cell of the data. If a page of another origin
connects, Streamlit asks an Amazon server for its own address. It keeps the sessions of closed tabs, with all their
data, until another tab is closed much later. It collects garbage after every run, or never.

``tests/pages/test_streamlit_internals.py`` has the reason for each private name that this module or the stylesheets and
scripts use, and fails if the name is gone or no longer needed.
"""

from __future__ import annotations

import asyncio
import gc
import io
import logging
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

import streamlit as st
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from streamlit import net_util, runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from calib.data import confined, limits
from calib.data.too_large import BYTES_OF_END
from calib.export import uploaded
from calib.kernel import memory
from calib.kernel.memory import release_memory
from pages.ui.session_cache import OF_UPLOADS

VERSIONS_TRIED = {"streamlit": "1.67", "starlette": "1.10"}  # versions that all this was tried with
# With "+" and the size of the file of which only the ends are there
MEDIA_TYPE_OF_ENDS = "application/x-ends"
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


class Ends(UploadFile):
    """An upload that does not fit into memory: only its ends are kept, which show its columns.

    Its type says so, as ``scripts/ends.js`` does for files above the limit.
    """

    def __init__(self, filename: str | None, size: int) -> None:
        super().__init__(
            io.BytesIO(), filename=filename, headers=Headers({"content-type": f"{MEDIA_TYPE_OF_ENDS}+{size}"})
        )
        self._first, self._last = bytearray(), bytearray()

    async def write(self, data: bytes) -> None:
        left = BYTES_OF_END - len(self._first)
        self._first += data[:left]
        self._last += data[left:] if left else data
        if len(self._last) > 2 * BYTES_OF_END:
            del self._last[:-BYTES_OF_END]

    async def read(self, size: int = -1) -> bytes:
        return bytes(self._first + self._last[-BYTES_OF_END:])


class _Coming:
    """The uploads in transit. Each needs twice its size in memory when it is complete."""

    def __init__(self) -> None:
        self._uploads: WeakKeyDictionary[UploadFile, int] = WeakKeyDictionary()

    def fits_memory(self, upload: UploadFile, size: int) -> bool:
        """Tell whether memory suffices for one more upload, and register it if so; a few small ones always fit."""
        needed = 2 * size + sum(2 * whole - (one.size or 0) for one, whole in list(self._uploads.items()))
        if needed > 2 * limits.LARGE_FILE and memory.free() - limits.SPARE - limits.promised() < needed:
            return False
        self._uploads[upload] = size
        return True


def _within_memory(
    finish: Callable[[MultiPartParser], None], coming: _Coming
) -> Callable[[MultiPartParser], None]:
    """Wrap a parser's ``on_headers_finished``: an upload that does not fit into memory keeps only its ends.

    Browsers say how long an upload is, and send nothing but the file; anything else is refused.
    """

    @wraps(finish)
    def finished(parser: MultiPartParser) -> None:
        finish(parser)
        upload, stated = parser._current_part.file, parser.headers.get("content-length")
        if upload is None or stated is None:
            raise MultiPartException("An upload must be one file, with a Content-Length.")
        if not coming.fits_memory(upload, int(stated)):
            parser._current_part.file = Ends(upload.filename, int(stated))

    return finished


def _within_bound(add: Callable[..., None]) -> Callable[..., None]:
    """Wrap ``add_file``: of the files that a session sent, the newest stay, within the bound of a session."""

    @wraps(add)
    def added(manager: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
        add(manager, session_id, file)
        sent = manager.file_storage[session_id]
        older = [key for key in list(sent) if key != file.file_id]
        left = OF_UPLOADS - len(file.data)
        for key in reversed(older):
            left -= len(sent[key].data)
            if left < 0:
                manager.remove_file(session_id, key)

    return added


def protect_data() -> None:
    """Keep uploads in memory if they fit, data out of the log, and the server from asking outside."""
    if not hasattr(MultiPartParser.on_headers_finished, "__wrapped__"):
        finish: Any = _within_memory(MultiPartParser.on_headers_finished, _Coming())
        MultiPartParser.on_headers_finished = finish
        MemoryUploadedFileManager.add_file = _within_bound(MemoryUploadedFileManager.add_file)  # type: ignore[method-assign]
    MultiPartParser.spool_max_size = sys.maxsize  # bytes; server.maxUploadSize ends an upload before
    net_util.get_external_ip = lambda: None
    for name in LOGGERS:
        logging.getLogger(name).addFilter(WITHOUT_MESSAGES)  # adding it again has no effect


def begin_with_app() -> None:
    """Let the first session, too, begin with app.py, which knows the addresses of former pages.

    Because there is a folder called pages, Streamlit looks for an address among its scripts until app.py has run once.
    """
    PagesManager.uses_pages_directory = False


def warm_readers() -> None:
    """Start the process that reads uploads: after a page's run, because it would delay the first picture.

    Nobody can upload before the first page is drawn.
    """
    confined.warm(uploaded.__name__)


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
    _searches().planned = False
    search_for_garbage()
    release_memory()

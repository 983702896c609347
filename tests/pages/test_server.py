"""What the server under the pages would do by itself, and does not."""

import asyncio
import gc
import io
import logging
import os
import platform
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
import streamlit as st
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from streamlit import error_util, net_util, runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.state.session_state import SessionState
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.web.server import server_util

import pages.ui.everything
from calib.data import limits
from pages.ui import server, start, upload_memory
from pages.ui.scheduler import Owner
from tests.pages.app import App, page
from tests.waiting import LIMIT


@pytest.fixture
def log(monkeypatch):
    """What is written of the errors of scripts and jobs."""
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    server.protect_data()
    for name in server.LOGGERS:
        logging.getLogger(name).addHandler(handler)
    yield said
    for name in server.LOGGERS:
        logging.getLogger(name).removeHandler(handler)


def fail(cell: str) -> None:
    try:
        float(cell)
    except ValueError as error:
        raise RuntimeError(f"of {cell}") from error


def test_of_an_error_the_log_has_the_kind_and_the_place_and_not_what_it_quotes(log):
    try:
        fail("Ann Smith, 12 May")
    except RuntimeError as error:
        error_util._log_uncaught_app_exception(error)
        logging.getLogger(server.LOGGER).error("a job failed", exc_info=error)
    said = log.getvalue()
    assert said.count("RuntimeError\n") == said.count("ValueError\n") == 2
    assert "in fail" in said
    assert said.count("Ann Smith") == said.count('fail("Ann Smith')  # this test's own line


def test_a_page_of_another_origin_is_turned_away_without_asking_outside(monkeypatch):
    asked = []
    monkeypatch.setattr(net_util, "_external_ip", None)
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda url, timeout: asked.append(url))
    server.protect_data()
    assert not server_util.is_url_from_allowed_origins("https://elsewhere.example")
    assert asked == []


def received(
    content: bytes, monkeypatch, free: int, length: bool = True, part: str = '; filename="a.csv"'
) -> tuple[bytes, str]:
    """(what is kept of an upload, its type) with so many bytes of free memory."""
    monkeypatch.setattr(upload_memory.memory, "free", lambda: free + limits.SPARE)
    monkeypatch.setattr(limits, "LARGE_FILE", 1_000)
    monkeypatch.setattr(upload_memory, "BYTES_OF_END", 3_000)
    upload_memory.keep_uploads_in_memory()
    edge, body = "x" * 20, io.BytesIO()
    body.write(f'--{edge}\r\nContent-Disposition: form-data; name="f"{part}\r\n'.encode())
    body.write(b"Content-Type: text/csv\r\n\r\n" + content + f"\r\n--{edge}--\r\n".encode())
    pieces = [body.getvalue()[at : at + 1_000] for at in range(0, len(body.getvalue()), 1_000)]

    async def stream():
        for piece in pieces:
            yield piece

    async def parsed():
        headers = {"content-type": f"multipart/form-data; boundary={edge}"}
        if length:
            headers["content-length"] = str(len(body.getvalue()))
        form = await MultiPartParser(Headers(headers), stream()).parse()
        upload = form["f"]
        kept = await upload.read()
        upload.file.close()
        return kept, upload.content_type

    return asyncio.run(parsed())


def test_of_an_upload_for_which_there_is_no_memory_only_the_ends_are_kept(monkeypatch):
    content = bytes(np.random.default_rng(0).integers(0, 256, 50_000, np.uint8))
    assert received(content, monkeypatch, 110_000) == (content, "text/csv")  # twice its size
    kept, kind = received(content, monkeypatch, 90_000)
    assert kept == content[:3_000] + content[-3_000:]
    assert 50_000 < int(kind.removeprefix(f"{upload_memory.MEDIA_TYPE_OF_ENDS}+")) < 51_000


@pytest.mark.parametrize("how", [{"length": False}, {"part": ""}], ids=["no length", "no file"])
def test_what_no_browser_sends_is_refused_before_it_is_kept(monkeypatch, how):
    """A body without a length, or of many fields, would pass the check of memory."""
    with pytest.raises(MultiPartException, match="one file, with a Content-Length"):
        received(bytes(50_000), monkeypatch, 110_000, **how)


def test_of_the_files_that_a_session_sends_the_newest_stay_within_a_bound(monkeypatch):
    upload_memory.keep_uploads_in_memory()
    monkeypatch.setattr(upload_memory, "OF_UPLOADS", 100)
    files = MemoryUploadedFileManager("/upload")

    def send(session: str, key: str, size: int) -> list[str]:
        files.add_file(session, UploadedFileRec(key, f"{key}.csv", "text/csv", bytes(size)))
        return list(files.file_storage[session])

    for number in range(40):
        kept = send("a tab", str(number), 45)
    assert kept == ["38", "39"]
    assert send("another", "x", 60) == ["x"]
    assert send("a tab", "large", 200) == ["large"]  # a single file may be as large as an upload
    assert send("a tab", "small", 1) == ["small"]
    assert send("a tab", "small", 90) == ["small"]
    assert send("another", "y", 30) == ["x", "y"]


def test_many_small_uploads_at_once_are_counted_together(monkeypatch):
    monkeypatch.setattr(upload_memory.memory, "free", lambda: 1_000 + limits.SPARE)
    monkeypatch.setattr(limits, "LARGE_FILE", 100)
    coming, uploads = upload_memory._Coming(), [UploadFile(io.BytesIO(), size=0) for _ in range(40)]
    assert sum(coming.fits_memory(upload, 90) for upload in uploads) == 5  # each takes twice its size


def test_the_process_that_reads_uploads_begins_after_a_run_that_draws_or_stops(monkeypatch):
    """Beside the first run it would take a processor from the first picture."""
    done = []
    monkeypatch.setattr(upload_memory.confined, "warm", lambda *modules: done.append(modules))
    monkeypatch.setattr(start, "show", lambda: done.append("drawn") or st.stop())
    upload_memory.keep_uploads_in_memory()
    assert done == []
    App("app.py", default_timeout=LIMIT).run()
    assert done == ["drawn", ("calib.export.uploaded",)]


def test_two_uploads_at_once_share_the_memory(monkeypatch):
    monkeypatch.setattr(upload_memory.memory, "free", lambda: 500 + limits.SPARE)
    monkeypatch.setattr(limits, "LARGE_FILE", 10)
    coming, (first, second) = upload_memory._Coming(), [UploadFile(io.BytesIO(), size=0) for _ in range(2)]
    assert coming.fits_memory(first, 200)
    assert not coming.fits_memory(second, 200)  # 400 are promised to the first
    first.size = 350  # of which it has most
    assert coming.fits_memory(second, 200)
    del first
    gc.collect()
    assert coming.fits_memory(UploadFile(io.BytesIO(), size=0), 20)


def test_what_is_loaded_once_is_not_searched_for_garbage_after_every_run():
    """Most of a search's time: forty phones that ask for news every two seconds would leave no time for anything."""
    assert gc.isenabled()
    # What the libraries have made, whatever tests made before and after
    assert gc.get_freeze_count() > 100_000
    assert not server.st.get_option("runner.postScriptGC")


def test_what_only_refers_to_itself_is_found_now_and_then(monkeypatch):
    page("learn_glossary")
    lost = Owner()
    lost.itself, held = lost, weakref.ref(lost)
    del lost
    monkeypatch.setattr(server, "SEARCH_EVERY", 0.0)
    server.search_for_garbage()
    assert held() is None


@pytest.fixture
def sessions(monkeypatch):
    """The open tabs of a server that forgets a closed one at once."""
    made: dict[str, Session] = {}
    monkeypatch.setattr(runtime, "exists", lambda: True)
    running = SimpleNamespace(get_app_session=made.get, is_active_session=made.__contains__)
    monkeypatch.setattr(runtime, "get_instance", lambda: running)
    monkeypatch.setattr(server.st, "get_option", {"server.disconnectedSessionTTL": -1}.get)
    return made


class Session:
    """A tab, that the server holds on to for longer than it is open; as the first and the last one."""

    id = "a tab"

    def __init__(self) -> None:
        self.shut_down, self._fragment_storage = False, {"a part": Owner()}
        self.session_state = SessionState()
        self.session_state["kept"], callback = Owner(), Owner()
        self.session_state._new_widget_state.widget_metadata["a chart"] = callback  # whatever that refers to
        held = [self.session_state["kept"], self._fragment_storage["a part"], callback]
        self.held = [weakref.ref(thing) for thing in held]

    def shutdown(self) -> None:
        self.shut_down = True  # which lets go of its uploads


def closed(sessions, session, comes_back: bool = False, stayed_closed: bool = True) -> list[bool]:
    """Whether anything is held before the closed tab's time is over, and after."""
    held = []

    async def closes() -> None:
        sessions[session.id] = session
        server.forget_when_closed(session.id, lambda: stayed_closed)
        if not comes_back:
            del sessions[session.id]
        for _ in range(2):
            held.append(any(thing() for thing in session.held))
            await asyncio.sleep(0)

    with ThreadPoolExecutor() as another:  # a browser test may have left a loop running in this thread
        another.submit(lambda: asyncio.run(closes())).result()
    return [held[0], any(thing() for thing in session.held)]


def test_a_closed_session_is_emptied_when_its_time_is_over_although_no_other_tab_is_closed(sessions):
    """Streamlit by itself looks only when the next tab is closed, which after a course may be tomorrow.

    And the first session is never found as garbage, since it was there when the modules were settled; nor is the
    last one, for a variable of Streamlit's loop refers to it.
    """
    session = Session()
    assert closed(sessions, session) == [True, False]
    assert session.shut_down


def test_tabs_that_are_closed_together_are_searched_for_garbage_once(sessions, monkeypatch):
    """A search for each of a hundred tabs kept the others waiting for seconds."""
    searches = []
    monkeypatch.setattr(server, "SEARCH_EVERY", 0.0)
    monkeypatch.setattr(server._searches(), "planned", False)  # by the loop of another test, which has ended
    monkeypatch.setattr(server.gc, "collect", lambda: searches.append(1))

    async def forgets() -> None:
        for _ in range(100):
            server._forget(Session(), lambda: True)
        while server._searches().planned:
            await asyncio.sleep(0)

    with ThreadPoolExecutor() as another:
        another.submit(lambda: asyncio.run(forgets())).result()
    assert searches == [1]


@pytest.mark.parametrize(
    "how", [{"comes_back": True}, {"stayed_closed": False}], ids=["open", "closed again"]
)
def test_a_session_that_came_back_keeps_what_it_holds(sessions, how):
    session = Session()
    assert closed(sessions, session, **how) == [True, True]
    assert not session.shut_down


def test_where_no_server_runs_there_is_nothing_to_forget(sessions):
    server.forget_when_closed("unknown", lambda: True)  # also nothing to wait in: this thread has no loop


ARENAS_OF_THREADS = """
import ctypes, threading
from pages.ui import server

server.limit_arenas()
libc, held, ready = ctypes.CDLL(None), [], threading.Barrier(9)


def work():
    held.append(ctypes.create_string_buffer(100_000))  # from the thread's arena
    ready.wait()
    ready.wait()


for _ in range(8):
    threading.Thread(target=work).start()
ready.wait()
libc.fdopen.restype = ctypes.c_void_p
out = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, out)
libc.fflush(out)
ready.wait()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library than GNU's")
@pytest.mark.parametrize(("stated", "least", "most"), [({}, 1, 2), ({"MALLOC_ARENA_MAX": "6"}, 3, 6)])
def test_eight_threads_share_two_arenas_of_memory_or_as_many_as_the_environment_states(stated, least, most):
    environment = {name: value for name, value in os.environ.items() if name != "MALLOC_ARENA_MAX"} | stated
    told = subprocess.run(
        [sys.executable, "-c", ARENAS_OF_THREADS], env=environment, check=True, capture_output=True, text=True
    )
    assert least <= told.stdout.count("<heap nr=") <= most


class Loop:
    """A loop whose calls are taken by hand."""

    def __init__(self):
        self.woken, self.calls, self.later = 0, [], []

    def call_soon_threadsafe(self, call):
        self.woken += 1
        self.calls.append(call)

    def call_soon(self, call):
        self.calls.append(call)

    def call_later(self, seconds, call):
        self.later.append(call)

    def turn(self):
        calls, self.calls = self.calls, []
        for call in calls:
            call()


class PageSession:
    """What sends its messages as a session of Streamlit does."""

    def __init__(self):
        self._event_loop = Loop()

    def send(self, message):
        AppSession._call_soon_on_event_loop(self, message)


def test_messages_of_a_page_wake_the_loop_once_and_arrive_in_their_order():
    server.bundle_messages()
    mine, other, said = PageSession(), PageSession(), []
    loop = mine._event_loop
    for number in range(3):
        mine.send(lambda number=number: said.append(number))
    other.send(lambda: said.append("other"))
    assert (loop.woken, other._event_loop.woken) == (1, 1)
    loop.turn()
    loop.turn()
    assert said == [0, 1, 2]
    mine.send(lambda: said.append(3))
    assert loop.woken == 1  # it looks again by itself
    for _ in range(2):
        loop.later.pop()()
        loop.turn()
    assert said == [0, 1, 2, 3]
    assert not loop.later  # and then no more
    mine.send(lambda: said.append(4))
    assert loop.woken == 2

"""Set up the tests of pages: none depends on measured time, and none leaves work to later tests."""

from collections.abc import Callable, Iterator
from concurrent.futures import wait

import pytest
import streamlit as st

from pages.ui import jobs, session_cache
from tests.pages.app import App, unfinished
from tests.waiting import LIMIT


@pytest.fixture(autouse=True)
def begin_long_work_without_a_click() -> Iterator[None]:
    """Let work begin without a click: expected times are measured, so a busy machine would ask. Other tests cover
    that.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "UNASKED", 1e9)
        yield


@pytest.fixture
def computed_anew() -> Iterator[None]:
    """Begin without results of other sessions, and leave none."""
    session_cache.shared.clear()
    yield
    session_cache.shared.clear()


@pytest.fixture(autouse=True)
def nothing_left_running(request: pytest.FixtureRequest) -> Iterator[None]:
    """Cancel what a test leaves running.

    Its results serve later tests as they serve other sessions, except if it patches something: what it counts, holds up
    or replaces has to be computed, and ends with the test.
    """
    patches = "monkeypatch" in request.fixturenames
    if patches:
        request.getfixturevalue("computed_anew")
    yield
    left = [job for session in App.sessions for job in unfinished(session)]
    for job in left:
        job.cancel()
    App.sessions.clear()
    if patches:
        wait([job.future for job in left], timeout=LIMIT)


@pytest.fixture
def downloads() -> Iterator[dict[str, Callable[[], bytes | str]]]:
    """Return label → function that makes the download, because AppTest cannot press download buttons."""
    makers, drawn = {}, st.download_button

    def button(label, make, *args, **more):
        makers[label] = make
        return drawn(label, make, *args, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "download_button", button)
        yield makers

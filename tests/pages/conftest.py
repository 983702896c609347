"""Set up the tests of pages: none depends on measured time, and none leaves work to later tests."""

from collections.abc import Callable, Iterator

import pytest
import streamlit as st

from pages.ui import jobs, session_cache
from tests.pages.app import App, unfinished


@pytest.fixture(autouse=True)
def begin_long_work_without_a_click(monkeypatch) -> None:
    """Let work begin without a click: expected times are measured, so a busy machine would ask. Other tests cover
    that.
    """
    monkeypatch.setattr(jobs, "UNASKED", 1e9)


@pytest.fixture(autouse=True)
def nothing_left_running() -> Iterator[None]:
    yield
    for session in App.sessions:
        for job in unfinished(session):
            job.cancel()
    App.sessions.clear()
    session_cache.shared.clear()  # a test that counts fits begins without those of others


@pytest.fixture
def downloads(monkeypatch) -> dict[str, Callable[[], bytes | str]]:
    """Return label → function that makes the download, because AppTest cannot press download buttons."""
    makers, drawn = {}, st.download_button

    def button(label, make, *args, **more):
        makers[label] = make
        return drawn(label, make, *args, **more)

    monkeypatch.setattr(st, "download_button", button)
    return makers

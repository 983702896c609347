"""What holds for every page's tests: no question of time decides them, and none leaves work to those after it."""

from collections.abc import Callable, Iterator

import pytest
import streamlit as st

from pages.ui import jobs
from tests.pages.app import App, unfinished


@pytest.fixture(autouse=True)
def asked_on_no_account_of_time(monkeypatch) -> None:
    """How long work is expected to take is measured: on a busy machine anything may be dear. Tests of the
    question say what is."""
    monkeypatch.setattr(jobs, "UNASKED", 1e9)


@pytest.fixture(autouse=True)
def nothing_left_running() -> Iterator[None]:
    yield
    for session in App.sessions:
        for job in unfinished(session):
            job.cancel()
    App.sessions.clear()


@pytest.fixture
def downloads(monkeypatch) -> dict[str, Callable[[], bytes | str]]:
    """By the label of each download on the pages, what makes it: AppTest presses none of them."""
    makers, drawn = {}, st.download_button

    def button(label, make, *args, **more):
        makers[label] = make
        return drawn(label, make, *args, **more)

    monkeypatch.setattr(st, "download_button", button)
    return makers

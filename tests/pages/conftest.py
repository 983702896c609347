"""Work that a test leaves running would slow down those after it."""

from collections.abc import Iterator

import pytest

from tests.pages.app import App, unfinished


@pytest.fixture(autouse=True)
def nothing_left_running() -> Iterator[None]:
    yield
    for session in App.sessions:
        for job in unfinished(session):
            job.cancel()
    App.sessions.clear()

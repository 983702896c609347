"""One server and one Chromium for the whole suite. Without a Chromium: skipped by name, and failing where CI is set."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser import driver
from tests.browser.driver import Tab, serving
from tests.waiting import LIMIT


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser/" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)
            # Tried again after a failure, but not after a timeout: pytest-timeout watches only the first try
            item.add_marker(pytest.mark.flaky(reruns=1, rerun_except="from pytest-timeout"))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Warn if a browser test is tried again, so that somebody finds out why it failed."""
    if report.outcome == "rerun" and not hasattr(report, "node"):  # only in the worker that ran it
        warnings.warn(f"{report.nodeid} is tried again after: {str(report.longrepr)[-400:]}", stacklevel=1)


# A page is gone before code that is compiled better pays: a tenth less processor time, with the same pages
SHORT_LIVED = "--js-flags=--no-opt,--no-maglev,--single-threaded-gc,--min-semi-space-size=32"


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if driver.find_chromium() is None:
        message = "no Chromium on the PATH or in BROWSER_PATH"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    with driver.chromium("--process-per-site", SHORT_LIVED) as browser:
        yield browser


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Start the suite's server, and yield its address."""
    with serving() as address:
        yield address


@pytest.fixture(scope="session")
def shared_context(chromium: Browser, server: str) -> Iterator[Callable[..., BrowserContext]]:
    """Return a function that gives the one browser context with these options, which all tests share.

    Its tabs share a process and its compiled scripts, with one tab that stays; otherwise half of the time would go into
    compiling Streamlit and Plotly again.
    """

    @cache
    def context(**options) -> BrowserContext:
        made = _context(chromium, **options)
        made.new_page().goto(f"{server}/_stcore/health")
        return made

    yield context
    for made in chromium.contexts:
        made.close()


def _context(chromium: Browser, **options) -> BrowserContext:
    context = chromium.new_context(accept_downloads=True, **options)
    context.set_default_timeout(1000 * LIMIT)
    return context


@pytest.fixture
def new_tab(
    chromium: Browser, server: str, shared_context: Callable[..., BrowserContext]
) -> Iterator[Callable[..., Tab]]:
    """Return a function that opens tabs, each its own session: ``new_tab(address=…, width=…, color_scheme="dark",
    …)``.

    With ``fresh`` nobody has used its browser before: nothing is stored, and no other tab sees what it stores. At the
    end of a test, none of its tabs may have faults.
    """
    opened: list[Tab] = []
    own: list[BrowserContext] = []

    def make(
        address: str = server,
        width: int = 1400,
        color_scheme: str = "light",
        reduced_motion: str = "reduce",
        fresh: bool = False,
        **options,
    ) -> Tab:
        context = _context(chromium, **options) if fresh else shared_context(**options)
        own.extend([context] * fresh)
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=color_scheme, reduced_motion=reduced_motion)
        opened.append(Tab(page, address))
        return opened[-1]

    yield make
    faults = [fault for tab in opened for fault in tab.faults()]
    shared = {tab.page.context for tab in opened}.difference(own)
    for part in (*[tab.page for tab in opened], *own):
        part.close()
    for context in shared:
        context.pages[0].evaluate("localStorage.clear()")
    assert faults == []


@pytest.fixture
def tab(new_tab: Callable[..., Tab]) -> Tab:
    """Open a tab of 1400 pixels width, in light mode, on the suite's server."""
    return new_tab()

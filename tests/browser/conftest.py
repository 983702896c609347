"""One server and one Chromium for the whole suite. Without a Chromium: skipped by name, and failing where CI is set."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator

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


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if driver.find_chromium() is None:
        message = "no Chromium on the PATH or in BROWSER_PATH"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    with driver.chromium("--process-per-site") as browser:
        yield browser


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Start the suite's server, and yield its address."""
    with serving() as address:
        yield address


@pytest.fixture(scope="session")
def warm(chromium: Browser, server: str) -> Iterator[BrowserContext]:
    """Yield the browser context of all tests' tabs, with one tab that stays.

    They share its process and its compiled scripts; otherwise half of the time would go into compiling Streamlit and
    Plotly again.
    """
    context = chromium.new_context(accept_downloads=True, reduced_motion="reduce")
    context.set_default_timeout(1000 * LIMIT)
    context.new_page().goto(f"{server}/_stcore/health")
    yield context
    context.close()


@pytest.fixture
def new_tab(chromium: Browser, server: str, warm: BrowserContext) -> Iterator[Callable[..., Tab]]:
    """Return a function that opens tabs, each its own session: ``new_tab(address=…, width=…, color_scheme="dark",
    …)``.

    A tab with further options gets its own browser context. At the end of a test, none of its tabs may have faults.
    """
    opened: list[Tab] = []

    def make(address: str = server, width: int = 1400, color_scheme: str = "light", **options) -> Tab:
        context = chromium.new_context(accept_downloads=True, **options) if options else warm
        context.set_default_timeout(1000 * LIMIT)
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=color_scheme)
        opened.append(Tab(page, address))
        return opened[-1]

    yield make
    faults = [fault for tab in opened for fault in tab.faults()]
    for tab in opened:
        (tab.page if tab.page.context is warm else tab.page.context).close()
    warm.pages[0].evaluate("localStorage.clear()")
    assert faults == []


@pytest.fixture
def tab(new_tab: Callable[..., Tab]) -> Tab:
    """Open a tab of 1400 pixels width, in light mode, on the suite's server."""
    return new_tab()

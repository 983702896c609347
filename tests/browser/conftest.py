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
            # Tried once more when it fails, but not when it did not end: pytest-timeout watches the first try
            # only.
            item.add_marker(pytest.mark.flaky(reruns=1, rerun_except="from pytest-timeout"))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A browser test that is tried again is a warning: look at what made it fail."""
    if report.outcome == "rerun" and not hasattr(report, "node"):  # in the worker that ran it
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
    """The address of the suite's server."""
    with serving() as address:
        yield address


@pytest.fixture(scope="session")
def warm(chromium: Browser, server: str) -> Iterator[BrowserContext]:
    """Where the tabs of all tests are opened, beside one that stays: they share its process and its compiled scripts,

    without which half of the time goes into compiling Streamlit and Plotly again.
    """
    context = chromium.new_context(accept_downloads=True, reduced_motion="reduce")
    context.set_default_timeout(1000 * LIMIT)
    context.new_page().goto(f"{server}/_stcore/health")
    yield context
    context.close()


@pytest.fixture
def new_tab(chromium: Browser, server: str, warm: BrowserContext) -> Iterator[Callable[..., Tab]]:
    """Opens tabs, each its own session: ``new_tab(address=…, width=…, color_scheme="dark", …)``.

    One with further options is in a browser of its own, as it were. At the end of a test every one of its
    tabs must be without faults.
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
    """A tab of a window 1400 pixels wide, in light mode, on the suite's server."""
    return new_tab()

"""One server and one Chromium for the whole suite. Without a Chromium: skipped by name, and failing where CI is set."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from _pytest.runner import runtestprotocol
from playwright.sync_api import Browser, sync_playwright

from tests.browser.driver import CHROMIUM_FLAGS, Tab, find_chromium, serving


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser/" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A browser test that fails is tried once more, and the run says so: a busy machine may be too slow for it."""
    if item.get_closest_marker("browser") is None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    first = next((report for report in reports if report.failed), None)
    if first is not None:
        item.warn(pytest.PytestWarning(f"tried again after: {str(first.longrepr)[-400:]}"))
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = find_chromium()
    if path is None:
        message = "no Chromium on the PATH or in BROWSER_PATH"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of the suite's server."""
    with serving() as address:
        yield address


@pytest.fixture
def new_tab(chromium: Browser, server: str) -> Iterator[Callable[..., Tab]]:
    """Opens tabs, each its own session: ``new_tab(address=…, width=…, color_scheme="dark", …)``.

    At the end of a test every one of its tabs must be without faults.
    """
    opened: list[Tab] = []

    def make(address: str = server, width: int = 1400, **options) -> Tab:
        context = chromium.new_context(viewport={"width": width, "height": 900}, accept_downloads=True, **options)
        context.set_default_timeout(20_000)
        opened.append(Tab(context.new_page(), address))
        return opened[-1]

    yield make
    faults = [fault for tab in opened for fault in tab.faults()]
    for tab in opened:
        tab.page.context.close()
    assert faults == []


@pytest.fixture
def tab(new_tab: Callable[..., Tab]) -> Tab:
    """A tab of a window 1400 pixels wide, in light mode, on the suite's server."""
    return new_tab()

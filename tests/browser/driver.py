"""A real server, a real Chromium, and the few moves a person makes on a page."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlencode

import psutil
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from pages.ui.current import PAGES
from pages.ui.widget import KEY_AND_NUMBER
from tests.waiting import LIMIT, until
from tests.where import where

ROOT = Path(__file__).parents[2]
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# Seconds without work after which a page counts as settled; widgets send their values sooner
QUIET = 0.4
# Controls behind the sidebar's button "View"
VIEW = ("bins", "binning", "reliability.axes", "curve", "band", "reliability.layout")

BUSY = """() => document.querySelector(".stApp")?.dataset.testScriptState !== "notRunning" || !!document.querySelector(
    '[data-testid="stSkeleton"], [data-testid="stProgress"], .stPlotlyChart .js-plotly-plot:not(:has(.main-svg))')"""

# Wait for two frames, after which the effects of a scroll are done
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
# Whether Plotly sees a mark within three pixels of there under the pointer
HOVERED = """async (chart, [left, top]) => {
    const frame = () => new Promise(done => requestAnimationFrame(done)), box = chart.getBoundingClientRect();
    const near = ({xaxis, yaxis, x, y}) => Math.hypot(
        box.left + xaxis._offset + xaxis.d2p(x) - left, box.top + yaxis._offset + yaxis.d2p(y) - top) <= 3;
    for (let i = 0; i < 20 && !chart._hoverdata?.some(near); i++) await frame();
    return chart._hoverdata?.some(near) ?? false;
}"""


def find_chromium() -> str | None:
    """Return the path of Chromium: BROWSER_PATH, else the first of the usual names on the PATH."""
    names = [
        os.environ.get("BROWSER_PATH"),
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    ]
    return next((path for name in names if name and (path := shutil.which(name))), None)


@contextlib.contextmanager
def chromium(*flags: str) -> Iterator[Browser]:
    """Start Chromium without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=[*CHROMIUM_FLAGS, *flags])
        yield browser
        browser.close()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def serving(script: str | Path = "app.py") -> Iterator[str]:
    """Start a server of this app, or of another script, and yield its address before any session."""
    port = free_port()
    options = (f"port={port}", "headless=true", "address=127.0.0.1", "fileWatcherType=none")
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        str(script),
        *(f"--server.{option}" for option in options),
    ]
    with served_by(command, f"http://127.0.0.1:{port}"):
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def started(output: IO | None = None, port: int = 0, **environment: str) -> Iterator[str]:
    """Start a server by the program's own command, which knows the addresses of former pages from the start."""
    port = port or free_port()
    command = [sys.executable, "-m", "calibration_explorer", "--address", "127.0.0.1", "--port", str(port)]
    address = f"http://127.0.0.1:{port}"
    with served_by(
        command, address, output, env=os.environ | {"STREAMLIT_SERVER_HEADLESS": "true"} | environment
    ):
        yield address


@contextlib.contextmanager
def served_by(
    command: Sequence[str],
    address: str,
    output: IO | None = None,
    health: str = "_stcore/health",
    **options: Any,
) -> Iterator[None]:
    """Run a server by this command while the block lasts, with its output in ``output``; wait for the path
    ``health``.
    """
    told = {"stdout": output or subprocess.DEVNULL, "stderr": subprocess.STDOUT}
    server = subprocess.Popen(command, **({"cwd": ROOT} | told | options))
    try:
        until(lambda: server.poll() is not None or answers(f"{address}/{health}"), "the server answers")
        assert server.poll() is None, "the server ended before it answered"
        yield
    finally:
        ended: list[Any] = [server]
        with contextlib.suppress(psutil.NoSuchProcess):  # it has ended by itself
            # One that reads uploads may still be loading
            ended += psutil.Process(server.pid).children(recursive=True)
        for process in ended:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        server.wait()


def answers(address: str) -> bool:
    """Tell whether a server answers at this address."""
    try:
        with urllib.request.urlopen(address, timeout=1):
            return True
    except OSError:
        return False


class Tab:
    """Browser tab on the app; it collects faults that no page may have, to be asserted at the end."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address
        self.outside: list[str] = []
        self.errors: list[str] = []
        self.unanswered = False  # whether the page has sent something to the server and waits
        page.on("request", self._note)
        page.on("websocket", self._listen)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _note(self, request) -> None:
        if request.url.startswith(("http", "ws")) and request.url.split("://")[1].split("/")[0] != self.host:
            self.outside.append(request.url)

    def _listen(self, socket) -> None:
        socket.on("framesent", lambda _: setattr(self, "unanswered", True))
        socket.on("framereceived", lambda _: setattr(self, "unanswered", False))

    @property
    def host(self) -> str:
        return self.address.split("://")[1].split("/")[0]

    # Moving about

    def open(self, path: str = "", **query: str) -> Tab:
        self.page.goto(f"{self.address}/{path}" + (f"?{urlencode(query)}" if query else ""))
        return self.settle()

    def experiment(self, view: str, **query: str) -> Tab:
        """Open a view of a page: an experiment or the playground."""
        stem, chosen = where(view)
        return self.open(stem, **chosen | query)

    def settle(self) -> Tab:
        """Wait until the server has answered, no script runs, nothing is being fitted, and the charts are drawn."""
        quiet_since = begin = time.monotonic()
        while time.monotonic() - quiet_since < QUIET:
            self.page.wait_for_timeout(50)
            if self.unanswered or self.page.evaluate(BUSY):
                quiet_since = time.monotonic()
                assert quiet_since - begin < LIMIT, f"{self.page.url} did not settle within {LIMIT} s"
        return self

    def holds(self, query: dict[str, str]) -> Tab:
        """Wait until these are the parameters of the address, as after a move through the browser's history."""
        until(lambda: self.recipe_query() == query, f"the address holds {query}")
        return self.settle()

    def go(self, name: str) -> Tab:
        """Follow a link of the navigation."""
        self.in_menu(name).click()
        return self.settle()

    def in_menu(self, name: str) -> Locator:
        """Open a section's menu, and return the link to its page of this name: the first section that has one."""
        section = next(key for key, pages in PAGES.items() if name in [page.name for page in pages])
        self.page.get_by_test_id("stTopNav").get_by_role("button", name=section, exact=True).click()
        return self.page.get_by_role("menuitem", name=name, exact=True)

    def by_key(self, key: str) -> Locator:
        """Return the element or widget with this Streamlit key, whatever number its name has now."""
        name = f"st-key-{key.replace('.', '-')}"
        return self.page.locator(f'.{name}, [class*="{name}{KEY_AND_NUMBER}"]')

    def in_view(self, key: str) -> Locator:
        """Return the element with this key; open the sidebar's View if it is there."""
        found = self.by_key(key)
        view = self.by_key("view")
        # Some pages draw their bins outside the sidebar
        if key in VIEW and not found.count() and view.count():
            view.get_by_role("button").click()
            found.wait_for()
        return found

    # Changing things

    def choose(self, key: str, *labels: str) -> Tab:
        """Pick these options of a select box or a multiple choice."""
        for label in labels:
            self.pick(key, label)
            self.page.keyboard.press("Escape")
            self.settle()
        return self

    def pick(self, key: str, label: str) -> None:
        """Pick an option and wait for nothing."""
        field = self.by_key(key).locator("input")
        field.scroll_into_view_if_needed()
        self.page.evaluate(DRAWN)  # scrolling would close an open list
        field.click()
        option = self.page.get_by_role("option", name=label, exact=True)
        if not option.count():  # a long list draws only the visible options
            field.fill(label)
        option.click()

    def press(self, label: str, within: Locator | None = None) -> Tab:
        (within or self.page).get_by_role("button", name=label, exact=True).click()
        return self.settle()

    def segment(self, key: str, label: str) -> Tab:
        """Pick one segment of a segmented control."""
        self.in_view(key).get_by_text(label, exact=True).click()
        return self.settle()

    def slide(self, key: str, steps: int) -> Tab:
        """Move a slider by the arrow keys, as fast as they repeat."""
        slider = self.in_view(key).get_by_role("slider")
        slider.focus()
        for _ in range(abs(steps)):
            slider.press("ArrowRight" if steps > 0 else "ArrowLeft")
        return self.settle()

    def type_number(self, key: str, value: object) -> Tab:
        field = self.by_key(key).locator("input")
        field.fill(str(value))
        field.press("Enter")
        return self.settle()

    def click_chart(self, key: str, x: float, y: float) -> Tab:
        """Click a chart at a place given in the units of its first two axes."""
        return self.click_mark(self.by_key(f"chart_{key}").locator(".js-plotly-plot"), x, y)

    def click_mark(self, chart: Locator, x: float, y: float) -> Tab:
        """Click the mark of a chart at this place."""
        left, top = self.place(chart, x, y)
        until(lambda: self._over_a_mark(chart, left, top), f"the pointer is over the mark at {x}, {y}")
        self.page.mouse.click(left, top)
        return self.settle()

    def place(self, chart: Locator, x: float, y: float) -> tuple[float, float]:
        """Scroll to a chart, and return the pixel of a point in the units of its first two axes."""
        chart.evaluate("chart => chart.scrollIntoView({block: 'center'})")
        self.page.evaluate(DRAWN)
        left, top = chart.evaluate(
            """(chart, [x, y]) => {
                const {xaxis, yaxis} = chart._fullLayout, box = chart.getBoundingClientRect();
                return [box.left + xaxis._offset + xaxis.d2p(x), box.top + yaxis._offset + yaxis.d2p(y)];
            }""",
            [x, y],
        )
        return left, top

    def _over_a_mark(self, chart: Locator, left: float, top: float) -> bool:
        """Move there: Plotly takes a click for the mark that it last found under the pointer, which takes time."""
        self.page.mouse.move(left - 5, top - 5)
        self.page.mouse.move(left, top)
        return chart.evaluate(HOVERED, [left, top])

    def type_cell(self, table: Locator, row: int, column: int, value: object) -> Tab:
        """Type into a cell of a table that can be edited, row and column from 0: there by the arrow keys."""
        table.scroll_into_view_if_needed()
        # It is drawn only once it is visible
        table.get_by_test_id("glide-cell-1-0").wait_for(state="attached")
        table.click(position={"x": 80, "y": 52})
        places = [(0, 0), *((i + 1, 0) for i in range(row)), *((row, j + 1) for j in range(column))]
        for at, (i, j) in enumerate(places):
            if at > 0:
                self.page.keyboard.press("ArrowDown" if at <= row else "ArrowRight")
            table.locator(f"#glide-cell-{j + 1}-{i}[aria-selected=true]").wait_for(state="attached")
        self.page.keyboard.press("Enter")
        field = self.page.locator("#portal input")
        field.fill(str(value))
        field.press("Enter")
        field.wait_for(state="detached")
        return self.settle()

    def unfold(self, title: str) -> Tab:
        self.page.locator("summary").get_by_text(title).click()
        return self.settle()

    def upload(self, name: str, content: bytes, key: str | None = None) -> Tab:
        """Upload a file on the Data page, by its only file picker or by the one with this key."""
        field = (self.by_key(key) if key else self.page).get_by_test_id("stFileUploaderDropzoneInput")
        with self.page.expect_response(lambda response: "/upload_file/" in response.url):
            field.set_input_files({"name": name, "mimeType": "application/octet-stream", "buffer": content})
        return self.settle()

    def download(self, act: Callable[[], object]) -> bytes:
        """Return the file that ``act`` downloads."""
        with self.page.expect_download() as started:
            act()
        return Path(started.value.path()).read_bytes()

    # Reading things

    def headline(self) -> dict[str, str]:
        """Return the headline numbers of the page, label → value."""
        metrics = self.page.get_by_test_id("stMetric").all()
        parts = ("stMetricLabel", "stMetricValue")
        return dict(tuple(m.get_by_test_id(part).inner_text().strip() for part in parts) for m in metrics)

    def recipe_query(self) -> dict[str, str]:
        """Return the query parameters of the address in the browser."""
        return dict(self.page.evaluate("[...new URL(location.href).searchParams]"))

    def link(self) -> str:
        """Return the address that "Copy link" copies."""
        return self.by_key("copy_link").get_by_label("Address").input_value()

    def alerts(self) -> list[str]:
        """Return the messages on the page: errors, warnings and remarks."""
        return [text.strip() for text in self.page.get_by_test_id("stAlert").all_inner_texts()]

    def chart_titles(self) -> list[str]:
        return [text.strip() for text in self.page.locator(".stMain :is(h2, h3)").all_inner_texts()]

    def faults(self) -> list[str]:
        """Return the faults of the page: tracebacks, dialogs, script errors, requests to other machines."""
        found = [
            f"traceback: {text[:200]}" for text in self.page.get_by_test_id("stException").all_inner_texts()
        ]
        found += [f"dialog: {text[:200]}" for text in self.page.get_by_test_id("stDialog").all_inner_texts()]
        return (
            found
            + [f"script error: {text}" for text in self.errors]
            + [f"request: {url}" for url in self.outside]
        )

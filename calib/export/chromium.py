"""Pictures and PDF by the Chromium of this machine, where there is one: started, asked over a pipe, and ended.

Plotly draws in a browser only. A headless Chromium speaks the DevTools protocol over two pipes, so that nothing of a
chart is written to disk and no port is opened; a deadline ends it whatever happens. ``can_draw`` tries it once.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any
from urllib.parse import unquote_to_bytes

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from calib.kernel.checks import InputError

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",  # containers allow none; the page is our own drawing, and it has no network
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
SECONDS = 30  # without an answer, after which a browser is given up
WIDTH, HEIGHT, SHARPNESS = 900, 520, 2
PAPER = 720  # pixels between the margins of a sheet, at 96 to the inch
FORMATS = ("svg", "png", "pdf")
AT_ONCE = threading.BoundedSemaphore(2)  # browsers


class NoBrowser(InputError):
    """There is no Chromium here, or it does not answer."""


def find_chromium() -> str | None:
    """BROWSER_PATH, else the first of the usual names on the PATH; None where there is none."""
    names = (os.environ.get("BROWSER_PATH"), *NAMES)
    return next((path for name in names if name and (path := shutil.which(name))), None)


@lru_cache(maxsize=1)
def can_draw() -> bool:
    """Whether a Chromium is here and draws; tried once, which takes a second or two."""
    try:
        return bool(draw([go.Figure()], ("svg",)))
    except NoBrowser:
        return False


def draw(figures: Sequence[go.Figure], formats: Sequence[str] = FORMATS) -> list[dict[str, bytes]]:
    """For each figure its files by format, all drawn by one browser. Raises NoBrowser where none answers."""
    with _tab() as tab:
        tab.run(get_plotlyjs() + ";0")
        pictures = [_pictures(tab, figure, formats) for figure in figures]
        if "pdf" in formats:
            for figure, files in zip(figures, pictures, strict=True):
                files["pdf"] = tab.pdf(_sheet(figure, files["svg"]))
    return [{name: files[name] for name in formats} for files in pictures]


def _pictures(tab: _Tab, figure: go.Figure, formats: Sequence[str]) -> dict[str, bytes]:
    width, height = _size(figure)
    files = {}
    for name in ("svg", "png"):
        if name in formats or (name == "svg" and "pdf" in formats):
            wanted = {"format": name, "width": width, "height": height, "scale": SHARPNESS if name == "png" else 1}
            url = tab.run(f"Plotly.toImage({figure.to_json()}, {json.dumps(wanted)})")
            head, _, content = url.partition(",")
            files[name] = base64.b64decode(content) if head.endswith("base64") else unquote_to_bytes(content)
    return files


def _size(figure: go.Figure) -> tuple[int, int]:
    return int(figure.layout.width or WIDTH), int(figure.layout.height or HEIGHT)


def _sheet(figure: go.Figure, svg: bytes) -> str:
    """A page of the figure's own size."""
    width, height = _size(figure)
    style = f"@page {{ size: {width}px {height}px; margin: 0 }} body {{ margin: 0 }} svg {{ display: block }}"
    return f"<!doctype html><meta charset=utf-8><style>{style}</style>{svg.decode()}"


def print_pdf(html: str) -> bytes:
    """A document with its charts as PDF, on A4. Raises NoBrowser where none answers."""
    with _tab() as tab:
        return tab.pdf(html)


@contextmanager
def _tab() -> Iterator[_Tab]:
    path = find_chromium()
    if path is None or os.name != "posix":
        raise NoBrowser("No Chromium was found on the PATH or in BROWSER_PATH: take the HTML or the camera instead.")
    with AT_ONCE, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # The shell lays our two pipes where Chromium looks for them, at 3 and 4.
        relaid = 'exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>&1'
        process = subprocess.Popen(
            ["/bin/sh", "-c", relaid, path, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        try:
            yield _Tab(process)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()


class _Tab:
    """One page of a browser, spoken to in JSON messages that end in a zero byte."""

    def __init__(self, process: subprocess.Popen) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.send, self.receive = process.stdin.fileno(), process.stdout.fileno()
        os.set_blocking(self.send, False)
        self.asked, self.buffer, self.session = 0, b"", None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        # As wide as a sheet, so that charts which follow their page's width are drawn for it.
        self.call("Emulation.setDeviceMetricsOverride", width=PAPER, height=HEIGHT, deviceScaleFactor=1, mobile=False)

    def run(self, script: str) -> Any:
        """The value of a script, or of the promise it gives."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise NoBrowser(f"The browser could not draw: {answer['exceptionDetails'].get('text', 'unknown')}.")
        return answer["result"].get("value")

    def pdf(self, html: str) -> bytes:
        frame = self.call("Page.getFrameTree")["frameTree"]["frame"]["id"]
        self.call("Page.setDocumentContent", frameId=frame, html=html)
        self.run("document.fonts.ready.then(() => new Promise(done => requestAnimationFrame(() => done(0))))")
        printed = self.call(
            "Page.printToPDF", printBackground=True, preferCSSPageSize=True, paperWidth=8.27, paperHeight=11.69
        )
        return base64.b64decode(printed["data"])

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self.asked, self.limit = self.asked + 1, time.monotonic() + SECONDS
        message: dict[str, Any] = {"id": self.asked, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self._write(json.dumps(message).encode() + b"\0")
        while (answer := json.loads(self._read())).get("id") != self.asked:
            pass
        if "error" in answer:
            raise NoBrowser(f"The browser refused {method}: {answer['error'].get('message')}.")
        return answer["result"]

    def _left(self) -> float:
        left = self.limit - time.monotonic()
        if left <= 0:
            raise NoBrowser(f"The browser did not answer within {SECONDS} seconds.")
        return left

    def _write(self, content: bytes) -> None:
        view = memoryview(content)
        while view:
            _, ready, _ = select.select([], [self.send], [], self._left())
            try:
                view = view[os.write(self.send, view[:65536]) :] if ready else view
            except BrokenPipeError:
                raise NoBrowser("The browser ended before it answered.") from None

    def _read(self) -> bytes:
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.receive], [], [], self._left())
            chunk = os.read(self.receive, 1 << 20) if ready else None
            if chunk == b"":
                raise NoBrowser("The browser ended before it answered.")
            self.buffer += chunk or b""
        message, _, self.buffer = self.buffer.partition(b"\0")
        return message

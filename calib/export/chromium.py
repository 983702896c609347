"""Draw pictures and PDF with the Chromium of this machine, if there is one, through command-line switches.

Plotly draws in a browser only. ``--dump-dom`` and ``--print-to-pdf`` need neither a driver nor a connection.
Of the libraries tried, Kaleido 1.5 still waited after nine minutes for a browser that had ended at once, and
Playwright works but installs 165 MB with every ``make run``.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from base64 import b64decode
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from html import unescape
from pathlib import Path
from urllib.parse import unquote_to_bytes

import plotly.graph_objects as go
from markupsafe import Markup

from calib.export.pages import render
from calib.kernel.checks import InputError

BROWSER_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
FLAGS = (
    "--headless",
    "--no-sandbox",  # containers forbid the sandbox; the page is our own drawing, without a network
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-breakpad",
    "--no-first-run",
    # Charts follow their page's width: that of a desk, which the style shrinks for paper
    "--window-size=1100,1000",
)
SECONDS_TO_START_BROWSER, SECONDS_PER_PICTURE = 30, 5  # time limits: to start, and per picture
CHART_WIDTH, CHART_HEIGHT, SHARPNESS = 900, 520, 2
PICTURE_FORMATS = ("svg", "png", "pdf")
CHROMIUM_STOPPED = "Chromium stopped before it had drawn the figure. Try again."
BROWSERS = threading.BoundedSemaphore(2)  # browsers that run at the same time
# In memory, so that a page with people's data is never written to disk
MEMORY_FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class NoBrowser(InputError):
    """Chromium is missing or does not answer."""


def find_chromium() -> str | None:
    """Return BROWSER_PATH, or the first of the usual names on the PATH; None if there is none."""
    names = (os.environ.get("BROWSER_PATH"), *BROWSER_NAMES)
    return next((path for name in names if name and (path := shutil.which(name))), None)


@lru_cache(maxsize=1)
def can_draw() -> bool:
    """Tell whether Chromium is available and draws; the test takes a second or two and runs once."""
    try:
        return bool(draw_files([go.Figure()], ("svg",)))
    except NoBrowser:
        return False


def draw_files(
    figures: Sequence[go.Figure], formats: Sequence[str] = PICTURE_FORMATS
) -> list[dict[str, bytes]]:
    """Draw each figure, and return its files by format.

    Parameters
    ----------
    figures
        Plotly figures, each with its own height.
    formats
        Any of "svg", "png", "pdf".

    Raises
    ------
    NoBrowser
        If no browser answers.
    """
    images = [name for name in formats if name != "pdf"]
    pictures = iter(_images([(figure, name) for figure in figures for name in images]))
    files = [{name: next(pictures) for name in images} for _ in figures]
    if "pdf" in formats:
        for figure, file in zip(figures, files, strict=True):
            file["pdf"] = _print(
                render("drawing.html", jobs=_jobs([(figure, "svg")]), sheet=_size(figure)),
                SECONDS_PER_PICTURE,
            )
    return [{name: file[name] for name in formats} for file in files]


def print_pdf(html: str) -> bytes:
    """Print a document with its charts as PDF, on A4.

    Parameters
    ----------
    html : str
        A complete, self-contained document, because there is no network.

    Raises
    ------
    NoBrowser
        If no browser answers.
    """
    return _print(html, SECONDS_PER_PICTURE * html.count("Plotly.newPlot"))


def _images(wanted: Sequence[tuple[go.Figure, str]]) -> list[bytes]:
    """Draw every figure in its format, all with one browser."""
    if not wanted:
        return []
    page = render("drawing.html", jobs=_jobs(wanted), sheet=None)
    shown = _ask(page, SECONDS_PER_PICTURE * len(wanted), "--dump-dom").decode(errors="replace")
    text = unescape(shown.partition("<html>")[2].rpartition("</html>")[0])
    if not text.startswith("["):
        raise NoBrowser(f"Chromium could not draw the figure: {text[:200]}." if text else CHROMIUM_STOPPED)
    return [_content(url) for url in json.loads(text)]


def _content(url: str) -> bytes:
    head, _, content = url.partition(",")
    return b64decode(content) if head.endswith("base64") else unquote_to_bytes(content)


def _size(figure: go.Figure) -> dict[str, int]:
    return {
        "width": int(figure.layout.width or CHART_WIDTH),
        "height": int(figure.layout.height or CHART_HEIGHT),
    }


def _jobs(wanted: Sequence[tuple[go.Figure, str]]) -> Markup:
    """Return the arguments of Plotly.toImage as a script, with "<" escaped so that no text ends the script."""
    options = ({"format": form, "scale": SHARPNESS if form == "png" else 1} for _, form in wanted)
    jobs = (
        f'{{"figure": {figure.to_json()}, "options": {json.dumps(option | _size(figure))}}}'
        for (figure, _), option in zip(wanted, options, strict=True)
    )
    return Markup(f"[{', '.join(jobs)}]".replace("<", "\\u003c"))


def _print(page: str, more: int) -> bytes:
    with tempfile.TemporaryDirectory(dir=MEMORY_FOLDER) as folder:
        path = Path(folder, "printed.pdf")
        _ask(page, more, f"--print-to-pdf={path}", "--no-pdf-header-footer")
        if not path.exists():
            raise NoBrowser(CHROMIUM_STOPPED)
        return path.read_bytes()


def _ask(page: str, more: int, *switches: str) -> bytes:
    """Return the browser's output for a page; delete its files and end its processes."""
    browser = find_chromium()
    if browser is None or os.name != "posix":
        raise NoBrowser(
            "Chromium was not found on the PATH or in BROWSER_PATH. Save the report as HTML, "
            "or use the camera button of the figure."
        )
    seconds = SECONDS_TO_START_BROWSER + more
    with (
        BROWSERS,
        tempfile.TemporaryDirectory(dir=MEMORY_FOLDER) as folder,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
    ):
        path = Path(folder, "page.html")
        path.write_text(page, encoding="utf-8")
        process = subprocess.Popen(
            [browser, *FLAGS, f"--user-data-dir={profile}", *switches, path.as_uri()],
            env=os.environ | {"TMPDIR": profile},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            raise NoBrowser(
                f"Chromium did not respond within {seconds} seconds. Try again, or save the figure as HTML."
            ) from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

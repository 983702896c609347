"""Compares the time until the first picture with the time of an empty Streamlit page that imports the same libraries.

Both are measured from the command that starts the server to the drawn page in Chromium, ours from the program's own
command. The two take turns, each time with a fresh server and a fresh browser session, while the browser itself is
running. The exit status is 1 if the median ratio breaks its bound. Without Chromium it is skipped with a message.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from contextlib import AbstractContextManager
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser

from benchmarks._ratios import Verdicts
from tests.browser.driver import ROOT, chromium, find_chromium, serving, started

BOUND = 1.5
LIMIT = 300_000  # milliseconds
# Drawn by Plotly or by the script over it, not the axes and the diagonal shown at first
DIAGRAM = ":is(.stPlotlyChart .scatterlayer .trace:nth-child(6) path, .moving .marks circle):visible"
LIBRARIES = (
    "streamlit",
    "plotly",
    "numpy",
    "pandas",
    "sklearn",
    "scipy",
    "joblib",
    "pyarrow",
    "python_calamine",
    "arff",
)
# The modules that the start page has imported once it is drawn, without the app's own
IMPORTED = f"""
import sys
from streamlit.testing.v1 import AppTest
at = AppTest.from_file("app.py", default_timeout={LIMIT / 1000}).run()
assert not at.exception
names = (name for name in sys.modules if not name.startswith("streamlit.testing"))
print("\\n".join(sorted(name for name in names if name.split(".")[0] in {LIBRARIES})))
"""
EMPTY = """
import importlib
import streamlit as st
for name in {names}:
    importlib.import_module(name)
st.write("empty")
"""


def main(rounds: int = 5) -> int:
    if find_chromium() is None:
        print("skipped: no Chromium on the PATH or in BROWSER_PATH")
        return 0
    ratios = []
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        empty = Path(folder) / "empty.py"
        empty.write_text(EMPTY.format(names=imported()), encoding="utf-8")
        for _ in range(rounds):
            least = seconds(browser, serving(empty), "text=empty")
            ours = seconds(browser, started(), DIAGRAM)
            ratios.append(ours / least)
            print(f"empty page {least:.2f} s · first picture {ours:.2f} s")
    verdict = Verdicts()
    print(f"first picture / empty page with the same libraries: {verdict(median(ratios), BOUND)}")
    return verdict.status


def imported() -> list[str]:
    """Return the libraries' modules that the app's start page imports."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def seconds(browser: Browser, server: AbstractContextManager[str], drawn: str) -> float:
    """Return the seconds from the server's start until an element of this selector is drawn."""
    begin = time.perf_counter()
    with server as address:
        page = browser.new_page()
        page.goto(address, timeout=LIMIT)
        page.wait_for_selector(drawn, timeout=LIMIT)
        taken = time.perf_counter() - begin
        page.close()
    return taken


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    sys.exit(main(**vars(parser.parse_args())))

"""The first picture on a cold start: from the command that starts the server to the diagram drawn in Chromium.

Each round starts a fresh server and a fresh browser session; the browser itself is running. Skipped by name where
there is no Chromium.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

from playwright.sync_api import sync_playwright

from benchmarks._ratios import verdict
from tests.browser.driver import CHROMIUM_FLAGS, find_chromium, serving

DIAGRAM = ".stPlotlyChart .scatterlayer .trace:nth-child(6) path"  # more than the axes and the diagonal shown at first


def main(rounds: int = 5) -> None:
    path = find_chromium()
    if path is None:
        print("skipped: no Chromium on the PATH or in BROWSER_PATH")
        return
    seconds = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_FLAGS))
        for _ in range(rounds):
            begin = time.perf_counter()
            with serving() as address:
                page = browser.new_page()
                page.goto(address)
                page.wait_for_selector(DIAGRAM, timeout=60_000)
                seconds.append(time.perf_counter() - begin)
                page.close()
        browser.close()
    print(f"seconds {' '.join(f'{value:.2f}' for value in seconds)}")
    print(f"first picture on a cold start, seconds: {verdict(median(seconds), 5)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    main(**vars(parser.parse_args()))

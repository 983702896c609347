"""Take the pictures of the guide from the running app: ``python -m scripts.take_pictures [PAGE …]``.

Start and each page of docs/pages/ have one, of the first screen, in light mode: docs/pictures/PAGE.webp. A Learn page
is shown with its guess skipped. Retake them if a page looks different. ``ways`` instead of a page retakes the first
charts of the pages that Start shows, in light and dark.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser

from pages.ui.current import PAGES
from pages.ui.start import PICTURES_FOLDER
from tests.browser.driver import ROOT, Tab, chromium, serving

FOLDER = ROOT / "docs" / "pictures"
STEMS = ["start", *(Path(page.script).stem for pages in PAGES.values() for page in pages)]
WIDTH, HEIGHT, QUALITY = 1366, 880, 60
# Page that a card of Start leads to → page whose first chart is its picture
CHARTS = {
    "explore_data": "explore_reliability",
    "learn_labs": "learn_labs",
    "study_run": "study_results",
}
SMALL = (640, 480)


OWN = {
    "explore_groups": {"data": "sample:hidden_group", "content": "predictions", "calibrators": "none"},
    "explore_survival": {
        "data": "sample:relapses",
        "content": "predictions",
        "target": "target",
        "reliability.group": "hospital",
        "calibrators": "none",
    },
    "explore_watch": {
        "data": "sample:drift_abrupt",
        "content": "predictions",
        "time": "day",
        "calibrators": "none",
    },
}
"""What a page is shown with, if not with the default data."""


def query(stem: str) -> dict[str, str]:
    """Return the parameters of the address, which skip the guesses of a page."""
    return OWN.get(stem, {})


def picture(browser: Browser, address: str, stem: str) -> bytes:
    page = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}).new_page()
    tab = Tab(page, address).open("" if stem == "start" else stem, **query(stem))
    page.locator("h1").wait_for()  # a fresh server first goes through app.py
    tab.settle()
    image, made = Image.open(io.BytesIO(page.screenshot())), io.BytesIO()
    image.convert("RGB").save(made, "WEBP", quality=QUALITY, method=6)
    page.context.close()
    return made.getvalue()


def ways(browser: Browser, address: str) -> None:
    """Take the first chart behind each of Start's ways in, small, for either theme."""
    for way, stem in CHARTS.items():
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport={"width": 1400, "height": 800}, color_scheme=scheme)
            tab = Tab(context.new_page(), address).open(stem, **query(stem))
            tab.page.locator("h1").wait_for()
            chart = tab.settle().page.locator(".stPlotlyChart, .playground .picture").first.screenshot()
            image = Image.open(io.BytesIO(chart)).convert("RGB")
            image.thumbnail(SMALL)
            image.save(PICTURES_FOLDER / f"{way}-{scheme}.webp", quality=QUALITY, method=6)
            context.close()


def main(stems: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    with serving() as address, chromium() as browser:
        if stems == ["ways"]:
            return ways(browser, address)
        for stem in stems:
            content = picture(browser, address, stem)
            (FOLDER / f"{stem}.webp").write_bytes(content)
            print(f"{stem}: {len(content) / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    # Without a page, argparse checks [] against the choices.
    asked.add_argument("page", nargs="*", choices=[*STEMS, "ways", []], metavar="PAGE", help=", ".join(STEMS))
    main(asked.parse_args().page or STEMS)

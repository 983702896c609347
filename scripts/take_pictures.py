"""The pictures of the guide, from the running app: ``python -m scripts.take_pictures [PAGE …]``.

Start and each page of docs/pages/ have one, of the first screen, in light mode: docs/pictures/PAGE.webp. A page of
Learn is shown with its guess skipped. Retake them when a page looks different.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser

from calib.experiments import EXPERIMENTS
from pages.ui.current import PAGES
from tests.browser.driver import ROOT, Tab, chromium, serving

FOLDER = ROOT / "docs" / "pictures"
STEMS = ["start", *(Path(page.script).stem for pages in PAGES.values() for page in pages)]
WIDTH, HEIGHT, QUALITY = 1400, 1100, 55


def query(stem: str) -> dict[str, str]:
    """Return the parameters of the address, which skip the guesses of a page."""
    page = stem.partition("_")[2]
    return {
        f"{experiment.key}.guess": "skip" for experiment in EXPERIMENTS.values() if experiment.page == page
    }


def picture(browser: Browser, address: str, stem: str) -> bytes:
    page = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}).new_page()
    tab = Tab(page, address).open("" if stem == "start" else stem, **query(stem))
    page.locator("h1").wait_for()  # a fresh server first goes through app.py
    tab.settle()
    image, made = Image.open(io.BytesIO(page.screenshot())), io.BytesIO()
    image.convert("RGB").save(made, "WEBP", quality=QUALITY, method=6)
    page.context.close()
    return made.getvalue()


def main(stems: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    with serving() as address, chromium() as browser:
        for stem in stems:
            content = picture(browser, address, stem)
            (FOLDER / f"{stem}.webp").write_bytes(content)
            print(f"{stem}: {len(content) / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    # [] is what argparse holds against the choices where no page is named.
    asked.add_argument("page", nargs="*", choices=[*STEMS, []], metavar="PAGE", help=", ".join(STEMS))
    main(asked.parse_args().page or STEMS)

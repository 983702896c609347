"""Count the words that a person sees on each page: ``python -m scripts.count_words [PAGE …] [--query a=b&c=d]``.

Words are counted in a real browser of 1366 × 768 pixels: on the first screen, and on the whole page. Text in folds, in
tooltips, in charts and in the menus around the page does not count; what a control or button shows does.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple
from urllib.parse import parse_qsl

from playwright.sync_api import Page

from scripts.take_pictures import STEMS, query
from tests.browser.driver import Tab, chromium, serving

WIDTH, HEIGHT = 1366, 768
FIRST_SCREEN, WHOLE_PAGE = 80, 300  # words at most
SEEN = """height => {
    const walker = document.createTreeWalker(document.querySelector('[data-testid="stMain"]'), NodeFilter.SHOW_TEXT);
    const range = document.createRange(), words = {first: [], page: []};
    for (let node; node = walker.nextNode();) {
        const parent = node.parentElement;
        if (parent.closest("svg, style, script, canvas, iframe, [data-testid=stIconMaterial], [role=img]")) continue;
        if (parent.closest(".st-key-tools, .st-key-heading") && !parent.closest("h1")) continue;
        if (!parent.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
        if (parent.closest("details:not([open])") && !parent.closest("summary")) continue;
        for (const {0: word, index} of node.data.matchAll(/\\S*[\\p{L}\\p{N}]\\S*/gu)) {
            range.setStart(node, index);
            range.setEnd(node, index + word.length);
            const {top, bottom, width} = range.getBoundingClientRect();
            if (width <= 1) continue;  // only for screen readers
            words.page.push(word);
            if (top >= 0 && bottom <= height) words.first.push(word);
        }
    }
    return words;
}"""


class Words(NamedTuple):
    """Words of a page: those of its first screen, and all, in the order of the page."""

    first: list[str]
    page: list[str]


def visible_words(page: Page, height: int = HEIGHT) -> Words:
    """Return the words that a person sees on the open page, scrolled to its top."""
    found = page.evaluate(SEEN, height)
    return Words(found["first"], found["page"])


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("page", nargs="*", metavar="PAGE", help=", ".join(STEMS))
    asked.add_argument("--query", default="", help="parameters of the address instead of the page's own")
    asked.add_argument("--text", action="store_true", help="print the words, too")
    options = asked.parse_args()
    with serving() as address, chromium() as browser:
        for stem in options.page or STEMS:
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            given = dict(parse_qsl(options.query)) or query(stem)
            Tab(page, address).open("" if stem == "start" else stem, **given)
            page.locator("h1").wait_for()  # a fresh server first goes through app.py
            words = visible_words(Tab(page, address).settle().page)
            print(f"{stem}: {len(words.first)} on the first screen, {len(words.page)} in all", flush=True)
            if options.text:
                print(" ".join(words.first), "\n|", " ".join(words.page[len(words.first) :]), flush=True)
            page.close()


if __name__ == "__main__":
    main()

"""The story on its page: the HTML file of ``calib.export.story`` in a frame, and the same file to download."""

from __future__ import annotations

from calib.export.story import story_html
from pages.ui import browser, downloads

PAGE = "story"


def show() -> None:
    """Draw the story, and offer it as a file."""
    browser.component(PAGE)(key=PAGE, data={"html": story_html().decode()})
    downloads.button("Download as one HTML file", story_html, "story.html", "text/html")

"""The story on its page: the HTML file of ``calib.export.story`` in a frame, and the same file to download."""

from __future__ import annotations

import streamlit as st

from calib.export.story import story_html
from pages.ui import browser, downloads

PAGE = "story"


def show() -> None:
    """Draw the story, and offer it as a file."""
    at = st.session_state.pop("story_at", "")  # the step to which an old link leads
    browser.component(PAGE)(key=PAGE, data={"html": story_html().decode(), "at": at})
    downloads.button("Download as one HTML file", story_html, "story.html", "text/html")

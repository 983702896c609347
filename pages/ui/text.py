"""Show text from files literally, without Markdown."""

from __future__ import annotations

import re

from calib.kernel.wording import without_direction_marks

MARKDOWN_SIGNS = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>$:&^=])")
# Streamlit turns bare text into links, addresses, icons, arrows and dashes in spite of escapes. An
# invisible word joiner between their signs leaves them as they are.
JOINED = re.compile(r"(?<=:)(?=/|material)|(?<=www)(?=\.)|(?<=@)|(?<=-)(?=[->])|(?<=<)(?=-)", re.IGNORECASE)


def plain(text: object) -> str:
    """Return Markdown that shows ``text`` literally: no emphasis, link, formula, colour, icon, HTML or reversed
    text.
    """
    return MARKDOWN_SIGNS.sub(r"\\\1", JOINED.sub("\u2060", without_direction_marks(str(text))))


def unbroken(text: str) -> str:
    """Return ``text`` with each number and its percent sign in one line."""
    return text.replace(" %", "\u00a0%")


def about_file(name: str, error: Exception) -> str:
    """Return an error message that names the file."""
    return str(error) if name in str(error) else f"{name}: {error}"

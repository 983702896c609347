"""Words that come from a file are shown as text."""

from __future__ import annotations

import re

from calib.kernel.wording import in_order

SIGNS = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>$:&^=])")
# What Streamlit makes of bare text in spite of escapes: links, addresses, icons, arrows and dashes. An
# invisible word joiner between their signs leaves them as they are.
JOINED = re.compile(r"(?<=:)(?=/|material)|(?<=www)(?=\.)|(?<=@)|(?<=-)(?=[->])|(?<=<)(?=-)", re.IGNORECASE)


def plain(text: object) -> str:
    """Markdown that reads as ``text`` itself: no emphasis, link, formula, colour, icon, HTML or turned direction."""
    return SIGNS.sub(r"\\\1", JOINED.sub("\u2060", in_order(str(text))))


def about_file(name: str, error: Exception) -> str:
    """What is wrong with a file, in one message that names it."""
    return str(error) if name in str(error) else f"{name}: {error}"

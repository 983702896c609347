"""Words that come from a file are shown as text."""

from __future__ import annotations

import re

SIGNS = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>$:&^=])")
# What Streamlit makes of bare text in spite of escapes: links, addresses, icons, arrows and dashes. An invisible word
# joiner between their signs leaves them as they are.
JOINED = re.compile(r"(?<=:)(?=/|material)|(?<=www)(?=\.)|(?<=@)|(?<=-)(?=[->])|(?<=<)(?=-)", re.IGNORECASE)


def plain(text: object) -> str:
    """Markdown that reads as ``text`` itself: no emphasis, link, formula, colour, icon or HTML."""
    return SIGNS.sub(r"\\\1", JOINED.sub("\u2060", str(text)))


def duration(seconds: float) -> str:
    """Seconds, minutes or hours, as people say them."""
    for limit, unit, name in ((90, 1, "second"), (5400, 60, "minute"), (172800, 3600, "hour")):
        if seconds < limit:
            count = max(1, round(seconds / unit))
            return f"{count} {name}{'s' if count > 1 else ''}"
    return f"{round(seconds / 86400)} days"

"""Words that come from a file are shown as text."""

from __future__ import annotations

SIGNS = frozenset("\\`*_{}[]()#+-.!|~<>$:&^=")


def plain(text: object) -> str:
    """Markdown that reads as ``text`` itself: no emphasis, link, formula, colour, icon or HTML."""
    return "".join(f"\\{sign}" if sign in SIGNS else sign for sign in str(text))

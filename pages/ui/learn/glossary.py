"""The glossary page, and links to it from the first use of a term."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

import streamlit as st

from calib.lessons.glossary import GLOSSARY, Term
from pages.ui import browser, style
from pages.ui.text import plain

PAGE = "learn_glossary"
BY_WRITING = {form: term for term in GLOSSARY.values() if term.linked for form in term.written}
TERM_PATTERN = re.compile(
    r"(?<![\w\[])(?:"
    + "|".join(re.escape(plain(form)) for form in sorted(BY_WRITING, key=len, reverse=True))
    + r")(?!\w)"
)
TERM_OF_PLAIN = {plain(form): term for form, term in BY_WRITING.items()}
# Links, formulas and code stay as they are
NEVER_LINKED = re.compile(r"(\[[^\]]*\]\([^)]*\)|\$[^$]*\$|`[^`]*`)")
ENTRIES_HTML = "".join(
    f'<details><summary><h2 id="{term.anchor}">{escape(term.name)}</h2></summary>'
    f"<p>{escape(term.meaning)}</p></details>"
    for term in GLOSSARY.values()
)


def linked(texts: Iterable[str], known: set[str] | None = None) -> list[str]:
    """Return the Markdown with each term linked to its entry at its first use; the link shows the meaning on hover.

    Terms in ``known`` are not linked; linked terms are added to it.
    """
    known = set() if known is None else known

    def link(found: re.Match[str]) -> str:
        term = TERM_OF_PLAIN[found[0]]
        if term.name in known:
            return found[0]
        known.add(term.name)
        return _link(found[0], term)

    return [
        "".join(
            part if i % 2 else TERM_PATTERN.sub(link, part) for i, part in enumerate(NEVER_LINKED.split(text))
        )
        for text in texts
    ]


def links_in(texts: Iterable[str], known: set[str]) -> str:
    """Return links to the terms in these texts, except those in ``known``."""
    terms = {
        TERM_OF_PLAIN[found[0]].name: TERM_OF_PLAIN[found[0]]
        for text in texts
        for found in TERM_PATTERN.finditer(text)
    }
    return ", ".join(_link(plain(name), term) for name, term in terms.items() if name not in known)


def links(keys: Iterable[str]) -> str:
    """Return links to these entries."""
    return ", ".join(_link(plain(GLOSSARY[key].name), GLOSSARY[key]) for key in keys)


def _link(text: str, term: Term) -> str:
    hint = term.meaning.replace('"', "”")
    return f'[{text}]({PAGE}#{term.anchor} "{hint}")'


def listed() -> None:
    """List every term; a click on its name, or a link to its anchor, shows its meaning."""
    style.add("glossary")
    st.html(f'<div class="glossary">{ENTRIES_HTML}</div>')
    browser.open_entry()

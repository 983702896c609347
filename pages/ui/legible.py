"""What Streamlit's own parts need to be read and to show where the keyboard is (WCAG 2.2, level AA), as CSS.

Streamlit's ring around what has the focus is half transparent and, in the dark, hardly to be seen; Plotly's
is black on every paper; and the colours of code are pale on both.
"""

from __future__ import annotations

import streamlit as st

from calib.figures import DARK, Theme

RING = "2px solid {ink} !important"
FOCUS = """
:focus-visible:not(input, textarea, canvas) {{outline: {ring}; outline-offset: -2px}}
.js-plotly-plot .plotly .modebar-btn:focus-visible {{outline: {ring}; outline-offset: -2px}}
[data-rac]:has(> div > input:is([type=range], [type=checkbox]):focus-visible), label:has(input:focus-visible)
    {{outline: {ring}; outline-offset: 3px}}
.react-aria-ComboBox > [role=group]:focus-within, .react-aria-TextField > div:focus-within,
[data-testid=stTextAreaRootElement]:focus-within
    {{border-color: {word} !important; box-shadow: 0 0 0 1px {word}}}
.stElementToolbar:focus-within {{opacity: 1}}"""
# Words of a program stand in the text's own ink, but for three kinds.
CODE = """
.stCode .token {{color: inherit}}
.stCode .token.comment {{color: {muted}}}
.stCode .token:is(.keyword, .boolean, .parameter) {{color: {word}}}
.stCode .token:is(.string, .number) {{color: {value}}}"""
# In the dark no one accent carries white text and is legible as text itself.
ACCENT = "button[data-variant][data-selected] p, [data-testid=stSliderThumbValue] p {color: #7cc4ee}"


# A link to a page is a link, not bare words; in the bar it is one of the bar's buttons.
LINKS = """
.stMain .stPageLink p {{color: {word}; text-decoration: underline}}
.st-key-tools .stPageLink p {{color: inherit; text-decoration: none}}"""


def coloured(rules: str, theme: Theme) -> str:
    """Rules with the names PAPER, GRID and SIDE replaced by the theme's colours."""
    side = st.get_option(f"theme.{theme.name}.sidebar.backgroundColor") or theme.paper
    for name, colour in (("PAPER", theme.paper), ("GRID", theme.grid), ("SIDE", side)):
        rules = rules.replace(name, colour)
    return rules


def css(theme: Theme) -> str:
    """The rules for pages in this theme."""
    dark = theme is DARK
    word, value = ("#7cc4ee", "#6fcfa9") if dark else ("#005f96", "#00694a")
    focus = FOCUS.format(ring=RING.format(ink=theme.ink), word=word)
    code = CODE.format(muted=theme.muted, word=word, value=value)
    return f"{focus} {code} {LINKS.format(word=word)} {ACCENT if dark else ''}"

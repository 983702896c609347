"""The frame around every page: title, navigation, the sidebar that edits the Recipe, the link and the Python source.

There is no ``st.navigation``: a fresh server that is asked for a page's own address runs that page's script alone, so
each script opens its frame itself and needs no other script to have run before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from calib.evaluate import Evaluation
from calib.figures import DARK, LIGHT, Theme
from calib.figures.base import label_of
from calib.recipe import Recipe
from pages.ui import controls, state
from pages.ui.text import plain

PRODUCT = "Calibration Explorer"


@dataclass(frozen=True)
class Page:
    """One page: its script, its name in the navigation, and the question it answers."""

    script: str
    name: str
    question: str


PAGES = {
    "Explore": (
        Page("pages/explore_data.py", "Data", "What is in the table, and is it fit to learn from?"),
        Page(
            "pages/explore_reliability.py", "Reliability", "When the model says 70 %, does it happen 70 % of the time?"
        ),
        Page("pages/explore_venn_abers.py", "Venn–Abers", "How sure can each single probability be?"),
    ),
    "Learn": (),
    "Study": (),
}


def theme() -> Theme:
    return DARK if st.context.theme.type == "dark" else LIGHT


def open_page(script: str) -> Recipe:
    """Everything around a page; the Recipe it works with."""
    page = next(page for pages in PAGES.values() for page in pages if page.script == script)
    st.set_page_config(page_title=f"{page.name} · {PRODUCT}", layout="wide", initial_sidebar_state="auto")
    state.follow_address(script)
    with st.sidebar:
        _navigation(page)
        controls.sidebar(state.recipe())
    _heading(page)
    return state.recipe()


def _navigation(current: Page) -> None:
    st.markdown(f"**{PRODUCT}**")
    query = state.recipe().to_query()
    for section, pages in PAGES.items():
        if not pages:
            continue
        st.caption(section)
        for page in pages:
            st.page_link(page.script, label=page.name, help=page.question, query_params=query)


def _heading(page: Page) -> None:
    title, actions = st.columns([0.72, 0.28], vertical_alignment="center")
    title.title(page.question, anchor=False)
    with actions.container(horizontal=True, horizontal_alignment="right"):
        with st.popover("Copy link", help="An address that opens this page with all of these settings."):
            st.code(_link(), language=None, wrap_lines=True)
            if state.recipe().data.startswith("upload:"):
                st.caption("The link holds the settings, not your file: whoever opens it is asked for the file.")
        with st.popover("Show Python", help="The same numbers with the calib package."):
            st.code(controls.python_source(state.recipe()), language="python")
    if state.message():
        st.warning(plain(state.message()))


def _link() -> str:
    parts = urlsplit(st.context.url or "http://127.0.0.1:8501/")
    return urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(state.recipe().to_query()), ""))


def refusals(evaluation: Evaluation) -> None:
    """Which calibrators cannot answer here, and why; the others are shown."""
    for key, why in evaluation.refused.items():
        st.warning(f"**{label_of(key)}** is not shown: {plain(why)}")


def notes(sentences: Sequence[str]) -> None:
    """What was dropped, imputed or left out on the way."""
    with st.expander(f"What was dropped, imputed or left out ({len(sentences)})"):
        for sentence in sentences or ("Nothing.",):
            st.text(sentence)

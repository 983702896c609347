"""Frame of every page: title, navigation, the sidebar that edits the Recipe, the link and the Python source.

A fresh server knows only app.py and, in Streamlit's old discovery mode, the scripts beside it. If a page's own
address is requested first, Streamlit runs that script alone, so ``open_page`` sends such a session through app.py
once.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from string import Template
from typing import Any

import streamlit as st

from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.experiments import OTHER_VIEWS
from calib.export import WORD_SOURCES
from calib.figures import DARK
from calib.kernel.checks import InputError
from calib.kernel.declared import SETTINGS
from calib.kernel.wording import listed, percent
from calib.recipe import Recipe, plugin_problems
from pages.ui import (
    admission,
    browser,
    controls,
    current,
    evaluations,
    former,
    headings,
    jobs,
    lesson_layout,
    server,
    server_tables,
    start,
    state,
    style,
    turns,
    upload_memory,
    uploads,
    widget,
)
from pages.ui.learn import kept, lessons
from pages.ui.posed_question import ask_nothing
from pages.ui.text import plain

PRODUCT = "Calibration Explorer"
WORDMARK = Template((Path(__file__).parent / "pictures" / "wordmark.svg").read_text(encoding="utf-8"))
LINK_WITHOUT_FILE = (
    "The link contains the settings and the file’s name, but not the file. Anyone who opens the link must upload "
    "the file."
)


LOST = (
    "The server lost this session, perhaps after a restart or a long pause. The page was restored from its "
    "address; please repeat your last step."
)

FAULT = (
    "Something went wrong ({}). Your data and settings are safe: undo your last change, or open another page. Details "
    "are in the server log."
)


def run_app() -> None:
    """Run app.py: the page table as navigation, and the start page under the address without a path."""
    server.protect_data()
    server.limit_arenas()
    server.bundle_messages()
    upload_memory.keep_uploads_in_memory()
    server.search_for_garbage()
    admission.admit()
    st.session_state["through_app"] = True
    # Until it knows the pages, Streamlit would list the scripts
    st.set_option("client.showSidebarNavigation", True)

    sections = {
        section: [st.Page(page.script, title=page.name) for page in pages]
        for section, pages in current.PAGES.items()
        if pages
    }
    hidden = [
        st.Page(partial(_follow_former, page), title=page, url_path=page, visibility="hidden")
        for page in former.FORMER
    ]
    # On a phone, the drawer of an Explore page has controls below the menu
    shown = 1 + len(current.PAGES["Explore"]) if "/explore_" in (st.context.url or "") else True
    chosen = st.navigation(
        {"": [st.Page(open_start, title="Start", url_path="", default=True), *hidden], **sections},
        position="hidden" if st.session_state.get("presenting") else "top",
        expanded=shown,
    )
    if "asked_for" in st.session_state:
        script, query = st.session_state.pop("asked_for")
        st.switch_page(script, query_params=query)
    st.logo(WORDMARK.substitute(ink=current.theme().ink), size="large")
    with ExitStack() as st.session_state["fold"]:
        try:
            with turns.turn():
                chosen.run()
        except InputError as error:  # a refusal that the page did not expect
            st.error(plain(error))
        except Exception as error:  # Streamlit logs it, and shows only that there was an error
            st.error(FAULT.format(type(error).__name__))
            raise
        finally:
            upload_memory.warm_readers()


def _follow_former(page: str) -> None:
    """Lead a link to a former page to the view that took its place."""
    query = state.query_parameters()
    view = former.view_of(page, query)
    new = next(
        one
        for pages in current.PAGES.values()
        for one in pages
        if view in getattr(SETTINGS.get(f"{one.key}.experiment"), "choices", ())
    )
    chosen = {} if "lesson" in query else {f"{new.key}.experiment": view}
    st.switch_page(new.script, query_params=former.in_use(query) | chosen)


def open_start() -> None:
    """Open the start page, which has no settings; an address with settings is a link to Reliability."""
    _note_a_lost_session()
    if query := state.query_parameters():
        st.switch_page("pages/explore_reliability.py", query_params=query)
    state.enter_without_recipe("")
    _set_up("", "Start", presenter=False)
    browser.begin_at_the_top("")
    headings.clear()
    ask_nothing()
    lesson_layout.clear()
    for problem in plugin_problems():
        st.warning(plain(problem))
    start.show()


def _note_a_lost_session() -> None:
    if "lost" not in st.session_state:  # the very first run, whichever script it begins with
        st.session_state["lost"] = server.lost_its_session()
        if st.session_state["lost"]:
            widget.name_anew()


def open_page(script: str) -> Recipe:
    """Draw the frame of a page, and return the Recipe that the page works with."""
    _note_a_lost_session()
    _through_app(script)
    state.follow_address(script)
    changed = uploads.read_arrived()
    if server_tables.refresh_tables() or changed:
        state.follow_address(script)
    page, presenter = current.of(script), state.presenter()
    explores = page in current.PAGES["Explore"]
    if st.session_state["lost"]:
        st.session_state["lost"] = False
        state.say(LOST)
    first = st.session_state.pop("first_step", script)
    if first != script:
        st.switch_page(first, query_params=state.here())
    _set_up(script, page.name, presenter, alone=lessons.shows(script))
    if presenter:
        style.add("room")
        style.add("presenter")
    asked = current.question(current.of(script), state.recipe())
    browser.begin_at_the_top((script, state.lesson_open(), asked))
    lesson_layout.clear()
    headings.clear()
    ask_nothing()
    if explores:
        st.session_state["fold"].enter_context(_place_of_data(page))
        lesson_layout.set_up({"reading": st.container()})
    in_step = lessons.panel(script)
    if state.lesson_open() is not None:
        kept.keep()
    if explores:  # after the step, whose controls it leaves out
        with st.sidebar:
            controls.sidebar(state.recipe(), page.controls)
    if presenter:  # the sidebar is the drawer
        lesson_layout.set_up({"controls": st.sidebar, "more": st.sidebar})
    with st.container():  # with or without a message, the rest and the focus keep their place
        for message in (*plugin_problems(), *filter(None, [state.message()])):
            st.warning(plain(message))
        if state.sql():
            st.code(state.sql(), language="sql", wrap_lines=True)
    if in_step:  # what follows until the script ends
        st.session_state["fold"].enter_context(st.expander("Whole page", key="whole_page"))
    elif presenter and not _has_own_words(page):  # it has its own words beside it
        words, rest = st.columns(lesson_layout.COLUMN_WIDTHS, gap="medium")
        lesson_layout.set_up({"room": words})
        st.session_state["fold"].enter_context(rest)
    if not (presenter and in_step):
        with lesson_layout.words():
            _heading(page, in_step, presenter)
            if lesson_layout.beside_the_page():
                lesson_layout.set_up({"room": st.container(key="results_words")})
    if "base_rate" in page.controls:
        _note_base_rates(state.recipe())
    if explores and page.key != "data":
        controls.rows_shown(page.name)
    if "model" in page.controls and state.recipe().content == "predictions":
        controls.score_findings(state.recipe())
        controls.censored_rows(state.recipe())
    if explores:
        st.session_state["fold"].enter_context(st.container(key="results"))
    return state.recipe()


def _has_own_words(page: current.Page) -> bool:
    """Tell whether the open view puts its words beside its picture itself, or has words alone."""
    if page.key not in OTHER_VIEWS:
        return page.key in WORD_SOURCES
    return state.recipe().setting(f"{page.key}.experiment") in OTHER_VIEWS[page.key]


def _note_base_rates(recipe: Recipe) -> None:
    """Say that all probabilities are adjusted, where they are."""
    if recipe.base_rate is None and not recipe.base_rates:
        return
    to = "the deployment class shares" if recipe.base_rates else f"a base rate of {percent(recipe.base_rate)}"
    st.caption(
        f"All probabilities are adjusted to {to}. “Base rate” on the Reliability page compares the results before and "
        "after."
    )


def _place_of_data(page: current.Page) -> Any:
    """Return the container of everything that depends on the data.

    With other data it is another container, so that the old content disappears at once, also while the new data are
    read. The page that chooses the data keeps its container, and with it the keyboard focus.
    """
    data = evaluations.data_key(state.recipe())
    last, second = st.session_state.get("place_of_data", (data, False))
    if data != last:
        second = not second
        st.session_state.pop("shown", None)
    st.session_state["place_of_data"] = data, second
    if page.key == "data":
        return st.container()
    first, other = (st.empty(), st.container()) if second else (st.container(), st.empty())
    return other if second else first


def _through_app(script: str) -> None:
    if "through_app" not in st.session_state:
        st.session_state["asked_for"] = (script, state.query_parameters())
        st.switch_page("app.py")


def open_alone(script: str, title: str) -> None:
    """Draw the frame of a page without navigation and sidebar, which has its own address and no Recipe."""
    st.session_state.setdefault("lost", False)  # it has nothing to lose
    _through_app(script)
    state.enter_without_recipe(script)
    _set_up(script, title, presenter=True)


def _set_up(script: str, title: str, presenter: bool, alone: bool = False) -> None:
    """Begin a page: jobs, style and title; in presenter view without navigation.

    The sidebar is closed in presenter view and for a page that is shown ``alone``.
    """
    theme = current.theme()
    jobs.page_entered(script)
    style.begin(theme)
    if presenter != st.session_state.get("presenting", False):
        st.session_state["presenting"] = presenter
        st.rerun()  # the navigation was drawn before this was known
    sidebar = "collapsed" if presenter or alone else "auto"
    st.set_page_config(page_title=f"{title} · {PRODUCT}", layout="wide", initial_sidebar_state=sidebar)
    browser.follow_scheme(theme is DARK)
    browser.enter_popovers()
    browser.one_stop_per_toolbar()
    browser.let_swipes_scroll()
    browser.one_entry_per_page()
    browser.keep_place()


def _heading(page: current.Page, in_step: bool, presenter: bool) -> None:
    """Draw the page's question with the data set's name, and the bar with link, Python code and glossary."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="heading"):
        question = current.question(page, state.recipe())
        if in_step:  # under the step's own title
            headings.part(question, width="content")
        else:
            st.title(question, anchor=False, width="content")
        if page in current.PAGES["Explore"]:
            st.caption(f"Data: **{plain(state.data_name(state.recipe()))}**")
    with st.container(
        horizontal=True, vertical_alignment="center", width="content", gap="xsmall", key="tools"
    ):
        st.page_link(current.GLOSSARY_PAGE.script, label=current.GLOSSARY_PAGE.name)
        help = "Copies an address that opens this page with all these settings."
        browser.copy_button("Copy link", current.link(), help, LINK_WITHOUT_FILE * state.has_upload())
        what = "words" if page.key in WORD_SOURCES else "numbers"
        with st.popover(
            "Show Python",
            type="tertiary",
            help=f"Python code that gives the same {what} with the calib package.",
        ):
            st.code(current.python(), language="python")
        if not in_step:  # there the step's own row has it
            lessons.presenter("tertiary")


def refusals(*evaluations: Evaluation) -> None:
    """Name the calibrators that are not shown; the reasons are folded, each once. The others are shown."""
    refused = dict.fromkeys(item for evaluation in evaluations for item in evaluation.refused.items())
    if not refused:
        return
    names = listed(list(dict.fromkeys(label_of(key) for key, _ in refused)))
    with st.expander(
        f":orange[:material/warning:] Not shown: {plain(names)}", key="not_shown", type="compact"
    ):
        for key, why in refused:
            st.warning(f"**{label_of(key)}** is not shown: {plain(why)}")


def notes(sentences: Sequence[str]) -> None:
    """List what was dropped, imputed or left out on the way."""
    with st.expander(f"Excluded or imputed data ({len(sentences)})"):
        for sentence in sentences or ("Nothing.",):
            st.text(sentence)

"""The frame around every page: title, navigation, the sidebar that edits the Recipe, the link and the Python source.

A fresh server knows of no page but app.py and, in Streamlit's old discovery mode, of the scripts beside it:
asked for a page's own address first, it runs that script alone. So ``open_page`` sends such a session through
app.py once.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import streamlit as st

from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.export import WORD_SOURCES
from calib.figures import DARK
from calib.kernel.checks import InputError
from calib.kernel.wording import percent
from calib.recipe import Recipe, plugin_problems
from pages.ui import (
    browser,
    controls,
    current,
    evaluations,
    headings,
    jobs,
    legible,
    server,
    stage,
    start,
    state,
)
from pages.ui.learn import lessons
from pages.ui.text import plain

PRODUCT = "Calibration Explorer"
# As wide with every system's letters: Linux has no Georgia, and what some have in its place would be cut off.
WORDMARK = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="240" height="32" role="img" aria-label="{name}">'
    '<text x="0" y="22" textLength="200" lengthAdjust="spacingAndGlyphs" font-size="21" font-weight="600" '
    'font-family="Georgia, Gelasio, Source Serif 4, Noto Serif, Liberation Serif, serif" fill="{ink}">{name}</text>'
    "</svg>"
)
# For a room: all of Streamlit's sizes follow the root's; the page begins higher up; headline numbers get more
# width. The sidebar is a drawer, closed at first, whose button says what is in it. It opens over the words, all
# of their column (stage.ROOM): the picture beside them stays as it is.
LARGE = """<style>:root {font-size: 130%} .stMainBlockContainer {padding: 3.75rem 3rem}
.stElementContainer:has(.stMetric) {min-width: 13rem}
.st-key-answered {flex-direction: column; align-items: stretch; > * {flex: none}}
.stSidebar[data-collapsed=false] {width: 24rem !important; max-width: 100%}
@media (min-width: 1100px) {
    .stSidebar[data-collapsed=false] {position: absolute !important; width: 34.5vw !important;
        height: 100dvh !important; overflow-y: auto; box-shadow: 0 0 1.5rem rgb(0 0 0 / .3)}
}
[data-testid=stExpandSidebarButton] {width: auto; padding: .25rem .75rem; border: 1px solid; border-radius: .5rem}
[data-testid=stExpandSidebarButton]::after {content: "Settings" / ""; font-size: 1rem}
[data-testid=stButtonGroup] > div {flex-wrap: wrap}
[class*="st-key-projected_"] {flex: none; height: min(780px, calc(100dvh - 5rem))}
[class*="st-key-projected_"] .stElementContainer, .stElementContainer > div:has(> .stPlotlyChart) {height: 100%}
@media (max-height: 900px) {[class*="st-key-projected_"] svg text {font-size: 16px !important}}</style>"""
# A link to one's own file. And a telephone, where the sidebar stands over the page and would cover it after a
# choice: there it takes the upper part of the window, and the page goes on below it. Headline numbers stand
# two by two, below the chart, which is on the first screen. A square diagram above a histogram has no gap between
# them: its chart is as high as its width allows. The toolbar of a chart, which a touch screen always shows, would
# cover marks, and that of a table the words above it: it waits for a tap on the table. While a question is open, and
# in a lesson, a row of panels is a strip to be moved sideways, so that its answers and what is said of them are near.
# Why the browser does not upload a file is read without pointing at it.
OWN = "The link contains the settings and the file’s name, but not the file. Anyone who opens it must upload the file."
NARROW = """.stSidebar h2 {font-size: 1.1rem}
.stMainBlockContainer {padding: 4.25rem 2.5rem 4rem}
.st-key-heading h1 {padding: 0}
.st-key-heading {row-gap: 0}
.stMain h2 {padding: .25rem 0}
.st-key-finding h2 {padding: 0 0 .25rem}
.st-key-tools {gap: .25rem 1rem}
.st-key-heading .stElementContainer:has(.stCaptionContainer) {flex: 1 1 8rem}
@media (min-width: 900px) {
    .st-key-invitation > :last-child {margin-left: auto}
    :has(> .st-key-tools) {position: fixed; top: .65rem; right: 3.5rem; z-index: 999991; width: auto}
}
.st-key-invitation {row-gap: .5rem}
.st-key-told {gap: 1.25rem}
.st-key-told :is(p, a) {font-size: 1.2rem; line-height: 1.5}
.st-key-told .stCaptionContainer p {font-size: 1rem}
.st-key-scheme, .st-key-top, [class*="st-key-focus_"], [class*="st-key-live_"] {position: absolute}
.stMain {scroll-padding-top: 4rem}
.stFileChip[aria-invalid=true] {flex-wrap: wrap; height: auto; max-width: 100%}
.stFileChip [role=alert] {position: static !important; width: auto !important; height: auto !important;
    clip: auto !important; clip-path: none !important; margin: 0 !important; white-space: normal !important}
.stMain .katex-display {padding: 0 3px}
.st-key-headline {border-top: 1px solid GRID}
.st-key-headline .stMetric > div {display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .75rem;
    padding: .3rem 0; border-bottom: 1px solid GRID; > div {width: auto}}
.st-key-headline .stMetric label {flex: 1 1 6.5rem; min-height: 0; height: auto}
.st-key-headline [data-testid="stMetricValue"] {font-size: 1.05rem; line-height: 1.4; padding: 0}
.st-key-headline .stMetric :is(div, p) {white-space: normal; overflow-wrap: anywhere; text-overflow: clip}
.stSidebar :has(> .st-key-view) {position: sticky; bottom: 0; z-index: 1}
.st-key-view {padding: .75rem 0; background: SIDE; border-top: 1px solid GRID}
@media (min-width: 1100px) {
    [class*="st-key-first_"] {flex: none; height: clamp(28rem, 100dvh - 9.5rem, 46rem)}
    [class*="st-key-under_"] {flex: none; height: clamp(27rem, 100dvh - 20.5rem, 46rem)}
    :is([class*="st-key-first_"], [class*="st-key-under_"]) :is(.stElementContainer, .stPlotlyChart) {height: 100%}
    .st-key-first [class*="st-key-first_"] {height: clamp(26rem, 100dvh - 12.5rem, 46rem)}
}
@media (min-width: 641px) and (min-height: 700px) {
    .st-key-picture :has(> .st-key-answers_guess) {position: sticky; bottom: 0; z-index: 1}
    .st-key-answers_guess {padding: .5rem 0; background: PAPER; border-top: 1px solid GRID}
}
@media (max-width: 640px) {
    .modebar-container, :not(:focus-within) > .stElementToolbar {display: none}
    .stMainBlockContainer {padding: 4rem 1rem 2rem}
    .stAppToolbar > div > :last-child {flex: 1; min-width: 0; width: auto}
    [data-testid=stExpandSidebarButton] {width: auto; padding: .25rem .5rem}
    [data-testid=stExpandSidebarButton]::after {content: "Menu" / ""; font-size: 1rem}
    .stMainBlockContainer h1 {font-size: 1.4rem; padding: 0}
    .stMainBlockContainer h2 {font-size: 1.15rem; padding: .5rem 0 1rem}
    .stMain .katex-display {font-size: .88em}
    [class*="st-key-strip_"] .stHorizontalBlock
        {flex-wrap: nowrap; overflow-x: auto; scroll-snap-type: x proximity;
        > .stColumn:not(:only-child) {flex: none; width: 82%; min-width: 0; scroll-snap-align: start}}
    [class*="square_chart_"] {flex: none; height: calc(131.6vw + 17px)}
    .st-key-first [class*="square_chart_"] {height: calc(131.6vw - 71px)}
    [class*="square_chart_"] .stElementContainer, [class*="square_chart_"] .stPlotlyChart {height: 100%}
    .stAppViewContainer:has(> .stSidebar[data-collapsed=false]) {flex-direction: column}
    .stSidebar[data-collapsed=false] {width: 100% !important; height: 45dvh !important; max-width: none}
    .stSidebar[data-collapsed=false] > [data-testid=stSidebarContent] {height: 100%; overflow-y: auto}
    .stSidebar[data-collapsed=false] ~ div {flex: 1; min-height: 0; position: relative; width: 100%}
    .stSidebar[data-collapsed=false] ~ div .stMain {height: 100%; min-height: 0}
}"""


LOST = (
    "The server lost this session, for example after a restart or a long pause. The page was restored from its "
    "address; please repeat your last step."
)

FAULT = (
    "Something went wrong ({}). Your data and settings are safe: undo your last change, or open another page. Details "
    "are in the server log."
)


def run_app() -> None:
    """All of app.py: the page table as navigation, and the start page under the address without a path."""
    server.keep_in()
    server.search_for_garbage()
    st.session_state["through_app"] = True
    # Before it knows the pages Streamlit would list the scripts
    st.set_option("client.showSidebarNavigation", True)

    sections = {
        section: [st.Page(page.script, title=page.name) for page in pages]
        for section, pages in current.PAGES.items()
        if pages
    }
    chosen = st.navigation(
        {"": [st.Page(open_start, title="Start", url_path="", default=True)], **sections},
        position="hidden" if st.session_state.get("presenting") else "top",
    )
    if "asked_for" in st.session_state:
        script, query = st.session_state.pop("asked_for")
        st.switch_page(script, query_params=query)
    st.logo(WORDMARK.format(ink=current.theme().ink, name=PRODUCT), size="large")
    with ExitStack() as st.session_state["fold"]:
        try:
            chosen.run()
        except InputError as error:  # what a page did not expect to be refused
            st.error(plain(error))
        except Exception as error:  # Streamlit logs it, and says below no more than that there was one
            st.error(FAULT.format(type(error).__name__))
            raise


def open_start() -> None:
    """The start page, which has no settings: an address with some is a link to Reliability."""
    _note_a_lost_session()
    if query := state.asked():
        st.switch_page("pages/explore_reliability.py", query_params=query)
    state.stand_aside("")
    _set_up("", "Start", presenter=False)
    headings.clear()
    stage.clear()
    for problem in plugin_problems():
        st.warning(plain(problem))
    start.show()


def _note_a_lost_session() -> None:
    if "lost" not in st.session_state:  # the very first run, whichever script it begins with
        st.session_state["lost"] = server.lost_its_session()


def open_page(script: str) -> Recipe:
    """Everything around a page; the Recipe it works with."""
    _note_a_lost_session()
    _through_app(script)
    state.follow_address(script)
    page, presenter = current.of(script), state.presenter()
    if st.session_state["lost"]:
        st.session_state["lost"] = False
        state.say(LOST)
    first = st.session_state.pop("first_step", script)
    if first != script:
        st.switch_page(first, query_params=state.here())
    _set_up(script, page.name, presenter)
    if presenter:
        st.html(LARGE)
    browser.begin_at_the_top((script, state.lesson_open(), state.recipe().setting("lessons.end")))
    stage.clear()
    headings.clear()
    if page in current.PAGES["Explore"]:
        st.session_state["fold"].enter_context(_place_of_data(page))
        stage.set_up({"reading": st.container()})
        with st.sidebar:
            controls.sidebar(state.recipe(), page.controls)
    in_step = lessons.panel(script)
    if presenter:  # the sidebar is the drawer
        stage.set_up({"controls": st.sidebar, "more": st.sidebar})
    with st.container():  # with a message or without, what follows stays in its place, and so does the focus
        for message in (*plugin_problems(), *filter(None, [state.message()])):
            st.warning(plain(message))
    if in_step:  # what follows until the script ends
        st.session_state["fold"].enter_context(st.expander("Whole page", key="whole_page"))
    elif presenter and page.key not in WORD_SOURCES:
        words, rest = st.columns(stage.ROOM, gap="medium")
        stage.set_up({"room": words})
        st.session_state["fold"].enter_context(rest)
    if not (presenter and in_step):
        with stage.words():
            _heading(page, in_step, presenter)
            if stage.beside_the_page():
                stage.set_up({"room": st.container(key="results_words")})
    if "base_rate" in page.controls and state.recipe().base_rate is not None:
        rate = percent(state.recipe().base_rate)
        st.caption(
            f"All probabilities are adjusted to a base rate of {rate}. “Base rate” on the Reliability page "
            "compares the results before and after."
        )
    if page in current.PAGES["Explore"] and page.key != "data":
        controls.period(page.name)
    if "model" in page.controls and state.recipe().content == "predictions":
        controls.score_findings(state.recipe())
    if page in current.PAGES["Explore"]:
        st.session_state["fold"].enter_context(st.container(key="results"))
    return state.recipe()


def _place_of_data(page: current.Page) -> Any:
    """Where what belongs to the data goes. With other data it is another place, and the last one is empty at once,

    also while the other data are read. On the page that chooses the data the keyboard keeps its place instead.
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
        st.session_state["asked_for"] = (script, state.asked())
        st.switch_page("app.py")


def open_alone(script: str, title: str) -> None:
    """Around a page without navigation and sidebar, whose address is its own and holds no Recipe."""
    _through_app(script)
    state.stand_aside(script)
    _set_up(script, title, presenter=True)


def _set_up(script: str, title: str, presenter: bool) -> None:
    """What every page begins with: its work, its style, its title; without navigation in presenter mode."""
    theme = current.theme()
    jobs.page_entered(script)
    st.html(f"<style>{legible.css(theme)} {legible.coloured(NARROW, theme)}</style>")
    if presenter != st.session_state.get("presenting", False):
        st.session_state["presenting"] = presenter
        st.rerun()  # the navigation was drawn before this was known
    sidebar = "collapsed" if presenter else "auto"
    st.set_page_config(page_title=f"{title} · {PRODUCT}", layout="wide", initial_sidebar_state=sidebar)
    browser.follow_scheme(theme is DARK)
    browser.enter_popovers()
    browser.keep_place()


def _heading(page: current.Page, in_step: bool, presenter: bool) -> None:
    """The page's question with the name of the data set beside it, and what can be taken along, in the bar."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="heading"):
        at_the_end = page.key == "lessons" and state.recipe().setting("lessons.end")
        question = lessons.AT_THE_END if at_the_end else page.question
        if in_step:  # under the step's own title
            headings.part(question, width="content")
        else:
            st.title(question, anchor=False, width="content")
        if page in current.PAGES["Explore"]:
            st.caption(f"Data: **{plain(state.data_name(state.recipe()))}**")
    with st.container(
        horizontal=True, vertical_alignment="center", width="content", gap="xsmall", key="tools"
    ):
        st.page_link(current.GLOSSARY.script, label=current.GLOSSARY.name)
        help = "Copies an address that opens this page with all these settings."
        browser.copy_button("Copy link", current.link(), help, OWN * state.brought())
        what = "words" if page.key in WORD_SOURCES else "numbers"
        with st.popover(
            "Show Python",
            type="tertiary",
            help=f"Python code that gives the same {what} with the calib package.",
        ):
            st.code(current.python(), language="python")
        if not in_step:  # there the step's own row has it
            lessons.presenter("tertiary")


def refusals(evaluation: Evaluation) -> None:
    """Which calibrators cannot answer here, and why; the others are shown."""
    for key, why in evaluation.refused.items():
        st.warning(f"**{label_of(key)}** is not shown: {plain(why)}")


def notes(sentences: Sequence[str]) -> None:
    """What was dropped, imputed or left out on the way."""
    with st.expander(f"What was dropped, imputed or left out ({len(sentences)})"):
        for sentence in sentences or ("Nothing.",):
            st.text(sentence)

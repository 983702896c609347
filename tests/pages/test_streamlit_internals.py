"""What the pages use of Streamlit although it promises nothing: all of it here, with the reason, and whether it holds.

``VERSIONS_TRIED`` of pages/ui/server.py has the versions it was tried with. A failure says what to look at again: a
name that is gone, a name used without a reason here, or a workaround for something that the library no longer does.
"""

import ast
import re
import warnings
from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import version
from inspect import getsource as source
from pathlib import Path

import pytest
import streamlit as st
from starlette import formparsers, requests
from streamlit import error_util, net_util, runtime
from streamlit.runtime import app_session, memory_session_storage
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.scriptrunner import script_runner
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.state import session_state
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState, WStates
from streamlit.web.server import server_util
from streamlit.web.server.starlette import starlette_routes

from pages.ui import server

PAGES = Path(__file__).parents[2] / "pages"
# The only files that know more of Streamlit than ``st``
ADAPTERS = [PAGES / "ui" / "server.py", PAGES / "ui" / "upload_memory.py"]

MARKUP = {
    "stApp": "carries the theme's background and whether a script runs; no event tells either",
    "stAppHeader": "in a room, what moves it stands in the row of the product's name",
    "stAppToolbar": "on a phone, the menu's button needs room beside it",
    "stAppViewContainer": "on a phone, the sidebar stands above the page instead of over it",
    "stSlider": "beside the text of a lesson two of them stand closer than Streamlit sets them",
    "stButtonGroup": "its choices wrap in large type",
    "stCaptionContainer": "captions grow with the text beside them; there is no option for their size",
    "stCode": "the colours of code reach the contrast of WCAG 2.2",
    "stColumn": "the picture of a lesson stays in view; panels are moved sideways on a phone",
    "stDataFrame": "old results are dimmed while new ones are computed",
    "stEmpty": "a place of progress without progress takes no room",
    "stElementContainer": "a chart fills the height of its container",
    "stElementToolbar": "it covers the words above a table until the table has the focus",
    "stExpandSidebarButton": "its arrow alone does not say that settings are behind it",
    "stFileChip": "why a file was refused is read without pointing at it",
    "stHorizontalBlock": "a row of panels is moved sideways on a phone; a lesson's columns change places",
    "stLogo": "in a room, where type is large, the product's name is not",
    "stMain": "a page that is opened begins at its top",
    "stMainBlockContainer": "the margins are those of a desk",
    "stMetric": "headline numbers stand in rows that wrap",
    "stMetricValue": "headline numbers are no larger than the finding above them",
    "stPageLink": "a link reads as a link",
    "stPlotlyChart": "a chart fills the height of its container",
    "stPopover": "the keyboard goes from its button into it",
    "stPopoverBody": "the keyboard goes from it to what follows its button",
    "stSidebar": "on a phone, the sidebar stands above the page instead of over it",
    "stSidebarCollapseButton": "on a phone, the menu closes once it has been used",
    "stSidebarContent": "on a phone, the sidebar scrolls by itself",
    "stSliderThumbValue": "reaches the contrast of WCAG 2.2 in the dark",
    "stTextAreaRootElement": "shows the focus",
    "stVerticalBlock": "an answer is read out when it appears",
    "data-collapsed": "whether the sidebar is open",
    "data-rac": "the focus of sliders and switches is seen",
    "data-selected": "the chosen button reaches the contrast of WCAG 2.2 in the dark",
    "data-testid": "names what has no class of its own",
    "data-variant": "the chosen button reaches the contrast of WCAG 2.2 in the dark",
    "data-test-script-state": "the focus goes back once the page is drawn; no event tells when a run has ended",
    "kind": "answers of a question are read as a list, quiet buttons stand in a line of text",
    "react-aria-ComboBox": "shows the focus",
    "react-aria-TextField": "shows the focus",
    "katex-display": "a formula fits a phone",
    "token": "the colours of code reach the contrast of WCAG 2.2",
    "js-plotly-plot": "the chart itself: guesses, swipes and clicks on its legend begin there",
    "plotly": "the focus of a chart's tools is seen over Plotly's own rule",
    "modebar": "a chart's tools are one stop of the keyboard",
    "modebar-btn": "a chart's tools are one stop of the keyboard, and their focus is seen",
    "modebar-container": "a chart's tools do not cover marks on a phone",
    "draglayer": "a swipe that begins on a plot scrolls the page",
    "overplot": "what comes in after a guess is moved, and its axes are not",
    "trace": "what comes in after a guess is moved",
    "heatmaplayer": "what comes in after a guess is moved",
    "contourlayer": "what comes in after a guess is moved",
    "_fullLayout": "a guess is placed in the units of the axes; Plotly's events do not tell where a plot lies",
    "_length": "a guess is placed in the units of the axes",
    "_offset": "a guess is placed in the units of the axes",
    "p2d": "a guess is placed in the units of the axes",
    "d2p": "a guess is placed in the units of the axes",
    "_ev": "a chart that is drawn anew has other events; nothing tells of it",
}
"""Class, attribute or property of Streamlit's and Plotly's own pages → why a stylesheet or a script needs it."""

COMMON = {
    "kind": ("BaseButton", r"\{ref:\w+,kind:\w+,"),
    "token": ("StreamlitSyntaxHighlighter", r"classes:\[`token`,"),
    "trace": ("PlotlyChart", r"`trace bars`"),
    "plotly": ("PlotlyChart", r"classed\(`plotly`"),
}
"""Name that many scripts contain → start of the file that draws it, and how it says so."""

OURS = {
    "area",
    "ballots",
    "below",
    "calibrated",
    "glossary",
    "guess",
    "moving",
    "other",
    "over",
    "panel",
    "playground",
    "right",
    "untouched",
}
"""Classes that our own scripts set; containers of Streamlit with a key of ours begin with st-key-."""

KINDS = {"comment", "keyword", "boolean", "parameter", "string", "number"}
"""Classes of a token of code."""


def text_of(*kinds: str) -> str:
    files = [path for kind in kinds for path in sorted(PAGES.rglob(f"*.{kind}"))]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def page_sheets() -> str:
    """Selectors of the stylesheets of whole pages: those of a component apply to its own HTML alone."""
    sheets = [path for path in PAGES.rglob("*.css") if not list(PAGES.rglob(f"{path.stem}.html"))]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sheets)
    return re.sub(r"/\*.*?\*/|\d\.\d|\w+: [^;{}]*[;}]", " ", text, flags=re.DOTALL)


def dashed(name: str) -> str:
    """The attribute of a name in ``dataset``."""
    return "data-" + re.sub("[A-Z]", lambda letter: f"-{letter[0].lower()}", name)


def used() -> set[str]:
    """All names of others' markup in the stylesheets, scripts and modules of the pages."""
    scripts, sheets, text = text_of("js"), page_sheets(), text_of("css", "js", "py")
    asked = re.findall(r"(?:closest|matches|querySelector(?:All)?)\??\.?\(([\"'`].*)", scripts)
    found = set(re.findall(r"\bst[A-Z]\w+", text)) | set(re.findall(r"\[(data-[a-z-]+)", text))
    found |= set(re.findall(r"(?<![\w.])\.([A-Za-z][\w-]*)", sheets))
    found |= {name for each in asked for name in re.findall(r"[\"'`( ,]\.([a-z][\w-]*)(?![\w-]*\()", each)}
    found |= set(re.findall(r"\[(\w+)=", sheets)) - {"class", "role", "type"}
    found |= {dashed(name) for name in re.findall(r"\bdataset\??\.(\w+)", scripts)}
    found |= set(re.findall(r"\.(_[a-z]\w+|[pdl]2[pdl])\b", scripts))
    components = set(re.findall(r'[\w ]*class="?([\w ]+)', text_of("html")))
    set_by_us = {dashed(name) for name in re.findall(r"\bdataset\.(\w+) = ", scripts)}
    keys = {name for name in found if name.startswith("st-key-")}
    return found - keys - OURS - components - set_by_us - KINDS


@cache
def front_end(start: str = "") -> str:
    """The scripts of Streamlit that draw the markup, with Plotly's among them; ``start`` begins their name."""
    scripts = (Path(st.__file__).parent / "static").rglob(f"{start}*.js")
    return "".join(path.read_text(encoding="utf-8", errors="ignore") for path in scripts)


def drawn(name: str) -> bool:
    # A pattern that begins with plain letters is found ten times sooner
    start, pattern = COMMON.get(name, ("", rf"{name}(?<!\w{name})\b"))
    return re.search(pattern, front_end(start)) is not None


def installed() -> dict[str, str]:
    return {name: ".".join(version(name).split(".")[:2]) for name in server.VERSIONS_TRIED}


def said() -> str:
    """What a failure tells of the versions."""
    return f"tried with {server.VERSIONS_TRIED}, installed {installed()}"


@pytest.mark.parametrize(
    "text",
    [
        'document.querySelector(".stOther")',
        'at.closest(".their-class")',
        "page.dataset.theirState === 1",
        "chart._theirs",
    ],
)
def test_the_search_for_names_sees_those_of_scripts(text, monkeypatch):
    monkeypatch.setattr(f"{__name__}.text_of", lambda *kinds: text)
    assert used() - set(MARKUP)


@pytest.mark.parametrize(
    "text", [".stMain .theirs {gap: 1px}", "button[their=one] {gap: 1px}", "[data-theirs] {gap: 1px}"]
)
def test_the_search_for_names_sees_those_of_stylesheets(text, tmp_path, monkeypatch):
    (tmp_path / "page.css").write_text(text)
    monkeypatch.setattr(f"{__name__}.PAGES", tmp_path)
    assert [name for name in used() if "their" in name]


def test_every_name_of_the_markup_that_is_used_has_its_reason_here():
    assert used() == set(MARKUP)


def test_streamlit_still_draws_what_stylesheets_and_scripts_look_for():
    gone = {name: reason for name, reason in MARKUP.items() if not drawn(name)}
    assert gone == {}, f"{said()}: look at what each reason names"


def test_two_files_alone_know_more_of_streamlit_than_its_face():
    inside = re.compile(
        r"from streamlit(?!\.web import cli)[. ]|import streamlit\.|\bst\._|\.runtime\b|_session_mgr|get_script_run_ctx"
    )
    scripts = [*PAGES.rglob("*.py"), *(PAGES.parent / "calibration_explorer").rglob("*.py")]
    files = [path for path in scripts if inside.search(path.read_text(encoding="utf-8"))]
    assert sorted(files) == ADAPTERS


def test_the_oldest_streamlit_allowed_is_the_one_tried():
    requirements = (PAGES.parent / "requirements.txt").read_text(encoding="utf-8")
    assert (
        re.search(r"^streamlit>=([\d.]+)", requirements, re.MULTILINE)[1]
        == server.VERSIONS_TRIED["streamlit"]
    )
    if installed() != server.VERSIONS_TRIED:
        reasons = "; ".join(dict.fromkeys(MARKUP.values()))
        warnings.warn(f"{said()}: try what no test sees, then change TRIED: {reasons}", stacklevel=1)


def spools() -> bool:
    fresh = source(formparsers.MultiPartParser)
    to_disk = re.search(r"spool_max_size\s*(:\s*int)?\s*=\s*\d", fresh)
    return bool(to_disk) and "max_size=self.spool_max_size" in fresh


def keeps_callbacks() -> bool:
    widgets = SessionState()._new_widget_state
    known = isinstance(widgets, WStates) and widgets.widget_metadata == widgets.states == {}
    return known and "widget_metadata" in source(session_state)


def ends_sessions() -> bool:
    running = ("exists", "get_instance")
    asked = ("get_app_session", "is_active_session")
    known = all(map(partial(hasattr, runtime), running)) and all(
        map(partial(hasattr, runtime.Runtime), asked)
    )
    return known and hasattr(app_session.AppSession, "shutdown")


PRIVATE: dict[str, tuple[str, Callable[[], bool]]] = {
    "MultiPartParser": ("uploads stay in memory; no setting keeps them from the disk", spools),
    "MultiPartException": (
        "an upload without a length is refused as a faulty one",
        lambda: "MultiPartException" in source(requests),
    ),
    "MemoryUploadedFileManager": (
        "a session keeps only so many of the files that it sends; no setting bounds them",
        lambda: "upload_mgr.add_file(" in source(starlette_routes),
    ),
    "on_headers_finished": (
        "an upload too large for memory is cut when it begins",
        lambda: (
            "self._current_part.file = UploadFile(" in source(formparsers.MultiPartParser.on_headers_finished)
        ),
    ),
    "_current_part": (
        "an upload too large for memory is cut when it begins",
        lambda: (
            "self._current_part.file = UploadFile(" in source(formparsers.MultiPartParser.on_headers_finished)
        ),
    ),
    "PagesManager": (
        "the first visitor of a former page would read that it is not found; no setting ignores a folder called pages",
        lambda: "if PagesManager.uses_pages_directory:\n" in source(script_runner),
    ),
    "net_util": (
        "Streamlit asks an Amazon server for its own address when another origin connects",
        lambda: "amazonaws" in source(net_util) and "net_util.get_external_ip" in source(server_util),
    ),
    "streamlit.error_util": (
        "it logs errors with their messages, which may quote data",
        lambda: error_util._LOGGER.name in server.LOGGERS and "exc_info=ex" in source(error_util),
    ),
    "get_script_run_ctx": (
        "the name of the session, which st.context does not tell",
        lambda: "session_id" in ScriptRunContext.__annotations__ and not hasattr(st.context, "session_id"),
    ),
    "_state": (
        "widgets of a session; st.session_state has their values alone",
        lambda: "_state" in SafeSessionState.__annotations__,
    ),
    "_new_widget_state": (
        "callbacks of a closed tab's widgets, and values of unknown widgets",
        keeps_callbacks,
    ),
    "runtime": (
        "it keeps the session of a closed tab until another one is closed, and its uploads for ever",
        lambda: ends_sessions() and "on_remove" not in source(memory_session_storage),
    ),
    "_call_soon_on_event_loop": (
        "each message of a page wakes the loop, which takes the interpreter from the page; no setting bundles them",
        lambda: "call_soon_threadsafe(callback)" in source(app_session),
    ),
    "_event_loop": (
        "the loop that takes the messages of a session",
        lambda: "self._event_loop.call_soon_threadsafe" in source(app_session),
    ),
    "_fragment_storage": (
        "parts of a closed tab's page hold its data",
        lambda: "self._fragment_storage" in source(app_session) and hasattr(MemoryFragmentStorage(), "clear"),
    ),
}
"""Private name that an adapter uses → why, and whether the library still has it and offers nothing instead."""


def private_names() -> set[str]:
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in ADAPTERS]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    modules = ("streamlit", "streamlit.runtime.scriptrunner", "starlette.formparsers")
    modules += ("streamlit.runtime.memory_uploaded_file_manager", "streamlit.runtime.pages_manager")
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module in modules]
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    of_others = {
        node.attr for node in attributes if not (isinstance(node.value, ast.Name) and node.value.id == "self")
    }
    private = {name for name in of_others if re.match("_[a-z]", name) or name == "on_headers_finished"}
    imported = {each.name for node in imports for each in node.names}
    return imported | private | set(server.LOGGERS) - {server.LOGGER}


def test_every_private_name_of_the_adapters_has_its_reason_here():
    assert private_names() == set(PRIVATE)


@pytest.mark.parametrize("name", PRIVATE)
def test_a_private_name_is_still_there_and_nothing_public_replaces_it(name):
    reason, holds = PRIVATE[name]
    assert holds(), f"{said()}: look at {name}, whose reason is: {reason}"


def test_streamlit_still_searches_for_garbage_after_a_run():
    assert "gc.collect" in source(script_runner)

"""What the pages use of Streamlit although it promises nothing: all of it here, with the reason, and whether it holds.

Tried with Streamlit 1.67 and Starlette 1.10. A failure says what to look at again: a name that is gone, a name used
without a reason here, or a workaround for something that the library no longer does.
"""

import inspect
import re
from functools import cache
from importlib.metadata import version
from pathlib import Path

import streamlit
from starlette.formparsers import MultiPartParser
from streamlit import net_util
from streamlit.runtime import memory_session_storage, session_manager
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.scriptrunner import script_runner
from streamlit.runtime.state import session_state
from streamlit.runtime.state.session_state import SessionState, WStates

PAGES = Path(__file__).parents[2] / "pages"
ADAPTER = PAGES / "ui" / "server.py"  # the only file that knows more of Streamlit than ``st``

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
}
"""Class or attribute of Streamlit's own markup → why a stylesheet or a script needs it."""


def used() -> set[str]:
    """All names of Streamlit's markup in the stylesheets, scripts and modules of the pages."""
    files = [path for kind in ("css", "js", "py") for path in PAGES.rglob(f"*.{kind}")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    ours = set(re.findall(r"\.dataset\.(\w+) =|\[data-(drawn)\]", text))
    found = set(re.findall(r"\bst[A-Z]\w+", text)) | set(re.findall(r"\[(data-[a-z-]+)", text))
    return found - {f"data-{name}" for pair in ours for name in pair}


@cache
def front_end() -> str:
    """Streamlit's own scripts, which draw the markup."""
    scripts = (Path(streamlit.__file__).parent / "static").rglob("*.js")
    return "".join(path.read_text(encoding="utf-8", errors="ignore") for path in scripts)


def test_every_name_of_the_markup_that_is_used_has_its_reason_here():
    assert used() == set(MARKUP)


def test_streamlit_still_draws_what_stylesheets_and_scripts_look_for():
    assert [name for name in MARKUP if not re.search(rf"\b{name}\b", front_end())] == []


def test_one_file_alone_knows_more_of_streamlit_than_its_face():
    inside = re.compile(
        r"from streamlit[. ]|import streamlit\.|\bst\._|\.runtime\b|_session_mgr|get_script_run_ctx"
    )
    files = [path for path in PAGES.rglob("*.py") if inside.search(path.read_text(encoding="utf-8"))]
    assert files == [ADAPTER]


def test_uploads_would_still_go_to_disk_and_streamlit_still_uses_this_parser():
    fresh = inspect.getsource(MultiPartParser)
    assert re.search(r"spool_max_size\s*(:\s*int)?\s*=\s*\d", fresh), version("starlette")
    assert "max_size=self.spool_max_size" in fresh


def test_streamlit_would_still_ask_a_server_for_its_own_address():
    assert "amazonaws" in inspect.getsource(net_util)


def test_streamlit_still_searches_for_garbage_after_a_run():
    assert "gc.collect" in inspect.getsource(script_runner)


def test_closed_sessions_are_still_kept_in_the_places_that_are_emptied():
    assert "TTLCache" in inspect.getsource(memory_session_storage)
    assert "get_active_session_info" in inspect.getsource(session_manager)
    state = SessionState()
    assert isinstance(state._new_widget_state, WStates)
    assert state._new_widget_state.widget_metadata == state._new_widget_state.states == {}
    assert hasattr(state._key_id_mapper, "get_id_from_key")
    assert hasattr(MemoryFragmentStorage(), "clear")
    assert "widget_metadata" in inspect.getsource(session_state)

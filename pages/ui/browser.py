"""Ask the browser for what only it knows or can do: the address, the clipboard, the keyboard focus, the colours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from pages.ui import style

SCRIPTS_FOLDER = Path(__file__).parent / "scripts"


@st.cache_resource
def component(name: str, before: Sequence[Path] = (), sheet: Path | None = None, isolate: bool | None = None):
    """Register a component once: the script of its name, and its HTML and stylesheet if there are files of its name.

    Parameters
    ----------
    before
        Scripts that stand before its own.
    sheet
        Stylesheet that lies elsewhere.
    isolate
        Whether its styles stay within it. By default they do; a component without a stylesheet is not isolated, because
        it acts on the page around it.
    """
    html, sheet = SCRIPTS_FOLDER / f"{name}.html", sheet or style.STYLES_FOLDER / f"{name}.css"
    css = sheet.read_text(encoding="utf-8") if sheet.exists() else None
    return st.components.v2.component(
        f"calibration_explorer_{name}",
        html=html.read_text(encoding="utf-8") if html.exists() else "<i></i>",
        css=css,
        js="".join(file.read_text(encoding="utf-8") for file in (*before, SCRIPTS_FOLDER / f"{name}.js")),
        isolate_styles=bool(css) if isolate is None else isolate,
    )


def copy_button(label: str, text: str, help: str, note: str = "") -> None:
    """Draw a button that copies ``text`` and says ``note``; without permission to copy (no https), show the text."""
    component("copy")(
        key="copy_link", data={"label": label, "text": text, "help": help, "note": note}, width="content"
    )


def link(query: Mapping[str, str]) -> str:
    """Return the address of the open page with these parameters."""
    parts = urlsplit(st.context.url or "http://127.0.0.1:8501/")
    return urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(query), ""))


def keep_focus(key: str, after: object, selector: str, still: bool = False, seen: str = "") -> None:
    """Move the keyboard focus to the last control of ``selector`` once ``after`` changes, if the used one is gone.

    After a click, the page scrolls there only if ``still`` is False; ``seen`` selects what is scrolled into view.
    """
    data = {"selector": selector, "after": repr(after), "still": still, "seen": seen}
    component("focus")(key=f"focus_{key}", data=data, height="content")


def enter_popovers() -> None:
    """Move the keyboard focus from a popover's button into the popover, and from its end to what follows the button.

    Streamlit draws popovers at the end of the page, where Tab would reach them after all other controls.
    """
    component("popover")(key="focus_popovers", height="content")


def one_stop_per_toolbar() -> None:
    """Make the toolbar of a chart one stop of the keyboard; arrow keys, Home and End move within it."""
    component("toolbar")(key="focus_toolbars", height="content")


def let_swipes_scroll() -> None:
    """Scroll the page by a swipe that begins on a chart; a tap on a mark stays a click."""
    component("swipe")(key="focus_swipes", height="content")


def one_entry_per_page() -> None:
    """Let the back button lead from page to page; Streamlit also leaves the old page with the new page's settings."""
    component("history")(key="focus_history", height="content")


def keep_place() -> None:
    """Keep the keyboard focus at its control while the control is redrawn, disabled for a moment or removed.

    If the control is removed, what takes its place gets the focus. Browsers would begin at the top again.
    """
    component("place")(key="focus_place", height="content")


def read_out(key: str) -> None:
    """Let screen readers announce changes of the surrounding block, wherever the keyboard focus is."""
    component("live")(key=f"live_{key}", height="content")


def hear_legend(key: str, place: str, then: Callable[[str], None]) -> None:
    """Call ``then`` with the legend group of a line whose name is clicked in the charts of the container ``place``."""
    name = f"live_legend_{key}"

    def clicked() -> None:
        then(st.session_state[name].line)

    component("legend")(key=name, data={"place": place}, height="content", on_line_change=clicked)


def ends_of_large_files(place: str, limit: int, size: int, kind: str) -> None:
    """Upload only the ends of a file above the limit, so many bytes of each; its type says so with the file's size."""
    data = {"place": place, "limit": limit, "head": size, "type": kind}
    component("ends")(key=f"focus_ends_{place}", data=data, height="content")


def follow_scheme(dark: bool) -> None:
    """Redraw the page when its colours differ from those of its charts."""
    component("scheme")(key="scheme", data={"dark": dark}, height="content", on_other_change=lambda: None)


def in_room(code: str, key: str | None = None, closed: bool = False) -> dict[str, Any] | None:
    """Return who this browser is in a room: its ``seat``, and its ``key`` if this tab opened the room.

    The result is None until the browser has answered. The tab remembers a given ``key``; if the room is ``closed``,
    the browser forgets both.
    """
    data = {"room": code, "key": key, "closed": closed}
    who = component("seat")(key="seat", data=data, height="content", on_who_change=lambda: None).get("who")
    return who if who and who.get("room") == code else None


def ballots(answers: Sequence[Mapping[str, Any]]) -> None:
    """Draw the answers of a class, each with ``text``, ``votes``, ``share`` and ``kind``, above bars."""
    component("ballots")(key="ballots", data={"answers": list(answers)}, height="content")


def open_entry() -> None:
    """Open and show the folded entry whose heading the address names after its #."""
    component("entry")(key="focus_entry", height="content")


def begin_at_the_top(place: object) -> None:
    """Scroll to the top when the place changes; Streamlit would keep the scroll position of the last page.

    On a phone, the menu that led there closes.
    """
    component("top")(key="top", data={"place": repr(place)}, height="content")

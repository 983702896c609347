"""Widgets that show a value stored elsewhere, and report only what a person chose.

Streamlit sends a value set through ``st.session_state`` once, with the run that set it. If another run begins before
the browser received it, the widget shows its lowest value, or is empty, and may send that back. So nothing is set
here: the value is the widget's default, and if the value was changed elsewhere, a new widget with a new name and the
new default replaces the old one. This is correct whichever run the browser gets to see first. A widget is also
replaced if the label of its value changes, because the browser keeps its labels.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.ui.text import plain

KEY_AND_NUMBER = "__"  # between a widget's key and the number of its name
READ_AS_MARKDOWN = (
    "pills",
    "segmented_control",
    "radio",
)  # kinds whose options are read so; names from files are text


@dataclass(eq=False)
class OpenWidget:
    """Widget on the page: its name, and the value and labels that page and browser agree on."""

    name: str
    value: Any
    labels: tuple[str, ...]


def show_widget(
    widget: Callable,
    key: str,
    value: Any,
    change: Callable[[Any], None],
    label: str,
    options: Sequence[Any] | None = None,
    **kwargs: Any,
) -> Any:
    """Draw a widget that shows ``value``; call ``change`` with the new value when a person chooses one.

    Two reports are ignored: the value that the widget already has, and None, which a widget reports after it was off
    the page for a while. None counts only if it is among the options.
    """

    words = kwargs.get("format_func", str)
    if widget.__name__ in READ_AS_MARKDOWN:
        kwargs["format_func"] = lambda one: plain(words(one))

    def labels(of: Any) -> tuple[str, ...]:
        chosen = of if isinstance(of, (list, tuple)) else [of]
        return tuple(str(words(one)) for one in chosen if one in (options or ()))

    drawn = _drawn(key, value, labels(value))

    def changed() -> None:
        new = st.session_state[drawn.name]
        if (
            _widgets().get(key) is drawn
            and new != drawn.value
            and (new is not None or None in (options or ()))
        ):
            drawn.value, drawn.labels = new, labels(new)
            change(new)

    given = (label,) if options is None else (label, options)
    return widget(*given, **_default(widget, value, options), key=drawn.name, on_change=changed, **kwargs)


def page_entered() -> None:
    """Replace every widget when a page is entered."""
    st.session_state["widgets"] = {}


def name_anew() -> None:
    """Give widgets names that the browser does not hold from a lost session: under those it shows its own values."""
    st.session_state["widget_number"] = time.time_ns()


def _widgets() -> dict[str, OpenWidget]:
    return st.session_state.setdefault("widgets", {})


def _drawn(key: str, value: Any, labels: tuple[str, ...]) -> OpenWidget:
    """Return the widget as drawn before if it still has this value, else a new one with a name never used before."""
    drawn = _widgets().get(key)
    if (
        drawn is None
        or drawn.name not in st.session_state
        or _set(st.session_state[drawn.name]) != _set(value)
        or _set(drawn.labels) != _set(labels)
    ):
        number = st.session_state["widget_number"] = st.session_state.get("widget_number", 0) + 1
        drawn = _widgets()[key] = OpenWidget(f"{key}{KEY_AND_NUMBER}{number}", value, labels)
    drawn.value = value
    return drawn


def _set(value: Any) -> Any:
    """Return the chosen values sorted, because a new widget for another order would lose the keyboard focus."""
    return sorted(map(repr, value)) if isinstance(value, (list, tuple)) else value


def _default(widget: Callable, value: Any, options: Sequence[Any] | None) -> dict[str, Any]:
    """Return the value as the keyword argument by which a widget of this kind takes its default."""
    if widget.__name__ == "selectbox":
        places = list(options or ())
        return {"index": places.index(value) if value in places else None}
    if widget.__name__ in ("multiselect", "pills", "segmented_control"):
        return {"default": value}
    return {"value": value}

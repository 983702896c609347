"""Widgets that show a value which lives elsewhere, and report nothing but what a person chose.

Streamlit sends a value that was set through ``st.session_state`` once, with the run that set it; where
another run begins before the browser heard of it, the widget stands at its lowest value, or empty, and may
send that back. So here nothing is set: the value is the widget's default, and a widget whose value was
changed elsewhere is drawn as another one, under a new name, with the new default. That holds in whichever run
the browser gets to see first. So is one whose value is called otherwise now, since the browser keeps its labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

MARK = "__"  # between a widget's key and the number of its name


@dataclass(eq=False)
class OpenWidget:
    """A widget on the page: its name, and the value and its labels that page and browser agree on."""

    name: str
    value: Any
    labels: tuple[str, ...]


def shown(
    widget: Callable,
    key: str,
    value: Any,
    change: Callable[[Any], None],
    label: str,
    options: Sequence[Any] | None = None,
    **kwargs: Any,
) -> Any:
    """A widget that shows ``value``; ``change`` is called with another one when a person chooses it.

    Some reports are not choices: the value that it has, and nothing at all (which a widget reports that was not
    on the page for a while), unless nothing is among its options.
    """

    def labels(of: Any) -> tuple[str, ...]:
        chosen = of if isinstance(of, (list, tuple)) else [of]
        return tuple(str(kwargs.get("format_func", str)(one)) for one in chosen if one in (options or ()))

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
    """Every widget of a page that is entered is a new one."""
    st.session_state["widgets"] = {}


def _widgets() -> dict[str, OpenWidget]:
    return st.session_state.setdefault("widgets", {})


def _drawn(key: str, value: Any, labels: tuple[str, ...]) -> OpenWidget:
    """The widget as it was drawn before where it still has this value; else a new one, under a name never used."""
    drawn = _widgets().get(key)
    if (
        drawn is None
        or drawn.name not in st.session_state
        or _set(st.session_state[drawn.name]) != _set(value)
        or _set(drawn.labels) != _set(labels)
    ):
        number = st.session_state["widget_number"] = st.session_state.get("widget_number", 0) + 1
        drawn = _widgets()[key] = OpenWidget(f"{key}{MARK}{number}", value, labels)
    drawn.value = value
    return drawn


def _set(value: Any) -> Any:
    """What is chosen, in whichever order it was: a new widget for another order would take the keyboard's place."""
    return sorted(map(repr, value)) if isinstance(value, (list, tuple)) else value


def _default(widget: Callable, value: Any, options: Sequence[Any] | None) -> dict[str, Any]:
    """The value as the argument that a widget of this kind takes it by."""
    if widget.__name__ == "selectbox":
        places = list(options or ())
        return {"index": places.index(value) if value in places else None}
    if widget.__name__ in ("multiselect", "pills", "segmented_control"):
        return {"default": value}
    return {"value": value}

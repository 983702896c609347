"""The one Recipe of a session, shared by all pages, and its way into and out of the page's address."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from calib import lessons
from calib.data import TableFile
from calib.kernel.checks import InputError
from calib.recipe import Recipe
from pages.ui.widget import page_entered, shown


def recipe() -> Recipe:
    return st.session_state.setdefault("recipe", Recipe())


@dataclass(frozen=True, eq=False)
class Upload:
    """A file brought in this session, parsed once: its table, and what it seems to be; the file to read otherwise."""

    name: str
    frame: pd.DataFrame
    target: str | None
    predictions: bool
    file: TableFile


def uploads() -> dict[str, Upload]:
    """Digest → file, of the last few brought in this session; never written to disk."""
    return st.session_state.setdefault("uploads", {})


def missing_upload() -> str | None:
    """The digest of the file that the settings were made with, where it was not brought in this session."""
    kind, _, key = recipe().data.partition(":")
    return key if kind == "upload" and key not in uploads() else None


def files() -> dict[str, str]:
    """Digest → name of the files brought in this session."""
    return {digest: upload.name for digest, upload in uploads().items()}


def frames() -> dict[str, TableFile]:
    """Digest → file, as ``calib.sources`` takes them."""
    return {digest: upload.file for digest, upload in uploads().items()}


def say(message: str | None) -> None:
    """Put a message (a refused value, a broken link) at the head of the page, until a change succeeds or it is left."""
    st.session_state["message"] = message


def message() -> str | None:
    return st.session_state.get("message")


def update(**changes: Any) -> None:
    """Change fields of the Recipe; a refused value leaves it as it was, with the reason on the page."""
    st.session_state["changed"] = True
    try:
        st.session_state["recipe"] = recipe().replace(**changes)
        say(None)
    except InputError as error:
        say(str(error))


def replace(new: Recipe) -> None:
    """Go on with another Recipe."""
    st.session_state["changed"] = True
    _take(new)


def _take(new: Recipe) -> None:
    """Go on with it; while a lesson is open, what the reader worked with before is kept."""
    if new.lesson and not recipe().lesson:
        st.session_state["own"] = recipe()
    st.session_state["recipe"] = new
    say(None)


def alone(recipe: Recipe) -> Recipe:
    """The settings without the lesson and the room that they are shown in."""
    return recipe.replace(lesson=None, presenter=False)


def own() -> Recipe:
    """What the reader worked with before the lesson that is open; the room's view stays."""
    return st.session_state["own"].replace(presenter=recipe().presenter)


def follow_address(script: str) -> None:
    """Take the Recipe from the address when that is new (a link, the back button), else write it there.

    After a change on the page the address is not asked: the browser may not yet have heard of the change before. The
    navigation's links carry no settings: the bare address of a page stands for the settings it was last entered with,
    also when the back button leads there.
    """
    st.session_state["page"], path = script, "" if st.session_state.pop("at_start", False) else script
    query = st.query_params.to_dict()
    own = st.session_state.pop("changed", False)
    entered = st.session_state.setdefault("entered", {})
    if st.session_state.setdefault("path", path) != path:
        st.session_state["path"] = path
        page_entered()
        if not query:
            own, entered[path] = True, recipe().to_query()
        say(None)
    meant = query or entered.get(path, {})
    if not own and meant != st.session_state.get("address", {}):
        try:
            new = Recipe.from_query(meant)
            if new.lesson:
                lessons.place(new.lesson)
            _take(new)
        except InputError as error:
            say(f"The link could not be followed: {error} The settings are as they were before.")
    address = recipe().to_query()
    if address != query:
        st.query_params.from_dict(address)
    st.session_state["address"] = address


def put(field: str, value: Any, **others: Any) -> None:
    """Change one field, or one setting in it, named "name" or "params.name"."""
    group, _, name = field.partition(".")
    update(**{group: dict(getattr(recipe(), group)) | {name: value}} if name else {field: value}, **others)


def control(
    widget: Callable,
    field: str,
    value: Any,
    /,
    *args: Any,
    key: str | None = None,
    store: Callable[[Any], Any] = lambda v: v,
    and_then: dict[str, Any] | None = None,
    **kwargs: Any,
) -> Any:
    """A widget that shows a Recipe's value and changes it.

    The Recipe is the truth: links, presets and other pages move the widget too. ``store`` turns the widget's value into
    the field's, named as for ``put``; ``key`` is the widget's own, where several show one field;
    ``and_then`` are fields that change with it.
    """

    return shown(widget, key or field, value, lambda new: put(field, store(new), **(and_then or {})), *args, **kwargs)

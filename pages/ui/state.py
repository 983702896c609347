"""The one Recipe of a session, shared by all pages, and its way into and out of the page's address.

The address also holds the open step of a lesson, presenter view, and whether lessons ask before they show. None of
them affects what is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import streamlit as st

from calib import lessons, sources
from calib.data import FILE_PART, SAMPLES, LargeFile, LargeQuery, TableFile
from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.declared import SETTINGS
from calib.kernel.records import Parameter
from calib.kernel.wording import listed
from calib.recipe import Recipe, one_value
from calib.synthetic import SYNTHETIC
from pages.ui import former
from pages.ui.widget import page_entered, show_widget

TOKEN = "token"  # query parameter that opens the server of a notebook (``admission``); not a setting


def recipe() -> Recipe:
    return st.session_state.setdefault("recipe", Recipe())


@dataclass(frozen=True, eq=False)
class Upload:
    """File of this session, parsed once: its table, its guessed label and content, and the file to read it otherwise.

    ``data`` is the Recipe's field of a table that is not uploaded, and ``said`` holds further fields of the Recipe.
    """

    name: str
    frame: pd.DataFrame
    target: str | None
    predictions: bool
    file: TableFile | LargeFile | LargeQuery | pd.DataFrame
    data: str = ""
    said: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Model:
    """ONNX file uploaded in this session."""

    name: str
    file: bytes


def uploaded_files() -> dict[str, Upload | Model]:
    """Return the last few uploads of this session, digest → file; they are never written to disk."""
    return st.session_state.setdefault("uploads", {})


def uploads() -> dict[str, Upload]:
    """Return the tables among the uploads."""
    return {digest: file for digest, file in uploaded_files().items() if isinstance(file, Upload)}


def missing_uploads() -> dict[str, str | None]:
    """Return the files that the settings need and this session does not have, digest → name."""
    missing = sources.missing_files(recipe(), uploaded_files())
    placed = [
        sources.file_key(data) for data in (recipe().data, recipe().test_data) if sources.parse_place(data)
    ]
    return {key: name for key, name in missing.items() if key not in placed}


def files() -> dict[str, str]:
    """Return the names of the files uploaded in this session, digest → name."""
    return {digest: file.name for digest, file in uploaded_files().items()}


def frames() -> dict[str, sources.Upload]:
    """Return the files of this session, digest → file, as ``calib.sources`` takes them."""
    return {digest: each.file for digest, each in uploaded_files().items()}


def data_choices(recipe: Recipe) -> dict[str, str]:
    """Return every data set at hand, data field → label; labels are unique, because a browser knows only labels."""
    choices = {f"sample:{key}": sample.label for key, sample in SAMPLES.items()}
    choices |= {f"synthetic:{key}": entry.label for key, entry in SYNTHETIC.items()}
    more = {recipe.data: recipe.file or recipe.data} if recipe.data not in choices else {}
    more |= {upload.data or f"upload:{key}": upload.name for key, upload in uploads().items()}
    for data, label in more.items():
        choices[data] = (
            label if label not in choices.values() else f"{label} ({(sources.file_key(data) or data)[:6]})"
        )
    return choices


def data_name(recipe: Recipe) -> str:
    """Return the name of a Recipe's data set as in the sidebar, with that of the file it is evaluated on."""
    name = data_choices(recipe)[recipe.data]
    return (
        name if recipe.test_data is None else f"{name}, evaluated on {recipe.test_file or recipe.test_data}"
    )


def say(message: str | None, **refused: Any) -> None:
    """Show a message (a refused value, a broken link) at the head of the page until a change succeeds or the page
    ends.
    """
    st.session_state["message"], st.session_state["refused"] = message, refused
    st.session_state["query"] = None


def say_with_query(message: str, query: str | None) -> None:
    """Put a message at the head of the page, with SQL to copy below it."""
    say(message)
    st.session_state["query"] = query


def sql() -> str | None:
    """Return the SQL that belongs to the message."""
    return st.session_state.get("query")


def message() -> str | None:
    return st.session_state.get("message")


def update(and_then: Mapping[str, Any] | None = None, **changes: Any) -> None:
    """Change fields of the Recipe, or single settings of them, named "params.name" or "page.setting".

    A refused value leaves the Recipe as it was; the page shows the reason, with settings named by the labels of their
    controls. ``and_then`` holds fields that must change too; a message lists the settings that this removes.
    """
    st.session_state["changed"] = True
    before = recipe()
    if "content" in changes:
        st.session_state.setdefault("chosen_content", set()).add(before.data)
    try:
        st.session_state["recipe"] = after = before.replace(**{**(and_then or {}), **changes})
        say(_gone(before, before.lost(after, asked=changes)))
    except InputError as error:
        reason = str(error)
        for name in changes:
            if name in SETTINGS:
                reason = reason.replace(name, f"“{SETTINGS[name].label}”")
        say(reason, **changes)


def content_is_chosen(data: str) -> bool:
    """Tell whether a reader of this session has chosen between evaluation and training for these data."""
    return data in st.session_state.get("chosen_content", ())


def _gone(before: Recipe, lost: Mapping[str, Any]) -> str | None:
    """Return a message that lists the settings removed by a change, by the labels of their controls."""
    named = in_words(before, lost)
    return f"Removed, because it does not apply after this change: {listed(named)}." if named else None


def in_words(recipe: Recipe, values: Mapping[str, Any]) -> list[str]:
    """Return fields and settings with their values, as their controls show them: "Label (value)"."""
    return [
        f"{recipe.label(name)} ({recipe.parameter(name).in_words(value)})"
        for name, value in values.items()
        if name not in UNSAID and value != FILE_PART
    ]


UNSAID = {"file", "test_file", "onnx_file", "content", "target", "weight_as"}
"""Fields that go with a file or a column; their reset is not said."""


def typed(field: str, value: Any) -> Any:
    """Return what was typed into a field and refused, so that it can be corrected there; else the field's value."""
    return st.session_state.get("refused", {}).get(field, value)


def replace(new: Recipe, lesson: str | None = None) -> None:
    """Continue with another Recipe, in this step of a lesson or in none."""
    st.session_state["changed"] = True
    _take(new, lesson, presenter(), guesses_first())


def _take(new: Recipe, lesson: str | None, presenter: bool, guesses_first: bool) -> None:
    """Continue with another Recipe; when a lesson opens, keep the reader's previous Recipe."""
    if lesson and not lesson_open():
        st.session_state["before_lesson"] = recipe()
    st.session_state["recipe"] = new
    st.session_state["lesson_open"], st.session_state["for_projector"] = lesson, presenter
    st.session_state["guesses_first"] = guesses_first
    say(None)


def lesson_open() -> str | None:
    """Return the open step of a lesson as "lesson:step", or None."""
    return st.session_state.get("lesson_open")


def presenter() -> bool:
    """Tell whether the page is in presenter view: large type and no sidebar."""
    return st.session_state.get("for_projector", False)


def present(on: bool) -> None:
    st.session_state["changed"], st.session_state["for_projector"] = True, on


def guesses_first() -> bool:
    """Tell whether the pictures of lessons wait for the reader's guess."""
    return st.session_state.get("guesses_first", True)


def ask_first(on: bool) -> None:
    st.session_state["changed"], st.session_state["guesses_first"] = True, on


def before_lesson() -> Recipe:
    """Return the reader's Recipe from before the open lesson."""
    return st.session_state["before_lesson"]


def address(recipe: Recipe, lesson: str | None) -> dict[str, str]:
    """Return the query parameters of a page with this Recipe, in this step of a lesson or in none."""
    place = {"lesson": lesson} if lesson else {}
    place |= {"presenter": "true"} if presenter() else {}
    return recipe.to_query() | place | ({} if guesses_first() else {"guess": "off"})


def here() -> dict[str, str]:
    """Return the query parameters of the current page."""
    return address(recipe(), lesson_open())


def has_upload() -> bool:
    """Tell whether the page shows a file, which a link does not contain."""
    return sources.has_upload(recipe()) or "upload:" in str(here().values())


def query_parameters() -> dict[str, str | list[str]]:
    """Return the query parameters of the address, with several values of one name as a list."""
    given = {name: st.query_params.get_all(name) for name in st.query_params if name != TOKEN}
    return {name: values[0] if len(values) == 1 else values for name, values in given.items()}


def _read(query: Mapping[str, str | list[str]]) -> tuple[Recipe, str | None, bool, bool]:
    """Read the arguments of ``_take`` from query parameters; refuse unknown ones by name."""
    fields = {name: one_value(name, value) for name, value in former.in_use(query).items()}
    lesson, presenter = fields.pop("lesson", None), fields.pop("presenter", "false")
    guesses = checks.one_of(fields.pop("guess", "on"), ("on", "off"), "guess") == "on"
    key = (lesson or "").partition(":")[0]
    if part := lessons.REPLACED.get(key):
        st.session_state["first_step"], st.session_state["story_at"] = "pages/learn_story.py", part
        return recipe(), None, presenter == "true", guesses
    if key == "three_classes":
        st.session_state["first_step"] = "pages/learn_labs.py"
        return Recipe(settings=(("labs.experiment", key),)), None, presenter == "true", guesses
    if lesson is not None:
        named, number = lessons.parse_step(lesson)
        step = named.steps[number - 1]
        if (
            fields == {} or key in lessons.STEP_OF_FORMER
        ):  # a link to the lesson, or to a step of it, by its name alone
            st.session_state["first_step"] = f"pages/{step.page}.py"
            return step.recipe, step.place, presenter == "true", guesses
        lesson = step.place
    projected = {"true": True, "false": False}.get(presenter, presenter)
    new = Recipe.from_query(fields)
    presents = checks.setting(projected, Parameter("presenter", "", "boolean", False), "presenter")
    return new, lesson, presents, guesses


def follow_address(script: str) -> None:
    """Take the Recipe from the address if that is new (a link, the back button), else write it there.

    After a change on the page the address is not read, because the browser may not have received the last change yet.
    The navigation's links carry no settings: the bare address of a page stands for the settings with which the page
    was last entered, also when the back button leads there.
    """
    st.session_state["page"] = path = script
    query = query_parameters()
    changed = st.session_state.pop("changed", False)
    entered = st.session_state.setdefault("entered", {})
    if st.session_state.setdefault("path", path) != path:
        st.session_state["path"] = path
        page_entered()
        if not query:
            changed, entered[path] = True, here()
        say(None)
    meant = query or entered.get(path, {})
    if not changed and meant != st.session_state.get("address", {}):
        try:
            _take(*_read(meant))
        except InputError as error:
            say(f"The link could not be followed: {error} Your settings have not changed.")
    now = here()
    if now != query:
        token = st.query_params.get(TOKEN)
        st.query_params.from_dict(now if token is None else {TOKEN: token, **now})
    st.session_state["address"] = now


def enter_without_recipe(script: str) -> None:
    """Enter a page whose address does not hold the Recipe; the Recipe stays as it is."""
    if st.session_state.get("path") != script:
        page_entered()
    st.session_state["page"] = st.session_state["path"] = script
    st.session_state.setdefault("entered", {})[script] = here()


def control(
    widget: Callable,
    field: str,
    value: Any,
    /,
    *args: Any,
    key: str | None = None,
    store: Callable[[Any], Any] = lambda v: v,
    and_then: Callable[[Any], Mapping[str, Any]] | None = None,
    **kwargs: Any,
) -> Any:
    """Draw a widget that shows a Recipe's value and changes it.

    The Recipe is the single source: links, presets and other pages change the widget too. ``store`` converts the
    widget's value into the field's, named as for ``update``; ``key`` is the widget's own if several widgets show one
    field; ``and_then`` returns, for the field's new value, the fields that must change with it.
    """
    return show_widget(
        widget,
        key or field,
        value,
        lambda new: update(and_then(store(new)) if and_then else None, **{field: store(new)}),
        *args,
        **kwargs,
    )

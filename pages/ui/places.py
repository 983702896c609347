"""Tables that stay where they are: opened when an address or a choice names them, and looked at again on every run.

What is open is kept as an upload is, under the digest of its content. A table that has changed is said.
"""

from __future__ import annotations

import os
from functools import cache

import streamlit as st

from calib import sources
from calib.data import (
    Folder,
    Placed,
    TableFile,
    TooLargeError,
    guess_target,
    looks_like_predictions,
    open_large,
)
from calib.kernel.checks import InputError
from calib.recipe import Recipe
from pages.ui import controls, state
from pages.ui.text import plain
from pages.ui.uploads import keep_file

SETTING = "CALIBRATION_EXPLORER_FOLDER"
NO_FOLDER = "This server has no folder of tables. Whoever runs it can start it with --folder DIR."


@cache
def _folder(root: str) -> Folder:
    return Folder(root)


def folder() -> Folder | None:
    """Return the folder that the server was started with, or None."""
    root = os.environ.get(SETTING)
    return _folder(root) if root else None


def look_again() -> bool:
    """Open what the settings name and is not open, or has changed; say what cannot be opened.

    Returns
    -------
    bool
        Whether the settings name another state of a table now.
    """
    recipe = state.recipe()
    for field in ("data", "judge_on"):
        placed = sources.place(getattr(recipe, field))
        if placed is None:
            continue
        _, name, seen = placed
        try:
            now = open_table(name)
        except InputError as error:
            if state.message() is None:
                state.say(str(error))
            continue
        if field == "data" and not seen and recipe.target is None:  # a name alone: as if it were chosen
            controls.choose_data(now)
        elif now != getattr(recipe, field):
            state.update(**{field: now})
            if seen:
                state.say(
                    f"{name} has changed since these settings were made. The page shows it as it is now."
                )
    return state.recipe() != recipe


def open_table(name: str) -> str:
    """Open a table of the folder, unless it is open as it is now; the ``data`` field that names it.

    Raises
    ------
    InputError
        If there is no folder, no such table, or what is in it is not one.
    """
    if (place := folder()) is None:
        raise InputError(NO_FOLDER)
    table = place.find(name)
    key = place.digest(table)
    data = f"folder:{name}@{key}"
    if key not in state.held():
        with st.spinner(f"Reading {plain(name)}"):
            upload = _read(place, table, data)
        place.check(table)
        keep_file(key, upload)
    return data


def _read(place: Folder, table: Placed, data: str) -> state.Upload:
    file = TableFile(table.name, place.path(table.name))
    try:
        frame = file.read()
    except TooLargeError as refusal:
        return _counted(place, table, data, refusal)
    return state.Upload(table.name, frame, guess_target(frame), looks_like_predictions(frame), file, data)


def _counted(place: Folder, table: Placed, data: str, refusal: TooLargeError) -> state.Upload:
    """Count predictions that do not fit into memory; nothing is written to disk for it."""
    large = open_large(place.path(table.name))
    target = guess_target(large.head)
    if target is None or not looks_like_predictions(large.head):
        raise refusal
    recipe, frame = sources.counted_rows(Recipe(content="predictions", target=target), large, spill=False)
    said = {name: getattr(recipe, name) for name in ("weight", "weight_as", "data_params")}
    return state.Upload(table.name, frame, target, True, frame, data, said)

"""Recipes kept under names: in the session, and as a file to download and to load again."""

from __future__ import annotations

from functools import partial

import streamlit as st

from calib.checks import InputError
from calib.export import read_recipes, write_recipes
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.recipe import Recipe
from calib.sources import digest
from pages.ui import state
from pages.ui.takeaway import button
from pages.ui.text import plain

THESE = "These settings"
MOST_SIDE_BY_SIDE = 6
LONGEST = 60  # letters of a name


def kept() -> dict[str, Recipe]:
    return st.session_state.setdefault("kept_recipes", {})


def keep(recipe: Recipe) -> None:
    """Keep these settings, open or forget kept ones, take them to a file and back."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Name",
            placeholder=_suggestion(recipe),
            key="recipe_name",
            max_chars=LONGEST,
            width=320,
            persist_state="session",
        )
        st.button("Keep these settings", on_click=_keep, args=(recipe,), key="keep", type="primary")
        if kept():
            button(
                "All kept (JSON)", partial(write_recipes, dict(kept())), "recipes.json", "application/json", "all_kept"
            )
    for i, (name, one) in enumerate(kept().items()):
        with st.container(horizontal=True, vertical_alignment="center", key=f"kept_{i}"):
            st.markdown(f"**{plain(name)}** · {plain(_differing(one))}", width="stretch")
            goes_on = partial(state.replace, state.alone(one))
            st.button("Open", key=f"open_{i}", on_click=goes_on, help="Go on with these settings.")
            st.button("Forget", key=f"forget_{i}", on_click=kept().pop, args=(name, None), type="tertiary")
    with st.expander("Load a file of Recipes"):
        st.file_uploader(
            "JSON as downloaded here, or one Recipe as the command line takes it", key="recipe_file", on_change=_load
        )


def _suggestion(recipe: Recipe) -> str:
    if recipe.content == "predictions":
        return f"{recipe.score or 'Scores'}, {recipe.data.partition(':')[2]}"[:LONGEST]
    return f"{MODELS[recipe.model].label}, {PLACEMENTS[recipe.placement].label.lower()}"


def _keep(recipe: Recipe) -> None:
    name = st.session_state["recipe_name"].strip() or _suggestion(recipe)
    kept()[name] = recipe
    st.session_state["recipe_name"] = ""


def _differing(recipe: Recipe) -> str:
    """The fields that differ from their defaults."""
    return ", ".join(f"{name} {value}" for name, value in recipe.to_query().items()) or "all defaults"


def _load() -> None:
    file = st.session_state["recipe_file"]
    if file is None:
        return
    try:
        found = read_recipes(file.getvalue(), file.name.removesuffix(".json"))
    except InputError as error:
        state.say(str(error))
        return
    state.say(None)
    kept().update({name[:LONGEST]: one for name, one in found.items()})


def compared(recipe: Recipe) -> dict[str, Recipe]:
    """The Recipes laid side by side, by name: the ones chosen of those kept, and these settings where they are new."""
    fresh = {} if recipe in kept().values() else {THESE: recipe}
    names = [*fresh, *reversed(kept())]  # the newest first
    if len(names) > 1:
        names = st.multiselect(
            "Side by side",
            names,
            default=names[:MOST_SIDE_BY_SIDE],
            max_selections=MOST_SIDE_BY_SIDE,
            key=f"side_by_side_{digest(repr(names).encode())}",
            help="Each is fitted once; what another page has fitted is there at once.",
        )
    return {name: (fresh | kept())[name] for name in names}

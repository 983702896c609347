"""Out-of-bag rows: name the models that have them, and offer one click to such a model."""

from __future__ import annotations

import streamlit as st

from calib.kernel.wording import listed
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.recipe import Recipe, with_model
from pages.ui import state
from pages.ui.text import plain

NEEDED_BY = ("oob", "oob_whole")  # placements


def models() -> str:
    """List the models that have out-of-bag rows, by their labels in the menu."""
    return listed([model.label for model in MODELS.values() if model.bagged], last="or")


def why_not(recipe: Recipe) -> str | None:
    """Return why the placement cannot calibrate the Recipe's model and what to choose, or None if it can."""
    model = MODELS[recipe.model]
    if recipe.placement not in NEEDED_BY or recipe.content != "features" or model.bagged:
        return None
    return (
        f"{model.label} has no out-of-bag rows, because every part of the model is trained on every "
        f"training row. For "
        f"“{PLACEMENTS[recipe.placement].label}”, choose {models()} under Model. Or choose "
        f"“{PLACEMENTS['split'].label}” under Calibration data."
    )


def use_forest() -> None:
    """Draw a button that switches to the random forest, which has out-of-bag rows."""
    label = f"Use {MODELS['random_forest'].label}"
    st.button(
        label,
        key="use_forest",
        on_click=lambda: state.update(with_model(state.recipe(), "random_forest"), model="random_forest"),
    )


def offer(why: str) -> None:
    """Show the reason and a button for each alternative, and end the page."""
    st.warning(plain(why))
    with st.container(horizontal=True):
        use_forest()
        label = f"Use {PLACEMENTS['split'].label}"
        st.button(label, key="use_held_out", on_click=lambda: state.update(placement="split"))
    st.stop()

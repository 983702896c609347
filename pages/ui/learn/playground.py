"""The playground on its page: the files of ``calib.export.playground`` as a component, its settings in the address."""

from __future__ import annotations

from typing import Any

import streamlit as st

from calib.export.playground import PLAYGROUND_SCRIPTS, PLAYGROUND_SETTINGS, STYLE, described, playground_html
from calib.recipe import Recipe
from pages.ui import browser, chart, downloads, state

PAGE = "playground"


def show(recipe: Recipe) -> None:
    """Draw the playground with the settings of the address, and offer it as a file."""
    values = {name: recipe.setting(f"{PAGE}.{name}") for name in PLAYGROUND_SETTINGS}

    def changed() -> None:
        found: dict[str, Any] = st.session_state[PAGE].changed or {}
        state.update(**{f"{PAGE}.{name}": found[name] for name in PLAYGROUND_SETTINGS if name in found})

    component = browser.component(PAGE, PLAYGROUND_SCRIPTS, STYLE)
    component(key=PAGE, data={"told": described(), "given": values}, on_changed_change=changed)
    chart.caption(
        "Each dot is a person, orange if the event happened. Each point is a bin of similar predictions; the "
        "dashed curve shows the true frequencies. The data are simulated. If the model is calibrated, 95 % "
        "of the bins lie in the grey band. Hollow points: before calibration.",
        PAGE,
    )
    stated = {name: value for name, value in values.items() if value is not None}
    downloads.button(
        "Download as one HTML file", lambda: playground_html(stated), "playground.html", "text/html"
    )

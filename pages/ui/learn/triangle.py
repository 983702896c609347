"""A triangle whose point is dragged: the three probabilities of one photo, in the browser alone."""

from __future__ import annotations

from typing import Any

import streamlit as st

from calib.experiments import EXPERIMENTS
from calib.export.playground import CONTROLS, DIAGRAM, NUMBERS, STYLE
from calib.recipe import Recipe
from calib.settings import PAGE_SETTINGS
from pages.ui import browser, chart, current, state
from pages.ui.learn import experiments

PAGE = "triangle"
THREE_CLASSES = browser.SCRIPTS_FOLDER / "three_classes.js"
OF_MODEL = ("tilt", "sharpness")  # settings that the experiment with 40,000 rows shares


def show(recipe: Recipe) -> None:
    """Draw the triangle with the settings of the address, and the way to the experiment with many rows."""
    experiments.choose_experiment(recipe, "labs")
    of_model = [one for one in EXPERIMENTS["three_classes"].parameters if one.name in OF_MODEL]
    names = {one.name: f"{PAGE}.{one.name}" for one in PAGE_SETTINGS[PAGE]}
    names |= {one.name: f"three_classes.{one.name}" for one in of_model}
    theme, calibrator = current.theme(), PAGE_SETTINGS[PAGE][-1]

    def changed() -> None:
        found: dict[str, Any] = st.session_state[PAGE].changed or {}
        state.update(**{names[name]: value for name, value in found.items() if name in names})

    told = {
        "inks": [theme.positive, theme.negative, theme.calibration],
        "begin": {name: recipe.parameter(full).default for name, full in names.items()},
        "calibrators": [{"key": key, "label": label} for key, label in dict(calibrator.choices).items()],
        "settings": [
            {"name": one.name, "label": one.label, "low": one.low, "high": one.high, "help": one.help}
            for one in of_model
        ],
    }
    component = browser.component(PAGE, (*NUMBERS, DIAGRAM, CONTROLS, THREE_CLASSES), STYLE)
    given = {name: recipe.setting(full) for name, full in names.items()}
    component(key=PAGE, data={"told": told, "given": given}, on_changed_change=changed)
    chart.caption(
        "The nearer the point is to a corner, the higher is the probability of this animal. The three lines show the "
        "three probabilities: together they are as long as the triangle is high. The diamond shows how often photos "
        "with this prediction show each animal. Small dots are simulated photos, coloured by animal.",
        PAGE,
    )

"""The losses along one setting, under the pictures of calibration and grouping loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from calib.experiments import EXPERIMENTS
from calib.experiments.cl_gl.simulation import one_point
from calib.recipe import Recipe
from pages.ui import chart, session_cache
from pages.ui.learn import experiments
from pages.ui.learn.experiments import PageVariation


@st.cache_resource
def points() -> Callable[..., Any]:
    """Return ``one_point`` with a cache, so that pictures and sessions share fitted models.

    In a class that follows one link, only the first reader waits for each fit.
    """
    return session_cache.for_all(one_point)


def variations() -> dict[str, PageVariation]:
    return {"cl_gl": PageVariation(below=_stacked, using={"point": points()})}


def _stacked(recipe: Recipe, values: dict[str, Any]) -> None:
    """Draw CL, GL and IL for every value of one setting; changing this setting computes nothing again."""
    experiment, against = EXPERIMENTS["cl_gl"], values["against"]
    fixed = experiment.numbers(values, "cl_gl_sweep") | {against: experiment.values({})[against]}
    found = experiments.simulated(experiment, fixed, recipe.seed, "cl_gl_sweep", {"point": points()})
    if found is not None:
        chart.show("cl_gl_sweep", replace(found, own=values[against]), loss=values["loss"])

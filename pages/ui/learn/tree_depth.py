"""Forests, cached for all sessions: a class that follows one link grows each forest once.

A forest grown for one picture also serves the next one: the curve below, another leaf estimate, fewer trees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from calib.experiments import EXPERIMENTS
from calib.experiments.shared.gaussian_plane import grow
from calib.recipe import Recipe
from pages.ui import chart, session_cache
from pages.ui.learn import experiments
from pages.ui.learn.experiments import PageVariation


@st.cache_resource
def forests() -> Callable[..., Any]:
    """Return ``grow`` with a cache."""
    return session_cache.for_all(grow)


SETTING_OF_EXPERIMENT = {"tree_depth": "depth", "tree_count": "trees", "leaf_estimates": "curtail"}
"""Setting on the horizontal axis of each experiment's curve."""


def variations() -> dict[str, PageVariation]:
    return {key: PageVariation(below=_curve, using={"grow": forests()}) for key in SETTING_OF_EXPERIMENT}


def _curve(recipe: Recipe, values: dict[str, Any]) -> None:
    """Draw the errors along the setting of the shown experiment; changing this setting computes nothing again."""
    experiment = EXPERIMENTS[recipe.setting("labs.experiment")]
    setting, key = SETTING_OF_EXPERIMENT[experiment.key], f"{experiment.key}_curve"
    fixed = experiment.numbers(values | {setting: experiment.values({})[setting]})
    found = experiments.simulated(experiment, fixed, recipe.seed, key, {"grow": forests()})
    if found is not None:
        chart.show(key, replace(found, own=values[setting]), **experiment.view(values, key))

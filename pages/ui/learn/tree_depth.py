"""Forests and models of the Learn pages, kept over all sessions: a class that follows one link grows each of them once.

What was grown for one picture serves the next one: the curve below, another leaf estimate, fewer trees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from threading import Lock
from typing import Any

import streamlit as st

from calib.figures import FIGURES
from calib.kernel.progress import Watch
from calib.kernel.wording import number
from calib.learn import EXPERIMENTS, shown
from calib.recipe import Recipe
from calib.simulations.tree_depth import grow
from calib.simulations.which_model import fit_one
from pages.ui import chart, learn, work

KEPT_GROWN = 48  # 100 trees and their leaves of 10,000 objects take 2 MB
KEPT_MODELS = 200


@st.cache_resource
def forests() -> Callable[..., Any]:
    """``grow`` that remembers."""
    return lru_cache(maxsize=KEPT_GROWN)(grow)


@st.cache_resource
def models() -> Callable[..., Any]:
    """``fit_one`` that remembers, whoever watches."""
    kept, lock = work.Kept(KEPT_MODELS), Lock()

    def remembered(*what: Any, watch: Watch) -> Any:
        with lock:
            found = kept.get(what)
        if found is None:
            found = fit_one(*what, watch=watch)
            with lock:
                kept.get_or_make(what, lambda: found)
        return found

    return remembered


OWN = {"tree_depth": "depth", "tree_count": "trees", "leaf_estimates": "curtail"}
"""Experiment → the setting that its curve runs along."""


def along(recipe: Recipe, values: dict[str, Any]) -> None:
    """The errors along the setting of the experiment that is shown; moving that setting computes nothing anew."""
    experiment = shown(dict(recipe.learn), "tree_depth")
    setting, key = OWN[experiment.key], f"{experiment.key}_curve"
    fixed = experiment.numbers(values | {setting: experiment.values({})[setting]})
    found = learn.simulated(key, fixed, recipe.seed, grow=forests())
    if found is not None:
        chart.show(key, replace(found, own=values[setting]), **experiment.view(values, key))


COLUMNS = {
    "model": "Model",
    "tce": "TCE",
    "bias_squared": "Bias²",
    "scatter": "Scatter",
    "calibration": "CL",
    "grouping": "GL",
    "irreducible": "IL",
    "expected_brier": "Expected Brier",
}


def losses(recipe: Recipe, values: dict[str, Any]) -> None:
    """The same models in numbers."""
    found = learn.simulated("which_model", EXPERIMENTS["which_model"].numbers(values), recipe.seed, fit=models())
    table = FIGURES["which_model"].prepare(found).to_frame().rename(columns=COLUMNS)[list(COLUMNS.values())]
    st.dataframe(
        table.set_index("Model").map(number),
        width="stretch",
        key="which_model_losses",
        alt="True calibration error, its two parts, and the three parts of the expected Brier score, for every model",
    )
    st.caption("TCE = bias² + scatter; CL + GL + IL = expected Brier score, up to the spread inside 20 quantile bins.")

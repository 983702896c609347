"""What single experiments add to their page: fits that all sessions share, and a picture or table below the others.

In a class that follows one link, only the first reader waits for each fit. A forest grown for one picture also serves
the next one: the curve below, another leaf estimate, fewer trees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from calib.experiments import EXPERIMENTS, Experiment
from calib.experiments.cl_gl.simulation import one_point
from calib.experiments.shared.gaussian_plane import grow
from calib.experiments.which_model import NO_OTHER, fit_one
from calib.figures import FIGURES
from calib.kernel.wording import number
from calib.recipe import Recipe
from pages.ui import chart, session_cache
from pages.ui.controls import parameter_control
from pages.ui.learn import algorithms, experiments, finite_example, long_runs
from pages.ui.learn.experiments import PageVariation
from pages.ui.posed_question import current_question
from pages.ui.tables import grid

SETTING_OF_EXPERIMENT = {"tree_depth": "depth", "tree_count": "trees", "leaf_estimates": "curtail"}
"""Setting on the horizontal axis of each experiment's curve."""
MODEL_COLUMNS = {
    "model": "Model",
    "tce": "TCE",
    "bias_squared": "Bias²",
    "scatter": "Scatter",
    "calibration": "CL",
    "grouping": "GL",
    "irreducible": "IL",
    "expected_brier": "Expected Brier",
}


def variation_of(experiment: str) -> PageVariation:
    """Return the variation of an experiment's page; that of most experiments changes nothing."""
    curve = PageVariation(below=_curve_below, using={"grow": forests()})
    found: Mapping[str, PageVariation] = {
        "pooling": algorithms.POOLING_VARIATION,
        "finite": finite_example.FINITE_VARIATION,
        "calibration_size": long_runs.variation(below=_mixture_below),
        "overlap": long_runs.variation(below=_steps_below),
        "cl_gl": PageVariation(below=_losses_below, using={"point": points()}, idle=_idle_trees),
        "which_model": PageVariation(below=_models_below, using={"fit": models()}, idle=_idle_calibration),
        **dict.fromkeys(SETTING_OF_EXPERIMENT, curve),
    }
    return found.get(experiment, PageVariation())


def _idle_trees(recipe: Recipe, experiment: Experiment, values: dict[str, Any]) -> tuple[str, ...]:
    """Hide the number of trees of a single tree."""
    return () if values["model"] == "forest" or values["against"] == "trees" else ("trees",)


def _idle_calibration(recipe: Recipe, experiment: Experiment, values: dict[str, Any]) -> tuple[str, ...]:
    """Hide the calibration of one more model if there is none."""
    return ("calibrator",) if values["other"] == NO_OTHER else ()


@st.cache_resource
def forests() -> Callable[..., Any]:
    """Return ``grow`` with a cache for all sessions."""
    return session_cache.for_all(grow)


@st.cache_resource
def points() -> Callable[..., Any]:
    """Return ``one_point`` with a cache for all sessions."""
    return session_cache.for_all(one_point)


@st.cache_resource
def models() -> Callable[..., Any]:
    """Return ``fit_one`` with a cache for all sessions."""

    return session_cache.for_all(
        lambda *what, watch: fit_one(*what, watch=watch), key=lambda *what, watch: what
    )


def _mixture_below(recipe: Recipe, values: dict[str, Any]) -> None:
    """Draw the training rows of the first repetition."""
    sizes = {name: values[name] for name in ("n_train", "n_test")}
    found = EXPERIMENTS["calibration_size"].simulate(
        "calibration_size_data", random_state=recipe.seed, **sizes
    )
    chart.show("calibration_size_data", found)


def _steps_below(recipe: Recipe, values: dict[str, Any]) -> None:
    """Draw the data of four steps, in the number of dimensions that the page shows in detail."""
    experiment = EXPERIMENTS["overlap"]
    parameter = next(p for p in experiment.parameters if p.name == "embedding")
    if int(values["detail"]) > 2:
        parameter_control(parameter, "overlap.embedding", values["embedding"], plays=True)
    settings = {name: values[name] for name in ("detail", "embedding")}
    found = experiments.simulated(experiment, settings, recipe.seed, "overlap_data")
    if found is not None:
        chart.show("overlap_data", found)


def _losses_below(recipe: Recipe, values: dict[str, Any]) -> None:
    """Draw CL, GL and IL for every value of one setting; changing this setting computes nothing again."""
    experiment, against = EXPERIMENTS["cl_gl"], values["against"]
    fixed = experiment.numbers(values, "cl_gl_sweep") | {against: experiment.values({})[against]}
    found = experiments.simulated(experiment, fixed, recipe.seed, "cl_gl_sweep", {"point": points()})
    if found is not None:
        chart.show("cl_gl_sweep", replace(found, own=values[against]), loss=values["loss"])


def _curve_below(recipe: Recipe, values: dict[str, Any]) -> None:
    """Draw the errors along the setting of the shown experiment; changing this setting computes nothing again."""
    experiment = EXPERIMENTS[recipe.setting("labs.experiment")]
    setting, key = SETTING_OF_EXPERIMENT[experiment.key], f"{experiment.key}_curve"
    fixed = experiment.numbers(values | {setting: experiment.values({})[setting]})
    found = experiments.simulated(experiment, fixed, recipe.seed, key, {"grow": forests()})
    if found is not None:
        chart.show(key, replace(found, own=values[setting]), **experiment.view(values, key))


def _models_below(recipe: Recipe, values: dict[str, Any]) -> None:
    """Draw the losses of the models once they no longer give the answer away."""
    if current_question().open:
        return
    experiment = EXPERIMENTS["which_model"]
    found = experiments.simulated(
        experiment, experiment.numbers(values), recipe.seed, using={"fit": models()}
    )
    table = FIGURES["which_model"].prepare(found).to_frame().rename(columns=MODEL_COLUMNS)
    grid(
        table[list(MODEL_COLUMNS.values())].set_index("Model").map(number),
        key="which_model_losses",
        alt="Table of the true calibration error and its two parts, and of the three parts of the expected "
        "Brier score",
    )
    st.caption(
        "TCE = bias² + scatter. CL + GL + IL = expected Brier score, except for the within-bin variance in 20 "
        "quantile bins."
    )

"""Models side by side, cached for all sessions, and a table of their losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from calib.experiments import EXPERIMENTS
from calib.experiments.which_model import fit_one
from calib.figures import FIGURES
from calib.kernel.wording import number
from calib.recipe import Recipe
from pages.ui import session_cache
from pages.ui.grid import grid
from pages.ui.learn import experiments
from pages.ui.learn.experiments import PageVariation
from pages.ui.posed_question import current_question


@st.cache_resource
def models() -> Callable[..., Any]:
    """Return ``fit_one`` with a cache for all sessions."""

    return session_cache.for_all(
        lambda *what, watch: fit_one(*what, watch=watch), key=lambda *what, watch: what
    )


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


def variations() -> dict[str, PageVariation]:
    return {"which_model": PageVariation(below=_losses, using={"fit": models()})}


def _losses(recipe: Recipe, values: dict[str, Any]) -> None:
    """Draw the losses of the models once they no longer give the answer away."""
    if current_question().open:
        return
    experiment = EXPERIMENTS["which_model"]
    found = experiments.simulated(
        experiment, experiment.numbers(values), recipe.seed, using={"fit": models()}
    )
    table = (
        FIGURES["which_model"]
        .prepare(found)
        .to_frame()
        .rename(columns=MODEL_COLUMNS)[list(MODEL_COLUMNS.values())]
    )
    grid(
        table.set_index("Model").map(number),
        key="which_model_losses",
        alt="Table of the true calibration error and its two parts, and of the three parts of the expected "
        "Brier score",
    )
    st.caption(
        "TCE = bias² + scatter. CL + GL + IL = expected Brier score, except for the within-bin variance in 20 "
        "quantile bins."
    )

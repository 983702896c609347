"""Mixture of the calibration-size experiment, drawn below its pictures."""

from __future__ import annotations

from typing import Any

from calib.experiments import EXPERIMENTS
from calib.recipe import Recipe
from pages.ui import chart
from pages.ui.learn import long_runs
from pages.ui.learn.experiments import PageVariation


def variations() -> dict[str, PageVariation]:
    return {"calibration_size": long_runs.variation(below=_mixture)}


def _mixture(recipe: Recipe, values: dict[str, Any]) -> None:
    """Draw the training rows of the first repetition."""
    sizes = {name: values[name] for name in ("n_train", "n_test")}
    found = EXPERIMENTS["calibration_size"].simulate(
        "calibration_size_data", random_state=recipe.seed, **sizes
    )
    chart.show("calibration_size_data", found)

"""The data of the overlap experiment, drawn below its pictures."""

from __future__ import annotations

from typing import Any

from calib.experiments import EXPERIMENTS
from calib.recipe import Recipe
from pages.ui import chart
from pages.ui.controls import parameter_control
from pages.ui.learn import experiments, long_runs
from pages.ui.learn.experiments import PageVariation


def variations() -> dict[str, PageVariation]:
    return {"overlap": long_runs.variation(below=_steps)}


def _steps(recipe: Recipe, values: dict[str, Any]) -> None:
    """Draw the data of four steps, in the number of dimensions that the page shows in detail."""
    experiment = EXPERIMENTS["overlap"]
    parameter = next(p for p in experiment.parameters if p.name == "embedding")
    if int(values["detail"]) > 2:
        parameter_control(parameter, "overlap.embedding", values["embedding"], plays=True)
    settings = {name: values[name] for name in ("detail", "embedding")}
    found = experiments.simulated(experiment, settings, recipe.seed, "overlap_data")
    if found is not None:
        chart.show("overlap_data", found)

"""The long experiments: results made beforehand at once, others part by part, with the picture so far."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from calib.kernel.progress import Watch
from calib.learn import EXPERIMENTS, Experiment
from calib.recipe import Recipe
from calib.simulations import calibration_size
from pages.ui import chart, learn, work


def in_parts(simulation: ModuleType) -> Callable[[Recipe, Experiment, dict[str, Any]], Any | None]:
    """What ``learn.show`` computes with: the kept results, or the simulation's cells as background jobs.

    While they run, the pictures show the cells that are there.
    """

    def compute(recipe: Recipe, experiment: Experiment, values: dict[str, Any]) -> Any | None:
        kept = simulation.kept_results(recipe.seed, values)
        if kept is not None:
            return kept
        kind, calls = f"learn_{experiment.key}", simulation.cells(recipe.seed, values)

        def so_far() -> None:
            done = [found for found in (work.finished(kind, key) for key in calls) if found is not None]
            if done:
                learn.draw(experiment, recipe, values, simulation.gathered(done))

        jobs = {key: partial(_watched, call) for key, call in calls.items()}
        found = work.run(kind, "Computing", jobs, meanwhile=so_far)
        return None if found is None else simulation.gathered(found)

    return compute


def _watched(call: Callable[..., Any], watch: Watch) -> Any:
    return call(watch=watch)


def steps_drawn(recipe: Recipe, values: dict[str, Any]) -> None:
    """The data of four steps, in as many dimensions as are looked at in detail."""
    parameter = next(p for p in EXPERIMENTS["overlap"].parameters if p.name == "embedding")
    if int(values["detail"]) > 2:
        learn.control(parameter, "learn.overlap.embedding", values["embedding"])
    found = learn.simulated("overlap_data", {name: values[name] for name in ("detail", "embedding")}, recipe.seed)
    if found is not None:
        chart.show("overlap_data", found)


def mixture_drawn(recipe: Recipe, values: dict[str, Any]) -> None:
    """The training objects of the first repetition."""
    sizes = {name: values[name] for name in ("n_train", "n_test")}
    chart.show("calibration_size_data", calibration_size.draw_data(random_state=recipe.seed, **sizes))

"""The long experiments: kept results at once, others chunk by chunk, with the picture so far."""

from __future__ import annotations

from functools import partial
from typing import Any

from calib.experiments import Experiment
from calib.experiments.shared.long_run import Chunk, LongRun
from calib.kernel.progress import Watch
from calib.recipe import Recipe
from pages.ui import jobs
from pages.ui.learn import experiments


def compute(recipe: Recipe, experiment: Experiment, values: dict[str, Any]) -> Any | None:
    """The kept results, or those of all chunks, which run as background jobs; None meanwhile.

    While they run, the pictures show the chunks that are there.
    """
    run = experiment.simulation
    assert isinstance(run, LongRun)
    kept = run.kept(recipe.seed, values)
    if kept is not None:
        return kept
    kind, chunks = f"learn_{experiment.key}", run.chunks(recipe.seed, values)

    def so_far() -> None:
        done = [found for found in (jobs.result(kind, name) for name in chunks) if found is not None]
        if done:
            experiments.draw(experiment, recipe, values, run.gathered(done))

    watched = {name: partial(_watched, chunk) for name, chunk in chunks.items()}
    found = jobs.run(kind, "Computing", watched, meanwhile=so_far)
    return None if found is None else run.gathered(found)


def idle(recipe: Recipe, experiment: Experiment, values: dict[str, Any]) -> tuple[str, ...]:
    """Which results is no choice where none are kept for the other settings."""
    kept = experiment.simulation.kept(recipe.seed, values | {"results": "shipped"})
    return () if kept else ("results",)


def _watched(chunk: Chunk, watch: Watch) -> Any:
    return chunk(watch=watch)

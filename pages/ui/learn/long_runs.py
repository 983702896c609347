"""The long experiments: stored results at once, other results chunk by chunk, with the picture so far."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from calib.experiments import Experiment
from calib.experiments.shared.long_run import Chunk, LongRun
from calib.kernel.progress import Watch
from calib.recipe import Recipe
from pages.ui import jobs
from pages.ui.learn.experiments import PageVariation


def compute(recipe: Recipe, experiment: Experiment, values: dict[str, Any]) -> Any | None:
    """Return the stored results or the results of all chunks; None while the chunks run as background jobs.

    The page is drawn again whenever more chunks are done.
    """
    run = _run(experiment)
    found = run.stored_results(recipe.seed, values)
    if found is not None:
        return found
    seen = len(_done(recipe, experiment, values))

    def more() -> None:
        if len(_done(recipe, experiment, values)) > seen:
            st.rerun()

    chunks = run.chunks(recipe.seed, values)
    watched = {name: partial(_watched, chunk) for name, chunk in chunks.items()}
    tables = jobs.run(_kind(experiment), "Computing", watched, meanwhile=more)
    return None if tables is None else run.gathered(tables, values)


def so_far(recipe: Recipe, experiment: Experiment, values: dict[str, Any]) -> Any | None:
    """Return the means of the finished chunks, if any."""
    done = _done(recipe, experiment, values)
    return _run(experiment).gathered(done, values) if done else None


def _done(recipe: Recipe, experiment: Experiment, values: dict[str, Any]) -> list[pd.DataFrame]:
    chunks = _run(experiment).chunks(recipe.seed, values)
    tables = (jobs.result(_kind(experiment), name) for name in chunks)
    return [table for table in tables if table is not None]


def _run(experiment: Experiment) -> LongRun:
    assert isinstance(experiment.simulation, LongRun)
    return experiment.simulation


def _kind(experiment: Experiment) -> str:
    return f"learn_{experiment.key}"


def idle(recipe: Recipe, experiment: Experiment, values: dict[str, Any]) -> tuple[str, ...]:
    """Hide the choice of results if none are stored for the other settings."""
    kept = experiment.simulation.stored_results(recipe.seed, values | {"results": "shipped"})
    return () if kept else ("results",)


def variation(below: Callable[[Recipe, dict[str, Any]], None]) -> PageVariation:
    """Return how a page treats a long experiment."""
    return PageVariation(compute=compute, so_far=so_far, idle=idle, below=below)


def _watched(chunk: Chunk, watch: Watch) -> Any:
    return chunk(watch=watch)

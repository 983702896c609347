"""Run an experiment of the Learn pages outside the app: the same settings and seed give the same pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calib.experiments import EXPERIMENTS, Experiment
from calib.export.charts import Chart
from calib.export.pages import page, versions
from calib.figures import FIGURES, LIGHT, Theme
from calib.kernel import checks
from calib.kernel.progress import Watch
from calib.recipe import Recipe


@dataclass(frozen=True, eq=False)
class Run:
    """An experiment with all its settings, and its figures."""

    experiment: Experiment
    values: dict[str, Any]
    seed: int
    charts: tuple[Chart, ...]


def run_experiment(
    name: str, settings: Mapping[str, Any] | None = None, seed: int = 0, watch: Watch | None = None
) -> Run:
    """Run an experiment and return all its figures.

    Parameters
    ----------
    name
        A key of EXPERIMENTS.
    settings
        The settings that differ from their defaults.
    seed
        Seed of all random draws.

    Raises
    ------
    InputError
        If the name, a setting or the seed is not allowed; the message lists the allowed values.

    Examples
    --------
    >>> run = run_experiment("pooling", {"points": "1:0 2:1 3:0"})
    >>> run.charts[0].record.title
    'Move 1 of 1: 1/1 is above its right neighbour 0/1, so both become 1/2'
    """
    experiment = EXPERIMENTS[checks.one_of(name, EXPERIMENTS, "The experiment")]
    values = experiment.check(settings or {})
    seed = Recipe(seed=seed).seed
    watch, count = watch or Watch(), len(experiment.runs)
    charts = []
    for i, (simulation, figures) in enumerate(experiment.runs.items()):
        numbers = experiment.numbers(values, simulation)
        part = watch.within(i / count, (i + 1) / count)
        found = experiment.simulate(simulation, random_state=seed, watch=part, **numbers)
        charts += [Chart(key, FIGURES[key].prepare(found, **experiment.view(values, key))) for key in figures]
    return Run(experiment, values, seed, tuple(charts))


def experiment_html(run: Run, theme: Theme = LIGHT) -> bytes:
    """Return question, figures, settings, what to notice and the source as one self-contained page.

    Parameters
    ----------
    run
        The result of ``run_experiment``.
    theme
        Light or dark.
    """
    experiment = run.experiment
    settings = [f"{p.label}: {p.in_words(run.values[p.name])}" for p in experiment.parameters]
    if experiment.seeded:
        settings.append(f"Seed: {run.seed}")
    return page(
        "experiment.html",
        f"{experiment.name} · Calibration Explorer",
        theme,
        experiment=experiment,
        charts=run.charts,
        settings=settings,
        source=experiment.to_python(
            {f"{experiment.key}.{name}": v for name, v in run.values.items()}, run.seed
        ),
        versions=versions(),
    )

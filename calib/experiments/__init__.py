"""The experiments of the Learn and Study pages, each a module with its simulation, pictures, words and settings."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from calib.experiments.base import ASK, COVER_TEXT, SKIP, Experiment
from calib.kernel.declared import SETTINGS, declare_figures, declare_settings
from calib.kernel.records import Parameter

ORDER_OF_EXPERIMENTS = (
    "cl_gl",
    "tree_depth",
    "tree_count",
    "leaf_estimates",
    "finite",
    "fair_on_average",
    "looking",
    "three_classes",
    "pooling",
    "theorem",
    "narrowing",
    "regret",
    "log_loss",
    "which_model",
    "overlap",
    "calibration_size",
    "order",
    "constant",
    "compare",
    "counterexample",
)
"""Modules of the experiments in page order; each defines ``EXPERIMENT`` and ``FIGURES``."""

_MODULES = {key: import_module(f"{__name__}.{key}") for key in ORDER_OF_EXPERIMENTS}
EXPERIMENTS: dict[str, Experiment] = {key: module.EXPERIMENT for key, module in _MODULES.items()}
"""Key → experiment. A Recipe's ``settings`` name a setting "key.setting" and the shown experiment "page.experiment"."""
OTHER_VIEWS = {"labs": ("playground", "triangle"), "two_probabilities": ("lesson", "questions")}
"""Page → its first views, which are not experiments."""


def _declare() -> None:
    """Declare the settings and the figures of experiments to the lower floors."""
    for key, experiment in EXPERIMENTS.items():
        declare_settings(key, (*experiment.parameters, experiment.guess))
        declare_figures(_MODULES[key].FIGURES)
    for page in dict.fromkeys(experiment.page for experiment in EXPERIMENTS.values()):
        own = (key for key, experiment in EXPERIMENTS.items() if experiment.page == page)
        keys = (*OTHER_VIEWS.get(page, ()), *own)
        shown = Parameter(
            "experiment",
            "Experiment",
            "choice",
            keys[0],
            choices=keys,
            help="The experiment that the page shows.",
        )
        declare_settings(page, [shown])


_declare()


def chosen_experiment(settings: Mapping[str, Any], page: str) -> Experiment | None:
    """Return the experiment of a page that a Recipe's settings choose; None for a view that is not an experiment.

    Parameters
    ----------
    settings : mapping
        Settings of a Recipe by page.setting; missing settings take their defaults.
    page : str
        A page's key, such as "labs".
    """
    return EXPERIMENTS.get(settings.get(f"{page}.experiment", SETTINGS[f"{page}.experiment"].default))


def asking_experiment(settings: Mapping[str, Any], script: str) -> Experiment | None:
    """Return the experiment on a step's page that asks its own question; None if there is none.

    Parameters
    ----------
    settings : mapping
        Settings of the step's Recipe by page.setting.
    script : str
        Stem of the page's script, such as "learn_two_probabilities".
    """
    page = script.removeprefix("learn_")
    experiment = chosen_experiment(settings, page) if page != script else None
    asks = experiment and settings.get(f"{experiment.key}.guess", experiment.guess.default) == ASK
    return experiment if asks else None


__all__ = [
    "ASK",
    "COVER_TEXT",
    "EXPERIMENTS",
    "OTHER_VIEWS",
    "SKIP",
    "Experiment",
    "asking_experiment",
    "chosen_experiment",
]

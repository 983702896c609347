"""The experiments of the Learn pages, each a module with its simulation, pictures, words and settings."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from calib.experiments.base import ASK, COVER, SKIP, Experiment
from calib.kernel.declared import SETTINGS, declare_figures, declare_settings
from calib.kernel.records import Parameter

ORDER = (
    "cl_gl",
    "tree_depth",
    "tree_count",
    "leaf_estimates",
    "which_model",
    "overlap",
    "calibration_size",
    "theorem",
    "order",
    "constant",
    "regret",
    "compare",
    "counterexample",
    "log_loss",
    "narrowing",
    "pooling",
    "finite",
    "looking",
    "fair_on_average",
    "three_classes",
)
"""Modules of the experiments in page order; each defines ``EXPERIMENT`` and ``FIGURES``."""

_MODULES = {key: import_module(f"{__name__}.{key}") for key in ORDER}
EXPERIMENTS: dict[str, Experiment] = {key: module.EXPERIMENT for key, module in _MODULES.items()}
"""Key → experiment. A Recipe's ``settings`` name a setting "key.setting" and the shown experiment "page.experiment"."""


def _declare() -> None:
    """Declare the settings and the figures of experiments to the lower floors."""
    for key, experiment in EXPERIMENTS.items():
        declare_settings(key, (*experiment.parameters, experiment.guess))
        declare_figures(_MODULES[key].FIGURES)
    for page in dict.fromkeys(experiment.page for experiment in EXPERIMENTS.values()):
        keys = tuple(key for key, experiment in EXPERIMENTS.items() if experiment.page == page)
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


def chosen_experiment(settings: Mapping[str, Any], page: str) -> Experiment:
    """Return the experiment of a page that a Recipe's settings choose.

    Parameters
    ----------
    settings : mapping
        Settings of a Recipe by page.setting; missing settings take their defaults.
    page : str
        A Learn page's key, such as "validity".
    """
    return EXPERIMENTS[settings.get(f"{page}.experiment", SETTINGS[f"{page}.experiment"].default)]


__all__ = ["ASK", "COVER", "EXPERIMENTS", "SKIP", "Experiment", "chosen_experiment"]

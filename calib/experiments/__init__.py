"""What the Learn pages teach, in words: every experiment with its question, settings, formula and source."""

from collections.abc import Mapping
from typing import Any

from calib.learn import algorithms, calibration_size, cl_gl, finite, overlap, tree_depth, validity, which_model
from calib.learn.base import ASK, SKIP, Experiment, setting_parameters

EXPERIMENTS: dict[str, Experiment] = {
    e.key: e
    for module in (cl_gl, tree_depth, which_model, overlap, calibration_size, validity, algorithms, finite)
    for e in module.EXPERIMENTS
}
"""Key → experiment, in the order of the pages; a Recipe's ``learn`` holds settings as "key.setting"."""

SETTINGS = setting_parameters(EXPERIMENTS)
"""All that a Recipe's ``learn`` may hold, by name."""


def shown(settings: Mapping[str, Any], page: str) -> Experiment:
    """The experiment of a page that a Recipe's ``learn`` settings choose."""
    return EXPERIMENTS[settings.get(f"{page}.part", SETTINGS[f"{page}.part"].default)]


__all__ = ["ASK", "EXPERIMENTS", "SETTINGS", "SKIP", "Experiment", "shown"]

"""Frequencies, Laplace's estimate and curtailment in a tree and a forest, also along the threshold of curtailment.

Shaker and Hüllermeier (2025), appendix A.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calib.experiments.shared.grown_trees import TREE_MODELS, Grow, SettingCurve, SideBySide, grow, grown_for
from calib.experiments.shared.prediction_errors import PredictionErrors
from calib.kernel.progress import Watch
from calib.metrics import true_calibration_error

AT_THRESHOLDS = (0, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500)
LEAVES = ("frequency", "laplace", "curtailed")


def with_leaves(
    settings: Mapping[str, Any], random_state: int, watch: Watch, grow: Grow = grow
) -> SideBySide:
    """Evaluate a tree and a forest, each with frequencies, with Laplace's estimate, and curtailed.

    Parameters
    ----------
    settings
        Settings of EXPERIMENTS["leaf_estimates"].
    """
    shown = []
    for model in watch.loop(TREE_MODELS, "models"):
        grown = grown_for(settings, random_state, grow, model=model)
        who = "One tree" if model == "tree" else f"{settings['trees']} trees"
        for name, leaf, curtail in (
            ("frequency", "frequency", 0),
            ("Laplace", "laplace", 0),
            (f"curtailed below {settings['curtail']} rows", "frequency", settings["curtail"]),
        ):
            shown.append(PredictionErrors(f"{who}, {name}", grown.plane.posterior, grown.p(leaf, curtail)))
    return SideBySide(tuple(shown), len(LEAVES), settings)


def curve_by_threshold(
    settings: Mapping[str, Any], random_state: int, watch: Watch, grow: Grow = grow
) -> SettingCurve:
    """Compute TCE of a tree and a forest for every threshold of curtailment, with both leaf estimates."""
    curves = {}
    for model in watch.loop(TREE_MODELS, "models"):
        grown = grown_for(settings, random_state, grow, model=model)
        curves[model] = {
            leaf: np.array(
                [true_calibration_error(grown.plane.posterior, grown.p(leaf, v)) for v in AT_THRESHOLDS]
            )
            for leaf in ("frequency", "laplace")
        }
    return SettingCurve(AT_THRESHOLDS, curves, settings["curtail"], settings)

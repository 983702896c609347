"""The first trees of one forest, and its errors by the number of trees.

Shaker and Hüllermeier (2025), appendix C.2, Figure 8.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calib.experiments.shared.grown_trees import (
    STOCKS,
    Grow,
    SettingCurve,
    SideBySide,
    columns,
    grow,
    grown_for,
)
from calib.experiments.shared.prediction_errors import PredictionErrors
from calib.kernel.progress import Watch
from calib.metrics import true_calibration_error

COUNTS = (5, 50, 500)  # numbers of trees in the paper's Figure 8
AT_COUNTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500)


def at_counts(settings: Mapping[str, Any], random_state: int, watch: Watch, grow: Grow = grow) -> SideBySide:
    """Evaluate the first 5, 50 and 500 trees of one forest, and the reader's number of trees.

    Parameters
    ----------
    settings
        Settings of EXPERIMENTS["tree_count"].
    """
    watch.step(0.0, "trees")
    grown = grown_for(settings, random_state, grow, model="forest", trees=STOCKS[-1])
    shown = tuple(
        PredictionErrors(
            f"{k:,} tree{'s' * (k > 1)}", grown.plane.posterior, grown.first(k).p(settings["leaf"])
        )
        for k in sorted({*COUNTS, settings["trees"]})
    )
    return SideBySide(shown, len(shown), settings)


def curve_by_count(
    settings: Mapping[str, Any], random_state: int, watch: Watch, grow: Grow = grow
) -> SettingCurve:
    """Compute TCE, bias and scatter of the first k trees, and the mean TCE of single trees; ``trees`` is recorded."""
    watch.step(0.0, "trees")
    grown = grown_for(settings, random_state, grow, model="forest", trees=STOCKS[-1])
    votes, posterior = grown.votes(settings["leaf"]), grown.plane.posterior
    total, rows = np.zeros_like(posterior), []
    for k, vote in enumerate(votes, start=1):
        total += vote
        if k in AT_COUNTS:
            errors = PredictionErrors("", posterior, total / k)
            rows.append({"tce": errors.tce, "bias": errors.bias, "scatter": errors.scatter})
    alone = float(np.mean([true_calibration_error(posterior, vote) for vote in votes]))
    curve = columns(rows) | {"alone": np.full(len(rows), alone)}
    return SettingCurve(AT_COUNTS, {"forest": curve}, settings["trees"], settings)

"""Rare events: where most predictions are so small that a diagram from 0 to 1 holds them in one corner."""

from __future__ import annotations

import numpy as np

from calib.evaluate import Evaluation
from calib.kernel.binning import quantiles

SMALL = 0.05


def small_median(evaluation: Evaluation) -> float | None:
    """The median prediction – the middle one of those of the calibrators – where it is below 5%; else None."""
    if not evaluation.predictions:
        return None
    half = np.array([0.5])
    medians = [float(quantiles(each.p, half, each.weight)[0]) for each in evaluation.predictions.values()]
    middle = float(np.median(medians))
    return middle if middle < SMALL else None

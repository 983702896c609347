"""Models side by side, on data for which the assumption of one model holds, and on data for which it fails.

Shaker and Hüllermeier (2025), Figure 7.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calib.experiments.shared.truth_panels import PANELS, TruthPanels, against_truth
from calib.experiments.which_model.simulation import Models
from calib.figures.base import FigureEntry
from calib.kernel.wording import brief

PAPERS = 3  # number of the paper's models, which come first


def prepare(found: Models, cloud: str = "points") -> TruthPanels:
    """Find the model closest to the truth in each row."""
    (above, first), (below, second) = found.rows.items()
    best, then = (min(row, key=lambda errors: errors.tce) for row in (first, second))
    shown = tuple(
        replace(errors, name=f"{errors.name}, {row.lower()}")
        for row, models in found.rows.items()
        for errors in models
    )
    title = (
        f"{above}: {_within(best.name)} comes closest (TCE {brief(best.tce)}). {below}: {_within(then.name)} "
        f"({brief(then.tce)})"
    )
    return against_truth(
        shown,
        len(first),
        cloud,
        title,
        1 + int(np.argmin([errors.tce for errors in second[:PAPERS]])),
    )


def _within(name: str) -> str:
    """Write a model's name within a sentence."""
    return name if name[:2].isupper() else f"{name[0].lower()}{name[1:]}"


FIGURES = (FigureEntry("which_model", "Models against the true probabilities", prepare, *PANELS),)

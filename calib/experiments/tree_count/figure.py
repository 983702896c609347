"""Forests of several sizes against the true probabilities, and TCE along the number of trees.

Shaker and Hüllermeier (2025), Figure 8.
"""

from __future__ import annotations

import numpy as np

from calib.experiments.shared.grown_trees import SettingCurve, SideBySide
from calib.experiments.shared.setting_curves import CURVES, Lines, curve_panels
from calib.experiments.shared.truth_panels import PANELS, TruthPanels, against_truth
from calib.experiments.tree_count.simulation import COUNTS
from calib.figures.base import FigureEntry
from calib.kernel.wording import brief

FAR_LESS = 1 / 3  # of the first gain, below which the second gain is called far less


def prepare(found: SideBySide, cloud: str = "points") -> TruthPanels:
    """Compare the gain from 5 to 50 trees with the gain from 50 to 500."""
    tce = {errors.name.split()[0]: errors.tce for errors in found.shown}
    few, some, many = (tce[f"{count:,}"] for count in COUNTS)
    first, second = few - some, some - many
    values = [f"{brief(each)} with {count}" for each, count in zip((few, some, many), COUNTS, strict=True)]
    title = f"TCE is {values[0]} trees, {values[1]} and {values[2]}"
    answer = 2 if second < FAR_LESS * first else 3 if second > first / FAR_LESS else 1
    return against_truth(found.shown, found.columns, cloud, title, answer if first > 0 else None)


def prepare_curve(found: SettingCurve) -> Lines:
    """Prepare TCE along the number of trees, and the mean TCE of single trees."""
    curve = found.curves["forest"]
    tce = curve["tce"]
    enough = found.values[int(np.argmax(tce <= 2 * tce[-1]))]
    return curve_panels(
        found,
        {"The first trees of one forest": {"TCE": tce, "bias²": curve["bias"], "scatter": curve["scatter"]}},
        "Trees",
        f"Mean TCE falls from {brief(curve['alone'][0])} for a single tree to {brief(tce[-1])} for all "
        f"{found.values[-1]}; the first {enough} trees have at most twice the lower value",
        "Lines show TCE and its two parts by number of trees. Only scatter falls, and only down to a limit: the mean "
        "of trees removes their disagreement, but not their common errors. Each step to the right multiplies the "
        "number of trees by about the same factor.",
        ringed="none",
    )


FIGURES = (
    FigureEntry(
        "tree_count", "Predicted against true probabilities, for different numbers of trees", prepare, *PANELS
    ),
    FigureEntry("tree_count_curve", "TCE by number of trees", prepare_curve, *CURVES),
)

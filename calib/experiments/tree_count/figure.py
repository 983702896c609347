"""Numbers of trees against the truth, and what is left of the distance with any number.

Shaker and Hüllermeier (2025), Figure 8.
"""

from __future__ import annotations

import numpy as np

from calib.experiments.shared.grown_trees import SettingCurve, SideBySide
from calib.experiments.shared.setting_curves import CURVES, Lines, lines
from calib.experiments.shared.truth_panels import PANELS, TruthPanels, against_truth
from calib.experiments.tree_count.simulation import COUNTS
from calib.figures.base import FigureEntry
from calib.kernel.wording import brief

FAR_LESS = 1 / 3  # of a gain, below which another one is called far less


def prepare(found: SideBySide, cloud: str = "points") -> TruthPanels:
    """What ten times the trees bring, and what ten times as many again."""
    tce = {errors.name.split()[0]: errors.tce for errors in found.shown}
    few, some, many = (tce[f"{count:,}"] for count in COUNTS)
    first, second = few - some, some - many
    title = (
        f"From {COUNTS[0]} to {COUNTS[1]} trees TCE {_moves(first)}, from {COUNTS[1]} to {COUNTS[2]} "
        f"it {_moves(second)}: {brief(few)}, {brief(some)}, {brief(many)}"
    )
    answer = 2 if second < FAR_LESS * first else 3 if second > first / FAR_LESS else 1
    return against_truth(found.shown, found.columns, cloud, title, answer if first > 0 else None)


def _moves(gain: float) -> str:
    return f"{'falls' if gain >= 0 else 'rises'} by {brief(abs(gain))}"


def prepare_curve(found: SettingCurve) -> Lines:
    """How much of the distance is left with any number of trees, and what one tree alone is worth."""
    curve = found.curves["forest"]
    tce = curve["tce"]
    enough = found.values[int(np.argmax(tce <= 2 * tce[-1]))]
    return lines(
        found,
        {"The first trees of one forest": {"TCE": tce, "bias²": curve["bias"], "scatter": curve["scatter"]}},
        "Trees",
        f"A tree alone has TCE {brief(curve['alone'][0])} on average, all {found.values[-1]} together "
        f"{brief(tce[-1])}; with the first {enough} it is at most twice that",
        "It is scatter that falls, and only down to a limit: a mean over trees takes away what they disagree about, "
        "not what all of them get wrong. Steps to the right are nearly equal factors.",
        ringed="none",
    )


FIGURES = (
    FigureEntry("tree_count", "Numbers of trees against the truth", prepare, *PANELS),
    FigureEntry("tree_count_curve", "TCE along the number of trees", prepare_curve, *CURVES),
)

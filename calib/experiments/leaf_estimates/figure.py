"""Leaf estimates against the truth, and the error along the threshold of curtailment.

Shaker and Hüllermeier (2025), appendix A.4.
"""

from __future__ import annotations

import numpy as np

from calib.experiments.shared.grown_trees import SettingCurve, SideBySide
from calib.experiments.shared.setting_curves import CURVES, Lines, forest_of, lines
from calib.experiments.shared.truth_panels import PANELS, TruthPanels, against_truth
from calib.figures.base import FigureEntry
from calib.kernel.wording import brief


def prepare(found: SideBySide, cloud: str = "points") -> TruthPanels:
    """Laplace and curtailment in one tree, against a forest of plain ones."""
    tree, laplace, curtailed, forest, *_ = (errors.tce for errors in found.shown)
    title = (
        f"One tree has TCE {brief(tree)}, with Laplace {brief(laplace)}, curtailed below "
        f"{found.settings['curtail']} {brief(curtailed)}; a forest of {found.settings['trees']} {brief(forest)}"
    )
    best = int(np.argmin([laplace, curtailed, forest]))
    return against_truth(found.shown, found.columns, cloud, title, 1 + best)


def prepare_curve(found: SettingCurve) -> Lines:
    """The best threshold of curtailment, for one tree and for the forest."""
    shown = {
        name: {"frequency": found.curves[model]["frequency"], "Laplace": found.curves[model]["laplace"]}
        for model, name in (("tree", "One tree"), ("forest", forest_of(found)))
    }
    one, many = (curves["frequency"] for curves in shown.values())
    a, b = (found.values[int(np.argmin(curve))] for curve in (one, many))
    return lines(
        found,
        shown,
        "Curtail below",
        f"Curtailing below {a} takes one tree's TCE from {brief(one[0])} to {brief(one.min())}, below {b} the "
        f"forest's from {brief(many[0])} to {brief(many.min())}",
        "A leaf with fewer rows takes the estimate of an ancestor; 0 leaves all as they are. Rings mark the least. "
        "Too small a threshold leaves noise, too large a one lumps together.",
        ringed="all",
    )


FIGURES = (
    FigureEntry("leaf_estimates", "Leaf estimates against the truth", prepare, *PANELS),
    FigureEntry("leaf_estimates_curve", "TCE along the threshold of curtailment", prepare_curve, *CURVES),
)

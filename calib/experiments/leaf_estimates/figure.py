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
    tree, *others = (errors.tce for errors in found.shown[:4])
    names = ("Laplace's estimate", "curtailment", f"the forest ({found.settings['trees']} trees)")
    best = int(np.argmin(others))
    against = [
        f"{name} has {brief(tce)}"
        for i, (name, tce) in enumerate(zip(names, others, strict=True))
        if i != best
    ]
    title = (
        f"{names[best][0].upper()}{names[best][1:]} comes closest to the truth: TCE {brief(others[best])}; "
        f"{', '.join(against)} and the plain tree {brief(tree)}"
    )
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
        "Too small a threshold leaves noise, too large a threshold lumps different rows together.",
        ringed="all",
    )


FIGURES = (
    FigureEntry("leaf_estimates", "Leaf estimates against the truth", prepare, *PANELS),
    FigureEntry("leaf_estimates_curve", "TCE along the threshold of curtailment", prepare_curve, *CURVES),
)

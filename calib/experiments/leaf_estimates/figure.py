"""Leaf estimates against the true probabilities, and the error along the threshold of curtailment.

Shaker and Hüllermeier (2025), appendix A.4.
"""

from __future__ import annotations

import numpy as np

from calib.experiments.shared.grown_trees import SettingCurve, SideBySide
from calib.experiments.shared.setting_curves import CURVES, Lines, curve_panels, forest_of
from calib.experiments.shared.truth_panels import PANELS, TruthPanels, against_truth
from calib.figures.base import FigureEntry
from calib.kernel.wording import brief


def prepare(found: SideBySide, cloud: str = "points") -> TruthPanels:
    """Compare Laplace and curtailment in one tree with a forest of pure trees."""
    tree, *others = (errors.tce for errors in found.shown[:4])
    names, best = ("Laplace", "curtailment", "forest"), int(np.argmin(others))
    against = [
        f"{brief(tce)} ({name})" for i, (name, tce) in enumerate(zip(names, others, strict=True)) if i != best
    ]
    title = (
        f"{'The forest' if best == 2 else names[best].capitalize()} comes closest of the three: "
        f"TCE {brief(others[best])}, against {', '.join(against)} and {brief(tree)} (plain tree)"
        f"{_both(found, others[best])}"
    )
    return against_truth(found.shown, found.columns, cloud, title, 1 + best)


def _both(found: SideBySide, least: float) -> str:
    """Name a forest of Laplace or curtailed trees that comes even closer than the three answers."""
    laplace, curtailed = (errors.tce for errors in found.shown[4:6])
    if min(laplace, curtailed) >= least:
        return ""
    how = "Laplace" if laplace < curtailed else "curtailment"
    return f"; a forest with {how} has {brief(min(laplace, curtailed))}"


def prepare_curve(found: SettingCurve) -> Lines:
    """Find the best threshold of curtailment for one tree and for the forest."""
    shown = {
        name: {"frequency": found.curves[model]["frequency"], "Laplace": found.curves[model]["laplace"]}
        for model, name in (("tree", "One tree"), ("forest", forest_of(found)))
    }
    one, many = (curves["frequency"] for curves in shown.values())
    a, b = (found.values[int(np.argmin(curve))] for curve in (one, many))
    return curve_panels(
        found,
        shown,
        "Curtail below",
        f"Curtailing leaves below {a} rows changes one tree's TCE from {brief(one[0])} to {brief(one.min())}; "
        f"curtailing below {b} changes the forest's from {brief(many[0])} to {brief(many.min())}",
        "Lines show TCE by curtailment threshold. A leaf with fewer rows takes the estimate of an ancestor; 0 changes "
        "nothing. Rings mark the lowest values. A threshold that is too small leaves noise; one that is too large "
        "mixes different rows.",
        ringed="all",
    )


FIGURES = (
    FigureEntry("leaf_estimates", "Leaf estimates against the true probabilities", prepare, *PANELS),
    FigureEntry("leaf_estimates_curve", "TCE by curtailment threshold", prepare_curve, *CURVES),
)

"""Leaf estimates of a tree and a forest: frequency, Laplace and curtailment, also along its threshold.

Shaker and Hüllermeier (2025), appendix A.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calib.experiments.base import Experiment, with_default
from calib.experiments.shared.gaussian_plane import (
    COVARIANCES_OF_CLASSES,
    CURTAIL,
    DEPTH,
    RF_PAPER,
    TRAINING_ROWS,
    TREE_MODELS,
    TREES_OF_FOREST,
    Grow,
    PredictionErrors,
    SettingCurve,
    SideBySide,
    cloud,
    grow,
    grown_for,
)
from calib.experiments.shared.setting_curves import CURVES_BY_SETTING, Lines, curve_panels, forest_of
from calib.experiments.shared.truth_panels import TRUTH_PANELS, TruthPanels, against_truth
from calib.figures.base import FigureEntry
from calib.kernel.progress import Watch
from calib.kernel.wording import brief
from calib.metrics import true_calibration_error

AT_THRESHOLDS = (0, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500)
LEAF_ESTIMATE_KEYS = ("frequency", "laplace", "curtailed")


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
    return SideBySide(tuple(shown), len(LEAF_ESTIMATE_KEYS), settings)


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
        "Lines show TCE by curtailment threshold. A leaf with fewer rows takes the estimate of an ancestor; "
        "a threshold of 0 changes nothing. Rings mark the lowest values. If the threshold is too small, "
        "noise remains; if it is too large, different rows are mixed.",
        ringed="all",
    )


EXPERIMENT = Experiment(
    key="leaf_estimates",
    page="labs",
    lab="CL and GL",
    name="Leaf estimates",
    question="A tree with pure leaves predicts only 0 or 1. What brings it closest to the true probabilities: "
    "Laplace's estimate, curtailment, or a forest of 100 such trees?",
    answers=("Laplace", "Curtailment", "The forest"),
    right=2,
    why=(
        "Laplace moves 1/1 to 2/3, which is better than 1. But the leaf still has only a single row.",
        "Curtailment uses an ancestor with enough rows, so it removes the cause: leaves that are too small.",
        "Averaging pure trees helps a lot. But all trees have learnt the same noise from the same rows.",
    ),
    turn={"curtail": 5},
    ghosts=({"panels": [2]}, {"panels": [3]}, {"panels": [4]}),
    parameters=(
        with_default(CURTAIL, 30),
        DEPTH,
        TREES_OF_FOREST,
        cloud("leaf_estimates"),
        TRAINING_ROWS,
        COVARIANCES_OF_CLASSES,
    ),
    simulation=with_leaves,
    notice=(
        "Pure leaves predict 0 or 1, so the points form two horizontal lines. Laplace pulls small leaves towards "
        "one half, but the leaves stay small.",
        "With curtailment, small leaves take the class-1 share of an ancestor with enough rows. The threshold acts "
        "like a depth that adapts to the region, and again a medium value is best.",
        "In a forest, pure leaves do less harm, because their errors differ from tree to tree. Even there, "
        "curtailment helps.",
    ),
    formulas=(
        r"\text{frequency: } \frac{n_1}{n} \qquad \text{Laplace: } \frac{n_1+1}{n+2}",
        r"\text{curtailed: } \frac{n_1}{n} \text{ of the first ancestor with } n \ge v",
    ),
    source=f"{RF_PAPER}, appendix A.4. Zadrozny and Elkan (2001). Provost and Domingos (2003).",
    also={"leaf_estimates_curve": curve_by_threshold},
    plays="curtail",
)


FIGURES = (
    FigureEntry("leaf_estimates", "Leaf estimates and true probabilities", prepare, *TRUTH_PANELS),
    FigureEntry("leaf_estimates_curve", "TCE by curtailment threshold", prepare_curve, *CURVES_BY_SETTING),
)

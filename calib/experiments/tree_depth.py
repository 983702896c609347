"""Tree depth: a tree or a forest at chosen depths against the true probabilities, and both along all depths.

Shaker and Hüllermeier (2025), section 5.1, Figure 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calib.experiments.base import Experiment, view_of
from calib.experiments.shared.gaussian_plane import (
    COVARIANCES_OF_CLASSES,
    CURTAIL,
    DEPTH,
    LEAF,
    RF_PAPER,
    TRAINING_ROWS,
    TREE_MODELS,
    TREES_OF_FOREST,
    Grow,
    PredictionErrors,
    SettingCurve,
    SideBySide,
    cloud,
    columns,
    grow,
    grown_for,
)
from calib.experiments.shared.setting_curves import CURVES_BY_SETTING, Lines, curve_panels, forest_of
from calib.experiments.shared.truth_panels import TRUTH_PANELS, TruthPanels, against_truth
from calib.figures.base import FigureEntry
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter
from calib.kernel.wording import brief, listed

PAPER_DEPTHS = (2, 4, 8)  # depths in the paper's Figure 3


def at_depths(settings: Mapping[str, Any], random_state: int, watch: Watch, grow: Grow = grow) -> SideBySide:
    """Evaluate the model at depths 2, 4 and 8 and at the reader's depth.

    Parameters
    ----------
    settings
        Settings of EXPERIMENTS["tree_depth"].
    grow
        ``grow``, or a cached version of it.
    """
    depths = sorted({*PAPER_DEPTHS, settings["depth"]}, key=DEPTH.choices.index)
    shown = []
    for depth in watch.loop(depths, "tree depths"):
        grown = grown_for(settings, random_state, grow, depth=depth)
        name = "No limit" if depth is None else f"Depth {depth}"
        shown.append(
            PredictionErrors(name, grown.plane.posterior, grown.p(settings["leaf"], settings["curtail"]))
        )
    return SideBySide(tuple(shown), len(shown), settings)


def curve_by_depth(
    settings: Mapping[str, Any], random_state: int, watch: Watch, grow: Grow = grow
) -> SettingCurve:
    """Compute TCE, CL and GL of a tree and a forest for every depth; ``model`` and ``depth`` have no effect.

    For a tree, groups are equal predictions and, as ``leaf_calibration`` and ``leaf_grouping``, its leaves. In both
    cases p is constant in a group, so both pairs add up to TCE.
    """
    rows: dict[str, list[dict[str, float]]] = {model: [] for model in TREE_MODELS}
    for depth in watch.loop(DEPTH.choices, "tree depths"):
        for model in TREE_MODELS:
            grown = grown_for(settings, random_state, grow, model=model, depth=depth)
            errors = PredictionErrors(
                model, grown.plane.posterior, grown.p(settings["leaf"], settings["curtail"])
            )
            row = {
                "tce": errors.tce,
                "calibration": errors.losses.calibration,
                "grouping": errors.losses.grouping,
            }
            if model == "tree":
                means = grown.leaf_means()
                row["leaf_calibration"] = float(((errors.p - means) ** 2).mean())
                row["leaf_grouping"] = float(((means - errors.posterior) ** 2).mean())
            rows[model].append(row)
    return SettingCurve(
        DEPTH.choices, {model: columns(found) for model, found in rows.items()}, settings["depth"], settings
    )


GROUPED_BY = {"leaf_": "each leaf is a group", "": "equal predictions form a group"}
"""Prefix of the tree's CL and GL → its definition of a group."""


def prepare(found: SideBySide, cloud: str = "points") -> TruthPanels:
    """Find the depth that comes closest to the truth; there is no answer if several TCEs look equal."""
    tce = {errors.name: errors.tce for errors in found.shown}
    asked = [f"Depth {depth}" for depth in PAPER_DEPTHS]
    least = min(tce[name] for name in asked)
    level = [name for name, value in tce.items() if brief(value) == brief(least)]
    best = [number for number, name in enumerate(asked, start=1) if name in level]
    others = listed([f"{brief(value)} {_at(name)}" for name, value in tce.items() if name not in level])
    who = "one tree" if found.settings["model"] == "tree" else "the forest"
    beaten = any(value < least for name, value in tce.items() if name not in level)
    title = (
        f"{f'Of depths {listed(list(map(str, PAPER_DEPTHS)))}, {who}' if beaten else who.capitalize()} is "
        f"{'about equally close' if level[1:] else 'closest'} to the truth {listed(list(map(_at, level)))}: "
        f"TCE {brief(least)}{f', against {others}' if others else ''}"
    )
    return against_truth(found.shown, found.columns, cloud, title, best[0] if len(best) == 1 else None)


def _at(name: str) -> str:
    return f"at {name.lower()}" if name.startswith("Depth") else "without a limit"


def prepare_curve(found: SettingCurve, groups: str = "leaves") -> Lines:
    """Find the depth with the lowest CL + GL for one tree and for the forest."""
    tree, forest = found.curves["tree"], found.curves["forest"]
    taken, other = ("leaf_", "") if groups == "leaves" else ("", "leaf_")
    shown = {
        f"One tree: {GROUPED_BY[taken]}": {
            "TCE = CL + GL": tree["tce"],
            "CL": tree[f"{taken}calibration"],
            "GL": tree[f"{taken}grouping"],
            f"GL if {GROUPED_BY[other]}": tree[f"{other}grouping"],
        },
        f"{forest_of(found)}: equal predictions or bins": {
            "TCE = CL + GL": forest["tce"],
            "CL": forest["calibration"],
            "GL": forest["grouping"],
        },
    }
    least = [
        f"{_depth(found.values[int(np.argmin(curve['tce']))])} ({brief(curve['tce'].min())}, fully grown "
        f"{brief(curve['tce'][-1])})"
        for curve in (tree, forest)
    ]
    return curve_panels(
        found,
        shown,
        "Depth",
        f"CL + GL is lowest at {least[0]} for one tree, and at {least[1]} for the forest",
        "Lines show CL, GL and their sum by depth. CL is the calibration loss, GL the grouping loss; the "
        f"ring marks their lowest sum. In the tree, {GROUPED_BY[taken]}; the thin line is GL if "
        f"{GROUPED_BY[other]}. The two definitions differ once leaves are pure: by predictions, all pure "
        "leaves form two groups. The groups of the forest contain equal predictions, or are 20 quantile bins "
        "if nearly all predictions differ. With bins, CL + GL is a little below TCE, because of the spread "
        "inside the bins.",
    )


def _depth(value: int | None) -> str:
    return "no limit" if value is None else f"depth {value}"


EXPERIMENT = Experiment(
    key="tree_depth",
    page="labs",
    lab="CL and GL",
    name="Depth",
    question="Trees learn from the same rows, with at most two, four or eight splits from root to leaf. Which depth "
    "gives probabilities closest to the true probabilities?",
    answers=("Depth 2", "Depth 4", "Depth 8"),
    right=2,
    why=(
        "Rows with very different true probabilities share a leaf. High probabilities are underestimated, "
        "and low probabilities overestimated.",
        "Depth 4 separates different regions, and its leaves still contain enough rows to estimate a share.",
        "More splits lower the bias. But each leaf then contains only a few rows, and their share of class 1 "
        "is mostly due to chance.",
    ),
    turn={"n": 50},
    ghosts=({"panels": [1]}, {"panels": [2]}, {"panels": [3]}),
    parameters=(
        Parameter(
            "model",
            "Model",
            "choice",
            "forest",
            choices={"tree": "Tree", "forest": "Forest"},
            help="The model in the upper pictures.",
        ),
        DEPTH,
        LEAF,
        CURTAIL,
        cloud("tree_depth"),
        TREES_OF_FOREST,
        TRAINING_ROWS,
        COVARIANCES_OF_CLASSES,
        Parameter(
            "groups",
            "Groups of the tree",
            "choice",
            "leaves",
            choices={"leaves": "Leaves", "predictions": "Predictions"},
            help="For CL and GL of one tree, a group is one leaf, or all leaves with the same prediction.",
            extra=view_of("tree_depth_curve"),
        ),
    ),
    simulation=at_depths,
    notice=(
        "If the tree is too shallow, the line of means is flatter than the diagonal, because rows with very "
        "different true probabilities share a leaf. If it is too deep, the line lies on the diagonal, but "
        "the points scatter around it, because each leaf contains only a few rows. TCE, the mean squared "
        "distance to the diagonal, is bias² plus scatter.",
        "The lower picture shows one tree, with each leaf as a group. Every further level lowers GL, because groups "
        "get smaller. Nearly every level raises CL, because each group contains fewer rows. Their sum, the "
        "TCE, is lowest at a medium depth.",
        "Group the leaves by prediction: all pure leaves predict 0 or 1, so their groups merge and GL rises "
        "again. The sum stays the same.",
        "The best depth depends on the data: with seed 5 the classes overlap more, and a smaller depth is "
        "better.",
        "The forest is best at about the same depth, or a little deeper, but too much depth does far less "
        "harm. Errors of its trees in opposite directions cancel out in the mean. The forest gives thousands "
        "of different predictions, so its groups are quantile bins. Differences between true probabilities "
        "in a bin count as GL.",
    ),
    formulas=(
        r"\text{TCE} = \tfrac1m\sum (p-\pi)^2 = \text{CL} + \text{GL}",
        r"\text{TCE} = \underbrace{\textstyle\sum_b w_b\,(\bar p_b-\bar\pi_b)^2}_{\text{bias}^2} + "
        r"\underbrace{\textstyle\sum_b w_b \operatorname{Var}_b(p-\pi)}_{\text{scatter}}",
        r"b: \text{ 20 bins of } \pi,\quad w_b: \text{ their shares}",
    ),
    source=f"{RF_PAPER}, eq. 4 and 7, section 5.1, Figure 3 and appendix C.1.",
    also={"tree_depth_curve": curve_by_depth},
    plays="depth",
)


FIGURES = (
    FigureEntry("tree_depth", "Predictions at three depths and true probabilities", prepare, *TRUTH_PANELS),
    FigureEntry("tree_depth_curve", "CL and GL by depth", prepare_curve, *CURVES_BY_SETTING),
)

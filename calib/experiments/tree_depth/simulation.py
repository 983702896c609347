"""A tree or a forest at chosen depths, and both along all depths.

Shaker and Hüllermeier (2025), section 5.1, Figure 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calib.experiments.shared.grown_trees import (
    TREE_MODELS,
    Grow,
    SettingCurve,
    SideBySide,
    columns,
    grow,
    grown_for,
)
from calib.experiments.shared.plane_settings import DEPTH
from calib.experiments.shared.prediction_errors import PredictionErrors
from calib.kernel.progress import Watch

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

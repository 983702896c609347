"""Depths against the true probabilities, and CL and GL along depth.

Shaker and Hüllermeier (2025), section 5.1, Figure 3.
"""

from __future__ import annotations

import numpy as np

from calib.experiments.shared.grown_trees import SettingCurve, SideBySide
from calib.experiments.shared.setting_curves import CURVES, Lines, curve_panels, forest_of
from calib.experiments.shared.truth_panels import PANELS, TruthPanels, against_truth
from calib.experiments.tree_depth.simulation import PAPER_DEPTHS
from calib.figures.base import FigureEntry
from calib.kernel.wording import brief, listed

GROUPS = {"leaf_": "each leaf is a group", "": "equal predictions form a group"}
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
        f"One tree: {GROUPS[taken]}": {
            "TCE = CL + GL": tree["tce"],
            "CL": tree[f"{taken}calibration"],
            "GL": tree[f"{taken}grouping"],
            f"GL if {GROUPS[other]}": tree[f"{other}grouping"],
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
        "Lines show CL, GL and their sum by depth. CL is the calibration loss, GL the grouping loss; the ring marks "
        f"their lowest sum. In the tree, {GROUPS[taken]}; the thin line is GL if {GROUPS[other]}. The two definitions "
        "differ once leaves are pure: by predictions, all pure leaves form two groups. The forest's groups are equal "
        "predictions, or 20 quantile bins if nearly all predictions differ. With bins, CL + GL is a little below TCE, "
        "because of the spread inside the bins.",
    )


def _depth(value: int | None) -> str:
    return "no limit" if value is None else f"depth {value}"


FIGURES = (
    FigureEntry("tree_depth", "Depths against the true probabilities", prepare, *PANELS),
    FigureEntry("tree_depth_curve", "CL and GL by depth", prepare_curve, *CURVES),
)

"""Depths against the truth, and CL and GL along depth.

Shaker and Hüllermeier (2025), section 5.1, Figure 3.
"""

from __future__ import annotations

import numpy as np

from calib.experiments.shared.grown_trees import SettingCurve, SideBySide
from calib.experiments.shared.setting_curves import CURVES, Lines, forest_of, lines
from calib.experiments.shared.truth_panels import PANELS, TruthPanels, against_truth
from calib.experiments.tree_depth.simulation import DEPTHS
from calib.figures.base import FigureEntry
from calib.kernel.wording import brief, listed

GROUPS = {"leaf_": "each leaf is a group", "": "equal predictions are a group"}
"""Prefix of the tree's CL and GL → what they take for a group."""


def prepare(found: SideBySide, cloud: str = "points") -> TruthPanels:
    """Which of the depths asked for comes closest to the truth: none of several whose TCE reads the same."""
    tce = {errors.name: errors.tce for errors in found.shown}
    asked = [f"Depth {depth}" for depth in DEPTHS]
    least = min(tce[name] for name in asked)
    level = [name for name, value in tce.items() if brief(value) == brief(least)]
    best = [number for number, name in enumerate(asked, start=1) if name in level]
    others = listed([f"{brief(value)} {_at(name)}" for name, value in tce.items() if name not in level])
    who = "one tree" if found.settings["model"] == "tree" else "the forest"
    beaten = any(value < least for name, value in tce.items() if name not in level)
    title = (
        f"{f'Of depths {listed(list(map(str, DEPTHS)))}, {who}' if beaten else who.capitalize()} is "
        f"{'about equally close' if level[1:] else 'closest'} to the truth {listed(list(map(_at, level)))}: "
        f"TCE {brief(least)}{f', against {others}' if others else ''}"
    )
    return against_truth(found.shown, found.columns, cloud, title, best[0] if len(best) == 1 else None)


def _at(name: str) -> str:
    return f"at {name.lower()}" if name.startswith("Depth") else "without a limit"


def prepare_curve(found: SettingCurve, groups: str = "leaves") -> Lines:
    """Where CL + GL is least, for one tree and for the forest."""
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
        f"{brief(curve['tce'].min())} at {_depth(found.values[int(np.argmin(curve['tce']))])}, "
        f"{brief(curve['tce'][-1])} fully grown"
        for curve in (tree, forest)
    ]
    return lines(
        found,
        shown,
        "Depth",
        f"The least CL + GL: one tree {least[0]}; the forest {least[1]}",
        "CL: what wrong numbers cost. GL: what lumping together costs. The ring marks the least sum. In the tree "
        f"{GROUPS[taken]}; the thin line is GL if {GROUPS[other]}. The two part where leaves become pure: all of them "
        "predict 0 or 1, so that by predictions they are two groups. The forest's groups are equal predictions or, "
        "where nearly all differ, 20 quantile bins; the little by which CL + GL falls short of TCE is the spread "
        "inside the bins.",
    )


def _depth(value: int | None) -> str:
    return "no limit" if value is None else f"depth {value}"


FIGURES = (
    FigureEntry("tree_depth", "Depths against the truth", prepare, *PANELS),
    FigureEntry("tree_depth_curve", "CL and GL along depth", prepare_curve, *CURVES),
)

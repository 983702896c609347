"""Depth, number of trees and leaf estimates: the panels' findings, and the errors along each setting.

Shaker and Hüllermeier (2025), Figures 3 and 8, section 5.1.
"""

from __future__ import annotations

import numpy as np

from calib.figures.base import FigureEntry
from calib.figures.learn import along, scattered
from calib.figures.learn.along import Lines, lines
from calib.figures.learn.scattered import Scattered
from calib.kernel.wording import number
from calib.learn.tree_depth import COUNTS, DEPTHS, FAR_LESS
from calib.simulations.tree_depth import Along, SideBySide


def prepare_depth(found: SideBySide, cloud: str = "points") -> Scattered:
    """Which of the depths comes closest to the truth."""
    tce = {judged.name: judged.tce for judged in found.shown}
    best = min(tce, key=tce.__getitem__)
    *others, last = (f"{number(value)} {_at(name)}" for name, value in tce.items() if name != best)
    who = "One tree" if found.settings["model"] == "tree" else "The forest"
    title = (
        f"{who} is closest to the truth {_at(best)}: TCE {number(tce[best])}, against {', '.join(others)} and {last}"
    )
    answer = 1 + int(np.argmin([tce[f"Depth {depth}"] for depth in DEPTHS]))
    return scattered.scattered(found.shown, found.columns, cloud, title, answer)


def _at(name: str) -> str:
    return f"at {name.lower()}" if name.startswith("Depth") else "without a limit"


def prepare_count(found: SideBySide, cloud: str = "points") -> Scattered:
    """What ten times the trees bring, and what ten times as many again."""
    tce = {judged.name.split()[0]: judged.tce for judged in found.shown}
    few, some, many = (tce[f"{count:,}"] for count in COUNTS)
    first, second = few - some, some - many
    title = (
        f"From {COUNTS[0]} to {COUNTS[1]} trees TCE falls by {number(first)}, from {COUNTS[1]} to {COUNTS[2]} by "
        f"{number(second)}: {number(few)}, {number(some)}, {number(many)}"
    )
    answer = 2 if second < FAR_LESS * first else 3 if second > first / FAR_LESS else 1
    return scattered.scattered(found.shown, found.columns, cloud, title, answer if first > 0 else None)


def prepare_leaves(found: SideBySide, cloud: str = "points") -> Scattered:
    """Laplace and curtailment in one tree, against a forest of plain ones."""
    tree, laplace, curtailed, forest, *_ = (judged.tce for judged in found.shown)
    title = (
        f"One tree has TCE {number(tree)}, with Laplace {number(laplace)}, curtailed below "
        f"{found.settings['curtail']} {number(curtailed)}; a forest of {found.settings['trees']} {number(forest)}"
    )
    best = int(np.argmin([laplace, curtailed, forest]))
    return scattered.scattered(found.shown, found.columns, cloud, title, 1 + best)


def prepare_along_depth(found: Along, groups: str = "leaves") -> Lines:
    """Where CL + GL is least, for one tree and for the forest."""
    tree, forest = found.curves["tree"], found.curves["forest"]
    of = "leaf_" if groups == "leaves" else ""
    shown = {
        "One tree": {
            "TCE = CL + GL": tree["tce"],
            "CL": tree[f"{of}calibration"],
            "GL": tree[f"{of}grouping"],
        },
        _forest(found): {"TCE = CL + GL": forest["tce"], "CL": forest["calibration"], "GL": forest["grouping"]},
    }
    said = [
        f"{number(curve['tce'].min())} at {_depth(found.values[int(np.argmin(curve['tce']))])}, "
        f"{number(curve['tce'][-1])} fully grown"
        for curve in (tree, forest)
    ]
    return lines(
        found,
        shown,
        "Depth",
        f"The least CL + GL: one tree {said[0]}; the forest {said[1]}",
        "CL: what wrong numbers cost. GL: what lumping together costs. The ring marks the least sum. The tree's groups "
        f"are its {'leaves' if groups == 'leaves' else 'equal predictions'}, the forest's are equal predictions or, "
        "where hardly two coincide, 20 quantile bins, whose inner spread is the little that CL and GL lack to the sum.",
    )


def _depth(value: int | None) -> str:
    return "no limit" if value is None else f"depth {value}"


def _forest(found: Along) -> str:
    return f"Forest of {found.settings['trees']}"


def prepare_along_count(found: Along) -> Lines:
    """How much of the distance is left with any number of trees, and what one tree alone is worth."""
    curve = found.curves["forest"]
    tce = curve["tce"]
    enough = found.values[int(np.argmax(tce <= 2 * tce[-1]))]
    return lines(
        found,
        {"The first trees of one forest": {"TCE": tce, "bias²": curve["bias"], "scatter": curve["scatter"]}},
        "Trees",
        f"A tree alone has TCE {number(curve['alone'][0])} on average, all {found.values[-1]} together "
        f"{number(tce[-1])}; the first {enough} come within twice of that",
        "Only scatter falls, and only so far: a mean over trees takes away what they disagree about, not what all of "
        "them have wrong. Steps to the right are nearly equal factors.",
        ringed="none",
    )


def prepare_along_threshold(found: Along) -> Lines:
    """The best threshold of curtailment, for one tree and for the forest."""
    shown = {
        name: {"frequency": found.curves[model]["frequency"], "Laplace": found.curves[model]["laplace"]}
        for model, name in (("tree", "One tree"), ("forest", _forest(found)))
    }
    one, many = (curves["frequency"] for curves in shown.values())
    a, b = (found.values[int(np.argmin(curve))] for curve in (one, many))
    return lines(
        found,
        shown,
        "Curtail below",
        f"Curtailing below {a} takes one tree's TCE from {number(one[0])} to {number(one.min())}, below {b} the "
        f"forest's from {number(many[0])} to {number(many.min())}",
        "A leaf with fewer objects takes the estimate of an ancestor; 0 leaves all as they are. Rings mark the least. "
        "Too small a threshold leaves noise, too large a one lumps together.",
        ringed="all",
    )


PANELS = scattered.draw, scattered.parts
CURVES = along.draw, along.parts

TREE_DEPTH = FigureEntry("tree_depth", "Depths against the truth", prepare_depth, *PANELS)
TREE_COUNT = FigureEntry("tree_count", "Numbers of trees against the truth", prepare_count, *PANELS)
LEAF_ESTIMATES = FigureEntry("leaf_estimates", "Leaf estimates against the truth", prepare_leaves, *PANELS)
TREE_DEPTH_CURVE = FigureEntry("tree_depth_curve", "CL and GL along depth", prepare_along_depth, *CURVES)
TREE_COUNT_CURVE = FigureEntry("tree_count_curve", "TCE along the number of trees", prepare_along_count, *CURVES)
LEAF_ESTIMATES_CURVE = FigureEntry(
    "leaf_estimates_curve", "TCE along the threshold of curtailment", prepare_along_threshold, *CURVES
)

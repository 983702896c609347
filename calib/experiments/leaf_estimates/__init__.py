"""Leaf estimates: frequency, Laplace and curtailment."""

from __future__ import annotations

from calib.experiments.base import Experiment, with_default
from calib.experiments.leaf_estimates.simulation import curve_by_threshold, with_leaves
from calib.experiments.shared.plane_settings import CURTAIL, DEPTH, PAPER, SIZE, SPREAD, TREES, cloud

EXPERIMENT = Experiment(
    key="leaf_estimates",
    page="tree_depth",
    name="Leaf estimates",
    question="A tree with pure leaves predicts only 0 or 1. What brings it closest to the true probabilities: "
    "Laplace's estimate, curtailment, or a forest of 100 such trees?",
    answers=("Laplace", "Curtailment", "The forest"),
    right=2,
    why=(
        "Laplace moves 1/1 to 2/3, which is better than 1. But the leaf still has only a single row.",
        "Curtailment uses an ancestor with enough rows, so it removes the cause: leaves that are too small.",
        "Averaging pure trees helps a lot. But all trees have learnt from the same rows, noise included.",
    ),
    turn={"curtail": 5},
    ghosts=({"panels": [2]}, {"panels": [3]}, {"panels": [4]}),
    parameters=(
        with_default(CURTAIL, 30),
        DEPTH,
        TREES,
        cloud("leaf_estimates"),
        SIZE,
        SPREAD,
    ),
    simulation=with_leaves,
    notice=(
        "Pure leaves predict 0 or 1, so the points form two horizontal lines. Laplace pulls small leaves towards "
        "one half, but the leaves stay small.",
        "With curtailment, small leaves take the class-1 share of an ancestor with enough rows. The threshold acts "
        "like a depth that adapts to the region, and again a medium value is best.",
        "In a forest pure leaves do less harm, because their errors differ from tree to tree. Curtailed trees "
        "still help.",
    ),
    formulas=(
        r"\text{frequency: } \frac{n_1}{n} \qquad \text{Laplace: } \frac{n_1+1}{n+2}",
        r"\text{curtailed: } \frac{n_1}{n} \text{ of the first ancestor with } n \ge v",
    ),
    source=f"{PAPER}, appendix A.4. Zadrozny and Elkan (2001). Provost and Domingos (2003).",
    also={"leaf_estimates_curve": curve_by_threshold},
    plays="curtail",
)

"""Calibration and grouping loss: what a model's groups cost, where the true probability is known everywhere."""

from __future__ import annotations

from calib.experiments.base import Experiment, view_of
from calib.experiments.cl_gl.simulation import AGAINST, LEAVES, TREES, one_model, sweep
from calib.experiments.shared.plane_settings import DEPTH, LEAF, PAPER, SIZE, SPREAD
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="cl_gl",
    page="cl_gl",
    name="CL and GL on Gaussians",
    question="A tree is grown on 1000 points of two overlapping Gaussian classes until every leaf holds one class "
    "only. It has more than a hundred leaves. Into how many groups of equal prediction do they fall?",
    answers=("As many as leaves", "About twenty", "Two"),
    right=3,
    why=(
        "That takes each leaf as a group. Leaves with the same prediction cannot be told apart by it, and "
        "pure leaves predict only 0 or 1.",
        "That would need leaves with about twenty different predictions. Pure leaves predict 0 or 1, whatever "
        "their size.",
        "Every leaf holds one class only, so each predicts 0 or 1: two groups.",
    ),
    turn={"leaf": "laplace"},
    parameters=(
        DEPTH,
        LEAF,
        Parameter(
            "model",
            "Model",
            "choice",
            "tree",
            choices=("tree", "forest"),
            help="One tree, or a forest, whose many predictions are grouped into 20 quantile bins.",
            extra={"names": {"tree": "Tree", "forest": "Forest"}},
        ),
        Parameter(
            "loss",
            "Loss",
            "choice",
            "brier",
            choices=("brier", "log"),
            help="Brier score, or log loss, where a certain mistake costs ∞.",
            extra=view_of(
                "cl_gl", "cl_gl_groups", "cl_gl_sweep", names={"brier": "Brier score", "log": "Log loss"}
            ),
        ),
        Parameter(
            "against",
            "Vary",
            "choice",
            "depth",
            choices=tuple(AGAINST),
            help="The setting along which the stacked losses are drawn.",
            extra=view_of(names=AGAINST, numbers_of=("cl_gl_sweep",)),
        ),
        LEAVES,
        TREES,
        SIZE,
        SPREAD,
    ),
    simulation=one_model,
    notice=(
        "A group is a union of leaves: all with the same prediction. Pure leaves predict 0 or 1, so there are "
        "two groups, however many leaves there are. Choose Laplace: leaves of different sizes now predict "
        "different values, and the two groups split again.",
        "CL compares a group's prediction with its mean true probability (posterior), GL that mean with the true "
        "probabilities inside the group. Hover over a cell for its group and its share of both.",
        "Lower the depth: the two groups of a stump (depth 1) are well calibrated (small CL) but lump together what "
        "differs (large GL). Deeper trees make more groups, and GL falls to its least at a middle depth. From there on "
        "it rises again, with CL: ever more leaves are pure, and all pure leaves of a class are one group.",
        "Groups are equal predictions here. Take each leaf as a group instead, as Tree depth does: GL then falls to "
        "nearly nothing in a deep tree, and CL rises by as much, for the sum of the two is the same.",
        "IL is the same for every model: it is what nobody could know. The three add up to the expected loss.",
    ),
    formulas=(
        r"\underbrace{\tfrac1n\sum (p-c)^2}_{\text{CL}} + \underbrace{\tfrac1n\sum (c-\pi)^2}_{\text{GL}} + "
        r"\underbrace{\tfrac1n\sum \pi(1-\pi)}_{\text{IL}}",
        r"\text{log loss: } \mathrm{KL}(c\,\|\,p),\ \mathrm{KL}(\pi\,\|\,c),\ H(\pi)",
        r"c_g = \text{mean of } \pi \text{ over the group } g",
    ),
    source=f"{PAPER}, eq. 7, Figure 1 and appendix C.1; Kull and Flach (2015).",
    more_figures=("cl_gl_groups",),
    also={"cl_gl_sweep": sweep},
    plays="n",
)

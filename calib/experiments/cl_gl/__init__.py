"""Calibration loss and grouping loss of a model's groups, on data with known true probabilities."""

from __future__ import annotations

from calib.experiments.base import Experiment, view_of
from calib.experiments.cl_gl.simulation import AGAINST, LEAF_COUNT, TREES, one_model, sweep_setting
from calib.experiments.shared.plane_settings import DEPTH, LEAF, PAPER, SIZE, SPREAD
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="cl_gl",
    page="cl_gl",
    name="CL and GL on Gaussians",
    question="A tree is grown on 1,000 points until each of its more than 100 leaves holds only one class. How many "
    "groups of equal predictions do these leaves form?",
    answers=("As many as leaves", "About twenty", "Two"),
    right=3,
    why=(
        "This counts each leaf as a group. Pure leaves predict only 0 or 1, so many leaves share a prediction.",
        "This would need leaves with about twenty different predictions. Pure leaves predict 0 or 1, whatever "
        "their size.",
        "Every leaf holds only one class, so it predicts 0 or 1: two groups.",
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
            choices={"tree": "Tree", "forest": "Forest"},
            help="One tree or a forest. The many predictions of a forest are grouped into 20 quantile bins.",
        ),
        Parameter(
            "loss",
            "Loss",
            "choice",
            "brier",
            choices={"brier": "Brier score", "log": "Log loss"},
            help="Brier score or log loss. One wrong prediction of 0 or 1 makes the log loss infinite.",
            extra=view_of("cl_gl", "cl_gl_groups", "cl_gl_sweep"),
        ),
        Parameter(
            "against",
            "Vary",
            "choice",
            "depth",
            choices=AGAINST,
            help="The setting on the horizontal axis of the stacked losses.",
            extra=view_of(numbers_of=("cl_gl_sweep",)),
        ),
        LEAF_COUNT,
        TREES,
        SIZE,
        SPREAD,
    ),
    simulation=one_model,
    notice=(
        "A group is a set of leaves with the same prediction. Pure leaves predict 0 or 1, so there are two groups, "
        "however many leaves there are. Choose Laplace: leaves of different sizes then predict different values, so "
        "there are more than two groups.",
        "CL compares a group's prediction with its mean true probability. GL compares this mean with the true "
        "probabilities inside the group. Hover over a cell to see its group and the group's shares of CL and GL.",
        "Lower the depth: the two groups of a stump (depth 1) are well calibrated (small CL), but each mixes "
        "different rows (large GL). Deeper trees make more groups, and GL is lowest at a middle depth. Beyond this "
        "depth both GL and CL rise, because more leaves are pure, and all pure leaves of a class form one group.",
        "Here a group contains all rows with the same prediction. If each leaf is a group, as on the Tree depth page, "
        "GL is almost zero in a deep tree. CL then rises by the same amount, because their sum does not change.",
        "IL is the same for every model, because it comes from chance in the labels. The three parts add up to the "
        "expected loss.",
    ),
    formulas=(
        r"\underbrace{\tfrac1n\sum (p-c)^2}_{\text{CL}} + \underbrace{\tfrac1n\sum (c-\pi)^2}_{\text{GL}} + "
        r"\underbrace{\tfrac1n\sum \pi(1-\pi)}_{\text{IL}}",
        r"\text{log loss: } \mathrm{KL}(c\,\|\,p),\ \mathrm{KL}(\pi\,\|\,c),\ H(\pi)",
        r"c_g = \text{mean of } \pi \text{ over the group } g",
    ),
    source=f"{PAPER}, eq. 7, Figure 1 and appendix C.1; Kull and Flach (2015).",
    more_figures=("cl_gl_groups",),
    also={"cl_gl_sweep": sweep_setting},
    plays="depth",
)

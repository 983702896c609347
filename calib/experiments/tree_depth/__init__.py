"""How deep trees may grow before their probabilities get worse."""

from __future__ import annotations

from calib.experiments.base import Experiment, view_of
from calib.experiments.shared.plane_settings import CURTAIL, DEPTH, LEAF, PAPER, SIZE, SPREAD, TREES, cloud
from calib.experiments.tree_depth.simulation import at_depths, curve_by_depth
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="tree_depth",
    page="tree_depth",
    name="Depth",
    question="Trees learn from the same rows. From root to leaf they may split twice, four times or eight times. Which "
    "depth brings the probabilities closest to the true ones?",
    answers=("Depth 2", "Depth 4", "Depth 8"),
    right=2,
    why=(
        "Rows with very different true probabilities share a leaf, so that high probabilities come out too low "
        "and low ones too high.",
        "Depth 4 is deep enough to tell places apart, and its leaves still hold enough rows to count.",
        "More splits do lower the bias. But few rows are left in a leaf, and their share of class 1 is mostly chance.",
    ),
    turn={"n": 50},
    parameters=(
        Parameter(
            "model",
            "Model",
            "choice",
            "forest",
            choices=("tree", "forest"),
            help="Which of the two the upper pictures show.",
            extra={"names": {"tree": "Tree", "forest": "Forest"}},
        ),
        DEPTH,
        LEAF,
        CURTAIL,
        cloud("tree_depth"),
        TREES,
        SIZE,
        SPREAD,
        Parameter(
            "groups",
            "Groups of the tree",
            "choice",
            "leaves",
            choices=("leaves", "predictions"),
            help="CL and GL of one tree: a leaf is a group, or all leaves with the same prediction are one.",
            extra=view_of("tree_depth_curve", names={"leaves": "Leaves", "predictions": "Predictions"}),
        ),
    ),
    simulation=at_depths,
    notice=(
        "Too shallow, and the line of means is flatter than the diagonal: rows with very different true "
        "probabilities share a leaf. Too deep, and the line is right but the points scatter about it: few rows "
        "decide a leaf. TCE, the mean squared distance to the diagonal, is bias² plus scatter.",
        "One tree, below, each leaf a group: every further level lowers GL, because groups get smaller, and "
        "nearly every one raises CL, because they hold fewer rows to count. Their sum, the TCE, is least in between.",
        "Choose predictions as groups: pure leaves all predict 0 or 1, so the groups merge again and GL returns. "
        "The sum stays the same.",
        "How deep is best depends on the data: seed 5 draws classes that overlap more, and less depth is better there.",
        "The forest is best at much the same depth, or a little deeper, but being too deep costs it far less: what its "
        "trees get wrong in different directions, the mean takes away. It gives thousands of different predictions, so "
        "its groups are quantile bins, and scatter inside a bin counts as GL.",
    ),
    formulas=(
        r"\text{TCE} = \tfrac1m\sum (p-\pi)^2 = \text{CL} + \text{GL}",
        r"\text{TCE} = \underbrace{\textstyle\sum_b w_b\,(\bar p_b-\bar\pi_b)^2}_{\text{bias}^2} + "
        r"\underbrace{\textstyle\sum_b w_b \operatorname{Var}_b(p-\pi)}_{\text{scatter}}",
        r"b: \text{ 20 bins of } \pi,\quad w_b: \text{ their shares}",
    ),
    source=f"{PAPER}, eq. 4 and 7, section 5.1, Figure 3 and appendix C.1.",
    also={"tree_depth_curve": curve_by_depth},
    plays="depth",
)

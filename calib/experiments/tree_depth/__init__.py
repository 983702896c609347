"""Tree depth: the depth beyond which probabilities get worse."""

from __future__ import annotations

from calib.experiments.base import Experiment, view_of
from calib.experiments.shared.plane_settings import CURTAIL, DEPTH, LEAF, PAPER, SIZE, SPREAD, TREES, cloud
from calib.experiments.tree_depth.simulation import at_depths, curve_by_depth
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="tree_depth",
    page="tree_depth",
    name="Depth",
    question="Trees learn from the same rows, with at most two, four or eight splits from root to leaf. Which depth "
    "gives probabilities closest to the true probabilities?",
    answers=("Depth 2", "Depth 4", "Depth 8"),
    right=2,
    why=(
        "Rows with very different true probabilities share a leaf. High probabilities are underestimated, low ones "
        "overestimated.",
        "Depth 4 separates different regions, and its leaves still hold enough rows to estimate a share.",
        "More splits lower the bias. But each leaf then holds few rows, and their share of class 1 is mostly chance.",
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
        TREES,
        SIZE,
        SPREAD,
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
        "If the tree is too shallow, the line of means is flatter than the diagonal, because rows with very different "
        "true probabilities share a leaf. If it is too deep, the line is right but the points scatter around it, "
        "because each leaf holds only a few rows. TCE, the mean squared distance to the diagonal, is bias² plus "
        "scatter.",
        "The lower picture shows one tree, with each leaf as a group. Every further level lowers GL, because groups "
        "get smaller. Nearly every level raises CL, because each group holds fewer rows. Their sum, the TCE, is "
        "lowest in between.",
        "Choose predictions as groups: pure leaves all predict 0 or 1, so the groups merge and GL returns. "
        "The sum stays the same.",
        "The best depth depends on the data: seed 5 draws classes that overlap more, and there a smaller depth is "
        "better.",
        "The forest is best at about the same depth, or a little deeper, but too much depth costs it far less. "
        "Errors of its trees in opposite directions cancel in the mean. The forest gives thousands of different "
        "predictions, so its groups are quantile bins. Differences between true probabilities in a bin count as GL.",
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

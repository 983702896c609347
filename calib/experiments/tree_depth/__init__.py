"""How deep, how many, and what a leaf says: what makes the probabilities of trees and forests good or bad."""

from __future__ import annotations

from calib.kernel.records import Parameter
from calib.learn.base import Experiment, view_of, with_default
from calib.learn.plane import DEPTH, LEAF, PAPER, SIZE, SPREAD, cloud

DEPTHS = (2, 4, 8)  # of the paper's Figure 3
COUNTS = (5, 50, 500)  # of its Figure 8
MOST_TREES = max(COUNTS)
USUAL_TREES = 100
FAR_LESS = 1 / 3  # of a gain, below which another one is called far less

TREES = Parameter(
    "trees", "Trees", "choice", 100, choices=(2, 5, 10, 20, 50, 100), help="Of the forest; a tree is one."
)
CURTAIL = Parameter(
    "curtail",
    "Curtail below",
    "choice",
    0,
    choices=(0, 2, 5, 10, 20, 30, 50, 100, 200),
    help="A leaf with fewer training objects takes the frequencies of its first ancestor that has as many.",
)

TREE_DEPTH = Experiment(
    key="tree_depth",
    page="tree_depth",
    name="Depth",
    question="Three forests of 100 trees learn from the same 1000 objects. The trees of the first may split twice from "
    "root to leaf, those of the second four times, those of the third eight times. Whose probabilities come closest to "
    "the true ones?",
    answers=("Depth 2", "Depth 4", "Depth 8"),
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
            help="CL and GL of one tree: a leaf is a group, or all leaves that say the same are one.",
            extra=view_of("tree_depth_curve", names={"leaves": "Leaves", "predictions": "Predictions"}),
        ),
    ),
    notice=(
        "Too shallow, and the line of means is flatter than the diagonal: objects of very different truth share a "
        "leaf. Too deep, and the line is right but the points scatter about it: few objects decide a leaf. TCE, the "
        "mean squared distance to the diagonal, is bias² plus scatter.",
        "One tree, below: every further split lowers GL, for groups get smaller, and raises CL, for they hold fewer "
        "objects to count. Their sum, the TCE, is least in between.",
        "Choose predictions as groups: pure leaves all say 0 or 1, so the groups grow together again and GL returns. "
        "The sum stays what it was.",
        "How deep is best depends on the data: seed 5 draws classes that overlap more, and less depth is better there.",
        "The forest is best at much the same depth, but being too deep costs it far less: what its trees get wrong in "
        "different directions, the mean takes away. Hardly two objects share its prediction, so its groups are "
        "quantile bins, and scatter inside a bin counts as GL.",
    ),
    formulas=(
        r"\text{TCE} = \tfrac1m\sum (p-\pi)^2 = \text{CL} + \text{GL}",
        r"\text{TCE} = \underbrace{\textstyle\sum_b w_b\,(\bar p_b-\bar\pi_b)^2}_{\text{bias}^2} + "
        r"\underbrace{\textstyle\sum_b w_b \operatorname{Var}_b(p-\pi)}_{\text{scatter}}",
        r"b: \text{ 20 bins of } \pi,\quad w_b: \text{ their shares}",
    ),
    source=f"{PAPER}, eq. 4 and 7, section 5.1, Figure 3 and appendix C.1.",
    also=("tree_depth_curve",),
)

TREE_COUNT = Experiment(
    key="tree_count",
    page="tree_depth",
    name="Number of trees",
    question="From 5 to 50 fully grown trees the forest's probabilities come closer to the truth. Another ten times as "
    "many, 500: does that bring as much again?",
    answers=("About as much again", "Far less", "Far more"),
    parameters=(
        Parameter(
            "trees",
            "Trees",
            "choice",
            100,
            choices=(1, 2, 5, 10, 20, 50, 100, 200, 500),
            help="One more forest to look at: the first so many trees.",
        ),
        DEPTH,
        LEAF,
        cloud("tree_count"),
        SIZE,
        SPREAD,
    ),
    notice=(
        "More trees narrow the cloud, but only towards what an endless forest would say. Of the distance that is left, "
        "a share of one over the number of trees is chance.",
        "What remains at 500 trees is no chance of the trees: all of them saw the same data. Make them shallower, or "
        "give them more objects.",
        "One tree against a forest: the forest's TCE is that of its trees on average, less what they disagree. Trees "
        "that all say the same would gain nothing.",
    ),
    formulas=(
        r"p = \frac1T \sum_t p_t",
        r"(p-\pi)^2 = \frac1T\sum_t (p_t-\pi)^2 - \frac1T\sum_t (p_t-p)^2",
        r"\mathrm{E}\,\text{TCE}_T = \text{TCE}_\infty + \frac{V}{T}",
    ),
    source=f"{PAPER}, appendix C.2 and Figure 8; the second formula is the ambiguity decomposition of Krogh and "
    "Vedelsby (1995).",
    also=("tree_count_curve",),
)

LEAF_ESTIMATES = Experiment(
    key="leaf_estimates",
    page="tree_depth",
    name="Leaf estimates",
    question="A tree is grown until every leaf is pure, so that it says 0 or 1. Which comes closest to the true "
    "probabilities: Laplace's (n1 + 1)/(n + 2) in its leaves, curtailment (leaves with fewer than 30 objects take the "
    "frequency of an ancestor), or a forest of 100 such pure trees?",
    answers=("Laplace", "Curtailment", "The forest"),
    parameters=(
        with_default(CURTAIL, 30),
        DEPTH,
        TREES,
        cloud("leaf_estimates"),
        SIZE,
        SPREAD,
    ),
    notice=(
        "Frequencies of pure leaves are 0 and 1: two rows of points. Laplace pulls small leaves towards one half; the "
        "leaf itself stays as small as it was.",
        "Curtailment gives the small leaves up: it asks an ancestor that has seen enough. The threshold is a depth "
        "that adapts to the place, and again the best one lies in between.",
        "In a forest pure leaves do less harm, for their errors differ from tree to tree. Curtailed trees still help.",
    ),
    formulas=(
        r"\text{frequency: } \frac{n_1}{n} \qquad \text{Laplace: } \frac{n_1+1}{n+2}",
        r"\text{curtailed: } \frac{n_1}{n} \text{ of the first ancestor with } n \ge v",
    ),
    source=f"{PAPER}, appendix A.4; Zadrozny and Elkan (2001); Provost and Domingos (2003).",
    also=("leaf_estimates_curve",),
)

EXPERIMENTS = (TREE_DEPTH, TREE_COUNT, LEAF_ESTIMATES)

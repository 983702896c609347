"""Number of trees: how many trees a forest needs."""

from __future__ import annotations

from calib.experiments.base import Experiment
from calib.experiments.shared.plane_settings import DEPTH, LEAF, PAPER, SIZE, SPREAD, cloud
from calib.experiments.tree_count.simulation import at_counts, curve_by_count
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="tree_count",
    page="tree_depth",
    name="Number of trees",
    question="With 50 fully grown trees instead of 5, a forest's probabilities come closer to the true ones. How "
    "much do 500 trees instead of 50 add?",
    answers=("About as much again", "Far less", "Far more"),
    right=2,
    why=(
        "The part of the error that more trees can remove falls in proportion to 1/T for T trees. Therefore the step "
        "from 50 to 500 gains only about a tenth of the step from 5 to 50.",
        "The part of the error that more trees can remove falls in proportion to 1/T for T trees. The first 50 trees "
        "remove nearly all of this part.",
        "The gain does not grow: the step to 500 trees gains at most a fifth of the step to 50.",
    ),
    no_turn="What trees disagree about falls with their number, whatever they are.",
    parameters=(
        Parameter(
            "trees",
            "Trees",
            "choice",
            100,
            choices=(1, 2, 5, 10, 20, 50, 100, 200, 500),
            help="Number of trees in one more forest, which consists of the first trees.",
        ),
        DEPTH,
        LEAF,
        cloud("tree_count"),
        SIZE,
        SPREAD,
    ),
    simulation=at_counts,
    notice=(
        "More trees narrow the cloud, but only towards the prediction of an infinite forest. The part of the TCE "
        "that more trees can remove falls in proportion to 1/T for T trees. It is about half with 5 trees, and at "
        "most an eighth with 50.",
        "The error that remains at 500 trees is not chance, because all trees saw the same data. Choose shallower "
        "trees: at depth 4 less than half of this error is left. More rows do not remove it. In twenty draws, 2,000 "
        "rows instead of 1,000 changed this error by −15 % to +21 %, and by almost nothing on average.",
        "The forest's TCE is the mean TCE of its trees minus their disagreement. If all trees agreed, a forest would "
        "gain nothing.",
    ),
    formulas=(
        r"p = \frac1T \sum_t p_t",
        r"(p-\pi)^2 = \frac1T\sum_t (p_t-\pi)^2 - \frac1T\sum_t (p_t-p)^2",
        r"\mathrm{E}\,\text{TCE}_T = \text{TCE}_\infty + \frac{V}{T}",
    ),
    source=f"{PAPER}, appendix C.2 and Figure 8. The second formula is the ambiguity decomposition of Krogh and "
    "Vedelsby (1995).",
    also={"tree_count_curve": curve_by_count},
    plays="trees",
)

"""How many trees a forest needs."""

from __future__ import annotations

from calib.experiments.base import Experiment
from calib.experiments.shared.plane_settings import DEPTH, LEAF, PAPER, SIZE, SPREAD, cloud
from calib.experiments.tree_count.simulation import at_counts, curve_by_count
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="tree_count",
    page="tree_depth",
    name="Number of trees",
    question="From 5 to 50 fully grown trees the forest's probabilities come closer to the truth. Another ten times as "
    "many, 500: does that bring as much again?",
    answers=("About as much again", "Far less", "Far more"),
    right=2,
    why=(
        "Not even if all of the error were disagreement of the trees: that falls like one over their number, so that "
        "going from 50 to 500 takes away a tenth of what going from 5 to 50 took.",
        "What trees disagree about falls like one over their number, so the first ones take nearly all of it away.",
        "The gain does not grow: ten times the trees take away at most a fifth of what the first ones took.",
    ),
    parameters=(
        Parameter(
            "trees",
            "Trees",
            "choice",
            100,
            choices=(1, 2, 5, 10, 20, 50, 100, 200, 500),
            help="One more forest to look at: so many trees, the first ones.",
        ),
        DEPTH,
        LEAF,
        cloud("tree_count"),
        SIZE,
        SPREAD,
    ),
    simulation=at_counts,
    notice=(
        "More trees narrow the cloud, but only towards what an endless forest would predict. What more trees can still "
        "take away falls like one over their number: with 5 trees about half of the TCE, with 50 an eighth at most.",
        "What remains at 500 trees is not chance: all of them saw the same data. Make them shallower: at "
        "depth 4 less than half of it is left. Twice the rows do not take it away: with 2000 in place of 1000, from "
        "15% less to 21% more of it remained in twenty draws, and on average as much.",
        "One tree against a forest: the forest's TCE is that of its trees on average, less how much they "
        "disagree. Trees that all agree would gain nothing.",
    ),
    formulas=(
        r"p = \frac1T \sum_t p_t",
        r"(p-\pi)^2 = \frac1T\sum_t (p_t-\pi)^2 - \frac1T\sum_t (p_t-p)^2",
        r"\mathrm{E}\,\text{TCE}_T = \text{TCE}_\infty + \frac{V}{T}",
    ),
    source=f"{PAPER}, appendix C.2 and Figure 8; the second formula is the ambiguity decomposition of Krogh and "
    "Vedelsby (1995).",
    also={"tree_count_curve": curve_by_count},
    plays="trees",
)

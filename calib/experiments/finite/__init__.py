"""The finite example: a line of a few points, with the losses of every partition."""

from __future__ import annotations

from calib.experiments.base import Experiment
from calib.experiments.finite.simulation import every_partition
from calib.experiments.shared.plane_settings import PAPER
from calib.kernel.checks import MOST_ON_LINE
from calib.kernel.records import Parameter

START = "1:0.05:0 2:0.2:0 3:0.25:0 4:0.3:1 5:0.35 6:0.4 | 7:0.5 8:0.6:1 9:0.75:0 10:0.8:1 11:0.85 12:0.95:1"
FLAT = (
    "1:0.45:0 2:0.46:0 3:0.47:0 4:0.48:1 5:0.49 6:0.49 | 7:0.51 8:0.51:1 9:0.52:0 10:0.53:1 11:0.54 12:0.55:1"
)
"""The labels of ``START`` with probabilities near one half, where one leaf is best."""

EXPERIMENT = Experiment(
    posed=True,
    key="finite",
    page="finite_example",
    name="Finite example",
    question="Twelve points have known probabilities, and eight have a label. Which tree has the lowest "
    "expected loss: one leaf, one split, or splits until all leaves are pure?",
    answers=("One leaf", "One split", "Pure leaves"),
    right=2,
    why=(
        "One leaf is calibrated, but gives all points the same prediction, so its grouping loss is large.",
        "One split separates the two halves, and its leaves still hold enough labels.",
        "A tree that fits every label does not know the probabilities. A single 0 among ones changes the "
        "prediction for all points around it.",
    ),
    turn={"line": FLAT},
    parameters=(
        Parameter(
            "line",
            "Points, as position:probability:label, and | for a cut",
            "line",
            START,
            help=f"From 2 to {MOST_ON_LINE} points from left to right, separated by spaces. A point without a label is "
            "not a training row.",
            choices={FLAT: "nearly one half everywhere"},
            extra={"drawn_by_page": True, "short": "True probabilities"},
        ),
    ),
    simulation=every_partition,
    notice=(
        "A leaf predicts the share of class 1 among its labels, whatever the probabilities are. All points count "
        "equally. As in the paper, losses are summed over both classes, which gives twice the Brier score of the "
        "other pages.",
        "One leaf is calibrated: half of the labels are 1, and the mean probability is one half. Its excess loss is "
        "grouping loss (GL). One split removes most of it and stays almost calibrated.",
        "Pure leaves predict only 0 or 1, so there are two groups, however many leaves there are. The single 0 on the "
        "right changes the prediction for all points around it. Pure leaves are worse than one leaf, although they "
        "fit every label.",
        "The irreducible loss (IL) is the same for all partitions. The tree sees only labels, never the true "
        "probabilities. Flip "
        "one label and see how far the best partition moves.",
    ),
    formulas=(
        r"p_x = \frac{\text{labels 1 in the leaf of } x}{\text{labels in the leaf of } x}",
        r"c_x = \text{mean of } \pi \text{ over all } x' \text{ with } p_{x'} = p_x",
        r"\underbrace{\tfrac2n\sum (p-c)^2}_{\text{CL}} + \underbrace{\tfrac2n\sum (c-\pi)^2}_{\text{GL}} + "
        r"\underbrace{\tfrac2n\sum \pi(1-\pi)}_{\text{IL}}",
    ),
    source=f"{PAPER}, section 3.1 and Figure 2. The paper does not list its points; the points here reproduce its "
    "values.",
    more_figures=("finite_losses", "finite_all"),
    seeded=False,
)

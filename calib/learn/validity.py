"""Validity: what Venn predictors promise, shown by drawing again and again where the truth is known."""

from __future__ import annotations

from calib.learn.base import Experiment
from calib.records import Parameter

PAGE = "validity"
PAPER = "Vovk and Petej, Venn–Abers predictors (2014)"

PREDICTORS = {
    "full": "Venn–Abers, full",
    "inductive": "Venn–Abers, inductive",
    "simplified": "Venn–Abers, simplified",
    "venn": "Venn, two categories",
    "constant": "The constant Venn predictor",
    "non_invariant": "The non-invariant predictor",
}
GAP = Parameter(
    "gap", "Distance of the classes", "number", 1.5, 0.0, 4.0, help="In standard deviations; 0 makes the labels noise."
)
WINDOW = Parameter(
    "window",
    "Window of the scorer",
    "choice",
    0.5,
    choices=(0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0),
    help="The score is the mean label in a Gaussian window around x, own label included. Narrow windows memorise.",
)


def _objects(default: int) -> Parameter:
    return Parameter(
        "objects",
        "Training objects",
        "choice",
        default,
        choices=(5, 10, 20, 50, 100, 200),
        help="Drawn anew, with a new test object, every time.",
    )


def _draws(default: int, *choices: int) -> Parameter:
    return Parameter("draws", "Draws", "choice", default, choices=choices, help="More draws, smaller standard errors.")


THEOREM = Experiment(
    key="theorem",
    page=PAGE,
    name="Theorem 1",
    question="A Venn predictor answers with two probabilities, one for each label that the new object may have. Draw "
    "training objects and a test object again and again. Which of these stays on average equal to the label?",
    answers=("p0, the lower one", "p1, the upper one", "The one that belongs to the true label", "None of them"),
    parameters=(
        Parameter(
            "predictor",
            "Predictor",
            "choice",
            "full",
            choices=tuple(PREDICTORS),
            extra={"names": PREDICTORS},
            help="Full, inductive, the label taxonomy and the two that ignore x are valid; simplified is not in "
            "general.",
        ),
        _objects(50),
        WINDOW,
        GAP,
        _draws(10000, 500, 1000, 2000, 5000, 10000, 20000, 50000),
    ),
    notice=(
        "The mean error of the selected probability P_Y stays within two standard errors of zero, however few the "
        "training objects are. p0 is too low on average and p1 too high.",
        "Nobody can use P_Y, since choosing it takes the label. But where p0 and p1 are close, either will do.",
        "The theorem says more than the mean: among the draws with the same P_Y, the frequency of class 1 is P_Y. "
        "The lower picture shows that; the simplified predictor with a narrow window fails there.",
    ),
    formulas=(
        r"\mathbb{E}(Y \mid P_Y) = P_Y, \quad\text{hence}\quad \mathbb{E}\,(Y - P_Y) = 0",
        r"\mathbb{E}\min(P_0, P_1) \le \mathbb{P}(Y=1) \le \mathbb{E}\max(P_0, P_1)",
    ),
    source=f"{PAPER}, theorem 1 with the selector S = Y, and corollary 1.",
)

EXPERIMENTS = (THEOREM,)

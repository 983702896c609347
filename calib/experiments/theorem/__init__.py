"""Theorem 1: which of two probabilities equals the label on average."""

from __future__ import annotations

from calib.experiments.base import Experiment
from calib.experiments.shared.validity_settings import GAP, PAGE, PAPER, WINDOW, draws, training_objects
from calib.experiments.theorem.simulation import PREDICTORS, draw_pairs
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="theorem",
    page=PAGE,
    name="Theorem 1",
    question="A Venn predictor gives two probabilities, one for each label that a new row may have. Over many "
    "draws, which probability equals the label on average?",
    answers=(
        "p0, the smaller one",
        "p1, the larger one",
        "The one for the true label",
        "None of them",
    ),
    right=3,
    why=(
        "p0 is the fit with label 0 for the new row. This label pulls p0 down, so p0 is too low on average.",
        "p1 is the fit with label 1 for the new row. This label pulls p1 up, so p1 is too high on average.",
        "With its true label the new row is like every other row, so nothing favours either side.",
        "One of the two probabilities always belongs to the true label. Nobody knows which one, but it is right on "
        "average.",
    ),
    no_turn="It is a theorem.",
    ghosts=(
        {"traces": ["p0"]},
        {"traces": ["p1"]},
        {"traces": ["P_Y, for the true label"]},
        {},
    ),
    parameters=(
        Parameter(
            "predictor",
            "Predictor",
            "choice",
            "full",
            choices=PREDICTORS,
            help="All these predictors are valid except simplified Venn–Abers, which is not valid in general.",
        ),
        training_objects(50),
        WINDOW,
        GAP,
        draws(10000, 500, 1000, 2000, 5000, 10000, 20000, 50000),
    ),
    simulation=draw_pairs,
    notice=(
        "The mean error of the selected probability P_Y is zero within about two standard errors, however few training "
        "rows there are. On average p0 is too low and p1 too high.",
        "Nobody can use P_Y, because choosing it needs the label. But if p0 and p1 are close, you can use either "
        "probability.",
        "The theorem says more than this: among the draws with the same P_Y, the frequency of class 1 is P_Y. "
        "The lower picture shows this; the simplified predictor with a narrow window fails there.",
    ),
    formulas=(
        r"\mathbb{E}(Y \mid P_Y) = P_Y, \quad\text{hence}\quad \mathbb{E}\,(Y - P_Y) = 0",
        r"\mathbb{E}\min(P_0, P_1) \le \mathbb{P}(Y=1) \le \mathbb{E}\max(P_0, P_1)",
    ),
    source=f"{PAPER}, theorem 1 with the selector S = Y, and corollary 1.",
)

"""The constant Venn predictor: valid but useless."""

from __future__ import annotations

from calib.experiments.base import Experiment
from calib.experiments.constant.simulation import set_side_by_side
from calib.experiments.shared.validity_settings import GAP, PAGE, PAPER, WINDOW, draws, training_objects

EXPERIMENT = Experiment(
    key="constant",
    page=PAGE,
    name="The constant predictor",
    question="The constant Venn predictor gives every row the same pair: the share of ones so far, with an added 0 "
    "and with an added 1. How good is this prediction?",
    answers=("Valid and useful", "Valid, but useless", "Narrow, therefore not valid"),
    right=2,
    why=(
        "The predictor never looks at the row. A prediction that is right on average over all rows says nothing about "
        "a single row.",
        "It is right on average, but predicts the same for every row.",
        "An interval can be narrow and valid: many labels give a precise share of ones.",
    ),
    no_turn="No other answer comes true.",
    ghosts=(
        {"traces": ["true probability"]},
        {"traces": ["constant Venn predictor"]},
        {"lines": [[[-2.5, 0.8], [4, 0.8]]]},
    ),
    parameters=(GAP, training_objects(100), WINDOW, draws(2000, 500, 1000, 2000, 5000, 10000)),
    simulation=set_side_by_side,
    notice=(
        "Its interval has the width 1/(l + 1), and its selected probability is right on average, as for every Venn "
        "predictor. Validity alone says nothing about the row.",
        "Venn–Abers is equally valid, and its interval follows the true probability, but the interval is wider.",
        "Set the distance of the classes to 0. Now there is nothing to learn about a row, and the constant predictor "
        "is the best predictor.",
    ),
    formulas=(r"P_0 = \frac{k}{l+1}, \qquad P_1 = \frac{k+1}{l+1}",),
    source=f"{PAPER}, section 2, after corollary 1.",
)

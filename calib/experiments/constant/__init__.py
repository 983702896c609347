"""The constant Venn predictor: valid, and worth nothing."""

from __future__ import annotations

from calib.experiments.base import Experiment
from calib.experiments.constant.simulation import set_side_by_side
from calib.experiments.shared.validity_settings import GAP, PAGE, PAPER, WINDOW, draws, training_objects

EXPERIMENT = Experiment(
    key="constant",
    page=PAGE,
    name="The constant predictor",
    question="The constant Venn predictor puts all rows into one category: with k ones among l labels it predicts "
    "k/(l + 1) and (k + 1)/(l + 1), whatever the row is. What is it worth?",
    answers=("Valid and useful", "Valid, but useless", "Narrow, therefore not valid"),
    right=2,
    why=(
        "To be right on average over everybody says nothing about anybody: it never looks at the row.",
        "It is right on average, and predicts the same for every row.",
        "Narrow and valid go together well: with many labels the share of ones is known closely.",
    ),
    parameters=(GAP, training_objects(100), WINDOW, draws(2000, 500, 1000, 2000, 5000, 10000)),
    simulation=set_side_by_side,
    notice=(
        "Its interval is as narrow as 1/(l + 1) and its selected probability is right on average, like that of every "
        "Venn predictor. Validity alone says nothing about the row.",
        "Venn–Abers is as valid, and its interval follows the true probability up the curve; the price is its width.",
        "Set the distance of the classes to 0: now there is nothing to know about a row, and the constant "
        "predictor is the best there is.",
    ),
    formulas=(r"P_0 = \frac{k}{l+1}, \qquad P_1 = \frac{k+1}{l+1}",),
    source=f"{PAPER}, section 2, after corollary 1.",
)

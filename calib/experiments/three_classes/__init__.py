"""Three classes: a right confidence with wrong class probabilities, and the effect of dividing by the sum."""

from __future__ import annotations

from calib.experiments.base import Experiment, view_of
from calib.experiments.three_classes.simulation import SHOWN, three_classes
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="three_classes",
    page="three_classes",
    name="Three classes",
    question="A model favours one of three classes. Temperature scaling makes its confidence right. How far off are "
    "the probabilities of single classes, on average?",
    answers=("Less than 1 point", "2 to 4 points", "More than 5 points"),
    right=3,
    why=(
        "The confidence mixes all classes: one is predicted too often and another one too rarely, which cancels.",
        "One number cannot repair this: temperature scaling keeps the order of the classes in each row.",
        "The favoured class is too high and another one too low. Their errors cancel in the confidence.",
    ),
    turn={"tilt": 1.0},
    ghosts=(
        {"lines": [[[0, "temperature scaling"], [1, "temperature scaling"]]]},
        {"lines": [[[2, "temperature scaling"], [4, "temperature scaling"]]]},
        {"lines": [[[5, "temperature scaling"], [9.5, "temperature scaling"]]]},
    ),
    parameters=(
        Parameter(
            "tilt",
            "Weight of the favoured class",
            "number",
            3.0,
            1.0,
            5.0,
            help="The model multiplies its probability by this weight, and divides that of another class by it. 1 "
            "favours no class.",
            extra={"step": 0.5},
        ),
        Parameter(
            "sharpness",
            "Sharpness",
            "number",
            1.0,
            0.5,
            3.0,
            help="Power of the true probabilities: above 1 the model is overconfident, below 1 underconfident.",
            extra={"step": 0.5},
        ),
        Parameter(
            "distance",
            "Distance of the centres",
            "number",
            1.5,
            0.5,
            3.0,
            help="From the middle to the centre of each Gaussian, in standard deviations.",
            extra={"step": 0.5},
        ),
        Parameter(
            "rows", "Calibration rows", "integer", 10_000, 1000, 50_000, help="Rows that fit the calibrators."
        ),
        Parameter(
            "shown",
            "Methods shown",
            "choice",
            "all",
            choices=tuple(SHOWN),
            help="Which calibrators the picture compares with the uncalibrated model.",
            extra=view_of("three_classes"),
        ),
    ),
    simulation=three_classes,
    notice=(
        "Temperature scaling makes the confidence right within 1 point. The classes stay as wrong as before.",
        "One against the rest makes each class right within 1.5 points, but its rows do not sum to 1. Dividing each "
        "row by its sum makes the classes worse again.",
        "Vector scaling has a weight for each class, so it repairs both.",
        "With weight 1 and sharpness 2 the model is only overconfident, and temperature scaling is enough.",
    ),
    formulas=(
        r"P_k = \frac{w_k\, q_k^s}{\sum_j w_j\, q_j^s}, \quad w = (t,\, 1,\, 1/t)",
        r"\text{confidence: } P(Y = \hat{y} \mid P_{\hat{y}} = c) = c",
        r"\text{classes: } P(Y = k \mid P_k = c) = c \text{ for each } k",
    ),
    source="Guo et al. (2017), Kull et al. (2019), Gupta and Ramdas (2022).",
)

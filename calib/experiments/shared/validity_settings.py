"""Settings shared by the experiments on what Venn predictors promise."""

from __future__ import annotations

from calib.kernel.records import Parameter

PAGE = "validity"
PAPER = "Vovk and Petej, Venn–Abers predictors (2014)"

GAP = Parameter(
    "gap",
    "Distance of the classes",
    "number",
    1.5,
    0.0,
    4.0,
    help="In standard deviations; 0 makes the labels noise.",
)
WINDOW = Parameter(
    "window",
    "Window of the scorer",
    "choice",
    0.5,
    choices=(0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0),
    help="The score is the mean label in a Gaussian window around x, own label included. Narrow windows memorise.",
)


def training_objects(default: int) -> Parameter:
    """How many objects each draw learns from."""
    return Parameter(
        "objects",
        "Training rows",
        "choice",
        default,
        choices=(5, 10, 20, 50, 100, 200),
        help="Drawn anew, with a new test row, every time.",
    )


def draws(default: int, *choices: int) -> Parameter:
    """How often it is all drawn anew."""
    return Parameter(
        "draws", "Draws", "choice", default, choices=choices, help="More draws, smaller standard errors."
    )

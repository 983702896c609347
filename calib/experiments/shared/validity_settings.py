"""Settings shared by the experiments on the guarantees of Venn predictors."""

from __future__ import annotations

from calib.kernel.records import Parameter

TAUGHT, PROVED = (
    "two_probabilities",
    "simulations",
)  # pages: the lesson's own experiments, and the other proofs
TRIED, PROOFS = "Experiments", "Validity"  # their views
VENN_PAPER = "Vovk and Petej, Venn–Abers predictors (2014)"

CLASS_DISTANCE = Parameter(
    "gap",
    "Distance between the classes",
    "number",
    1.5,
    0.0,
    4.0,
    help="Distance in standard deviations; at 0 the labels are pure noise.",
)
WINDOW = Parameter(
    "window",
    "Window of the scorer",
    "choice",
    0.5,
    choices=(0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0),
    help="The score is the mean label in a Gaussian window around x, including the row's own label. A narrow window "
    "overfits.",
)


def training_objects(default: int) -> Parameter:
    """Return the setting for the number of training rows per draw."""
    return Parameter(
        "objects",
        "Training rows",
        "choice",
        default,
        choices=(5, 10, 20, 50, 100, 200),
        help="Training rows per draw; each draw also has a new test row.",
    )


def draws(default: int, *choices: int) -> Parameter:
    """Return the setting for the number of draws."""
    return Parameter(
        "draws",
        "Draws",
        "choice",
        default,
        choices=choices,
        help="Number of draws. More draws give smaller standard errors.",
    )

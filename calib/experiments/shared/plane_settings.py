"""Settings shared by the experiments on two Gaussian classes in the plane."""

from __future__ import annotations

from calib.experiments.base import view_of
from calib.kernel.records import Parameter

RF_PAPER = "Shaker and Hüllermeier, Random forest calibration (2025)"

LEAF_NAMES = {"frequency": "Frequency", "laplace": "Laplace"}

DEPTH = Parameter(
    "depth",
    "Depth",
    "choice",
    None,
    choices=(1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, None),
    help="Maximum number of splits from the root to a leaf.",
)
LEAF = Parameter(
    "leaf",
    "Leaf estimate",
    "choice",
    "frequency",
    choices=LEAF_NAMES,
    help="A leaf predicts its share of class 1, or Laplace's estimate (n1 + 1)/(n + 2).",
)
TRAINING_ROWS = Parameter(
    "n",
    "Training rows",
    "choice",
    1000,
    choices=(50, 100, 200, 500, 1000, 2000),
    help="Number of training rows, about half in each class. A larger sample contains all rows of a smaller "
    "sample.",
)
COVARIANCES_OF_CLASSES = Parameter(
    "covariances",
    "Covariances",
    "choice",
    "separate",
    choices={"equal": "Equal", "separate": "As printed", "unequal": "Unequal"},
    help="Covariances: drawn once for both classes, drawn per class (as in the paper), or very unequal.",
)
TREES_OF_FOREST = Parameter(
    "trees", "Trees", "choice", 100, choices=(2, 5, 10, 20, 50, 100), help="Number of trees in the forest."
)
CURTAIL = Parameter(
    "curtail",
    "Curtail below",
    "choice",
    0,
    choices=(0, 2, 5, 10, 20, 30, 50, 100, 200),
    help="A leaf with fewer training rows takes the frequencies of its first ancestor with enough rows.",
)


def cloud(figure: str) -> Parameter:
    """Return the setting that chooses how this figure draws test rows."""
    return Parameter(
        "cloud",
        "Draw",
        "choice",
        "points",
        choices={"points": "Points", "density": "Density"},
        help="Show some of the test rows as points, or all of them as a density.",
        extra=view_of(figure),
    )

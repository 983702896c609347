"""Model comparison: which probabilities are right if a model's assumption holds, and which if it fails."""

from __future__ import annotations

from calib.experiments.base import Experiment
from calib.experiments.shared.plane_settings import DEPTH, LEAF, PAPER, SIZE, cloud
from calib.experiments.which_model.simulation import CALIBRATIONS, NO_OTHER, OTHERS, models_side_by_side
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="which_model",
    page="which_model",
    name="Model comparison",
    question="With equal covariances the true boundary is straight, with unequal ones it is curved. Which model is "
    "closest to the true probabilities if it is curved?",
    answers=("The forest", "The support-vector machine with Platt scaling", "Logistic regression"),
    right=2,
    why=(
        "A forest assumes almost nothing and has hardly any bias. But predictions of fully grown trees vary a lot, "
        "and this variance counts too.",
        "Its curved boundary fits, and Platt scaling learns only two parameters, so there is little scatter.",
        "Logistic regression is right with equal covariances. With unequal ones its straight boundary is wrong, and "
        "more rows cannot bend it.",
    ),
    turn={"kernel": "linear"},
    ghosts=({"panels": [4]}, {"panels": [5]}, {"panels": [6]}),
    parameters=(
        DEPTH,
        Parameter(
            "kernel",
            "Kernel",
            "choice",
            "rbf",
            choices={"rbf": "Curved", "linear": "Flat"},
            help="A curved or a flat boundary for the support-vector machine.",
        ),
        Parameter(
            "other",
            "One more model",
            "choice",
            NO_OTHER,
            choices=OTHERS,
            help="Another model with its default settings. The tuned forest takes a minute.",
        ),
        Parameter(
            "calibrator",
            "Its calibration",
            "choice",
            "none",
            choices=CALIBRATIONS,
            help="The calibrator is fitted on out-of-fold scores from five folds, as for the support-vector "
            "machine. Margins always get Platt scaling. For probabilities, Platt scaling uses their log-odds.",
        ),
        cloud("which_model"),
        SIZE,
        Parameter(
            "trees",
            "Trees",
            "choice",
            100,
            choices=(5, 10, 20, 50, 100),
            help="Number of trees in the forest.",
        ),
        LEAF,
        Parameter(
            "first",
            "Upper row",
            "choice",
            "equal",
            choices={"equal": "Equal", "separate": "As printed"},
            help="Covariances of the upper row: one draw for both classes, or one draw per class from the same range.",
        ),
    ),
    simulation=models_side_by_side,
    notice=(
        "In the upper row, logistic regression lies on the diagonal. For two Gaussian classes with equal covariances, "
        "the true probability is a logistic function of the features.",
        "In the lower row, the line of logistic regression leaves the diagonal. More rows do not help: the error is "
        "about the same with 2,000 rows as with 1,000. Bias is a fifth to a half of this error, and seldom more than "
        "half. The rest is scatter: rows with equal true probability lie on different sides of the wide class, and "
        "one straight boundary cannot suit both.",
        "The line of the support-vector machine bends, because Platt scaling fits one curve to scores that were never "
        "meant to be probabilities. The result underestimates high probabilities and overestimates low probabilities.",
        "The forest's line stays near the diagonal in both rows, because it assumes almost nothing. Its error "
        "is nearly all scatter, and scatter can be reduced: choose depth 4.",
    ),
    formulas=(
        r"\Sigma_0=\Sigma_1:\quad \ln\frac{\pi(x)}{1-\pi(x)} = w^\top x + b",
        r"\Sigma_0\neq\Sigma_1:\quad \ldots + x^\top A\,x",
        r"\text{TCE} = \tfrac1m\sum(p-\pi)^2 = \text{bias}^2 + \text{scatter}",
    ),
    source=f"{PAPER}, eq. 4, appendix C.1 and Figure 7.",
)

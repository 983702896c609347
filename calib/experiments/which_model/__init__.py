"""Which model's probabilities to trust, where its assumption holds and where it does not."""

from __future__ import annotations

from calib.experiments.base import Experiment
from calib.experiments.shared.plane_settings import DEPTH, LEAF, PAPER, SIZE, cloud
from calib.experiments.which_model.simulation import CALIBRATIONS, NO_OTHER, OTHERS, models_side_by_side
from calib.kernel.records import Parameter

EXPERIMENT = Experiment(
    key="which_model",
    page="which_model",
    name="Which model",
    question="Two Gaussian classes with equal covariances: what logistic regression assumes is exactly true. Then one "
    "class is spread over a much wider area, and it is no longer true. Which comes closest to the true probabilities "
    "then: a forest, a support-vector machine with Platt scaling, or still logistic regression?",
    answers=("The forest", "The support-vector machine", "Logistic regression"),
    right=2,
    why=(
        "A forest assumes almost nothing and is hardly biased. But fully grown it scatters, and that counts as well.",
        "A curved boundary fits, and Platt scaling has only two numbers to learn: little scatter.",
        "It was exactly right in the upper row. Its straight boundary is wrong here, and more rows cannot bend it.",
    ),
    turn={"kernel": "linear"},
    parameters=(
        DEPTH,
        Parameter(
            "kernel",
            "Kernel",
            "choice",
            "rbf",
            choices=("rbf", "linear"),
            help="Of the support-vector machine: a curved or a flat boundary.",
            extra={"names": {"rbf": "Curved", "linear": "Flat"}},
        ),
        Parameter(
            "other",
            "One more model",
            "choice",
            NO_OTHER,
            choices=tuple(OTHERS),
            help="Any other model from the menu, with its own defaults. The tuned forest takes a minute.",
            extra={"names": OTHERS},
        ),
        Parameter(
            "calibrator",
            "Its calibration",
            "choice",
            "none",
            choices=tuple(CALIBRATIONS),
            help="On out-of-fold scores of five folds, as for the support-vector machine; margins get Platt's. "
            "Platt takes the log-odds of probabilities.",
            extra={"names": CALIBRATIONS},
        ),
        cloud("which_model"),
        SIZE,
        Parameter("trees", "Trees", "choice", 100, choices=(5, 10, 20, 50, 100), help="Of the forest."),
        LEAF,
        Parameter(
            "first",
            "Upper row",
            "choice",
            "equal",
            choices=("equal", "separate"),
            help="Covariances of the upper row: one shared draw, or a draw for each class from the same range.",
            extra={"names": {"equal": "Equal", "separate": "As printed"}},
        ),
    ),
    simulation=models_side_by_side,
    notice=(
        "Upper row: logistic regression lies on the diagonal. Two Gaussian classes with equal covariances have "
        "posteriors that are a logistic function of the features.",
        "Lower row: its line leaves the diagonal, and more rows do not bring it back: from 1000 to 2000 its error "
        "stays. The bent line, bias, is a fifth to a half of that, seldom more. The rest is scatter: rows that are "
        "equally likely lie on different sides of the wide class, and one straight boundary cannot suit both.",
        "The line of the support-vector machine bends: Platt scaling fits one curve to scores that were never meant "
        "to be probabilities, and is too low where the truth is high and too high where it is low.",
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

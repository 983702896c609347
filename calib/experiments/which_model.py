"""Models side by side, on data for which the assumption of one model holds, and on data for which it fails.

Shaker and Hüllermeier (2025), appendix C.1 and Figure 7: a forest, a support-vector machine with Platt scaling,
logistic regression and any other model, with equal and with unequal covariances of the classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calib.calibrators import CALIBRATORS
from calib.experiments.base import Experiment
from calib.experiments.shared.gaussian_plane import (
    DEPTH,
    LEAF,
    RF_PAPER,
    TRAINING_ROWS,
    PredictionErrors,
    cloud,
    draw_plane,
)
from calib.experiments.shared.truth_panels import TRUTH_PANELS, TruthPanels, against_truth
from calib.figures.base import FigureEntry
from calib.kernel.checks import Array
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter
from calib.kernel.wording import brief
from calib.models import MODELS, class_one_score
from calib.placements import PLACEMENTS

ROW_TITLES = {
    "equal": "Equal covariances",
    "separate": "Covariances as printed in the paper",
    "unequal": "Unequal covariances",
}
NO_OTHER = "none"
OTHERS = {NO_OTHER: "None"} | {key: entry.label for key, entry in MODELS.shipped.items() if key != "given"}
CALIBRATIONS = {
    "none": "None",
    "platt": "Platt",
    "isotonic": "Isotonic",
    "beta": "Beta",
    "venn_abers": "Venn–Abers",
}
FOLDS = 5


def fit_one(
    random_state: int,
    covariances: str,
    n: int,
    model: str,
    settings: tuple[tuple[str, Any], ...],
    calibrator: str,
    watch: Watch | None = None,
) -> tuple[Array, Array]:
    """Fit one model of MODELS, and return true and predicted probabilities of the test rows, (m,) each.

    A calibrator is fitted on out-of-fold scores of FOLDS folds; "none" takes the model's own probabilities.
    """
    plane = draw_plane(covariances, n, random_state)
    estimator = MODELS[model].build(dict(settings), random_state)
    placement = PLACEMENTS["none" if calibrator == "none" else "cv"]
    placed = placement().fit(estimator, plane.X, plane.y, cv=FOLDS, random_state=random_state, watch=watch)
    fitted = placed.calibrate(CALIBRATORS[calibrator]())
    if CALIBRATORS[calibrator].gives_interval:
        return plane.posterior, placed.predict(fitted, placed.score(plane.test)).p
    # Only intervals need predictions of the fold models for new rows, which are slow for support-vector machines.
    return plane.posterior, fitted.predict(class_one_score(placed.model, plane.test))


@dataclass(frozen=True, eq=False)
class Models:
    """Models on both draws of the data.

    Attributes
    ----------
    rows
        Name of the covariances → fitted models, in equal order.
    """

    rows: dict[str, tuple[PredictionErrors, ...]]


def models_side_by_side(
    settings: Mapping[str, Any],
    random_state: int,
    watch: Watch,
    fit: Callable[..., tuple[Array, Array]] = fit_one,
) -> Models:
    """Fit the three models of the paper and the reader's own on two draws of the data.

    Parameters
    ----------
    settings
        other, calibrator, depth, n, trees, leaf, kernel, first.
    fit
        ``fit_one``, or a cached version of it.
    """
    forest = {"n_estimators": settings["trees"], "max_depth": settings["depth"], "leaf": settings["leaf"]}
    models: list[tuple[str, str, tuple, str]] = [
        ("Forest", "random_forest", tuple(forest.items()), "none"),
        ("SVM with Platt scaling", "svm", (("kernel", settings["kernel"]),), "platt"),
        ("Logistic regression", "logistic_regression", (), "none"),
    ]
    if settings["other"] != NO_OTHER:
        entry, calibrator = MODELS[settings["other"]], settings["calibrator"]
        if calibrator == "none" and entry.score == "margin":
            calibrator = "platt"
        name = entry.label if calibrator == "none" else f"{entry.label}, {CALIBRATIONS[calibrator]}"
        models.append((name, entry.key, (), calibrator))
    fits = [(row, *model) for row in (settings["first"], "unequal") for model in models]
    rows: dict[str, list[PredictionErrors]] = {}
    for i, (row, name, *model) in enumerate(fits):
        part = watch.within(i / len(fits), (i + 1) / len(fits))
        errors = PredictionErrors(name, *fit(random_state, row, settings["n"], *model, watch=part))
        rows.setdefault(ROW_TITLES[row], []).append(errors)
    return Models({row: tuple(found) for row, found in rows.items()})


MODELS_IN_PAPER = 3  # number of the paper's models, which come first


def prepare(found: Models, cloud: str = "points") -> TruthPanels:
    """Find the model closest to the truth in each row."""
    (above, first), (below, second) = found.rows.items()
    best, then = (min(row, key=lambda errors: errors.tce) for row in (first, second))
    shown = tuple(
        replace(errors, name=f"{errors.name}, {row.lower()}")
        for row, models in found.rows.items()
        for errors in models
    )
    title = (
        f"{above}: {_within(best.name)} comes closest (TCE {brief(best.tce)}). {below}: {_within(then.name)} "
        f"({brief(then.tce)})"
    )
    return against_truth(
        shown,
        len(first),
        cloud,
        title,
        1 + int(np.argmin([errors.tce for errors in second[:MODELS_IN_PAPER]])),
    )


def _within(name: str) -> str:
    """Write a model's name within a sentence."""
    return name if name[:2].isupper() else f"{name[0].lower()}{name[1:]}"


EXPERIMENT = Experiment(
    key="which_model",
    page="simulations",
    name="Model comparison",
    question="With equal covariances, the boundary is straight; with unequal ones, it is curved. Which model is "
    "closest to the true probabilities if the boundary is curved?",
    answers=("The forest", "The support-vector machine with Platt scaling", "Logistic regression"),
    right=2,
    why=(
        "A forest assumes almost nothing and has hardly any bias. But predictions of fully grown trees vary a lot, "
        "and this variance counts too.",
        "Its curved boundary fits, and Platt scaling learns only two parameters, so there is little scatter.",
        "With equal covariances, logistic regression is the right model. With unequal covariances its "
        "straight boundary is wrong, and more rows cannot bend it.",
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
            help="Boundary of the support-vector machine: curved or straight.",
        ),
        Parameter(
            "other",
            "One more model",
            "choice",
            NO_OTHER,
            choices=OTHERS,
            help="An additional model with its default settings. The tuned forest takes a minute.",
        ),
        Parameter(
            "calibrator",
            "Its calibration",
            "choice",
            "none",
            choices=CALIBRATIONS,
            help="The calibrator is fitted on out-of-fold scores from five folds, as for the support-vector "
            "machine. Platt scaling uses the margins of a model that gives margins, and the log-odds of probabilities.",
        ),
        cloud("which_model"),
        TRAINING_ROWS,
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
            help="Covariance matrices in the upper row: one random matrix for both classes, or one per class.",
        ),
    ),
    simulation=models_side_by_side,
    notice=(
        "In the upper row, the line of logistic regression lies on the diagonal. For two Gaussian classes "
        "with equal covariances, the true probability is a logistic function of the features.",
        "In the lower row, the line of logistic regression leaves the diagonal. More rows do not help: the error is "
        "about the same with 2,000 rows as with 1,000. Bias is a fifth to a half of this error, and seldom more than "
        "half. The rest is scatter: rows with equal true probability lie on different sides of the wide "
        "class, and one straight boundary cannot fit both sides.",
        "The line of the support-vector machine bends, because Platt scaling fits a single sigmoid to "
        "scores that are not probabilities. The result underestimates high probabilities and overestimates "
        "low probabilities.",
        "The forest's line stays near the diagonal in both rows, because it assumes almost nothing. Its error "
        "is nearly all scatter, and scatter can be reduced: choose depth 4.",
    ),
    formulas=(
        r"\Sigma_0=\Sigma_1:\quad \ln\frac{\pi(x)}{1-\pi(x)} = w^\top x + b",
        r"\Sigma_0\neq\Sigma_1:\quad \ldots + x^\top A\,x",
        r"\text{TCE} = \tfrac1m\sum(p-\pi)^2 = \text{bias}^2 + \text{scatter}",
    ),
    source=f"{RF_PAPER}, eq. 4, appendix C.1 and Figure 7.",
)


FIGURES = (
    FigureEntry("which_model", "Predictions of the models and true probabilities", prepare, *TRUTH_PANELS),
)

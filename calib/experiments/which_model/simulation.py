"""A forest, a support-vector machine with Platt scaling, logistic regression and any other model, against the truth.

Shaker and Hüllermeier (2025), appendix C.1 and Figure 7, with equal and with unequal covariances of the classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from calib.calibrators import CALIBRATORS
from calib.experiments.shared.gaussian_plane import draw_plane
from calib.experiments.shared.prediction_errors import PredictionErrors
from calib.kernel.checks import Array
from calib.kernel.progress import Watch
from calib.models import MODELS, class_one_score
from calib.placements import PLACEMENTS

ROWS = {"equal": "Equal covariances", "separate": "Covariances as printed", "unequal": "Unequal covariances"}
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
        rows.setdefault(ROWS[row], []).append(errors)
    return Models({row: tuple(found) for row, found in rows.items()})

"""Warnings if there are too few rows to fit calibrators or to compare them.

A calibrator learns from its minority class. With k such rows even their overall share is known only to a
relative ±2/√k, 45 % for k = 20, and the usual rule requires ten rows per fitted number; Platt scaling has two. A
mean over test rows, too, depends on those of the minority class.
"""

from __future__ import annotations

import numpy as np

from calib.evaluate import Evaluation
from calib.kernel.binomial import binomial_interval
from calib.kernel.records import Problem
from calib.kernel.rows import ONE_CLUSTER
from calib.kernel.weights import are_whole, or_ones
from calib.kernel.wording import brief_percent, class_named, counted, describe_rows
from calib.metrics.confidence_intervals import FEWEST_PER_CLASS

FEWEST_TO_FIT = 20  # minority rows: ten for each of the two numbers of Platt scaling (Peduzzi et al. 1996)
FEWEST_TO_COMPARE = 20  # minority rows of the test set; with fewer, each one is more than 5 % of them
FEWEST_TO_JUDGE = 100  # minority rows of the test set (Collins, Ogundimu & Altman 2016)


def too_few(evaluation: Evaluation) -> tuple[Problem, ...]:
    """Warn if the rows are too few to distinguish methods; give a note if intervals are merely wide.

    At a deployment base rate, too, the knowledge about a class depends on its actual number of rows.
    """
    evaluation = evaluation.unadjusted or evaluation
    return tuple(filter(None, (_to_fit(evaluation), _to_judge(evaluation))))


def too_few_to_compare(evaluation: Evaluation) -> bool:
    """Tell whether the rows are too few to see differences between methods."""
    return any(problem.severity == "warning" for problem in too_few(evaluation))


def _to_fit(evaluation: Evaluation) -> Problem | None:
    folds = evaluation.recipe.folds if evaluation.recipe.evaluation == "folds" else 1
    y = evaluation.calibration_y
    n, ones = (round(rows / folds) for rows in _class_rows(y, evaluation.calibration_weight))
    rare = min(ones, n - ones)
    fitted = [key for key in evaluation.predictions if key != "none"]
    if not n or not fitted or rare >= FEWEST_TO_FIT:
        return None
    low, high = (float(end) for end in binomial_interval(ones, n))
    counts = evaluation.calibration_weight is not None and are_whole(evaluation.calibration_weight)
    fitted_on = describe_rows(n, round(len(y) / folds), n) if counts else counted(n, "row")
    share = (
        ""
        if evaluation.dataset.cluster is not None
        else f" These rows only show that the share of "
        f"{class_named(evaluation.dataset.classes[1])} is between {brief_percent(low)} and {brief_percent(high)}."
    )
    return Problem(
        "warning",
        None,
        f"The calibrators were fitted on {fitted_on}, only {rare} of them in the minority class.{share}",
        f"Fit on at least {FEWEST_TO_FIT} rows of the minority class: use more calibration rows, out-of-bag "
        "calibration or cross-calibration.",
    )


def _class_rows(y: np.ndarray, weight: np.ndarray | None) -> tuple[float, float]:
    """Return (rows, rows of class 1) that labels (n,) represent."""
    rows = or_ones(weight, len(y))
    return float(rows.sum()), float(rows @ y)


def minority_rows(evaluation: Evaluation) -> int:
    """Count the test rows in the minority class."""
    n, ones = _class_rows(evaluation.y, evaluation.weight)
    return round(min(ones, n - ones))


def _to_judge(evaluation: Evaluation) -> Problem | None:
    if evaluation.sample.single_cluster:
        remedy = "Test on rows of several clusters, or clear the cluster column if the rows are independent."
        return Problem("warning", None, ONE_CLUSTER, remedy)
    rare = minority_rows(evaluation)
    if rare >= FEWEST_TO_JUDGE:
        return None
    wide = f"intervals need at least {FEWEST_PER_CLASS}" if rare < FEWEST_PER_CLASS else "intervals are wide"
    return Problem(
        "warning" if rare < FEWEST_TO_COMPARE else "info",
        None,
        f"Only {counted(rare, 'test row')} {'is' if rare == 1 else 'are'} in the minority class; "
        f"{FEWEST_TO_JUDGE} is the usual minimum, and {wide}.",
        "Use a larger test set or cross-validation.",
    )

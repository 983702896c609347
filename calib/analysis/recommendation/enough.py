"""Whether there are rows enough to say which calibrator to use.

A calibrator is fitted on what its rarer class shows. With k such rows even their overall share is known only
to a relative ±2/√k, 45% for k = 20, and the usual rule asks for ten for each fitted number; Platt's line has
two. A mean over test rows, too, rests on those of the rarer class.
"""

from __future__ import annotations

import numpy as np

from calib.evaluate import Evaluation
from calib.kernel.binomial import binomial_interval
from calib.kernel.records import Problem
from calib.kernel.rows import ONE_CLUSTER
from calib.kernel.weights import are_whole, or_ones
from calib.kernel.wording import brief_percent, class_named, counted, rows_told
from calib.metrics.confidence import FEWEST

# Rows of the rarer class: ten for each of the two numbers of Platt's line (Peduzzi et al. 1996)
FEWEST_TO_FIT = 20
FEWEST_TO_COMPARE = 20  # of the test rows: fewer, and a single one is 5% of all that is known of the class
FEWEST_TO_JUDGE = 100  # of the test rows (Collins, Ogundimu & Altman 2016)


def too_few(evaluation: Evaluation) -> tuple[Problem, ...]:
    """Where rows are too few: a warning where nothing can be told, a remark where intervals are merely wide.

    At a stated base rate too, what is known of a class depends on the rows of it that there are.
    """
    evaluation = evaluation.before or evaluation
    return tuple(filter(None, (_to_fit(evaluation), _to_judge(evaluation))))


def nothing_told(evaluation: Evaluation) -> bool:
    """Whether rows are so few that nothing can be told: one of the two is a warning."""
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
    fitted_on = rows_told(n, round(len(y) / folds), n) if counts else counted(n, "row")
    share = (
        f" Even the overall share of {class_named(evaluation.dataset.classes[1])} is known only as "
        f"{brief_percent(low)} to {brief_percent(high)} from them."
    )
    return Problem(
        "warning",
        None,
        f"The calibrators were fitted on {fitted_on}, only {rare} of the rarer class: too few to tell them apart."
        + ("" if evaluation.dataset.cluster is not None else share),
        f"Fit on at least {FEWEST_TO_FIT} of the rarer class, ten for each parameter of Platt’s line: "
        "more calibration rows, out-of-bag or cross-calibration, or more data.",
    )


def _class_rows(y: np.ndarray, weight: np.ndarray | None) -> tuple[float, float]:
    """(rows, rows of class 1) that labels (n,) stand for."""
    rows = or_ones(weight, len(y))
    return float(rows.sum()), float(rows @ y)


def rarer_rows(evaluation: Evaluation) -> int:
    """How many of the test rows are of the rarer class."""
    n, ones = _class_rows(evaluation.y, evaluation.weight)
    return round(min(ones, n - ones))


def _to_judge(evaluation: Evaluation) -> Problem | None:
    if evaluation.sample.single_cluster:
        remedy = "Test on rows of several clusters; or state no cluster if the rows are independent."
        return Problem("warning", None, ONE_CLUSTER, remedy)
    rare = rarer_rows(evaluation)
    if rare >= FEWEST_TO_JUDGE:
        return None
    remedy = "A larger test share, or every row judged once by folds, gives more."
    if rare < FEWEST_TO_COMPARE:
        message = (
            f"The {evaluation.judged_by} hold {rare} of the rarer class: too few to compare "
            f"calibrators by; at least {FEWEST_TO_COMPARE} are needed, {FEWEST_TO_JUDGE} are usually asked for."
        )
        return Problem("warning", None, message, remedy)
    message = (
        f"The test rows hold {rare} of the rarer class; at least {FEWEST_TO_JUDGE} are usually asked for to judge "
        f"calibration, so expect wide intervals, and none below {FEWEST}."
    )
    return Problem("info", None, message, remedy)

"""Turn a Recipe and a Dataset into an Evaluation: fit the model, calibrate, adjust to a base rate."""

from calib.evaluate.chain import calibrate, check, evaluate, fit_calibrator, make_calibrator
from calib.evaluate.cost import MANY_ROWS, announcement, expected_cost, expected_seconds
from calib.evaluate.fitting import (
    Fitted,
    FittedFold,
    RowCount,
    check_dataset,
    fit,
    fit_rows,
    fits_every_row,
    make_estimator,
    row_info,
    score_column,
    split,
)
from calib.evaluate.joint import JointEvaluation, scored_class
from calib.evaluate.record import Evaluation

__all__ = [
    "MANY_ROWS",
    "Evaluation",
    "Fitted",
    "FittedFold",
    "JointEvaluation",
    "RowCount",
    "announcement",
    "calibrate",
    "check",
    "check_dataset",
    "evaluate",
    "expected_cost",
    "expected_seconds",
    "fit",
    "fit_calibrator",
    "fit_rows",
    "fits_every_row",
    "make_calibrator",
    "make_estimator",
    "row_info",
    "score_column",
    "scored_class",
    "split",
]

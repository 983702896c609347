"""What predicted probabilities are worth: scores, calibration errors, decompositions, intervals, and their spread."""

from calib.metrics.base import Metric, takes_weights
from calib.metrics.bootstrap import BootstrapInterval, bootstrap_difference, bootstrap_differences, bootstrap_interval
from calib.metrics.calibration_error import (
    CalibrationLine,
    SpiegelhalterTest,
    calibration_line,
    excess_brier,
    expected_calibration_error,
    group_entropy,
    maximum_calibration_error,
    spiegelhalter_test,
    squared_ece,
    true_calibration_error,
)
from calib.metrics.decomposition import (
    Corp,
    LossDecomposition,
    Murphy,
    chance_miscalibration,
    corp_decomposition,
    loss_decomposition,
    murphy_decomposition,
)
from calib.metrics.intervals import (
    IntervalBins,
    IntervalSummary,
    interval_bins,
    interval_summary,
    predicted_label_intervals,
    predicted_label_summary,
)
from calib.metrics.registry import METRICS, register
from calib.metrics.scoring import accuracy, accuracy_gap, auc, brier_score, log_loss, log_loss_clipped, rmse
from calib.metrics.table import metric_table, metric_value

__all__ = [
    "METRICS",
    "BootstrapInterval",
    "CalibrationLine",
    "Corp",
    "IntervalBins",
    "IntervalSummary",
    "LossDecomposition",
    "Metric",
    "Murphy",
    "SpiegelhalterTest",
    "accuracy",
    "accuracy_gap",
    "auc",
    "bootstrap_difference",
    "bootstrap_differences",
    "bootstrap_interval",
    "brier_score",
    "calibration_line",
    "chance_miscalibration",
    "corp_decomposition",
    "excess_brier",
    "expected_calibration_error",
    "group_entropy",
    "interval_bins",
    "interval_summary",
    "log_loss",
    "log_loss_clipped",
    "loss_decomposition",
    "maximum_calibration_error",
    "metric_table",
    "metric_value",
    "murphy_decomposition",
    "predicted_label_intervals",
    "predicted_label_summary",
    "register",
    "rmse",
    "spiegelhalter_test",
    "squared_ece",
    "takes_weights",
    "true_calibration_error",
]

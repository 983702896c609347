"""Metrics of predicted probabilities: scores, calibration errors, decompositions, and their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calib.kernel import lazy

if TYPE_CHECKING:
    from calib.metrics.accuracy import accuracy, accuracy_gap
    from calib.metrics.auc import auc, average_precision
    from calib.metrics.base import Metric, takes_weights
    from calib.metrics.bootstrap import BootstrapInterval, bootstrap_interval
    from calib.metrics.brier import brier_score, brier_skill, rmse
    from calib.metrics.confidence_intervals import confidence_interval
    from calib.metrics.cumulative import CumulativeDifferences, cumulative_differences
    from calib.metrics.decomposition import (
        Corp,
        LossDecomposition,
        Murphy,
        chance_miscalibration,
        corp_decomposition,
        loss_decomposition,
        murphy_decomposition,
    )
    from calib.metrics.ece import (
        classwise_calibration_error,
        confidence_calibration_error,
        corrected_reliability,
        debiased_calibration_error,
        expected_calibration_error,
        maximum_calibration_error,
        top_label_calibration_error,
    )
    from calib.metrics.ici import SmoothDifferences, smooth_differences
    from calib.metrics.interval_width import (
        IntervalBins,
        IntervalSummary,
        interval_bins,
        interval_summary,
        predicted_label_intervals,
        predicted_label_summary,
    )
    from calib.metrics.log_loss import log_loss, log_loss_clipped
    from calib.metrics.papers import group_entropy, squared_ece
    from calib.metrics.registry import METRICS, class_metrics, register
    from calib.metrics.slope import CalibrationLine, calibration_line, observed_expected
    from calib.metrics.smooth_error import Smoothed, smooth_calibration_error, smoothed_residuals
    from calib.metrics.spiegelhalter import SpiegelhalterTest, spiegelhalter_test
    from calib.metrics.table import metric_table, metric_value
    from calib.metrics.tce import excess_brier, true_calibration_error

lazy.attach(__name__)


__all__ = [
    "METRICS",
    "BootstrapInterval",
    "CalibrationLine",
    "Corp",
    "CumulativeDifferences",
    "IntervalBins",
    "IntervalSummary",
    "LossDecomposition",
    "Metric",
    "Murphy",
    "SmoothDifferences",
    "Smoothed",
    "SpiegelhalterTest",
    "accuracy",
    "accuracy_gap",
    "auc",
    "average_precision",
    "bootstrap_interval",
    "brier_score",
    "brier_skill",
    "calibration_line",
    "chance_miscalibration",
    "class_metrics",
    "classwise_calibration_error",
    "confidence_calibration_error",
    "confidence_interval",
    "corp_decomposition",
    "corrected_reliability",
    "cumulative_differences",
    "debiased_calibration_error",
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
    "observed_expected",
    "predicted_label_intervals",
    "predicted_label_summary",
    "register",
    "rmse",
    "smooth_calibration_error",
    "smooth_differences",
    "smoothed_residuals",
    "spiegelhalter_test",
    "squared_ece",
    "takes_weights",
    "top_label_calibration_error",
    "true_calibration_error",
]

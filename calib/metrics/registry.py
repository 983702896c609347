"""Registry of metrics by key, in the order of tables and menus; a new metric needs a file and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from calib.kernel.lazy import Entries, first_use
from calib.kernel.registry import Registry

if TYPE_CHECKING:
    from calib.metrics.base import Metric

METRICS_PACKAGE = "calib.metrics"

METRICS: Registry[Metric] = Registry(
    METRICS_PACKAGE,
    Entries(
        METRICS_PACKAGE,
        {
            "accuracy": "accuracy:ACCURACY",
            "auc": "auc:AUC",
            "brier": "brier:BRIER",
            "rmse": "brier:RMSE",
            "log_loss": "log_loss:LOG_LOSS",
            "log_loss_clipped": "log_loss:LOG_LOSS_CLIPPED",
            "ece": "ece:ECE",
            "ece_chance": "chance:ECE_BY_CHANCE",
            "mce": "ece:MCE",
            "squared_ece": "papers:SQUARED_ECE",
            "reliability": "decomposition:RELIABILITY",
            "resolution": "decomposition:RESOLUTION",
            "uncertainty": "decomposition:UNCERTAINTY",
            "within": "decomposition:WITHIN",
            "miscalibration": "decomposition:MISCALIBRATION",
            "miscalibration_chance": "decomposition:MISCALIBRATION_BY_CHANCE",
            "discrimination": "decomposition:DISCRIMINATION",
            "slope": "slope:SLOPE",
            "intercept": "slope:INTERCEPT",
            "spiegelhalter_z": "spiegelhalter:SPIEGELHALTER_Z",
            "spiegelhalter_p": "spiegelhalter:SPIEGELHALTER_P",
            "accuracy_gap": "accuracy:ACCURACY_GAP",
            "group_entropy": "papers:GROUP_ENTROPY",
            "lower": "interval_width:LOWER",
            "upper": "interval_width:UPPER",
            "width": "interval_width:WIDTH",
            "label_lower": "interval_width:LABEL_LOWER",
            "label_upper": "interval_width:LABEL_UPPER",
            "log_loss_base2": "papers:LOG_LOSS_BASE2",
            "tce": "tce:TCE",
            "average_precision": "auc:AVERAGE_PRECISION",
            "brier_skill": "brier:BRIER_SKILL",
            "observed_expected": "slope:OBSERVED_EXPECTED",
            "in_the_large": "slope:IN_THE_LARGE",
            "debiased_ce": "ece:DEBIASED_CE",
            "smooth_ece": "smooth_error:SMOOTH_ERROR",
            "ici": "ici:ICI",
            "e50": "ici:E50",
            "e90": "ici:E90",
            "emax": "ici:EMAX",
            "kuiper": "cumulative:KUIPER",
            "kuiper_p": "cumulative:KUIPER_P",
            "kolmogorov_smirnov": "cumulative:KOLMOGOROV_SMIRNOV",
            "kolmogorov_smirnov_p": "cumulative:KOLMOGOROV_SMIRNOV_P",
        },
    ),
    check=first_use(f"{METRICS_PACKAGE}.base", "check_metric"),
    origin=lambda metric: metric.function,
    unlisted=Entries(
        METRICS_PACKAGE,
        {
            "confidence_ece": "ece:CONFIDENCE_ECE",
            "top_label_ece": "ece:TOP_LABEL_ECE",
            "classwise_ece": "ece:CLASSWISE_ECE",
        },
    ),
)
"""Metrics of two classes, and by key also those of K > 2 classes alone."""

OF_CLASSES = ("log_loss", "brier", "accuracy", "auc", "confidence_ece", "top_label_ece", "classwise_ece")
"""Metrics of K classes together, in the order of tables."""


@cache
def class_metrics() -> Mapping[str, Metric]:
    """Return the metrics of K classes together by key, as they are named beside those of one class.

    >>> class_metrics()["accuracy"].label
    'Accuracy, all classes'
    """
    return {key: METRICS[key].together for key in OF_CLASSES}


register = METRICS.register

"""Registry of metrics by key, in the order of tables and menus; a new metric needs a file, an import and a line
here.
"""

from __future__ import annotations

from calib.kernel.registry import Registry
from calib.metrics.accuracy import ACCURACY, ACCURACY_GAP
from calib.metrics.auc import AUC, AVERAGE_PRECISION
from calib.metrics.base import Metric, check_metric
from calib.metrics.brier import BRIER, BRIER_SKILL, RMSE
from calib.metrics.chance import ECE_BY_CHANCE
from calib.metrics.cumulative import KOLMOGOROV_SMIRNOV, KOLMOGOROV_SMIRNOV_P, KUIPER, KUIPER_P
from calib.metrics.decomposition import (
    DISCRIMINATION,
    MISCALIBRATION,
    MISCALIBRATION_BY_CHANCE,
    RELIABILITY,
    RESOLUTION,
    UNCERTAINTY,
    WITHIN,
)
from calib.metrics.ece import DEBIASED_CE, ECE, MCE
from calib.metrics.ici import E50, E90, EMAX, ICI
from calib.metrics.intervals import LABEL_LOWER, LABEL_UPPER, LOWER, UPPER, WIDTH
from calib.metrics.log_loss import LOG_LOSS, LOG_LOSS_CLIPPED
from calib.metrics.papers import GROUP_ENTROPY, LOG_LOSS_BASE2, SQUARED_ECE
from calib.metrics.slope import IN_THE_LARGE, INTERCEPT, OBSERVED_EXPECTED, SLOPE
from calib.metrics.smooth_error import SMOOTH_ERROR
from calib.metrics.spiegelhalter import SPIEGELHALTER_P, SPIEGELHALTER_Z
from calib.metrics.tce import TCE

METRICS: Registry[Metric] = Registry(
    "calib.metrics",
    (
        ACCURACY,
        AUC,
        BRIER,
        RMSE,
        LOG_LOSS,
        LOG_LOSS_CLIPPED,
        ECE,
        ECE_BY_CHANCE,
        MCE,
        SQUARED_ECE,
        RELIABILITY,
        RESOLUTION,
        UNCERTAINTY,
        WITHIN,
        MISCALIBRATION,
        MISCALIBRATION_BY_CHANCE,
        DISCRIMINATION,
        SLOPE,
        INTERCEPT,
        SPIEGELHALTER_Z,
        SPIEGELHALTER_P,
        ACCURACY_GAP,
        GROUP_ENTROPY,
        LOWER,
        UPPER,
        WIDTH,
        LABEL_LOWER,
        LABEL_UPPER,
        LOG_LOSS_BASE2,
        TCE,
        AVERAGE_PRECISION,
        BRIER_SKILL,
        OBSERVED_EXPECTED,
        IN_THE_LARGE,
        DEBIASED_CE,
        SMOOTH_ERROR,
        ICI,
        E50,
        E90,
        EMAX,
        KUIPER,
        KUIPER_P,
        KOLMOGOROV_SMIRNOV,
        KOLMOGOROV_SMIRNOV_P,
    ),
    check=check_metric,
    origin=lambda metric: metric.function,
)

register = METRICS.register

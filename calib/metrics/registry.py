"""The metrics by key, as tables, studies and menus describe them; a new metric is one entry."""

from __future__ import annotations

from operator import attrgetter

from numpy.typing import ArrayLike

from calib.kernel.registry import Registry
from calib.metrics.average_precision import AVERAGE_PRECISION
from calib.metrics.base import Metric, check_metric
from calib.metrics.brier_skill import BRIER_SKILL
from calib.metrics.calibration_error import (
    calibration_line,
    expected_calibration_error,
    group_entropy,
    maximum_calibration_error,
    spiegelhalter_test,
    squared_ece,
    true_calibration_error,
)
from calib.metrics.chance import ECE_BY_CHANCE
from calib.metrics.cumulative import CUMULATIVE
from calib.metrics.debiased import DEBIASED
from calib.metrics.decomposition import chance_miscalibration, corp_decomposition, murphy_decomposition
from calib.metrics.intervals import interval_summary, mean_lower, mean_upper, mean_width
from calib.metrics.label_intervals import LABEL_LOWER, LABEL_UPPER
from calib.metrics.log_loss_base2 import LOG_LOSS_BASE2
from calib.metrics.observed_expected import LEVEL
from calib.metrics.scoring import accuracy, accuracy_gap, auc, brier_score, log_loss, log_loss_clipped, rmse
from calib.metrics.smooth_differences import SMOOTH_DIFFERENCES
from calib.metrics.smooth_error import SMOOTH_ERROR


def reliability(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Murphy's reliability over 100 equal-width bins, Σ n_k/n (p̄_k − f_k)², in [0, 1]; 0 is best.

    >>> reliability([1, 0], [0.75, 0.25])             # each bin off by ¼
    0.0625
    """
    return murphy_decomposition(y, p, sample_weight=sample_weight).reliability


def resolution(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Murphy's resolution over 100 equal-width bins, Σ n_k/n (f_k − f)², in [0, ¼]; large is good.

    >>> resolution([1, 0], [0.75, 0.25])              # frequencies 1 and 0, ½ overall
    0.25
    """
    return murphy_decomposition(y, p, sample_weight=sample_weight).resolution


def uncertainty(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """f(1 − f), f the frequency of class 1, in [0, ¼]: the Brier score of f itself.

    >>> uncertainty([1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5])
    0.1875
    """
    return murphy_decomposition(y, p, sample_weight=sample_weight).uncertainty


def within(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """The within-bin part of Murphy's decomposition over 100 bins: Brier − reliability + resolution − uncertainty.

    >>> round(within([1, 0], [0.504, 0.502]), 6)      # one bin, mean 0.503: 0.001² − 2 · 0.001 · ½
    -0.000999
    """
    return murphy_decomposition(y, p, sample_weight=sample_weight).within


def miscalibration(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """CORP miscalibration of the Brier score, in [0, 1]; 0 is best.

    >>> miscalibration([0, 1], [0.25, 0.75])          # recalibrated, 0 and 1 would cost nothing
    0.0625
    """
    return corp_decomposition(y, p, sample_weight=sample_weight).miscalibration


def discrimination(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """CORP discrimination of the Brier score, in [0, ¼]; large is good.

    >>> discrimination([0, 1], [0.25, 0.75])          # recalibrated, 0 against the ¼ of saying ½
    0.25
    """
    return corp_decomposition(y, p, sample_weight=sample_weight).discrimination


def slope(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Calibration slope, in [−∞, ∞]; 1 is best. NaN if no line exists (``calibration_line``).

    >>> slope([1, 1, 0, 0], [0.8, 0.8, 0.8, 0.2])     # a threshold separates: the steeper, the likelier
    inf
    """
    return calibration_line(y, p, sample_weight=sample_weight).slope


def intercept(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Calibration intercept, in log-odds; 0 is best. NaN if no line exists (``calibration_line``).

    >>> round(intercept([1, 1, 1, 0, 1, 0, 0, 0], [0.9] * 4 + [0.1] * 4), 6) + 0.0
    0.0
    """
    return calibration_line(y, p, sample_weight=sample_weight).intercept


def spiegelhalter_z(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Spiegelhalter's z, standard normal under perfect calibration (``spiegelhalter_test``).

    >>> round(spiegelhalter_z([1, 0], [0.8, 0.8]), 3)    # (0.2 · −0.6 + −0.8 · −0.6) / √(2 · 0.36 · 0.16)
    1.061
    """
    return spiegelhalter_test(y, p, sample_weight=sample_weight).statistic


def spiegelhalter_p(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """The p-value of Spiegelhalter's test, two-sided, in [0, 1].

    >>> round(spiegelhalter_p([1, 0], [0.8, 0.8]), 3)
    0.289
    """
    return spiegelhalter_test(y, p, sample_weight=sample_weight).pvalue


def entropy(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the group entropy in bits, in [0, log2 n]; labels have no effect.

    >>> entropy([0, 1, 1, 0], [0.25, 0.25, 0.5, 0.75])
    1.5
    """
    return group_entropy(p, sample_weight)


METRICS: Registry[Metric] = Registry(
    "calib.metrics",
    (
        Metric(
            "accuracy", "Accuracy", accuracy, True, "Share of rows with the right predicted label.", ".1%"
        ),
        Metric(
            "auc",
            "AUC",
            auc,
            True,
            "Probability that a random positive row gets a higher score than a random negative row; ties count half.",
        ),
        Metric(
            "brier",
            "Brier score",
            brier_score,
            False,
            "Mean squared difference between probability and label.",
        ),
        Metric("rmse", "RMSE", rmse, False, "Square root of the Brier score."),
        Metric(
            "log_loss",
            "Log loss",
            log_loss,
            False,
            "Mean −ln of the probability of the true label; ∞ if a prediction of 0 or 1 is wrong. If infinite, "
            "the value with probabilities kept 2.2e-16 away from 0 and 1 is shown as well.",
        ),
        Metric(
            "log_loss_clipped",
            "Log loss, clipped",
            log_loss_clipped,
            False,
            "Log loss with probabilities at least 2.2e-16 from 0 and 1, as in Shaker and Hüllermeier (2025).",
            everyday=False,
        ),
        Metric(
            "ece",
            "ECE",
            expected_calibration_error,
            False,
            "Expected calibration error: mean absolute difference between mean prediction and observed "
            "frequency, over bins.",
            binned=True,
        ),
        ECE_BY_CHANCE,
        Metric(
            "mce",
            "MCE",
            maximum_calibration_error,
            False,
            "Maximum calibration error: the difference in the worst bin, even if this bin has few rows.",
            binned=True,
        ),
        Metric(
            "squared_ece",
            "Squared ECE, unweighted",
            squared_ece,
            False,
            "Mean squared difference between mean prediction and observed frequency, over non-empty bins of "
            "equal weight. The ECE tables of Shaker and Hüllermeier (2025) show this number.",
            binned=True,
            everyday=False,
        ),
        Metric(
            "reliability",
            "Reliability (100 bins)",
            reliability,
            False,
            "Murphy's decomposition over 100 bins: mean squared difference between predictions and frequencies. "
            "Mostly noise if there are few rows.",
            everyday=False,
            of=murphy_decomposition,
            read=attrgetter("reliability"),
        ),
        Metric(
            "resolution",
            "Resolution",
            resolution,
            True,
            "Murphy's decomposition over 100 bins: variance of the bins' frequencies. Mostly noise if there "
            "are few rows.",
            everyday=False,
            of=murphy_decomposition,
            read=attrgetter("resolution"),
        ),
        Metric(
            "uncertainty",
            "Uncertainty",
            uncertainty,
            None,
            "Brier score of always predicting the overall frequency.",
            of=murphy_decomposition,
            read=attrgetter("uncertainty"),
        ),
        Metric(
            "within",
            "Within-bin variance",
            within,
            None,
            "Murphy's decomposition: contribution of the spread inside the 100 bins to the Brier score.",
            everyday=False,
            of=murphy_decomposition,
            read=attrgetter("within"),
        ),
        Metric(
            "miscalibration",
            "Miscalibration (CORP)",
            miscalibration,
            False,
            "Reduction of the Brier score by isotonic recalibration on the same rows. Part of it is due to "
            "chance, even for a perfect model.",
            of=corp_decomposition,
            read=attrgetter("miscalibration"),
        ),
        Metric(
            "miscalibration_chance",
            "Miscalibration by chance",
            chance_miscalibration,
            None,
            "Mean miscalibration of a perfect model with as many rows: labels are drawn from these predictions.",
            counted=True,
        ),
        Metric(
            "discrimination",
            "Discrimination (CORP)",
            discrimination,
            True,
            "Brier score of always predicting the overall frequency, minus the Brier score of the recalibrated "
            "predictions.",
            of=corp_decomposition,
            read=attrgetter("discrimination"),
        ),
        Metric(
            "slope",
            "Calibration slope",
            slope,
            None,
            "Slope of a logistic recalibration in log-odds. A value below 1 means that the model is overconfident, "
            "above 1 underconfident.",
            ".3f",
            target=1.0,
            of=calibration_line,
            read=attrgetter("slope"),
        ),
        Metric(
            "intercept",
            "Calibration intercept",
            intercept,
            None,
            "Intercept of a logistic recalibration with a free slope. Calibration-in-the-large fixes the "
            "slope at 1. A value above 0 means that the model underestimates near one half.",
            ".3f",
            target=0.0,
            of=calibration_line,
            read=attrgetter("intercept"),
        ),
        Metric(
            "spiegelhalter_z",
            "Spiegelhalter's z",
            spiegelhalter_z,
            None,
            "A value below −1.96 or above 1.96 means that the test rejects calibration at the 5 % level.",
            ".2f",
            target=0.0,
            of=spiegelhalter_test,
            clustered=True,
            read=attrgetter("statistic"),
        ),
        Metric(
            "spiegelhalter_p",
            "Spiegelhalter's p-value",
            spiegelhalter_p,
            None,
            "Probability of a |z| at least this large if the model is calibrated.",
            ".3f",
            of=spiegelhalter_test,
            clustered=True,
            read=attrgetter("pvalue"),
        ),
        Metric(
            "accuracy_gap",
            "Estimated − observed accuracy",
            accuracy_gap,
            None,
            "Mean confidence minus accuracy. A positive value means that the model is overconfident, a negative "
            "value underconfident.",
            "+.4f",
            target=0.0,
        ),
        Metric(
            "group_entropy",
            "Group entropy",
            entropy,
            None,
            "How finely the predictions divide the rows, in bits; 0 if all predictions are equal.",
            ".2f",
        ),
        Metric(
            "lower",
            "Mean lower end",
            mean_lower,
            None,
            "Mean lower end of the intervals.",
            needs="intervals",
            of=interval_summary,
            read=attrgetter("lower"),
        ),
        Metric(
            "upper",
            "Mean upper end",
            mean_upper,
            None,
            "Mean upper end of the intervals.",
            needs="intervals",
            of=interval_summary,
            read=attrgetter("upper"),
        ),
        Metric(
            "width",
            "Mean width",
            mean_width,
            False,
            "Mean width of the intervals.",
            needs="intervals",
            of=interval_summary,
            read=attrgetter("width"),
        ),
        LABEL_LOWER,
        LABEL_UPPER,
        LOG_LOSS_BASE2,
        Metric(
            "tce",
            "TCE",
            true_calibration_error,
            False,
            "True calibration error: mean squared difference from the known true probability.",
            needs="posterior",
        ),
        AVERAGE_PRECISION,
        BRIER_SKILL,
        *LEVEL,
        DEBIASED,
        SMOOTH_ERROR,
        *SMOOTH_DIFFERENCES,
        *CUMULATIVE,
    ),
    check=check_metric,
    origin=lambda metric: metric.function,
)


def register(metric: Metric) -> Metric:
    """Register a metric from outside under its key, and return it.

    Parameters
    ----------
    metric
        Its function takes y (n,) and p (n,), or what its ``needs`` says, and returns a number.

    Raises
    ------
    InputError
        For one that describes itself wrongly or gives no number on a small example, or takes a key.

    Notes
    -----
    An installed package does the same by an entry point in the group ``calib.metrics``, in its
    pyproject.toml::

        [project.entry-points."calib.metrics"]
        mine = "its_package:MINE"

    Examples
    --------
    >>> register(Metric("brier", "My score", brier_score, False, "Mean squared distance."))
    Traceback (most recent call last):
    ...
    calib.kernel.checks.InputError: key: 'brier' is taken in calib.metrics. Choose another.
    """
    return METRICS.register(metric)

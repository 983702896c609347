"""Number of rows that a validation needs, and the precision that the available rows give.

Riley et al. 2021, "Minimum sample size for external validation of a clinical prediction model with a binary
outcome" (Statistics in Medicine 40), after Archer et al. 2021 for continuous outcomes: the number of rows that
narrows the 95 % interval of a measure to a required width. With φ the share of class 1, ℓ the log-odds
of the predictions:

- observed over expected: SE(ln O/E) = √((1 − φ)/(n φ)); the interval is exp(ln O/E ± 1.96 SE);
- calibration slope: SE² = I₀₀ / (n (I₀₀ I₁₁ − I₀₁²)), I_jk the mean of ℓ^(j+k) p(1 − p): Fisher's
  information;
- C statistic (AUC): SE² by Newcombe (2006), method 4, which needs only C, φ and n;
- net benefit over φ at a threshold t: SE² = (s(1 − s)/φ + w² r(1 − r)/(1 − φ) + w² (1 − r)²/(φ(1 − φ)))/n, s
  and r the sensitivity and specificity there, w = (1 − φ)/φ · t/(1 − t).

Warnings follow if there are too few rows to fit calibrators or to compare them. A calibrator learns from its minority
class. With k such rows even their overall share is known only to a relative ±2/√k, 45 % for k = 20, and the usual rule
requires ten rows per fitted number; Platt scaling has two. A mean over test rows, too, depends on those of the minority
class.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import logit

from calib.analysis.clusters import CLUSTERED
from calib.evaluate import Evaluation
from calib.kernel import checks
from calib.kernel.binomial import binomial_interval
from calib.kernel.checks import Array, InputError
from calib.kernel.records import Problem
from calib.kernel.rows import ONE_CLUSTER
from calib.kernel.weights import are_whole, or_ones
from calib.kernel.wording import (
    brief_percent,
    class_named,
    counted,
    describe_rows,
    number,
    percent,
    within_a_sentence,
)
from calib.metrics import auc
from calib.metrics.confidence_intervals import FEWEST_PER_CLASS, about_ratio

NORMAL = 1.96  # as in the paper, to two decimals
MOST_PLANNED_ROWS = 10**12
TARGET_WIDTHS = {"observed_expected": 0.2, "slope": 0.2, "auc": 0.1, "net_benefit": 0.2}
QUANTITIES = {
    "observed_expected": "Observed/expected ratio (O/E)",
    "slope": "Calibration slope",
    "auc": "AUC",
    "net_benefit": "Net benefit divided by the share of class 1",
}


def observed_expected_width(n: float, share: float) -> float:
    """Return the width of the interval of O/E about 1, for n rows with this share of class 1.

    >>> round(observed_expected_width(906, 0.018), 2)            # SE = asinh(1/2) / 1.96
    1.0
    """
    low, high = about_ratio(1.0, NORMAL * math.sqrt((1 - share) / (n * share)))
    return high - low


def slope_width(n: float, p: Array, weights: Array | None = None) -> float:
    """Return the width of the interval of the slope about 1; infinite if all predictions are equal.

    Parameters
    ----------
    n
        Number of rows.
    p : (m,) in (0, 1)
        Predictions with the same distribution as those of the rows.
    weights : (m,)
        Number of rows that each prediction represents.

    Examples
    --------
    >>> round(slope_width(1000, np.array([0.2, 0.8])), 4)        # ℓ = ± ln 4, p(1 − p) = 0.16: 3.92 / √(160 ln² 4)
    0.2235
    """
    x, information = logit(p), p * (1 - p)
    each = or_ones(weights, len(p))
    centre = np.average(x, weights=information * each)
    spread = float(np.average(information * (x - centre) ** 2, weights=each))
    return 2 * NORMAL / math.sqrt(n * spread) if spread > 1e-300 else math.inf


def auc_width(n: float, share: float, area: float) -> float:
    """Return the width of the interval of an AUC of size ``area``.

    >>> auc_width(4252, 0.018, 0.8) <= 0.1 < auc_width(4251, 0.018, 0.8)
    True
    """
    half = n / 2 - 1
    terms = 1 + half * (1 - area) / (2 - area) + half * area / (1 + area)
    return 2 * NORMAL * math.sqrt(area * (1 - area) * terms / (n * n * share * (1 - share)))


def net_benefit_width(
    n: float, share: float, sensitivity: float, specificity: float, threshold: float
) -> float:
    """Return the width of the interval of net benefit over the share of class 1, at a threshold in (0, 1).

    >>> round(net_benefit_width(1000, 0.5, 0.9, 0.9, 0.5), 4)    # 3.92 · √((0.18 + 0.18 + 0.04) / 1000)
    0.0784
    """
    odds = (1 - share) / share * threshold / (1 - threshold)
    variance = (
        sensitivity * (1 - sensitivity) / share
        + odds**2 * specificity * (1 - specificity) / (1 - share)
        + odds**2 * (1 - specificity) ** 2 / (share * (1 - share))
    )
    return 2 * NORMAL * math.sqrt(variance / n)


@dataclass(frozen=True)
class Needed:
    """Number of rows that one measure needs.

    Attributes
    ----------
    measure
        A key of WIDTHS.
    asked
        Required width of the 95 % interval.
    rows
        Smallest number of rows with this width.
    here
        Width with the available rows.
    """

    measure: str
    asked: float
    rows: float
    here: float


@dataclass(frozen=True, eq=False)
class SampleSize:
    """Number of rows that each measure needs.

    Attributes
    ----------
    rows, share
        Number of available rows, and the share of class 1 among them.
    threshold
        Threshold of the net benefit.
    design_effect
        Number of rows that are worth one independent row.
    """

    needed: tuple[Needed, ...]
    rows: int
    share: float
    threshold: float
    design_effect: float = 1.0

    @property
    def most(self) -> float:
        """Return the number of rows that meets all widths."""
        return max(one.rows for one in self.needed)

    @property
    def finding(self) -> str:
        """The result in one sentence."""
        short = [one for one in self.needed if one.rows > self.rows]
        if not short:
            return (
                f"{counted(self.rows, 'test row')} {'is' if self.rows == 1 else 'are'} enough to estimate each of "
                "these measures as precisely as is usually required"
            )
        worst = max(short, key=lambda one: one.rows)
        label = within_a_sentence(QUANTITIES[worst.measure])
        if math.isinf(worst.rows):
            return f"For these predictions, no number of rows is enough to estimate the {label} precisely"
        needed = f"{worst.rows:,} rows are needed to estimate the {label} as precisely as is usually required"
        return f"{needed}; the test set has {self.rows:,}"

    def basis(self, label: str, positive: str) -> str:
        """State the assumptions, given a method's label and the name of class 1."""
        return (
            "The required widths refer to 95 % intervals (Riley et al., 2021). The numbers assume that "
            f"{percent(self.share)} of rows are in {class_named(positive)} and that predictions vary as "
            f"much as the predictions of {label} on these rows. "
            f"{self._benefit}" + (CLUSTERED if self.design_effect > 1 else "")
        )

    @property
    def _benefit(self) -> str:
        at = f"the threshold {number(self.threshold)}, which follows from the costs of the two mistakes"
        if any(one.measure == "net_benefit" for one in self.needed):
            return f"Net benefit is computed at {at}."
        return f"No prediction lies above {at}, so the net benefit is 0 for any number of rows."

    def to_frame(self) -> pd.DataFrame:
        """Return one row per measure."""
        return pd.DataFrame([vars(one) for one in self.needed])


def sample_size(
    y: Array,
    p: Array,
    threshold: float = 0.5,
    widths: dict[str, float] | None = None,
    sample_weight: Array | None = None,
    design_effect: float = 1.0,
    counts: Array | None = None,
) -> SampleSize:
    """Compute how many rows a validation of a model with such predictions needs, and the precision of these rows.

    Parameters
    ----------
    y, p : (n,)
        Labels, and predictions as expected in the validation: they give the share of class 1, the spread of the
        log-odds, the AUC, and sensitivity and specificity at the threshold.
    threshold
        Threshold of the net benefit, strictly between 0 and 1.
    widths
        Required widths of the 95 % intervals by measure; the others as in WIDTHS.
    sample_weight : (n,)
        Counts of rows, or other weights on any scale.
    design_effect
        Number of rows that are worth one, if rows of a cluster resemble each other: so many times as many are needed.
    counts : (n,)
        Number of rows that each row represents, if the weights are more than counts, as at a deployment base rate.

    Raises
    ------
    InputError
        For one class, and for widths that are not positive.

    Examples
    --------
    >>> found = sample_size(np.array([0, 0, 1, 1] * 50), np.array([0.2, 0.4, 0.6, 0.8] * 50))
    >>> [one.measure for one in found.needed if one.rows > found.rows]
    ['observed_expected', 'slope']
    """
    weights, y, p = checks.counted_rows(sample_weight, *checks.labelled_probabilities(y, p), counts)
    each = or_ones(weights, len(y))
    checks.both_classes(y, "A sample size")
    checks.in_range(threshold, "threshold", 0, 1, open_ends=True)
    goals = _checked(TARGET_WIDTHS | (widths or {}))
    n, share, area = float(each.sum()), float(np.average(y, weights=each)), auc(y, p, each)
    uncertain = (p > 0) & (p < 1)
    if not uncertain.any():
        raise InputError(
            "The sample size cannot be estimated, because all probabilities are exactly 0 or 1. Choose a calibrator."
        )
    telling = float(each[uncertain].sum()) / n  # certain predictions have no log-odds
    act = p > threshold
    sensitivity, specificity = (_agreement(act, y, each, label) for label in (1, 0))
    width_of = {
        "observed_expected": lambda rows: observed_expected_width(rows, share),
        "slope": lambda rows: slope_width(rows * telling, p[uncertain], each[uncertain]),
        "auc": lambda rows: auc_width(rows, share, area),
        "net_benefit": lambda rows: net_benefit_width(rows, share, sensitivity, specificity, threshold),
    }
    if not act.any():  # the net benefit is 0, whatever the rows
        del width_of["net_benefit"]
    needed = tuple(
        Needed(name, goals[name], fewest_rows(width, goals[name], design_effect), width(n / design_effect))
        for name, width in width_of.items()
    )
    return SampleSize(needed, round(n), share, threshold, design_effect)


def _agreement(act: Array, y: Array, weights: Array, label: int) -> float:
    """Return the share of the rows of one label on which the action is right."""
    return float(np.average(act[y == label] == label, weights=weights[y == label]))


def _checked(widths: dict[str, float]) -> dict[str, float]:
    for name, width in widths.items():
        checks.one_of(name, TARGET_WIDTHS, "widths")
        checks.in_range(width, f"widths: {name}", 0, open_ends=True)
    return widths


def fewest_rows(width: Callable[[float], float], asked: float, design_effect: float = 1.0) -> float:
    """Return the smallest number of rows with at most the required width, which falls with n; ∞ if there is none.

    >>> fewest_rows(lambda n: 10 / n, 3), fewest_rows(lambda n: 10 / n, 3, design_effect=2)
    (4, 7)
    """
    if not width(MOST_PLANNED_ROWS / design_effect) <= asked:
        return math.inf
    low, high = 0, MOST_PLANNED_ROWS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if width(middle / design_effect) <= asked else (middle, high)
    return high


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

"""Comparison of predictions with true probabilities: total error, bias and scatter.

True calibration error: Shaker and Hüllermeier (2025), eq. 4. In bins of the true probability, the mean of p −
π is the bias there and its variance the scatter, so that TCE = bias² + scatter exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calib.experiments.shared.gaussian_plane import groups_for
from calib.kernel.binning import bin_index, group_sums
from calib.kernel.checks import Array
from calib.metrics import loss_decomposition, true_calibration_error
from calib.metrics.decomposition import LossDecomposition

TRUTH_BINS = 20  # equal-width bins of the true probability


@dataclass(frozen=True, eq=False)
class Levels:
    """Means by bin of the true probability, without empty bins. Arrays (k,).

    Attributes
    ----------
    share
        Share of the rows.
    posterior, p
        Mean true and predicted probability.
    spread
        Variance of p − π.
    """

    share: Array
    posterior: Array
    p: Array
    spread: Array


@dataclass(frozen=True, eq=False)
class PredictionErrors:
    """Predictions p (m,) of a model for rows with true probabilities ``posterior`` (m,).

    >>> errors = PredictionErrors("constant", np.array([0.01, 0.01, 0.99, 0.99]), np.array([0.5, 0.51, 0.5, 0.49]))
    >>> errors.tce, errors.bias, errors.scatter               # p − π: .49, .50, −.49, −.50; mean ±.495
    (0.24505..., 0.24502..., 2.5...e-05)
    """

    name: str
    posterior: Array
    p: Array

    @cached_property
    def tce(self) -> float:
        """True calibration error, the mean of (p − π)²."""
        return true_calibration_error(self.posterior, self.p)

    @cached_property
    def levels(self) -> Levels:
        index = np.unique(bin_index(self.posterior, TRUTH_BINS), return_inverse=True)[1]
        k = int(index.max()) + 1
        count, off = group_sums(index, k), self.p - self.posterior
        truth, predicted, mean = (
            group_sums(index, k, values) / count for values in (self.posterior, self.p, off)
        )
        spread = group_sums(index, k, (off - mean[index]) ** 2) / count
        return Levels(count / len(self.p), truth, predicted, spread)

    @property
    def bias(self) -> float:
        """Mean over rows of (mean p − mean π)² in their bin of π, the error that these rows have in common."""
        return float((self.levels.share * (self.levels.p - self.levels.posterior) ** 2).sum())

    @property
    def scatter(self) -> float:
        """Mean variance of p − π in the bins, the error that differs between rows with similar π."""
        return float((self.levels.share * self.levels.spread).sum())

    @cached_property
    def losses(self) -> LossDecomposition:
        """CL, GL and IL of the Brier score; groups are equal predictions, or bins if most predictions differ."""
        return loss_decomposition(self.posterior, self.p, groups=groups_for(self.p), corrected=False)

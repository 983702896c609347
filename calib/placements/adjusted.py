"""Adjust a fitted calibrator to another base rate: predictions, steps and formulas by the odds ratio.

The pair is merged first and adjusted afterwards. If p is calibrated, the adjusted p is calibrated too: by Bayes' rule,
the odds of class 1 given any function of a row are multiplied by the ratio. This does not hold for pairs that are
adjusted before they are merged, and even the order of rows would then depend on the stated rate.

With K classes, the odds of a class against the rest, and its interval, are multiplied by a ratio of the row's own
(``BaseRates``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from calib.kernel.base_rate import BaseRate, BaseRates, multiply_odds
from calib.kernel.checks import Array
from calib.kernel.formula import Expression


@dataclass(frozen=True, eq=False)
class Adjusted:
    """Fitted calibrator, or one per fold, with adjusted predictions; all other attributes are the calibrator's.

    Examples
    --------
    >>> from calib.calibrators import Uncalibrated
    >>> adjusted = Adjusted(Uncalibrated().fit([0.5], [0]), BaseRate(fitted=0.5, stated=0.2))
    >>> adjusted.key, adjusted.predict([0.5])
    ('none', array([0.2]))
    """

    calibrator: Any
    rate: BaseRate | BaseRates

    def __getattr__(self, name: str) -> Any:
        # requested while the object is being copied
        if name.startswith("__") or name in ("calibrator", "rate"):
            raise AttributeError(name)
        return getattr(self.calibrator, name)

    @property
    def folds(self) -> tuple[Adjusted, ...]:
        """Fitted calibrators of the folds, each adjusted to the base rate."""
        return tuple(Adjusted(fold, self.rate) for fold in self.calibrator.folds)

    def predict(self, scores: Any) -> Array:
        return self.rate.adjust(self.calibrator.predict(scores))

    def predict_interval(self, scores: Any) -> Array:
        pairs = self.calibrator.predict_interval(scores)
        if isinstance(self.rate, BaseRate):
            return self.rate.adjust(pairs)
        return multiply_odds(pairs, self.rate.odds_ratio(self.calibrator.predict(scores))[..., None])

    def step_curves(self) -> Any:
        curves = self.calibrator.step_curves()
        return replace(curves, p0=self.rate.adjust(curves.p0), p1=self.rate.adjust(curves.p1))

    def formula(self, *scores: Expression) -> Mapping[str, Expression]:
        return self.rate.adjust_terms(self.calibrator.formula(*scores))


def unadjusted(calibrator: Any) -> Any:
    """Return the calibrator at the base rate of the rows on which it was fitted."""
    return calibrator.calibrator if isinstance(calibrator, Adjusted) else calibrator

"""A fitted calibrator at another base rate: answers, steps and formula are adjusted by the odds ratio.

The pair is merged first and adjusted after. Where p is right, p adjusted is right as well, whatever it was made of:
by Bayes' rule the odds of class 1 given any function of a row move by the ratio. Of pairs that were adjusted
before they are merged this does not hold, and even the order of the rows would depend on the stated rate.

Of K classes the odds of a class against the rest, and its interval, move by a ratio of the row's own (``BaseRates``).
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
    """Any fitted calibrator, or one per fold, with adjusted answers; everything else is that calibrator's.

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
        if name.startswith("__") or name in ("calibrator", "rate"):  # asked for while a copy is being made
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
    """The calibrator at the base rate of the rows that it was fitted on."""
    return calibrator.calibrator if isinstance(calibrator, Adjusted) else calibrator

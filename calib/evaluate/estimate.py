"""One number of an evaluation, with all that tells which number it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from calib.kernel.wording import change, change_or_clipped, with_clear_interval, with_clipped, with_interval

PER_NAT = {"log_loss": 1.0, "log_loss_base2": 1 / math.log(2)}
"""Log loss metric → the factor that converts the clipped log loss from nats to its unit."""


@dataclass(frozen=True)
class Estimate:
    """A metric or a cost of some predictions, which titles, tiles, tables, captions and reports print from here.

    Attributes
    ----------
    metric, calibrator
        Keys of the metric and of the predictions.
    rows
        The rows in words, as ``Evaluation.size_text``.
    base_rate
        Deployment base rate to which it is adjusted; None at that of the rows.
    value
        The estimate; NaN if unknown.
    low, high
        Ends of its 95 % interval; NaN if it has none.
    clipped
        Finite value to show beside an infinite log loss (``calib.analysis.differences``); NaN if the value is finite.

    Examples
    --------
    >>> from calib import check
    >>> found = check([0, 1] * 25, [0.0, 1.0] * 25).estimate("accuracy", "none")
    >>> found.text(), found.rows, found.excludes(0.5)
    ('1.00 [0.93, 1.00]', '50 rows', True)
    """

    metric: str
    calibrator: str
    rows: str
    base_rate: float | None
    value: float
    low: float = math.nan
    high: float = math.nan
    clipped: float = math.nan

    def text(self, digits: int = 3, mark: str = "") -> str:
        """Format the value, a mark after it, and its interval if that is known."""
        return self.beside(with_interval(self.value, self.low, self.high, mark, digits))

    def text_apart(self, excluded: float) -> str:
        """Format the value and its interval so that no end reads like a number that the interval excludes."""
        return with_clear_interval(self.value, self.low, self.high, excluded)

    def beside(self, text: str) -> str:
        """Return the text of the value, with the clipped value beside it if the value is infinite."""
        return with_clipped(text, self.clipped)

    def is_of(self, metric: str, calibrator: str) -> bool:
        """Tell whether it is this metric of this calibrator."""
        return (self.metric, self.calibrator) == (metric, calibrator)

    def excludes(self, value: float) -> bool:
        """Tell whether the interval excludes a value."""
        return self.low > value or self.high < value


@dataclass(frozen=True)
class Difference(Estimate):
    """A metric, or a cost, of some predictions minus that of others: on the same rows, or the mean over splits.

    Attributes
    ----------
    against
        Key of the predictions whose value is subtracted.
    unknown
        Number of rows or splits whose difference is infinite or undefined.

    Examples
    --------
    >>> found = Difference("brier", "platt", "540 rows", None, -0.0814, -0.1047, -0.0581, against="none")
    >>> found.text(), found.clear
    ('−0.0814 [−0.1047, −0.0581]', True)
    """

    against: str = "none"
    unknown: int = 0

    def text(self, digits: int = 3, mark: str = "") -> str:
        """Format the difference with its sign; the clipped difference or a dash if it is infinite or undefined."""
        told = change_or_clipped(change(self.value, self.low, self.high, digits), self.value, self.clipped)
        return told + mark

    @property
    def clear(self) -> bool:
        """Whether its interval excludes 0."""
        return self.excludes(0.0)

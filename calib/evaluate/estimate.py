"""One number of an evaluation, with all that tells which number it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from calib.kernel.wording import with_clear_interval, with_interval


@dataclass(frozen=True)
class Estimate:
    """A metric of some predictions. Titles, tiles, tables, corners, captions and reports print it from here.

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

    def text(self, digits: int = 3) -> str:
        """Format the value, with its interval if that is known."""
        return with_interval(self.value, self.low, self.high, digits=digits)

    def text_apart(self, excluded: float) -> str:
        """Format the value and its interval so that no end reads like a number that the interval excludes."""
        return with_clear_interval(self.value, self.low, self.high, excluded)

    def excludes(self, value: float) -> bool:
        """Tell whether the interval excludes a value."""
        return self.low > value or self.high < value

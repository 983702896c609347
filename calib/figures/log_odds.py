"""The calibration plot of a report in log-odds, which separates 0.1 % from 3 %.

The reliability diagram in bins of equal count, with the band of their 95 % intervals, both axes on
logit p (Cox 1958): a line parallel to the diagonal is off by a constant factor of the odds, and its steepness is the
calibration slope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.figures import reliability
from calib.figures.base import FigureEntry, itself, predictions_to_draw
from calib.kernel.wording import brief

LOG_ODDS_BINS = 10


def prepare(evaluation: Evaluation, calibrators: Sequence[str] | None = None) -> reliability.Reliability:
    """Prepare the curves of these calibrators (all by default) on log-odds axes.

    Raises
    ------
    InputError
        If there is none.
    """
    shown = list(predictions_to_draw(evaluation, calibrators))
    record = reliability.prepare(
        evaluation,
        shown,
        axes="log_odds",
        bins=LOG_ODDS_BINS,
        binning="quantile",
        curve="binned",
        band="confidence",
    )
    slope = evaluation.measured(["slope"])["slope"]
    listed = "; ".join(f"{label_of(key)} {brief(float(slope[key]))}" for key in shown)
    return replace(record, title=f"The calibration slopes on the log-odds scale are {listed}")


LOG_ODDS = FigureEntry(
    "reliability_log_odds",
    "Calibration plot on the log-odds scale",
    prepare,
    reliability.draw,
    reported=itself,
    overlaid=True,
)

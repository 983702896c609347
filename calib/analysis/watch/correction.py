"""Correction to apply after an alarm: the recalibration that the advice names, fitted to the rows since the change.

An alarm selects a moment at which the rows look worst, so that an ordinary 95 % interval of the rows since the
likeliest beginning covers the new offset too seldom. The interval is therefore an ordinary one at 99.9 %: by
simulation it then covers in at least 95 % of runs, at the alarm and later (``scripts/watch_intervals.py``).

Cox 1958 for the line logit π = a + b logit p. An offset has the interval of its likelihood ratio, which allows for few
events; a line has Wald's, with the information matrix Xᵀ diag(π (1 − π)) X.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import norm

from calib.analysis.watch.watcher import WithEnds
from calib.calibrators import CALIBRATORS, ScoreCalibrator
from calib.kernel import checks
from calib.kernel.checks import Array, InputError

FITS = {"offset": "offset", "recalibration": "logistic", "refit": "logistic"}
WIDTH = float(norm.ppf(0.9995))  # half of the interval, in standard errors
FAR = 40.0  # log-odds beyond every end of an interval


@dataclass(frozen=True, eq=False)
class FittedCorrection:
    """Recalibration fitted to the rows since a change.

    Attributes
    ----------
    calibrator
        Fitted: "offset" (intercept only) or "logistic".
    rows
        Rows since the change.
    observed, predicted
        Frequency of events and mean prediction in these rows.
    gap
        (low, observed − predicted, high).
    intercept, slope
        (low, estimate, high) of a and b in logit π = a + b logit p; the slope of an offset is exactly 1.
    """

    calibrator: ScoreCalibrator
    rows: int
    observed: float
    predicted: float
    gap: WithEnds
    intercept: WithEnds
    slope: WithEnds


def correct(y: Array, p: Array, advice: str) -> FittedCorrection:
    """Fit the recalibration that the advice of an alarm names.

    Parameters
    ----------
    y, p : (n,)
        Labels and predictions since the change. Predictions of exactly 0 or 1 count in the gap only, because no
        recalibration changes them.
    advice
        "offset", "recalibration" or "refit"; for a refit it helps until the model is refitted.

    Raises
    ------
    InputError
        If the rows since the change are of one class, or a line separates the classes.

    Examples
    --------
    >>> found = correct(np.repeat([1.0, 0.0], [300, 100]), np.full(400, 0.5), "offset")    # odds 1 become odds 3
    >>> [round(end, 3) for end in found.intercept], [round(end, 3) for end in found.gap]
    ([0.729, 1.099, 1.492], [0.179, 0.25, 0.321])
    """
    y, p = checks.labelled_probabilities(y, p)
    inside = (p > 0) & (p < 1)
    made = CALIBRATORS[FITS[checks.one_of(advice, FITS, "advice")]]()
    if not 0 < y[inside].sum() < inside.sum():
        raise InputError(
            "The rows since the change are of one class, so no correction can be fitted. Wait for more rows."
        )
    fitted = made.fit(p[inside], y[inside])
    if getattr(fitted, "bounded_", False):
        raise InputError(
            "The rows since the change separate the classes, so no line fits them. Wait for more rows."
        )
    x = logit(p[inside])
    a, b = (float(each) for each in fitted.coefficients_)
    pi = expit(a + b * x)
    corrected = p.copy()
    corrected[inside] = pi
    gap = float(np.mean(y - p))
    spread = float(np.sqrt(np.sum(corrected * (1 - corrected)))) / len(p)
    return FittedCorrection(
        fitted,
        len(p),
        float(np.mean(y)),
        float(np.mean(p)),
        _around(gap, spread),
        *(
            _line_intervals(x, pi, a, b)
            if fitted.key == "logistic"
            else (_likelier(x, y[inside], a), (1.0, 1.0, 1.0))
        ),
    )


def _likelier(x: Array, y: Array, a: float) -> WithEnds:
    """Return the offset a, and the offsets whose likelihood ratio to it is as large as the interval allows."""

    def log_likelihood(c: float) -> float:
        return c * float(y.sum()) - float(np.logaddexp(0, x + c).sum())

    least = log_likelihood(a) - WIDTH**2 / 2
    low, high = (float(brentq(lambda c: log_likelihood(c) - least, a, a + far)) for far in (-FAR, FAR))
    return low, a, high


def _line_intervals(x: Array, pi: Array, a: float, b: float) -> tuple[WithEnds, WithEnds]:
    v = pi * (1 - pi)
    mixed = float(v @ x)
    errors = np.sqrt(np.diag(np.linalg.inv([[v.sum(), mixed], [mixed, v @ (x * x)]])))
    return _around(a, float(errors[0])), _around(b, float(errors[1]))


def _around(estimate: float, error: float) -> WithEnds:
    return estimate - WIDTH * error, estimate, estimate + WIDTH * error

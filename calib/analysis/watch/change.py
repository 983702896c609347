"""After an alarm: the beginning of the change, and the correction to apply, fitted to the rows since then.

The beginning is estimated from sums at a few hundred earlier rows: many near the end, few far back. For the rows since
each candidate, the log-likelihood of a new level, slope and bend is nearly quadratic at the old predictions; with
normal priors its integral has a closed form. All candidates are equally likely a priori.

The correction is the recalibration that the advice names. Cox 1958 for the line logit π = a + b logit p. An offset has
the interval of its likelihood ratio, which allows for few events; a line has Wald's, with the information matrix
Xᵀ diag(π (1 − π)) X.

An alarm selects a moment at which the rows look worst, so that ordinary 95 % intervals cover too seldom. Both
intervals are therefore ordinary ones at 99.9 %: by simulation they contain the beginning of a sudden change, and the
new offset at the alarm and later, in at least 95 % of runs (``scripts/watch_intervals.py``). A slow change has no such
row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import norm

from calib.analysis.watch.evidence import Block
from calib.calibrators import CALIBRATORS, ScoreCalibrator
from calib.kernel import checks
from calib.kernel.checks import Array, InputError

CANDIDATES_PER_SCALE = 64  # candidates on each scale; the scales are 1, 2, 4 … batches
CANDIDATE_SCALES = 40
SUMS = 8
SHARE = 0.999  # posterior probability of the interval
PRIOR_SD = np.array([0.7, 0.6, 0.3])


@dataclass(eq=False)
class Candidates:
    """Batches at which a change may have begun, with the sums before them.

    Attributes
    ----------
    batch, row, moment
        Number, first row and time of each candidate.
    sums
        Shape (8, candidates): of (y − p) z^k for k < 3 and p (1 − p) z^k for k < 5, over all earlier rows.
    now
        The sums over all rows.
    """

    batch: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    row: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    moment: Array = field(default_factory=lambda: np.zeros(0))
    sums: Array = field(default_factory=lambda: np.zeros((SUMS, 0)))
    now: Array = field(default_factory=lambda: np.zeros(SUMS))
    batches: int = 0
    rows: int = 0

    def add(self, block: Block, moments: Array) -> Candidates:
        """Return the candidates after these batches, not yet thinned; ``self`` is unchanged."""
        z = np.clip(block.x, -5, 5) / 2
        v = block.p * (1 - block.p)
        gap = block.y - block.p
        powers = [np.ones_like(z), z, z * z]
        each = [*(gap * power for power in powers), *(v * power for power in powers), v * z**3, v * z**4]
        sums = np.empty((SUMS, len(block.starts) + 1))
        for i, values in enumerate(each):
            sums[i] = np.add.accumulate(np.append(self.now[i], block.sums(values)))
        batch = self.batches + np.arange(len(block.starts), dtype=np.int64)
        return Candidates(
            np.concatenate([self.batch, batch]),
            np.concatenate([self.row, self.rows + block.starts]),
            np.concatenate([self.moment, moments]) if len(self.moment) else moments.copy(),
            np.concatenate([self.sums, sums[:, :-1]], axis=1),
            sums[:, -1].copy(),
            self.batches + len(batch),
            self.rows + len(block.x),
        )

    def at(self, batches: int, rows: int, now: Array | None = None) -> Candidates:
        """Return the candidates after so many batches, thinned."""
        if now is None:
            inside = np.flatnonzero(self.batch == batches)
            now = self.sums[:, inside[0]].copy() if len(inside) else self.now
        keep = np.zeros(len(self.batch), dtype=bool)
        for scale in range(CANDIDATE_SCALES):
            step = 1 << scale
            keep |= (self.batch % step == 0) & (self.batch > batches - CANDIDATES_PER_SCALE * step)
        keep &= self.batch < batches
        return Candidates(
            self.batch[keep], self.row[keep], self.moment[keep], self.sums[:, keep], now, batches, rows
        )

    def posterior(self) -> tuple[Array, Array]:
        """Return (probability that the change began at each candidate or before the next, (level, slope) change if
        so).
        """
        since = self.now[:, None] - self.sums
        score = since[:3].T
        v = since[3:]
        gram = np.stack([np.stack([v[i + j] for j in range(3)], -1) for i in range(3)], -2)
        prior = np.diag(PRIOR_SD**-2)
        held = gram + prior
        estimate = np.linalg.solve(held, score[:, :, None])[:, :, 0]
        log = 0.5 * (score * estimate).sum(axis=1) - 0.5 * np.linalg.slogdet(held)[1]
        gaps = np.diff(np.append(self.row, self.rows)).astype(float)
        log += np.log(gaps)
        share = np.exp(log - log.max())
        return share / share.sum(), estimate

    def began(self) -> dict[str, Any]:
        """Return row and moment of the likeliest beginning, and of the ends of its interval."""
        share, estimate = self.posterior()
        # Every candidate represents the rows up to the next one: compare densities.
        likeliest = np.argsort(-share / np.diff(np.append(self.row, self.rows)), kind="stable")
        inside = likeliest[: int(np.searchsorted(np.cumsum(share[likeliest]), SHARE)) + 1]
        best, low, high = int(likeliest[0]), int(inside.min()), int(inside.max())
        # The change may lie between two candidates, of which only rows and moments are known: include the next one.
        high += bool((self.batch[high + 1 : high + 2] > self.batch[high] + 1).any())
        ends = {"since": best, "low": low, "high": high}
        return {
            "rows": {name: int(self.row[i]) for name, i in ends.items()},
            "moments": {name: self.moment[i].item() for name, i in ends.items()},
            "shift": float(estimate[best, 0]),
            # z = x / 2: a slope in z is half a slope in x
            "slope": 1 + float(estimate[best, 1]) / 2,
        }


WithEnds = tuple[float, float, float]
"""An estimate and the ends of its interval."""

FITS = {"offset": "offset", "recalibration": "logistic", "refit": "logistic"}
HALF_WIDTH = float(norm.ppf(0.9995))  # half of the interval, in standard errors
BEYOND_ENDS = 40.0  # log-odds beyond every end of an interval


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
            "All rows since the change are in one class, so no correction can be fitted. Wait for more rows."
        )
    fitted = made.fit(p[inside], y[inside])
    if getattr(fitted, "bounded_", False):
        raise InputError(
            "The predictions since the change separate the classes perfectly, so no recalibration can be "
            "fitted. Wait for more rows."
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

    least = log_likelihood(a) - HALF_WIDTH**2 / 2
    low, high = (
        float(brentq(lambda c: log_likelihood(c) - least, a, a + far)) for far in (-BEYOND_ENDS, BEYOND_ENDS)
    )
    return low, a, high


def _line_intervals(x: Array, pi: Array, a: float, b: float) -> tuple[WithEnds, WithEnds]:
    v = pi * (1 - pi)
    mixed = float(v @ x)
    errors = np.sqrt(np.diag(np.linalg.inv([[v.sum(), mixed], [mixed, v @ (x * x)]])))
    return _around(a, float(errors[0])), _around(b, float(errors[1]))


def _around(estimate: float, error: float) -> WithEnds:
    return estimate - HALF_WIDTH * error, estimate, estimate + HALF_WIDTH * error

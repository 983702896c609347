"""False alarms and delays of a weekly Hosmer–Lemeshow test and of the evidence of the Watch page, on the same streams.

Hosmer and Lemeshow 1980, with groups by tenths of the predictions and no fitted parameters; Ville 1939.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import chi2, norm

from calib.analysis.watch.bets import Block
from calib.analysis.watch.stream import Stream
from calib.kernel.checks import Array
from calib.kernel.progress import Watch
from calib.metrics.calibration_test import ALPHA

GROUPS = 10
STREAM = 18  # experiments with the same seed use different random streams
ALARMS = {"test": "Hosmer–Lemeshow test", "evidence": "evidence"}


@dataclass(frozen=True, eq=False)
class Looks:
    """The week of the first alarm in each run, from 1; 0 if there is none.

    Attributes
    ----------
    calm, changed
        Method → int array (runs,), for calibrated models, and for models that change after ``before`` weeks.
    looks, before
        Weeks in all for the calibrated models, and calibrated weeks before the change.
    after
        Weeks after the change.
    """

    calm: dict[str, Array]
    changed: dict[str, Array]
    looks: int
    before: int
    after: int
    rows: int
    shift: float

    def share(self, kind: str, method: str) -> Array:
        """Return the share of runs with an alarm so far, by week; after a change, of runs without an earlier alarm."""
        if kind == "calm":
            first, begin, weeks = self.calm[method], 0, self.looks
        else:
            first, begin, weeks = self.changed[method], self.before, self.after
        first = first[(first == 0) | (first > begin)] - begin
        if not len(first):
            return np.full(weeks, np.nan)
        return np.array([np.mean((first > 0) & (first <= week)) for week in range(1, weeks + 1)])

    def delay(self, method: str) -> float:
        """Return the median number of weeks until a change is found; infinite if it is not found."""
        first = self.changed[method]
        kept = first[(first == 0) | (first > self.before)]
        return float(np.median(np.where(kept == 0, np.inf, kept - self.before))) if len(kept) else np.nan


def looking(settings: Mapping[str, Any], random_state: int = 0, watch: Watch | None = None) -> Looks:
    """Simulate models that are looked at every week.

    Parameters
    ----------
    settings
        looks, shift, calm, rows, runs.

    Examples
    --------
    >>> found = looking({"looks": 5, "shift": 1.0, "calm": 0, "rows": 50, "runs": 20})
    >>> bool(found.share("changed", "evidence")[-1] > found.share("calm", "evidence")[-1])
    True
    """
    looks, before, rows = settings["looks"], settings["calm"], settings["rows"]
    rng = np.random.default_rng([random_state, STREAM])
    calm: dict[str, list[int]] = {method: [] for method in ALARMS}
    changed: dict[str, list[int]] = {method: [] for method in ALARMS}
    for _ in (watch or Watch()).loop(range(settings["runs"]), "models"):
        for found, weeks, start in ((calm, looks, looks), (changed, before + looks, before)):
            x = rng.normal(size=weeks * rows)
            week = np.arange(len(x)) // rows
            y = (rng.random(len(x)) < expit(x + settings["shift"] * (week >= start))).astype(float)
            found["test"].append(_first(hosmer_lemeshow(y, x, rows) < ALPHA))
            log, _ = Stream().add(Block(x, y, expit(x), None, np.arange(weeks) * rows))
            found["evidence"].append(_first(log >= -np.log(ALPHA)))
    return Looks(
        {method: np.array(first) for method, first in calm.items()},
        {method: np.array(first) for method, first in changed.items()},
        looks,
        before,
        looks,
        rows,
        settings["shift"],
    )


def hosmer_lemeshow(y: Array, x: Array, rows: int) -> Array:
    """Return the p-value after each week, from all rows so far; ``x`` are log-odds, drawn from N(0, 1)."""
    group = np.minimum((norm.cdf(x) * GROUPS).astype(int), GROUPS - 1)
    place = np.arange(len(x)) // rows * GROUPS + group
    p = expit(x)
    gap, spread = (
        np.bincount(place, weights=values, minlength=len(x) // rows * GROUPS)
        .reshape(-1, GROUPS)
        .cumsum(axis=0)
        for values in (y - p, p * (1 - p))
    )
    there = spread > 0
    statistic = np.where(there, gap**2 / np.where(there, spread, 1), 0).sum(axis=1)
    return chi2.sf(statistic, there.sum(axis=1))


def _first(alarms: Array) -> int:
    return int(np.argmax(alarms)) + 1 if alarms.any() else 0

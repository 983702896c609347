"""False alarms and delays of a weekly Hosmer–Lemeshow test and of the evidence of the Watch page, on the same streams.

Hosmer and Lemeshow 1980, with groups by tenths of the predictions and no fitted parameters; Ville 1939.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy.special import expit
from scipy.stats import chi2, norm

from calib.analysis.watch.evidence import Block, Stream
from calib.experiments.base import Experiment
from calib.experiments.shared.findings import SHARE_AXIS, Finding, level_line, share_lines
from calib.figures.base import FigureEntry
from calib.figures.panels import panels
from calib.figures.theme import LIGHT, Theme
from calib.kernel.binomial import binomial_interval
from calib.kernel.checks import Array
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter
from calib.kernel.wording import brief_percent
from calib.metrics.calibration_test import ALPHA

TENTHS = 10
STREAM = 18  # experiments with the same seed use different random streams
ALARMS = {"test": "Hosmer–Lemeshow test", "evidence": "evidence"}


@dataclass(frozen=True, eq=False)
class FirstAlarms:
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


def looking(settings: Mapping[str, Any], random_state: int = 0, watch: Watch | None = None) -> FirstAlarms:
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
    return FirstAlarms(
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
    group = np.minimum((norm.cdf(x) * TENTHS).astype(int), TENTHS - 1)
    place = np.arange(len(x)) // rows * TENTHS + group
    p = expit(x)
    gap, spread = (
        np.bincount(place, weights=values, minlength=len(x) // rows * TENTHS)
        .reshape(-1, TENTHS)
        .cumsum(axis=0)
        for values in (y - p, p * (1 - p))
    )
    there = spread > 0
    statistic = np.where(there, gap**2 / np.where(there, spread, 1), 0).sum(axis=1)
    return chi2.sf(statistic, there.sum(axis=1))


def _first(alarms: Array) -> int:
    return int(np.argmax(alarms)) + 1 if alarms.any() else 0


LOW_ALARMS, HIGH_ALARMS = 0.10, 0.20  # shares between the answers


@dataclass(frozen=True, eq=False)
class AlarmShares(Finding):
    found: FirstAlarms


def prepare(found: FirstAlarms) -> AlarmShares:
    """Compute the shares of alarms by week, and the median delays."""
    last = {method: float(found.share("calm", method)[-1]) for method in ALARMS}
    weeks = np.arange(1, found.looks + 1)
    table = pd.DataFrame(
        {"week": weeks}
        | {f"{kind}_{method}": found.share(kind, method) for kind in ("calm", "changed") for method in ALARMS}
    )
    models = len(found.calm["test"])
    low, high = binomial_interval(last["test"] * models, models)
    delays = " and ".join(f"{_weeks(found.delay(method))} ({name})" for method, name in ALARMS.items())
    return AlarmShares(
        title=f"False alarms: {brief_percent(last['test'])} with the test (95 % interval {100 * low:.0f} to "
        f"{100 * high:.0f} %), {brief_percent(last['evidence'])} with the evidence",
        caption="Above: calibrated models, so each alarm is false; the thin line is 5 %. Below: models whose "
        f"log-odds change by {found.shift:g} after {found.before} weeks. Models with an earlier false alarm "
        f"are excluded. Median delay: {delays}.",
        alt=f"After {found.looks} weeks the test has raised a false alarm for {brief_percent(last['test'])} of all "
        f"models, the evidence for {brief_percent(last['evidence'])}. Median delay after a change: {delays}.",
        drawn="Two charts of the share of models with an alarm so far, by week. The upper chart shows "
        "calibrated models; the lower chart shows models that change. Each chart has a line for the test and one for "
        "the evidence.",
        table=table,
        answer=1 if last["test"] < LOW_ALARMS else 2 if last["test"] < HIGH_ALARMS else 3,
        found=found,
    )


def _weeks(delay: float) -> str:
    if np.isnan(delay):
        return "unknown"
    return "not found" if np.isinf(delay) else f"{delay:g} weeks"


def draw(record: AlarmShares, theme: Theme = LIGHT) -> go.Figure:
    """Draw a line per method in each of two panels."""
    figure = panels(
        theme,
        [("Calibrated models: alarms so far",), ("Changed models: found so far",)],
        1,
        height=165,
        between=34,
        xaxis={
            "title": {"text": "Week (below: week after the change)"},
            "range": [0, record.found.looks + 1],
        },
        yaxis={**SHARE_AXIS, "title": {"text": "Models"}},
        shapes=[level_line(theme, ALPHA, xref="x domain", yref="y")],
    )
    for i, kind in enumerate(("calm", "changed")):
        shares = {method: record.table[f"{kind}_{method}"] for method in ALARMS}
        lines = share_lines(i, record.table["week"], shares, ALARMS, "test", theme, hover="week %{x}", size=0)
        figure.add_traces(lines)
    return figure


EXPERIMENT = Experiment(
    key="looking",
    page="labs",
    name="Looking every week",
    question="A model stays calibrated. Each week all rows so far are tested at the 5 % level. For what share of "
    "such models has the test raised a false alarm after 50 weeks?",
    answers=("About 5 %", "About 15 %", "More than 20 %"),
    right=3,
    why=(
        "The level of 5 % applies to a single look. Each further look is another chance for a false alarm.",
        "The weekly tests share most of their rows, so they often agree, but not often enough to keep the "
        "share this low.",
        "Each look is another chance of a false alarm, and these chances add up, although the model never "
        "changes.",
    ),
    turn={"looks": 1},
    ghosts=(
        {"lines": [[[50, 0.05]]]},
        {"lines": [[[50, 0.15]]]},
        {"lines": [[[50, 0.9], [50, 0.2]]]},
    ),
    parameters=(
        Parameter(
            "looks", "Weeks", "integer", 50, 1, 100, help="The number of weeks, with one look per week."
        ),
        Parameter(
            "shift",
            "Change of the log-odds",
            "number",
            0.5,
            0.1,
            2.0,
            help="Change of the true log-odds in the lower picture.",
            extra={"step": 0.1},
        ),
        Parameter(
            "calm",
            "Calibrated weeks before the change",
            "integer",
            20,
            0,
            100,
            help="With 0, the model is wrong from the start.",
        ),
        Parameter("rows", "Rows per week", "integer", 100, 20, 200, help="New labelled rows per week."),
        Parameter("runs", "Models", "integer", 100, 50, 1000, help="Number of simulated models."),
    ),
    simulation=looking,
    notice=(
        "The test raises more false alarms with every look. For a calibrated model, the probability that the evidence "
        "ever raises a false alarm is at most 5 %, however often you look.",
        "After 20 calibrated weeks the evidence finds the change sooner than the test. The old, calibrated "
        "rows weaken the test, whereas the evidence starts a new bet every week.",
    ),
    formulas=(
        r"E_t = \prod_{i \le t} \frac{q_i^{y_i}(1-q_i)^{1-y_i}}{p_i^{y_i}(1-p_i)^{1-y_i}}, \quad q_i "
        r"\text{ chosen before } y_i",
        r"\mathbb{P}(\exists\, t: E_t \ge 1/\alpha) \le \alpha",
    ),
    source="Ville (1939); Henzi, Puke, Dimitriadis and Ziegel (2023), “A safe Hosmer–Lemeshow test”.",
)


FIGURES = (FigureEntry("looking", "Alarms by week", prepare, draw),)

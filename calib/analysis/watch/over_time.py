"""Monitoring of an Evaluation's predictions: evidence, level and periods, thinned for pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import ks_2samp

from calib.analysis.label_shift import likeliest_rate
from calib.analysis.watch.change import FittedCorrection, correct
from calib.analysis.watch.evidence import half_width
from calib.analysis.watch.watcher import ALPHA, Watched, level_band, moment_in_words, watch
from calib.calibrators import label_of
from calib.evaluate import Evaluation, score_column
from calib.evaluate.estimate import Estimate
from calib.kernel.checks import Array, InputError
from calib.kernel.progress import Watch
from calib.kernel.wording import capital, counted

ROW_PERIODS = 12  # number of periods of rows without dates
MOST_PERIODS = 24
FEWEST_PERIODS = 3
PERIOD_STEPS = (1, 2, 3, 6, 12, 24, 60, 120, 600, 1200)
PERIOD_GROUPS = 8  # groups of a period's reliability curve
IN_A_GROUP = 10
STARTING = 0.3  # share of the rows whose base rate is the starting point of EM


@dataclass(frozen=True, eq=False)
class Periods:
    """Periods in the order of time.

    Attributes
    ----------
    table
        One line per period: period, begin, end, rows, events, predicted, observed, gap (observed − predicted), low and
        high (the band of gap), p10, p50 and p90 of the predictions, base_rate (by EM, without labels), moved (largest
        difference between the cumulative shares of its predictions and those of the first period) and moved_p (the
        p-value of that difference).
    curves
        Period → (predicted, observed, rows) of groups of equally many rows.
    starts
        Position of the first row of each period.
    """

    table: pd.DataFrame
    curves: Mapping[str, tuple[Array, Array, Array]]
    starts: Array


def periods(y: Array, p: Array, when: Array, kind: str, alpha: float) -> Periods:
    """Describe the periods of rows in the order of time.

    Parameters
    ----------
    when
        Times, or numbers of rows.
    kind
        "date", "number" or "row".
    alpha
        The band of a gap is valid with probability 1 − alpha, at every time within the period.
    """
    names, starts = _cut(when, kind)
    ends = np.append(starts[1:], len(y))
    early = starting_rate(y)
    first = p[: ends[0]]
    unit = _unit(when, kind)
    lines, curves = [], {}
    for name, start, end in zip(names, starts, ends, strict=True):
        rows = slice(int(start), int(end))
        line = _span(name, when[rows], unit) | _numbers(y[rows], p[rows], alpha)
        line |= {"base_rate": _rate(p[rows], early)}
        lines.append(line | (_moved(first, p[rows]) if start else {"moved": 0.0, "moved_p": 1.0}))
        curves[name] = _curve(y[rows], p[rows])
    return Periods(pd.DataFrame(lines), curves, starts)


def waiting_periods(first: Array, base_rate: float, p: Array, when: Array, kind: str) -> pd.DataFrame:
    """Describe the predictions of rows that wait for labels, in a table like that of ``periods`` without observations.

    Parameters
    ----------
    first : (m,)
        Predictions of the first period, with which these are compared.
    base_rate
        The starting point of EM.
    p, when : (n,)
        Predictions and times, in the order of time.
    kind
        As for ``periods``.
    """
    names, starts = _cut(when, kind) if kind == "date" else ([_stretch(when, kind)], np.zeros(1, dtype=int))
    unit, lines = _unit(when, kind), []
    for name, start, end in zip(names, starts, np.append(starts[1:], len(p)), strict=True):
        batch = p[start:end]
        line = _span(f"{name}, labels incomplete", when[start:end], unit)
        line |= {"rows": len(batch), "predicted": batch.mean(), **_spread(batch)}
        lines.append(line | {"base_rate": _rate(batch, base_rate)} | _moved(first, batch))
    return pd.DataFrame(lines)


def _unit(when: Array, kind: str) -> str:
    """Return the unit of written times: days, unless some times are not midnight."""
    return "D" if kind != "date" or (when == when.astype("datetime64[D]")).all() else "ms"


def _span(name: str, when: Array, unit: str) -> dict[str, Any]:
    return {"period": name, "begin": _text(when[0], unit), "end": _text(when[-1], unit)}


def starting_rate(y: Array) -> float:
    """Return the frequency of events in the first rows, from which EM starts."""
    return float(y[: max(1, int(STARTING * len(y)))].mean())


def _cut(when: Array, kind: str) -> tuple[list[str], Array]:
    """Return the names and first rows of the periods; rows of one time are not separated."""
    if kind == "date":
        for number, name in (
            (when.astype("datetime64[M]").astype(np.int64), lambda k: str(np.datetime64(k, "M"))),
            # Day 0 is a Thursday; weeks begin on Monday
            ((_days(when) + 3) // 7, lambda k: f"week of {np.datetime64(7 * k - 3, 'D')}"),
            (_days(when), lambda k: str(np.datetime64(k, "D"))),
            (when.astype("datetime64[h]").astype(np.int64), lambda k: str(np.datetime64(k, "h"))),
        ):
            if len(np.unique(number)) >= FEWEST_PERIODS:
                return _stepped(number, name)
    # Rows of one time are never separated
    wanted = np.arange(1, ROW_PERIODS) * len(when) // ROW_PERIODS
    starts = np.unique(np.append(0, np.searchsorted(when, when[wanted])))
    parts = np.split(when, starts[1:])
    return [_stretch(part, kind) for part in parts], starts


def _stretch(when: Array, kind: str) -> str:
    """Name rows in the order of time by their first and last."""
    return f"{'rows ' * (kind == 'row')}{_short(when[0])} to {_short(when[-1])}"


def _days(when: Array) -> Array:
    return when.astype("datetime64[D]").astype(np.int64)


def _stepped(number: Array, name: Callable[[int], str]) -> tuple[list[str], Array]:
    """Return at most ``MOST_PERIODS`` periods of equally many months, weeks, days or hours, from
    those of the rows, in order.
    """
    first, last = int(number[0]), int(number[-1])
    step = next(
        (step for step in PERIOD_STEPS if (last // step - first // step) < MOST_PERIODS), last - first + 1
    )
    codes = number // step
    starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
    names = []
    for code in codes[starts].tolist():
        begin, end = max(code * step, first), min((code + 1) * step - 1, last)
        names.append(name(begin) if begin == end else f"{name(begin)} to {name(end)}")
    return names, starts


def _short(moment: object) -> str:
    if isinstance(moment, np.integer):
        return f"{int(moment):,}"
    return f"{moment:,.6g}" if isinstance(moment, np.floating) else _text(moment, "s")


def _text(moment: object, unit: str) -> str:
    """Return a time as the Recipe's ``period`` stores it."""
    if isinstance(moment, np.datetime64):
        return str(moment.astype(f"datetime64[{unit}]"))
    return repr(moment.item()) if isinstance(moment, np.generic) else str(moment)


def _numbers(y: Array, p: Array, alpha: float) -> dict[str, float]:
    gap = y - p
    before = np.append(0.0, np.cumsum(gap)[:-1]) / np.maximum(np.arange(len(gap)), 1)
    spread = ((gap - np.clip(before, -p, 1 - p)) ** 2).sum()
    width = float(half_width(np.array(spread), alpha)) / len(gap)
    return {
        "rows": len(y),
        "events": int(y.sum()),
        "predicted": p.mean(),
        "observed": y.mean(),
        "gap": gap.mean(),
        "low": max(gap.mean() - width, -1),
        "high": min(gap.mean() + width, 1),
        **_spread(p),
    }


def _spread(p: Array) -> dict[str, float]:
    return dict(zip(("p10", "p50", "p90"), np.quantile(p, [0.1, 0.5, 0.9]), strict=True))


def _moved(first: Array, p: Array) -> dict[str, float]:
    test = ks_2samp(first, p, method="asymp")
    return {"moved": float(test.statistic), "moved_p": float(test.pvalue)}


def _rate(p: Array, base_rate: float) -> float:
    """Return the base rate by EM, without labels; NaN if it cannot be estimated."""
    try:
        return likeliest_rate(p, base_rate) if 0 < base_rate < 1 else float("nan")
    except InputError:
        return float("nan")


def _curve(y: Array, p: Array) -> tuple[Array, Array, Array]:
    """Return (predicted, observed, rows) of groups of about equally many rows; equal predictions share a group."""
    order = np.argsort(p, kind="stable")
    p, y = p[order], y[order]
    groups = min(PERIOD_GROUPS, max(1, len(p) // IN_A_GROUP))
    cuts = np.unique(np.searchsorted(p, p[np.arange(groups) * len(p) // groups]))
    rows = np.diff(np.append(cuts, len(p)))
    return np.add.reduceat(p, cuts) / rows, np.add.reduceat(y, cuts).astype(float) / rows, rows


MOST_POINTS_OVER_TIME = 1500
SHIFT_LEVEL = 0.01  # level of the test for shifted scores; low, because people look often


@dataclass(frozen=True, eq=False)
class OverTime:
    """Result of monitoring one calibrator's predictions.

    Attributes
    ----------
    watched
        Alarm and intervals; its arrays of one value per row are empty.
    points
        Evidence after at most 1,500 days, or rows: moment, rows, log10 (of the evidence), period (its number). Among
        neighbours the highest is kept.
    band
        The mean of observed − predicted so far, with its band: moment, level, low, high.
    kind
        "date", "number" or "row".
    periods
        Months, or stretches of rows.
    order
        Positions of the monitored test rows, in the order of time.
    waiting
        Rows that wait because the label of an earlier row is missing.
    later
        One line per period for rows that wait and rows without a label: their scores need no labels.
    """

    evaluation: Evaluation
    calibrator: str
    watched: Watched
    points: pd.DataFrame
    band: pd.DataFrame
    kind: str
    periods: Periods
    order: Array
    waiting: int
    later: pd.DataFrame

    @property
    def name(self) -> str:
        return label_of(self.calibrator)

    @property
    def table(self) -> pd.DataFrame:
        """One line per period."""
        return self.periods.table

    def so_far(self, name: str) -> Estimate:
        """Return the "level" (mean of y − p), "brier" or "slope" of all rows; 1 − α is the level of its interval.

        The interval is valid at every time.
        """
        low, value, high = getattr(self.watched, name)
        one = self.evaluation
        return Estimate(name, self.calibrator, one.size_text, one.recipe.base_rate, value, low, high)

    @property
    def changed_in(self) -> int | None:
        """Number of the period in which the change began; None without an alarm."""
        found = self.watched.found
        if found is None:
            return None
        return int(np.searchsorted(self.periods.starts, found.since, side="right")) - 1

    @property
    def from_the_start(self) -> bool:
        """Whether the change may have begun with the first row, and is nearer to it than to the alarm."""
        found = self.watched.found
        return found is not None and found.earliest == 0 and 2 * found.since < found.rows

    @property
    def shifted(self) -> str | None:
        """The period whose scores differ most from those of the first; None if no period differs clearly.

        Kolmogorov–Smirnov tests, corrected for the number of periods. Unlike the evidence, they are valid for one look.
        """
        later = pd.concat([self.table.iloc[1:], self.later])
        if not len(later) or later["moved_p"].min() * len(later) >= SHIFT_LEVEL:
            return None
        return str(later["period"].iloc[int(later["moved"].to_numpy().argmax())])

    def shown(self, moment: Any) -> str:
        """Write a time of the alarm for people: a date, a number, or the number of the row in the table."""
        return moment_in_words(moment - 1 if self.kind == "row" else moment, self.kind)

    def correction(self) -> FittedCorrection:
        """Fit the recalibration that the advice names to the rows since the change; refused without such an alarm."""
        found = self.watched.found
        if found is None:
            raise InputError("There is no alarm, so there is nothing to recalibrate.")
        rows = self.order[found.since :]
        p = self.evaluation.predictions[self.calibrator].p[rows]
        return correct(self.evaluation.y[rows], p, found.advice)


def over_time(
    evaluation: Evaluation,
    calibrator: str,
    alpha: float = ALPHA,
    horizon: int = 1,
    skip_unlabelled: bool = False,
    progress: Watch | None = None,
) -> OverTime:
    """Monitor the predictions of one calibrator on the test rows, in the order of the time column or of the table.

    Parameters
    ----------
    skip_unlabelled
        Whether to leave out rows without a label. Otherwise these and all later rows do not count until labels arrive.
    progress
        Reports each step and can cancel.

    Raises
    ------
    InputError
        For weights and a deployment base rate, and if all rows wait for labels.
    """
    if evaluation.recipe.base_rate is not None:
        raise InputError(
            "Monitoring uses the probabilities as they were predicted. Remove the deployment base rate."
        )
    if evaluation.weight is not None:
        raise InputError(
            "Monitoring counts each row once, in the order in which the rows were predicted. Clear the "
            "column under “Weight or count”."
        )
    if calibrator == "none":
        evaluation = evaluation.on_every_row()
    data, when = evaluation.dataset, evaluation.when
    labelled, waits = np.arange(len(when)), None
    if data.unlabelled is not None and not skip_unlabelled:
        labelled = np.flatnonzero(when < data.unlabelled)
        if calibrator == "none" and data.predictions and evaluation.probability:
            waits = _unlabelled_scores(evaluation, np.flatnonzero(when >= data.unlabelled))
        if not len(labelled):
            raise InputError(
                "The first row has no label, and later rows are used only after this label arrives. Exclude "
                "rows without a label."
            )
    p, y = evaluation.predictions[calibrator].p[labelled], evaluation.y[labelled]
    progress = progress or Watch()
    progress.step(0.1, "the evidence")
    watched = watch(y, p, when[labelled], horizon, alpha)
    order = watched.order
    times = when[labelled][order]
    kind = "row" if data.time is None else "date" if times.dtype.kind == "M" else "number"
    progress.step(0.6, "the periods")
    cut = periods(y[order], p[order], times, kind, alpha)
    if (
        evaluation.of_confidence
    ):  # EM assumes scores of fixed classes; whether a prediction is right is no such class
        cut = replace(cut, table=cut.table.assign(base_rate=np.nan))
    later = cut.table.iloc[:0]  # with its types
    if waits is not None:
        first = p[order][: len(p) if len(cut.starts) == 1 else cut.starts[1]]
        later = waiting_periods(first, starting_rate(y[order]), *waits, kind)
    progress.step(0.9, "the picture")
    points, level = _path(watched, times, cut)
    empty = np.zeros(0)
    thin = replace(watched, evidence=empty, log_evidence=empty, path={}, order=empty.astype(int))
    waiting = len(when) - len(labelled)
    return OverTime(evaluation, calibrator, thin, points, level, kind, cut, labelled[order], waiting, later)


def _path(watched: Watched, times: Array, cut: Periods) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the evidence at the points that are drawn, and the level so far with its band."""
    ends = np.asarray(watched.path["rows"], dtype=int)
    firsts = np.append(0, ends[:-1])
    log = np.asarray(watched.path["log"]) / np.log(10)
    kept = _highest(log)
    points = {
        "moment": times[firsts[kept]],
        "rows": ends[kept],
        "log10": log[kept],
        "period": np.searchsorted(cut.starts, firsts[kept], side="right") - 1,
    }
    band = level_band(watched)
    return pd.DataFrame(points), pd.DataFrame({"moment": times[firsts[band.pop("batch")]], **band})


def _unlabelled_scores(evaluation: Evaluation, waiting: Array) -> tuple[Array, Array] | None:
    """Return predictions and times, in the order of time, of rows without a label and of waiting rows; or None.

    Predictions are uncalibrated, because calibrators are fitted to rows with labels.
    """
    data = evaluation.dataset
    if data.unlabelled_scores is None:
        return None
    scores = data.unlabelled_scores[score_column(evaluation.recipe, data)].to_numpy()
    times = (
        data.unlabelled_scores.index.to_numpy() + 1 if data.unlabelled_time is None else data.unlabelled_time
    )
    p = np.append(scores, evaluation.predictions["none"].p[waiting])
    when = np.append(times, evaluation.when[waiting])
    order = np.argsort(when, kind="stable")
    return p[order], when[order]


def _highest(values: Array) -> Array:
    """Return the positions to draw: the highest of each stretch of many values, so that no peak is lost."""
    n = len(values)
    if n <= MOST_POINTS_OVER_TIME:
        return np.arange(n)
    cuts = np.linspace(0, n, MOST_POINTS_OVER_TIME + 1).astype(int)
    return np.array([a + int(np.argmax(values[a:b])) for a, b in pairwise(cuts)])


def summary(found: OverTime) -> str:
    """State the finding in one sentence."""
    alarm, impossible = found.watched.found, found.watched.impossible
    if impossible is not None:
        at = f"{'on' if found.kind == 'date' else 'at'} {found.shown(impossible.moment)}"
        return f"Alarm {at}: a prediction of 0 or 1 was wrong"
    if alarm is None:
        return f"No alarm in {counted(found.watched.rows, 'row')}: no clear evidence of miscalibration"
    at = f"{'on' if found.kind == 'date' else 'at'} {found.shown(alarm.moment)}"
    if found.from_the_start:
        return f"Alarm {at}: miscalibrated, possibly from the start"
    return f"Alarm {at}: miscalibrated since about {found.shown(alarm.since_moment)}"


def change_sentence(found: OverTime) -> str:
    """State what changed: the scores (which needs no labels), their calibration, both or neither."""
    period, alarm = found.shifted, found.watched.found is not None
    but = "" if found.watched.impossible is None else "apart from predictions of 0 or 1, "
    if alarm and period is None:
        return "The model is miscalibrated, but the scores show no clear shift"
    if alarm:
        return f"The model is miscalibrated, and the scores shifted too (most in {period})"
    if period is None:
        return capital(f"{but}no clear change in the scores or in their calibration")
    return f"The scores shifted (most in {period}), but {but}their calibration shows no change"


def unlabelled(found: OverTime) -> str | None:
    """State how many rows wait, and since when; None if no label is missing."""
    first: Any = found.evaluation.dataset.unlabelled
    if first is None:
        return None
    if found.kind == "date":
        first = np.datetime64(first, "ns").astype(np.int64)
    rows = counted(found.waiting, "labelled row")
    return f"A label is missing at {found.shown(first)}. {rows} from then onwards wait for this label."

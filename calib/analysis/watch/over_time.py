"""An Evaluation's predictions watched over time, and cut into periods: months, or stretches of equally many rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from calib.analysis.label_shift import estimate_base_rate
from calib.analysis.watch.sequences import half_width
from calib.analysis.watch.watcher import ALPHA, Watched, level_band, shown_moment, watch
from calib.calibrators import CALIBRATORS, label_of
from calib.evaluate import Evaluation
from calib.kernel.checks import Array, InputError
from calib.kernel.wording import number

PERIODS = 12  # of predictions without dates
MOST_PERIODS = 24
FITS = {"offset": "offset", "recalibration": "logistic", "refit": "logistic"}
POINTS = 8  # of the reliability curve of a period
STARTING = 0.3  # share of the rows whose base rate counts as the old one


@dataclass(frozen=True, eq=False)
class OverTime:
    """What watching one calibrator's predictions shows.

    Attributes
    ----------
    watched
        Evidence, alarm and intervals.
    moments
        Of each batch, its time; positions in order without times.
    kind
        "date", "number" or "row".
    name
        Of the calibrator.
    periods
        One line per period: period, begin, end, rows, events, predicted, observed, gap, low, high (95 % band of the
        gap), score quantiles p10, p50, p90, and base_rate by EM without labels.
    curves
        Period → (predicted, observed, rows) of groups of equally many rows.
    band
        Mean of observed − predicted so far, with its band.
    """

    evaluation: Evaluation
    calibrator: str
    watched: Watched
    moments: Array
    kind: str
    periods: pd.DataFrame
    curves: Mapping[str, tuple[Array, Array, Array]]
    band: Mapping[str, Array]
    y: Array
    p: Array
    order: Array

    @property
    def name(self) -> str:
        return label_of(self.calibrator)

    @property
    def ends(self) -> Array:
        """Number of the last row of each batch."""
        return np.asarray(self.watched.path["rows"], dtype=int)

    def fit(self) -> Any:
        """The calibrator that the advice names, fitted to the rows since the change; refused without an alarm."""
        found = self.watched.found
        if found is None:
            raise InputError("There is no alarm, so there is nothing to recalibrate.")
        rows = self.order[found.since :]
        return CALIBRATORS[FITS[found.advice]]().fit(self.p[rows], self.y[rows])


def over_time(evaluation: Evaluation, calibrator: str, alpha: float = ALPHA, horizon: int = 1) -> OverTime:
    """Watch the predictions of one calibrator on the test rows, in the order of the time column or of the table.

    Raises
    ------
    InputError
        For weights, of which a watch knows nothing.
    """
    if evaluation.weight is not None:
        raise InputError(
            "Watch counts each row once, in the order of prediction. Remove the weights, or the deployment base rate."
        )
    p, y = evaluation.predictions[calibrator].p, evaluation.y
    time = None if evaluation.dataset.time is None else evaluation.dataset.time[evaluation.rows]
    if time is not None:
        watched = watch(y, p, time, horizon, alpha)
        kind = "date" if time.dtype.kind == "M" else "number"
        order = watched.order
    else:
        kind, order = "row", np.argsort(evaluation.rows, kind="stable")
        watched = watch(y[order], p[order], None, horizon, alpha)
    periods, curves = _periods(y[order], p[order], None if time is None else time[order], kind, alpha)
    return OverTime(
        evaluation,
        calibrator,
        watched,
        watched.path["moment"],
        kind,
        periods,
        curves,
        level_band(watched),
        y,
        p,
        order,
    )


def _periods(
    y: Array, p: Array, time: Array | None, kind: str, alpha: float
) -> tuple[pd.DataFrame, dict[str, tuple[Array, Array, Array]]]:
    """Numbers of each period, in order of time."""
    n = len(y)
    names: list[str]
    if kind == "date" and time is not None:
        days = time.astype("datetime64[M]")
        months, codes = np.unique(days, return_inverse=True)
        step = -(-len(months) // MOST_PERIODS)
        codes = codes // step
        names = [str(month) for month in months[::step]]
    else:
        many = min(PERIODS, n)
        codes = np.arange(n) * many // n
        starts = np.searchsorted(codes, np.arange(many))
        names = [f"rows {a + 1:,} to {b:,}" for a, b in zip(starts, np.append(starts[1:], n), strict=True)]
    lines, curves = [], {}
    early = y[: max(1, int(STARTING * n))].mean()
    for code, name in enumerate(names):
        rows = np.flatnonzero(codes == code)
        ys, ps = y[rows], p[rows]
        gap = ys - ps
        before = np.append(0.0, np.cumsum(gap)[:-1]) / np.maximum(np.arange(len(rows)), 1)
        spread = ((gap - np.clip(before, -ps, 1 - ps)) ** 2).sum()
        width = float(half_width(np.array(spread), alpha)) / len(rows)
        low, middle, high = np.quantile(ps, [0.1, 0.5, 0.9])
        begin, end = (str(time[rows[i]])[:10] if time is not None else str(rows[i] + 1) for i in (0, -1))
        lines.append(
            {
                "period": name,
                "begin": begin,
                "end": end,
                "rows": len(rows),
                "events": int(ys.sum()),
                "predicted": ps.mean(),
                "observed": ys.mean(),
                "gap": gap.mean(),
                "low": max(gap.mean() - width, -1),
                "high": min(gap.mean() + width, 1),
                "p10": low,
                "p50": middle,
                "p90": high,
                "base_rate": _rate(ps, float(early)),
            }
        )
        groups = np.array_split(np.argsort(ps, kind="stable"), min(POINTS, max(1, len(rows) // 10)))
        curves[name] = (
            np.array([ps[group].mean() for group in groups]),
            np.array([ys[group].mean() for group in groups]),
            np.array([len(group) for group in groups]),
        )
    return pd.DataFrame(lines), curves


def _rate(p: Array, base_rate: float) -> float:
    """The base rate by EM, without labels; NaN if the predictions cannot tell."""
    try:
        return estimate_base_rate(p, base_rate).rate
    except InputError:
        return float("nan")


def summary(found: OverTime) -> str:
    """The finding in one sentence."""
    watched = found.watched
    if watched.found is None:
        return f"{found.name} is still calibrated, as far as {watched.rows:,} rows show: evidence {number(watched.now)}"
    alarm = watched.found
    return (
        f"{found.name} is no longer calibrated: alarm at {shown_moment(alarm.moment, found.kind)}, change since about "
        f"{shown_moment(alarm.since_moment, found.kind)}"
    )


def moved(found: OverTime) -> str:
    """Say what moved from the first period to the last: the scores, their calibration, or both."""
    first, last = found.periods.iloc[0], found.periods.iloc[-1]
    return (
        f"Mean prediction {number(first.predicted)} → {number(last.predicted)}; observed minus predicted "
        f"{number(first.gap)} → {number(last.gap)}."
    )

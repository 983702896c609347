"""Periods of monitored rows (months, weeks, days, or equally many rows) and their descriptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import ks_2samp

from calib.analysis.label_shift import likeliest_rate
from calib.analysis.watch.sequences import half_width
from calib.kernel.checks import Array, InputError

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


def waiting(first: Array, base_rate: float, p: Array, when: Array, kind: str) -> pd.DataFrame:
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

"""A model that is calibrated on average: chance findings of a search of all groups, and the power to find a hidden one.

Columns are categories of equally frequent values, and every value and conjunction is a group. A naive search tests each
group alone. The audit redraws all labels as if the probabilities were right and takes the largest deviation of any
group (single-step maxT, Westfall & Young 1993), like ``calib.analysis.audit``; here only the level of a group is
tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy.stats import norm

from calib.kernel.checks import Array
from calib.kernel.progress import Watch
from calib.metrics.calibration_test import ALPHA

COLUMNS, VALUES, DEEPEST = 4, 4, 3
SIZES = (500, 1000, 2000, 4000, 8000)
CALM_ROWS = 2000
REDRAWS = 99
LEAST = 5.0  # smallest variance of the number of events in a group, which is about 20 rows
STREAM = 19  # experiments with the same seed use different random streams
SEARCHES = {"naive": "each group tested alone", "audit": "audit"}
OUTSIDE = 0.15  # predictions are at least twice this distance from 0 and 1


@dataclass(frozen=True, eq=False)
class FairOnAverage:
    """Shares of tables.

    Attributes
    ----------
    searched
        Number of groups searched, by the columns per group.
    alarms
        Method → share of calibrated tables with an alarm, by ``searched``.
    rows
        Rows of the tables with a hidden group.
    found
        Method → share of these tables in which the worst group is the hidden one, or a part of it, with an alarm, by
        ``rows``.
    astray
        Method → the same, but the worst group is another one.
    size
        Share of rows in the hidden group.
    """

    searched: tuple[int, ...]
    alarms: dict[str, Array]
    rows: tuple[int, ...]
    found: dict[str, Array]
    astray: dict[str, Array]
    depth: int
    size: float
    shift: float
    tables: int


def groups(values: Array, depth: int) -> Array:
    """Return the rows of every group of up to ``depth`` columns, float32 (groups, n).

    Values (n, columns) count from 0.

    >>> groups(np.array([[0, 1], [1, 1]]), 1).shape
    (8, 2)
    """
    single = [[values[:, column] == value for value in range(VALUES)] for column in range(values.shape[1])]
    found = [
        np.logical_and.reduce(parts)
        for size in range(1, depth + 1)
        for chosen in combinations(single, size)
        for parts in product(*chosen)
    ]
    return np.array(found, dtype=np.float32)


def deviations(members: Array, residuals: Array, variance: Array) -> Array:
    """Return |Σ (y − p)| / √Σ p(1 − p), (k, r), of groups (k, n), from y − p (n, r) and p(1 − p) (n,); 0 for few rows.

    The n are rows, or cells of rows with their sums.
    """
    variance = members @ variance.astype(np.float32)
    sums = members @ residuals.astype(np.float32)
    enough = variance >= LEAST
    return np.where(enough[:, None], np.abs(sums) / np.sqrt(np.where(enough, variance, 1.0))[:, None], 0.0)


@cache
def cells(depth: int) -> Array:
    """Tell which combinations of the values of all columns, in their order, are in each group: (k, c).

    Rows of one combination are in the same groups, so their sums suffice: 256 cells instead of thousands of rows.
    """
    return groups(np.array(list(product(range(VALUES), repeat=COLUMNS))), depth)


def by_cell(values: Array, amounts: Array) -> Array:
    """Sum amounts (n, r) over the rows of each cell: (c, r)."""
    cell = values @ VALUES ** np.arange(COLUMNS - 1, -1, -1)
    order = np.argsort(cell, kind="stable")
    present, starts = np.unique(cell[order], return_index=True)
    sums = np.zeros((VALUES**COLUMNS, amounts.shape[1]), dtype=amounts.dtype)
    sums[present] = np.add.reduceat(amounts[order], starts)
    return sums


def adjusted(largest: Array, seen: float) -> float:
    """Return the p-value of a deviation after the search, from the largest one of each redraw."""
    return (1 + int((largest >= seen * (1 - 1e-6)).sum())) / (1 + len(largest))


def fair_on_average(
    settings: Mapping[str, Any], random_state: int = 0, watch: Watch | None = None
) -> FairOnAverage:
    """Simulate calibrated tables, and tables in which one group is wrong and the others make up for it.

    Parameters
    ----------
    settings
        depth, shift, conditions, tables.

    Examples
    --------
    >>> found = fair_on_average({"depth": 2, "shift": 0.3, "conditions": 2, "tables": 20})
    >>> found.searched, bool(found.alarms["naive"][1] > found.alarms["audit"][1])
    ((16, 112, 368), True)
    """
    depth, shift, conditions = settings["depth"], settings["shift"], settings["conditions"]
    rng = np.random.default_rng([random_state, STREAM])
    counts = (16, 112, 368)
    calm: dict[str, list[list[bool]]] = {method: [] for method in SEARCHES}
    found: dict[str, list[list[bool]]] = {method: [] for method in SEARCHES}
    astray: dict[str, list[list[bool]]] = {method: [] for method in SEARCHES}
    for _ in (watch or Watch()).loop(range(settings["tables"]), "tables"):
        looks = _searched(rng, CALM_ROWS, DEEPEST, 0.0, conditions, counts)
        for method in SEARCHES:
            calm[method].append([alarms[method] for _, alarms in looks])
        own = [_searched(rng, rows, depth, shift, conditions, counts[depth - 1 : depth])[0] for rows in SIZES]
        for method in SEARCHES:
            found[method].append([named and alarms[method] for named, alarms in own])
            astray[method].append([alarms[method] and not named for named, alarms in own])
    shares = [
        {method: np.mean(runs, axis=0) for method, runs in each.items()} for each in (calm, found, astray)
    ]
    return FairOnAverage(
        counts, shares[0], SIZES, shares[1], shares[2], depth, VALUES**-conditions, shift, settings["tables"]
    )


def _searched(
    rng: np.random.Generator, rows: int, depth: int, shift: float, conditions: int, counts: tuple[int, ...]
) -> list[tuple[bool, dict[str, bool]]]:
    """Return for each number of groups (whether the worst group is the hidden one or in it, alarm by method)."""
    values = rng.integers(0, VALUES, (rows, COLUMNS))
    p = rng.uniform(2 * OUTSIDE, 1 - 2 * OUTSIDE, rows)
    hidden = (values[:, :conditions] == 0).all(axis=1)
    others = shift * hidden.mean() / max(1 - hidden.mean(), 1e-9)  # lower elsewhere: right on average
    truth = np.clip(p + np.where(hidden, shift, -others), 0.0, 1.0)
    draws = rng.random((rows, REDRAWS + 1), dtype=np.float32) < p[:, None]
    draws[:, 0] = rng.random(rows) < truth
    amounts = np.empty((rows, REDRAWS + 3), dtype=np.float32)  # one pass over the rows
    np.subtract(draws, p[:, None], out=amounts[:, :-2], casting="unsafe")
    amounts[:, -2], amounts[:, -1] = p * (1 - p), ~hidden
    sums = by_cell(values, amounts)
    residuals, variance, visible = sums[:, :-2], sums[:, -2], sums[:, -1] > 0
    members = cells(depth)
    z = deviations(members, residuals, variance)
    result = []
    for count in counts:
        worst = int(np.argmax(z[:count, 0]))
        seen = float(z[worst, 0])
        named = not (members[worst] > 0)[visible].any()
        alarms = {
            "naive": bool(2 * norm.sf(seen) <= ALPHA),
            "audit": adjusted(z[:count, 1:].max(axis=0), seen) <= ALPHA,
        }
        result.append((named, alarms))
    return result

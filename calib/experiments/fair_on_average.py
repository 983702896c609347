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
import pandas as pd
import plotly.graph_objects as go
from scipy.stats import norm

from calib.experiments.base import Experiment
from calib.experiments.shared.findings import SHARE_AXIS, Finding, level_line, share_lines
from calib.figures.base import FigureEntry
from calib.figures.panels import panels
from calib.figures.theme import LIGHT, Theme
from calib.kernel.checks import Array
from calib.kernel.progress import Watch
from calib.kernel.records import Parameter
from calib.kernel.wording import brief_percent
from calib.metrics.calibration_test import ALPHA

FEATURE_COLUMNS, VALUES, DEEPEST_GROUP = 4, 4, 3
TABLE_SIZES = (500, 1000, 2000, 4000, 8000)
CALM_ROWS = 2000
REDRAWS = 99
LEAST_VARIANCE = 5.0  # smallest variance of the number of events in a group, which is about 20 rows
STREAM = 19  # experiments with the same seed use different random streams
SEARCHES = {"naive": "each group tested separately", "audit": "audit"}
DISTANCE_FROM_ENDS = 0.15  # predictions are at least twice this distance from 0 and 1


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
    enough = variance >= LEAST_VARIANCE
    return np.where(enough[:, None], np.abs(sums) / np.sqrt(np.where(enough, variance, 1.0))[:, None], 0.0)


@cache
def cells(depth: int) -> Array:
    """Tell which combinations of the values of all columns, in their order, are in each group: (k, c).

    Rows of one combination are in the same groups, so their sums suffice: 256 cells instead of thousands of rows.
    """
    return groups(np.array(list(product(range(VALUES), repeat=FEATURE_COLUMNS))), depth)


def by_cell(values: Array, amounts: Array) -> Array:
    """Sum amounts (n, r) over the rows of each cell: (c, r)."""
    cell = values @ VALUES ** np.arange(FEATURE_COLUMNS - 1, -1, -1)
    order = np.argsort(cell, kind="stable")
    present, starts = np.unique(cell[order], return_index=True)
    sums = np.zeros((VALUES**FEATURE_COLUMNS, amounts.shape[1]), dtype=amounts.dtype)
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
        looks = _searched(rng, CALM_ROWS, DEEPEST_GROUP, 0.0, conditions, counts)
        for method in SEARCHES:
            calm[method].append([alarms[method] for _, alarms in looks])
        own = [
            _searched(rng, rows, depth, shift, conditions, counts[depth - 1 : depth])[0]
            for rows in TABLE_SIZES
        ]
        for method in SEARCHES:
            found[method].append([named and alarms[method] for named, alarms in own])
            astray[method].append([alarms[method] and not named for named, alarms in own])
    shares = [
        {method: np.mean(runs, axis=0) for method, runs in each.items()} for each in (calm, found, astray)
    ]
    return FairOnAverage(
        counts,
        shares[0],
        TABLE_SIZES,
        shares[1],
        shares[2],
        depth,
        VALUES**-conditions,
        shift,
        settings["tables"],
    )


def _searched(
    rng: np.random.Generator, rows: int, depth: int, shift: float, conditions: int, counts: tuple[int, ...]
) -> list[tuple[bool, dict[str, bool]]]:
    """Return for each number of groups (whether the worst group is the hidden one or in it, alarm by method)."""
    values = rng.integers(0, VALUES, (rows, FEATURE_COLUMNS))
    p = rng.uniform(2 * DISTANCE_FROM_ENDS, 1 - 2 * DISTANCE_FROM_ENDS, rows)
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


LOW_SHARE, HIGH_SHARE = 0.25, 0.85  # shares between the answers


@dataclass(frozen=True, eq=False)
class Fair(Finding):
    found: FairOnAverage


def prepare(found: FairOnAverage) -> Fair:
    """Tabulate the shares of data sets, with false alarms and with the hidden group found."""
    calm = [
        {"tables": "calibrated", "groups": groups, "rows": CALM_ROWS}
        | {f"alarm_{method}": found.alarms[method][i] for method in SEARCHES}
        for i, groups in enumerate(found.searched)
    ]
    hidden = [
        {"tables": "hidden group", "groups": found.searched[found.depth - 1], "rows": rows}
        | {
            f"{name}_{method}": each[method][i]
            for name, each in (("found", found.found), ("astray", found.astray))
            for method in SEARCHES
        }
        for i, rows in enumerate(found.rows)
    ]
    at = found.depth - 1
    naive, audit = (brief_percent(float(found.alarms[method][at])) for method in SEARCHES)
    groups = found.searched[at]
    astray, silent = (brief_percent(float(found.astray[method][0])) for method in SEARCHES)
    return Fair(
        title=f"{groups} groups of a calibrated model: false alarms in {naive} of the data sets with "
        f"separate tests, in {audit} with the audit",
        caption="Above: data sets of a calibrated model, so each alarm is false; the thin line is 5 %. "
        f"Below: data sets with a hidden group of {brief_percent(found.size)} of the rows, whose true "
        f"probabilities are {found.shift:g} higher than predicted. “Found” means that there is an alarm and "
        f"its worst group is the hidden group or a part of it. With {found.rows[0]} rows, an alarm points to "
        f"another group in {astray} of the data sets (each group tested separately) and in {silent} (audit).",
        alt=f"False alarms among {groups} groups of a calibrated model: {naive} of the data sets if each "
        f"group is tested separately, {audit} by the audit.",
        drawn="Two charts show shares of data sets. One shows false alarms by number of groups, the other how often "
        "the hidden group is found, by number of rows. Each chart has a line for separate tests and one for the audit.",
        table=pd.DataFrame([*calm, *hidden]),
        answer=1
        if found.alarms["naive"][at] < LOW_SHARE
        else 2
        if found.alarms["naive"][at] < HIGH_SHARE
        else 3,
        found=found,
    )


def draw(record: Fair, theme: Theme = LIGHT) -> go.Figure:
    """Draw a line per method in each of two panels."""
    found = record.found
    figure = panels(
        theme,
        [("Calibrated model: false alarms by number of groups",), ("Hidden group found, by number of rows",)],
        1,
        height=165,
        between=48,
        xaxis={"type": "category", "title": {"text": "Rows"}},
        yaxis={**SHARE_AXIS, "title": {"text": "Data sets"}},
        shapes=[level_line(theme, ALPHA, xref="x domain", yref="y")],
    )
    figure.update_layout(xaxis={"showticklabels": True})
    for i, (places, shares, what) in enumerate(
        ((found.searched, found.alarms, "groups"), (found.rows, found.found, "rows"))
    ):
        counts = [f"{place:,}" for place in places]
        lines = share_lines(i, counts, shares, SEARCHES, "naive", theme, hover=f"%{{x}} {what}", size=7)
        figure.add_traces(lines)
    return figure


EXPERIMENT = Experiment(
    key="fair_on_average",
    page="labs",
    name="Fair on average",
    question="A model is calibrated for everyone. You test 112 groups of one or two columns, each at the 5 % level. "
    "In how many data sets does some group look wrong?",
    answers=("About 5 %", "About half", "Almost all"),
    right=3,
    why=(
        "The level of 5 % applies to one group. Each further group is another chance for a false alarm.",
        "This would be right for 16 groups, each defined by a single column. The 96 pairs add many more "
        "chances of a false alarm.",
        "With 112 groups, a level of 5 % means about six false alarms per data set.",
    ),
    turn={"depth": 1},
    ghosts=(
        {"lines": [[["112", 0.05]]]},
        {"lines": [[["112", 0.5]]]},
        {"lines": [[["112", 0.95]]]},
    ),
    parameters=(
        Parameter(
            "depth",
            "Columns per group",
            "integer",
            2,
            1,
            3,
            help="Maximum number of columns that define a group. With 1, 2 or 3 columns there are 16, 112 or 368 "
            "groups.",
        ),
        Parameter(
            "shift",
            "Error in the hidden group",
            "number",
            0.15,
            0.05,
            0.3,
            help="How much the true probabilities exceed the predictions in the hidden group.",
            extra={"step": 0.05},
        ),
        Parameter(
            "conditions",
            "Columns that define the hidden group",
            "integer",
            2,
            1,
            3,
            help="With 1, 2 or 3 columns, the hidden group contains 25 %, 6 % or 2 % of the rows.",
        ),
        Parameter("tables", "Data sets", "integer", 100, 50, 500, help="Number of simulated data sets."),
    ),
    simulation=fair_on_average,
    notice=(
        "The more groups you test separately, the more often a calibrated model looks wrong. The audit "
        "raises a false alarm in about 5 % of the data sets, however many groups it searches.",
        "With 500 rows, the worst group is usually not the hidden group, so separate tests usually point to "
        "the wrong group. The audit usually raises no alarm. With 8,000 rows, both methods find the hidden "
        "group.",
    ),
    formulas=(
        r"z_S = \frac{\left|\sum_{i \in S} (y_i - p_i)\right|}{\sqrt{\sum_{i \in S} p_i (1 - p_i)}}",
        r"\text{audit: } \frac{1 + \#\{b: \max_S z_S^{*b} \ge z_S\}}{B + 1}, \quad y_i^{*b} \sim "
        r"\mathrm{Bernoulli}(p_i)",
    ),
    source="Westfall and Young (1993), single-step maxT.",
)


FIGURES = (FigureEntry("fair_on_average", "Groups searched", prepare, draw),)

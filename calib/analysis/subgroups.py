"""Calibration of the test rows in groups by any column.

A column with few distinct values gives one group per value, the largest first and the smallest merged; a column of
many numbers or dates gives quantile groups. A group's probabilities are right on average if its observed
number of class 1 is within chance of Σ p; the chance variance is Σ p(1 − p) for independent draws
(Spiegelhalter 1986), and the level is shared among the groups (Bonferroni), so that one false alarm in all of
them has a probability of 5 %. Rows of one cluster are dependent: if their sums within a group vary more
than independent rows would, their variance is used instead (Liang & Zeger 1986), and the group
counts as correspondingly fewer rows (Kish's design effect).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm
from scipy.stats import t as student

from calib.evaluate import Evaluation
from calib.kernel.binning import edge_index, group_sums, quantile_edges
from calib.kernel.binomial import binomial_interval
from calib.kernel.segment import (
    EQUAL,
    MISSING_GROUP,
    UNEQUAL,
    group_texts,
    is_missing,
    is_ordered,
    write_range,
)
from calib.metrics.confidence_intervals import LEVEL

MOST_GROUPS = 12
QUANTILE_GROUPS = 5
REST = "(all others)"


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of the test rows.

    Attributes
    ----------
    names
        Names of the groups, in order.
    index : int (m,)
        The group of each row.
    ranges
        Name → (low, high) of the groups that are quantile ranges; None at the ends.
    """

    names: tuple[str, ...]
    index: np.ndarray
    ranges: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def count(self) -> np.ndarray:
        return np.bincount(self.index, minlength=len(self.names))

    def largest(self, most: int) -> dict[str, np.ndarray]:
        """Return name → positions of the rows of the ``most`` largest groups, in the groups' order.

        >>> list(Grouping(("a", "b", "c"), np.array([0, 1, 1, 2, 2])).largest(2))
        ['b', 'c']
        """
        chosen = np.sort(np.argsort(-self.count, kind="stable")[:most])
        return {self.names[i]: np.flatnonzero(self.index == i) for i in chosen}

    def segment(self, name: str, column: str) -> tuple[str, ...]:
        """Write the conditions of a group of this column, as a Recipe's ``segment`` stores them.

        >>> group_rows(pd.Series(range(100)), quantiles=2).segment("49.5 to 99", "age")
        ('age=49.5..',)
        """
        if name in self.ranges:
            return (write_range(column, *self.ranges[name]),)
        if name != REST:
            return (f"{column}{EQUAL}{name}",)
        return tuple(
            f"{column}{UNEQUAL}{other}"
            for other in dict.fromkeys((*self.names, MISSING_GROUP))
            if other != REST
        )


def group_rows(values: pd.Series, quantiles: int = QUANTILE_GROUPS, most: int = MOST_GROUPS) -> Grouping:
    """Group a column's values; missing and infinite values form a group.

    Parameters
    ----------
    values : (m,)
        More than ``most`` distinct numbers or dates give groups of about equally many rows, named by their
        ends. Any other column gives one group per value, from the largest group to the smallest; those after the
        first ``most`` − 1 are merged.
    quantiles
        Number of groups of about equally many rows.
    most
        Largest number of groups with one value each.

    Examples
    --------
    >>> grouping = group_rows(pd.Series(["b", "a", "b", None]))
    >>> grouping.names, grouping.index
    (('b', 'a', '(missing)'), array([0, 1, 0, 2]))
    >>> group_rows(pd.Series(range(100)), quantiles=2).names
    ('0 to 49.5', '49.5 to 99')
    """
    lost = is_missing(values)
    known, ranges = values[~lost], dict[str, tuple[Any, Any]]()
    if (is_ordered(values) or known.dtype.kind == "M") and known.nunique() > most:
        names, index, ranges = _quantiles(known, quantiles)
    else:
        names, index = _by_value(known, most)
    groups = np.full(len(values), len(names), dtype=np.intp)
    groups[~lost] = index
    return Grouping((*names, *([MISSING_GROUP] if lost.any() else [])), groups, ranges)


def _quantiles(known: pd.Series, quantiles: int) -> tuple[list[str], np.ndarray, dict[str, tuple[Any, Any]]]:
    dates = known.dtype.kind == "M"
    numbers = known.astype("int64" if dates else "float64").to_numpy(dtype=np.float64)
    edges = quantile_edges(numbers, quantiles)
    if dates:
        form = "%Y-%m-%d" if known.max() - known.min() > pd.Timedelta(days=60) else "%Y-%m-%d %H:%M"
        ends = [f"{pd.Timestamp(int(edge), unit=known.dt.unit):{form}}" for edge in edges]
        cuts = [pd.Timestamp(math.ceil(edge), unit=known.dt.unit) for edge in edges[1:-1]]
    else:
        ends = next(
            text
            for text in (_written(edges, digits) for digits in range(3, 18))
            if len(set(text)) == len(text)
        )
        cuts = list(map(float, edges[1:-1]))
    names = [f"{low} to {high}" for low, high in pairwise(ends)]
    ranges = dict(zip(names, pairwise([None, *cuts, None]), strict=True))
    return names, edge_index(numbers, edges), ranges


def _written(edges: np.ndarray, digits: int) -> list[str]:
    """Write numbers with this many significant digits, without exponents if that is readable."""
    short = [float(f"{edge:.{digits}g}") for edge in edges]
    plain = [abs(x) < 1e7 and (x == 0 or abs(x) >= 1e-4) for x in short]
    return [
        f"{Decimal(repr(x)):,f}".removesuffix(".0") if p else str(x)
        for x, p in zip(short, plain, strict=True)
    ]


def _by_value(known: pd.Series, most: int) -> tuple[list[str], np.ndarray]:
    text = group_texts(known)
    counts = text.value_counts()
    kept = list(counts.index[: most if len(counts) <= most else most - 1])
    if is_ordered(known):
        kept = sorted(kept, key=float)
    place = {name: i for i, name in enumerate(kept)}
    index = text.map(lambda name: place.get(name, len(kept))).to_numpy(dtype=np.intp)
    return [*map(str, kept), *([REST] if len(counts) > len(kept) else [])], index


@dataclass(frozen=True, eq=False)
class GroupTable:
    """One line per calibrator and group.

    Attributes
    ----------
    table
        Columns calibrator, group, count, mean_p, observed, lower, upper (Wilson, 95 %), z, off, brier. z is
        (observed − expected number of class 1)/its standard deviation; off tells whether that is beyond chance,
        corrected for all groups.
    groups
        Names of the groups, in order.
    """

    table: pd.DataFrame
    groups: tuple[str, ...]


def judge_groups(
    evaluation: Evaluation, grouping: Grouping, calibrators: Sequence[str] | None = None
) -> GroupTable:
    """Compare mean prediction and observed frequency in every group, for these calibrators (by default all)."""
    keys = [key for key in (calibrators or evaluation.predictions) if key in evaluation.predictions]
    k, index = len(grouping.names), grouping.index
    count = grouping.count if evaluation.weight is None else group_sums(index, k, weights=evaluation.weight)
    filled = np.where(count > 0, count, np.nan)

    def sums(values: np.ndarray) -> np.ndarray:
        return group_sums(index, k, values, evaluation.weight)

    def spread(errors: np.ndarray, alone: np.ndarray) -> np.ndarray:
        """Return standard deviations (k,) of sums of errors (m,), whose variances are (k,) for independent rows."""
        return np.sqrt(np.maximum(alone, _of_clusters(evaluation, index, k, errors)))

    ones = sums(evaluation.y)
    observed = ones / filled
    alone = count * observed * (1 - observed)
    with np.errstate(divide="ignore", invalid="ignore"):
        fewer = np.where(alone > 0, alone / spread(evaluation.y - observed[index], alone) ** 2, 1.0)
    lower, upper = binomial_interval(fewer * ones, fewer * count, quantile=_limits(evaluation, index, k, 1))
    limit = _limits(evaluation, index, k, k)
    tables = []
    for key in keys:
        p = evaluation.predictions[key].p
        gap, sd = ones - sums(p), spread(evaluation.y - p, sums(p * (1 - p)))
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(sd > 1e-9, gap / sd, np.where(np.abs(gap) > 1e-9, np.sign(gap) * np.inf, 0.0))
        tables.append(
            pd.DataFrame(
                {
                    "calibrator": key,
                    "group": grouping.names,
                    "count": count,
                    "mean_p": sums(p) / filled,
                    "observed": observed,
                    "lower": lower,
                    "upper": upper,
                    "z": z,
                    "off": _off(z, limit, sd, sums(p * (1 - p) * (1 - 2 * p))),
                    "brier": sums((p - evaluation.y) ** 2) / filled,
                }
            )
        )
    return GroupTable(pd.concat(tables, ignore_index=True), grouping.names)


def _limits(evaluation: Evaluation, index: np.ndarray, k: int, tests: int) -> np.ndarray:
    """Return (k,) quantiles corrected for all tests: normal, or Student's by each group's clusters (NaN for one
    cluster).
    """
    tail = 1 - (1 - LEVEL) / 2 / tests
    whose = evaluation.sample.cluster_index
    if whose is None:
        return np.full(k, norm.ppf(tail))
    clusters = np.bincount(np.unique(whose * k + index) % k, minlength=k)
    return np.where(clusters > 1, student.ppf(tail, np.maximum(clusters - 1, 1)), np.nan)


def _off(z: np.ndarray, limit: np.ndarray, sd: np.ndarray, cubes: np.ndarray) -> np.ndarray:
    """Return bool (k,): beyond chance, corrected for discreteness and skewness (Cornish & Fisher 1938).

    Parameters
    ----------
    cubes : (k,)
        Third central moments of the sums of events.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = np.where(sd > 1e-9, cubes / sd**3, 0.0)
        whole = np.where(sd > 1e-9, 0.5 / sd, 0.0)
    lean = skewness * (limit**2 - 1) / 6
    return (z - whole > limit + lean) | (z + whole < lean - limit)


def _of_clusters(evaluation: Evaluation, index: np.ndarray, k: int, errors: np.ndarray) -> np.ndarray:
    """Return variances (k,) of the sums of errors (m,) in groups from sums per cluster; zeros without clusters."""
    if evaluation.cluster is None:
        return np.zeros(k)
    _, whose = np.unique(evaluation.cluster, return_inverse=True)
    place, cell = np.unique(whose * k + index, return_inverse=True)
    held = errors if evaluation.weight is None else errors * evaluation.weight
    return np.bincount(place % k, weights=np.bincount(cell, weights=held) ** 2, minlength=k)

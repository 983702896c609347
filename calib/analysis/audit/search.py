"""Audit of probabilities in all segments of a table, with an error rate that allows for the search.

Each segment is tested in three ways: level (calibration-in-the-large), slope (the score test of Cox's slope) and
shape (the range of cumulative differences, Arrieta-Ibarra et al. 2022). Labels are redrawn as if the probabilities were
right, y* ~ Bernoulli(p), and the largest statistic of all segments is computed again. With B redraws a segment's
adjusted p-value is (1 + #{largest* ≥ statistic}) / (B + 1) (single-step maxT, Westfall & Young 1993): if the
probabilities are right, the smallest of them is at most 5 % in at most 5 of 100 tables, whatever segments overlap and
however many there are. Weights weight the statistics; the test stays exact if they do not depend on labels, because a
redrawn label keeps the weight of its row. Rows of one cluster resemble each other; for clusters
the residuals of a cluster change their sign together (Cameron, Gelbach & Miller 2008), which is approximate.

Probabilities whose errors cancel exactly are refused, because they were fitted to the audited labels. Maximum
likelihood with an intercept (logistic recalibration, beta calibration) makes Σ (y − p) zero, Platt scaling does so for
its smoothed labels, and isotonic regression or bins make each distinct probability equal to the frequency of its rows.
On rows that no fit has seen, this happens by chance less than once in a million tables.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from math import comb
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from calib.analysis.audit.redraws import Redraws, moments, redraw, statistics, walks
from calib.analysis.audit.segments import (
    Conditions,
    DisjointSegments,
    Least,
    describe_segment,
    groupings_of,
    partitions,
)
from calib.analysis.subgroups import Grouping
from calib.kernel import checks
from calib.kernel.binning import group_sums
from calib.kernel.checks import Array, InputError
from calib.kernel.isotonic_regression import pool_ties
from calib.kernel.progress import Watch
from calib.kernel.rows import Rows
from calib.kernel.weights import are_whole
from calib.metrics.calibration_test import ALPHA, LOOKS

CHANCE = 1e-6
FITTED_ERROR = 1e-9  # largest mean error of fitted probabilities; chance does not come so close to 0
FITTED_DECIMALS = 6  # decimals of rounded probabilities, whose sums can agree by chance
DISTINCT = 50


def refuse_fitted(rows: Rows, p: Array) -> None:
    """Refuse probabilities p (n,) that were fitted to the labels of these rows."""
    if _frequencies(rows, p) or _cancels(rows, p):
        raise InputError(
            "The probabilities were fitted to these labels, so their errors cancel out exactly. Audit rows "
            "that were used to train neither the model nor the calibrator."
        )


def _frequencies(rows: Rows, p: Array) -> bool:
    """Tell whether each distinct probability is the frequency of its rows, which chance hardly ever does."""
    tied = pool_ties(p, rows.y, rows.weights)
    inside = (tied.scores > 0) & (tied.scores < 1)
    if np.abs(tied.sums - tied.weights * tied.scores).max() > FITTED_ERROR * rows.weights.sum():
        return False
    spread = (tied.weights * tied.scores * (1 - tied.scores))[inside]
    return bool(-np.log1p(np.sqrt(2 * np.pi * spread)).sum() < np.log(CHANCE))


def _cancels(rows: Rows, p: Array) -> bool:
    """Tell whether the errors of many unrounded probabilities sum to 0, against labels or those of Platt scaling."""
    distinct = np.unique(p)
    if len(distinct) < DISTINCT or np.array_equal(np.round(distinct, FITTED_DECIMALS), distinct):
        return False
    w, total = rows.weights, rows.weights.sum()
    ones = w @ rows.y
    smoothed = np.where(rows.y == 1, (ones + 1) / (ones + 2), 1 / (total - ones + 2))
    return bool(min(abs(w @ (rows.y - p)), abs(w @ (smoothed - p))) <= FITTED_ERROR * total)


MIN_ROWS, MIN_EVENTS = 50, 10
MAX_DEPTH = 3
FEWEST_REDRAWS, MOST_REDRAWS = 19, 99_999
EQUAL_STATISTICS = 1e-5  # statistics that differ by less are equal: single-precision sums depend on the order
THREADS = min(2, os.cpu_count() or 1)  # partitions tested in parallel


@dataclass(frozen=True, eq=False)
class Audit:
    """Result of an audit.

    Attributes
    ----------
    segments
        One line per segment, worst first: segment (in words), rows, predicted and observed (weighted mean probability
        and frequency), statistic (the largest of its three, on the scale of a standard normal number's distance from
        0), p_value (adjusted for all segments).
    p_value
        Smallest p-value in ``segments``, which is that of the whole table.
    threshold
        Statistics above it have an adjusted p-value of at most ``ALPHA``.
    conditions, looks
        Columns and groups of each segment in that order, and which of the three statistics is the largest.
    rows, p, places
        The audited rows in the order of p, their probabilities, and their positions in the input.
    groupings
        Groups of each column, for the rows of the input.
    resamples
        B.
    """

    segments: pd.DataFrame
    p_value: float
    threshold: float
    conditions: tuple[Conditions, ...]
    looks: tuple[str, ...]
    rows: Rows
    p: Array
    places: Array
    groupings: Mapping[str, Grouping]
    resamples: int

    @property
    def found(self) -> int:
        """Number of segments with an adjusted p-value of at most ``ALPHA``; they come first."""
        return int((self.segments["p_value"] <= ALPHA).sum())

    def members(self, segment: int) -> Array:
        """Return bool (n,), the rows of the input that belong to a segment, given by its line.

        Rows of weight 0 are not audited, but may belong to it.
        """
        kept = np.ones(len(next(iter(self.groupings.values())).index), dtype=bool)
        for column, name in self.conditions[segment]:
            grouping = self.groupings[column]
            kept &= grouping.index == grouping.names.index(name)
        return kept


def audit(
    y: ArrayLike,
    p: ArrayLike,
    frame: Any,
    depth: int = 2,
    resamples: int = 999,
    min_rows: int = MIN_ROWS,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    random_state: int = 0,
    *,
    min_events: float = MIN_EVENTS,
    counts: ArrayLike | None = None,
    watch: Watch | None = None,
) -> Audit:
    """Find the segments of a table in which probabilities are wrong, adjusted for the search.

    Parameters
    ----------
    y : (n,)
        Labels of 0 and 1.
    p : (n,)
        Probabilities in [0, 1], from a model and a calibrator that did not see these labels.
    frame : DataFrame (n, k)
        Columns whose values and quantile ranges define segments; the model need not have seen them.
    depth
        Largest number of columns in a conjunction, from 1 to 3.
    resamples
        B, the number of redraws.
    min_rows, min_events
        A segment has at least so many rows, and at least so many expected events Σp and non-events Σ(1 − p);
        Σp(1 − p) is at least half as large.
    sample_weight, counts : (n,)
        Weights of the rows. Whole numbers are repeated rows, unless ``counts`` gives how many rows each row
        represents. Other weights must not depend on the labels, except through the columns.
    cluster : (n,)
        Cluster of each row. The error rate is then approximate.
    random_state
        Seed of the redraws, together with the probabilities: other tables get other redraws.
    watch
        Receives the progress of the search, and can cancel it.

    Raises
    ------
    InputError
        For invalid input or input of different lengths, a table without columns or large enough segments, probabilities
        that were fitted to these labels, and weights that are one number per label.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> group, p = rng.choice(["a", "b", "c"], 3000), rng.uniform(0.2, 0.8, 3000)
    >>> y = rng.random(3000) < p + 0.15 * (group == "b")                       # too low for b
    >>> found = audit(y, p, pd.DataFrame({"group": group, "other": rng.random(3000)}))
    >>> found.segments.loc[0, "segment"], found.p_value
    ('group = b', 0.001)
    """
    labels, p = checks.labelled_probabilities(y, p)
    table = pd.DataFrame(frame)
    checks.same_length(y=labels, frame=table)
    if not table.shape[1]:
        raise InputError("frame has no columns, but at least one is needed to form segments.")
    checks.in_range(depth, "depth", 1, MAX_DEPTH, integer=True)
    checks.in_range(resamples, "resamples", FEWEST_REDRAWS, MOST_REDRAWS, integer=True)
    checks.in_range(min_rows, "min_rows", 1, integer=True)
    checks.in_range(min_events, "min_events", 0)
    checks.in_range(random_state, "random_state", 0, integer=True)
    rows, (p, places) = Rows.checked(
        labels, p, np.arange(len(p)), sample_weight=sample_weight, counts=counts, cluster=cluster
    )
    order = np.argsort(p, kind="stable")
    rows, p, places = rows.of(order), p[order], places[order]
    refuse_fitted(rows, p)
    _refuse_weights_of_labels(rows)
    groupings = groupings_of(table, min_rows)
    held = {name: Grouping(each.names, each.index[places]) for name, each in groupings.items()}
    least = Least(min_rows, min_events, rows.draws, p)
    watch = watch or Watch()
    watch.step(0.0, "redrawing labels")
    redraws = redraw(rows, p, resamples, np.random.default_rng([random_state, crc32(p.tobytes())]))
    total = sum(comb(len(held), size) for size in range(1, depth + 1))
    found: list[_Tested] = []
    with ThreadPoolExecutor(THREADS) as pool:
        waiting = partitions(held, depth, least)
        while batch := list(islice(waiting, THREADS)):
            watch.step(min(1.0, len(found) / total), "segments")
            found += pool.map(lambda each: _judge(each, rows, p, redraws, 2 * min_rows), batch)
    if not found:
        raise InputError(
            f"No segment is large enough: it needs {min_rows} rows, {min_events:g} expected events and {min_events:g} "
            "expected non-events. Lower min_rows or min_events, or use columns with several values."
        )
    watch.step(1.0, "segments")
    return _summed_up(found, rows, p, places, groupings, resamples)


def _refuse_weights_of_labels(rows: Rows) -> None:
    """Refuse weights that depend on the label alone: of sampled controls, or of balanced classes."""
    weights = rows.weights
    if are_whole(weights) or rows.counts is not None or rows.cluster_index is not None:
        return
    of_labels = [np.unique(weights[rows.y == label]) for label in (0, 1)]
    if all(len(each) == 1 for each in of_labels) and of_labels[0] != of_labels[1]:
        raise InputError(
            "The weights depend on the labels, so newly drawn labels would need different weights. Omit the "
            "weights, and audit probabilities at the base rate of these rows."
        )


@dataclass(frozen=True, eq=False)
class _Tested:
    """Segments of one partition with their observed results, and the largest statistic of each redraw (resamples,)."""

    conditions: tuple[Conditions, ...]
    rows: Array
    predicted: Array
    observed: Array
    statistic: Array
    look: Array
    largest: Array


def _judge(partition: DisjointSegments, rows: Rows, p: Array, redraws: Redraws, slope_rows: int) -> _Tested:
    index, k = partition.index, len(partition.conditions)
    held = index >= 0
    count, weight, events, expected = (
        group_sums(index[held], k, weights=each[held])
        for each in (rows.draws, rows.weights, rows.weights * rows.y, rows.weights * p)
    )
    known, across = moments(rows, p, index, k)
    found = statistics(
        walks(redraws, index, k, p, across), known, count >= slope_rows, rows.cluster_index is not None
    )
    return _Tested(
        partition.conditions,
        count,
        expected / weight,
        events / weight,
        found[:, :, 0].max(axis=0),
        found[:, :, 0].argmax(axis=0),
        found[:, :, 1:].max(axis=(0, 1)),
    )


def _summed_up(
    found: list[_Tested],
    rows: Rows,
    p: Array,
    places: Array,
    groupings: Mapping[str, Grouping],
    resamples: int,
) -> Audit:
    largest = np.sort(np.max([each.largest for each in found], axis=0))
    statistic, look, count, predicted, observed = (
        np.concatenate([getattr(each, name) for each in found])
        for name in ("statistic", "look", "rows", "predicted", "observed")
    )
    conditions = [each for one in found for each in one.conditions]
    above = resamples - np.searchsorted(largest, statistic * (1 - EQUAL_STATISTICS))
    order = np.argsort(-statistic, kind="stable")
    table = pd.DataFrame(
        {
            "segment": [describe_segment(conditions[i]) for i in order],
            "rows": np.round(count[order]).astype(np.int64),
            "predicted": predicted[order],
            "observed": observed[order],
            "statistic": statistic[order],
            "p_value": (1 + above[order]) / (resamples + 1),
        }
    )
    return Audit(
        table,
        float(table["p_value"].iloc[0]),
        _threshold(largest, resamples),
        tuple(conditions[i] for i in order),
        tuple(LOOKS[look[i]] for i in order),
        rows,
        p,
        places,
        groupings,
        resamples,
    )


def _threshold(largest: Array, resamples: int) -> float:
    """Return the largest statistic whose p-value is above ``ALPHA``; largest (resamples,) is sorted."""
    may_exceed = int(np.floor(ALPHA * (resamples + 1) + 1e-9)) - 1
    return float(largest[resamples - 1 - may_exceed]) if may_exceed >= 0 else np.inf

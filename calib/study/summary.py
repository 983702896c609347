"""Summary of a study for one metric: means of every setup on every data set, and tests of their differences.

Means over folds and repeats form a table, data sets × setups; ranks, tests,
win rates and regret come from ``calib.comparison``, over the data sets for which every setup has a value
(Demšar 2006; García and Herrera 2008). Missing values are named, infinite losses stay infinite.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from calib import comparison
from calib.comparison.ranks import MOST_METHODS
from calib.kernel import checks
from calib.kernel.checks import Array, InputError
from calib.kernel.records import Predictions
from calib.kernel.wording import counted, listed, number, within_a_sentence
from calib.metrics import METRICS, Metric
from calib.metrics.calibration_test import ALPHA
from calib.study.rows import measure

POOLED_METRICS = ("reliability", "resolution", "within")
"""Metrics of Murphy's 100 bins: within one fold they measure mainly noise."""

MOST_NAMED_SETUPS = 12  # most setups named in a sentence on missing values; the table of means shows all


@dataclass(frozen=True, eq=False)
class MetricSummary:
    """One metric of every setup on every data set, and the comparison of the setups.

    Attributes
    ----------
    metric
        The metric, with its better end.
    means
        Data sets × setups, the mean over folds and repeats; NaN if there is none.
    alpha
        Level of significance.
    pooled
        Whether each value is that of a data set's pooled folds.
    over_folds
        Whether it is a mean over folds although only pooled predictions are meaningful (``POOLED_METRICS``).
    notes
        Sentences on missing values.
    """

    metric: Metric
    means: pd.DataFrame
    alpha: float = ALPHA
    pooled: bool = False
    over_folds: bool = False
    notes: tuple[str, ...] = ()

    @property
    def setups(self) -> list[str]:
        return self.means.columns.tolist()

    @cached_property
    def compared(self) -> pd.DataFrame:
        """The data sets for which every setup has a value; ranks and tests use them."""
        return self.means.dropna()

    @property
    def left_out(self) -> dict[str, list[str]]:
        """Data set → the setups that it lacks, for data sets excluded from ranks and tests."""
        gaps = self.means[self.means.isna().any(axis=1)]
        return {str(name): gaps.columns[row.isna()].tolist() for name, row in gaps.iterrows()}

    @cached_property
    def uncompared(self) -> str | None:
        """The reason why there are no ranks, or None."""
        metric = self.metric
        if metric.higher_is_better is None and metric.target is None:
            return f"{metric.label} has no best value, so there are means but no ranks or tests."
        if len(self.setups) < 2:
            return "Ranks and tests need at least 2 setups."
        if self.compared.empty:
            return "No data set has a value for every setup. Choose fewer setups, or run the missing setups."
        return None

    @property
    def mean(self) -> pd.Series:
        """The mean of each setup over the compared data sets; infinite if one value is."""
        return self.compared.mean()

    @cached_property
    def _direction(self) -> tuple[pd.DataFrame, bool]:
        """The compared table with its direction; a metric with a target becomes the distance from it.

        Means that differ only by the order in which their folds were summed are equal in it.
        """
        if self.uncompared is not None:
            raise InputError(self.uncompared)
        table, higher = self.compared, bool(self.metric.higher_is_better)
        if self.metric.target is not None:
            table, higher = (table - self.metric.target).abs(), False
        return table.apply(_in_digits), higher

    @cached_property
    def ranks(self) -> pd.DataFrame:
        """Data sets × setups, 1 for the best, ties averaged, infinite values tied last."""
        ranks = comparison.ranks(*self._direction)
        return pd.DataFrame(ranks, index=self.compared.index, columns=self.setups)

    @property
    def average_ranks(self) -> pd.Series:
        return self.ranks.mean()

    @cached_property
    def friedman(self) -> comparison.FriedmanTest | None:
        """Friedman's test with Iman and Davenport's F; None for a single data set."""
        return comparison.friedman(*self._direction) if len(self.compared) > 1 else None

    @cached_property
    def critical_difference(self) -> float:
        """Nemenyi's critical difference; average ranks that differ by more differ significantly."""
        return comparison.nemenyi_critical_difference(len(self.setups), len(self.ranks), self.alpha)

    @cached_property
    def adjusted(self) -> pd.DataFrame | None:
        """Bergmann–Hommel's adjusted p-values of every pair; None for more setups than it compares."""
        if len(self.setups) > MOST_METHODS:
            return None
        return self._square(comparison.bergmann_hommel(self.average_ranks, len(self.ranks)))

    @property
    def significant(self) -> pd.DataFrame | None:
        """Whether the row's setup is significantly better than the column's (Bergmann–Hommel), setups × setups.

        These are the cells with "v" in the matrices of Johansson et al. (2019), Tables 3 and 5.
        """
        if self.adjusted is None:
            return None
        ranks = self.average_ranks.to_numpy()
        return (self.adjusted <= self.alpha) & (ranks[:, None] < ranks)

    @cached_property
    def t_tests(self) -> pd.DataFrame:
        """One-sided p-values of "the row's setup is better on average", NaN if a value is infinite."""
        return self._square(comparison.paired_t_matrix(*self._direction))

    @cached_property
    def wins(self) -> Array:
        """Count the data sets on which the row's setup is better than, equal to and worse than the column's, (k, k,
        3).
        """
        return comparison.wins(*self._direction)

    @cached_property
    def win_rates(self) -> pd.DataFrame:
        """Setups by mean share of the others that they beat, with the ends of 95 % intervals over data sets."""
        return pd.DataFrame(vars(comparison.win_rates(*self._direction)), index=self.setups)

    @cached_property
    def regret(self) -> pd.DataFrame:
        """Setups by mean distance from each data set's best in hindsight, without intervals, which would not cover."""
        return pd.DataFrame({"mean": comparison.regrets(*self._direction).mean(axis=0)}, index=self.setups)

    @property
    def infinite(self) -> dict[str, list[str]]:
        """Setup → the compared data sets with infinite values, for setups that have any."""
        found = np.isinf(self.compared)
        return {name: found.index[found[name]].tolist() for name in self.setups if found[name].any()}

    def _square(self, values: Array) -> pd.DataFrame:
        return pd.DataFrame(values, index=self.setups, columns=self.setups)


def summarise(
    rows: pd.DataFrame,
    metric: str,
    setups: Sequence[str] | None = None,
    predictions: Mapping[tuple[str, str, object], Predictions] | None = None,
    alpha: float = ALPHA,
) -> MetricSummary:
    """Summarise one metric of a study's rows.

    Parameters
    ----------
    rows
        Columns data, setup, repeat, fold, seed, then one per metric; one row per fold (``check_rows``).
    metric
        A key of METRICS, or fit_seconds.
    setups
        Setups to compare, in this order; by default all, in the order of the rows.
    predictions
        (data, setup, repeat) → Predictions; Murphy's terms are then computed from a data set's pooled folds.
    alpha
        Level of significance.

    Raises
    ------
    InputError
        For a metric or a setup that the rows do not have.

    Examples
    --------
    >>> rows = [("kc1", "Tree", 0.20), ("kc1", "VAP", 0.10), ("pc4", "Tree", 0.30), ("pc4", "VAP", 0.25)]
    >>> table = pd.DataFrame(rows, columns=["data", "setup", "brier"]).assign(repeat=0, fold=0, seed=0)
    >>> summary = summarise(table, "brier")
    >>> summary.mean.round(3).to_dict(), summary.average_ranks.to_dict()
    ({'Tree': 0.25, 'VAP': 0.175}, {'Tree': 2.0, 'VAP': 1.0})
    """
    what = measure(metric)
    if metric not in rows:
        raise InputError(f"The results do not contain {metric}. Choose another metric.")
    checks.in_range(alpha, "alpha", low=0, high=1, open_ends=True)
    there = list(dict.fromkeys(rows["setup"]))
    chosen = there if setups is None else [checks.one_of(name, there, "setups") for name in setups]
    rows = rows[rows["setup"].isin(chosen)]
    means, count = _means_and_counts(rows, metric, chosen)
    pooled = metric in POOLED_METRICS and bool(predictions)
    if pooled:
        means = pooled_values(predictions or {}, metric).reindex(index=means.index, columns=chosen)
    over_folds = metric in POOLED_METRICS and not pooled and bool((count > 1).to_numpy().any())
    nowhere = means.columns[means.isna().all()].tolist()
    means, count = means.drop(columns=nowhere), count.drop(columns=nowhere)
    notes = [*_nowhere(nowhere, what), *_missing(means), *([] if pooled else _fewer_folds(count))]
    if over_folds:
        notes.append(
            f"Here {what.label} is a mean over folds and mostly noise, because each fold has few rows. "
            "To pool the folds, use the results file: unlike a CSV file, it contains the predictions."
        )
    return MetricSummary(what, means, alpha, pooled, over_folds, tuple(notes))


def _means_and_counts(
    rows: pd.DataFrame, metric: str, setups: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return means over the rows that have a value, and their number, data sets × setups.

    These are plain sums, because pandas' grouped sums turn two infinite values into NaN.
    """
    known = rows[metric].notna().to_numpy()
    data, names = pd.factorize(rows["data"])
    setup = pd.Index(setups).get_indexer(rows["setup"])
    shape = (len(names), len(setups))
    cell = np.ravel_multi_index((data[known], setup[known]), shape)
    sums = np.bincount(cell, rows[metric].to_numpy()[known], minlength=shape[0] * shape[1]).reshape(shape)
    count = np.bincount(cell, minlength=sums.size).reshape(shape)
    with np.errstate(invalid="ignore"):
        means = np.where(count > 0, sums / np.maximum(count, 1), np.nan)
    labels = {"index": pd.Index(names, name="data"), "columns": list(setups)}
    return pd.DataFrame(means, **labels), pd.DataFrame(count, **labels)


def pooled_values(
    predictions: Mapping[tuple[str, str, object], Predictions], metric: str = "reliability"
) -> pd.DataFrame:
    """Return a metric of all predictions of a data set and a setup together, over all folds and repeats.

    This reproduces the papers' reliability: on haberman (10 × 10 folds, trees, Venn–Abers) it is .025 as a mean
    over folds, .018 over repeats and .0044 pooled, where .0058 is printed.

    Parameters
    ----------
    predictions
        (data, setup, repeat) → Predictions of that repeat's folds.
    """
    function, values = METRICS[checks.one_of(metric, METRICS, "metric")].function, {}
    for cell, keys in _cells(predictions).items():
        pooled = Predictions.joined([predictions[key] for key in keys])
        values[cell] = function(pooled.y, pooled.p)
    sets, setups = (dict.fromkeys(names) for names in zip(*values, strict=True))
    return pd.DataFrame(
        [[values.get((data, setup), np.nan) for setup in setups] for data in sets], list(sets), list(setups)
    )


def pooled_predictions(
    predictions: Mapping[tuple[str, str, object], Predictions], data: str, setups: Sequence[str]
) -> dict[str, Predictions]:
    """Return setup → all its predictions of one data set, for the setups that have some.

    For three or more classes they are each row's highest probability and whether its class is right.

    Parameters
    ----------
    predictions
        See ``pooled_values``.
    """
    cells = _cells(predictions)
    chosen = {setup: cells[data, setup] for setup in setups if (data, setup) in cells}
    joined = {setup: Predictions.joined([predictions[key] for key in keys]) for setup, keys in chosen.items()}
    return {setup: _confidence(one) for setup, one in joined.items()}


def _confidence(one: Predictions) -> Predictions:
    if one.p.ndim == 1:
        return one
    return Predictions((one.p.argmax(axis=1) == one.y).astype(np.intp), one.p.max(axis=1))


def _cells(
    predictions: Iterable[tuple[str, str, object]],
) -> dict[tuple[str, str], list[tuple[str, str, object]]]:
    """Return (data, setup) → the keys of its repeats, without reading predictions from a store."""
    cells: dict[tuple[str, str], list[tuple[str, str, object]]] = {}
    for key in predictions:
        cells.setdefault(key[:2], []).append(key)
    return cells


def _nowhere(setups: Sequence[str], metric: Metric) -> list[str]:
    """Name the setups without any value, such as the width of setups without intervals."""
    if not setups:
        return []
    have, are = ("has", "is") if len(setups) == 1 else ("have", "are")
    label = within_a_sentence(metric.label)
    return [f"{listed(setups, MOST_NAMED_SETUPS)} {have} no {label} on any data set and {are} excluded."]


def _missing(means: pd.DataFrame) -> list[str]:
    """Name the setups without a value on some data sets."""
    gaps = means.isna()
    by_gap: dict[tuple[str, ...], list[str]] = {}
    for name, row in gaps[gaps.any(axis=1)].iterrows():
        by_gap.setdefault(tuple(gaps.columns[row]), []).append(str(name))
    return [
        f"{listed(sets)}: {listed(setups, MOST_NAMED_SETUPS)} {'has' if len(setups) == 1 else 'have'} no value, "
        "so means, ranks and tests exclude "
        f"{'this data set' if len(sets) == 1 else 'these data sets'}."
        for setups, sets in by_gap.items()
    ]


def _fewer_folds(count: pd.DataFrame) -> list[str]:
    """Name the setups whose means use fewer folds than others' on the same data set."""
    most = count.max(axis=1)
    missing_in: dict[tuple[str, int, int], list[str]] = {}
    for name, row in count.iterrows():
        for setup in count.columns[(row > 0) & (row < most[name])]:
            missing_in.setdefault((setup, int(row[setup]), int(most[name])), []).append(str(name))
    where = {
        key: "each data set" if len(sets) == len(count) else listed(sets) for key, sets in missing_in.items()
    }
    return [
        f"{setup} has results for {few} of {counted(many, 'fold')} on {place}, so its mean uses only these folds."
        for (setup, few, many), place in where.items()
    ]


def _in_digits(values: pd.Series, digits: int = 12) -> pd.Series:
    """Round values to this many significant digits, because sums of the same numbers differ in the sixteenth."""
    known = np.isfinite(values) & (values != 0)
    unit = 10.0 ** (np.floor(np.log10(values.abs().where(known, 1.0))) - digits + 1)
    return (values / unit).round().mul(unit).where(known, values)


def friedman_line(summary: MetricSummary) -> str:
    """State Friedman's test and the critical difference in one sentence."""
    found, n = summary.friedman, len(summary.ranks)
    if found is None:
        return "Tests need at least 2 data sets."
    alike = "Iman and Davenport's F is undefined, because all data sets rank the setups in the same order"
    other = f"Iman and Davenport's F = {number(found.f_statistic)}, p = {number(found.f_pvalue)}"
    return (
        f"Friedman χ² = {number(found.statistic)}, p = {number(found.pvalue)}; "
        f"{other if np.isfinite(found.f_statistic) else alike}. Nemenyi's critical difference at "
        f"α = {summary.alpha:g} is {number(summary.critical_difference)} for {counted(n, 'data set')}."
    )

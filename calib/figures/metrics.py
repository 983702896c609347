"""The metric table as people read it: three significant digits, and a sign beside the best value of each column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite

import pandas as pd

from calib.analysis.clipped import clipped, with_clipped
from calib.analysis.label_shift import places_of
from calib.analysis.sample_size import LABELS, SampleSize
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.kernel.wording import number, percent
from calib.metrics import METRICS, Metric

BEST = " ★"
EVERYDAY = (
    "brier",
    "log_loss",
    "ece",
    "ece_chance",
    "auc",
    "accuracy",
    "miscalibration",
    "miscalibration_chance",
    "discrimination",
)
"""What is shown of every calibrator before anything else is asked for."""


def formatted_metrics(evaluation: Evaluation, metrics: Iterable[str] | None = None) -> pd.DataFrame:
    """Rows by name, columns by label, values as text; the best of each column carries a star, ties all of them.

    No star where all values read the same, nor on an infinite one.

    Parameters
    ----------
    metrics
        Keys of the columns shown, all everyday ones by default; those without a value are left out.
    """
    table = evaluation.metrics if metrics is None else evaluation.measured(metrics)
    index = pd.Index([label_of(key) for key in table.index], name="Calibrator")
    return _formatted(table, clipped(evaluation, table), index)


def formatted_side_by_side(evaluations: Mapping[str, Evaluation], metrics: Iterable[str]) -> pd.DataFrame:
    """``formatted_metrics`` of several evaluations under their names in one table, the best marked across all.

    Calibrator by calibrator, the uncalibrated models first: what each is as it stands comes before what was
    made of it.

    Parameters
    ----------
    evaluations
        By name.
    metrics
        Keys of the columns.
    """
    chosen = list(metrics)
    tables = {name: evaluation.measured(chosen) for name, evaluation in evaluations.items()}
    keys = dict.fromkeys(["none", *(key for table in tables.values() for key in table.index)])
    rows = [(name, key) for key in keys for name, table in tables.items() if key in table.index]
    beside = {name: clipped(evaluations[name], found) for name, found in tables.items()}
    table, finite = (
        pd.DataFrame([those[name].loc[key] for name, key in rows]).reset_index(drop=True)
        for those in (tables, beside)
    )
    index = pd.MultiIndex.from_tuples([(name, label_of(key)) for name, key in rows], names=["", "Calibrator"])
    return _formatted(table, finite, index).reset_index()


def formatted_sample_size(found: SampleSize) -> pd.DataFrame:
    """The rows that each measure needs, in words for a table.

    Parameters
    ----------
    found
        What ``sample_size`` returned.
    """
    lines = [
        (
            LABELS[one.measure],
            number(one.asked),
            f"{one.rows:,}" if isfinite(one.rows) else "∞",
            number(one.here),
            "yes" if one.rows <= found.rows else "no",
        )
        for one in found.needed
    ]
    columns = ["Measure", "Asked for", "Rows needed", "Width here", "Enough"]
    return pd.DataFrame(lines, columns=columns)


def formatted_rates(evaluation: Evaluation, table: pd.DataFrame) -> pd.DataFrame:
    """``before_and_after`` in words: a calibrator at the table's base rate, and below it at the stated one."""
    stated = evaluation.recipe.base_rate
    shown = pd.DataFrame({"Calibrator": [label_of(key) for key in table["calibrator"]]})
    places = {"table": "in the table", "stated": f"at {percent(stated)}" if stated else ""}
    shown["Where"] = table["place"].map(places)
    for column in table.columns[2:]:
        label = {"base_rate": "Base rate", "mean_p": "Mean prediction"}.get(column) or METRICS[column].label
        text = percent if column in ("base_rate", "mean_p") else number
        shown[label] = [text(value) for value in table[column]]
    for place, made in places_of(evaluation).items():
        own = table["place"] == place
        finite = clipped(made, table[own].set_index("calibrator"))["log_loss"]
        label = METRICS["log_loss"].label
        shown.loc[own, label] = list(map(with_clipped, shown.loc[own, label], finite))
    return shown


def _formatted(table: pd.DataFrame, finite: pd.DataFrame, index: pd.Index) -> pd.DataFrame:
    """``finite``, of the same shape, holds what stands beside infinite values."""
    known = [key for key in table.columns if not table[key].isna().all()]
    cells = {
        METRICS[key].label: map(with_clipped, starred(METRICS[key], table[key].tolist()), finite[key])
        for key in known
    }
    return pd.DataFrame({label: list(texts) for label, texts in cells.items()}, index)


def starred(metric: Metric, values: Iterable[float], form: Callable[[float], str] = number) -> list[str]:
    """The values as text, the best of them starred where they do not all read alike."""
    values = list(values)
    read = [number(value) for value in values]
    stars = _best(metric, values) if len(set(read)) > 1 else set()
    return [form(value) + BEST * (text in stars) for value, text in zip(values, read, strict=True)]


def best(metric: Metric, values: pd.Series) -> pd.Series:
    """Which values are the best of a metric, as they read: the largest, the smallest, the nearest to its target.

    None where neither end is best, and never one that is infinite.
    """
    chosen = _best(metric, values.tolist())
    return pd.Series([number(value) in chosen for value in values], values.index, dtype=bool)


def _best(metric: Metric, values: Sequence[float]) -> set[str]:
    """How the best of these values read."""
    finite = [value for value in values if isfinite(value)]
    if not finite or (metric.target is None and metric.higher_is_better is None):
        return set()
    if metric.target is None:
        return {number(max(finite) if metric.higher_is_better else min(finite))}
    away = {value: abs(value - metric.target) for value in finite}
    least = min(away.values())
    return {number(value) for value, far in away.items() if far == least}

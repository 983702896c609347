"""The metric table as people read it: three significant digits, and a sign beside the best value of each column."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from calib.evaluate import Evaluation
from calib.figures.base import label_of
from calib.figures.theme import number
from calib.metrics import METRICS, Metric

BEST = " ★"


def formatted_metrics(evaluation: Evaluation, metrics: Iterable[str] | None = None) -> pd.DataFrame:
    """Rows by name, columns by label, values as text; the best of each column carries a star, ties all of them.

    metrics : keys of the columns shown, all by default; those the evaluation does not have are left out
    """
    chosen = evaluation.metrics.columns if metrics is None else [m for m in metrics if m in evaluation.metrics]
    table = evaluation.metrics[list(chosen)].dropna(axis="columns", how="all")
    shown = pd.DataFrame(index=pd.Index([label_of(key) for key in table.index], name="Calibrator"))
    for key in table.columns:
        metric, values = METRICS[key], table[key]
        marked = best(metric, values) if len(values) > 1 else pd.Series(False, index=values.index)
        shown[metric.label] = [
            number(value) + (BEST if star else "") for value, star in zip(values, marked, strict=True)
        ]
    return shown


def best_calibrator(evaluation: Evaluation) -> str:
    """The calibrator with the lowest Brier score, a proper score; the uncalibrated model only where it is alone."""
    brier = evaluation.measured(["brier"])["brier"]
    others = brier.drop("none", errors="ignore")
    return str((brier if others.empty else others).idxmin())


def best(metric: Metric, values: pd.Series) -> pd.Series:
    """Which values are the best of a metric: the largest, the smallest, the nearest to its target, or none."""
    if metric.target is not None:
        distance = (values - metric.target).abs()
        return distance == distance.min()
    if metric.higher_is_better is None:
        return pd.Series(False, index=values.index)
    return values == (values.max() if metric.higher_is_better else values.min())

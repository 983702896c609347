"""The metric table as people read it: three significant digits, and a sign beside the best value of each column."""

from __future__ import annotations

import pandas as pd

from calib.evaluate import Evaluation
from calib.figures.base import label_of
from calib.figures.theme import number
from calib.metrics import METRICS, Metric

BEST = " ★"


def formatted_metrics(evaluation: Evaluation) -> pd.DataFrame:
    """Rows by name, columns by label, values as text; the best of each column carries a star, ties all of them."""
    table = evaluation.metrics
    shown = pd.DataFrame(index=pd.Index([label_of(key) for key in table.index], name="Calibrator"))
    for key in table.columns:
        metric, values = METRICS[key], table[key]
        marked = best(metric, values) if len(values) > 1 else values != values
        shown[metric.label] = [
            number(value) + (BEST if star else "") for value, star in zip(values, marked, strict=True)
        ]
    return shown


def best(metric: Metric, values: pd.Series) -> pd.Series:
    """Which values are the best of a metric: the largest, the smallest, the nearest to its target, or none."""
    if metric.target is not None:
        distance = (values - metric.target).abs()
        return distance == distance.min()
    if metric.higher_is_better is None:
        return values != values
    return values == (values.max() if metric.higher_is_better else values.min())

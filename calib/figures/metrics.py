"""The metric table for readers: three significant digits, and a star at the best value of each column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite, isnan

import pandas as pd

from calib.analysis.label_shift import places_of
from calib.analysis.sample_size import QUANTITIES, SampleSize
from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.evaluate.estimate import Estimate
from calib.kernel.wording import digits_apart, number, percent, set_apart, with_interval
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
"""Metrics that are shown by default."""


def formatted_metrics(evaluation: Evaluation, metrics: Iterable[str] | None = None) -> pd.DataFrame:
    """Return values as text, rows by name, columns by label; the best of each column have a star, ties included.

    A column has no star if all values are equal, and infinite values have none.

    Parameters
    ----------
    metrics
        Keys of the columns, all everyday ones by default; metrics without a value are left out.
    """
    keys = list(evaluation.predictions)
    index = pd.Index(map(label_of, keys), name="Calibrator")
    return _formatted(
        evaluation.metrics if metrics is None else metrics, [(evaluation, key) for key in keys], index
    )


def formatted_side_by_side(evaluations: Mapping[str, Evaluation], metrics: Iterable[str]) -> pd.DataFrame:
    """Combine ``formatted_metrics`` of several named evaluations in one table, with the best marked across all.

    Rows are sorted by calibrator, the uncalibrated models first.

    Parameters
    ----------
    evaluations
        By name.
    metrics
        Keys of the columns.
    """
    keys = dict.fromkeys(
        ["none", *(key for evaluation in evaluations.values() for key in evaluation.predictions)]
    )
    rows = [(name, key) for key in keys for name, one in evaluations.items() if key in one.predictions]
    index = pd.MultiIndex.from_tuples([(name, label_of(key)) for name, key in rows], names=["", "Calibrator"])
    return _formatted(metrics, [(evaluations[name], key) for name, key in rows], index).reset_index()


def formatted_sample_size(found: SampleSize) -> pd.DataFrame:
    """Return a table for readers of the rows that each measure needs.

    Parameters
    ----------
    found
        The result of ``sample_size``.
    """
    lines = [
        (
            QUANTITIES[one.measure],
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
    """Format ``compare_base_rates``: each calibrator at the table's base rate, and below it at the stated one."""
    stated = evaluation.recipe.base_rate
    shown = pd.DataFrame({"Calibrator": [label_of(key) for key in table["calibrator"]]})
    places = {"table": "in the table", "stated": f"at {percent(stated)}" if stated else ""}
    shown["Where"] = table["place"].map(places)
    for column, label in (("base_rate", "Base rate"), ("mean_p", "Mean prediction")):
        shown[label] = list(map(percent, table[column]))
    at = places_of(evaluation)
    for column in table.columns[4:]:
        shown[METRICS[column].label] = [
            at[line.place].estimate(column, line.calibrator, interval=False).text()
            for line in table.itertuples()
        ]
    return shown


def _formatted(
    metrics: Iterable[str], lines: Sequence[tuple[Evaluation, str]], index: pd.Index
) -> pd.DataFrame:
    """Format a table with one line per (evaluation, calibrator), and a column per metric that has a value."""
    columns = {
        key: [one.estimate(key, calibrator, interval=False) for one, calibrator in lines] for key in metrics
    }
    return pd.DataFrame(
        {
            METRICS[key].label: starred_estimates(METRICS[key], found)
            for key, found in columns.items()
            if not all(isnan(each.value) for each in found)
        },
        index,
    )


def starred_estimates(metric: Metric, found: Sequence[Estimate]) -> list[str]:
    """Return the values as ``starred`` does, each with its clipped value if it is infinite."""
    texts = starred(metric, [each.value for each in found])
    return [each.beside(text) for each, text in zip(found, texts, strict=True)]


def starred(metric: Metric, values: Iterable[float], form: Callable[[float, int], str] = number) -> list[str]:
    """Return the values as text; the best have a star, and no other value reads like them.

    There is no star if all values are equally good. ``form`` takes a value and its digits.
    """
    values = list(values)
    best = metric.best(values).tolist()
    stars = [False] * len(best) if all(best) else best
    return [text + BEST * star for text, star in zip(set_apart(values, stars, form), stars, strict=True)]


def starred_intervals(lines: Sequence[tuple[float, float, float]], best: Sequence[bool]) -> list[str]:
    """Return (value, low, high) as texts; the best values have a star, and no other value reads like them."""

    def value(line: tuple[float, float, float], digits: int) -> str:
        return with_interval(*line, digits=digits).partition(" ")[0]

    digits = digits_apart(lines, best, value)
    return [with_interval(*line, BEST * bool(star), digits) for line, star in zip(lines, best, strict=True)]

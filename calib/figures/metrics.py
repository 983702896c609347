"""The metric table for readers: three significant digits, and a star at the best value of each column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite

import pandas as pd

from calib.analysis.clipped import clipped, with_clipped
from calib.analysis.label_shift import places_of
from calib.analysis.sample_size import QUANTITIES, SampleSize
from calib.calibrators import label_of
from calib.evaluate import Evaluation
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
    table = evaluation.metrics if metrics is None else evaluation.measured(metrics)
    index = pd.Index([label_of(key) for key in table.index], name="Calibrator")
    return _formatted(table, clipped(evaluation, table), index)


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
    for column in table.columns[2:]:
        label = {"base_rate": "Base rate", "mean_p": "Mean prediction"}.get(column) or METRICS[column].label
        text = percent if column in ("base_rate", "mean_p") else number
        shown[label] = [text(value) for value in table[column]]
    for place, made in places_of(evaluation).items():
        here = table["place"] == place
        finite = clipped(made, table[here].set_index("calibrator"))["log_loss"]
        label = METRICS["log_loss"].label
        shown.loc[here, label] = list(map(with_clipped, shown.loc[here, label], finite))
    return shown


def _formatted(table: pd.DataFrame, finite: pd.DataFrame, index: pd.Index) -> pd.DataFrame:
    """Format a table; ``finite``, of the same shape, has the values to show beside infinite ones."""
    known = [key for key in table.columns if not table[key].isna().all()]
    cells = {
        METRICS[key].label: map(with_clipped, starred(METRICS[key], table[key].tolist()), finite[key])
        for key in known
    }
    return pd.DataFrame({label: list(texts) for label, texts in cells.items()}, index)


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

"""The metric table as text for a terminal, CSV, JSON or Markdown: a line per metric, a column per calibrator."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence

import pandas as pd

from calib.kernel.checks import one_of
from calib.kernel.fields import json_numbers
from calib.kernel.wording import with_clipped

TERMINAL_WIDTH = 80  # of a terminal; further columns follow below, with the metrics' names repeated


def print_metrics(metrics: pd.DataFrame, form: str = "table", finite: pd.DataFrame | None = None) -> str:
    """Format a metric table, with one row per calibrator and one column per metric, as text in one of ``WRITERS``.

    Parameters
    ----------
    metrics
            A table like ``Evaluation.metrics``.
    form
        "table", at most 80 characters wide and four decimals; "markdown", four decimals; "csv" and "json",
        all digits. A missing value is – in the first two, empty in CSV and null in JSON; ∞ is "Infinity" in JSON.
    finite
        The finite values of ``calib.analysis.differences.clipped``, of the same shape; "table" and "markdown" show them
        beside infinite ones.

    Examples
    --------
    >>> metrics = pd.DataFrame({"brier": [0.2, 0.125], "width": [math.nan, 0.1]}, index=["none", "venn"])
    >>> print(print_metrics(metrics))
             none    venn
    brier  0.2000  0.1250
    width       –  0.1000
    >>> print(print_metrics(metrics, "csv"))
    metric,none,venn
    brier,0.2,0.125
    width,,0.1
    """
    one_of(form, WRITERS, "form")
    return WRITERS[form](metrics, metrics * math.nan if finite is None else finite)


def _cells(metrics: pd.DataFrame, finite: pd.DataFrame) -> list[list[str]]:
    """Return a line per metric: its key, then a number for each calibrator."""
    return [[key, *map(with_clipped, map(_number, metrics[key]), finite[key])] for key in metrics.columns]


def _number(value: float) -> str:
    return (
        "–"
        if math.isnan(value)
        else f"{value:.4f}"
        if math.isfinite(value)
        else f"{'−' if value < 0 else ''}∞"
    )


def _table(metrics: pd.DataFrame, finite: pd.DataFrame) -> str:
    lines = [["", *metrics.index], *_cells(metrics, finite)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    blocks = [_block(lines, widths, columns) for columns in _fitting(widths)]
    return "\n\n".join(blocks)


def _fitting(widths: Sequence[int]) -> list[list[int]]:
    """Return the columns after the first, in groups that fit beside it within the width."""
    parts: list[list[int]] = [[]]
    for column in range(1, len(widths)):
        if parts[-1] and widths[0] + sum(2 + widths[i] for i in [*parts[-1], column]) > TERMINAL_WIDTH:
            parts.append([])
        parts[-1].append(column)
    return parts


def _block(lines: Sequence[Sequence[str]], widths: Sequence[int], columns: Sequence[int]) -> str:
    return "\n".join(
        f"{line[0]:{widths[0]}}" + "".join(f"  {line[i]:>{widths[i]}}" for i in columns) for line in lines
    )


def _markdown(metrics: pd.DataFrame, finite: pd.DataFrame) -> str:
    ruled = ["---", *["--:"] * len(metrics)]
    return "\n".join(
        f"| {' | '.join(line)} |" for line in [["metric", *metrics.index], ruled, *_cells(metrics, finite)]
    )


def _csv(metrics: pd.DataFrame, _: pd.DataFrame) -> str:
    return metrics.T.rename_axis("metric").to_csv(lineterminator="\n").removesuffix("\n")


def _json(metrics: pd.DataFrame, _: pd.DataFrame) -> str:
    values = {
        key: {
            name: None if math.isnan(value) else json_numbers(value) for name, value in metrics[key].items()
        }
        for key in metrics.columns
    }
    return json.dumps(values, indent=1)


WRITERS: dict[str, Callable[[pd.DataFrame, pd.DataFrame], str]] = {
    "table": _table,
    "csv": _csv,
    "json": _json,
    "markdown": _markdown,
}

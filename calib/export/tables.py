"""Tables as CSV that is safe to open in a spreadsheet, the metric table as text, and files as a ZIP."""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from calib.evaluate import Evaluation
from calib.kernel.checks import one_of
from calib.kernel.fields import json_numbers
from calib.kernel.wording import with_clipped

FORMULA_SIGNS = r"=+\-@＝＋－＠"
DANGEROUS = re.compile(rf'^(?=[{FORMULA_SIGNS}\t\r\n])|[;|\t\r\n][ "]*(?=[{FORMULA_SIGNS}])')
"""What begins a formula: at the start of a cell, or after a separator that spreadsheets guess or many countries use."""


def _defused(cell: Any) -> Any:
    return DANGEROUS.sub(r"\g<0>'", cell) if isinstance(cell, str) else cell


def safe_csv(frame: pd.DataFrame, *, index: bool = False) -> bytes:
    """Return UTF-8 CSV with a byte-order mark; text that a spreadsheet would run as a formula gets an apostrophe.

    Numbers keep all their digits. The list of dangerous first characters is OWASP's ("CSV injection"). A spreadsheet
    may split the file at semicolons, tabs or bars instead of commas, and then ignores the quotes of a cell that
    contains them; so what follows one of these, or a line break, is treated as the start of a cell. Lines end with
    CR LF, as in RFC 4180, so that a cell that contains either character is quoted and does not begin a line.

    Parameters
    ----------
    frame : DataFrame
        Numbers and texts.
    index : bool
        Whether the index becomes the first columns.

    Examples
    --------
    >>> safe_csv(pd.DataFrame({"name": ["=1+1", "fine"], "p": [-0.5, 0.25]})).decode("utf-8-sig")
    "name,p\\r\\n'=1+1,-0.5\\r\\nfine,0.25\\r\\n"
    >>> safe_csv(pd.DataFrame({"name": ["a;=1+1"]})).decode("utf-8-sig")
    "name\\r\\na;'=1+1\\r\\n"
    """
    table = frame.reset_index() if index else frame
    text = [name for name in table.columns if not pd.api.types.is_numeric_dtype(table[name])]
    safe = table.assign(**{name: table[name].astype(object).map(_defused) for name in text})
    safe.columns = [_defused(str(name)) for name in table.columns]
    return safe.to_csv(index=False, lineterminator="\r\n").encode("utf-8-sig")


def side_by_side_table(evaluations: Mapping[str, Evaluation]) -> pd.DataFrame:
    """Return the metrics of several evaluations: one row per Recipe and calibrator.

    Parameters
    ----------
    evaluations
        By name.
    """
    tables = {name: evaluation.metrics for name, evaluation in evaluations.items()}
    return pd.concat(tables, names=["recipe", "calibrator"]).reset_index()


# Its bytes depend only on paths and contents: the same files give the same bytes
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date that a ZIP can store


def zipped(files: Iterable[tuple[str, str | bytes]]) -> bytes:
    """Return a ZIP of (path, content), compressed one by one as they arrive.

    >>> zipped([("a.txt", "a")]) == zipped([("a.txt", b"a")])
    True
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files:
            archive.writestr(zipfile.ZipInfo(path, EPOCH), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


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

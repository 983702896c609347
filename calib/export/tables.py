"""Tables as CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from calib.evaluate import Evaluation

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def _defused(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) else cell


def safe_csv(frame: pd.DataFrame, *, index: bool = False) -> bytes:
    """Return UTF-8 CSV with a byte-order mark; text that a spreadsheet would run as a formula gets an apostrophe.

    Numbers keep all their digits. The list of dangerous first characters is OWASP's ("CSV injection"). Lines
    end with CR LF, as in RFC 4180, so that a cell that contains either character is quoted and does not begin a line.

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

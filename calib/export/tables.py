"""Tables as CSV that is safe to open in a spreadsheet, and files as a ZIP."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from calib.evaluate import Evaluation

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

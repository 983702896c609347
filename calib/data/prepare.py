"""A table and its label become a Dataset: typed columns, 0/1 labels, and a sentence for all that was left out."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from calib.data.columns import Column, as_float, inspect, typed_frame
from calib.data.errors import DataError
from calib.data.target import choose_classes, class_counts, labels
from calib.records import Dataset

WHY_DROPPED = {
    "empty": "all values missing",
    "constant": "the same value everywhere",
    "identifier": "names rows instead of describing them",
    "text": "free text",
}


def prepare(
    frame: pd.DataFrame,
    target: str,
    positive: object = None,
    exclude: Collection[str] = (),
    keep: Collection[str] = (),
    name: str | None = None,
) -> Dataset:
    """A two-class Dataset from a table; ``X.index`` holds the positions of its rows in the table.

    positive : the positive class, as spelt in the file or as a value; None chooses the rarer one (ties: the later in
        sorted order). With more than two classes it is set against the rest.
    exclude : columns the model must not see · keep : columns to use although they look like identifiers or free text

    Rows without a label are left out, as are columns that are empty, constant, identifiers or free text; infinite
    values count as missing. ``notes`` says so. Raises DataError where no Dataset can be made.

    >>> data = prepare(pd.DataFrame({"x": [1.0, 2.0, 4.0], "y": ["b", "g", "g"]}), "y")
    >>> data.classes, data.y.tolist()
    (('g', 'b'), [1, 0, 0])
    """
    typed = typed_frame(frame)
    text = labels(frame, target)
    classes = choose_classes(class_counts(frame, target), positive)
    notes = [classes.note]
    rows = text.notna().to_numpy()
    if not rows.all():
        notes.append(
            f"{_count(int((~rows).sum()), 'row')} without a label left out: {_listed(np.flatnonzero(~rows) + 1)}."
        )
    unknown = [str(column) for column in (*exclude, *keep) if str(column) not in typed.columns]
    if unknown:
        raise DataError(
            f"There is no column {unknown[0]!r} to leave out or keep. Columns are {', '.join(typed.columns)}."
        )
    candidates = [column for column in typed.columns if column not in {str(target), *map(str, exclude)}]
    if exclude:
        notes.append(f"Left out as asked: {', '.join(map(str, exclude))}.")
    X, dropped = _features(typed.loc[rows, candidates], set(map(str, keep)), notes)
    if X.shape[1] == 0:
        raise DataError(
            f"No column is left to learn from ({'; '.join(dropped) or 'the table holds the label only'}). "
            "Choose another label or bring a table with more columns."
        )
    notes.extend(f"Column left out – {sentence}." for sentence in dropped)
    y = (text[rows] == classes.positive).to_numpy().astype(np.intp)
    return Dataset(
        name=name or str(frame.attrs.get("name", "data")), X=X, y=y, classes=classes.names, notes=tuple(notes)
    )


def _features(frame: pd.DataFrame, keep: set[str], notes: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """(typed columns, what was left out and why); remarks on values are added to ``notes``."""
    columns: dict[str, pd.Series] = {}
    dropped: list[str] = []
    for key in frame.columns:
        found = inspect(frame[key], key)
        if found.usable or (key in keep and found.kind in ("identifier", "text")):
            columns[key] = _typed(frame[key], found, notes)
        else:
            dropped.append(f"{key!r}: {WHY_DROPPED[found.kind]}")
    return pd.DataFrame(columns, index=frame.index), dropped


def _typed(column: pd.Series, found: Column, notes: list[str]) -> pd.Series:
    if found.kind == "mixed":
        strays = list(found.strays or {})
        n = sum((found.strays or {}).values())
        notes.append(
            f"Column {found.name!r}: {_count(n, 'value')} that are no numbers ({_listed(strays, 3)}) count as missing."
        )
        return pd.to_numeric(column.astype(object), errors="coerce").astype("float64")
    if found.kind == "number" or (found.kind == "identifier" and pd.api.types.is_numeric_dtype(column.dtype)):
        values = as_float(column)
        if found.infinite:
            notes.append(f"Column {found.name!r}: {_count(found.infinite, 'infinite value')} count as missing.")
            values = np.where(np.isinf(values), np.nan, values)
        return pd.Series(values, index=column.index)
    if found.kind == "boolean":
        return column.astype("boolean") if found.missing else column.astype("bool")
    if found.kind == "date":
        return column
    return column.astype("str").astype("category")


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _listed(items: Sequence[object] | np.ndarray, most: int = 10) -> str:
    shown = ", ".join(str(item) for item in items[:most])
    return shown + (" …" if len(items) > most else "")

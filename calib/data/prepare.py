"""Make a Dataset from a table and its label: typed columns, coded labels, and a note on everything excluded."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from calib.data.column_types import as_frame, typed_frame
from calib.data.columns import BEYOND, Column, bounded, coded, inspect, is_number
from calib.data.conventions import conventional
from calib.data.errors import DataError, as_answer
from calib.data.join import both_files_phrase
from calib.data.label import UNLABELLED, Classes, Labels, choose_classes, coded_labels
from calib.data.label_meaning import ask_about_labels
from calib.data.matrix import imputations
from calib.data.roles import read_roles, weight_note
from calib.data.table import reading_of
from calib.kernel.progress import Watch
from calib.kernel.read_as import ReadAs
from calib.kernel.records import Dataset
from calib.kernel.wording import counted, quoted

WHY_LEFT_OUT = {
    "empty": "all its values are missing",
    "constant": "every row has the same value",
    "identifier": "its values identify rows instead of describing them",
    "text": "it contains free text",
}


def prepare(
    frame: pd.DataFrame,
    target: str,
    positive: object = None,
    exclude: Collection[str] = (),
    keep: Collection[str] = (),
    name: str | None = None,
    roles: Mapping[str, str | None] | None = None,
    weight_as: str | None = None,
    drop_repeated: bool = False,
    labels_as: str | None = None,
    watch: Watch | None = None,
) -> Dataset:
    """Prepare a Dataset from a table; ``X.index`` contains the positions of its rows in the table, from 0.

    Rows without a label are excluded, and columns that are empty, constant, identifiers or free text. Infinite values
    count as missing. ``notes`` report this, and how gaps are imputed.

    Parameters
    ----------
    frame
        Table, as ``read_table`` returns it.
    target
        Label column.
    positive
        Positive class, as spelt in the file or as a value; with more than two classes, it is predicted against the
        rest. None takes three or more classes together (``labels``), and of two the one that is positive by
        convention (1 of 0 and 1, yes of no and yes …), else the minority class (ties: the later in sorted order).
    exclude
        Columns not to use.
    keep
        Columns to use although they are constant, identifiers or free text.
    roles
        weight, time, cluster and part → the column with this role, which is then not a feature.
    weight_as
        Meaning of whole weights, as in ``read_roles``.
    drop_repeated
        Whether to exclude rows that repeat an earlier row in every column.
    labels_as
        "classes" states that no label is a code for a missing label.
    watch
        Reports each step and can cancel.

    Raises
    ------
    ReadingQuestion
        If labels may be codes for a missing label.
    DataError
        If no Dataset can be made.

    Examples
    --------
    >>> data = prepare(pd.DataFrame({"x": [1.0, 2.0, 4.0], "y": ["b", "g", "g"]}), "y")
    >>> data.classes, data.y.tolist()
    (('g', 'b'), [1, 0, 0])
    >>> data = prepare(pd.DataFrame({"x": [1.0, 2.0, 4.0, 3.0], "y": ["c", "a", "b", "a"]}), "y")
    >>> data.names, data.labels.tolist()
    (('a', 'b', 'c'), [2, 0, 1, 0])
    """
    watch = watch or Watch()
    watch.step(0.0, "the labels")
    typed, target = typed_frame(frame), str(target)
    label = coded_labels(frame, target)
    known = read_roles(typed, roles or {}, target, reading_of(frame).notes, weight_as)
    rows, left_out = known.used(typed, {UNLABELLED: ~label.there}, drop_repeated)
    ask_about_labels(target, label.counts, labels_as)
    counts = _counts(label, rows, positive)
    chosen, why = positive_of(counts, positive)
    words = f"by convention for {quoted(list(counts))}" if why == "convention" else "as chosen"
    classes = choose_classes(
        counts, chosen, words, both_files_phrase(frame), lines=known.lines, joint=positive is None
    )
    watch.step(0.3, "the features")
    unused, kept = _checked_columns(typed, exclude, keep)
    no_feature = {target, *unused, *map(str, (roles or {}).values())}
    X, remarks = _features(_rows(typed[[name for name in typed if name not in no_feature]], rows), kept)
    watch.step(0.9, "the rows")
    held = known.of(rows)
    weighed = weight_note((roles or {}).get("weight"), held.get("weight"), len(X), known.total_weight(rows))
    return Dataset(
        name=name or reading_of(frame).name or "data",
        X=X,
        y=label.are(classes.positive)[rows].astype(np.intp),
        classes=classes.names,
        notes=(classes.note, *left_out, *weighed, *_excluded_by_choice(unused), *remarks, *imputations(X)),
        read=len(frame),
        left_out=left_out,
        unlabelled=known.unlabelled(label.there),
        names=classes.together,
        labels=label.among(classes.together)[rows] if classes.together else None,
        read_as=_read_as(target, classes, why, counts),
        **held,
    )


def positive_of(counts: Mapping[str, int], positive: object) -> tuple[object | None, str]:
    """Return (the positive class of a table of features or None, key of the reason): stated, convention or minority.

    >>> positive_of({"0": 1, "1": 9}, None), positive_of({"b": 1, "g": 9}, None)
    (('1', 'convention'), (None, 'minority'))
    """
    if positive is not None:
        return positive, "stated"
    found = conventional(list(counts))
    return found, "minority" if found is None else "convention"


def _read_as(target: str, classes: Classes, why: str, counts: Mapping[str, int]) -> ReadAs:
    others = tuple(
        as_answer(f"{name!r} is positive", "", {"positive": name})
        for name in counts
        if len(counts) == 2 and name != classes.positive
    )
    positive = None if classes.together else classes.positive
    return ReadAs(target, positive, why, (), tuple(counts), others)


def _counts(label: Labels, rows: np.ndarray, positive: object) -> dict[str, int]:
    """Count the labels; if classes are taken together, count only ``rows``, bool (n,)."""
    counts = label.counts
    return label.of(rows).counts if positive is None and len(counts) > 2 and rows.any() else counts


def _rows(typed: pd.DataFrame, rows: np.ndarray) -> pd.DataFrame:
    # A copy would double the memory of a large table
    return typed if rows.all() else typed.loc[rows]


def _excluded_by_choice(unused: Collection[str]) -> Iterator[str]:
    if unused:
        yield f"Excluded at your request: {', '.join(sorted(unused))}."


def _checked_columns(
    typed: pd.DataFrame, exclude: Collection[str], keep: Collection[str]
) -> tuple[set[str], set[str]]:
    """Return the columns to exclude and those to keep, as sets of names; refuse unknown names."""
    left_out, kept = set(map(str, exclude)), set(map(str, keep))
    unknown = sorted((left_out | kept) - set(typed.columns))
    if unknown:
        raise DataError(f"There is no column {unknown[0]!r}.", f"Choose one of {', '.join(typed.columns)}.")
    return left_out, kept


def _features(frame: pd.DataFrame, keep: set[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return (typed columns, notes on excluded and changed columns)."""
    columns: dict[str, pd.Series] = {}
    remarks: list[str] = []
    for name, column in frame.items():
        found = inspect(column, str(name))
        if not found.usable and (name not in keep or found.kind == "empty"):
            remarks.append(f"Column {name!r} is excluded: {WHY_LEFT_OUT[found.kind]}.")
            continue
        columns[name] = _typed(column, found)
        if found.strays:
            shown = quoted(list(found.strays), 3)
            n = counted(sum(found.strays.values()), "value")
            remarks.append(f"Column {name!r}: non-numeric values are treated as missing ({n}: {shown}).")
        if found.infinite:
            n = counted(found.infinite, "value")
            remarks.append(
                f"Column {name!r}: values that are infinite or beyond ±{BEYOND:g} are treated as missing "
                f"({n})."
            )
    if not columns:
        remedy = "Choose another label, or a table with more columns."
        raise DataError("No usable feature is left.", " ".join([*remarks, remedy]))
    return as_frame(columns, frame.index), remarks


def _typed(column: pd.Series, found: Column) -> pd.Series:
    """Convert numbers to float64, truth values to bool (boolean with gaps), texts to categories; keep dates."""
    if found.kind == "number" and column.dtype == np.float64 and not found.infinite:
        return column
    if found.kind == "mixed":
        codes, levels = pd.factorize(column)  # each distinct value is parsed once
        numbers = bounded(pd.Series(pd.to_numeric(levels.to_numpy(object), errors="coerce")))
        return pd.Series(np.append(numbers, np.nan)[codes], index=column.index)
    if pd.api.types.is_bool_dtype(column.dtype) and not isinstance(column.dtype, pd.CategoricalDtype):
        return column.astype("boolean" if found.missing else "bool")
    if is_number(column):
        return bounded(column)
    if column.dtype.kind == "M":
        return column
    return pd.Series(_in_order(column), index=column.index)


def _in_order(column: pd.Series) -> pd.Categorical:
    """Convert texts to categories in sorted order; only the levels are sorted, which saves two thirds of the time."""
    codes, levels = coded(column if column.dtype == "str" else column.astype("str"))
    order = pc.sort_indices(levels.__arrow_array__()).to_numpy()  # sorting UTF-8 bytes sorts by code points
    places = np.full(len(order) + 1, -1)  # a gap has code −1, the last place
    places[order] = np.arange(len(order))
    return pd.Categorical.from_codes(places[codes], levels[order])

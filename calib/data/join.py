"""Join two files in one table, to fit a model on the first and evaluate it on the second (the test set).

Columns are matched by name, in any order. All mismatches are reported together, with the remedy.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pandas as pd

from calib.data.column_types import typed_frame
from calib.data.columns import as_float, content_type, inspect, is_number
from calib.data.conventions import folded
from calib.data.errors import DataError
from calib.data.label import labels
from calib.data.table import READING_ATTRIBUTE, TableReading, reading_of
from calib.kernel.wording import listed, quoted

FILE_PART = "part by file"
"""Column that names the file of each row: the first file trains and calibrates, the second is the test set."""


def join_tables(
    first: pd.DataFrame,
    second: pd.DataFrame,
    target: str,
    needed: Collection[str],
    names: tuple[str, str] = ("the first file", "the second file"),
    merge: bool = False,
    drop: Collection[str] = (),
) -> pd.DataFrame:
    """Join the rows of both tables in the columns of the first, and add ``FILE_PART``.

    Parameters
    ----------
    first, second
        Tables, as ``read_table`` returns them.
    target
        Label column.
    needed
        Columns that the second table must have, with the same type; it may lack other columns.
    names
        Names of the two files.
    merge, drop
        Options of ``tidy_labels``, applied before labels are compared.

    Raises
    ------
    DataError
        If columns are missing or have another type, or the second table has labels that the first lacks; lists all.

    Examples
    --------
    >>> old = pd.DataFrame({"x": [1.0, 2.0], "y": ["no", "yes"]})
    >>> join_tables(old, pd.DataFrame({"y": ["yes"], "x": [3.0], "z": [0]}), "y", ["x"])
         x    y part by file
    0  1.0   no        train
    1  2.0  yes        train
    2  3.0  yes         test
    """
    here, there = _typed(first, target), _typed(second, target)
    if FILE_PART in here.columns:
        raise DataError(
            f"{names[0]} has a column {FILE_PART!r}, but this name is reserved.", "Rename the column."
        )
    _check_fit(here, there, target, needed, names, merge, drop)
    columns = {name: _stacked(here[name], there, name) for name in here.columns if name != target}
    columns[target] = pd.concat([labels(here, target), labels(there, target)], ignore_index=True)
    joined = pd.DataFrame({name: columns[name] for name in here.columns})
    joined[FILE_PART] = ["train"] * len(here) + ["test"] * len(there)
    extra = [name for name in there.columns if name not in here.columns]
    joined.attrs = {
        READING_ATTRIBUTE: _reading_of_both(
            reading_of(first), reading_of(second), len(here), extra, target, names
        )
    }
    return joined


def both_files_phrase(frame: pd.DataFrame) -> str:
    """Return a phrase for the minority class of a joined table, which may differ from that of either file; else "".

    >>> both_files_phrase(pd.DataFrame())
    ''
    """
    return " of both files together" if reading_of(frame).test_file else ""


def _typed(frame: pd.DataFrame, target: str) -> pd.DataFrame:
    """Return the typed columns, with the label as the file spells it."""
    typed = typed_frame(frame)
    return typed.assign(**{target: labels(frame, target)}) if target in typed.columns else typed


def _check_fit(
    here: pd.DataFrame,
    there: pd.DataFrame,
    target: str,
    needed: Collection[str],
    names: tuple[str, str],
    merge: bool,
    drop: Collection[str],
) -> None:
    missing = [name for name in dict.fromkeys((target, *needed)) if name not in there.columns]
    found = [f"it has no column {quoted(missing, 12)}"] if missing else []
    for name in needed:
        kinds = _kind(here[name]), _kind(there[name]) if name in there.columns else None
        if None not in kinds and kinds[0] != kinds[1]:
            found.append(f"its column {name!r} contains {kinds[1]}, but {kinds[0]} in {names[0]}")
    if target in there.columns:
        known, others = (list(labels(table, target).dropna().unique()) for table in (here, there))
        alike = {folded(name) for name in known} if merge else set()
        unknown = [name for name in others if name not in (*known, *drop) and folded(name) not in alike]
        if unknown:
            found.append(
                f"its column {target!r} contains {quoted(unknown)}, which does not occur in {names[0]}"
            )
    if found:
        raise DataError(
            f"{names[1]} does not match {names[0]}: {'; '.join(found)}.",
            f"Correct {names[1]}, or exclude the missing columns.",
        )


def _kind(column: pd.Series) -> str | None:
    """Return the content of a column for a model, None if it is empty; words among numbers will count as missing."""
    return {"empty": None, "mixed": "numbers"}.get(inspect(column).kind, content_type(column))


def _stacked(column: pd.Series, there: pd.DataFrame, name: str) -> pd.Series:
    """Concatenate a column of both tables; values are missing if the second has no such column."""
    if name not in there.columns or there[name].isna().all():
        return column.reindex(range(len(column) + len(there)))
    other = there[name]
    if column.dtype == other.dtype and not isinstance(column.dtype, pd.CategoricalDtype):
        return pd.concat([column, other], ignore_index=True)
    if is_number(column) and is_number(other):
        return pd.Series([*as_float(column), *as_float(other)])
    return pd.concat([column.astype(object), other.astype(object)], ignore_index=True)


def _reading_of_both(
    first: TableReading,
    second: TableReading,
    rows: int,
    extra: Sequence[str],
    target: str,
    names: tuple[str, str],
) -> TableReading:
    """Combine the metadata of both tables."""
    notes = [
        *first.notes,
        *(f"{names[1]}: {note}" for note in second.notes),
        f"{names[1]} is the test set; its row numbers continue those of {names[0]}, starting with row "
        f"{rows + 1:,}.",
    ]
    if extra:
        notes.append(f"Columns that are not in {names[0]} were excluded from {names[1]}: {listed(extra)}.")
    return first._replace(
        name=f"{first.name or names[0]}, evaluated on {second.name or names[1]}",
        test_file=names[1],
        notes=tuple(notes),
        spelling={**first.spelling, target: {}},
    )

"""The data sets of a study: files with the label column ``target``, OpenML numbers, samples and synthetic sets.

The protocol's rules – positive class, columns, scaling, repeated rows – are applied here, once, before
any split: a protocol that scales does so with the test rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.preprocessing import minmax_scale

from calib import sources
from calib.data import DataError, Table, class_counts, prepare, read_table
from calib.data.columns import is_number
from calib.data.label import choose_classes
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.recipe import Recipe
from calib.study.protocol import ELSEWHERE, DataRules

TARGET = "target"


def stem(name: str) -> str:
    """Return the name of a file in tables: without its extension, and without .gz.

    >>> stem("data/jEdit_4.0_4.2.csv.gz"), stem("openml:40")
    ('jEdit_4.0_4.2', 'openml:40')
    """
    if name.partition(":")[0] in ELSEWHERE:
        return name
    path = Path(name)
    return Path(path.stem).stem if path.suffix == ".gz" else path.stem


def load_sets(
    names: Iterable[str], rules: DataRules, tables: Mapping[str, pd.DataFrame] | None = None
) -> dict[str, Dataset]:
    """Load data sets by stem, in order.

    Parameters
    ----------
    names
        Paths, or openml:NUMBER, sample:KEY, synthetic:KEY.
    rules
        The protocol's data rules.
    tables
        File → its table, for files that are already read; they are not read from disk.

    Raises
    ------
    InputError
        If a file cannot be used, or two sets have one name; the message names the file and the reason.

    Examples
    --------
    >>> sets = load_sets(["sample:digits"], DataRules(positive="later"))
    >>> sets["sample:digits"].n
    1797
    """
    found: dict[str, Dataset] = {}
    for name in names:
        if stem(name) in found:
            raise InputError(f"--data: two data sets are called {stem(name)!r}. Rename one of the files.")
        try:
            found[stem(name)] = data = _load(name, rules, tables or {})
            if rules.joint and not data.joint:
                raise DataError(
                    "This protocol predicts three or more classes together, but this data set has two.",
                    "Choose a protocol for two classes, such as arena, or exclude this data set.",
                )
        except InputError as error:
            raise InputError(str(error) if str(error).startswith(name) else f"{name}: {error}") from None
    if not found:
        raise InputError(
            "--data is missing. Name at least one file with a label column 'target', or openml:NUMBER."
        )
    return found


def _load(name: str, rules: DataRules, tables: Mapping[str, pd.DataFrame]) -> Dataset:
    kind = "" if name in tables else name.partition(":")[0]
    if kind == "synthetic":
        return _scaled(replace(sources.load(Recipe(data=name)), name=name), rules.scale)
    if kind in ELSEWHERE:
        table = sources.load_table(Recipe(data=name), {})
    else:
        table = Table(tables[name] if name in tables else read_table(name), TARGET)
        if TARGET not in map(str, table.frame.columns):
            raise DataError(
                "There is no column 'target'.",
                "Rename the label column to 'target', because a study expects this name.",
            )
    return _dataset(table, stem(name), rules)


def _dataset(table: Table, name: str, rules: DataRules) -> Dataset:
    frame, target, positive = table.frame, sources.labelled(table), table.positive
    counts = class_counts(frame, target)
    if rules.positive == "later":  # over all rows: dropping some must not change the positive class
        positive = list(counts)[-1]
    elif rules.joint:
        positive = None
    else:  # the minority class, whatever the convention; of more than two, one against the rest
        positive = choose_classes(counts, positive).positive
    others = [str(column) for column in frame.columns if str(column) != target]
    if name in rules.drop_duplicates:
        frame = frame.drop_duplicates(subset=others, ignore_index=True)
    keep = others if rules.columns == "all" else ()
    return _scaled(prepare(frame, target, positive, keep=keep, name=name), rules.scale)


def _scaled(data: Dataset, scale: str) -> Dataset:
    """Scale numbers to [0, 1] over all rows; constant columns become 0, missing values stay missing."""
    if scale == "none":
        return data
    X = data.X.copy()
    for column in X.columns:
        if is_number(X[column]) and not pd.api.types.is_bool_dtype(X[column]):
            X[column] = minmax_scale(X[column].to_numpy(dtype=np.float64, na_value=np.nan))
    return replace(data, X=X)

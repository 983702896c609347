"""Two classes out of a label column: the labels as the file spelt them, and which of them is the positive one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from calib.data.errors import DataError
from calib.data.typed import MISSING, is_gap, label

MOST_CLASSES = 50  # more different labels than this are measurements or names, not classes
NAMES = ("target", "label", "labels", "class", "y", "y_true", "ytrue", "truth", "outcome", "actual", "response")


@dataclass(frozen=True)
class Classes:
    """The two classes chosen: their names, and a sentence on the choice."""

    names: tuple[str, str]
    positive: str
    note: str


def labels(frame: pd.DataFrame, target: str) -> pd.Series:
    """The label column as text, spelt as in the file; missing labels are missing. Index 0 … n − 1."""
    column = _column(frame, target)
    spelling: Mapping[Any, str] = frame.attrs.get("spelling", {}).get(target, {})
    if column.dtype == object:
        column = pd.Series([None if is_gap(value) else label(value) for value in column], dtype="str")
    codes, values = pd.factorize(column, use_na_sentinel=True)
    texts = [_spelt(value, spelling) for value in values]
    lookup = np.array([*[None if text in MISSING else text for text in texts], None], dtype=object)
    return pd.Series(lookup[codes], dtype="str")


def _spelt(value: Any, spelling: Mapping[Any, str]) -> str:
    return spelling.get(value) or label(value).strip()


def _column(frame: pd.DataFrame, target: str) -> pd.Series:
    matches = [i for i, name in enumerate(frame.columns) if str(name) == str(target)]
    if len(matches) != 1:
        listed = ", ".join(map(repr, list(map(str, frame.columns))[:20]))
        raise DataError(f"There is no column {str(target)!r}.", f"Choose the label among the columns {listed}.")
    return frame.iloc[:, matches[0]]


def class_counts(frame: pd.DataFrame, target: str) -> dict[str, int]:
    """label → rows, in sorted order (numbers by value, words by letter); missing labels are not counted.

    >>> class_counts(pd.DataFrame({"y": [10, 2, 2, None]}), "y")
    {'2': 2, '10': 1}
    """
    counts = labels(frame, target).value_counts()
    return {name: int(counts[name]) for name in sorted(counts.index, key=_order(list(counts.index)))}


def _order(names: list[str]) -> Any:
    try:
        values = {name: float(name) for name in names}
    except ValueError:
        return str
    return lambda name: (values[name], name)


def choose_classes(counts: Mapping[str, int], positive: Any = None) -> Classes:
    """The two classes: the positive one as asked for, else the rarest (ties: the last), against the rest.

    Raises DataError for fewer than two classes, more than MOST_CLASSES, or a positive class that is no label.

    >>> choose_classes({"no": 7, "yes": 3}).names
    ('no', 'yes')
    >>> choose_classes({"a": 3, "b": 2, "c": 4}, "c").names
    ('not c', 'c')
    """
    names = list(counts)
    if len(names) < 2:
        got = f"only the label {names[0]!r}" if names else "no label at all"
        raise DataError(f"The label column holds {got}.", "Two classes are needed: choose another label column.")
    if len(names) > MOST_CLASSES:
        raise DataError(
            f"The label column holds {len(names):,} different values, too many for classes.",
            "Choose a column with few values, or turn this one into two classes first.",
        )
    chosen = (
        max(names, key=lambda name: (-counts[name], names.index(name))) if positive is None else match(positive, names)
    )
    how = "as chosen" if positive is not None else "the rarer one" if len(names) == 2 else "the rarest one"
    if len(names) == 2:
        negative = names[0] if names[1] == chosen else names[1]
        return Classes((negative, chosen), chosen, f"Positive class: {chosen!r}, {how} ({counts[chosen]} rows).")
    note = f"Positive class: {chosen!r}, {how} ({counts[chosen]} rows), against the other {len(names) - 1} classes."
    return Classes((f"not {chosen}", chosen), chosen, note)


def match(positive: Any, names: list[str]) -> str:
    """The label that a person or a link means by ``positive``: spelt so, else equal as a number, else but for case.

    >>> match(1, ["0", "1.0"]), match(True, ["FALSE", "TRUE"])
    ('1.0', 'TRUE')
    """
    wanted = label(positive).strip()
    if wanted in names:
        return wanted
    alike = [name for name in names if _number(name) is not None and _number(name) == _number(wanted)]
    alike = alike or [name for name in names if name.casefold() == wanted.casefold()]
    if len(alike) != 1:
        listed = ", ".join(map(repr, names[:MOST_CLASSES]))
        raise DataError(f"The positive class {wanted!r} is not among the labels.", f"Choose one of {listed}.")
    return alike[0]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def guess_target(frame: pd.DataFrame) -> str | None:
    """The column that is most likely the label: called so, else the last of two values, else of few; or None.

    >>> guess_target(pd.DataFrame({"x": [1.5, 2.5], "class": ["a", "b"]}))
    'class'
    """
    names = [str(name) for name in frame.columns]
    few = {i: name for i, name in enumerate(names) if 2 <= _distinct(frame.iloc[:, i]) <= MOST_CLASSES}
    for wanted in NAMES:
        for name in few.values():
            if re.sub(r"[^a-z_]", "", name.lower()) == wanted:
                return name
    two = [i for i in few if _distinct(frame.iloc[:, i]) == 2]
    return few[max(two or few)] if few else None


def _distinct(column: pd.Series) -> int:
    """Different values; a column of many is not counted to its end."""
    for part in (column.head(1000), column):
        try:
            values = part.nunique()
        except TypeError:  # unhashable cells
            values = part.astype("str").nunique()
        if values > MOST_CLASSES:
            break
    return values

"""What a typed column is to a model: one kind each, decided in one place.

``validate``, ``prepare`` and ``summarise`` all ask ``inspect``, so that the list of problems, the model's columns and
the table of columns never tell different stories.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

FEW_ROWS = 20  # below this, "every value differs" says nothing
MOSTLY, FEW_NUMBERS = 0.8, 10  # so large a share of numbers, of more than so many values, is a column of numbers
IDENTIFIER_WORDS = frozenset(
    ("id", "ids", "uuid", "guid", "index", "key", "nr", "no", "number", "row", "rownames", "rowname", "unnamed")
)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@dataclass(frozen=True)
class Column:
    """What ``inspect`` found in a column.

    kind : number, boolean, date, category · identifier, text (free text), mixed · constant, empty
    missing, infinite, distinct : counts (of rows, of rows, of values)
    strays : for ``mixed``, the values that are no numbers, each with its count
    """

    name: str
    kind: str
    missing: int
    distinct: int
    infinite: int = 0
    strays: Mapping[str, int] | None = None

    @property
    def usable(self) -> bool:
        """Whether ``prepare`` keeps the column unasked."""
        return self.kind in ("number", "boolean", "date", "category", "mixed")


def inspect(column: pd.Series, name: str | None = None) -> Column:
    """The kind of a typed column, with what there is to say of it.

    >>> inspect(pd.Series([1.0, 2.0, None], name="x"))
    Column(name='x', kind='number', missing=1, distinct=2, infinite=0, strays=None)
    """
    name = str(column.name) if name is None else name
    kind = column.dtype
    missing = int(column.isna().sum())
    distinct = int(column.nunique())
    if missing == len(column):
        return Column(name, "empty", missing, distinct)
    if distinct == 1 and not missing:
        return Column(name, "constant", missing, distinct)
    if pd.api.types.is_bool_dtype(kind) and not isinstance(kind, pd.CategoricalDtype):
        return Column(name, "boolean", missing, distinct)
    if pd.api.types.is_numeric_dtype(kind):
        infinite = int(np.isinf(as_float(column)).sum()) if kind.kind == "f" else 0
        return Column(
            name, "identifier" if _counts_rows(column, name, distinct) else "number", missing, distinct, infinite
        )
    if kind.kind == "M":
        return Column(name, "date", missing, distinct)
    return _inspect_text(column, name, missing, distinct)


def is_number(column: pd.Series) -> bool:
    """Whether a typed column holds numbers or truth values, not categories that look like them."""
    kind = column.dtype
    return not isinstance(kind, pd.CategoricalDtype) and bool(pd.api.types.is_numeric_dtype(kind))


def as_float(column: pd.Series) -> np.ndarray:
    """A number or boolean column as float64, missing values as NaN."""
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def identifier_name(name: str) -> bool:
    """Whether a column's name says that it names rows.

    >>> [identifier_name(name) for name in ("patient_id", "customerID", "ID", "Unnamed: 0", "acid", "width")]
    [True, True, True, True, False, False]
    """
    words = [word.lower() for word in WORD.findall(name)]
    return bool(words) and (words[0] in IDENTIFIER_WORDS or words[-1] in IDENTIFIER_WORDS)


def _counts_rows(column: pd.Series, name: str, distinct: int) -> bool:
    """A whole number that differs in every row and is either a running number or called like an identifier."""
    if distinct < len(column) or len(column) < FEW_ROWS:
        return False
    values = as_float(column)
    if not (values == np.floor(values)).all():
        return False
    running = np.ptp(values) == len(values) - 1
    return bool(running or identifier_name(name))


def _inspect_text(column: pd.Series, name: str, missing: int, distinct: int) -> Column:
    counts = column.value_counts()
    values = counts.index.astype("str")[counts.to_numpy() > 0]
    rows = counts.to_numpy()[counts.to_numpy() > 0]
    if not isinstance(column.dtype, pd.CategoricalDtype):
        numeric = pd.to_numeric(pd.Series(values.astype(object)), errors="coerce").notna().to_numpy()
        if MOSTLY * rows.sum() <= rows[numeric].sum() < rows.sum() and numeric.sum() > FEW_NUMBERS:
            strays = dict(zip(values[~numeric], rows[~numeric].tolist(), strict=True))
            return Column(name, "mixed", missing, distinct, strays=strays)
    if distinct <= FEW_ROWS:
        return Column(name, "category", missing, distinct)
    words = np.array([value.count(" ") + 1 for value in values])
    share, prose = distinct / rows.sum(), bool(np.average(words, weights=rows) >= 4)
    if share >= 0.95 and words.mean() < 2:
        return Column(name, "identifier", missing, distinct)
    return Column(name, "text" if share > 0.5 or (prose and distinct > 50) else "category", missing, distinct)

"""Determine the kind of a typed column (number, category, identifier …) and guess its role, in one place.

``validate``, ``prepare`` and ``summarise_columns`` all call ``inspect``, so the list of problems, the model's columns
and the table of columns always agree. The role of a column is only a proposal. ``columns_like`` and
``events_and_trials`` find columns of a table by name and content.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from calib.data.column_types import FEW_CODES, arrow, code_type, typed_frame
from calib.data.errors import DataError
from calib.kernel.cache import cached_result, is_known
from calib.kernel.wording import quoted

BEYOND = 1e30
KIND_NAMES = {"b": "boolean", "M": "date"}  # by NumPy's kind
# Letters that no number contains: all of ASCII but those of nan, infinity and e
WORDLIKE = "[B-DGHJ-MO-SU-XZb-dghj-mo-su-xz]"
SOME_ROWS, REPEATED = 20_000, 0.5  # share of distinct values among the first rows
FEWEST_DISTINCT = 20  # below this, "every value differs" says nothing
# A column with at least this share of numbers, and more distinct numbers than this, is numeric
MOSTLY, FEW_NUMBERS = 0.8, 10
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# At the end of a name, these words mean a key, never a count
KEY_WORDS = frozenset(("id", "ids", "uuid", "guid", "key"))
IDENTIFIER_WORDS = KEY_WORDS | {"index", "nr", "no", "number", "row", "rownames", "rowname", "unnamed"}
CALENDAR = frozenset(("year", "month", "day", "week", "quarter"))
ROLE_WORDS = {
    "weight": frozenset(("weight", "weights", "wt", "wgt")),
    "time": CALENDAR | {"date", "datetime", "timestamp", "time"},
    "part": frozenset(("fold", "folds", "split", "partition", "part", "subset")),
}
# Complete names of weight columns
COUNT_NAMES = frozenset(("count", "counts", "n", "freq", "frequency", "rows", "cases", "w"))
SCORE_NAME = re.compile(
    r"(?i)(^|[_\W\d])(p|phat|prob\w*|score\w*|pred\w*|margin|logit|decision|conf\w*|risk|y_?(prob|hat|score))($|[_\W\d])"
)

EVENT_NAMES = re.compile(
    r"(?i)(n_?|num_?|number_?of_?)?(events?|success(es)?|hits?|positives?|deaths?|defaults|responders|conversions?|"
    r"clicks|wins|failures|cases|affected|diseased|ones|k)(_?(count|n))?"
)
TRIALS = re.compile(
    r"(?i)(n_?|num_?|number_?of_?)?(trials?|n|total|totals|size|exposed|at_?risk|attempts|impressions|visits|"
    r"patients|subjects|population|denominator|persons|people|obs|observations|count|rows)(_?(count|n))?"
)
# A value nearer to [0, 1] than this is a rounding error, also of single precision
ROUNDING_OF_PROBABILITY = 1e-6


@dataclass(frozen=True)
class Column:
    """Properties of a column, as ``inspect`` finds them.

    Attributes
    ----------
    kind
        Number, boolean, date, category · identifier, text (free text), mixed · constant, empty.
    missing, infinite, distinct
        Number of missing rows, of infinite rows (values beyond ±1e30 included), and of distinct values.
    strays
        For ``mixed``, the values that are not numbers, with their counts.
    role
        Proposed role: score (of a model), weight, time, part (fold or split), identifier, else feature.
    """

    name: str
    kind: str
    missing: int
    distinct: int
    infinite: int = 0
    strays: Mapping[str, int] | None = None
    role: str = "feature"

    @property
    def usable(self) -> bool:
        """Tell whether ``prepare`` keeps the column by default."""
        return self.kind in ("number", "boolean", "date", "category", "mixed")


def inspect(column: pd.Series, name: str | None = None) -> Column:
    """Determine the kind of a typed column, and its properties.

    Parameters
    ----------
    column : Series
        As ``typed_frame`` gives it.
    name : str, optional
        Name of the column; by default that of the Series.

    Examples
    --------
    >>> inspect(pd.Series([1.0, 2.0, None], name="x"))
    Column(name='x', kind='number', missing=1, distinct=2, infinite=0, strays=None, role='feature')
    """
    found = _inspect(column, str(column.name) if name is None else name)
    return replace(found, role=_role(column, found))


def _inspect(column: pd.Series, name: str) -> Column:
    kind = column.dtype
    if isinstance(column.array, pd.arrays.ArrowStringArray):
        texts = arrow(column)
        return replace(cached_result(texts, "column", lambda: _inspect_text(column, name)), name=name)
    if not (sortable(kind) or is_number(column)):
        return _inspect_text(column, name)
    values = column.to_numpy() if sortable(kind) else as_float(column)
    missing, distinct = counts(values)
    if kind.kind in KIND_NAMES:
        return _same(name, missing, distinct) or Column(name, KIND_NAMES[kind.kind], missing, distinct)
    return _same(name, missing, distinct) or _number(name, values, missing, distinct)


def _same(name: str, missing: int, distinct: int) -> Column | None:
    """Return the column if it is empty or constant, else None."""
    if not distinct:
        return Column(name, "empty", missing, distinct)
    return Column(name, "constant", missing, distinct) if distinct == 1 and not missing else None


def _number(name: str, values: np.ndarray, missing: int, distinct: int) -> Column:
    """Return a column of numbers, as an identifier if it only numbers the rows."""
    infinite = 0
    if values.dtype.kind == "f":
        # quick; False if some are missing, which are counted then
        bounded = values.max(initial=0) <= BEYOND and values.min(initial=0) >= -BEYOND
        infinite = 0 if bounded else int(unbounded(values).sum())
    found = "identifier" if _counts_rows(values, name, distinct) else "number"
    return Column(name, found, missing, distinct, infinite)


def sortable(kind: Any) -> bool:
    """Tell whether a type is NumPy's own type for numbers, truth values or dates."""
    return isinstance(kind, np.dtype) and kind.kind in "biufM"


def counts(values: np.ndarray) -> tuple[int, int]:
    """Count missing and distinct values, by hashing if many are repeated, else by sorting, which is then faster."""
    missing = int(np.count_nonzero(values != values)) if values.dtype.kind in "fM" else 0
    if len(values) >= SOME_ROWS and len(pd.unique(values[:SOME_ROWS])) < REPEATED * SOME_ROWS:
        return missing, len(pd.unique(values)) - (missing > 0)
    if values.dtype.kind == "M":
        # NumPy sorts whole numbers many times faster; the smallest one is a missing date
        values = np.sort(values.view(np.int64))[missing:]
    else:
        values = np.sort(values)[: len(values) - missing]  # missing values sort last
    return missing, int((values[1:] != values[:-1]).sum()) + 1 if len(values) else 0


def positions(rows: np.ndarray) -> pd.Index:
    """Return the positions of true values in bool (n,) as an index: a range if all are true."""
    return pd.RangeIndex(len(rows)) if rows.all() else pd.Index(np.flatnonzero(rows))


def _role(column: pd.Series, found: Column) -> str:
    """Guess the role from name and values."""
    words = [word.lower() for word in WORD.findall(found.name)]
    ends = {words[0], words[-1]} if words else set()
    repeats = found.distinct > FEWEST_DISTINCT and found.kind in ("number", "category", "text", "mixed")
    # Values of a column that is named like a key may repeat: each then identifies several rows.
    if found.kind == "identifier" or (repeats and words and words[-1] in KEY_WORDS):
        return "identifier"
    if found.kind == "date" or (found.kind == "number" and _has_time_name(column, ends)):
        return "time"
    if ends & ROLE_WORDS["part"]:
        return "part"
    if found.kind != "number":
        return "feature"
    if ends & ROLE_WORDS["weight"] or (len(words) == 1 and words[0] in COUNT_NAMES):
        return "weight"
    called = found.distinct > 2 and SCORE_NAME.search(found.name)  # only two values are decisions, not scores
    return "score" if called or in_unit_interval(column) else "feature"


def _has_time_name(column: pd.Series, ends: Collection[str]) -> bool:
    """Tell whether a column of numbers is named like a time; years, months and days must be whole numbers."""
    called = ROLE_WORDS["time"] & set(ends)
    return bool(called - CALENDAR) or (bool(called) and not has_fractions(column))


def has_fractions(column: pd.Series) -> bool:
    """Tell whether a column of numbers contains a finite number that is not whole."""
    values = as_float(column)
    return bool((np.isfinite(values) & (values != np.floor(values))).any())


def in_unit_interval(column: pd.Series) -> bool:
    """Tell whether all numbers of a column are in [0, 1] and not all are 0 or 1."""
    numbers = column.to_numpy() if sortable(column.dtype) else as_float(column)
    for part in (numbers[:1000], numbers):  # most misfits show in the first rows
        values = part.astype(np.float64, copy=False)
        if not (finite := np.isfinite(values)).all():
            values = values[finite]
        if values.size and not (values.min() >= 0 and values.max() <= 1):
            return False
    return any(bool((part != np.floor(part)).any()) for part in (values[:1000], values))


def is_number(column: pd.Series) -> bool:
    """Tell whether a typed column contains numbers or truth values, and is not categorical."""
    kind = column.dtype
    return not isinstance(kind, pd.CategoricalDtype) and bool(pd.api.types.is_numeric_dtype(kind))


def content_type(column: pd.Series) -> str:
    """Return the content of a typed column in one word: numbers (including truth values), dates or text.

    >>> columns = pd.Series([True, False]), pd.Series(["1"]), pd.Series([1, 2], dtype="category")
    >>> tuple(map(content_type, columns))
    ('numbers', 'text', 'text')
    """
    return "numbers" if is_number(column) else "dates" if column.dtype.kind == "M" else "text"


def unbounded(values: np.ndarray) -> np.ndarray:
    """Return which numbers are infinite, or so large that their squares or single-precision values are."""
    return np.abs(values) > BEYOND


def as_float(column: pd.Series) -> np.ndarray:
    """Convert a number or boolean column to float64, with missing values as NaN; read-only: it may be the column."""
    if isinstance(column.dtype, np.dtype):
        return column.to_numpy().astype(np.float64, copy=False)
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def bounded(column: pd.Series) -> pd.Series:
    """Convert a number column to float64, and make infinite and huge values missing."""
    values = as_float(column)
    return pd.Series(np.where(unbounded(values), np.nan, values), index=column.index)


def identifier_name(name: str) -> bool:
    """Tell whether a column's name says that it identifies rows.

    >>> [identifier_name(name) for name in ("patient_id", "customerID", "ID", "Unnamed: 0", "acid", "width")]
    [True, True, True, True, False, False]
    """
    words = [word.lower() for word in WORD.findall(name)]
    return bool(words) and (words[0] in IDENTIFIER_WORDS or words[-1] in IDENTIFIER_WORDS)


def _counts_rows(values: np.ndarray, name: str, distinct: int) -> bool:
    """Tell whether whole numbers identify rows: all differ, and they are consecutive or named like an identifier."""
    if distinct < len(values) or len(values) < FEWEST_DISTINCT:
        return False
    values = values.astype(np.float64)
    if not (values == np.floor(values)).all():
        return False
    running = np.ptp(values) == len(values) - 1
    return bool(running or identifier_name(name))


def _inspect_text(column: pd.Series, name: str) -> Column:
    values, rows = _values(column)
    missing, distinct = len(column) - int(rows.sum()), len(values)
    if same := _same(name, missing, distinct):
        return same
    if not isinstance(column.dtype, pd.CategoricalDtype):
        strays = _texts_among_numbers(values, rows)
        if strays:
            return Column(name, "mixed", missing, distinct, strays=strays)
    if distinct <= FEWEST_DISTINCT:
        return Column(name, "category", missing, distinct)
    words = pc.count_substring(values, " ").to_numpy() + 1
    share, prose = distinct / rows.sum(), bool(np.average(words, weights=rows) >= 4)
    if share >= 0.95 and words.mean() < 2:
        return Column(name, "identifier", missing, distinct)
    return Column(name, "text" if share > 0.5 or (prose and distinct > 50) else "category", missing, distinct)


def _texts_among_numbers(values: pa.Array, rows: np.ndarray) -> dict[str, int]:
    """Return the texts in a column of mostly numbers, the most frequent first; else an empty dict."""
    likely = ~_wordlike(values)
    if rows[likely].sum() < MOSTLY * rows.sum():
        return {}  # so that no objects are made of millions of words
    numeric = np.zeros(len(values), dtype=bool)
    texts = values.filter(pa.array(likely)).to_numpy(zero_copy_only=False)
    numeric[likely] = pd.notna(pd.to_numeric(texts, errors="coerce"))
    if rows[numeric].sum() < MOSTLY * rows.sum() or numeric.sum() <= FEW_NUMBERS:
        return {}
    others = np.flatnonzero(~numeric)
    others = others[np.argsort(-rows[others], kind="stable")]
    return dict(zip(values.take(pa.array(others)).to_pylist(), rows[others].tolist(), strict=True))


def _wordlike(values: pa.Array) -> np.ndarray:
    """Return which texts (k,) contain a letter that no number contains."""
    if len(values) <= FEWEST_DISTINCT:
        # Arrow compiles the pattern in each call, which takes longer than a few searches
        return np.array([bool(re.search(WORDLIKE, text)) for text in values.to_pylist()], dtype=bool)
    return pc.match_substring_regex(values, WORDLIKE).to_numpy(zero_copy_only=False)


def _values(column: pd.Series) -> tuple[pa.Array, np.ndarray]:
    """Return the distinct values as texts (k,) and their counts (k,), without gaps."""
    codes, values = coded(column)
    rows = np.bincount(codes[codes >= 0], minlength=len(values))
    named = values.array if isinstance(values, pd.Index) else values
    if not isinstance(named, pd.arrays.ArrowStringArray):
        named = values.astype("str").array
    texts = named.__arrow_array__().combine_chunks()
    return (texts, rows) if rows.all() else (texts.filter(pa.array(rows > 0)), rows[rows > 0])


def coded(column: pd.Series) -> tuple[np.ndarray, Any]:
    """Return (index of each value among the distinct ones, int (n,), −1 if missing; the distinct values (k,)).

    The result for a text column with up to ``FEW_CODES`` values is cached.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.array.codes, column.array.categories
    if not isinstance(column.array, pd.arrays.ArrowStringArray):
        return column.array.factorize()
    texts = arrow(column)
    if is_known(texts, "coded"):
        return cached_result(texts, "coded", lambda: _narrow(column))
    codes, values = _narrow(column)
    return (
        cached_result(texts, "coded", lambda: (codes, values))
        if len(values) <= FEW_CODES
        else (codes, values)
    )


def coded_rows(column: pd.Series, rows: np.ndarray) -> np.ndarray:
    """Return a code per chosen row (k,), the same for equal values; −1 if missing.

    Only these rows are coded, unless the column's codes are cached.
    """
    whole = isinstance(column.dtype, pd.CategoricalDtype) or is_known(arrow(column), "coded")
    return coded(column)[0][rows] if whole else coded(column.iloc[rows])[0]


def _narrow(column: pd.Series) -> tuple[np.ndarray, Any]:
    codes, values = column.array.factorize()
    return codes.astype(code_type(len(values))), values


def events_and_trials(typed: pd.DataFrame, target: str | None = None) -> tuple[str, str] | None:
    """Return the columns that count events and trials, by name and values, or None.

    >>> events_and_trials(pd.DataFrame({"p": [0.1, 0.5], "events": [1, 4], "trials": [9, 8]}))
    ('events', 'trials')
    """
    wholes = {
        str(name): values for name, column in typed.items() if (values := whole_counts(column)) is not None
    }
    for events, ones in wholes.items():
        if target is not None and events != target:
            continue
        for trials, total in wholes.items():
            named = EVENT_NAMES.fullmatch(events) and TRIALS.fullmatch(trials)
            if named and events != trials and ones.max() > 1 and (ones <= total).all():
                return events, trials
    return None


def whole_counts(column: pd.Series) -> np.ndarray | None:
    """Return the known values of a column of whole numbers of at least 0, with missing values as 0; or None."""
    if not is_number(column) or pd.api.types.is_bool_dtype(column.dtype):
        return None
    values = np.nan_to_num(as_float(column), nan=0.0, posinf=-1.0)
    fits = len(values) and values.min() >= 0 and (values == np.floor(values)).all()
    return values if fits else None


def clip_rounding(values: np.ndarray) -> np.ndarray:
    """Return values of any shape, with those clipped to [0, 1] that lie outside by rounding, such as 1.0000001.

    >>> clip_rounding(np.array([-1e-17, 1.0000001, 1.7]))
    array([0. , 1. , 1.7])
    """
    with np.errstate(invalid="ignore"):
        off = ((values < 0) & (values >= -ROUNDING_OF_PROBABILITY)) | (
            (values > 1) & (values <= 1 + ROUNDING_OF_PROBABILITY)
        )
    return np.where(off, np.clip(values, 0, 1), values) if off.any() else values


def columns_like(frame: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Select the columns of ``known`` from another table, in the order of ``known``.

    Infinite numbers count as missing, as in a Dataset.

    Parameters
    ----------
    frame
        Table, as ``read_table`` returns it.
    known
        Typed columns, such as a Dataset's X.

    Raises
    ------
    DataError
        If columns are missing, or contain another type than in ``known``.

    Examples
    --------
    >>> known = pd.DataFrame({"age": [30.0, 40.0]})
    >>> columns_like(pd.DataFrame({"name": ["a"], "age": ["51"]}), known)["age"].tolist()
    [51]
    """
    typed = typed_frame(frame)
    missing = [name for name in known.columns if name not in typed.columns]
    if missing:
        raise DataError(
            f"The model needs {quoted(missing)}, which is missing from this table.",
            "Upload a table with the same column names as the current table.",
        )
    typed = typed[list(known.columns)]
    other = [
        name
        for name in known.columns
        if not typed[name].isna().all() and content_type(typed[name]) != content_type(known[name])
    ]
    if other:
        holds = "contains" if len(other) == 1 else "contain"
        raise DataError(
            f"{quoted(other)} {holds} values of a different type than in the current table.",
            "Use numbers, dates and text in the same columns as the current table.",
        )
    numbers = [name for name in typed if typed[name].dtype.kind == "f"]
    return typed.assign(**{name: bounded(typed[name]) for name in numbers})

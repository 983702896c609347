"""Encode typed columns as a matrix of numbers, with statistics of the training rows only.

Numbers: a gap becomes the training median, and an indicator column of 0 and 1 marks it. Categories: one column per
level; gaps are a level, and rare levels or those beyond a cap share one; two levels make one column. Dates: days since
1970, month and weekday. Models that need scaling do it themselves.

Gaps and levels are treated as in scikit-learn's SimpleImputer and OneHotEncoder. With its ColumnTransformer, the
same columns take 2.2 times as long (100 000 rows of 50 columns; 2 times for one row), and every unseen level raises a
warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from calib.data.columns import as_float, is_number
from calib.data.errors import DataError
from calib.kernel.wording import counted

MISSING_LABEL, OTHER_LEVELS = "(missing)", "other levels"
DATE_PARTS = ("days since 1970", "month", "weekday")


class Matrix(TransformerMixin, BaseEstimator):
    """Transformer of typed columns (n, d) to a float64 matrix (n, k); columns keep their order.

    Parameters
    ----------
    max_levels
        Largest number of columns per category, including that of "other levels".
    min_rows
        Fewest training rows of a level that gets its own column.

    Examples
    --------
    >>> X = pd.DataFrame({"age": [30.0, None, 50.0], "sex": ["f", "m", "m"]})
    >>> matrix = Matrix(min_rows=1).fit(X)
    >>> matrix.transform(X)
    array([[30.,  0.,  0.],
           [40.,  1.,  1.],
           [50.,  0.,  1.]])
    >>> list(matrix.get_feature_names_out())
    ['age', 'age is missing', 'sex = m']
    """

    def __init__(self, max_levels: int = 20, min_rows: int = 5):
        self.max_levels = max_levels
        self.min_rows = min_rows

    def fit(self, X: pd.DataFrame, y: Any = None) -> Matrix:
        """Learn medians, gaps and levels from these rows."""
        X = _table(X)
        self.feature_names_in_ = np.array(X.columns, dtype=object)
        self.n_features_in_ = X.shape[1]
        self.dates_ = [c for c in X.columns if X[c].dtype.kind == "M"]
        self.numbers_ = [c for c in X.columns if is_number(X[c])]
        self.booleans_ = [c for c in self.numbers_ if pd.api.types.is_bool_dtype(X[c])]
        self.categories_ = [c for c in X.columns if c not in {*self.dates_, *self.numbers_}]
        self.whole_days_ = {c for c in self.dates_ if (X[c].dropna() == X[c].dropna().dt.normalize()).all()}
        quantities = self._quantities(X)
        self.gaps_ = np.flatnonzero(
            np.isnan(quantities[:, : len(self.numbers_) + len(self.dates_)]).any(axis=0)
        )
        known = (column[~np.isnan(column)] for column in quantities.T)
        self.medians_ = np.array([np.median(values) if len(values) else 0.0 for values in known])
        self._learn_levels(X)
        return self

    def transform(self, X: pd.DataFrame) -> np.ndarray:
        """Return the matrix (n, k), dense and finite. Unseen levels count as "other levels", if this column exists."""
        check_is_fitted(self)
        X = _table(X)
        absent = [str(c) for c in self.feature_names_in_ if c not in X.columns]
        if absent:
            raise DataError(
                f"This table has no column {absent[0]!r}, but the model was trained with this column.",
                "Add the column.",
            )
        quantities = self._quantities(X)
        gaps = np.isnan(quantities)
        marks = gaps[:, self.gaps_].astype(np.float64)
        return np.hstack([np.where(gaps, self.medians_, quantities), marks, self._encoded(X)])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return unique, readable names of the k columns."""
        check_is_fitted(self)
        names, taken = [name for name, _ in self._columns()], dict[str, int]()
        for i, name in enumerate(names):
            taken[name] = taken.get(name, 0) + 1
            if taken[name] > 1:
                names[i] = f"{name} ({taken[name]})"
        return np.array(names, dtype=object)

    def _columns(self) -> Iterator[tuple[str, tuple[str, str] | None]]:
        """Yield (name of a column of the matrix; the meanings of 0 and 1, if it has only these)."""
        for c in self.numbers_:
            yield c, (f"{c} is false", f"{c} is true") if c in self.booleans_ else None
        yield from ((f"{c} ({DATE_PARTS[0]})", None) for c in self.dates_)
        yield from ((f"{c} ({part})", None) for c in self.dates_ for part in DATE_PARTS[1:])
        for c in (name for i, name in enumerate([*self.numbers_, *self.dates_]) if i in self.gaps_):
            yield f"{c} is missing", (f"{c} is known", f"{c} is missing")
        for c, level in self.dummies_:
            other = (f"{c} is known", f"{c} is missing") if level == MISSING_LABEL else None
            yield f"{c} = {level}", other or (f"{c} ≠ {level}", f"{c} = {level}")

    def wording(self) -> Callable[[int, float, float], str]:
        """Return a function that describes the rule low < column ≤ high in words; low or high may be infinite.

        >>> X = pd.DataFrame({"age": [30.0, None, 50.0], "sex": ["f", "m", "m"]})
        >>> say = Matrix(min_rows=1).fit(X).wording()
        >>> say(0, 35.0, np.inf), say(1, -np.inf, 0.5), say(2, 0.5, np.inf)
        ('age > 35', 'age is known', 'sex = m')
        """
        names = [str(name) for name in self.get_feature_names_out()]
        sides = [each for _, each in self._columns()]
        days = dict(enumerate(self.dates_, start=len(self.numbers_)))

        def say(column: int, low: float, high: float) -> str:
            if (two := sides[column]) is not None and low < high:
                return two[int(low >= 0)]
            name = days.get(column, names[column])
            whole = name in self.whole_days_
            ends = [_day(end, whole) if column in days else _digits(end) for end in (low, high)]
            if np.isinf(low):
                return f"{name} ≤ {ends[1]}"
            return f"{name} > {ends[0]}" if np.isinf(high) else f"{ends[0]} < {name} ≤ {ends[1]}"

        return say

    def _quantities(self, X: pd.DataFrame) -> np.ndarray:
        """Return numbers, then days of the dates, then their months and weekdays."""
        dates = [_date_parts(X[c]) for c in self.dates_]
        columns = [as_float(X[c]) for c in self.numbers_] + [d[:, 0] for d in dates]
        columns += [d[:, i] for d in dates for i in (1, 2)]
        return np.column_stack(columns) if columns else np.empty((len(X), 0))

    def _learn_levels(self, X: pd.DataFrame) -> None:
        """Set ``dummies_``, the (column, level) of each column of 0 and 1, and ``places_``.

        ``places_`` holds for each category level → its column, and the column of other levels; −1 means no column.
        """
        self.dummies_, self.places_ = list[tuple[str, str]](), list[tuple[str, dict[str, int], int]]()
        for c in self.categories_:
            levels, rare = self._frequent(X[c])
            names = [*levels, OTHER_LEVELS] if rare else levels
            left_out = int(len(names) == 2)  # one column marks both levels
            first = len(self.dummies_) - left_out
            places = {level: first + i if i >= left_out else -1 for i, level in enumerate(levels)}
            self.places_.append((c, places, first + len(levels) if rare else -1))
            self.dummies_ += [(c, name) for name in names[left_out:]]

    def _frequent(self, column: pd.Series) -> tuple[list[str], bool]:
        """Return the levels with their own column, in sorted order, and whether the others share a column."""
        names, codes = _levels_of(column)
        rows = dict.fromkeys(names.tolist(), 0)
        counts = np.bincount(
            codes.astype(np.intp) % len(names), minlength=len(names)
        )  # a gap is the last level
        for name, n in zip(names, counts.tolist(), strict=True):
            rows[name] += n
        levels = sorted(name for name in rows if rows[name])
        kept = np.array([rows[level] >= self.min_rows for level in levels])
        if kept.sum() >= self.max_levels:  # one column is for other levels
            order = np.argsort([rows[level] for level in levels], kind="stable")
            kept[order[: len(levels) - self.max_levels + 1]] = False
        return [level for level, has in zip(levels, kept, strict=True) if has], not kept.all()

    def _encoded(self, X: pd.DataFrame) -> np.ndarray:
        made = np.zeros((len(X), len(self.dummies_)))
        rows = np.arange(len(X))
        for c, places, other in self.places_:
            levels, codes = _levels_of(X[c])
            column = np.array([places.get(level, other) for level in levels])[codes]
            known = column >= 0
            made[rows[known], column[known]] = 1.0
        return made


def preprocessor(X: pd.DataFrame) -> Matrix:
    """Return an unfitted transformer from the typed columns of ``X`` to a float matrix; fit it on training rows only.

    Parameters
    ----------
    X : DataFrame
        Features, as ``prepare`` returns them: numbers, truth values, dates, categories.

    Raises
    ------
    DataError
        If a column is untyped (Python objects); ``prepare`` types it.
    """
    table = _table(X)
    for name in table.columns:
        if table[name].dtype == object:
            raise DataError(
                f"Column {name!r} contains Python objects of several types.",  # words: right, a term of Python
                "Convert the table with calib.data.prepare first.",
            )
    return Matrix()


def imputations(X: pd.DataFrame) -> list[str]:
    """Describe how ``Matrix`` imputes missing values of typed columns, one sentence per method, with counts.

    >>> for sentence in imputations(pd.DataFrame({"age": [30.0, None, 50.0], "sex": ["f", "m", None]})):
    ...     print(sentence)
    Missing numbers are replaced by the training median, and an additional 0/1 column marks them: age (1 gap).
    Missing values become a separate level, '(missing)': sex (1 gap).
    """
    gaps = {str(name): int(np.count_nonzero(column.array.isna())) for name, column in X.items()}
    counts = {name: f"{name} ({counted(count, 'gap')})" for name, count in gaps.items() if count}
    dates = [name for name in counts if X[name].dtype.kind == "M"]
    numbers = [name for name in counts if is_number(X[name])]
    levels = [name for name in counts if name not in {*dates, *numbers}]
    ways = {
        "Missing numbers are replaced by the training median, and an additional 0/1 column marks "
        "them": numbers,
        "Missing dates are replaced by the training median of day, month and weekday, and an additional 0/1 "
        "column marks them": dates,
        f"Missing values become a separate level, {MISSING_LABEL!r}": levels,
    }
    return [f"{way}: {', '.join(counts[name] for name in names)}." for way, names in ways.items() if names]


def _table(X: Any) -> pd.DataFrame:
    if not isinstance(X, pd.DataFrame) or X.shape[1] == 0:
        raise DataError(
            "X must be a table (pandas DataFrame) with at least one column.",
            "Pass a DataFrame, such as pd.DataFrame(X) or the X of the Dataset that calib.data.prepare returns.",
        )
    return X


def _levels_of(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return (the levels as texts, ``MISSING_LABEL`` last; the index of each row's level, −1 for a gap)."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype("str").astype("category")
    held = column.array  # .cat, and texts one by one, take twice the time
    names = [*held.categories.astype("str").to_numpy(object), MISSING_LABEL]
    return np.array(names, dtype=object), held.codes


def _digits(value: float) -> str:
    """Format six significant digits with a true minus sign, so that a rule never begins like a spreadsheet formula."""
    return f"{value:.6g}".replace("-", "−", 1) if value < 0 else f"{value:.6g}"


def _day(days: float, whole: bool) -> str:
    """Format days since 1970 as a date, with the time unless it is midnight or all dates are whole days."""
    if not np.isfinite(days):
        return ""
    # in microseconds, because nanoseconds end in the year 2262
    moment = np.datetime64(round(days * 86_400_000_000), "us")
    day = moment.astype("datetime64[D]")
    return str(day if whole or moment == day else moment.astype("datetime64[m]")).replace("T", " ")


def _date_parts(column: pd.Series) -> np.ndarray:
    """Return (n, 3): days since 1970 with their fraction, month 1–12, weekday 0–6 from Monday; NaN for a gap."""
    # In microseconds, because nanoseconds end in the year 2262.
    days = (column.to_numpy("datetime64[us]") - np.datetime64(0, "us")) / np.timedelta64(1, "D")
    return np.column_stack([days, as_float(column.dt.month), as_float(column.dt.day_of_week)])

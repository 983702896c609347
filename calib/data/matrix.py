"""Encode typed columns as a matrix of numbers, with statistics of the training rows only.

Numbers: a gap becomes the training median, and an indicator column of 0 and 1 marks it. Categories: one column per
level; gaps are a level, and rare levels or those beyond a cap share one; two levels make one column. Dates: days since
1970, month and weekday. Models that need scaling do it themselves.

scikit-learn's imputer and encoder do the work, except for encoding the levels of rows. With its ColumnTransformer, the
same columns take 2.2 times as long (100 000 rows of 50 columns; 2 times for one row), and every unseen level raises a
warning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from calib.data.columns import as_float, is_number
from calib.data.errors import DataError
from calib.kernel.wording import counted

MISSING_LABEL = "(missing)"
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
        self.imputer_ = SimpleImputer(strategy="median", keep_empty_features=True)
        self.gaps_ = np.flatnonzero(
            np.isnan(quantities[:, : len(self.numbers_) + len(self.dates_)]).any(axis=0)
        )
        if quantities.shape[1]:
            self.imputer_.fit(quantities)
        self.encoder_ = OneHotEncoder(
            max_categories=self.max_levels,
            min_frequency=self.min_rows,
            handle_unknown="infrequent_if_exist",
            sparse_output=False,
        )
        self.kept_ = np.array([], dtype=np.intp)
        if self.categories_:
            self.encoder_.fit(self._levels(X))
            self.kept_ = np.concatenate(
                [
                    positions[1:] if len(positions) == 2 else positions
                    for positions in self._encoded_positions()
                ]
            )
        self.places_ = self._places() if self.categories_ else []
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
        blocks = []
        quantities = self._quantities(X)
        if quantities.shape[1]:
            blocks += [
                self.imputer_.transform(quantities),
                np.isnan(quantities[:, self.gaps_]).astype(np.float64),
            ]
        if self.categories_:
            blocks.append(self._encoded(X))
        return np.hstack(blocks)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return unique, readable names of the k columns."""
        check_is_fitted(self)
        first = [*self.numbers_, *(f"{c} ({DATE_PARTS[0]})" for c in self.dates_)]
        parts = [f"{c} ({part})" for c in self.dates_ for part in DATE_PARTS[1:]]
        gaps = [f"{[*self.numbers_, *self.dates_][i]} is missing" for i in self.gaps_]
        levels = [
            f"{c} = {level}"
            for c, names in zip(self.categories_, self._encoded_levels(), strict=True)
            for level in names
        ]
        names = [*first, *parts, *gaps, *(levels[i] for i in self.kept_)]
        taken: dict[str, int] = {}
        for i, name in enumerate(names):
            taken[name] = taken.get(name, 0) + 1
            if taken[name] > 1:
                names[i] = f"{name} ({taken[name]})"
        return np.array(names, dtype=object)

    def wording(self) -> Callable[[int, float, float], str]:
        """Return a function that describes the rule low < column ≤ high in words; low or high may be infinite.

        >>> X = pd.DataFrame({"age": [30.0, None, 50.0], "sex": ["f", "m", "m"]})
        >>> say = Matrix(min_rows=1).fit(X).wording()
        >>> say(0, 35.0, np.inf), say(1, -np.inf, 0.5), say(2, 0.5, np.inf)
        ('age > 35', 'age is known', 'sex = m')
        """
        names = [str(name) for name in self.get_feature_names_out()]
        sides = self._sides()
        first_date = len(self.numbers_)
        days = {first_date + i: name for i, name in enumerate(self.dates_)}

        def say(column: int, low: float, high: float) -> str:
            if column in sides and low < high:
                return sides[column][int(low >= 0)]
            name = days.get(column, names[column])
            ends = [
                _day(end, name in self.whole_days_) if column in days else _digits(end) for end in (low, high)
            ]
            if np.isinf(low):
                return f"{name} ≤ {ends[1]}"
            if np.isinf(high):
                return f"{name} > {ends[0]}"
            return f"{ends[0]} < {name} ≤ {ends[1]}"

        return say

    def _sides(self) -> dict[int, tuple[str, str]]:
        """Return the meanings of 0 and 1 for each column of 0 and 1."""
        sides = {self.numbers_.index(c): (f"{c} is false", f"{c} is true") for c in self.booleans_}
        named = [*self.numbers_, *self.dates_]
        at = len(named) + 2 * len(self.dates_)
        for i, gap in enumerate(self.gaps_):
            sides[at + i] = (f"{named[gap]} is known", f"{named[gap]} is missing")
        at += len(self.gaps_)
        levels = [
            (c, level)
            for c, names in zip(self.categories_, self._encoded_levels(), strict=True)
            for level in names
        ]
        for i, kept in enumerate(self.kept_):
            c, level = levels[kept]
            sides[at + i] = (
                (f"{c} is known", f"{c} is missing")
                if level == MISSING_LABEL
                else (f"{c} ≠ {level}", f"{c} = {level}")
            )
        return sides

    def _quantities(self, X: pd.DataFrame) -> np.ndarray:
        """Return numbers, then days of the dates, then their months and weekdays."""
        dates = [_date_parts(X[c]) for c in self.dates_]
        columns = [as_float(X[c]) for c in self.numbers_] + [d[:, 0] for d in dates]
        columns += [d[:, i] for d in dates for i in (1, 2)]
        return np.column_stack(columns) if columns else np.empty((len(X), 0))

    def _levels(self, X: pd.DataFrame) -> np.ndarray:
        return np.column_stack([_level_names(X[c]) for c in self.categories_])

    def _encoded(self, X: pd.DataFrame) -> np.ndarray:
        """Encode as scikit-learn's encoder does, whose checks of every column take four times as long."""
        made = np.zeros((len(X), len(self.kept_)))
        rows = np.arange(len(X))
        for c, places, other in self.places_:
            levels, codes = _levels_of(X[c])
            column = np.array([places.get(level, other) for level in levels])[codes]
            known = column >= 0
            made[rows[known], column[known]] = 1.0
        return made

    def _places(self) -> list[tuple[str, dict[str, int], int]]:
        """Return for each category level → index of its column, and the index of other levels; −1 means no column."""
        at = dict(zip(self.kept_.tolist(), range(len(self.kept_)), strict=True))
        found = []
        columns = zip(self.categories_, self._encoded_levels(), self._encoded_positions(), strict=True)
        for (c, levels, positions), rare in zip(columns, self.encoder_.infrequent_categories_, strict=True):
            places = [at.get(position, -1) for position in positions.tolist()]
            dummies = levels if rare is None else levels[:-1]
            found.append((c, dict(zip(dummies, places, strict=False)), -1 if rare is None else places[-1]))
        return found

    def _encoded_levels(self) -> list[list[str]]:
        """Return the levels with their own column, "other levels" last, for each category."""
        if not self.categories_:
            return []
        found = []
        for levels, rare in zip(self.encoder_.categories_, self.encoder_.infrequent_categories_, strict=True):
            together = frozenset(() if rare is None else rare)
            kept = [str(level) for level in levels if level not in together]
            found.append(kept if rare is None else [*kept, "other levels"])
        return found

    def _encoded_positions(self) -> list[np.ndarray]:
        ends = np.cumsum([len(levels) for levels in self._encoded_levels()])
        return np.split(np.arange(ends[-1]), ends[:-1])


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


def _level_names(column: pd.Series) -> np.ndarray:
    """Return the level of each row (n,) as text; a gap is ``GAP``."""
    names, codes = _levels_of(column)
    return names[codes]


def _levels_of(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return (the distinct levels as texts, ``GAP`` last; the index of each row's level, −1 for a gap)."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype("str").astype("category")
    held = column.array  # .cat, and texts one by one, take twice the time
    return np.array(
        [*held.categories.astype("str").to_numpy(object), MISSING_LABEL], dtype=object
    ), held.codes


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

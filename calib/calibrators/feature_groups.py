"""Groups of rows by the columns of a table, learnt on calibration rows and applied to any other table.

A column of numbers or dates gives ranges, any other column one group per value; missing values are a group. A value
that is rare among the calibration rows belongs to no group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from calib.kernel import checks
from calib.kernel.binning import quantile_edges
from calib.kernel.checks import Array, InputError
from calib.kernel.fields import Fields, json_numbers
from calib.kernel.weights import are_whole, or_ones

NO_GROUP = -1  # index of a row without a group
RANGES, SINGLE = 5, 12  # ranges of a column of numbers; at most this many distinct numbers are one group each
# Fewest rows of a value that is a group; most groups of a column
FEWEST_IN_GROUP, MOST_GROUPS_OF_COLUMN = 20, 50
GROUPED_KINDS = ("number", "date", "text")


def score_and_features(table: Any) -> pd.DataFrame:
    """Return a table (n, 1 + d) whose first column holds probabilities, and the others at least one feature.

    Raises
    ------
    InputError
        If the shape is wrong, or scores are outside [0, 1].

    Examples
    --------
    >>> list(score_and_features([[0.5, 3.0]]).columns)
    ['0', '1']
    """
    if not isinstance(table, pd.DataFrame):
        array = np.asarray(table)
        if array.ndim != 2:
            raise InputError(
                "scores must be a table of the score and the features, with one line per row, but have "
                f"shape {array.shape}."
            )
        table = pd.DataFrame(array)
    if table.shape[1] < 2:
        raise InputError(
            f"scores must be a table of the score and at least one feature, but have shape {table.shape}."
        )
    names = [str(name) for name in table.columns]
    twice = next((name for name in names[1:] if names[1:].count(name) > 1), None)
    if twice is not None:
        raise InputError(f"Two features are called {twice!r}. Rename them.")
    given = table.iloc[:, 0].to_numpy()
    p = checks.probability_vector(given if given.dtype.kind in "biuf" else given.tolist(), "scores")
    features = table.iloc[:, 1:].set_axis(names[1:], axis=1).reset_index(drop=True)
    return pd.concat([pd.Series(p, name=names[0]), features], axis=1)


@dataclass(frozen=True)
class FeatureGroups:
    """Groups of the values of one column.

    Attributes
    ----------
    name
        Name of the column.
    kind
        "number", "date" (as microseconds since 1970) or "text".
    breaks
        Lower ends of all ranges but the first, increasing, for numbers and dates.
    values
        One value per group, for texts.
    missing
        Whether missing values are a group, the last one.
    """

    name: str
    kind: str
    breaks: tuple[float, ...] = ()
    values: tuple[str, ...] = ()
    missing: bool = False

    @classmethod
    def learn(cls, column: pd.Series, weights: Array | None = None) -> FeatureGroups:
        """Learn the groups of a column (n,); a whole weight counts as that many rows.

        >>> FeatureGroups.learn(pd.Series([1.0, 2.0, 2.0, None], name="x"))
        FeatureGroups(name='x', kind='number', breaks=(1.5,), values=(), missing=True)
        """
        kind = _kind(column)
        known, values = _read(column, kind)
        name, missing = str(column.name), not bool(known.all())
        kept, counts = values[known], or_ones(weights, len(column))[known]
        if kind != "text":
            return cls(name, kind, _breaks(kept, counts), missing=missing)
        found, index = np.unique(kept, return_inverse=True)
        rows = np.bincount(index, weights=counts, minlength=len(found))
        order = [
            i for i in np.argsort(-rows, kind="stable")[:MOST_GROUPS_OF_COLUMN] if rows[i] >= FEWEST_IN_GROUP
        ]
        return cls(name, kind, values=tuple(str(found[i]) for i in order), missing=missing)

    @property
    def size(self) -> int:
        """Number of groups."""
        return (len(self.values) if self.kind == "text" else len(self.breaks) + 1) + self.missing

    def index(self, column: pd.Series) -> Array:
        """Return the group of each row, int (m,), or ``NO_GROUP``."""
        known, values = _read(column, self.kind)
        found = np.full(len(column), self.size - 1 if self.missing else NO_GROUP, dtype=np.intp)
        if self.kind == "text":
            place = {value: i for i, value in enumerate(self.values)}
            found[known] = [place.get(value, NO_GROUP) for value in values[known]]
        else:
            found[known] = np.searchsorted(self.breaks, values[known], side="right")
        return found

    def words(self, group: int) -> str:
        """Describe the rows of a group.

        >>> groups = FeatureGroups("age", "number", (30.0, 50.0))
        >>> [groups.words(i) for i in range(3)]
        ['age below 30', 'age from 30 to 50', 'age at least 50']
        """
        if self.missing and group == self.size - 1:
            return f"{self.name} is missing"
        if self.kind == "text":
            return f"{self.name} = {self.values[group]}"
        ends = [self._written(each) for each in self.breaks]
        if not ends:
            return f"{self.name} is known"
        if group == 0:
            return f"{self.name} below {ends[0]}"
        if group == len(ends):
            return f"{self.name} at least {ends[-1]}"
        return f"{self.name} from {ends[group - 1]} to {ends[group]}"

    def _written(self, value: float) -> str:
        return f"{value:g}" if self.kind == "number" else f"{pd.Timestamp(int(value), unit='us'):%Y-%m-%d}"

    def to_map(self) -> dict[str, Any]:
        """Return JSON-able fields."""
        held = {"values": list(self.values)} if self.kind == "text" else {"breaks": json_numbers(self.breaks)}
        return {"name": self.name, "kind": self.kind, **held, "missing": self.missing}

    @classmethod
    def from_map(cls, fields: Fields) -> FeatureGroups:
        """Make the groups from the fields that ``to_map`` wrote."""
        name = fields.text("name")
        kind, missing = fields.choice("kind", GROUPED_KINDS), fields.choice("missing", [True, False])
        if kind == "text":
            values = fields.texts("values")
            if len(set(values)) < len(values):
                raise fields.refuse("values", "must differ")
            return cls(name, kind, values=values, missing=missing)
        return cls(name, kind, tuple(fields.numbers("breaks", increasing=True).tolist()), missing=missing)


def indices(groups: Sequence[FeatureGroups], table: pd.DataFrame) -> Array:
    """Return the group of each row in each column, int (m, d).

    Raises
    ------
    InputError
        If the table lacks a column.
    """
    names = [str(name) for name in table.columns]
    lacking = [each.name for each in groups if each.name not in names]
    if lacking:
        raise InputError(f"The table has no column {lacking[0]!r}, which this calibrator needs.")
    columns = [each.index(table.iloc[:, names.index(each.name)]) for each in groups]
    return np.column_stack([np.zeros((len(table), 0), dtype=np.intp), *columns])


def _kind(column: pd.Series) -> str:
    if pd.api.types.is_numeric_dtype(column):
        return "number"
    return "date" if column.dtype.kind == "M" else "text"


def _read(column: pd.Series, kind: str) -> tuple[Array, Array]:
    """Return (whether each value is known, values) of a column, converted to the kind."""
    if kind == "text":
        known = column.notna().to_numpy(dtype=bool)
        return known, column.astype(object).map(str).to_numpy(dtype=object)
    if kind == "date":
        dates = pd.to_datetime(column, errors="coerce").to_numpy("datetime64[us]")
        values = np.where(np.isnat(dates), np.nan, dates.astype(np.int64).astype(np.float64))
    else:
        values = pd.to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    return np.isfinite(values), values


def _breaks(values: Array, weights: Array) -> tuple[float, ...]:
    """Return breaks between few distinct values, or between ranges of about equally many rows."""
    distinct = np.unique(values)
    if len(distinct) <= SINGLE:
        return tuple(((distinct[1:] + distinct[:-1]) / 2).tolist())
    edges = quantile_edges(values, RANGES, weights if are_whole(weights) else None)
    return tuple(edges[1:-1].tolist())


def learnt_groups(scores: pd.DataFrame, weights: Array) -> tuple[FeatureGroups, ...]:
    """Return the groups of each feature of a table whose first column is the score."""
    return tuple(FeatureGroups.learn(scores.iloc[:, i], weights) for i in range(1, scores.shape[1]))


def no_program(label: str) -> InputError:
    """Return the error that a calibrator with features cannot be written as a program."""
    return InputError(
        f"{label} needs the features of a row, not only its score. {label} cannot be written as SQL, ONNX or a "
        "program. Save it as a calibrator file (JSON), or choose another calibrator."
    )


def levels_of(x: Array, bins: int, weights: Array) -> Array:
    """Return breaks between levels of about equally many rows, each halfway between two of the numbers x (n,).

    Few distinct numbers are one level each.

    >>> [levels_of(np.array(x), 2, np.ones(4)).round(6) for x in ([0.1, 0.2, 0.7, 0.9], [0.1, 0.1, 0.1, 0.9])]
    [array([0.45]), array([0.5])]
    """
    distinct = np.unique(x)
    if len(distinct) <= bins:
        return (distinct[1:] + distinct[:-1]) / 2
    inner = quantile_edges(x, bins, weights if are_whole(weights) else None)[1:-1]
    above = np.searchsorted(distinct, inner, side="right")  # inner edges are between two numbers
    return np.unique((distinct[above - 1] + distinct[above]) / 2)

"""Read columns with a role: the weight or count of a row, its time, its cluster, and its set (train or test).

A role changes results, so it is proposed (``propose_roles``) and never assigned automatically.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from calib.data.columns import WORD, Column, as_float, coded, inspect, is_number
from calib.data.duplicates import repeats
from calib.data.errors import DataError, no_column
from calib.data.join import FILE_PART
from calib.data.label import Labels
from calib.kernel.checks import MOST_COUNTED
from calib.kernel.records import PARTS, Problem
from calib.kernel.weights import are_whole, describe_lines, importance_weights, or_ones
from calib.kernel.wording import excluded, quoted, split_words

ROLES = ("weight", "time", "cluster", "part")  # names of the fields of Recipe and Dataset
SYNONYMS = {
    "train": split_words("train training trn tr learn learning fit development"),
    "calibrate": split_words("calibrate calibration calib cal validate validation valid val"),
    "test": [
        *split_words("test testing tst te holdout evaluate evaluation eval oot oos"),
        *("held out", "hold out", "out of time", "out of sample"),
    ],
}
# With a training set, "dev" means calibration, as in machine learning; without one, training, as in banks
DEVELOPMENT = "dev"
PART_OF_WORD = {word: PARTS.index(part) for part, words in SYNONYMS.items() for word in words}
# Fractions in columns with these names are not weights
NO_FRACTIONS = frozenset(("count", "counts", "n", "rows", "cases"))
# At either end of a column's name, these words mean counts of rows
COUNT_WORDS = NO_FRACTIONS | {"freq", "frequency", "frequencies", "copies", "repeats", "replicates"}
# Anywhere in a name, these words mean importance weights
IMPORTANCE_WORDS = frozenset(
    split_words("sampling survey importance design inverse probability propensity ipw iptw")
)
# Names of times that are sufficient to order rows
MOMENTS = frozenset(("date", "datetime", "timestamp", "year"))
YEARS = (1000, 2999)  # calendar years
AMBIGUOUS = "dates were read as day, month, year."


@dataclass(frozen=True, eq=False)
class RoleColumns:
    """Contents of the columns that have a role.

    Attributes
    ----------
    values
        Role → array (n,) of the table's rows.
    rows : bool (n,)
        Rows that are used.
    notes
        One sentence per reason for excluding rows.
    counts
        Whether the weights are counts of rows, not importance weights.
    """

    values: Mapping[str, np.ndarray]
    rows: np.ndarray
    notes: tuple[str, ...]
    counts: bool = False

    @property
    def lines(self) -> str:
        """Word for lines of the table: "rows", or "lines" if they count several rows."""
        return "lines" if self.counts else "rows"

    def per_class(self, label: Labels) -> dict[str, int]:
        """Count rows per class; a line of a table of counts adds its count."""
        found = label.counts
        if not self.counts:
            return found
        return {text: round(float(self.values["weight"][label.are(text)].sum())) for text in found}

    def total_weight(self, rows: np.ndarray) -> float:
        """Return the sum of the weights of the chosen rows, bool (n,), as the table states them."""
        return float(or_ones(self.values.get("weight"), len(rows))[rows].sum())

    def unlabelled(self, there: np.ndarray) -> Any:
        """Return the time (or, without times, the number) of the first row without a label; None if all have one.

        Parameters
        ----------
        there : bool (n,)
            Whether a row has a label.
        """
        missing = np.flatnonzero(~there & self.rows)
        if not len(missing):
            return None
        return self.values["time"][missing].min() if "time" in self.values else int(missing[0]) + 1

    def used(
        self, typed: pd.DataFrame, reasons: Mapping[str, np.ndarray], drop_repeated: bool
    ) -> tuple[np.ndarray, tuple[str, ...]]:
        """Return the rows that are used, bool (n,), and notes on the others.

        Parameters
        ----------
        reasons
            Reason for excluding a row → the rows, bool (n,), to which it applies.
        drop_repeated
            Whether to exclude rows that repeat an earlier row in every column.
        """
        rows = self.rows & ~np.logical_or.reduce(list(reasons.values()))
        notes = (*excluded(reasons), *self.notes)
        if not drop_repeated:
            return rows, notes
        again = repeats(typed)
        return rows & ~again, (*notes, *excluded({"because they are copies of an earlier row": again}))

    def of(self, rows: np.ndarray) -> dict[str, Any]:
        """Return the values of each role in the chosen rows, bool (n,), as fields of a Dataset.

        Only this function fixes the meaning of whole weights: in a Dataset, whole weights are counts. Equal weights
        that are not counts are ignored.
        """
        held = {role: values[rows] for role, values in self.values.items()}
        if "weight" in held and not self.counts:
            weight = importance_weights(held["weight"]) if rows.any() else held["weight"]
            held["weight"] = None if are_whole(weight) else weight
        return held


def read_roles(
    typed: pd.DataFrame,
    roles: Mapping[str, str | None],
    target: str,
    notes: Collection[str] = (),
    weight_as: str | None = None,
) -> RoleColumns:
    """Read and check the columns that have a role.

    Rows with a weight of 0, or without a weight, time or part, are excluded. A row without a cluster is a cluster of
    its own.

    Parameters
    ----------
    typed
        Table, as ``typed_frame`` returns it.
    roles
        weight, time, cluster and part → the column with this role.
    target
        Label column.
    notes
        Notes of ``read_table`` on this table.
    weight_as
        One of ``WEIGHT_AS``; None infers it from the column's name (``weight_meaning``), else takes importance.

    Raises
    ------
    DataError
        If a column cannot have its role.

    Examples
    --------
    >>> table = pd.DataFrame({"y": [0, 1, 1], "n": [5, 0, 2], "set": ["Train", "test", "test"]})
    >>> read = read_roles(table, {"weight": "n", "part": "set"}, "y")
    >>> read.values["part"], read.rows, read.notes
    (array([0, 2, 2]), array([ True, False,  True]), ("Excluded because the weight in 'n' is 0: 1 row (row 2).",))
    """
    given = {role: str(name) for role, name in roles.items() if name is not None}
    _check_names(typed, given, target)
    values, rows, left_out = {}, np.ones(len(typed), dtype=bool), list[str]()
    for role, name in given.items():
        values[role], missing = ROLE_READERS[role](typed[name], name)
        reasons = {f"because the {role} in {name!r} is missing": missing}
        if role == "weight":
            reasons[f"because the weight in {name!r} is 0"] = (values[role] == 0) & ~missing
        if role == "time" and f"Column {name!r}: {AMBIGUOUS}" in notes:
            raise DataError(
                f"time: the dates in {name!r} are ambiguous: the day or the month may come first.",
                "Write the dates as 2024-05-31.",
            )
        left_out += excluded(reasons)
        rows &= ~np.logical_or.reduce(list(reasons.values()))
    counts = _are_counts(values.get("weight"), given.get("weight"), weight_as)
    return RoleColumns(values, rows, tuple(left_out), counts)


def weight_note(name: str | None, weight: np.ndarray | None, n: int, total: float) -> Iterator[str]:
    """Yield a note on the weights of a Dataset of n rows, if it has a weight column; ``total`` is their sum there.

    >>> list(weight_note("n", np.array([3.0, 2.0]), 2, 5.0)), list(weight_note("w", None, 2, 2.0))
    (["Counts in 'n': 5 rows in 2 lines."], ["All weights in 'w' are equal, so every row counts once."])
    >>> list(weight_note("w", np.array([0.19, 0.56, 1.3]), 3, 11.0))
    ["Weights in 'w': 3 rows (effective number 2), total weight 11."]
    """
    if name is not None and weight is None:
        yield f"All weights in {name!r} are equal, so every row counts once."
    elif weight is not None and are_whole(weight):
        yield f"Counts in {name!r}: {describe_lines(weight, n)}."
    elif weight is not None:
        yield f"Weights in {name!r}: {describe_lines(weight, n)}, total weight {total:,.7g}."


def _are_counts(values: np.ndarray | None, name: str | None, weight_as: str | None) -> bool:
    """Tell whether weights (n,) are counts of rows."""
    if values is None or name is None:
        if weight_as is not None:
            raise DataError(
                f"weight_as is {weight_as!r}, but no column has the role “weight”.",
                "Set weight to the name of the column, or remove weight_as.",
            )
        return False
    if are_whole(values):
        return (weight_as or weight_meaning(name)) == "counts"
    if weight_as == "counts":
        first = int(np.argmax(values != np.floor(values)))
        raise DataError(
            f"weight_as: {name!r} cannot count rows, because row {first + 1} contains {values[first]:g}.",
            "Choose weight_as='importance', or another weight column.",
        )
    return False


def weight_meaning(name: str) -> str | None:
    """Infer from a weight column's name the meaning of its whole numbers: one of ``WEIGHT_AS``, or None.

    >>> [weight_meaning(name) for name in ("n", "rowCount", "freq_weight", "sampling_weight", "survey_n", "weight")]
    ['counts', 'counts', 'counts', 'importance', None, None]
    """
    words = [word.lower() for word in WORD.findall(name)]
    counts = bool(COUNT_WORDS & {*words[:1], *words[-1:]})
    importance = bool(IMPORTANCE_WORDS & set(words))
    return None if counts == importance else "counts" if counts else "importance"


def _check_names(typed: pd.DataFrame, given: Mapping[str, str], target: str) -> None:
    held = {target: "label"}
    for role, name in given.items():
        if name not in typed.columns:
            raise no_column(f"{role}: column {name!r}", typed)
        if name in held:
            raise DataError(
                f"{role}: column {name!r} already has the role {held[name]}.",
                "A column can have only one role: choose another column.",
            )
        held[name] = role


def _weights(column: pd.Series, name: str) -> tuple[np.ndarray, np.ndarray]:
    if not is_number(column):
        raise DataError(
            f"weight: {name!r} contains values that are not numbers.",
            "Correct them, or choose another column.",
        )
    values = as_float(column)
    missing = np.isnan(values)
    wrong = np.flatnonzero(~missing & ~((values >= 0) & (values < np.inf)))
    if wrong.size:
        raise DataError(
            f"weight: {name!r} must contain finite numbers of at least 0, but row {wrong[0] + 1} contains "
            f"{values[wrong[0]]:g}.",
            "Correct the value, or choose another column.",
        )
    if not (values > 0).any():
        raise DataError(f"weight: no weight in {name!r} is above 0.", "Choose another column.")
    with np.errstate(over="ignore"):
        beyond = np.nansum(values) > MOST_COUNTED
    if beyond:
        raise DataError(
            f"weight: {name!r} contains {np.nanmax(values):g}, so the sum of the weights is too large to be exact.",
            "Divide all weights by a constant, or choose another column.",
        )
    return np.where(missing, 0.0, values), missing


def _times(column: pd.Series, name: str) -> tuple[np.ndarray, np.ndarray]:
    if column.dtype.kind == "M":
        return column.to_numpy("datetime64[ns]"), column.isna().to_numpy()
    if is_number(column) and not pd.api.types.is_bool_dtype(column.dtype):
        values = as_float(column)
        return values, ~np.isfinite(values)
    text = column.astype("str")
    dates = pd.to_datetime(text, format="ISO8601", errors="coerce", utc=True).dt.tz_localize(None)
    wrong = column.notna().to_numpy() & dates.isna().to_numpy()
    if wrong.any():
        first = int(np.argmax(wrong))
        raise DataError(
            f"time: {name!r} must contain dates or numbers, but row {first + 1} contains {text.iloc[first]!r}.",
            "Write dates as 2024-05-31, or choose another column.",
        )
    return dates.to_numpy("datetime64[ns]"), column.isna().to_numpy()


def _clusters(column: pd.Series, name: str) -> tuple[np.ndarray, np.ndarray]:
    codes, names = pd.factorize(column)
    alone = codes < 0
    codes[alone] = len(names) + np.arange(alone.sum())  # a row of unknown cluster is a cluster of its own
    return codes.astype(np.intp), np.zeros(len(codes), dtype=bool)


def _parts(column: pd.Series, name: str) -> tuple[np.ndarray, np.ndarray]:
    codes, names = pd.factorize(column)
    found = _parts_of(names)
    unknown = [str(value) for value, part in zip(names, found, strict=True) if part is None]
    if unknown:
        raise DataError(
            f"part: {name!r} contains {quoted(unknown, 3)}, which {'does' if len(unknown) == 1 else 'do'} "
            "not the name of a set.",
            f"Write {', '.join(PARTS[:2])} or {PARTS[2]}, or choose another column.",
        )
    return np.array([*found, -1], dtype=np.intp)[codes], codes < 0


def _parts_of(names: Collection[Any]) -> list[int | None]:
    """Return the index of the part that each value names, or None.

    >>> _parts_of(["train", "dev"]), _parts_of(["Dev", "cal", "OOT"])
    ([0, 1], [0, 1, 2])
    """
    words = [_plain(name) for name in names]
    train, calibrate = PARTS.index("train"), PARTS.index("calibrate")
    development = {
        DEVELOPMENT: calibrate if any(PART_OF_WORD.get(word) == train for word in words) else train
    }
    return [(PART_OF_WORD | development).get(word) for word in words]


def _plain(value: Any) -> str:
    return " ".join(str(value).replace("-", " ").replace("_", " ").split()).casefold()


ROLE_READERS: dict[str, Callable[[pd.Series, str], tuple[np.ndarray, np.ndarray]]] = {
    "weight": _weights,
    "time": _times,
    "cluster": _clusters,
    "part": _parts,
}
"""Role → function that reads its column: (values (n,), missing (n,))."""


def propose_roles(
    typed: pd.DataFrame,
    target: str,
    given: Mapping[str, str | None],
    used: bool,
    columns: Collection[Column] | None = None,
    weight_as: str | None = None,
) -> Iterator[Problem]:
    """Propose a role for each column whose name and content suggest it, unless the role is already assigned.

    Parameters
    ----------
    given
        Role → column.
    used
        Whether columns without a role are features, so that a missing role has a cost.
    columns
        Columns that may have a role, as ``inspect`` returns them; by default all.
    weight_as
        Argument of ``read_roles``. If neither it nor the column's name decides what whole weights mean, a question
        is yielded.
    """
    taken = {target, *(str(name) for name in given.values() if name is not None)}
    columns = [inspect(column, str(name)) for name, column in typed.items()] if columns is None else columns
    found = [column for column in columns if column.name not in taken]
    yield from _weight_question(typed, given.get("weight"), weight_as)
    elsewhere = given.get("part") == FILE_PART  # the second file is the test set: there is no split to choose
    split = given.get("time") is not None or given.get("part") is not None  # a fix must not undo this choice
    for role, propose in PROPOSALS.items():
        if given.get(role) is None and not (elsewhere and role == "time"):
            for column in found:
                problem = propose(typed, column, used)
                if problem is not None:
                    yield _without_a_split(problem) if split and role == "cluster" else problem
                    break


def _without_a_split(problem: Problem) -> Problem:
    return replace(
        problem,
        remedy="Assign the role “Cluster”. The column is then not used as a feature, and intervals resample "
        "whole clusters.",
        fix={"cluster": problem.column},
        action="Use as cluster",
    )


def _propose_weight(typed: pd.DataFrame, found: Column, used: bool) -> Problem | None:
    if found.role != "weight" or found.kind != "number":
        return None
    values = _known(typed[found.name])
    if not values.size or values.min() < 0:
        return None
    whole = are_whole(values)
    if not whole and {word.lower() for word in WORD.findall(found.name)} <= NO_FRACTIONS:
        return None
    now = "a model would use it as a feature" if used else "currently, every row counts once"
    if whole:
        return _counts_or_weights(found.name, values, f"The column looks like counts or weights: {now}.")
    return Problem(
        "warning",
        found.name,
        f"The column looks like weights: {now}.",
        "Assign the role “Weight or count” if the column contains the weight or count of each row.",
        {"weight": found.name},
        "Use as weights",
    )


def _weight_question(typed: pd.DataFrame, name: str | None, weight_as: str | None) -> Iterator[Problem]:
    """Ask for the meaning of whole weights, if neither the user nor the column's name decides it."""
    if (
        name is None
        or weight_as is not None
        or weight_meaning(name) is not None
        or not may_count(typed, name)
    ):
        return
    yield _counts_or_weights(
        name,
        _known(typed[name]),
        "The weights are whole numbers. Until you choose, the program treats them as weights.",
    )


def may_count(typed: pd.DataFrame, name: str) -> bool:
    """Tell whether a column of a typed table can hold counts of rows that are not all 1.

    >>> table = pd.DataFrame({"n": [1, 3], "w": [0.5, 2], "one": [1, 1]})
    >>> [may_count(table, name) for name in (*table, "other")]
    [True, False, False, False]
    """
    if name not in typed.columns or not is_number(typed[name]):
        return False
    values = _known(typed[name])
    return bool(values.size and values.min() >= 0 and values.max() > 1 and are_whole(values))


def _known(column: pd.Series) -> np.ndarray:
    """Return the finite values of a column of numbers."""
    values = as_float(column)
    return values[np.isfinite(values)]


def _counts_or_weights(name: str, values: np.ndarray, begin: str) -> Problem:
    """Ask whether whole numbers (n,) are counts or weights, the likelier answer first, with their effects."""
    values = values[values > 0]
    lines = len(values)
    answers = [
        ({"weight": name, "weight_as": "counts"}, "Use as counts"),
        ({"weight": name, "weight_as": "importance"}, "Use as weights"),
    ]
    first, other = answers if weight_meaning(name) == "counts" else answers[::-1]
    return Problem(
        "warning",
        name,
        f"{begin} Is each number a count of rows, or a weight? "
        f"Counts: {describe_lines(values, lines)}. Weights: {describe_lines(importance_weights(values), lines)}.",
        "If weights are treated as counts, all intervals are too narrow.",
        *first,
        (other,),
    )


def _propose_time(typed: pd.DataFrame, found: Column, used: bool) -> Problem | None:
    called = MOMENTS & {word.lower() for word in WORD.findall(found.name)}
    if found.role != "time" or not (found.kind == "date" or called):
        return None
    if called == {"year"} and found.kind == "number" and not _are_years(typed[found.name]):
        return None
    return Problem(
        "info",
        found.name,
        "A random split tests a model on rows from before its training rows, so results may be too "
        "optimistic.",
        "Split by time if you will use the model on later rows. The date is then not used as a feature.",
        {"time": found.name, "split": "time"},
        "Split by time",
    )


def _are_years(column: pd.Series) -> bool:
    """Tell whether numbers can be calendar years, not amounts per year."""
    values = _known(column)
    return bool(values.size and YEARS[0] <= values.min() and values.max() <= YEARS[1])


def _propose_cluster(typed: pd.DataFrame, found: Column, used: bool) -> Problem | None:
    if found.role != "identifier" or not 2 <= found.distinct < len(typed) - found.missing:
        return None
    message = (
        f"The column looks like an identifier with repeated values ({found.distinct:,} different values)."
    )
    learned = " A model can memorise them." if used else ""
    return Problem(
        "warning",
        found.name,
        f"{message}{learned} A random split puts rows with the same value in both the training and the test "
        "set. Results then look better than they are.",
        "Split by cluster to keep these rows together. The column is then not a feature.",
        {"cluster": found.name, "split": "cluster"},
        "Split by cluster",
    )


def _propose_part(typed: pd.DataFrame, found: Column, used: bool) -> Problem | None:
    if not 2 <= found.distinct <= len(PART_OF_WORD) or is_number(typed[found.name]):
        return None
    codes, levels = coded(typed[found.name])
    names = levels[pd.unique(codes[codes >= 0])]
    if _plain(names[0]) not in {*PART_OF_WORD, DEVELOPMENT}:
        return None
    parts = set(_parts_of(names))
    if None in parts or not {0, 2} <= parts:
        return None
    return Problem(
        "warning",
        found.name,
        f"The column looks like an assignment to training and test "
        f"set{'; a model would use it as a feature' if used else ''}.",
        "Split by this column to reproduce results on the same training and test rows.",
        {"part": found.name, "split": "file", "evaluation": "holdout"},
        "Split by this column",
    )


PROPOSALS: dict[str, Callable[[pd.DataFrame, Column, bool], Problem | None]] = {
    "weight": _propose_weight,
    "time": _propose_time,
    "cluster": _propose_cluster,
    "part": _propose_part,
}

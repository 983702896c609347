"""What columns are for beside features and label: how much a row counts, when it is from, whose it is, which part.

A role changes numbers, so that it is proposed (``propose_roles``) and never taken unasked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from calib.data.columns import WORD, Column, as_float, inspect, is_number
from calib.data.errors import DataError
from calib.data.join import FILE_PART
from calib.kernel.checks import MOST_COUNTED
from calib.kernel.records import PARTS, Problem
from calib.kernel.wording import counted, quoted, row_numbers

ROLES = ("weight", "time", "cluster", "part")  # as the fields of a Recipe and of a Dataset are called
SYNONYMS = {
    "train": ("train", "training", "trn", "tr", "learn", "learning", "fit", "development"),
    "calibrate": (
        "calibrate",
        "calibration",
        "calib",
        "cal",
        "validate",
        "validation",
        "valid",
        "val",
    ),
    "test": (
        "test",
        "testing",
        "tst",
        "te",
        "holdout",
        "held out",
        "hold out",
        "evaluate",
        "evaluation",
        "eval",
        "oot",
        "out of time",
        "oos",
        "out of sample",
    ),
}
# Beside rows that train it calibrates, as in machine learning; else it trains, as in banks
DEVELOPMENT = "dev"
WORDS = {word: PARTS.index(part) for part, words in SYNONYMS.items() for word in words}
# Among names of times, those that order rows by themselves
COUNTED = frozenset(("count", "counts", "n", "rows", "cases"))  # so called, fractions are something else
MOMENTS = frozenset(("date", "datetime", "timestamp", "year"))
AMBIGUOUS = "dates were read as day, month, year."


@dataclass(frozen=True, eq=False)
class Read:
    """What the columns of roles hold.

    Attributes
    ----------
    values
        Role → array (n,) of the table's rows.
    rows : bool (n,)
        Those for which nothing is missing.
    notes
        What was left out, one sentence each.
    """

    values: Mapping[str, np.ndarray]
    rows: np.ndarray
    notes: tuple[str, ...]

    def of(self, rows: np.ndarray) -> dict[str, Any]:
        """Role → its values in the rows chosen, bool (n,): the fields of a Dataset."""
        return {role: values[rows] for role, values in self.values.items()}


def read_roles(
    typed: pd.DataFrame, roles: Mapping[str, str | None], target: str, notes: Collection[str] = ()
) -> Read:
    """The columns that have a role, checked.

    Rows with a weight of 0, or without a weight, time or part, are left out; one without a cluster is its
    own.

    Parameters
    ----------
    typed
        As ``typed_frame`` gives it.
    roles
        weight, time, cluster and part → the column that holds it.
    target
        The label column.
    notes
        What ``read_table`` noted when it read the table.

    Raises
    ------
    DataError
        Naming the role, for one that cannot have it.

    Examples
    --------
    >>> table = pd.DataFrame({"y": [0, 1, 1], "n": [5, 0, 2], "set": ["Train", "test", "test"]})
    >>> read = read_roles(table, {"weight": "n", "part": "set"}, "y")
    >>> read.values["part"], read.rows, read.notes
    (array([0, 2, 2]), array([ True, False,  True]), ("Left out with a weight of 0 in 'n': 1 row (row 2).",))
    """
    given = {role: str(name) for role, name in roles.items() if name is not None}
    _check_names(typed, given, target)
    values, rows, left_out = {}, np.ones(len(typed), dtype=bool), []
    for role, name in given.items():
        values[role], missing = READERS[role](typed[name], name)
        reasons = {f"because the {role} in {name!r} is missing": missing}
        if role == "weight":
            reasons[f"with a weight of 0 in {name!r}"] = (values[role] == 0) & ~missing
        if role == "time" and f"Column {name!r}: {AMBIGUOUS}" in notes:
            raise DataError(
                f"time: the dates of {name!r} can be read with the day first or with the month first.",
                "Write them as 2024-05-31.",
            )
        for why, out in reasons.items():
            if out.any():
                left_out.append(f"Left out {why}: {counted(int(out.sum()), 'row')} ({row_numbers(out)}).")
                rows &= ~out
    return Read(values, rows, tuple(left_out))


def _check_names(typed: pd.DataFrame, given: Mapping[str, str], target: str) -> None:
    held = {target: "the label"}
    for role, name in given.items():
        if name not in typed.columns:
            raise DataError(
                f"{role}: there is no column {name!r}.", f"Columns are {', '.join(typed.columns)}."
            )
        if name in held:
            raise DataError(
                f"{role}: {name!r} is {held[name]} already.", "Every column has one role: choose another."
            )
        held[name] = role


def _weights(column: pd.Series, name: str) -> tuple[np.ndarray, np.ndarray]:
    if not is_number(column):
        raise DataError(
            f"weight: {name!r} does not hold numbers only.", "Correct it, or choose another column."
        )
    values = as_float(column)
    missing = np.isnan(values)
    wrong = np.flatnonzero(~missing & ~((values >= 0) & (values < np.inf)))
    if wrong.size:
        raise DataError(
            f"weight: {name!r} must hold numbers of at least 0, but holds {values[wrong[0]]:g} in row {wrong[0] + 1}.",
            "Correct it, or choose another column.",
        )
    if not (values > 0).any():
        raise DataError(f"weight: no row of {name!r} has a weight above 0.", "Choose another column.")
    with np.errstate(over="ignore"):
        beyond = np.nansum(values) > MOST_COUNTED
    if beyond:
        raise DataError(
            f"weight: {name!r} holds {np.nanmax(values):g}, more than can be added up exactly.",
            "Divide all weights by one number, or choose another column.",
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
            f"time: {name!r} must hold dates or numbers, but holds {text.iloc[first]!r} in row {first + 1}.",
            "Write dates as 2024-05-31, or choose another column.",
        )
    return dates.to_numpy("datetime64[ns]"), column.isna().to_numpy()


def _clusters(column: pd.Series, name: str) -> tuple[np.ndarray, np.ndarray]:
    codes, names = pd.factorize(column)
    own = codes < 0
    codes[own] = len(names) + np.arange(own.sum())  # whose a row is, is not known: it stands alone
    return codes.astype(np.intp), np.zeros(len(codes), dtype=bool)


def _parts(column: pd.Series, name: str) -> tuple[np.ndarray, np.ndarray]:
    codes, names = pd.factorize(column)
    found = _parts_of(names)
    unknown = [str(value) for value, part in zip(names, found, strict=True) if part is None]
    if unknown:
        raise DataError(
            f"part: {name!r} holds {quoted(unknown, 3)}, which {'names' if len(unknown) == 1 else 'name'} no part.",
            f"Write {', '.join(PARTS[:2])} and {PARTS[2]}, or choose another column.",
        )
    return np.array([*found, -1], dtype=np.intp)[codes], codes < 0


def _parts_of(names: Collection[Any]) -> list[int | None]:
    """The part that each of a column's values names; None for what names none.

    >>> _parts_of(["train", "dev"]), _parts_of(["Dev", "cal", "OOT"])
    ([0, 1], [0, 1, 2])
    """
    words = [_plain(name) for name in names]
    train, calibrate = PARTS.index("train"), PARTS.index("calibrate")
    own = {DEVELOPMENT: calibrate if any(WORDS.get(word) == train for word in words) else train}
    return [(WORDS | own).get(word) for word in words]


def _plain(value: Any) -> str:
    return " ".join(str(value).replace("-", " ").replace("_", " ").split()).casefold()


READERS: dict[str, Callable[[pd.Series, str], tuple[np.ndarray, np.ndarray]]] = {
    "weight": _weights,
    "time": _times,
    "cluster": _clusters,
    "part": _parts,
}
"""Role → what reads its column: (values (n,), which are missing (n,))."""


def propose_roles(
    typed: pd.DataFrame,
    target: str,
    given: Mapping[str, str | None],
    used: bool,
    columns: Collection[Column] | None = None,
) -> Iterator[Problem]:
    """A role for each column that looks like it, by name and content, where that role is not given yet.

    Parameters
    ----------
    given
        Role → column.
    used
        Whether the columns are features otherwise, so that leaving it unsaid has a price.
    columns
        Those that may have one, as ``inspect`` found them; all of the table by default.
    """
    taken = {target, *(str(name) for name in given.values() if name is not None)}
    columns = [inspect(column, str(name)) for name, column in typed.items()] if columns is None else columns
    found = [column for column in columns if column.name not in taken]
    elsewhere = given.get("part") == FILE_PART  # another file is judged: there is no split to choose
    split = given.get("time") is not None or given.get("part") is not None  # which a click must not undo
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
        remedy="Give it the role cluster: it is then not a feature, and intervals draw the rows of one together.",
        fix={"cluster": problem.column},
        action="Use as cluster",
    )


def _propose_weight(typed: pd.DataFrame, found: Column, used: bool) -> Problem | None:
    if found.role != "weight" or found.kind != "number":
        return None
    values = as_float(typed[found.name])
    values = values[np.isfinite(values)]
    if not values.size or values.min() < 0:
        return None
    whole = not (values % 1).any()
    if not whole and {word.lower() for word in WORD.findall(found.name)} <= COUNTED:
        return None
    message = f"Looks like {'counts' if whole else 'weights'}"
    message += ": a model would learn from it." if used else ", while now every row counts once."
    if whole:
        message += f" Its {len(values):,} rows would stand for {values.sum():,.0f}."
    fix = {"weight": found.name}
    return Problem(
        "warning",
        found.name,
        message,
        "Give it the role weight, if each row counts as often as it says.",
        fix,
        "Use as counts" if whole else "Use as weights",
    )


def _propose_time(typed: pd.DataFrame, found: Column, used: bool) -> Problem | None:
    called = MOMENTS & {word.lower() for word in WORD.findall(found.name)}
    if found.role != "time" or not (found.kind == "date" or called):
        return None
    return Problem(
        "info",
        found.name,
        "The rows are dated. A random split judges the past by the future, which may claim more than will come true.",
        "Split in time, if the model will be used on what comes later; the date is then not a feature.",
        {"time": found.name, "split": "time"},
        "Split in time",
    )


def _propose_cluster(typed: pd.DataFrame, found: Column, used: bool) -> Problem | None:
    if found.role != "identifier" or not 2 <= found.distinct < len(typed) - found.missing:
        return None
    message = f"Looks like an identifier whose values come back: {found.distinct:,} different ones."
    learned = " A model can memorise single ones, and rows" if used else " Rows"
    return Problem(
        "warning",
        found.name,
        f"{message}{learned} of one fall on both sides of a random split, which flatters it.",
        "Split by cluster, so that rows of one stay together; it is then not a feature.",
        {"cluster": found.name, "split": "cluster"},
        "Split by cluster",
    )


def _propose_part(typed: pd.DataFrame, found: Column, used: bool) -> Problem | None:
    if not 2 <= found.distinct <= len(WORDS) or is_number(typed[found.name]):
        return None
    names = typed[found.name].dropna().unique()
    if _plain(names[0]) not in {*WORDS, DEVELOPMENT}:
        return None
    parts = set(_parts_of(names))
    if None in parts or not {0, 2} <= parts:
        return None
    return Problem(
        "warning",
        found.name,
        f"Says which rows train and which are the test part{'; a model would learn from it' if used else ''}.",
        "Split as the file says, to get the answer that others get on the same parts.",
        {"part": found.name, "split": "file", "evaluation": "holdout"},
        "Split as the file says",
    )


PROPOSALS: dict[str, Callable[[pd.DataFrame, Column, bool], Problem | None]] = {
    "weight": _propose_weight,
    "time": _propose_time,
    "cluster": _propose_cluster,
    "part": _propose_part,
}

"""Records that all parts share: Dataset → Predictions → Evaluation. They are frozen, with documented shapes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from calib.kernel import checks
from calib.kernel.base_rate import multiply_odds
from calib.kernel.checks import InputError
from calib.kernel.read_as import ReadAs
from calib.kernel.rows import Rows
from calib.kernel.weights import are_whole
from calib.kernel.wording import listed, percent

SETTING_SUBJECTS = ("class", "label", "columns")
"""Targets of a setting: the positive class, the label column, or the columns and rows of the table."""

PARTS = ("train", "calibrate", "test")
"""Uses of a row, in the order of their codes."""


def _table(X: Any) -> pd.DataFrame:
    array = np.asarray(X)
    if array.ndim != 2:
        raise InputError(
            "X must be a DataFrame, or an array of shape (n, d) with one line per row, but has shape "
            f"{array.shape}."
        )
    return pd.DataFrame(array, columns=[f"x{i}" for i in range(1, array.shape[1] + 1)])


def _flat(values: Any, name: str) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, but has shape {array.shape}.")
    return array


def _weights(values: Any) -> np.ndarray:
    return checks.weight_vector(values, len(_flat(values, "weight")))


def _times(values: Any) -> np.ndarray:
    array = _flat(values, "time")
    if array.dtype.kind not in "iufM":
        raise InputError(f"time must be numbers or dates (datetime64), but is of type {array.dtype}.")
    if pd.isna(array).any():
        raise InputError("time must not be missing. Remove the rows without a time.")
    return array


def _clusters(values: Any) -> np.ndarray:
    array = _flat(values, "cluster")
    return array if array.dtype.kind in "iu" else pd.factorize(array, use_na_sentinel=False)[0]


def _parts(values: Any) -> np.ndarray:
    array = _flat(values, "part")
    numbers = {name: number for number, name in enumerate(PARTS)} | dict(enumerate(range(len(PARTS))))
    wrong = next((value for value in pd.unique(array) if value not in numbers), None)
    if wrong is not None:
        allowed = ", ".join(f"{number} ({name})" for number, name in enumerate(PARTS))
        raise InputError(
            f"part must contain {allowed}, or these words, but contains {checks.short_repr(str(wrong))}."
        )
    return (
        array
        if array.dtype.kind in "iu"
        else np.array([numbers[value] for value in array.tolist()], dtype=np.intp)
    )


READ: Mapping[str, Callable[[Any], np.ndarray]] = {
    "posterior": lambda values: checks.probability_vector(values, "posterior"),
    "weight": _weights,
    "time": _times,
    "cluster": _clusters,
    "part": _parts,
}
"""Optional array of a Dataset → function that checks it."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Data of two classes, or of K, ready for a model.

    Parameters
    ----------
    X
        DataFrame (n, d) of typed columns (numbers, booleans, categories, dates); missing values are allowed. Columns
        of an array (n, d) are named x1, x2, …
    y
        Int array (n,) of 0 and 1, 1 for the positive class.
    classes : (negative, positive)
        Labels, as spelt in the file.
    posterior
        Float array (n,), the true P(Y = 1 | x) if known (synthetic data), else None.
    notes
        One sentence per column or row that was excluded, imputed or merged.
    predictions
        True if the columns of X are existing scores, so that no model is needed.
    weight
        Float array (n,) of positive weights, or None. Whole numbers are counts of repeated rows.
    time
        Array (n,) of numbers or of datetime64, or None.
    cluster
        Array (n,), equal for rows that belong together, or None; stored as integers.
    part
        Int array (n,), 0 for training rows, 1 for calibration rows, 2 for test rows, or None; names in ``PARTS`` are
        also accepted.
    read
        Number of rows of the original table, or None.
    left_out
        Notes on rows of that table that were excluded.
    unlabelled
        Time (or number, without times) of the first row of that table without a label, or None.
    unlabelled_scores, unlabelled_time
        Scores of the rows without a label, indexed as ``X``, and their times, for predictions; else None.
    test_file
        Name of the file with the test set, if it is another file, or None.
    beside
        Column → values of the other columns of the table, for all its rows, as they were read; they can define
        groups.
    names, labels
        Names (K,) of three or more classes together, and int array (n,) with the position of each row's class in
        ``names``. ``y`` and ``classes`` then separate one class from the rest. Empty and None for two classes.
    columns
        Name of a model → its K columns of X, in the order of ``names``, for predictions of K classes.
    rest
        Rows outside this sample, on which the model is evaluated (``calib.data.Rest``); or None.
    lines_of
        Digest of the sample that a model learned from, if these are the other rows, counted by
        score and label; or None.
    read_as
        How the table was read: its label, the positive class and why, what each score column is; or None.
    shares
        Float array (n,), the share of annotators for class 1 of the row that a line is a part of; or None.

    Raises
    ------
    InputError
        If an array is invalid; names it.

    Examples
    --------
    >>> data = Dataset("mine", np.array([[0.1, 3.0], [0.4, 5.0]]), [0, 1], part=["train", "test"])
    >>> list(data.X.columns), data.part
    (['x1', 'x2'], array([0, 2]))
    """

    name: str
    X: pd.DataFrame
    y: np.ndarray
    classes: tuple[str, str] = ("0", "1")
    posterior: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    predictions: bool = False
    weight: np.ndarray | None = None
    time: np.ndarray | None = None
    cluster: np.ndarray | None = None
    part: np.ndarray | None = None
    read: int | None = None
    left_out: tuple[str, ...] = ()
    unlabelled: Any = None
    unlabelled_scores: pd.DataFrame | None = None
    unlabelled_time: np.ndarray | None = None
    test_file: str | None = None
    beside: Mapping[str, pd.Series] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    labels: np.ndarray | None = None
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rest: Any = None
    lines_of: str | None = None
    read_as: ReadAs | None = None
    shares: np.ndarray | None = None

    def __post_init__(self) -> None:
        y = np.array(checks.binary_labels(self.y))  # a copy, so that the caller's array is not changed
        y.setflags(write=False)
        held: dict[str, Any] = {"X": self.X if isinstance(self.X, pd.DataFrame) else _table(self.X), "y": y}
        if self.labels is not None:
            held["labels"] = checks.class_labels(self.labels, len(self.names))
        for name, read in READ.items():
            if getattr(self, name) is not None:
                held[name] = read(getattr(self, name))
        checks.same_length(**held)
        for name, values in held.items():
            object.__setattr__(self, name, values)

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def joint(self) -> bool:
        """Tell whether three or more classes are predicted together."""
        return self.labels is not None

    @property
    def n_classes(self) -> int:
        """Number of classes that are predicted: K, or 2."""
        return len(self.class_names)

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the K ≥ 2 classes that are predicted, in the order of ``coded``."""
        return self.names or self.classes

    @property
    def coded(self) -> np.ndarray:
        """Class of each row, int (n,): 0 … K − 1, or 0 and 1 for two classes."""
        return self.y if self.labels is None else self.labels

    @property
    def scores(self) -> list[str]:
        """Names of existing predictions: of score columns, or of models with a column per class."""
        return list(self.columns if self.joint else map(str, self.X.columns)) if self.predictions else []

    @cached_property
    def fixes_calibration(self) -> bool:
        """Tell whether the file states which rows calibrate."""
        return self.part is not None and bool((self.part == 1).any())

    @cached_property
    def row_numbers(self) -> np.ndarray:
        """Row numbers that a person sees, int (n,). Row 1 is the first below the header.

        ``X.index`` contains positions in the table, from 0. If it is not an integer index, the rows are numbered in
        order.
        """
        index = self.X.index
        positions = index.to_numpy() if pd.api.types.is_integer_dtype(index.dtype) else np.arange(self.n)
        return positions + 1

    @cached_property
    def digest(self) -> str:
        """Sixteen hexadecimal digits of every value, name, type and label; equal data have equal digests.

        Counted rows have the digest of their sample, which identifies them together with the Recipe.
        """
        if self.lines_of is not None:
            return self.lines_of
        h = hashlib.blake2b(digest_size=8)
        # K classes together have one digest, whichever class is viewed
        classes = self.classes if self.labels is None else (self.names, dict(self.columns))
        h.update(repr((classes, self.predictions, list(map(str, self.X.columns)))).encode())
        h.update(repr(list(map(str, self.X.dtypes))).encode())
        h.update(pd.util.hash_pandas_object(self.X, index=False).to_numpy().tobytes())
        h.update(np.ascontiguousarray(self.coded, dtype=np.int64).tobytes())
        if self.posterior is not None:
            h.update(np.ascontiguousarray(self.posterior, dtype=np.float64).tobytes())
        for name in ("weight", "time", "cluster", "part"):
            values = getattr(self, name)
            if values is not None:
                h.update(f"{name} {values.dtype}".encode() + np.ascontiguousarray(values).tobytes())
        if self.unlabelled is not None:
            h.update(f"unlabelled {self.unlabelled!r}".encode())
        if self.rest is not None:
            h.update(f"rest {self.rest.digest} {dict(self.rest.counts)}".encode())
        return h.hexdigest()


@dataclass(frozen=True, eq=False)
class Predictions(Rows):
    """Predictions of one calibrator on the test rows.

    Attributes
    ----------
    y, weight, counts, cluster
        Fields of ``Rows``.
    p
        Float array (m,), probability of class 1; (m, K) for all classes together.
    lower, upper
        Float arrays (m,), ends of the interval (lower <= upper), or None for a method without intervals.
    p0, p1
        Multiprobability pair of the method (full Venn–Abers may have p0 > p1), or None.
    """

    p: np.ndarray
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None
    p0: np.ndarray | None = None
    p1: np.ndarray | None = None

    @classmethod
    def joined(cls, parts: Sequence[Predictions]) -> Predictions:
        """Concatenate the predictions of several parts, which all have intervals and weights, or none."""
        names = parts[0]._held()
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})

    def adjusted(self, ratio: np.ndarray, weight: np.ndarray) -> Predictions:
        """Multiply all odds by ``ratio``, (m,) or for K classes (m, K), and weight the rows by ``weight`` (m,).

        Previous whole weights become counts.
        """
        counts = self.weight if self.weight is not None and are_whole(self.weight) else None
        ends = {name: getattr(self, name) for name in ("p", "lower", "upper", "p0", "p1")}
        adjusted = {name: multiply_odds(end, ratio) for name, end in ends.items() if end is not None}
        return replace(self, **adjusted, weight=weight, counts=counts)

    @property
    def pairs(self) -> np.ndarray:
        """Pairs p0 and p1 (m, 2) of a method with intervals."""
        if self.p0 is None or self.p1 is None:
            raise ValueError("This method gives no intervals.")
        return np.column_stack([self.p0, self.p1])

    @property
    def width(self) -> np.ndarray:
        """Width (m,) of each interval."""
        if self.lower is None or self.upper is None:
            raise ValueError("This method gives no intervals.")
        return self.upper - self.lower


@dataclass(frozen=True, eq=False)
class Problem:
    """Fact about a table that a person should know before using it.

    Parameters
    ----------
    severity
        "error" (nothing can be computed), "warning" (results need care) or "info".
    fix
        Remedy as fields of a Recipe: names are added to a list, settings to a group; None if there is no such remedy.
    action
        Label of the button that applies the remedy.
    also
        Other remedies, each as (fix, action).
    """

    severity: str
    column: str | None
    message: str
    remedy: str
    fix: Mapping[str, Any] | None = None
    action: str = ""
    also: tuple[tuple[Mapping[str, Any], str], ...] = ()

    @property
    def fixes(self) -> tuple[tuple[Mapping[str, Any], str], ...]:
        """Remedies as fields of a Recipe, each as (fix, action)."""
        return () if self.fix is None else ((self.fix, self.action), *self.also)


@dataclass(frozen=True, eq=False)
class Parameter:
    """Declaration of one setting: its type, its range, and the words of its control.

    Fields of a Recipe, settings of pages and experiments, and those of models, calibrators and splits are all declared
    this way, once each. Controls, links, protocols, documents and messages are generated from the declaration.

    Parameters
    ----------
    kind
        "integer", "number", "choice", "boolean", "names" (a tuple of texts) or one of ``checks.TEXTS``.
    choices
        Values allowed for a choice or for names: a sequence, a mapping from value to label (or to an entry with a
        ``label``), or a function that returns either, if plug-ins may add values.
    optional
        Whether None is allowed.
    only_with
        (name of an earlier setting, values of it with which this one has an effect); None if it always has one.
    reset_by
        Part of the data that the value refers to, and with which it is reset: one of ``SETTING_SUBJECTS``, or None.
    extra
        Further properties for special uses: ``each`` replaces the check of a single name, as (name, label) → name;
        ``percent`` shows a share as a percentage; ``unset`` is the text for None, and ``step`` that of a control.
    """

    name: str
    label: str
    kind: str
    default: Any
    low: float | None = None
    high: float | None = None
    choices: Any = ()
    optional: bool = False
    help: str = ""
    only_with: tuple[str, tuple[Any, ...]] | None = None
    reset_by: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def offered(self) -> Collection[Any]:
        """Return the choices, as a sequence or a mapping.

        >>> Parameter("band", "Band", "choice", "none", choices={"none": "No band"}).offered()
        {'none': 'No band'}
        """
        return self.choices() if callable(self.choices) else self.choices

    def in_words(self, value: Any) -> str:
        """Return the text with which pages show a value.

        >>> band = Parameter("band", "Band", "choice", "none", choices={"none": "No band"})
        >>> band.in_words("none"), Parameter("n", "Rows", "integer", 1000).in_words(1000)
        ('No band', '1,000')
        """
        offered = self.offered()
        named = offered.get(value, value) if isinstance(offered, Mapping) else value
        if named is None:
            return str(self.extra.get("unset", "no limit"))
        if isinstance(named, bool):
            return "on" if named else "off"
        if isinstance(named, tuple):
            return listed([self.in_words(one) for one in named]) if named else "none"
        if self.extra.get("percent"):
            return percent(named)
        return f"{named:,}" if isinstance(named, int) else str(getattr(named, "label", named))


def effective_parameters(
    parameters: Iterable[Parameter], given: Mapping[str, Any], **known: Any
) -> list[Parameter]:
    """Return the parameters that have an effect, given the values name → value; others are at their defaults.

    ``known`` contains further values that decide which parameters have an effect.

    >>> kernel = Parameter("kernel", "Kernel", "choice", "flat", choices=("flat", "bent"))
    >>> bend = Parameter("bend", "Bend", "number", 1.0, only_with=("kernel", ("bent",)))
    >>> [len(effective_parameters([kernel, bend], {"kernel": value})) for value in kernel.choices]
    [1, 2]
    """
    values, found = dict(known), []
    for each in parameters:
        if each.only_with is None or values.get(each.only_with[0]) in each.only_with[1]:
            values[each.name] = given.get(each.name, each.default)
            found.append(each)
    return found

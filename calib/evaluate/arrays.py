"""Read arrays of labels and probabilities, as ``check`` takes them: which class is positive, and which rows count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from calib.data.conventions import conventional, number_text
from calib.kernel.checks import (
    ROW_SUM_ERROR,
    InputError,
    class_probabilities,
    not_empty,
    probability_vector,
    same_length,
    short_repr,
    weight_vector,
)
from calib.kernel.read_as import ReadAs, ScoreReading
from calib.kernel.records import Dataset
from calib.kernel.wording import counted, quoted

BINARY = ("0", "1")
ONE = "none"  # name of a single array: the uncalibrated model


def named(p: ArrayLike | Mapping[str, ArrayLike]) -> dict[str, ArrayLike]:
    """Return predictions by name; a single array is the uncalibrated model, "none". Refuse an empty mapping."""
    given = {str(name): values for name, values in (p if isinstance(p, Mapping) else {ONE: p}).items()}
    if not given:
        raise InputError("p contains no predictions. Pass one array, or a dictionary of names and arrays.")
    return given


def read_arrays(
    y: ArrayLike,
    p: ArrayLike | Mapping[str, ArrayLike],
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    features: Any = None,
    pos_label: Any = None,
) -> tuple[Dataset, dict[str, np.ndarray]]:
    """Read labels and probabilities of two classes, or of K; rows of weight 0 are left out.

    Parameters
    ----------
    y : (n,)
        Labels of any kind. Of two classes, ``pos_label``, else a convention (1 of 0 and 1, yes of no and yes …) says
        which is positive. Labels of K classes are column numbers, or names of the columns of a DataFrame.
    p : (n,), (n, 2) or (n, K), or a mapping name → such an array
        Probability of the positive class, or of all classes.
    sample_weight, cluster, features, pos_label
        As in ``Evaluation.from_predictions``.

    Returns
    -------
    Dataset, columns
        The rows as existing predictions; and name → probabilities of the positive class (n,), or of all classes (n, K).

    Raises
    ------
    InputError
        If arrays do not fit, a value is missing, or neither ``pos_label`` nor a convention decides.

    Examples
    --------
    >>> data, columns = read_arrays(["dead", "alive"], [0.7, 0.1])
    >>> data.y, data.classes, columns["none"]
    (array([1, 0]), ('alive', 'dead'), array([0.7, 0.1]))
    >>> read_arrays(["b", "a"], [0.7, 0.1], pos_label="a")[0].y
    array([0, 1])
    """
    given, label, notes = named(p), Coded.of(y), list[str]()
    joint = any(np.ndim(values) == 2 and np.shape(values)[1] > 2 for values in given.values())
    if joint and pos_label is not None:
        raise InputError("pos_label applies only to two classes. Use .view(k) for class k against the rest.")
    kept = slice(None) if sample_weight is None else weight_vector(sample_weight, len(label.codes)) > 0
    if joint:
        names, codes, columns = _of_classes(label, given, notes)
        positive, why, kind = None, "named", "classes"
    else:
        names, why, codes, columns = _of_two(label, given, pos_label, notes)
        positive, kind = names[1], "probability"
    beside = None if features is None else pd.DataFrame(features).reset_index(drop=True)
    whose = None if cluster is None else present(cluster, "cluster")
    same_length(
        y=codes, **columns if isinstance(p, Mapping) else {"p": columns[ONE]}, cluster=whose, features=beside
    )
    if left_out := len(codes) - len(codes[kept]):
        notes.append(f"Excluded with a weight of 0: {counted(left_out, 'row')}.")
    codes, columns = codes[kept], {name: values[kept] for name, values in columns.items()}
    fields = (
        {"X": pd.DataFrame(columns), "y": codes, "classes": names}
        if not joint
        else _fields_of_classes(names, codes, columns)
    )
    others = {} if beside is None else dict(beside[kept].reset_index(drop=True).items())
    read = tuple(ScoreReading(("p" if name == ONE else name,), kind, positive or "y") for name in given)
    data = Dataset(
        "predictions",
        **fields,
        notes=tuple(notes),
        predictions=True,
        weight=None if sample_weight is None else np.asarray(sample_weight)[kept],
        cluster=None if whose is None else whose[kept],
        beside={str(name): values for name, values in others.items()},
        read_as=ReadAs("y", positive, why, read, names),
    )
    return data, columns


def _fields_of_classes(
    names: Sequence[str], codes: np.ndarray, predicted: Mapping[str, np.ndarray]
) -> dict[str, Any]:
    """Return the fields of a Dataset of K classes, with one column per model and class."""
    shown: tuple[Any, ...] = tuple(names or range(next(iter(predicted.values())).shape[1]))
    columns = {key: tuple(f"{key}: {name}" for name in shown) for key in predicted}
    frame = pd.DataFrame(np.hstack([*predicted.values()]), columns=sum(columns.values(), ()))
    first = {"y": (codes == 0).astype(np.intp), "classes": (f"not {shown[0]}", str(shown[0]))}
    return {"X": frame, "names": shown, "labels": codes, "columns": columns, **first}


def present(values: Any, name: str) -> np.ndarray:
    """Return an array (n,) without missing values; refuse one, naming its position.

    >>> present(["a", None], "cluster")
    Traceback (most recent call last):
    ...
    calib.kernel.checks.InputError: cluster is missing at position 1. Remove this row, or fill in the value.
    """
    nullable = isinstance(values, (pd.Series, pd.Index, pd.api.extensions.ExtensionArray))
    array = values.to_numpy(dtype=object) if nullable else np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, but has shape {array.shape}.")
    missing = np.flatnonzero(pd.isna(array))
    if missing.size:
        more = f" (and in {missing.size - 1:,} others)" if missing.size > 1 else ""
        raise InputError(
            f"{name} is missing at position {missing[0]}{more}. Remove this row, or fill in the value."
        )
    return array


@dataclass(frozen=True, eq=False)
class Coded:
    """Labels as positions ``codes`` (n,) among distinct ``texts``."""

    codes: np.ndarray
    texts: tuple[str, ...]

    @classmethod
    def of(cls, y: Any) -> Coded:
        given = present(y, "y")
        not_empty(given, "y")
        if given.dtype.kind in "biu" and (given.min(), given.max()) == (0, 1):
            return cls(given.astype(np.intp), BINARY)
        codes, values = pd.factorize(given)
        return cls(codes, tuple(map(_text, values)))

    def among(self, places: Mapping[str, int], other: int) -> np.ndarray:
        """Return the place of each label, int (n,), or ``other`` for a label without one."""
        return np.array([places.get(text, other) for text in self.texts], dtype=np.intp)[self.codes]


def _text(value: Any) -> str:
    """Return a label as text; a whole number has no decimal point."""
    text = str(int(value)) if isinstance(value, (bool, np.bool_)) else str(value)
    return number_text(text) if isinstance(value, (int, float, np.number)) else text


def _of_two(
    label: Coded, given: Mapping[str, Any], pos_label: Any, notes: list[str]
) -> tuple[tuple[str, str], str, np.ndarray, dict[str, np.ndarray]]:
    """Return (negative, positive) and why, labels of 0 and 1, and the probabilities of the positive class."""
    names, why, codes = BINARY, "convention", label.codes
    if label.texts != BINARY or pos_label is not None:
        names, why = _classes(label, given, pos_label)
        codes = label.among({names[1]: 1}, 0)
    columns = {}
    for name, values in given.items():
        title = "p" if name == ONE else f"p[{name!r}]"
        one = values if np.ndim(values) == 1 else _positive_column(values, title, names)
        columns[name] = probability_vector(one, title, notes)
    if all(np.asarray(values).dtype.kind in "biu" and np.size(values) > 1 for values in given.values()):
        raise InputError(
            "p contains whole numbers: these are predicted classes, not probabilities, so calibration cannot "
            "be evaluated. Pass predict_proba() instead of predict(). For probabilities of exactly 0 and 1, "
            "pass floats."
        )
    return names, why, codes, columns


def _classes(label: Coded, given: Mapping[str, Any], pos_label: Any) -> tuple[tuple[str, str], str]:
    """Return (negative, positive) and why; without a decision, refuse, naming ``pos_label``."""
    found = sorted(set(label.texts))
    columns = _column_names(given)
    known = found if len(found) == 2 or columns is None else sorted(columns)
    if set(known) <= {"0", "1"}:
        known = ["0", "1"]
    if len(known) > 2:
        raise InputError(
            f"y must contain two classes, but contains {quoted(known)}. For more classes, pass one column "
            "per class: (n, K)."
        )
    if pos_label is not None:
        stated = _text(pos_label)
        if stated not in known:
            raise InputError(f"pos_label must be one of {quoted(known)}, but is {short_repr(pos_label)}.")
        return (next((name for name in known if name != stated), f"not {stated}"), stated), "stated"
    if len(known) < 2:
        raise InputError(
            f"y contains only the label {known[0]!r}. State the positive class with pos_label, or use the "
            "labels 0 and 1."
        )
    positive = conventional(known)
    if positive is None and columns is not None:
        positive = columns[1]  # each column is named after its class
    if positive is None:
        raise InputError(
            f"y contains {quoted(known)}, and p may be the probability of either class. State the positive "
            f"class: pos_label={known[0]!r} or pos_label={known[1]!r}."
        )
    why = "named" if conventional(known) is None else "convention"
    return (known[1] if positive == known[0] else known[0], positive), why


def _column_names(given: Mapping[str, Any]) -> list[str] | None:
    """Return the names of the columns of all predictions, if all are DataFrames with the same ones."""
    names = [
        list(map(str, values.columns)) if isinstance(values, pd.DataFrame) else None
        for values in given.values()
    ]
    first = names[0]
    alike = all(each is not None and first is not None and sorted(each) == sorted(first) for each in names)
    return first if alike and first is not None and len(first) > 1 else None


def _positive_column(values: Any, title: str, names: Sequence[str]) -> np.ndarray:
    """Return the column of the positive class, (n,), of an array with a column per class."""
    array = np.asarray(values)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(
            f"{title} must be one-dimensional, or have one column per class, not shape {array.shape}."
        )
    columns = _column_names({title: values})
    order = columns if columns is not None and set(columns) == set(names) else sorted(names, key=_in_order)
    _check_sums(array, title)
    return array[:, order.index(names[1])]


def _in_order(name: str) -> tuple[float, str]:
    """Order classes as scikit-learn orders columns: numbers by value, then words by letter."""
    try:
        return float(name), ""
    except ValueError:
        return np.inf, name


def _check_sums(array: np.ndarray, title: str) -> None:
    sums = np.asarray(array, dtype=np.float64).sum(axis=1)
    wrong = ~(np.abs(sums - 1) <= ROW_SUM_ERROR)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise InputError(
            f"The rows of {title} must sum to 1, but {int(wrong.sum())} of {len(sums)} do not (row {first} sums to "
            f"{sums[first]:g}). Take the softmax of logits, divide each row by its sum, or pass one column."
        )


def _of_classes(
    label: Coded, given: Mapping[str, Any], notes: list[str]
) -> tuple[tuple[str, ...], np.ndarray, dict[str, np.ndarray]]:
    """Return the names of K classes, or () for numbers; the column of each row's class; and probabilities."""
    names = _column_names(given)
    by_name = names is not None and set(label.texts) <= set(names)
    columns = {}
    for name, values in given.items():
        if by_name:
            values = values[
                [column for each in names or () for column in values.columns if str(column) == each]
            ]
        columns[name] = class_probabilities(values, "p" if name == ONE else f"p[{name!r}]", notes)
    widths = {name: P.shape[1] for name, P in columns.items()}
    if len(set(widths.values())) > 1:
        raise InputError(f"All predictions must have the same number of classes, but have {widths}.")
    K = next(iter(widths.values()))
    if by_name and names is not None:
        return tuple(names), label.among({name: k for k, name in enumerate(names)}, -1), columns
    wrong = [text for text in label.texts if not (text.isdecimal() and int(text) < K)]
    if wrong:
        raise InputError(
            f"y must contain the column number of each row's class, from 0 to {K - 1}, but contains "
            f"{wrong[0]!r}. "
            "For named classes, pass p as a DataFrame whose columns are named after them."
        )
    return (), label.among({str(k): k for k in range(K)}, -1), columns

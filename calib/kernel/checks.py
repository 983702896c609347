"""Check inputs: every check and its message exists once.

A message names what is wrong, what was given, and what is allowed or what to do. It is written for a person, and the
dashboard shows it unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from calib.kernel.weights import are_whole, effective_weights
from calib.kernel.wording import counted

Array = np.ndarray
LONGEST_MESSAGE = 2000  # characters; a longer message quotes a very long name or value


class InputError(ValueError):
    """Error for refused input. The message says what is wrong and what to do; a very long one is cut in the middle."""

    def __init__(self, message: str):
        half = LONGEST_MESSAGE // 2
        super().__init__(message if len(message) <= 2 * half else f"{message[:half]} … {message[-half:]}")


def _floats(values: Any, name: str) -> Array:
    try:
        array = np.asarray(values)
        # NumPy would convert texts, dates and complex numbers to some number
        if array.dtype.kind not in "biufO":
            raise TypeError(f"the type is {array.dtype}")
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers, but at least one value is not: {error}.") from None


def score_vector(scores: Any, name: str = "scores") -> Array:
    """Return finite scores as a float64 array of shape (n,); any real number is a score."""
    array = _floats(scores, name)
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, but has shape {array.shape}.")
    finite = np.isfinite(array)
    if not finite.all():
        first = int(np.argmin(finite))
        kind = "missing (NaN)" if np.isnan(array[first]) else "infinite"
        raise InputError(
            f"{name} must be finite, but {int((~finite).sum())} of {array.size} values are not "
            f"(the first is {kind}, at position {first}). Remove the rows with these values, or replace the "
            "values."
        )
    return array


def score_matrix(scores: Any, name: str = "tree scores") -> Array:
    """Return finite scores of every tree as a float64 array of shape (n, n_trees), with at least one tree."""
    array = _floats(scores, name)
    if array.ndim != 2 or array.shape[1] == 0:
        raise InputError(f"{name} must be a table with one column per tree, but have shape {array.shape}.")
    score_vector(array.ravel(), name)
    return array


OUTSIDE_ERROR = 1e-6  # how far single precision may round a probability out of [0, 1]


def probability_vector(p: Any, name: str = "probabilities", notes: list[str] | None = None) -> Array:
    """Return finite numbers in [0, 1] as a float64 array of shape (n,); numbers within 1e-6 of it are clipped.

    ``notes`` receives a sentence on the clipped numbers.

    >>> probability_vector([1.0000001, 0.5], "p", notes := []), notes
    (array([1. , 0.5]), ['p: 1 value slightly outside [0, 1] because of rounding is clipped.'])
    """
    array = score_vector(p, name)
    if not array.size or (array.min() >= 0 and array.max() <= 1):
        return array
    outside = (array < -OUTSIDE_ERROR) | (array > 1 + OUTSIDE_ERROR)
    if outside.any():
        first = int(np.argmax(outside))
        raise InputError(
            f"{name} must lie in [0, 1], but {int(outside.sum())} of {array.size} values do not "
            f"(the first is {array[first]:g}, at position {first}). For margins or log-odds, choose a "
            "calibrator that accepts any score: Platt scaling, isotonic regression, Venn or Venn–Abers."
        )
    clipped = np.clip(array, 0.0, 1.0)
    if notes is not None:
        notes.append(clipped_note(array, clipped, name))
    return clipped


def clipped_note(before: Array, after: Array, name: str) -> str:
    """Return a note on the number of clipped values, or ""."""
    off = int((before != after).sum() - np.isnan(before).sum())
    verb = "is" if off == 1 else "are"
    return (
        f"{name}: {counted(off, 'value')} slightly outside [0, 1] because of rounding {verb} clipped."
        if off
        else ""
    )


def binary_labels(y: Any, name: str = "y") -> Array:
    """Return labels as an int array of shape (n,) with values 0 and 1 only; other values are refused, never mapped."""
    array = np.asarray(y)
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, but has shape {array.shape}.")
    if array.dtype.kind in "biuf":
        wrong = ~((array == 0) | (array == 1))
    else:
        wrong = np.array([value not in (0, 1) for value in array.tolist()], dtype=bool)
    if wrong.any():
        first = array[int(np.argmax(wrong))]
        raise InputError(
            f"{name} must contain only the labels 0 and 1, but contains {str(first)!r}. Map the two classes "
            "to 0 and 1 first."
        )
    return array.astype(np.intp, copy=False)


def same_length(**arrays: Any) -> None:
    """Refuse arrays of different lengths, naming each with its length."""
    lengths = {name: len(values) for name, values in arrays.items() if values is not None}
    if len(set(lengths.values())) > 1:
        described = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InputError(f"Lengths differ: {described}. Each array needs one value per row.")


def one_name(cluster: Any, groups: Any) -> Any:
    """Return the cluster of each row, which may be given under scikit-learn's name; refuse both names at once."""
    if cluster is not None and groups is not None:
        raise InputError("cluster and groups have the same meaning. Give only one of them.")
    return groups if cluster is None else cluster


def not_empty(values: Any, name: str) -> None:
    if len(values) == 0:
        raise InputError(f"{name} is empty: at least one row is needed.")


def both_classes(y: Array, who: str) -> None:
    """Refuse labels of a single class, for a method that cannot be fitted to them."""
    if y.size == 0 or y.min() == y.max():
        got = "no row" if y.size == 0 else f"only class {int(y[0])} ({y.size} rows)"
        raise InputError(
            f"{who} needs rows of both classes to be fitted, but got {got}. Use more calibration rows, or choose a "
            "calibrator that accepts rows of a single class: isotonic regression, Venn or Venn–Abers."
        )


def weight_vector(sample_weight: Any, n: int) -> Array:
    """Return non-negative weights of shape (n,) with a positive sum; ones if None."""
    if sample_weight is None:
        return np.ones(n)
    weights = score_vector(sample_weight, "sample_weight")
    if weights.size != n:
        raise InputError(f"Lengths differ: sample_weight has {weights.size}, the labels {n}.")
    if (weights < 0).any() or weights.sum() <= 0:
        raise InputError("sample_weight must not be negative, and not all weights may be zero.")
    return weights


def counted_rows(
    sample_weight: Any, first: Array, second: Array, counts: Any = None
) -> tuple[Array | None, Array, Array]:
    """Return (effective weights or None, the two checked arrays of n rows), without rows of weight 0.

    Parameters
    ----------
    sample_weight : (n,)
        Weights. Whole numbers are counts of rows and unchanged; others are put on the scale of ``effective_weights``.
    first, second : (n,)
        Arrays that are already checked.
    counts : (n,)
        Counts of rows, as in ``effective_weights``.
    """
    if sample_weight is None:
        return None, first, second
    weights, counts = (
        weight_vector(sample_weight, len(first)),
        checked_counts(counts, sample_weight, len(first)),
    )
    counted = weights > 0
    if not counted.all():
        weights, first, second = weights[counted], first[counted], second[counted]
    return effective_weights(weights, counts), first, second


def checked_counts(counts: Any, sample_weight: Any, n: int) -> Array | None:
    """Return how many rows each row of positive weight represents, or None if counts are not given."""
    if counts is None or sample_weight is None:
        return None
    checked = row_counts(weight_vector(counts, n), "counts")[weight_vector(sample_weight, n) > 0]
    if (checked == 0).any():
        raise InputError("counts must be at least 1 for every row of positive weight.")
    return checked


def counted_clusters(cluster: Any, sample_weight: Any, n: int) -> Array:
    """Return the cluster of each row of positive weight, as int numbers from 0."""
    whose = np.asarray(cluster)
    if whose.shape != (n,):
        raise InputError(f"cluster must have one value per row, shape ({n},), but has shape {whose.shape}.")
    if sample_weight is not None:
        whose = whose[weight_vector(sample_weight, n) > 0]
    return np.unique(whose, return_inverse=True)[1]


LARGEST_COUNT = 100_000_000
LONGEST_SHOWN = 100  # characters of a value in a message
MOST_COUNTED = 2**53  # float64 represents all whole numbers up to here


def row_counts(weights: Array, who: str) -> Array:
    """Return checked weights (n,) for a method that counts rows; fractions are refused."""
    # The offending weight is not quoted, because pages scale weights before
    if not are_whole(weights):
        raise InputError(
            f"{who} counts rows: weights (sample_weight) must be whole numbers that count repeated rows, but these "
            "are importance weights. Use a method that accepts any weights, such as Platt scaling, isotonic "
            "regression or beta calibration."
        )
    if weights.sum() > MOST_COUNTED:
        raise InputError(
            f"{who} counts rows, so the sum of sample_weight must be at most 2^53, but is {weights.sum():.3g}."
        )
    return weights


def whole_weights(weights: Array, who: str) -> Array:
    """Return whole weights as int, for a method that expands weights into rows; their sum is limited."""
    if row_counts(weights, who).sum() > LARGEST_COUNT:
        raise InputError(
            f"{who} counts rows, so the sum of sample_weight must be at most {LARGEST_COUNT:,}, but is "
            f"{weights.sum():.3g}."
        )
    return weights.astype(np.intp)


def labelled_probabilities(y: Any, p: Any) -> tuple[Array, Array]:
    """Return labels of 0 and 1 and probabilities of equal length, at least one; every metric begins here."""
    labels = binary_labels(y)
    probabilities = probability_vector(p, "p")
    same_length(y=labels, p=probabilities)
    not_empty(labels, "y")
    return labels, probabilities


def true_and_predicted_probabilities(posterior: Any, p: Any) -> tuple[Array, Array]:
    """Return true and predicted probabilities of equal length, at least one."""
    truth, probabilities = probability_vector(posterior, "posterior"), probability_vector(p, "p")
    same_length(posterior=truth, p=probabilities)
    not_empty(probabilities, "p")
    return truth, probabilities


def probability_pairs(intervals: Any, name: str = "intervals") -> Array:
    """Return pairs of probabilities as a float64 array of shape (n, 2)."""
    array = np.asarray(intervals)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(f"{name} must have one pair per row, shape (n, 2), but has shape {array.shape}.")
    return probability_vector(array.reshape(-1), name).reshape(-1, 2)


def short_repr(value: Any) -> str:
    """Write a value as Python does; of a very long one, only the beginning."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        return "a very long number"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]} …"


def one_of(value: Any, allowed: Iterable[Any], name: str) -> Any:
    """Return a value that is one of those allowed; refuse any other, listing the allowed ones."""
    if type(value) is str and isinstance(allowed, Mapping) and value in allowed:
        return value  # listing a registry would load its plug-ins
    options = list(allowed)
    if not any(type(value) is type(option) and value == option for option in options):
        listed = ", ".join("None" if option is None else repr(option) for option in options)
        raise InputError(f"{name} must be one of {listed}, but is {short_repr(value)}.")
    return value


def place_of(row: int, numbers: Array, where: str) -> int:
    """Return the position of the row with this number; refuse one that is not in ``numbers``, named by ``where``.

    >>> place_of(7, np.array([3, 7]), "the rows of the data")
    1
    """
    found = np.flatnonzero(numbers == row)
    if not found.size:
        raise InputError(f"Row {row} is not among {where}.")
    return int(found[0])


def switch(value: Any, name: str) -> bool:
    """Refuse anything but True or False."""
    return one_of(value, (False, True), name)


def in_range(
    value: Any,
    name: str,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    integer: bool = False,
    open_ends: bool = False,
) -> Any:
    """Refuse anything but a (whole) number in [low, high], or in (low, high) with ``open_ends``."""
    kinds = (int, np.integer) if integer else (int, float, np.integer, np.floating)
    is_number = isinstance(value, kinds) and not isinstance(value, (bool, np.bool_))
    within = is_number and (low < value < high if open_ends else low <= value <= high)
    if not within or value in (np.inf, -np.inf):
        noun = "a whole number" if integer else "a number"
        if np.isinf(low) and np.isinf(high):
            where = ""
        elif np.isinf(high):
            where = f" {'above' if open_ends else 'of at least'} {low:.10g}"
        else:
            first, second = ("strictly between", "and") if open_ends else ("from", "to")
            where = f" {first} {low:.10g} {second} {high:.10g}"
        raise InputError(f"{name} must be {noun}{where}, but is {short_repr(value)}.")
    return value


def settings(given: Mapping[str, Any], parameters: Iterable[Any], who: str) -> dict[str, Any]:
    """Return the value of every parameter: the given one, if allowed, or its default.

    Parameters
    ----------
    given
        Name → value.
    parameters
        Parameter records; a choice without listed choices (a column's name) accepts anything.
    who
        Owner of the settings, for messages.

    Raises
    ------
    InputError
        If a name has no parameter, or a value is not allowed.
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name in given:
        if name not in known:
            raise InputError(f"{who} has no setting {name!r}; its settings are {', '.join(known) or 'none'}.")
    return {name: setting(given.get(name, p.default), p, name) for name, p in known.items()}


def setting(value: Any, parameter: Any, name: str) -> Any:
    """Return a value that the Parameter record allows; refuse any other under ``name``."""
    if value is None and parameter.optional:
        return None
    if parameter.kind == "boolean":
        return switch(value, name)
    if parameter.kind in TEXTS:
        TEXTS[parameter.kind](value, name)
        return value
    allowed = parameter.offered()
    if parameter.kind == "names":
        each = parameter.extra.get(
            "each", lambda item, name: one_of(item, allowed, name) if allowed else item
        )
        return tuple(each(item, name) for item in names(value, name))
    if parameter.kind == "choice":
        return one_of(value, allowed, name) if allowed else value
    low = -np.inf if parameter.low is None else parameter.low
    high = np.inf if parameter.high is None else parameter.high
    open_ends = parameter.extra.get("open_ends", False)
    return in_range(value, name, low, high, integer=parameter.kind == "integer", open_ends=open_ends)


def text(value: Any, name: str) -> str:
    """Refuse anything but a non-empty text."""
    if not isinstance(value, str) or not value:
        raise InputError(f"{name} must be a non-empty string, but is {short_repr(value)}.")
    return value


def names(value: Any, name: str) -> tuple[str, ...]:
    """Return a list of texts as a tuple without duplicates.

    >>> names(["b", "a", "b"], "columns")
    ('b', 'a')
    """
    if (
        isinstance(value, str)
        or not isinstance(value, Iterable)
        or not all(isinstance(item, str) for item in value)
    ):
        raise InputError(f"{name} must be a list of names, but is {short_repr(value)}.")
    return tuple(dict.fromkeys(value))


MOST_TYPED = 60


def labelled_points(text: Any, name: str) -> list[tuple[float, int]]:
    """Return (score, label) for every "score:label" in a text, in which spaces separate the points.

    >>> labelled_points("0.2:0 0.7:1", "points")
    [(0.2, 0), (0.7, 1)]
    """
    wrong = f'{name} must be 1 to {MOST_TYPED} points such as "0.2:0 0.7:1", each a score and a label 0 or 1'
    parts = text.split() if isinstance(text, str) else []
    if not 1 <= len(parts) <= MOST_TYPED:
        raise InputError(f"{wrong}, but {'it has ' + str(len(parts)) if parts else 'it has none'}.")
    points = []
    for part in parts:
        score, _, label = part.partition(":")
        try:
            value = float(score)
        except ValueError:
            value = np.nan
        if not np.isfinite(value) or label not in ("0", "1"):
            raise InputError(f"{wrong}, but {short_repr(part)} is not.")
        points.append((value, int(label)))
    return points


LARGEST_SCORE = 1e9
MOST_ON_LINE = 13  # this many points have 4096 partitions into intervals, all of which are drawn


def cut_line(text: Any, name: str) -> tuple[list[tuple[float, float, int | None]], list[int]]:
    """Return points from left to right, (position, posterior, label or None), and the indices before each cut.

    >>> cut_line("1:0.1:0 2:0.7 | 3:0.9:1", "line")
    ([(1.0, 0.1, 0), (2.0, 0.7, None), (3.0, 0.9, 1)], [1])
    """
    points: list[tuple[float, float, int | None]] = []
    cuts: list[int] = []
    for part in text.split() if isinstance(text, str) else []:
        if part == "|":
            if not points or len(points) - 1 in cuts:
                raise InputError(f'{name}: there may be only one cut "|" between two points.')
            cuts.append(len(points) - 1)
        else:
            points.append(_point_on_line(part, name))
    if not 2 <= len(points) <= MOST_ON_LINE:
        raise InputError(f"{name} must have from 2 to {MOST_ON_LINE} points, but has {len(points)}.")
    if cuts and cuts[-1] == len(points) - 1:
        raise InputError(f'{name}: a cut "|" must be between two points, but one follows the last point.')
    for (left, *_), (right, *_) in pairwise(points):
        if left >= right:
            raise InputError(
                f"{name}: positions must rise from point to point, but {left:g} is followed by {right:g}."
            )
    if all(label is None for _, _, label in points):
        raise InputError(
            f"{name}: at least one point must have a label 0 or 1, because a leaf needs a label to learn from."
        )
    return points, cuts


def _point_on_line(part: str, name: str) -> tuple[float, float, int | None]:
    position, _, rest = part.partition(":")
    posterior, _, label = rest.partition(":")
    try:
        x, pi = float(position), float(posterior)
    except ValueError:
        x = pi = np.nan
    if not abs(x) <= LARGEST_SCORE or label not in ("", "0", "1"):
        raise InputError(
            f"{name} must be points such as 2:0.7 or 3:0.9:1, but {short_repr(part)} is not. Write each point as "
            "position:probability, or as position:probability:label for a training row. Positions lie between "
            f"−{LARGEST_SCORE:,.0f} and {LARGEST_SCORE:,.0f}; labels are 0 or 1."
        )
    if not 0 <= pi <= 1:
        raise InputError(
            f"{name}: probabilities must lie in [0, 1], but the probability at position {x:g} is {pi:g}."
        )
    return x, pi, int(label) if label else None


MOST_MOVED = 40


def moved_rows(text: Any, name: str) -> list[tuple[tuple[float, int | None], tuple[float, int | None]]]:
    """Return moves of rows, each from (score, label) to (score, label); the row to explain has no label.

    >>> moved_rows("0.2:0>0.7:1 0.5>0.55", "what_if")
    [((0.2, 0), (0.7, 1)), ((0.5, None), (0.55, None))]
    """
    wrong = (
        f'{name} must be at most {MOST_MOVED} moves such as "0.2:0>0.7:1", or "0.5>0.55" for the row itself'
    )
    parts = text.split() if isinstance(text, str) else ["?"]
    if len(parts) > MOST_MOVED:
        raise InputError(f"{wrong}, but it has {len(parts)}.")
    moves = []
    for part in parts:
        (score, label), (new, turned) = places = [
            _score_and_label(place) for place in part.partition(">")[::2]
        ]
        if not np.isfinite([score, new]).all() or (label is None) != (turned is None):
            raise InputError(f"{wrong}, but {short_repr(part)} is not.")
        moves.append((places[0], places[1]))
    return moves


def _score_and_label(text: str) -> tuple[float, int | None]:
    """Parse "score:label" or "score"; the score is NaN if the text is neither."""
    score, colon, label = text.partition(":")
    try:
        value = float(score)
    except ValueError:
        value = np.nan
    return (np.nan if colon and label not in ("0", "1") else value), int(label) if label in (
        "0",
        "1",
    ) else None


TEXTS = {"text": text, "points": labelled_points, "line": cut_line, "moves": moved_rows}
"""Kind of a setting given as text → function that parses it."""


def matrix(values: Any, name: str, columns: int | None = None) -> Array:
    """Return finite numbers as a float64 array of shape (n, d), with d = ``columns`` if given."""
    array = _floats(values, name)
    if array.ndim != 2 or (columns is not None and array.shape[1] != columns):
        allowed = "(n, d)" if columns is None else f"(n, {columns})"
        raise InputError(
            f"{name} must have shape {allowed}, with one row per observation, but has shape {array.shape}."
        )
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise InputError(
            f"{name} must be finite. Missing or infinite values: {int((~np.isfinite(array)).sum())}, the first at "
            f"index [{row}, {column}]. Remove or replace these values."
        )
    return array


def covariance(values: Any, d: int, name: str) -> Array:
    """Return a symmetric positive definite (d, d) matrix from one number, (d,) variances or a (d, d) matrix."""
    array = _floats(values, name).copy()
    if array.ndim == 0:
        array = array * np.eye(d)
    elif array.ndim == 1:
        array = np.diag(array)
    if array.shape != (d, d):
        raise InputError(
            f"{name} must be a number, {d} variances or a ({d}, {d}) matrix, but has shape {array.shape}."
        )
    if not (np.isfinite(array).all() and np.allclose(array, array.T) and np.linalg.eigvalsh(array)[0] > 0):
        raise InputError(
            f"{name} must be a covariance matrix: finite, symmetric and positive definite (variances above 0). Lower "
            "the covariances or raise the variances."
        )
    return array


def results_table(table: Any, name: str) -> Array:
    """Return results of k ≥ 2 methods (columns) on n data sets (rows) as float64; ∞ is allowed, NaN refused."""
    values = _floats(table, name)
    if values.ndim != 2 or values.shape[0] < 1 or values.shape[1] < 2:
        raise InputError(
            f"{name} must have one row per data set and one column per method, at least 2 methods, but has shape "
            f"{values.shape}."
        )
    missing = np.argwhere(np.isnan(values))
    if missing.size:
        row, column = (
            labels[at]
            for labels, at in zip(
                getattr(table, "axes", [range(n) for n in values.shape]), missing[0], strict=True
            )
        )
        raise InputError(
            f"{name} must not contain missing results. Missing: {len(missing)}, the first for data set {row}, method "
            f"{column}. Run the missing methods, or exclude these data sets for all methods."
        )
    return values


ROW_SUM_ERROR = 1e-4  # tolerance for probabilities written with four digits or in single precision
EXACT_SUM_ERROR = 1e-9  # rounding of float64, which is kept, because dividing would break ties


def class_probabilities(p: Any, name: str = "P", notes: list[str] | None = None) -> Array:
    """Return probabilities of K classes as a float64 array of shape (n, K), K at least 2.

    Rows whose sum is off through rounding are divided by it; a sum further than 1e-4 from 1 is refused. ``notes`` is
    that of ``probability_vector``.
    """
    array = _floats(p, name)
    if array.ndim != 2 or array.shape[1] < 2:
        raise InputError(
            f"{name} must be a table with one column per class, shape (n, K), but has shape {array.shape}."
        )
    array = probability_vector(array.ravel(), name, notes).reshape(array.shape)
    sums = reduce(np.add, array.T)  # class by class, as exported programs add, so that ties are equal there
    wrong = np.abs(sums - 1) > ROW_SUM_ERROR
    if wrong.any():
        first = int(np.argmax(wrong))
        raise InputError(
            f"The rows of {name} must sum to 1, but {int(wrong.sum())} of {len(array)} do not (row {first} sums to "
            f"{sums[first]:g}). Divide each row by its sum; for logits, take the softmax."
        )
    off = np.abs(sums - 1) > EXACT_SUM_ERROR
    return array / np.where(off, sums, 1.0)[:, None] if off.any() else array


def class_labels(y: Any, classes: int, name: str = "y") -> Array:
    """Return labels as an int array of shape (n,) with values 0 … K − 1; anything else is refused."""
    array = np.asarray(y)
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, but has shape {array.shape}.")
    numbers = _floats(array, name)
    wrong = (numbers != np.floor(numbers)) | (numbers < 0) | (numbers >= classes)
    if wrong.any():
        raise InputError(
            f"{name} must contain the column number of each row's class in P, from 0 to {classes - 1}, but "
            f"contains {short_repr(array[int(np.argmax(wrong))].item())}."
        )
    return numbers.astype(np.intp)


def labelled_rows(y: Any, p: Any) -> tuple[Array, Array]:
    """Return labels 0 … K − 1 and rows of K probabilities, at least one; every metric of K classes begins here."""
    probabilities = class_probabilities(p, "p")
    labels = class_labels(y, probabilities.shape[1])
    same_length(y=labels, p=probabilities)
    not_empty(labels, "y")
    return labels, probabilities

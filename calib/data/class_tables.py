"""Match columns of predictions to K classes and to models, and convert them to probabilities.

Names decide. A table of predictions has one column per class. The names of its columns differ only in the class:
``dog``, ``p_dog``, ``forest_dog`` or ``dog_prob``. Several prefixes or suffixes mean several models. If columns are
numbered and labels are words, or the other way round, they are matched by position, and a note says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax

from calib.data.columns import is_number
from calib.data.conventions import conventional, number_text
from calib.data.errors import DataError, ReadingQuestion, as_answer
from calib.data.label import in_sorted_order
from calib.kernel.checks import ROW_SUM_ERROR
from calib.kernel.wording import counted, number, quoted, row_numbers, split_words

PROBABILITY_WORDS = frozenset(("p", "prob", "probs", "proba", "probability", "phat"))
LOGIT_WORDS = frozenset(("logit", "logits", "logodds"))
LOG_WORDS = frozenset(("logprob", "logprobs", "logproba", "logp"))  # their softmax is the probability, too
MARGIN_WORDS = frozenset(("margin", "margins", "decision", "raw", "rawprediction"))
# Words whose number names a class
LABELLED = PROBABILITY_WORDS | LOGIT_WORDS | LOG_WORDS | MARGIN_WORDS | {"class"}
OUTPUT_WORDS = frozenset(split_words("output outputs preds predictions softmax decision margin margins"))
SCORE_WORDS = PROBABILITY_WORDS | {"score", "scores", "pred", "prediction", "predicted", "confidence", "risk"}
FILLERS = frozenset(("of", "for", "class", "label"))
NUMBERED = re.compile(r"(.*?)(\d+)(\D*)", re.DOTALL)
ROUNDING_OF_TWO_DECIMALS = 0.0051  # largest rounding error of a probability with two decimals
MOST_ROUNDING = 0.05  # largest change of a row's sum by rounding
NEGATIVE = -1e-6  # a value below is not a probability, however it was rounded
ROWS_OF_SUM_CHECK = 1000  # rows used to check whether columns sum to one
CELLS_AT_ONCE = 1 << 22  # cells per softmax
COLUMNS_AT_ONCE = 64
AS_SHARES = as_answer(
    "Divide each row by its sum", "The probabilities of each row then sum to 1.", scores_as="shares"
)
AS_LOGITS = as_answer("These are logits", "The program uses their softmax.", scores_as="logits")
MOST_WRONG_ROWS = 0.05  # largest share of rows with another sum that may simply be wrong
UNNAMED = "predictions"  # title of a model that no column names
Ends = tuple[str, str]  # prefix and suffix of names, around the class


@dataclass(frozen=True)
class ClassTables:
    """Columns of predictions of K classes, for one or several models.

    Attributes
    ----------
    names : (K,)
        Classes, in sorted order.
    columns
        Name of a model → its K columns, in the order of ``names``.
    note
        How columns were matched to classes, if not by name.
    """

    names: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]]
    note: str = ""

    @property
    def all_columns(self) -> list[str]:
        """Columns of all models, one model after the other."""
        return [column for columns in self.columns.values() for column in columns]

    def sum_to_one(self, seen: pd.DataFrame) -> bool:
        """Tell whether the probabilities of every model sum to one in these rows, as in ``sum_to_one``."""
        return all(sum_to_one(seen, columns) for columns in self.columns.values())


def class_tables(
    typed: pd.DataFrame, labels: Sequence[str], candidates: Sequence[str], fewest: int = 3, sure: bool = True
) -> ClassTables | None:
    """Find the columns of each class, for one or several models; return None if there are none.

    Parameters
    ----------
    typed
        A typed table.
    labels
        Distinct labels, in sorted order.
    candidates
        Columns that may be predictions.
    fewest
        Smallest number of labels and of columns.
    sure
        Whether the table is known to contain predictions. Columns numbered from 0, one per class, then count
        whatever their names are.

    Examples
    --------
    >>> table = pd.DataFrame({"p_cat": [0.2], "p_dog": [0.5], "p_fox": [0.3]})
    >>> class_tables(table, ["cat", "dog", "fox"], list(table)).columns
    {'predictions': ('p_cat', 'p_dog', 'p_fox')}
    """
    if len(labels) < fewest:
        return None
    seen = few_rows(typed)
    numbers = [name for name in candidates if is_number(seen[name])]
    if len(numbers) < fewest:
        return None
    if len(labels) == 2:
        return _of_two_labels(labels, numbers, seen)
    for match in (_by_name, _by_number, _by_place):
        found = match(labels, numbers, seen, sure)
        if found is not None:
            return found
    return None


def _of_two_labels(labels: Sequence[str], numbers: Sequence[str], seen: pd.DataFrame) -> ClassTables | None:
    """Find the columns of two classes, or of more classes of which two have rows; None if columns are single scores.

    Numbers at the end of names may number models, and positions may be in any order. They count only if the columns
    sum to 1 and no convention contradicts them.
    """
    named = _by_name(labels, numbers, seen, False)
    several = named or _by_place(labels, numbers, seen, False)
    if several is not None and len(several.names) > 2:
        return several if several.sum_to_one(seen) else None
    if named is not None:
        words = all(LABELLED & _letters(column) for column in named.all_columns)
        return named if words or not _are_whole(labels) or named.sum_to_one(seen) else None
    if conventional(labels) == labels[-1]:
        found = _by_number(labels, numbers, seen, False)
        if found is not None and found.sum_to_one(seen):
            return found
    return _by_words(labels, numbers, seen)


def _are_whole(labels: Sequence[str]) -> bool:
    return all(label.lstrip("-").isdecimal() for label in labels)


def _by_words(labels: Sequence[str], numbers: Sequence[str], seen: pd.DataFrame) -> ClassTables | None:
    """Match two columns that sum to 1 and are named after outcomes, such as ``neg`` and ``pos``, to labels 0 and 1."""
    if conventional(labels) is None or len(numbers) != 2 or not sum_to_one(seen, numbers):
        return None
    words = {column: _letters(column) - SCORE_WORDS - FILLERS for column in numbers}
    for first, second in (numbers, numbers[::-1]):
        pairs = ((a, b) for a in words[first] - words[second] for b in words[second] - words[first])
        if any(conventional((a, b)) == b for a, b in pairs):
            positive = conventional(labels)
            columns = (first, second) if labels[-1] == positive else (second, first)
            note = (
                f"{second!r} is the probability of class {positive!r}, according to the words in the "
                "column names."
            )
            return ClassTables(tuple(labels), {"predictions": columns}, note)
    return None


def called_predictions(column: str) -> bool:
    """Tell whether a word in a column's name says that it contains predictions.

    >>> called_predictions("logits_3"), called_predictions("X_3")
    (True, False)
    """
    return bool(name_words(column) & (SCORE_WORDS | LOGIT_WORDS | OUTPUT_WORDS))


def few_rows(typed: pd.DataFrame) -> pd.DataFrame:
    """Return up to ``ROWS_OF_SUM_CHECK`` evenly spaced rows."""
    return typed.iloc[:: -(-max(1, len(typed)) // ROWS_OF_SUM_CHECK)]


def sum_to_one(seen: pd.DataFrame, columns: Sequence[str]) -> bool:
    """Tell whether columns contain probabilities that sum to one in at least half of the rows.

    >>> sum_to_one(pd.DataFrame({"a": [0.2, 0.7], "b": [0.8, 0.1]}), ["a", "b"])
    True
    """
    return _share(seen, columns) >= 0.5


def _share(seen: pd.DataFrame, columns: Sequence[str]) -> float:
    """Return the share of complete rows whose values sum to one; 0 if a value is negative."""
    held = cells(seen, columns)
    held = held[np.isfinite(held).all(axis=1)]
    if not len(held) or held.min() < NEGATIVE:
        return 0.0
    return float((np.abs(held.sum(axis=1) - 1) <= rounding(held.shape[1])).mean())


def _off(seen: pd.DataFrame, columns: Sequence[str]) -> float:
    """Return the mean distance of the sums of rows from one."""
    return float(np.nanmean(np.abs(cells(seen, columns).sum(axis=1) - 1)))


def rounding(classes: int) -> float:
    """Return the largest deviation from 1 that rounding can cause in a row's sum."""
    return min(ROUNDING_OF_TWO_DECIMALS * classes, MOST_ROUNDING)


def _by_name(
    labels: Sequence[str], numbers: Sequence[str], seen: pd.DataFrame, sure: bool
) -> ClassTables | None:
    """Match columns that are named after the classes, with one common prefix and suffix."""
    for fold in (number_text, _bare):  # spelt as the labels, then without spaces, dots and dashes
        spelt = {fold(label): label for label in labels}
        if len(spelt) < len(labels):
            continue
        around = _by_affixes(numbers, spelt, str.casefold if fold is number_text else _bare)
        tables = {ends: found for ends, found in around.items() if len(found) == len(labels)}
        if _are_whole(labels):
            for ends, found in list(tables.items()):
                alone = sure and len(_others(ends, numbers)) == len(found)
                if not _are_predictions(ends, "0" in labels, list(found.values()), seen, alone):
                    del tables[ends]
        if tables:
            return _named_tables(tables, numbers, seen)
    return None


def _by_affixes(
    columns: Sequence[str], spelt: Mapping[str, str], fold: Callable[[str], str]
) -> dict[Ends, dict[str, str]]:
    """Return (prefix, suffix) → label → the column with the label between them."""
    lengths = sorted({len(text) for text in spelt if text})
    found: dict[Ends, dict[str, str]] = {}
    for column in columns:
        text = fold(column)
        for length in lengths:
            for at in range(len(text) - length + 1):
                label = spelt.get(text[at : at + length])
                if label is not None:
                    found.setdefault((text[:at], text[at + length :]), {})[label] = column
    return found


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "_", text.casefold()).strip("_")


def _are_predictions(
    ends: Ends, from_zero: bool, columns: Sequence[str], seen: pd.DataFrame, sure: bool
) -> bool:
    """Tell whether numbered columns are predictions: ``x1`` to ``x3`` are not, unless they sum to one.

    Models are numbered from 1, as in ``score_1``; classes are numbered from 0 in the outputs of a network.
    """
    terms = LABELLED | SCORE_WORDS | OUTPUT_WORDS if from_zero else LABELLED
    return bool(name_words(" ".join(ends)) & terms) or (sure and from_zero) or sum_to_one(seen, columns)


def _named_tables(
    tables: Mapping[Ends, dict[str, str]], numbers: Sequence[str], seen: pd.DataFrame
) -> ClassTables:
    """Choose tables that share no column, preferring those that sum to one, and add classes without rows."""
    order = sorted(
        tables, key=lambda ends: (-_share(seen, list(tables[ends].values())), ends[1] != "", len(ends[0]))
    )
    first = tables[order[0]] | _classes_without_rows(order[0], tables[order[0]], numbers, seen)
    names, used, kept = in_sorted_order(first), set[str](), dict[Ends, dict[str, str]]()
    for ends in order:
        found = tables[ends] | {
            name: column for name, column in _others(ends, numbers).items() if name in names
        }
        if set(names) <= set(found) and not used & set(found.values()):
            kept[ends] = found
            used.update(found.values())
    in_file = sorted(kept, key=lambda ends: numbers.index(kept[ends][names[0]]))
    columns = {ends: tuple(kept[ends][name] for name in names) for ends in in_file}
    return ClassTables(tuple(names), dict(_by_model(columns)))


def _classes_without_rows(
    ends: Ends, found: Mapping[str, str], numbers: Sequence[str], seen: pd.DataFrame
) -> dict[str, str]:
    """Return further classes with a column but no row, if sums or consecutive numbers confirm them."""
    taken = set(found.values())
    others = {name: column for name, column in _others(ends, numbers).items() if column not in taken}
    columns, every = list(found.values()), [*found.values(), *others.values()]
    # Without a rare class most rows add up to about one, but with it more exactly
    if not others or (sum_to_one(seen, columns) and _off(seen, every) >= _off(seen, columns)):
        return {}
    numbered = [name for name in (*found, *others) if name.isdecimal()]
    if len(numbered) == len(found) + len(others):
        values = sorted(map(int, numbered))
        if values == list(range(values[0], values[0] + len(values))) and values[0] <= 1:
            return others
    return others if sum_to_one(seen, every) else {}


def _others(ends: Ends, numbers: Sequence[str]) -> dict[str, str]:
    """Return class, as the column spells it → column, for all columns with this prefix and suffix."""
    begin, end = ends
    found = {}
    for column in numbers:
        text = column.casefold()
        if text.startswith(begin) and text.endswith(end) and len(text) > len(begin) + len(end):
            found[column[len(begin) : len(column) - len(end)]] = column
    return found


def _by_model(columns: Mapping[Ends, tuple[str, ...]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Name each table after words that its columns share, such as the model, preferably not words like "prob"."""
    taken: set[str] = set()
    for (begin, end), names in columns.items():
        first = names[0]
        if first.casefold().startswith(begin) and first.casefold().endswith(end):  # spelt as in the file
            begin, end = first[: len(begin)], first[len(first) - len(end) :]
        words = re.findall(r"[^\W_]+", f"{begin} {end}")
        specific = [word for word in words if word.casefold() not in SCORE_WORDS | LOGIT_WORDS | FILLERS]
        title = " ".join(specific or (words if len(columns) > 1 else ())) or UNNAMED
        while title in taken:
            title += "'"
        taken.add(title)
        yield title, names


def _by_number(
    labels: Sequence[str], numbers: Sequence[str], seen: pd.DataFrame, sure: bool
) -> ClassTables | None:
    """Match consecutively numbered columns to the classes in sorted order, if there are as many."""
    groups: dict[Ends, dict[int, str]] = {}
    for column in numbers:
        if parts := NUMBERED.fullmatch(column):
            groups.setdefault((parts[1].casefold(), parts[3].casefold()), {})[int(parts[2])] = column
    tables: dict[Ends, tuple[str, ...]] = {}
    for ends, numbered in groups.items():
        places = sorted(numbered)
        columns = tuple(numbered[place] for place in places)
        consecutive = places == list(range(places[0], places[0] + len(labels))) and places[0] <= 1
        if consecutive and _are_predictions(ends, places[0] == 0, columns, seen, sure):
            tables[ends] = columns
    if not tables:
        return None
    first = next(iter(tables.values()))
    pairs = [f"{column!r} is class {label!r}" for column, label in zip(first, labels, strict=True)]
    note = f"Numbered columns are matched to the classes in sorted order: {_first(pairs)}."
    return ClassTables(tuple(labels), dict(_by_model(tables)), note)


def _by_place(
    labels: Sequence[str], numbers: Sequence[str], seen: pd.DataFrame, sure: bool
) -> ClassTables | None:
    """Match labels that are column positions, if these columns sum to one: all columns, or those with one prefix."""
    if not all(label.isdecimal() for label in labels):
        return None
    groups: dict[str, tuple[str, ...]] = {"": tuple(numbers)}
    if not sum_to_one(seen, numbers):
        groups = {}
        for column in numbers:
            begin = re.split(r"[^\W_]+$", column)[0].casefold()
            groups[begin] = (*groups.get(begin, ()), column)
        groups = {begin: columns for begin, columns in groups.items() if sum_to_one(seen, columns)}
    sizes = {len(columns) for columns in groups.values()}
    if len(sizes) != 1:
        return None
    positions, classes = sorted(map(int, labels)), sizes.pop()
    start = min(positions[0], 1)
    if not (positions[-1] == classes if start else positions[-1] < classes):
        return None
    first = next(iter(groups.values()))
    names = tuple(map(str, range(start, start + len(first))))
    pairs = [f"{name} is {column!r}" for name, column in zip(names, first, strict=True)]
    note = f"Labels are matched to columns by position: {_first(pairs)}."
    return ClassTables(
        names, dict(_by_model({(begin, ""): columns for begin, columns in groups.items()})), note
    )


def _first(texts: Sequence[str], most: int = 3) -> str:
    return ", ".join(texts[:most]) + (" …" if len(texts) > most else "")


def cells(typed: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Copy columns of numbers into a float64 array (n, K), with gaps as NaN."""
    found = np.empty((len(typed), len(columns)))
    # By blocks, because a second copy of a thousand columns is too large
    for start in range(0, len(columns), COLUMNS_AT_ONCE):
        several = typed[list(columns[start : start + COLUMNS_AT_ONCE])]
        found[:, start : start + COLUMNS_AT_ONCE] = several.to_numpy(np.float64, na_value=np.nan)
    return found


def to_probabilities(
    P: np.ndarray,
    rows: np.ndarray,
    model: str,
    scores_as: str | None = None,
    joint: bool = True,
    columns: Sequence[str] = (),
) -> str:
    """Convert the predictions of K classes to probabilities, in place; return a note on the conversion, or "".

    Rows that sum to 100 are percentages. Negative values in rows that do not sum to 1, or columns named so, are logits,
    which are replaced by their softmax.

    Parameters
    ----------
    P : float64 (n, K)
    rows : bool (n,)
        Rows to use; their values are finite.
    model
        Name of the model.
    scores_as
        "shares" divides each row by its sum, "logits" takes the softmax, None decides by names and sums.
    joint
        Whether all classes are needed; rows that do not sum to 1 are then refused.
    columns
        Names of the K columns.

    Raises
    ------
    ReadingQuestion
        If rows do not sum to 1, and neither names nor sums say what the values are.
    DataError
        If a probability is negative.

    Examples
    --------
    >>> P = np.array([[2.0, -1.0, 0.5]])
    >>> to_probabilities(P, np.array([True]), "net")
    'net: the columns contain logits (negative values, sums other than 1), so their softmax is used.'
    >>> P.round(2)
    array([[0.79, 0.04, 0.18]])
    """
    if columns and model == UNNAMED:
        model = columns_in_words(columns)
    with np.errstate(invalid="ignore"):  # rows that are not used may contain NaN
        sums = P.sum(axis=1)
    low = float(np.where(rows, P.min(axis=1), 0.0).min(initial=0.0))
    distance = np.where(rows, np.abs(sums - 1), 0.0)
    off = distance > rounding(P.shape[1])
    if scores_as != "logits" and not off.any() and low >= NEGATIVE:
        return _rounded(P, sums, distance, rows, model) if joint else ""
    named = bool(columns) and all(LOGIT_WORDS & _letters(column) for column in columns)
    margins = are_margins(columns)
    seen_logits = off.any() and (named or (low < NEGATIVE and not margins))
    if scores_as == "logits" or (scores_as is None and seen_logits):
        _softmax(P)
        seen = "" if scores_as or named else " (negative values, sums other than 1)"
        return f"{model}: the columns contain logits{seen}, so their softmax is used."
    hundred = bool(rows.any()) and bool((np.abs(sums[rows] - 100) <= MOST_ROUNDING * 100).all())
    if scores_as == "percentages" or (scores_as is None and low >= NEGATIVE and hundred):
        P /= 100
        return f"{model}: percentages were divided by 100."
    if low < NEGATIVE and not margins:
        raise _negative(P, rows, model)
    if scores_as == "shares":
        return _shares(P, sums, rows, off, model)
    if joint:
        raise _wrong_sums(P, sums, off, rows, model)
    return ""


def wrong_sums(P: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return which of ``rows``, bool (n,), do not sum to 1, or contain a negative value.

    >>> wrong_sums(np.array([[0.5, 0.5], [0.5, 0.7]]), np.array([True, True]))
    array([False,  True])
    """
    with np.errstate(invalid="ignore"):
        off = (np.abs(P.sum(axis=1) - 1) > rounding(P.shape[1])) | (P.min(axis=1) < NEGATIVE)
    return rows & off


def are_margins(columns: Sequence[str]) -> bool:
    """Tell whether columns are named like margins, which are neither probabilities nor logits.

    >>> are_margins(["rawPrediction_0", "rawPrediction_1"]), are_margins(["p_0", "p_1"])
    (True, False)
    """
    return any(MARGIN_WORDS & _letters(column) for column in columns)


def _letters(column: str) -> set[str]:
    """Return the words of a column's name, also those that begin with a capital."""
    return name_words(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column))


def name_words(name: str) -> set[str]:
    """Return the words of a name, in lower case.

    >>> sorted(name_words("P_yes2"))
    ['p', 'yes']
    """
    return set(re.findall(r"[^\W\d_]+", name.casefold()))


def _rounded(P: np.ndarray, sums: np.ndarray, distance: np.ndarray, rows: np.ndarray, model: str) -> str:
    with np.errstate(invalid="ignore"):
        clipped = int((rows & ((P < 0) | (P > 1)).any(axis=1)).sum())
    if clipped:
        np.clip(P, 0, 1, out=P)
    if (most := float(distance.max(initial=0.0))) <= ROW_SUM_ERROR:
        off = "values slightly outside [0, 1] because of rounding were clipped in"
        return f"{model}: {off} {counted(clipped, 'row')}." if clipped else ""
    P /= sums[:, None]
    return (
        f"{model}: rows were divided by their sums, which differ from 1 by at most {number(most)} because "
        f"of rounding."
    )


def _shares(P: np.ndarray, sums: np.ndarray, rows: np.ndarray, off: np.ndarray, model: str) -> str:
    empty = rows & (sums <= 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        P /= sums[:, None]
    P[empty] = 1 / P.shape[1]
    zeros = f" Rows of zeros become 1/{P.shape[1]}: {row_numbers(empty)}." if empty.any() else ""
    return (
        f"{model}: the probabilities of {counted(int(off.sum()), 'row')} did not sum to 1, so each row "
        f"was divided by its sum.{zeros}"
    )


def _softmax(P: np.ndarray) -> None:
    step = max(1, CELLS_AT_ONCE // P.shape[1])
    with np.errstate(invalid="ignore"):
        for start in range(0, len(P), step):
            P[start : start + step] = softmax(P[start : start + step], axis=1)


def _titled(model: str) -> str:
    return model if model.startswith("'") else repr(model)


def _negative(P: np.ndarray, rows: np.ndarray, model: str) -> DataError:
    row = int(np.argmin(np.where(rows, P.min(axis=1), np.inf)))
    return ReadingQuestion(
        f"The probabilities of {_titled(model)} contain negative values, such as {number(float(P[row].min()))} in row "
        f"{row + 1:,}.",
        (AS_LOGITS,),
        "Correct the negative values. If the columns contain logits, state this, and their softmax is used.",
    )


def _wrong_sums(P: np.ndarray, sums: np.ndarray, off: np.ndarray, rows: np.ndarray, model: str) -> DataError:
    """Ask how predictions that do not sum to 1 are to be read."""
    row, few = int(np.argmax(off)), off.sum() <= MOST_WRONG_ROWS * rows.sum()
    negative = P[rows].min() < NEGATIVE
    answers = [] if negative else [AS_SHARES]
    if P[rows].max() > 1 + ROW_SUM_ERROR or negative:
        answers.append(AS_LOGITS)
    if few:
        excluded = f"{counted(int(off.sum()), 'row')} are excluded."
        answers.insert(0, as_answer("Exclude these rows", excluded, wrong_scores="exclude"))
    return ReadingQuestion(
        f"The probabilities of {_titled(model)} do not sum to 1 in {int(off.sum()):,} of "
        f"{counted(int(rows.sum()), 'row')} ({row_numbers(off)}). Row {row + 1:,} sums to {number(float(sums[row]))}.",
        tuple(answers),
        "Correct these values, or state what they mean.",
    )


def columns_in_words(columns: Sequence[Any]) -> str:
    """List the names of columns; of more than four, only the first and the last.

    >>> columns_in_words(["a", "b"]), columns_in_words([f"p_{i}" for i in range(10)])
    ("'a', 'b'", "'p_0' … 'p_9'")
    """
    return quoted(columns) if len(columns) <= 4 else f"{columns[0]!r} … {columns[-1]!r}"

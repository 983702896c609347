"""Read the labels of a label column as the file spells them, and choose its classes: one against the rest, or all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from calib.data.column_types import is_gap
from calib.data.columns import counts, events_and_trials, in_unit_interval, is_number, sortable
from calib.data.conventions import NO, NO_LABEL, PREDICTED, YES, folded, number_of, number_text
from calib.data.errors import DataError
from calib.data.notation import MISSING_CODES, label
from calib.data.table import note_reading, reading_of
from calib.kernel.wording import counted, listed, split_words

UNLABELLED = "because the label is missing"  # reason for excluding a row
POSITIVE = "Positive class"  # beginning of the note that names it
PREDICTED_TOGETHER = "are predicted together"  # phrase of the note on all classes
MOST_TRAINED, MOST_PREDICTED = 100, 1_000  # most classes if a model is trained here, and if predictions exist
OTHER = "other"  # name of the class into which labels are merged
# More values than this are measurements or names, unless the column is named like a label or each value has
# ROWS_EACH rows on average
LIKELY_CLASSES = 50
ROWS_EACH = 5  # rows per value on average
# Names of labels, hardly ever of other columns
TARGET_NAMES = split_words("target label labels class y y_true ytrue y_test ytest truth ground_truth gold")
# Names of labels and of other columns
LIKELY = split_words("outcome actual actuals response result diagnosis observed true_label true_class")
IDENTIFIER = re.compile(r"(?i)(^|[_\W])(id|idx|index|row|nr|no|number)$")
COLUMNS_OF_SERIES = 3  # columns that differ in a number, such as pixel_3_0 and pixel_3_1, are measurements


@dataclass(frozen=True)
class Classes:
    """Negative and positive class with a note on the choice; ``together`` names K classes that are predicted
    jointly.
    """

    names: tuple[str, str]
    positive: str
    note: str
    together: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Labels:
    """Label column: ``texts`` as the file spells them, ``codes`` int (n,) their positions, −1 for a missing label."""

    codes: np.ndarray
    texts: tuple[str, ...]

    @property
    def there(self) -> np.ndarray:
        """Mask (n,), true if the label is not missing."""
        return self.codes >= 0

    def are(self, text: str) -> np.ndarray:
        """Return bool (n,), true if the label is ``text``."""
        return np.array([*(other == text for other in self.texts), False])[self.codes]

    def among(self, names: Sequence[str]) -> np.ndarray:
        """Return int (n,), the position of each label in ``names``, −1 for a missing label and for any other."""
        places = {name: place for place, name in enumerate(names)}
        return np.array([*(places.get(text, -1) for text in self.texts), -1])[self.codes]

    def of(self, rows: np.ndarray) -> Labels:
        """Return the labels of the chosen rows, bool (n,)."""
        return Labels(self.codes[rows], self.texts)

    @property
    def counts(self) -> dict[str, int]:
        """Number of rows per class, as in ``class_counts``."""
        rows = np.bincount(self.codes + 1, minlength=len(self.texts) + 1)[1:].tolist()
        counts = dict.fromkeys(self.texts, 0)  # two values may have the same spelling
        for text, count in zip(self.texts, rows, strict=True):
            counts[text] += count
        return {text: counts[text] for text in in_sorted_order(counts) if counts[text]}

    def to_series(self) -> pd.Series:
        """Return the label column as text; missing labels are missing. The index is 0 … n − 1."""
        return pd.Series(np.array([*self.texts, None], dtype=object)[self.codes], dtype="str")


def labels(frame: pd.DataFrame, target: str) -> pd.Series:
    """Return the label column as text, spelt as in the file; missing labels are missing. The index is 0 … n − 1."""
    return coded_labels(frame, target).to_series()


def coded_labels(frame: pd.DataFrame, target: str) -> Labels:
    """Return the labels as positions among the classes, because texts of a million rows need much memory."""
    column = _column(frame, target)
    spelling = reading_of(frame).spelling.get(target, {})
    if column.dtype == object:
        column = pd.Series([None if is_gap(value) else label(value) for value in column], dtype="str")
    codes, values = pd.factorize(column, use_na_sentinel=True)
    texts = [spelling.get(value) or label(value).strip() for value in values]
    known = [text not in MISSING_CODES for text in texts]
    if not all(known):
        codes = np.append(np.where(known, np.cumsum(known) - 1, -1), -1)[codes]
    return Labels(codes, tuple(text for text, kept in zip(texts, known, strict=True) if kept))


def _column(frame: pd.DataFrame, target: str) -> pd.Series:
    matches = [i for i, name in enumerate(frame.columns) if str(name) == str(target)]
    if len(matches) != 1:
        listed = ", ".join(map(repr, list(map(str, frame.columns))[:20]))
        raise DataError(f"There is no column {str(target)!r}.", f"Choose one of the columns {listed}.")
    return frame.iloc[:, matches[0]]


def class_counts(frame: pd.DataFrame, target: str) -> dict[str, int]:
    """Count the rows of each label, in sorted order (numbers by value, then words by letter), without missing labels.

    Parameters
    ----------
    frame : DataFrame
        Table, as ``read_table`` returns it.
    target : str
        Label column.

    Raises
    ------
    DataError
        If there is not exactly one such column.

    Examples
    --------
    >>> class_counts(pd.DataFrame({"y": [10, 2, 2, None]}), "y")
    {'2': 2, '10': 1}
    """
    return coded_labels(frame, target).counts


def in_sorted_order(names: Iterable[str]) -> list[str]:
    """Sort labels as ``class_counts`` does: numbers by value, then words by letter.

    >>> in_sorted_order(["10", "b", "9"])
    ['9', '10', 'b']
    """
    names = list(names)
    values = {name: number_of(name) for name in names}
    if len(names) <= 2 and None in values.values():
        return sorted(names)
    return sorted(names, key=lambda name: (values[name] is None, values[name] or 0.0, name))


def alternative_spellings(counts: Mapping[str, int]) -> dict[str, str]:
    """Map each label to another spelling of the same label; the most frequent spelling is kept.

    Spellings differ in case and spaces. Words for no and yes are also spellings, if all known labels are such words.

    >>> alternative_spellings({"YES": 1, "Yes": 5, "no": 3, "yes": 2})
    {'YES': 'Yes', 'yes': 'Yes'}
    >>> alternative_spellings({"no": 3, "y": 1, "yes": 2}), alternative_spellings({"-1": 1, "0": 1, "1": 1})
    ({'y': 'yes'}, {})
    """
    meant = _meanings(counts)
    spellings: dict[str, list[str]] = {}
    for name in counts:
        spellings.setdefault(meant[name], []).append(name)
    kept = {key: max(names, key=lambda name: counts[name]) for key, names in spellings.items()}
    return {name: kept[meant[name]] for name in counts if name != kept[meant[name]]}


def _meanings(names: Collection[str]) -> dict[str, str]:
    """Map each label to its text without case and spaces, or to "no" or "yes" if all labels are words for these."""
    plain = {name: folded(name) for name in names}
    words = {name: number_text(text) for name, text in plain.items() if text not in NO_LABEL}
    sides = [side & set(words.values()) for side in (NO, YES)]
    # 0 and −1 are different values
    unlike = any(sum(number_of(word) is not None for word in side) > 1 for side in sides)
    if unlike or not all(sides) or not set(words.values()) <= NO | YES:
        return plain
    return plain | {name: "yes" if word in YES else "no" for name, word in words.items()}


def unknown_labels(counts: Mapping[str, int]) -> list[str]:
    """Return labels that only mean "unknown", if two classes remain without them.

    >>> unknown_labels({"no": 5, "unknown": 1, "yes": 3}), unknown_labels({"none": 5, "some": 3})
    (['unknown'], [])
    """
    found = [name for name in counts if folded(name) in NO_LABEL]
    return found if len(counts) - len(found) >= 2 else []


def tidy_labels(
    frame: pd.DataFrame,
    target: str,
    merge: bool = False,
    drop: Collection[str] = (),
    join: Collection[str] = (),
) -> tuple[pd.DataFrame, list[str]]:
    """Tidy the label column as chosen; return the table, and one sentence per change.

    Parameters
    ----------
    merge
        Whether spellings of one label (``alternative_spellings``) become one.
    drop
        Labels that count as missing.
    join
        Labels that become one class, named ``OTHER`` as the file spells it.

    Raises
    ------
    DataError
        If a label to drop or to join does not exist.

    Examples
    --------
    >>> frame, notes = tidy_labels(pd.DataFrame({"y": ["yes", "Yes", "no", "yes", "?!"]}), "y", True, ["?!"])
    >>> frame["y"].tolist(), notes
    (['yes', 'yes', 'no', 'yes', nan], ["Label 'Yes' is treated as 'yes'.", "Label '?!' is treated as missing: 1 row."])
    >>> frame, notes = tidy_labels(pd.DataFrame({"y": ["a", "b", "a", "c"]}), "y", join=["b", "c"])
    >>> frame["y"].tolist(), notes
    (['a', 'other', 'a', 'other'], ["Labels 'b' and 'c' count as 'other': 2 rows."])
    """
    coded = coded_labels(frame, target)
    text, before = coded.to_series(), coded.counts
    other = alternative_spellings(before) if merge else {}
    notes = [f"Label {name!r} is treated as {kept!r}." for name, kept in other.items()]
    text = text.replace(other)
    counts = text.value_counts()
    drop = _spelt(drop, other, counts, "excluded")
    join = [name for name in _spelt(join, other, counts, "merged") if name not in drop]
    for name in drop:
        notes.append(f"Label {name!r} is treated as missing: {counted(int(counts[name]), 'row')}.")
    text = text.mask(text.isin(drop))
    if join:
        one = name_of_others(counts.index)
        rows = counted(int(counts[join].sum()), "row")
        which = (
            f"Label {join[0]!r} counts" if len(join) == 1 else f"Labels {listed(list(map(repr, join)))} count"
        )
        notes.append(f"{which} as {one!r}: {rows}.")
        text = text.mask(text.isin(join), one)
    tidy = frame.set_axis(list(map(str, frame.columns)), axis=1).assign(**{target: text.to_numpy()})
    return note_reading(tidy, spelling={**reading_of(frame).spelling, target: {}}, labels=before), notes


def _spelt(names: Collection[str], other: Mapping[str, str], counts: pd.Series, what: str) -> list[str]:
    """Return labels as they are spelt after merging; refuse unknown ones."""
    found = list(dict.fromkeys(other.get(name, name) for name in names))
    for name in found:
        if name not in counts:
            known = ", ".join(map(repr, list(counts.index)[:LIKELY_CLASSES]))
            raise DataError(
                f"Label {name!r} does not occur, so it cannot be {what}.", f"The labels are {known}."
            )
    return found


def name_of_others(names: Iterable[str]) -> str:
    """Return the name of the class into which labels are merged, in the labels' own spelling if it is one of them.

    >>> name_of_others(["cat", "Other"]), name_of_others(["cat", "dog"])
    ('Other', 'other')
    """
    return next((name for name in names if folded(name) == OTHER), OTHER)


def choose_classes(
    counts: Mapping[str, int],
    positive: Any = None,
    why: str = "as chosen",
    where: str = "",
    lines: str = "rows",
    joint: bool = False,
    most: int = MOST_TRAINED,
    confirmed: bool = False,
) -> Classes:
    """Choose the two classes: the given positive class, else the rarest (ties: the last), against the rest.

    Parameters
    ----------
    why
        Reason in the note, if a positive class is given.
    where
        Phrase in the note after "the minority class", if none is given.
    lines
        Word in the note for lines of the table, which may count many rows each.
    joint
        Whether three or more classes are taken together, if no positive class is given.
    most
        Largest number of classes.
    confirmed
        Whether other columns confirm that the values are classes, such as one column per class.

    Raises
    ------
    DataError
        If there are fewer than two classes or more than ``most``, or the positive class is not a label.

    Examples
    --------
    >>> choose_classes({"no": 7, "yes": 3}).names
    ('no', 'yes')
    >>> choose_classes({"a": 3, "b": 2, "c": 4}, "c").names
    ('not c', 'c')
    >>> choose_classes({"a": 3, "b": 2, "c": 4}, joint=True).note
    "All 3 classes are predicted together: 'a' (3 rows), 'b' (2 rows) and 'c' (4 rows)."
    """
    names = list(counts)
    if len(names) < 2:
        got = f"only the label {names[0]!r}" if names else "no labels"
        raise DataError(
            f"The label column contains {got}, but two classes are needed.",
            "Add rows of the other class, or choose another label column.",
        )
    if len(names) > (most if confirmed else _most(sum(counts.values()), most)):
        raise DataError(
            f"The label column contains {len(names):,} different values, which is too many for class labels.",
            f"Choose a column with fewer values, or merge rare classes. At most {most:,} classes are "
            f"possible; more than {LIKELY_CLASSES} classes need {ROWS_EACH} rows per class on average.",
        )
    chosen = (
        max(names, key=lambda name: (-counts[name], names.index(name)))
        if positive is None
        else match(positive, names)
    )
    how = why if positive is not None else f"the {'minority' if len(names) == 2 else 'rarest'} class{where}"
    if len(names) == 2:
        negative = names[0] if names[1] == chosen else names[1]
        note = f"{POSITIVE}: {chosen!r}, {how} ({counts[chosen]} {lines})."
        if number_text(negative) == "1" or number_text(chosen) == "0":
            note += f" Below, class 1 means this class and class 0 means {negative!r}."
        return Classes((negative, chosen), chosen, note)
    if joint and positive is None:
        each = listed([f"{name!r} ({rows:,} {lines})" for name, rows in counts.items()], 6)
        note = f"All {len(names):,} classes {PREDICTED_TOGETHER}: {each}."
        return Classes((f"not {chosen}", chosen), chosen, note, tuple(names))
    note = (
        f"{POSITIVE}: {chosen!r}, {how} ({counts[chosen]} {lines}), against {len(names) - 1} other classes."
    )
    return Classes((f"not {chosen}", chosen), chosen, note)


def _most(rows: int, most: int) -> int:
    """Return how many distinct values may be classes, for a number of rows."""
    return max(LIKELY_CLASSES, min(most, rows // ROWS_EACH))


def match(positive: Any, names: list[str]) -> str:
    """Return the label that ``positive`` means: an exact match, else an equal number, else ignoring case.

    >>> match(1, ["0", "1.0"]), match(True, ["FALSE", "TRUE"])
    ('1.0', 'TRUE')
    """
    wanted = label(positive).strip()
    if wanted in names:
        return wanted
    alike = [name for name in names if number_of(name) is not None and number_of(name) == number_of(wanted)]
    alike = alike or [name for name in names if name.casefold() == wanted.casefold()]
    if len(alike) != 1:
        known = ", ".join(map(repr, names[:LIKELY_CLASSES]))
        raise DataError(f"The positive class {wanted!r} is not among the labels.", f"Choose one of {known}.")
    return alike[0]


def guess_target(frame: pd.DataFrame) -> str | None:
    """Return the label column if there is hardly any doubt, else None; ``target_candidates`` lists the choices.

    It is a column named like a label; else that of the events in a table of events and trials; else the only one with
    two values that is named like an outcome; else the only one with two values or, if there is none, with few.

    Parameters
    ----------
    frame : DataFrame
        Table, as ``read_table`` returns it; column names may have any type.

    Examples
    --------
    >>> guess_target(pd.DataFrame({"x": [1.5, 2.5], "class": ["a", "b"]}))
    'class'
    >>> guess_target(pd.DataFrame({"smoker": [0, 1], "surgery": ["no", "yes"]}))
    >>> pixels = {f"pixel_{i}": [0, 1, 1] for i in range(3)}
    >>> guess_target(pd.DataFrame({"id": [0, 1, 1], **pixels, "digit": [4, 7, 9]}))
    'digit'
    """
    few = _few_valued(frame)
    named = [name for wanted in TARGET_NAMES for name in few if _bare(name) == wanted] or _shares(frame)
    if not named and (pair := events_and_trials(frame)) is not None:
        return pair[0]
    few = {name: values for name, values in few.items() if not PREDICTED.search(name)} or few
    few = _without_measurements(frame, few)
    likely = [name for name in few if _bare(name) in LIKELY]
    two = [name for name in few if few[name] == 2]
    for clear in (
        named[:1],
        [name for name in likely if name in two],
        list(dict.fromkeys([*likely, *(two or few)])),
    ):
        if len(clear) == 1:
            return clear[0]
    return None if few else _single_class(frame)


def _without_measurements(frame: pd.DataFrame, few: dict[str, int]) -> dict[str, int]:
    """Leave out identifiers and columns of a series, which are hardly ever labels, unless no others are left."""
    stems = [_stem(str(name)) for name in frame.columns]
    series = {stem for stem, times in Counter(stems).items() if times >= COLUMNS_OF_SERIES}
    kept = {name: n for name, n in few.items() if _stem(name) not in series and not IDENTIFIER.search(name)}
    return kept or few


def _stem(name: str) -> str:
    return re.sub(r"\d+", "0", name)


def _single_class(frame: pd.DataFrame) -> str | None:
    """Return the first column that is named like a label and has one value, so that an error can name this class."""
    named = [str(name) for wanted in TARGET_NAMES for name in frame.columns if _bare(str(name)) == wanted]
    return next((name for name in named if len(class_counts(frame, name)) == 1), None)


def target_candidates(frame: pd.DataFrame) -> list[str]:
    """Return columns that can be the label, most likely first: by name, with two values, or with few.

    Parameters
    ----------
    frame : DataFrame
        Table, as ``read_table`` returns it.

    Examples
    --------
    >>> target_candidates(pd.DataFrame({"smoker": [0, 1, 0], "surgery": ["no", "yes", "no"], "outcome": [1, 2, 3]}))
    ['outcome', 'smoker', 'surgery']
    """
    few = _few_valued(frame)
    named = [name for wanted in (*TARGET_NAMES, *LIKELY) for name in few if _bare(name) == wanted]
    few = _without_measurements(frame, few)
    return list(dict.fromkeys([*named, *([name for name in few if few[name] == 2] or few)]))


def _few_valued(frame: pd.DataFrame) -> dict[str, int]:
    """Return column → number of distinct values, if they may be classes: few, and at most half the rows."""
    half = max(10, len(frame) // 2)
    found = {}
    for name, column in ((str(item[0]), item[1]) for item in frame.items()):
        most = LIKELY_CLASSES
        if _bare(name) in TARGET_NAMES:  # each class may also have a column
            most = max(_most(len(frame), MOST_PREDICTED), min(frame.shape[1], MOST_PREDICTED))
        if 2 <= (values := _distinct(column, most)) <= min(most, half):
            found[name] = values
    return found


def _shares(frame: pd.DataFrame) -> list[str]:
    """Return columns named like a label whose numbers all lie between 0 and 1: shares of annotators."""
    named = [
        (str(name), column) for name, column in frame.items() if str(name).strip().lower() in TARGET_NAMES
    ]
    return [name for name, column in named if is_number(column) and in_unit_interval(column)]


def _bare(name: str) -> str:
    return re.sub(r"[^a-z_]", "", name.lower())


def _distinct(column: pd.Series, most: int) -> int:
    """Count distinct values, or the distinct labels of a column of words; stop early if there are too many."""
    for part in (column.iloc[:1000], column) if len(column) > 1000 else (column,):
        try:
            values = counts(part.to_numpy())[1] if sortable(part.dtype) else part.nunique()
        except TypeError:  # unhashable cells
            values = part.astype("str").nunique()
        if values > most:
            return values
    return values if sortable(column.dtype) else _count_labels(column)


def _count_labels(column: pd.Series) -> int:
    """Count the distinct labels of a column of words, without other spellings and words for "unknown"."""
    counts = class_counts(column.to_frame("label"), "label")
    spellings = alternative_spellings(counts)
    kept = {name: rows for name, rows in counts.items() if name not in spellings}
    return len(kept) - len(unknown_labels(kept))

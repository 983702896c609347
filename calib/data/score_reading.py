"""Read the scores of a table: which class they are for, and what they are (``read_scores``)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from calib.data.class_tables import ClassTables, cells, to_probabilities, wrong_sums
from calib.data.columns import Column, as_float, inspect, is_number, positions
from calib.data.conventions import PREDICTED, conventional
from calib.data.errors import DataError, ReadingQuestion, as_answer, no_column
from calib.data.label import MOST_PREDICTED, POSITIVE, Classes, Labels, choose_classes
from calib.data.score_columns import (
    classes_of_columns,
    inspect_others,
    score_columns,
    seems_negative,
    tables_of,
)
from calib.data.score_meaning import (
    CONFIDENCE,
    MOST_ASKED,
    Beside,
    Scaled,
    as_right,
    ask_about_confidence,
    ask_about_two,
    ask_for_class,
    ask_which_is_which,
    beside_predictions,
    named_probability,
    predicted_column,
    predicted_columns,
    read_scale,
    refuse_classes,
)
from calib.kernel.read_as import Answer, ReadAs, ScoreReading
from calib.kernel.wording import listed, quoted

# Words in a note of ``to_probabilities`` → the conversion
SCALES = {"softmax": "as the softmax of its logits", "percentages": "from percentages"}


@dataclasses.dataclass(frozen=True)
class Stated:
    """What a person stated about a table of predictions: parameters of ``prepare_predictions``."""

    positive: object = None
    scores: tuple[str, ...] = ()
    scores_as: str | None = None
    labels_as: str | None = None
    predicted: str | None = None
    trials: str | None = None
    wrong_scores: str | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Given:
    """Table of predictions: typed columns that may be scores, label, rows per class, and what was stated.

    ``where`` is the phrase of ``choose_classes`` for the minority class.
    """

    typed: pd.DataFrame
    target: str
    label: Labels
    counts: Mapping[str, int]
    stated: Stated
    where: str

    @property
    def texts(self) -> list[str]:
        """All labels."""
        return list(self.counts)


def read_scores(given: Given) -> Scores:
    """Read the scores as one column per class, or as single columns."""
    typed, target, stated, texts = given.typed, given.target, given.stated, given.texts
    classes = [name for name in predicted_columns(typed, target, texts) if not named_probability(name)]
    hard = {name: is_number(typed[name]) and typed[name].dropna().isin((0, 1)).all() for name in classes}
    beside = predicted_column(typed, target, texts, hard, stated.predicted)
    typed = typed.drop(columns=[name for name in hard if name not in stated.scores])
    given = dataclasses.replace(given, typed=typed)
    tables = tables_of(typed, target, texts, stated.scores, stated.positive, stated.scores_as)
    if tables is None:
        return _single_columns(given, beside, hard)
    of_all = stated.positive is None and len(tables.names) > 2
    return _of_all_classes(given, tables) if of_all else _of_one_class(given, tables)


@dataclasses.dataclass(frozen=True, eq=False)
class Scores:
    """Scores of all rows of a table.

    Attributes
    ----------
    classes
        Classes of the scores.
    why
        Reason for the positive class, as in ``ReadAs``.
    values
        Column → float64 (n,).
    missing
        Reason for excluding a row → bool (n,), the rows to which it does not apply.
    readings
        Meaning of each score.
    others
        Other possible readings.
    beside
        Column of predicted classes, if the scores are their confidences.
    right
        Whether the prediction is right, bool (n,), if this is what the scores are the probability of.
    tables, whole
        For all classes together, their columns, and all values as one array (n, k).
    """

    classes: Classes
    why: str
    values: Mapping[str, np.ndarray]
    missing: Mapping[str, np.ndarray]
    readings: tuple[ScoreReading, ...]
    notes: tuple[str, ...] = ()
    others: tuple[Answer, ...] = ()
    beside: str | None = None
    right: np.ndarray | None = None
    tables: ClassTables | None = None
    whole: np.ndarray | None = None

    @property
    def scored(self) -> np.ndarray:
        """Mask (n,), true if no score of the row is missing."""
        return np.logical_and.reduce(list(self.missing.values()))

    def table(self, rows: np.ndarray) -> pd.DataFrame:
        """Return the scores of the chosen rows, bool (n,)."""
        index = positions(rows)
        if self.whole is None:
            return pd.DataFrame({column: given[rows] for column, given in self.values.items()}, index=index)
        # Without a copy, which is large for a thousand classes
        values = self.whole if rows.all() else self.whole[rows]
        return pd.DataFrame(values, columns=list(self.values), index=index, copy=False)

    def of_all_classes(self, label: Labels, rows: np.ndarray) -> dict[str, Any]:
        """Return the fields of a Dataset of all classes together, or an empty dict."""
        if self.tables is None:
            return {}
        names = self.tables.names
        return {"names": names, "labels": label.among(names)[rows], "columns": dict(self.tables.columns)}

    def reading(self, target: str, labels: tuple[str, ...]) -> ReadAs:
        """Return the record of how the table was read."""
        positive = self.classes.positive if self.tables is None else None
        names = labels if self.tables is None else self.tables.names
        return ReadAs(target, positive, self.why, self.readings, names, self.others)


def _of_columns(
    found: Mapping[str, Scaled],
    classes: Classes,
    why: str,
    notes: Sequence[str],
    others: Sequence[Answer],
    beside: Beside | None = None,
    right: np.ndarray | None = None,
) -> Scores:
    """Return the scores of single columns; with ``beside``, they are confidences of these predicted classes."""
    missing = dict[str, np.ndarray]()
    for column, each in found.items():
        missing |= {reason: ~rows for reason, rows in each.wrong.items() if rows.any()}
        there = np.logical_or.reduce([np.isfinite(each.values), *each.wrong.values()])
        missing[f"because {column!r} is missing or infinite"] = there
    if beside is not None:
        missing[f"because {beside.column!r} is missing"] = beside.codes >= 0
    name = None if beside is None else beside.column
    of = name or classes.positive
    readings = tuple(ScoreReading((column,), each.kind, of, each.scale) for column, each in found.items())
    values = {column: each.values for column, each in found.items()}
    return Scores(classes, why, values, missing, readings, tuple(notes), tuple(others), name, right)


def _notes(found: Mapping[str, Scaled]) -> list[str]:
    return [each.note for each in found.values() if each.note]


def _single_columns(given: Given, beside: Beside | None, hard: Mapping[str, bool]) -> Scores:
    """Read scores of one class, one column per model."""
    stated, counts, texts = given.stated, given.counts, given.texts
    if len(counts) < 2:
        choose_classes(counts)  # refuses
    found = {
        column: read_scale(_scores(given, column), column, stated.scores_as, stated.wrong_scores)
        for column in _chosen(given, hard)
    }
    shown = _shown_by(given, found, beside)
    confident = {column: found[column] for column, (what, _) in shown.items() if what == "confidence"}
    if confident and beside is not None:
        return _confidences(given, confident, beside)
    if stated.positive is None and len(counts) > 2:
        _refuse_confidence(list(found))
    named = classes_of_columns({column: each.values for column, each in found.items()}, texts)
    named |= {column: texts[code] for column, (_, code) in shown.items()}
    positive, why = _positive(counts, named, stated)
    if shown and why == "named":
        why = "predicted"
    if not stated.scores and not any(named.values()):
        ask_which_is_which(given.label, counts, found)
    doubtful = why == "convention" and any(seems_negative(column, given.target) for column in found)
    if positive is None or doubtful:
        ask_for_class(given.label, counts, found, named, hard)
    words = _why_in_words(why, named, counts)
    classes = choose_classes(counts, positive, words, given.where, most=MOST_PREDICTED)
    notes = _notes(found)
    if not stated.scores:
        notes += _turned(found, named, classes.positive, len(counts))
    able = counts if len(counts) == 2 or not any(named.values()) else set(named.values()) & counts.keys()
    others = _other_positives({name: counts[name] for name in counts if name in able}, classes.positive)
    return _of_columns(found, classes, why, notes, (*others, *_other_meanings(found, beside, stated)))


def _turned(
    found: dict[str, Scaled], named: Mapping[str, str | None], positive: str, classes: int
) -> list[str]:
    """Convert columns of the other of two classes, and leave out those of other classes; return notes."""
    others = [column for column, name in named.items() if name not in (None, positive)]
    others = [column for column in others if not CONFIDENCE.search(column)]
    if classes > 2 and len(others) == len(found):
        raise DataError(
            f"No score column belongs to {positive!r}: {listed(list(map(repr, others)), 4)} "
            f"{'is' if len(others) == 1 else 'are'} named after other classes.",
            "Choose one of these classes, or choose the score columns.",
        )
    turned = [column for column in others if classes == 2 and found[column].kind == "probability"]
    for column in others:
        each = found[column]
        if column in turned:
            found[column] = each._replace(values=1 - each.values)
        else:
            del found[column]
    return [
        f"{column!r} is the probability of {named[column]!r}, so 1 − {column} is used." for column in turned
    ]


def _shown_by(given: Given, found: Mapping[str, Scaled], beside: Beside | None) -> dict[str, tuple[str, int]]:
    """Return what the predicted classes beside the scores show of each column, as in ``beside_predictions``."""
    scores_as = given.stated.scores_as
    if scores_as in ("right", "confidence"):
        if beside is None:
            raise DataError(
                f"scores_as is {scores_as!r}, but no column of predicted classes was found.",
                "Set `predicted` to the name of this column.",
            )
        return dict.fromkeys(found, ("confidence", -1))
    if beside is None or scores_as not in (None, "percentages"):
        return {}
    shown = {}
    for column, each in found.items():
        if (what := beside_predictions(each.values, column, beside.codes, len(given.counts))) is None:
            continue
        if what[0] == "ask":
            ask_about_confidence(column, beside.column, given.texts[what[1]])
        shown[column] = what
    return shown


def _confidences(given: Given, found: Mapping[str, Scaled], beside: Beside) -> Scores:
    """Read confidences of predicted classes: the probability of the positive class of two, else of being right."""
    stated, counts, two = given.stated, given.counts, len(given.counts) == 2
    positive, why = _positive(counts, {}, stated)
    if stated.scores_as == "right" or (stated.scores_as != "confidence" and (not two or positive is None)):
        return _of_being_right(given, found, beside)
    if not two:
        raise DataError(
            "scores_as is 'confidence', but the label has more than two classes.",
            "Set `scores_as` to 'right'.",
        )
    if positive is None:
        ask_for_class(given.label, counts, _for_class(found, beside, 1), {})
    classes = choose_classes(counts, positive, _why_in_words(why, {}, counts), given.where)
    scale = f"converted to the probability of {classes.positive!r}"
    found = _as(_for_class(found, beside, given.texts.index(classes.positive)), "confidence", scale)
    others = (as_right(beside.column), *_other_positives(counts, classes.positive))
    return _of_columns(found, classes, why, _notes(found), others, beside)


def _of_being_right(given: Given, found: Mapping[str, Scaled], beside: Beside) -> Scores:
    """Read confidences of predicted classes as the probability that the prediction is right."""
    note = f"{POSITIVE}: the prediction in {beside.column!r} is right, not wrong."
    classes, right = (
        Classes(("wrong", "right"), "right", note),
        beside.codes == given.label.among(given.texts),
    )
    words = ("Probability of a class", "", {"positive": None})
    others = (
        [as_answer(*words, scores_as="confidence", predicted=beside.column)] if len(given.counts) == 2 else []
    )
    return _of_columns(_as(found, "right", ""), classes, "named", _notes(found), others, beside, right)


def _as(found: Mapping[str, Scaled], kind: str, scale: str) -> dict[str, Scaled]:
    """Return the same scores with another meaning."""
    return {column: each._replace(kind=kind, scale=scale) for column, each in found.items()}


def _for_class(found: Mapping[str, Scaled], beside: Beside, code: int) -> dict[str, Scaled]:
    """Convert confidences of the predicted class, of two, to probabilities of one class."""
    inside = beside.codes == code
    return {
        column: each._replace(values=np.where(inside, each.values, 1 - each.values))
        for column, each in found.items()
    }


def _refuse_confidence(columns: Sequence[str]) -> None:
    """Refuse confidences with a label of several classes, because the predicted class is unknown."""
    if called := [column for column in columns if CONFIDENCE.search(column)]:
        raise DataError(
            f"{called[0]!r} seems to be the probability of the predicted class, but the table does not say whether it "
            "was right.",
            "Add the column of predicted classes. Alternatively, add one column of probabilities per class. "
            "If the column contains the probability of one class, choose this class.",
        )


def _of_all_classes(given: Given, tables: ClassTables) -> Scores:
    """Read probabilities of all classes, for one or several models."""
    counts = {name: given.counts.get(name, 0) for name in tables.names}
    classes = choose_classes(counts, joint=True, most=MOST_PREDICTED, confirmed=True)
    whole, missing = cells(given.typed, tables.all_columns), dict[str, np.ndarray]()
    notes, readings = [tables.note], []
    for i, (model, columns) in enumerate(tables.columns.items()):
        P = whole[:, i * len(tables.names) : (i + 1) * len(tables.names)]
        missing[f"because a probability of {model!r} is missing or infinite"] = np.isfinite(P).all(axis=1)
        there, wrong, note = _converted(P, model, columns, given.stated)
        missing |= {reason: ~rows for reason, rows in wrong.items()}
        if given.stated.scores_as is None and there.any() and ((P[there] == 0) | (P[there] == 1)).all():
            refuse_classes(columns)
        notes.append(note)
        readings.append(ScoreReading(columns, "classes", given.target, _scale_of(note)))
    values = dict(zip(tables.all_columns, whole.T, strict=True))
    told = tuple(filter(None, notes))
    return Scores(classes, "named", values, missing, tuple(readings), told, tables=tables, whole=whole)


def _scale_of(note: str) -> str:
    """Return the conversion of which a note of ``to_probabilities`` speaks, or ""."""
    return next((scale for word, scale in SCALES.items() if word in note), "")


def _converted(
    P: np.ndarray, model: str, columns: Sequence[str], stated: Stated, joint: bool = True
) -> tuple[np.ndarray, dict[str, np.ndarray], str]:
    """Convert predictions of K classes in place; return the rows that are used, those that are wrong, and a note."""
    there, wrong = np.isfinite(P).all(axis=1), dict[str, np.ndarray]()
    if stated.wrong_scores == "exclude":
        off = wrong_sums(P, there)
        there, wrong = there & ~off, {f"because {model!r} does not sum to 1": off}
    return there, wrong, to_probabilities(P, there, model, stated.scores_as, joint, columns)


def _of_one_class(given: Given, tables: ClassTables) -> Scores:
    """Read probabilities of the positive class from columns of all classes, for one or several models."""
    stated, names = given.stated, tables.names
    known = {name: given.counts.get(name, 0) for name in names}
    chosen = stated.positive is not None
    words = _why_in_words("stated" if chosen else "convention", {}, known)
    positive = stated.positive if chosen else conventional(names)
    classes = choose_classes(known, positive, words, given.where, most=MOST_PREDICTED, confirmed=True)
    place, ask, found = names.index(classes.positive), len(names) == 2 and not chosen, dict[str, Scaled]()
    for model, columns in tables.columns.items():
        P, column = cells(given.typed, columns), columns[place]
        try:
            _, wrong, note = _converted(P, model, columns, stated, ask)
        except ReadingQuestion as question:
            if not ask:
                raise
            ask_about_two(P, given.label, names, columns, question)
        values = P[:, place].copy()  # a copy, so that the other classes are freed
        if stated.wrong_scores == "certain":
            wrong = {f"because {column!r} is exactly 0 or 1": (values == 0) | (values == 1)}
        found[column] = Scaled(values, "probability", _scale_of(note), note, wrong)
    notes = [tables.note] if tables.note else []
    others = _other_positives(known, classes.positive)
    return _of_columns(found, classes, "stated" if chosen else "named", notes + _notes(found), others)


def _other_positives(counts: Mapping[str, int], positive: str) -> tuple[Answer, ...]:
    """Return the readings with another positive class."""
    names = sorted((name for name in counts if name != positive), key=lambda name: -counts[name])
    return tuple(as_answer(f"Probability of {name!r}", "", {"positive": name}) for name in names[:MOST_ASKED])


def _other_meanings(found: Mapping[str, Scaled], beside: Beside | None, stated: Stated) -> tuple[Answer, ...]:
    """Return the readings of the same columns with another scale or meaning."""
    answers = []
    if beside is not None and all(each.kind == "probability" for each in found.values()):
        answers.append(as_right(beside.column))
    if any(each.kind == "margin" for each in found.values()):
        answers.append(as_answer("Logits", "The program uses their sigmoid.", scores_as="logits"))
    if any(each.scale for each in found.values()) or stated.scores_as == "logits":
        answers.append(as_answer("Not probabilities", scores_as="margins"))
    return tuple(answers)


def _chosen(given: Given, hard: Mapping[str, bool]) -> list[str]:
    """Return the chosen score columns, else those that look like scores.

    ``hard`` maps columns of predicted classes to whether they are numbers 0 and 1.
    """
    chosen = list(given.stated.scores) or score_columns(given.typed, given.target)
    if chosen:
        return chosen
    if hard:
        named = [name for name in hard if PREDICTED.search(name)] or list(hard)
        certain = {"scores": tuple(named), "scores_as": "probabilities"}
        refuse_classes(named, certain if all(hard[name] for name in named) else None)
    for column in inspect_others(given.target, given.typed):
        if column.kind == "mixed":
            _refuse_text(column)
    raise DataError(
        "The table has no score column.", "Add a column with a probability or score for each row."
    )


def _refuse_text(column: Column) -> NoReturn:
    """Refuse a score column that holds text, and quote the cells if the others are numbers."""
    cells = f" ({quoted(list(column.strays), 3)})" if column.strays else ""
    raise DataError(
        f"Score column {column.name!r} contains values that are not numbers{cells}.",
        "Correct them, or choose another column.",
    )


def _positive(
    counts: Mapping[str, int], named: Mapping[str, str | None], stated: Stated
) -> tuple[object | None, str]:
    """Return (the positive class, key of the reason in ``WHY``), or (None, "") if a person must say."""
    if stated.positive is not None:
        return stated.positive, "stated"
    names = {label for label in named.values() if label is not None}
    if len(names) == 1:
        return names.pop(), "named"
    if len(counts) > 2:
        return None, ""
    positive = conventional(list(counts))
    if names:  # columns of both classes: each is read by its name
        return positive or min(counts, key=lambda name: counts[name]), "named"
    return positive, "convention" if positive is not None else ""


def _why_in_words(why: str, named: Mapping[str, str | None], counts: Mapping[str, int]) -> str:
    if why == "named":
        return f"because it is named in {listed([repr(column) for column in named if named[column]])}"
    if why == "predicted":
        return "because the predicted classes show this"
    if why == "convention":
        return f"by convention for {listed([repr(name) for name in counts])}"
    return "as chosen"


def _scores(given: Given, column: str) -> np.ndarray:
    frame = given.typed
    if column not in frame.columns or column == given.target:
        raise no_column(f"Score column {column!r}", frame)
    if not is_number(frame[column]):
        _refuse_text(inspect(frame[column], column))
    return as_float(frame[column]).copy()

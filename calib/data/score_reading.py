"""Read the scores of a table: which class they are for, and what they are (``read_scores``)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from calib.data.class_questions import MOST_ASKED, ask_about_two, ask_for_class, ask_which_is_which
from calib.data.class_tables import (
    ClassTables,
    cells,
    to_probabilities,
    wrong_sums,
)
from calib.data.columns import (
    Column,
    as_float,
    inspect,
    is_number,
    positions,
)
from calib.data.conventions import PREDICTED, conventional
from calib.data.errors import DataError, ReadingQuestion
from calib.data.label import (
    MOST_PREDICTED,
    POSITIVE,
    Classes,
    Labels,
    choose_classes,
)
from calib.data.score_columns import (
    classes_of_columns,
    inspect_others,
    score_columns,
    seems_negative,
    tables_of,
)
from calib.data.score_meaning import (
    CONFIDENCE,
    Beside,
    Scaled,
    as_recipe,
    ask_about_confidence,
    beside_predictions,
    named_probability,
    predicted_column,
    predicted_columns,
    read_scale,
    refuse_classes,
)
from calib.kernel.read_as import Answer, ReadAs, ScoreReading
from calib.kernel.wording import listed, quoted

SCALES = {
    "softmax": "as the softmax of its logits",
    "divided": "each row divided by its sum",
    "percentages": "from percentages",
}


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


def read_scores(
    typed: pd.DataFrame, target: str, label: Labels, counts: Mapping[str, int], stated: Stated, where: str
) -> Scores:
    """Read the scores as one column per class, or as single columns."""
    classes = [name for name in predicted_columns(typed, target, list(counts)) if not named_probability(name)]
    hard = {name: is_number(typed[name]) and typed[name].dropna().isin((0, 1)).all() for name in classes}
    beside = predicted_column(typed, target, list(counts), hard, stated.predicted)
    left = typed.drop(columns=[name for name in hard if name not in stated.scores])
    tables = tables_of(left, target, list(counts), stated.scores, stated.positive, stated.scores_as)
    if tables is None:
        return _single_columns(left, target, label, counts, stated, beside, hard, where)
    if stated.positive is None and len(tables.names) > 2:
        return _of_all_classes(left, target, counts, tables, stated)
    return _of_one_class(left, label, counts, tables, stated, where)


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


def _single_columns(
    typed: pd.DataFrame,
    target: str,
    label: Labels,
    counts: Mapping[str, int],
    stated: Stated,
    beside: Beside | None,
    hard: Mapping[str, bool],
    where: str,
) -> Scores:
    """Read scores of one class, one column per model."""
    if len(counts) < 2:
        choose_classes(counts)  # refuses
    columns = _chosen(typed, target, stated.scores, hard)
    found = {
        column: read_scale(_scores(typed, column, target), column, stated.scores_as, stated.wrong_scores)
        for column in columns
    }
    if beside is not None or stated.scores_as in ("right", "confidence"):
        shown = _shown_by(found, counts, stated, beside)
        confident = [column for column, (what, _) in shown.items() if what == "confidence"]
        if confident:
            return _confidences({c: found[c] for c in confident}, label, counts, stated, beside, where)
    else:
        shown = {}
    if stated.positive is None and len(counts) > 2:
        _refuse_confidence(columns)
    named = classes_of_columns({column: each.values for column, each in found.items()}, list(counts))
    named |= {column: list(counts)[code] for column, (what, code) in shown.items() if what == "class"}
    positive, why = _positive(counts, named, stated)
    if shown and why == "named":
        why = "predicted"
    if not stated.scores and not any(named.values()):
        ask_which_is_which(label, counts, found)
    if positive is None or (why == "convention" and any(seems_negative(column, target) for column in found)):
        ask_for_class(label, counts, found, named, hard)
    classes = choose_classes(counts, positive, _why_in_words(why, named, counts), where, most=MOST_PREDICTED)
    notes = [each.note for each in found.values() if each.note]
    if not stated.scores:
        other_classes = [column for column, name in named.items() if name not in (None, classes.positive)]
        others = [column for column in other_classes if not CONFIDENCE.search(column)]
        if len(counts) > 2 and len(others) == len(found):
            raise DataError(
                f"No score column belongs to {classes.positive!r}: {listed(list(map(repr, others)), 4)} "
                f"{'is' if len(others) == 1 else 'are'} named after other classes.",
                "Choose one of these classes, or choose the score columns.",
            )
        for column in others:
            if len(counts) > 2 or found[column].kind != "probability":
                del found[column]
            else:
                notes.append(f"{column!r} is the probability of {named[column]!r}, so 1 − {column} is used.")
                found[column] = found[column]._replace(values=1 - found[column].values)
    able = {
        name: rows
        for name, rows in counts.items()
        if len(counts) == 2 or not any(named.values()) or name in named.values()
    }
    readings = tuple(
        ScoreReading((column,), each.kind, classes.positive, each.scale) for column, each in found.items()
    )
    return Scores(
        classes,
        why,
        {column: each.values for column, each in found.items()},
        _reasons(found),
        readings,
        tuple(notes),
        (*_other_positives(able, classes.positive), *_other_meanings(found, beside, stated)),
    )


def _reasons(found: Mapping[str, Scaled]) -> dict[str, np.ndarray]:
    """Return reasons for excluding rows by single columns → the rows to which they do not apply."""
    reasons = {}
    for column, each in found.items():
        if each.wrong is not None and each.wrong.any():
            reasons[f"because {column!r} {each.why_wrong}"] = ~each.wrong
        there = np.isfinite(each.values) if each.wrong is None else np.isfinite(each.values) | each.wrong
        reasons[f"because {column!r} is missing or infinite"] = there
    return reasons


def _shown_by(
    found: Mapping[str, Scaled], counts: Mapping[str, int], stated: Stated, beside: Beside | None
) -> dict[str, tuple[str, int]]:
    """Return what the predicted classes beside the scores show of each column, as in ``beside_predictions``."""
    if beside is None:
        raise DataError(
            f"scores_as is {stated.scores_as!r}, but no column of predicted classes was found.",
            "Set `predicted` to the name of this column.",
        )
    if stated.scores_as in ("right", "confidence"):
        return dict.fromkeys(found, ("confidence", -1))
    if stated.scores_as not in (None, "percentages"):
        return {}
    shown = {}
    for column, each in found.items():
        if (what := beside_predictions(each.values, column, beside.codes, len(counts))) is None:
            continue
        if what[0] == "ask":
            ask_about_confidence(column, beside.column, list(counts)[what[1]])
        shown[column] = what
    return shown


def _confidences(
    found: Mapping[str, Scaled],
    label: Labels,
    counts: Mapping[str, int],
    stated: Stated,
    beside: Beside | None,
    where: str,
) -> Scores:
    """Read confidences of predicted classes: the probability of the positive class of two, else of being right."""
    assert beside is not None
    codes, texts = beside.codes, list(counts)
    positive, why = (
        (stated.positive, "stated") if stated.positive is not None else (conventional(texts), "convention")
    )
    in_right = stated.scores_as == "right" or (
        stated.scores_as in (None, "percentages") and (len(counts) > 2 or positive is None)
    )
    if not in_right and len(counts) > 2:
        raise DataError(
            "scores_as is 'confidence', but the label has more than two classes.",
            "Set `scores_as` to 'right'.",
        )
    missing = _reasons(found) | {f"because {beside.column!r} is missing": codes >= 0}
    both = tuple(
        Answer({"positive": None, **as_recipe(scores_as=key, predicted=beside.column)}, words)
        for key, words in (
            ("right", "Probability that the prediction is right"),
            ("confidence", "Probability of a class"),
        )
        if (key == "right") != in_right and (key == "right" or len(counts) == 2)
    )
    if in_right:
        kind, of, right = "right", beside.column, codes == label.among(texts)
        note = f"{POSITIVE}: the prediction in {beside.column!r} is right, not wrong."
        classes = Classes(("wrong", "right"), "right", note)
        values, why = {column: each.values for column, each in found.items()}, "named"
    else:
        if positive is None:
            ask_for_class(label, counts, _for_class(found, codes, 1), {})
        classes = choose_classes(counts, positive, _why_in_words(why, {}, counts), where)
        kind, of, right = "confidence", beside.column, None
        values = {
            c: each.values for c, each in _for_class(found, codes, texts.index(classes.positive)).items()
        }
        both += _other_positives(counts, classes.positive)
    scale = "" if in_right else f"converted to the probability of {classes.positive!r}"
    readings = tuple(ScoreReading((column,), kind, of, scale) for column in found)
    notes = tuple(each.note for each in found.values() if each.note)
    return Scores(classes, why, values, missing, readings, notes, both, beside.column, right)


def _for_class(found: Mapping[str, Scaled], codes: np.ndarray, code: int) -> dict[str, Scaled]:
    """Convert confidences of the predicted class, of two, to probabilities of one class."""
    return {
        column: each._replace(values=np.where(codes == code, each.values, 1 - each.values))
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


def _of_all_classes(
    typed: pd.DataFrame, target: str, counts: Mapping[str, int], tables: ClassTables, stated: Stated
) -> Scores:
    """Read probabilities of all classes, for one or several models."""
    counts = {name: counts.get(name, 0) for name in tables.names}
    classes = choose_classes(counts, joint=True, most=MOST_PREDICTED, confirmed=True)
    whole, missing, notes = cells(typed, tables.all_columns), {}, [tables.note] if tables.note else []
    readings = []
    for i, (model, columns) in enumerate(tables.columns.items()):
        P = whole[:, i * len(tables.names) : (i + 1) * len(tables.names)]
        missing[f"because a probability of {model!r} is missing or infinite"] = np.isfinite(P).all(axis=1)
        there, note = _converted(P, model, columns, stated, missing)
        if stated.scores_as is None and there.any() and ((P[there] == 0) | (P[there] == 1)).all():
            refuse_classes(columns)
        notes += filter(None, [note])
        readings.append(ScoreReading(columns, "classes", target, SCALES.get(_scale_of(note), "")))
    values = dict(zip(tables.all_columns, whole.T, strict=True))
    return Scores(
        classes, "named", values, missing, tuple(readings), tuple(notes), (), None, None, tables, whole
    )


def _scale_of(note: str) -> str:
    """Return the key of ``SCALES`` that a note of ``to_probabilities`` speaks of, or ""."""
    return next(
        (key for key in ("softmax", "percentages") if key in note), "divided" if "was not 1" in note else ""
    )


def _converted(
    P: np.ndarray,
    model: str,
    columns: Sequence[str],
    stated: Stated,
    missing: dict[str, np.ndarray],
    joint: bool = True,
) -> tuple[np.ndarray, str]:
    """Convert predictions of K classes in place; return the rows that are used and a note. Add to ``missing``."""
    there = np.isfinite(P).all(axis=1)
    if stated.wrong_scores == "exclude":
        wrong = wrong_sums(P, there)
        missing[f"because {model!r} does not sum to 1"] = ~wrong
        there &= ~wrong
    return there, to_probabilities(P, there, model, stated.scores_as, joint, columns)


def _of_one_class(
    typed: pd.DataFrame,
    label: Labels,
    counts: Mapping[str, int],
    tables: ClassTables,
    stated: Stated,
    where: str,
) -> Scores:
    """Read probabilities of the positive class from columns of all classes, for one or several models."""
    known = {name: counts.get(name, 0) for name in tables.names}
    positive, why = (
        (stated.positive, "stated") if stated.positive is not None else (conventional(list(known)), "named")
    )
    words = "as chosen" if why == "stated" else f"by convention for {listed([repr(name) for name in known])}"
    classes = choose_classes(known, positive, words, where, most=MOST_PREDICTED, confirmed=True)
    place, two = tables.names.index(classes.positive), len(tables.names) == 2
    values, missing, readings = dict[str, np.ndarray](), dict[str, np.ndarray](), list[ScoreReading]()
    notes = [tables.note] if tables.note else []
    for model, columns in tables.columns.items():
        P, column = cells(typed, columns), columns[place]
        try:
            _, note = _converted(P, model, columns, stated, missing, two and stated.positive is None)
        except ReadingQuestion as question:
            if not two or stated.positive is not None:
                raise
            ask_about_two(P, label, tables.names, columns, question)
        notes += filter(None, [note])
        values[column] = P[:, place].copy()  # a copy, so that the other classes are freed
        missing[f"because {column!r} is missing or infinite"] = np.isfinite(P[:, place])
        if stated.wrong_scores == "certain":
            missing[f"because {column!r} is exactly 0 or 1"] = (P[:, place] != 0) & (P[:, place] != 1)
        readings.append(
            ScoreReading((column,), "probability", classes.positive, SCALES.get(_scale_of(note), ""))
        )
    others = _other_positives(known, classes.positive)
    return Scores(classes, why, values, missing, tuple(readings), tuple(notes), others)


def _other_positives(counts: Mapping[str, int], positive: str) -> tuple[Answer, ...]:
    """Return the readings with another positive class."""
    names = sorted((name for name in counts if name != positive), key=lambda name: -counts[name])
    return tuple(Answer({"positive": name}, f"Probability of {name!r}") for name in names[:MOST_ASKED])


def _other_meanings(found: Mapping[str, Scaled], beside: Beside | None, stated: Stated) -> tuple[Answer, ...]:
    """Return the readings of the same columns with another scale or meaning."""
    answers = []
    if beside is not None and all(each.kind == "probability" for each in found.values()):
        options = as_recipe(scores_as="right", predicted=beside.column)
        answers.append(Answer({"positive": None, **options}, "Probability that the prediction is right"))
    if any(each.kind == "margin" for each in found.values()):
        answers.append(Answer(as_recipe(scores_as="logits"), "Logits", "The program uses their sigmoid."))
    if any(each.scale for each in found.values()) or stated.scores_as == "logits":
        answers.append(Answer(as_recipe(scores_as="margins"), "Not probabilities"))
    return tuple(answers)


def _chosen(typed: pd.DataFrame, target: str, scores: Sequence[str], hard: Mapping[str, bool]) -> list[str]:
    """Return the chosen score columns, else those that look like scores.

    ``hard`` maps columns of predicted classes to whether they are numbers 0 and 1.
    """
    chosen = list(scores) or score_columns(typed, target)
    if chosen:
        return chosen
    if hard:
        named = [name for name in hard if PREDICTED.search(name)] or list(hard)
        certain = {"scores": tuple(named), "scores_as": "probabilities"}
        refuse_classes(named, certain if all(hard[name] for name in named) else None)
    for column in inspect_others(target, typed):
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


def _scores(frame: pd.DataFrame, column: str, target: str) -> np.ndarray:
    if column not in frame.columns or column == target:
        raise DataError(
            f"Score column {column!r} was not found.", f"Choose one of {', '.join(frame.columns)}."
        )
    if not is_number(frame[column]):
        _refuse_text(inspect(frame[column], column))
    return as_float(frame[column]).copy()

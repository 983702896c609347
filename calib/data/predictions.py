"""Existing predictions: a label and one or more score columns; no model needed.

Which class the scores speak of is never read off the labels: columns are named after it (``p_yes``), or
convention knows it (1 of 0 and 1), or it is the minority class. If scores then rank the classes in reverse,
that is a finding.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from calib.data.about import about
from calib.data.column_types import typed_frame
from calib.data.columns import SCORE_NAME, Column, as_float, in_unit_interval, inspect, is_number, positions
from calib.data.errors import DataError
from calib.data.join import of_both
from calib.data.ranking import auc, auc_interval, class_draws
from calib.data.repeats import left_out as repeated_left_out
from calib.data.repeats import repeats
from calib.data.roles import Read, read_roles, weight_note
from calib.data.target import choose_classes, coded_labels, conventional, guess_target
from calib.kernel.records import Dataset, Problem
from calib.kernel.rows import Rows
from calib.kernel.wording import counted, listed, number, row_numbers

MOST_SCORES = 20  # columns of a table that can still be a label and scores
FEW_SCORES = 3  # so many columns from 0 to 1 beside a label are scores whatever they are called
BESIDE = ("weight", "time", "part", "identifier")  # roles of number columns other than scores
# Names of labels that come with predictions
TRUTH = frozenset(("y_true", "ytrue", "truth", "actual", "actuals"))
MODEL_NAME = re.compile(r"(?i)(^|[_\W\d])(model|classifier|clf)")
PROBABILITY_WORDS = frozenset(("p", "prob", "probs", "proba", "probability", "phat"))
FILLERS = frozenset(("of", "for", "class", "label"))
SCORE_WORDS = PROBABILITY_WORDS | frozenset(
    ("score", "scores", "pred", "prediction", "predicted", "confidence", "risk")
)
FEW_LINES = 20  # fewer may be alike by chance
GROUPED = 0.5  # so large a share of lines whose score stands in the other class too
ROUNDING = 0.0051  # of a probability with two decimals


def score_columns(frame: pd.DataFrame, target: str) -> list[str]:
    """Choose the score columns: by name, within [0, 1] or margins; else every column of numbers.

    A number that is the same in every row counts only if there is no other: a model may say it of everybody.

    Never the label, what names rows, and weights, times and folds by their names.

    Parameters
    ----------
    frame : DataFrame
        A table as it was read.
    target : str
        Its label column.
    """
    typed = typed_frame(frame)
    found = _but(str(target), typed)
    numbers = _numbers(found)
    scores = [c.name for c in numbers if c.role == "score" or _is_margin(typed[c.name])]
    return scores or [c.name for c in numbers] or _constants(typed, found)


def _but(target: str, typed: pd.DataFrame) -> list[Column]:
    """All columns beside the label's."""
    return [inspect(column, name) for name, column in typed.items() if name != target]


def _constants(typed: pd.DataFrame, found: Sequence[Column]) -> list[str]:
    """Columns of one and the same number in every row."""
    alone = [column.name for column in found if column.kind == "constant" and column.role not in BESIDE]
    return [name for name in alone if is_number(typed[name]) and np.isfinite(as_float(typed[name])).all()]


def _numbers(found: Sequence[Column]) -> list[Column]:
    """Columns of numbers that can be scores."""
    return [column for column in found if column.kind == "number" and column.role not in BESIDE]


def _is_margin(column: pd.Series) -> bool:
    """Fractions on both sides of zero."""
    values = as_float(column)
    values = values[np.isfinite(values)]
    return bool(values.size and values.min() < 0 < values.max() and (values != np.floor(values)).any())


def looks_like_predictions(frame: pd.DataFrame) -> bool:
    """Return whether a table clearly contains labels with scores rather than rows to learn from.

    Every column of numbers is then a score, but for weights, times, folds and what names rows. Words and
    dates may stand beside scores that are called so, or beside a label that is called the truth.

    Parameters
    ----------
    frame : DataFrame
        A table as it was read.

    Examples
    --------
    >>> looks_like_predictions(pd.DataFrame({"y": [0, 1, 1], "p_forest": [0.2, 0.7, 0.9]}))
    True
    """
    target = guess_target(frame) if frame.shape[1] <= MOST_SCORES else None
    if target is None:
        return False
    typed = typed_frame(frame)
    found = _but(target, typed)
    scores = [column.name for column in _numbers(found)]
    scores = scores or list(filter(SCORE_NAME.search, _constants(typed, found)))
    if not scores:
        return False
    labels = set(coded_labels(frame, target).counts)
    named = [name for name in scores if SCORE_NAME.search(name) or name in labels]
    unit = [name for name in scores if in_unit_interval(typed[name])]
    if not all(name in named or name in unit or _is_margin(typed[name]) for name in scores):
        return False
    if any(column.role not in BESIDE for column in found if column.name not in scores):
        told = named == scores or target.lower() in TRUTH or any(MODEL_NAME.search(name) for name in scores)
        return told and bool(unit)
    return named == scores or (len(scores) <= FEW_SCORES and bool(unit))


def scores_among_features(typed: pd.DataFrame, target: str) -> list[str]:
    """Return features that another model seems to have made, by name and with values in [0, 1]."""
    called = [name for name in typed if SCORE_NAME.search(name) or MODEL_NAME.search(name)]
    numbers = _numbers(_but(target, typed[called]))
    return [column.name for column in numbers if in_unit_interval(typed[column.name])]


def named_class(column: str, names: Sequence[str]) -> str | None:
    """Return the label whose probability a column contains according to its name, or None.

    >>> [named_class(name, ["no", "yes"]) for name in ("p_yes", "probNo", "P(yes) of model 2", "no", "p_model")]
    ['yes', 'no', 'yes', 'no', None]
    >>> named_class("prob_1", ["0", "1"]), named_class("score_1", ["0", "1"])
    ('1', None)
    """
    if column in names:
        return column
    words, found = _words(column), []
    for name in sorted(names, key=len):
        label = _words(name)
        # A number after "score" may well be the model's.
        marks = PROBABILITY_WORDS if all(word.isdecimal() for word in label) else SCORE_WORDS
        for i, word in enumerate(words):
            beside = (words[i + 1 : i + 1 + len(label)], words[max(0, i - len(label)) : i])
            if label and word in marks and label in beside:
                found.append(name)
    return found[-1] if found else None


def _named(values: Mapping[str, np.ndarray], names: list[str]) -> dict[str, str | None]:
    """score column → the class that its name ends with, if the columns of all classes add up to one."""
    ends = {column: _at_the_end(column, names) for column in values}
    if len(values) == len(names) and set(ends.values()) == set(names) and _add_up(list(values.values())):
        return ends
    return {column: named_class(column, names) for column in values}


def _at_the_end(column: str, names: list[str]) -> str | None:
    fitting = [name for name in names if column.casefold().endswith(name.casefold())]
    return max(fitting, key=len, default=None)


def _words(text: str) -> list[str]:
    words = re.findall(r"[^\W\d_]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).casefold())
    return [word for word in words if word not in FILLERS]


def prepare_predictions(
    frame: pd.DataFrame,
    target: str,
    positive: object = None,
    scores: Sequence[str] | None = None,
    name: str | None = None,
    roles: Mapping[str, str | None] | None = None,
    weight_as: str | None = None,
    drop_repeated: bool = False,
) -> Dataset:
    """Prepare a Dataset whose X (n, k) contains the score columns as float64, for calibration without a model.

    Rows without a label or with a score that is missing or infinite are left out, and named in ``notes``,
    which also report scores that rank the classes in reverse.

    Parameters
    ----------
    positive
        None chooses the class that the score columns are named after (``p_yes``), else the one that is
        positive by convention (1 of 0 and 1, yes of no and yes …), else the minority class.
    scores
        The score columns; None takes ``score_columns``, of two that add up to one, or of one column per class,
        only the positive class's.
    roles
        weight, time, cluster and part → the column that holds it, which is then no score.
    weight_as
        What a weight column of whole numbers holds, as for ``read_roles``.
    drop_repeated
        Leave out rows that repeat an earlier row in every column.

    Examples
    --------
    >>> table = pd.DataFrame({"y": [1, 0, 1, 1], "s": [0.1, 0.9, 0.2, 0.8]})
    >>> prepare_predictions(table, "y").classes, prepare_predictions(table.rename(columns={"s": "p_0"}), "y").classes
    (('0', '1'), ('1', '0'))
    """
    typed, target = typed_frame(frame), str(target)
    label = coded_labels(frame, target)
    known = read_roles(typed, roles or {}, target, about(frame).notes, weight_as)
    counts = known.per_class(label)
    taken = {str(column) for column in (roles or {}).values()}
    chosen = _chosen(typed.drop(columns=[name for name in typed if name in taken]), target, scores)
    values = {column: _scores(typed, column, target) for column in chosen}
    named = _named(values, list(counts))
    chosen_class, why = (positive, "as chosen") if positive is not None else _positive(counts, named)
    classes = choose_classes(counts, chosen_class, why, of_both(frame))
    for column in [] if scores else _other_classes(values, named, classes.positive, len(counts)):
        del values[column]
    finite = {column: np.isfinite(given) for column, given in values.items()}
    scored = np.logical_and.reduce([known.rows, *finite.values()])
    rows = label.there & scored
    if not rows.any():
        raise DataError("No row has both a label and finite scores.", "Fill in missing labels and scores.")
    left_out = (*_left_out(label.there, finite), *known.notes)
    if drop_repeated:
        again = repeats(typed)
        rows, left_out = rows & ~again, (*left_out, *repeated_left_out(again))
    unused = [column for column in typed.columns if column != target and column not in (*values, *taken)]
    notes = [*left_out, *([f"Not used as scores: {', '.join(unused)}."] if unused else [])]
    data = Dataset(
        name=name or about(frame).name or "predictions",
        X=pd.DataFrame({column: given[rows] for column, given in values.items()}, index=positions(rows)),
        y=label.are(classes.positive)[rows].astype(np.intp),
        classes=classes.names,
        predictions=True,
        read=len(frame),
        left_out=left_out,
        unlabelled=known.unlabelled(label.there),
        **_without_label(values, scored & ~label.there, known),
        **known.of(rows),
    )
    del label, known, values, finite, scored, rows  # which are as long as the table
    notes += weight_note((roles or {}).get("weight"), data.weight, data.n)
    notes += [f"{problem.column}: {problem.message}" for problem in ranking_problems(data)]
    return dataclasses.replace(data, notes=(classes.note, *notes))


def _without_label(values: Mapping[str, np.ndarray], rows: np.ndarray, known: Read) -> dict[str, Any]:
    """The scores and times of rows, bool (n,), whose labels are missing: the fields of a Dataset."""
    if not rows.any():
        return {}
    scores = pd.DataFrame({column: given[rows] for column, given in values.items()}, index=positions(rows))
    return {"unlabelled_scores": scores, "unlabelled_time": known.of(rows).get("time")}


def _chosen(typed: pd.DataFrame, target: str, scores: Sequence[str] | None) -> list[str]:
    """The score columns asked for, or those that look like it."""
    chosen = [str(score) for score in scores] if scores else score_columns(typed, target)
    if not chosen:
        raise DataError(
            "There is no column of scores.", "Add a column with a probability or score for each row."
        )
    return chosen


def _left_out(labelled: np.ndarray, finite: Mapping[str, np.ndarray]) -> list[str]:
    reasons = {"because the label is missing": ~labelled}
    reasons |= {f"because {column!r} is missing or infinite": ~good for column, good in finite.items()}
    return [
        f"Excluded {why}: {counted(int(out.sum()), 'row')} ({row_numbers(out)})."
        for why, out in reasons.items()
        if out.any()
    ]


def _positive(counts: Mapping[str, int], named: Mapping[str, str | None]) -> tuple[str | None, str]:
    """(the positive class, why), or (None, …) if the minority class is used."""
    names = {label for label in named.values() if label is not None}
    if len(names) == 1:
        return (
            names.pop(),
            f"because it is named in {listed([repr(column) for column in named if named[column]])}",
        )
    return conventional(list(counts)), f"by convention for {listed([repr(name) for name in counts])}"


def _other_classes(
    values: Mapping[str, np.ndarray], named: Mapping[str, str | None], positive: str, classes: int
) -> list[str]:
    """Columns of other classes beside one of the positive class.

    Of two classes, where each may have a model of its own, those that add up to one with it.
    """
    own = [column for column in values if named[column] == positive]
    others = [column for column in values if named[column] not in (None, positive)]
    if classes > 2:
        return others if own else []
    return [column for column in others if any(_add_up((values[column], values[mine])) for mine in own)]


def _add_up(columns: Collection[np.ndarray]) -> bool:
    """Whether columns (n,) add up to one in every row, but for rounding."""
    return bool(np.nanmax(np.abs(sum(columns) - 1), initial=0.0) <= ROUNDING * len(columns))


def ranking_problems(data: Dataset) -> list[Problem]:
    """Report score columns that rank the two classes in reverse or no better than chance: one Problem each.

    >>> table = pd.DataFrame({"y": [0] * 20 + [1] * 20, "p": np.linspace(0.9, 0.1, 40)})
    >>> ranking_problems(prepare_predictions(table, "y"))[0].message
    "These scores rank the classes in reverse: AUC 0 [0, 0.101]. These scores seem to be for class '0'."
    """
    draws = class_draws(Rows(data.y, weight=data.weight, cluster=data.cluster))
    if draws is None:
        return []
    if data.weight is None and _is_grouped(data):
        return [_without_counts(str(column)) for column in data.X.columns]
    found = []
    for column, area in zip(
        data.X.columns, auc(data.X.to_numpy(dtype=float), data.y, data.weight), strict=True
    ):
        interval = auc_interval(float(area), *draws)
        if interval[0] <= 0.5:
            found.append(_ranks(data, str(column), float(area), interval))
    return found


def _is_grouped(data: Dataset) -> bool:
    """Whether rows are those of a GROUP BY of scores and label: no two alike, and most scores once in each class.

    Such lines rank the classes no better than chance whatever the scores are worth, unless they are counted.
    """
    if data.n < FEW_LINES or 2 * repeats(data.X).sum() <= GROUPED * data.n:
        return False
    return not any(repeats(data.X[data.y == label]).any() for label in (0, 1))


def _without_counts(column: str) -> Problem:
    return Problem(
        "warning",
        column,
        "Most scores occur once in each class, as in a table of counts. If this is such "
        "a table, the scores cannot be evaluated without the counts.",
        "On the Data page, choose the column of counts under “Weight or count”.",
    )


def scale_problems(data: Dataset) -> list[Problem]:
    """Report score columns that may be percentages and would not be treated as probabilities.

    >>> table = pd.DataFrame({"y": [0, 1, 1], "p": [2.5, 70.0, 99.0]})
    >>> scale_problems(prepare_predictions(table, "y"))[0].remedy
    'If they are percentages, divide them by 100.'
    """
    return [
        Problem(
            "warning",
            str(column),
            f"Scores from {number(low)} to {number(high)} are not treated as probabilities, which must be between 0 "
            "and 1.",
            "If they are percentages, divide them by 100.",
        )
        for column, low, high in zip(data.X.columns, data.X.min(), data.X.max(), strict=True)
        if low >= 0 and high <= 100 and high > 50
    ]


def _ranks(data: Dataset, column: str, area: float, interval: tuple[float, float]) -> Problem:
    """The warning about scores whose AUC does not exceed one half for sure."""
    negative, positive = data.classes
    result = f"AUC {number(area)} [{number(interval[0])}, {number(interval[1])}]"
    # "not a" stands for several labels, none of which could be chosen.
    switch = {"positive": negative} if area < 0.5 and negative != f"not {positive}" else None
    action = f"Make {negative!r} the positive class" if switch else ""
    scores = data.X[column]
    if scores.min() == scores.max():
        message = f"Every row has the same score, {number(float(scores.iloc[0]))}, so these scores cannot rank rows."
        remedy = "Check that you chose the right score column."
        switch, action = None, ""
    elif interval[1] < 0.5:
        message = f"These scores rank the classes in reverse: {result}. These scores seem to be for class {negative!r}."
        remedy = f"The positive class is {positive!r}: choose the class that these scores predict."
    else:
        backwards = ", or even in reverse" if area < 0.5 else ""
        message = f"These scores rank the classes no better than chance{backwards}: {result}."
        remedy = f"Check that they are scores for class {positive!r}, and that each score is in the row of its label."
    return Problem("warning", column, message, remedy, switch, action)


def _scores(frame: pd.DataFrame, column: str, target: str) -> np.ndarray:
    if column not in frame.columns or column == target:
        raise DataError(f"There is no score column {column!r}.", f"Choose one of {', '.join(frame.columns)}.")
    if not is_number(frame[column]):
        raise DataError(
            f"Score column {column!r} contains values that are not numbers.",
            "Correct them, or choose another column.",
        )
    return as_float(frame[column])

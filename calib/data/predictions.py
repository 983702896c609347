"""Predictions made elsewhere: a label and one or more score columns, no model needed."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from calib.data.columns import as_float, identifier_name, inspect, is_number
from calib.data.errors import DataError
from calib.data.target import Classes, choose_classes, class_counts, guess_target, labels
from calib.data.typed import typed_frame
from calib.kernel.records import Dataset
from calib.kernel.wording import counted, row_numbers

MOST_SCORES = 20  # columns of a table that can still be a label and scores
SCORE_NAME = re.compile(
    r"(?i)(^|[_\W\d])(p|phat|prob\w*|score\w*|pred\w*|margin|logit|decision|conf\w*|risk|y_?(prob|hat|score))($|[_\W\d])"
)


def score_columns(frame: pd.DataFrame, target: str) -> list[str]:
    """The columns that can be scores: numbers that differ, but for the label and what names rows."""
    return _score_columns(typed_frame(frame), str(target))


def _score_columns(typed: pd.DataFrame, target: str) -> list[str]:
    return [
        name
        for name in typed.columns
        if name != target and inspect(typed[name], name).kind == "number" and not identifier_name(name)
    ]


def looks_like_predictions(frame: pd.DataFrame) -> bool:
    """Whether a table is a label with scores rather than cases to learn from: few columns, all but the label scores.

    >>> looks_like_predictions(pd.DataFrame({"y": [0, 1, 1], "p_forest": [0.2, 0.7, 0.9]}))
    True
    """
    target = guess_target(frame)
    if target is None or frame.shape[1] > MOST_SCORES:
        return False
    typed = typed_frame(frame)
    scores = _score_columns(typed, target)
    others = [name for name in typed.columns if name != target and inspect(typed[name], name).kind != "identifier"]
    if not scores or scores != others:
        return False
    probabilities = [name for name in scores if _in_unit_interval(typed[name])]
    return all(SCORE_NAME.search(name) for name in scores) or (len(scores) <= 3 and len(probabilities) >= 1)


def _in_unit_interval(column: pd.Series) -> bool:
    values = as_float(column)
    values = values[np.isfinite(values)]
    return bool(values.size and values.min() >= 0 and values.max() <= 1 and (values != np.floor(values)).any())


def prepare_predictions(
    frame: pd.DataFrame,
    target: str,
    positive: object = None,
    scores: Sequence[str] | None = None,
    name: str | None = None,
) -> Dataset:
    """A Dataset whose X (n, k) holds the score columns as float64, ready for calibration without a model.

    positive : None chooses the class that the scores grow with (a score is a number that grows with the belief in
        class 1); where they say nothing, the rarer class.

    scores : the score columns; None takes every column of numbers

    Rows without a label or with a score that is missing or infinite are left out, and named in ``notes``.

    >>> prepare_predictions(pd.DataFrame({"y": ["n", "p", "p"], "s": [0.1, 0.9, 0.8]}), "y").classes
    ('n', 'p')
    """
    typed = typed_frame(frame)
    target = str(target)
    text = labels(frame, target)
    counts = class_counts(frame, target)
    classes = choose_classes(counts, positive)
    chosen = _score_columns(typed, target) if scores is None else [str(score) for score in scores]
    if not chosen:
        raise DataError("No column of scores was found.", "Add a column with a probability or score for each row.")
    values = np.column_stack([_scores(typed, column, target) for column in chosen])
    labelled, finite = text.notna().to_numpy(), np.isfinite(values)
    rows = labelled & finite.all(axis=1)
    if not rows.any():
        raise DataError("No row has both a label and finite scores.", "Fill in the labels and scores.")
    if positive is None and len(counts) == 2:
        classes = _by_direction(classes, counts, values[rows], text[rows])
    notes = [classes.note]
    if not labelled.all():
        notes.append(
            f"Left out for want of a label: {counted(int((~labelled).sum()), 'row')} ({row_numbers(~labelled)})."
        )
    for column, good in zip(chosen, finite.T, strict=True):
        if not good.all():
            said = f"{counted(int((~good).sum()), 'row')} ({row_numbers(~good)})"
            notes.append(f"Left out because {column!r} is missing or infinite: {said}.")
    unused = [column for column in typed.columns if column != target and column not in chosen]
    if unused:
        notes.append(f"Not used: {', '.join(unused)}.")
    y = (text[rows] == classes.positive).to_numpy().astype(np.intp)
    X = pd.DataFrame(values[rows], columns=chosen, index=np.flatnonzero(rows))
    title = name or str(frame.attrs.get("name", "predictions"))
    return Dataset(name=title, X=X, y=y, classes=classes.names, notes=tuple(notes), predictions=True)


def _scores(frame: pd.DataFrame, column: str, target: str) -> np.ndarray:
    if column not in frame.columns or column == target:
        raise DataError(f"There is no score column {column!r}.", f"Choose among {', '.join(frame.columns)}.")
    if not is_number(frame[column]):
        raise DataError(f"Score column {column!r} does not hold numbers only.", "Correct it or choose another column.")
    return as_float(frame[column])


def _by_direction(classes: Classes, counts: Mapping[str, int], scores: np.ndarray, text: pd.Series) -> Classes:
    """The class that most score columns grow with, by the area under the curve; the rarer one where they are silent."""
    y = (text == classes.positive).to_numpy()
    n1, n0 = int(y.sum()), int((~y).sum())
    if n1 == 0 or n0 == 0:
        return classes
    auc = (rankdata(scores, axis=0)[y].sum(axis=0) - n1 * (n1 + 1) / 2) / (n1 * n0)
    if np.median(auc) >= 0.5:
        return classes
    other = choose_classes(counts, classes.names[0])
    note = f"Positive class: {other.positive!r}, because the scores grow with it ({counts[other.positive]} rows)."
    return dataclasses.replace(other, note=note)

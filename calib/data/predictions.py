"""Predictions made elsewhere: a label and one or more score columns, no model needed."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from calib.data.columns import as_float, identifier_name, inspect, typed_frame
from calib.data.errors import DataError
from calib.data.target import Classes, choose_classes, class_counts, guess_target, labels
from calib.records import Dataset

SCORE_NAME = re.compile(
    r"(^|[_\W\d])(p|prob\w*|proba|score\w*|pred\w*|margin|logit|decision|conf\w*|y_?(pred|prob|hat|score)|phat|likelihood|risk)($|[_\W\d])",
    re.I,
)


def score_columns(frame: pd.DataFrame, target: str) -> list[str]:
    """The columns that can be scores: numbers that differ, but for the label and what names rows."""
    typed = typed_frame(frame)
    return [
        name
        for name in typed.columns
        if name != str(target) and inspect(typed[name], name).kind == "number" and not identifier_name(name)
    ]


def looks_like_predictions(frame: pd.DataFrame) -> bool:
    """Whether a table is a label with scores rather than cases to learn from: few columns, all but the label scores.

    >>> looks_like_predictions(pd.DataFrame({"y": [0, 1, 1], "p_forest": [0.2, 0.7, 0.9]}))
    True
    """
    target = guess_target(frame)
    if target is None:
        return False
    typed = typed_frame(frame)
    others = [name for name in typed.columns if name != target and inspect(typed[name], name).kind != "identifier"]
    scores = score_columns(frame, target)
    if not scores or len(scores) < len(others):
        return False
    named = all(SCORE_NAME.search(name) for name in scores)
    return named or (all(_in_unit_interval(typed[name]) for name in scores) and len(scores) <= 3)


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
    text = labels(frame, target)
    counts = class_counts(frame, target)
    classes = choose_classes(counts, positive)
    chosen = score_columns(frame, target) if scores is None else [str(score) for score in scores]
    if not chosen:
        raise DataError("No column of scores was found. Add a column with a probability or score for each row.")
    values = np.column_stack([_scores(typed, column, str(target)) for column in chosen])
    labelled, finite = text.notna().to_numpy(), np.isfinite(values)
    rows = labelled & finite.all(axis=1)
    if not rows.any():
        raise DataError("No row has both a label and finite scores. Fill in the labels and scores.")
    note = classes.note
    if positive is None and len(counts) == 2:
        classes, note = _by_direction(classes, counts, values[rows], text[rows])
    notes = [note]
    if not labelled.all():
        notes.append(f"{int((~labelled).sum()):,} rows without a label are left out: {_rows(~labelled)}.")
    for column, good in zip(chosen, finite.T, strict=True):
        if not good.all():
            notes.append(f"{int((~good).sum()):,} rows without a finite {column!r} are left out: {_rows(~good)}.")
    unused = [column for column in typed.columns if column != str(target) and column not in chosen]
    if unused:
        notes.append(f"Not used: {', '.join(unused)}.")
    y = (text[rows] == classes.positive).to_numpy().astype(np.intp)
    X = pd.DataFrame(values[rows], columns=chosen, index=np.flatnonzero(rows))
    title = name or str(frame.attrs.get("name", "predictions"))
    return Dataset(name=title, X=X, y=y, classes=classes.names, notes=tuple(notes), predictions=True)


def _scores(frame: pd.DataFrame, column: str, target: str) -> np.ndarray:
    if column not in frame.columns or column == target:
        raise DataError(f"There is no score column {column!r}. Choose among {', '.join(frame.columns)}.")
    if not pd.api.types.is_numeric_dtype(frame[column].dtype):
        raise DataError(f"Score column {column!r} does not hold numbers only. Correct it or choose another column.")
    return as_float(frame[column])


def _by_direction(classes: Classes, counts: dict[str, int], scores: np.ndarray, text: pd.Series) -> tuple[Classes, str]:
    """The class that most score columns grow with, by AUC."""
    y = (text == classes.positive).to_numpy()
    if y.all() or not y.any():
        return classes, classes.note
    ranks = rankdata(scores, axis=0)[y].sum(axis=0)
    auc = (ranks - y.sum() * (y.sum() + 1) / 2) / (y.sum() * (~y).sum())
    if np.median(auc) >= 0.5:
        return classes, classes.note
    other = choose_classes(counts, classes.names[0])
    note = f"Positive class: {other.positive!r}, because the scores grow with it ({counts[other.positive]} rows)."
    return other, note


def _rows(wrong: np.ndarray, most: int = 10) -> str:
    where = np.flatnonzero(wrong) + 1
    return ", ".join(map(str, where[:most])) + (" …" if len(where) > most else "")

"""Read existing predictions: a label and one or more score columns, without a model.

The class of the scores never depends on how well they agree with the labels. A person states it, columns are named
after it (``p_yes``), predicted classes beside a column show it, or it is positive by convention (1 of 0 and 1).
Otherwise a ``ReadingQuestion`` is raised, also if a convention decided but the scores rank the classes in reverse.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from calib.data.column_types import typed_frame
from calib.data.columns import events_and_trials
from calib.data.errors import DataError
from calib.data.join import both_files_phrase
from calib.data.label import UNLABELLED, Labels, coded_labels
from calib.data.label_meaning import Counted, ask_about_labels, ask_about_shares, counted_events, shares_of
from calib.data.roles import RoleColumns, read_roles, weight_note
from calib.data.score_columns import tables_of, with_columns
from calib.data.score_problems import ask_if_reversed, ranking_problems
from calib.data.score_reading import Given, Scores, Stated, read_scores
from calib.data.table import reading_of
from calib.kernel.cache import share
from calib.kernel.progress import Watch
from calib.kernel.records import Dataset


def prepare_predictions(
    frame: pd.DataFrame,
    target: str,
    positive: object = None,
    scores: Sequence[str] | None = None,
    name: str | None = None,
    roles: Mapping[str, str | None] | None = None,
    weight_as: str | None = None,
    drop_repeated: bool = False,
    scores_as: str | None = None,
    labels_as: str | None = None,
    predicted: str | None = None,
    trials: str | None = None,
    wrong_scores: str | None = None,
    watch: Watch | None = None,
) -> Dataset:
    """Prepare a Dataset whose X (n, k) contains the score columns as float64, for calibration without a model.

    Rows without a label or with a missing or infinite score are excluded. ``notes`` report these rows, and ``read_as``
    says what each column is.

    If three or more classes have one column each, X holds the probabilities of all classes (``columns``).

    Parameters
    ----------
    positive
        Positive class. None takes all classes together if each has a column; else the class that the score columns
        are named after (``p_yes``), else the one that is positive by convention (1 of 0 and 1, yes of no and yes …).
    scores
        Score columns; None takes ``score_columns``. If a class was chosen among one column per class, only the column
        of this class is used.
    roles
        weight, time, cluster and part → the column with this role, which is then not a score.
    weight_as
        Meaning of whole weights, as in ``read_roles``.
    drop_repeated
        Whether to exclude rows that repeat an earlier row in every column.
    scores_as
        Meaning of the scores, a key of ``SCORES_AS``; None decides by names and values.
    labels_as
        Meaning of the labels, a key of ``LABELS_AS``; None asks if they may be something else than classes.
    predicted
        Column of predicted classes, of which the scores may be the confidence.
    trials
        Column with the number of trials, if the label column counts events.
    wrong_scores
        "exclude" leaves out rows whose scores are not probabilities although most others are.
    watch
        Reports each step and can cancel.

    Raises
    ------
    ReadingQuestion
        If neither a name nor a convention says how the table is to be read; with possible answers.
    DataError
        If no Dataset can be made.

    Examples
    --------
    >>> table = pd.DataFrame({"y": [1, 0, 1, 1], "s": [0.1, 0.9, 0.2, 0.8]})
    >>> prepare_predictions(table, "y").classes, prepare_predictions(table.rename(columns={"s": "p_0"}), "y").classes
    (('0', '1'), ('1', '0'))
    >>> print(prepare_predictions(table, "y").read_as)
    's' is read as the probability of '1', by convention. The label is 'y'.
    >>> three = pd.DataFrame({"y": ["a", "b", "c"], "p_a": [0.7, 0.2, 0], "p_b": [0.2, 0.8, 0], "p_c": [0.1, 0, 1]})
    >>> prepare_predictions(three, "y").columns
    {'predictions': ('p_a', 'p_b', 'p_c')}
    """
    watch = watch or Watch()
    watch.step(0.0, "the labels")
    typed, target = typed_frame(frame), str(target)
    stated = Stated(
        positive, tuple(map(str, scores or ())), scores_as, labels_as, predicted, trials, wrong_scores
    )
    label, lines, counting = _labels(frame, typed, target, stated)
    known = read_roles(typed, roles or {}, target, reading_of(frame).notes, weight_as)
    if lines is not None and known.counts:
        raise DataError(
            "weight: this table already has counts of events and trials.",
            "Remove the role “Weight or count” from the column.",
        )
    counts = known.per_class(label) if lines is None else lines.counts
    taken = {*map(str, (roles or {}).values()), *counting}
    watch.step(0.2, "the scores")
    others = typed.drop(columns=[name for name in typed if name in taken])
    found = read_scores(Given(others, target, label, counts, stated, both_files_phrase(frame)))
    reasons = {UNLABELLED: ~label.there} | {why: ~there for why, there in found.missing.items()}
    rows, left_out = known.used(typed, reasons, drop_repeated)
    del reasons
    if not rows.any():
        raise DataError("No row has both a label and finite scores.", "Fill in missing labels and scores.")
    watch.step(0.5, "the rows")
    used = {*found.values, *taken, *([found.beside] if found.beside else [])}
    notes = [*([lines.note] if lines else []), *found.notes, *left_out, *_unused(typed, target, used)]
    data = Dataset(
        name=name or reading_of(frame).name or "predictions",
        X=found.table(rows),
        y=(label.are(found.classes.positive) if found.right is None else found.right)[rows].astype(np.intp),
        classes=found.classes.names,
        predictions=True,
        read=len(frame),
        left_out=left_out,
        unlabelled=known.unlabelled(label.there),
        **found.of_all_classes(label, rows),
        **_without_label(found, known.rows & found.scored & ~label.there, known),
        **known.of(rows),
    )
    classes, why, reading = found.classes, found.why, found.reading(target, tuple(counts))
    if lines is not None:
        data = lines.on(data, rows)
    total = known.total_weight(rows)
    del label, known, found, rows  # free arrays as long as the table
    notes += weight_note((roles or {}).get("weight"), data.weight, data.n, total) if lines is None else []
    watch.step(0.7, "how the scores rank the classes")
    if why == "convention" and positive is None:
        ask_if_reversed(data)
    notes += [f"{problem.column}: {problem.message}" for problem in ranking_problems(data)]
    told = dataclasses.replace(data, notes=(classes.note, *notes), read_as=reading)
    share(data, told)
    return told


def _labels(
    frame: pd.DataFrame, typed: pd.DataFrame, target: str, stated: Stated
) -> tuple[Labels, Counted | None, tuple[str, ...]]:
    """Return the labels; lines that stand for several rows, if the table has such; and the column of trials, if any."""
    pair = (target, stated.trials) if stated.trials else None
    if pair is None and stated.labels_as is None and target in typed:
        pair = events_and_trials(typed, target)
    if pair is not None:
        lines = counted_events(typed, *pair)
        return lines.labels, lines, pair[1:]
    label = coded_labels(frame, target)
    if ask_about_shares(target, label.counts, stated.labels_as):
        lines = shares_of(target, label.codes, label.texts)
        return lines.labels, lines, ()
    ask_about_labels(target, label.counts, stated.labels_as, with_columns(typed, target, label))
    return label, None, ()


def refuse_merged(frame: pd.DataFrame, target: str, scores: Collection[str] = ()) -> None:
    """Refuse to merge labels of a table in which every class has its own column."""
    labels = list(coded_labels(frame, target).counts)
    if tables_of(typed_frame(frame), target, labels, list(scores)) is not None:
        raise DataError(
            "Classes cannot be merged here, because each class has its own column.",
            "Remove data_params.join_labels, or add up the columns of these classes in the file.",
        )


def _unused(typed: pd.DataFrame, target: str, used: Collection[str]) -> list[str]:
    unused = [column for column in typed.columns if column != target and column not in used]
    return [f"Not used as scores: {', '.join(unused)}."] if unused else []


def _without_label(found: Scores, rows: np.ndarray, known: RoleColumns) -> dict[str, Any]:
    """Return the Dataset fields of the unlabelled rows, bool (n,): their scores and times."""
    if not rows.any():
        return {}
    return {"unlabelled_scores": found.table(rows), "unlabelled_time": known.of(rows).get("time")}

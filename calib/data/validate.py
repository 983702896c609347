"""Validate a table before it is used: a list of Problems, each with a remedy."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from calib.data.class_tables import columns_in_words
from calib.data.column_types import typed_frame
from calib.data.columns import BEYOND, Column, events_and_trials, inspect
from calib.data.duplicates import FLATTER, repeats
from calib.data.errors import DataError
from calib.data.label import Labels, choose_classes, coded_labels
from calib.data.label_problems import against_the_rest, label_not_chosen, label_problems, problem_of
from calib.data.leakage import leaks, leaks_of_classes
from calib.data.predictions import prepare_predictions
from calib.data.roles import propose_roles, read_roles
from calib.data.score_columns import scores_among_features, tables_of
from calib.data.score_problems import ranking_problems, scale_problems
from calib.data.table import reading_of
from calib.kernel.progress import Watch
from calib.kernel.records import Problem
from calib.kernel.wording import counted, listed, number, quoted

# Kind of a feature → severity, message about the column {0}, whose {1} contain the words {2}, and remedy
PROBLEMS = {
    "empty": ("warning", "All values are missing.", "The column is excluded."),
    "constant": ("warning", "Every row has the same value.", "The column is excluded."),
    "identifier": (
        "warning",
        "The column looks like an identifier: its values identify rows instead of describing them.",
        "The column is excluded. If part of the value is meaningful, put that part into a separate column.",
    ),
    "text": (
        "warning",
        "The column looks like free text: {0.distinct:,} different values.",
        "The column is excluded. Convert the text to numbers or categories.",
    ),
    "date": ("info", "Holds dates.", "Dates are converted to days since 1970, month and weekday."),
    "mixed": (
        "warning",
        "The column mixes numbers and text: {1} without a number ({2}).",
        "These cells are treated as missing. Correct the cells that should be numbers.",
    ),
    "infinite": (
        "warning",
        f"Values that are infinite or beyond ±{BEYOND:g}: {{0.infinite:,}}.",
        "These values are treated as missing. Replace them with the correct numbers, or leave the cells empty.",
    ),
}


def validate(
    frame: pd.DataFrame,
    target: str | None,
    positive: object = None,
    exclude: Collection[str] = (),
    rows_needed: int = 3,
    content: str = "features",
    scores: Collection[str] = (),
    roles: Mapping[str, str | None] | None = None,
    weight_as: str | None = None,
    drop_repeated: bool = False,
    keep: Collection[str] = (),
    watch: Watch | None = None,
    **meanings: str | None,
) -> list[Problem]:
    """List the problems of a table, errors first; return an empty list if there are none.

    Parameters
    ----------
    frame
        Table, as ``read_table`` returns it.
    target, positive
        Label column and positive class, as in ``prepare``.
    exclude
        Columns that are not used; nothing is reported about them.
    rows_needed
        Rows per class that the split needs (training, calibration and test: one each).
    content
        "features", or existing "predictions".
    scores
        Score columns; if empty, they are inferred.
    roles
        weight, time, cluster and part → the column with this role.
    weight_as
        Meaning of whole weights, as in ``read_roles``.
    drop_repeated
        Whether repeated rows are excluded, as in ``prepare``.
    keep
        Identifiers and texts to use nevertheless, as in ``prepare``.
    watch
        Reports each step and can cancel.
    meanings
        What the columns are: scores_as, labels_as, predicted, trials and wrong_scores, as in ``prepare_predictions``.

    Examples
    --------
    >>> [p.severity for p in validate(pd.DataFrame({"x": [1, 2], "y": ["a", "a"]}), "y")]
    ['error']
    """
    watch = watch or Watch()
    watch.step(0.0, "the labels")
    try:
        typed = typed_frame(frame)
    except DataError as error:
        return [problem_of(error)]
    roles, tables, label = roles or {}, None, None
    taken = [name for name in map(str, roles.values()) if name in typed]
    if target is None or str(target) not in typed:
        found = [label_not_chosen(frame, target)]
    else:
        label, labels_as = coded_labels(frame, str(target)), meanings.get("labels_as")
        counts_events = content == "predictions" and (
            meanings.get("trials") or labels_as == "shares" or events_and_trials(typed, str(target))
        )
        if content == "predictions":
            rest, scores_as = typed.drop(columns=taken), meanings.get("scores_as")
            tables = tables_of(rest, str(target), list(label.counts), list(scores), scores_as=scores_as)
        asked = (str(target), label, positive, rows_needed, content, tables, labels_as)
        found = [] if counts_events else list(label_problems(*asked))
    found += _roles(frame, typed, target, roles, weight_as)
    usable = not any(problem.severity == "error" for problem in found)
    known = (
        {} if tables is None else dict.fromkeys(tables.all_columns)
    )  # not inspected: there may be a thousand
    names = [name for name in typed if str(name) not in known]
    inspected = watch.within(0.1, 0.4).loop(names, "the columns")
    columns = {str(name): inspect(typed[name], str(name)) for name in inspected}
    judging = watch.within(0.4, 0.9)
    if content == "predictions":
        options = {"roles": roles, "weight_as": weight_as, "watch": judging, **meanings}
        found.extend(_predictions(frame, str(target), positive, scores, options) if usable else ())
    else:
        judging.step(0.0, "repeated rows and leaks")
        found.extend(
            _features(typed, target, label, positive, (*exclude, *taken), columns, drop_repeated, keep)
        )
    watch.step(0.9, "roles of the columns")
    if usable:
        left_out = set(map(str, exclude))
        held = [column for name, column in columns.items() if name not in left_out]
        found.extend(propose_roles(typed, str(target), roles, content == "features", held, weight_as))
    order = {"error": 0, "warning": 1, "info": 2}
    return sorted(found, key=lambda problem: order[problem.severity])


def _roles(
    frame: pd.DataFrame,
    typed: pd.DataFrame,
    target: str | None,
    roles: Mapping[str, str | None],
    weight_as: str | None,
) -> Iterator[Problem]:
    """Report columns that cannot have their role."""
    try:
        read_roles(typed, roles, str(target), reading_of(frame).notes, weight_as)
    except DataError as error:
        yield problem_of(error)


def _features(
    typed: pd.DataFrame,
    target: str | None,
    label: Labels | None,
    positive: object,
    exclude: Collection[str],
    columns: Mapping[str, Column],
    drop_repeated: bool,
    keep: Collection[str],
) -> Iterator[Problem]:
    left_out = {str(target), *map(str, exclude)}
    for name in sorted(set(map(str, exclude)) - set(typed.columns)):
        message = f"Column {name!r} was not found, so it cannot be excluded."
        yield Problem("error", None, message, "Remove the name from the list.")
    features = [column for name, column in columns.items() if name not in left_out]
    kept = {column.name for column in features if column.name in keep and column.kind != "empty"}
    for column in features:
        yield from () if column.name in kept and not column.usable else _feature(column)
    if not kept and not any(column.usable for column in features):
        remedy = "Choose a table with more columns, or exclude fewer."
        yield Problem("error", None, "No usable feature is left.", remedy)
    if not drop_repeated:
        yield from _duplicates(typed, columns)
    if label is not None:
        yield from _leaks(typed, label, positive, features)
        made = [name for name in scores_among_features(typed, str(target)) if name not in left_out]
        if made:
            those = f"{counted(len(made), 'column')} with values from 0 to 1"
            message = f"{those} and names like those of predictions. A model would use them as features."
            remedy = "Evaluate these columns as existing predictions, or exclude them."
            button = {"content": "predictions"}, "Evaluate as predictions"
            yield Problem("warning", listed(made), message, remedy, *button)


def _leaks(typed: pd.DataFrame, label: Labels, positive: object, features: list[Column]) -> Iterator[Problem]:
    """Report columns that leak the label."""
    try:
        classes = choose_classes(label.counts, positive, joint=True)
    except DataError:
        return
    there = label.there
    known = typed if there.all() else typed.loc[there]
    find = leaks_of_classes if classes.together else leaks
    y = label.among(classes.together) if classes.together else label.are(classes.positive).astype(np.intp)
    for leak in find(known, y[there], features):
        alone = "Alone separates" if len(leak.columns) == 1 else "Together separate"
        found = f"{alone} {leak.separates} (AUC {number(leak.auc)})"
        message = f"{found}, so the values may have been recorded after the outcome."
        remedy = "Exclude the column, unless its values are known before the outcome."
        yield Problem("warning", listed(leak.columns), message, remedy, {"exclude": leak.columns}, "Exclude")


def _predictions(
    frame: pd.DataFrame, target: str, positive: object, scores: Collection[str], options: Mapping[str, Any]
) -> Iterator[Problem]:
    """Report which columns are scores, and how well they rank the classes."""
    try:
        data = prepare_predictions(frame, target, positive, list(scores) or None, **options)
    except DataError as error:
        yield problem_of(error)
        return
    taken = {target, *data.X.columns, *options["roles"].values()}
    others = [str(name) for name in frame.columns if str(name) not in taken]
    what = f"the probabilities of {len(data.names):,} classes" if data.joint else "existing predictions"
    message = f"These columns are {what}, so no model is trained."
    message += f" Not used as scores: {listed(others, 12)}." if others else ""
    remedy = "To train a model, use these columns as features."
    named = list(data.X.columns)
    if data.joint:
        named = [columns_in_words(columns).replace("'", "") for columns in data.columns.values()]
    yield Problem("info", listed(named), message, remedy, {"content": "features"}, "Use as features")
    counts = coded_labels(frame, target).counts
    if len(counts) > 2 and positive is None and not data.joint and data.classes[0].startswith("not "):
        yield against_the_rest(target, counts, data.classes[1], single=True)
    yield from scale_problems(data)
    yield from ranking_problems(data)


def _feature(column: Column) -> Iterator[Problem]:
    strays = column.strays or {}
    for kind in (column.kind, "infinite" if column.infinite else ""):
        if kind in PROBLEMS:
            severity, message, remedy = PROBLEMS[kind]
            rows, cells = counted(sum(strays.values()), "row"), quoted(list(strays), 3)
            yield Problem(severity, column.name, message.format(column, rows, cells), remedy)


def _duplicates(frame: pd.DataFrame, columns: Mapping[str, Column]) -> Iterator[Problem]:
    unlike = any(column.distinct == len(frame) for column in columns.values())
    repeated = 0 if unlike else int(repeats(frame).sum())
    if repeated:
        message = f"{repeated:,} of {len(frame):,} rows are exact copies of an earlier row."
        remedy = f"{FLATTER} Remove these copies, unless they represent different cases."
        fix = {"data_params": {"drop_repeated": True}}
        yield Problem("warning", None, message, remedy, fix, "Remove repeated rows")

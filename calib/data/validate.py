"""What a person should know of a table before trusting what is made of it: a list of Problems, each with its remedy."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from calib.data.about import about
from calib.data.column_types import typed_frame
from calib.data.columns import BEYOND, Column, inspect
from calib.data.errors import DataError
from calib.data.leakage import leaks, leaks_of_classes
from calib.data.predictions import (
    prepare_predictions,
    ranking_problems,
    scale_problems,
    scores_among_features,
)
from calib.data.repeats import FLATTER, repeats
from calib.data.roles import propose_roles, read_roles
from calib.data.target import (
    MOST_PREDICTED,
    MOST_TRAINED,
    choose_classes,
    coded_labels,
    guess_target,
    name_of_others,
    not_known,
    spelt_alike,
    target_candidates,
)
from calib.kernel.records import Problem
from calib.kernel.wording import counted, listed, number, quoted

COMFORTABLE = 30  # rows of a class below which a diagram is mostly noise
ALL_CLASSES = ({"positive": None}, "All classes together")
FEWEST = 10  # rows of one class of several below which nothing can be said of it


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
) -> list[Problem]:
    """List the problems of a table, errors first; an empty list if nothing stands out.

    Parameters
    ----------
    frame
        As ``read_table`` gives it.
    target, positive
        The label column and the positive class, as for ``prepare``.
    exclude
        Columns that will not be used, about which nothing is reported.
    rows_needed
        Rows each class needs for the split asked for (training, calibration and test: one each).
    content
        "features", or existing "predictions".
    scores
        Their columns, found out if there are none.
    roles
        weight, time, cluster and part → the column that holds it.
    weight_as
        What a weight column of whole numbers holds, as for ``read_roles``.
    drop_repeated
        Whether repeated rows are left out, as for ``prepare``.
    keep
        Identifiers and texts that are used all the same, as for ``prepare``.

    Examples
    --------
    >>> [p.severity for p in validate(pd.DataFrame({"x": [1, 2], "y": ["a", "a"]}), "y")]
    ['error']
    """
    try:
        typed = typed_frame(frame)
    except DataError as error:
        return [Problem("error", None, error.message, error.remedy)]
    roles = roles or {}
    joint = positive is None and content == "features"
    found = [
        *_target(frame, target, positive, rows_needed, joint),
        *_roles(frame, typed, target, roles, weight_as),
    ]
    usable = not any(problem.severity == "error" for problem in found)
    columns = {str(name): inspect(column, str(name)) for name, column in typed.items()}
    if content == "predictions":
        found.extend(_predictions(frame, str(target), positive, scores, roles, weight_as) if usable else ())
    else:
        taken = [name for name in map(str, roles.values()) if name in typed]
        found.extend(
            _features(frame, typed, target, positive, (*exclude, *taken), columns, drop_repeated, keep)
        )
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
    """Columns that cannot have the role they were given."""
    try:
        read_roles(typed, roles, str(target), about(frame).notes, weight_as)
    except DataError as error:
        yield Problem("error", None, error.message, error.remedy)


def _features(
    frame: pd.DataFrame,
    typed: pd.DataFrame,
    target: str | None,
    positive: object,
    exclude: Collection[str],
    columns: Mapping[str, Column],
    drop_repeated: bool,
    keep: Collection[str],
) -> Iterator[Problem]:
    left_out = {str(target), *map(str, exclude)}
    for name in sorted(set(map(str, exclude)) - set(typed.columns)):
        yield Problem(
            "error",
            None,
            f"There is no column {name!r}, so it cannot be excluded.",
            "Remove the name from the list.",
        )
    features = [column for name, column in columns.items() if name not in left_out]
    kept = {column.name for column in features if column.name in keep and column.kind != "empty"}
    for column in features:
        yield from () if column.name in kept and not column.usable else _feature(column)
    if not kept and not any(column.usable for column in features):
        yield Problem(
            "error", None, "No usable feature is left.", "Choose a table with more columns, or exclude fewer."
        )
    if not drop_repeated:
        yield from _duplicates(typed, columns)
    if target is not None and str(target) in typed.columns:
        yield from _leaks(frame, typed, str(target), positive, features)
        made = [name for name in scores_among_features(typed, str(target)) if name not in left_out]
        if made:
            found = f"{counted(len(made), 'column')} from 0 to 1, named like predictions"
            message = f"{found}. A model would use them as features."
            remedy = "Evaluate these columns as existing predictions, or exclude them."
            yield Problem(
                "warning",
                listed(made),
                message,
                remedy,
                {"content": "predictions"},
                "Evaluate as predictions",
            )


def _leaks(
    frame: pd.DataFrame, typed: pd.DataFrame, target: str, positive: object, features: list[Column]
) -> Iterator[Problem]:
    """Columns that give the label away."""
    label = coded_labels(frame, target)
    try:
        classes = choose_classes(label.counts, positive, joint=True)
    except DataError:
        return
    there = label.there
    known = typed if there.all() else typed.loc[there]
    if classes.together:
        found = leaks_of_classes(known, label.among(classes.together)[there], features)
    else:
        found = leaks(known, label.are(classes.positive)[there].astype(np.intp), features)
    for leak in found:
        alone = "Alone separates" if len(leak.columns) == 1 else "Together separate"
        message = (
            f"{alone} {leak.separates} (AUC {number(leak.auc)}), so the values may have been recorded after "
        )
        message += "the outcome."
        remedy = "Exclude this, unless it is known before the outcome."
        yield Problem("warning", listed(leak.columns), message, remedy, {"exclude": leak.columns}, "Exclude")


def _predictions(
    frame: pd.DataFrame,
    target: str,
    positive: object,
    scores: Collection[str],
    roles: Mapping[str, str | None],
    weight_as: str | None,
) -> Iterator[Problem]:
    """Report which columns are scores, and how well they rank the classes."""
    try:
        data = prepare_predictions(
            frame, target, positive, list(scores) or None, roles=roles, weight_as=weight_as
        )
    except DataError as error:
        yield Problem("error", None, error.message, error.remedy)
        return
    taken = (target, *data.X.columns, *roles.values())
    others = [str(name) for name in frame.columns if str(name) not in taken]
    message = "These columns are existing predictions, so no model is trained; "
    message += f"{data.classes[1]!r} is the positive class." + (
        f" Not used as scores: {listed(others)}." if others else ""
    )
    remedy = "To train a model, use these columns as features."
    yield Problem(
        "info", listed(list(data.X.columns)), message, remedy, {"content": "features"}, "Use as features"
    )
    yield from scale_problems(data)
    yield from ranking_problems(data)


def _target(
    frame: pd.DataFrame, target: str | None, positive: object, rows_needed: int, joint: bool
) -> Iterator[Problem]:
    if target is None or str(target) not in map(str, frame.columns):
        guess = guess_target(frame)
        likely = [guess] if guess else target_candidates(frame)
        hint = f"Choose the column that holds the label{f', perhaps {quoted(likely)}' if likely else ''}."
        message = (
            "You have not chosen a label column."
            if target is None
            else f"There is no column {str(target)!r}."
        )
        yield Problem("error", None, message, hint)
        return
    target = str(target)
    label = coded_labels(frame, target)
    missing, counts = int((~label.there).sum()), label.counts
    if missing:
        message = f"{missing:,} of {len(frame):,} rows have no label."
        yield Problem("warning", target, message, "They are excluded. Fill in the label to use these rows.")
    try:
        classes = choose_classes(counts, positive, joint=joint)
    except DataError as error:
        yield Problem("error", target, error.message, error.remedy)
        if joint and 2 < len(counts) <= MOST_PREDICTED:
            yield from _small_classes(target, counts, MOST_TRAINED)
        return
    yield from (spelling := list(_spelling(target, counts)))
    if classes.together:
        message = (
            f"The label has {len(counts)} classes ({quoted(list(counts))}), which are predicted together."
        )
        remedy = "To predict one class against the rest, choose it as the positive class."
        if len(counts) - len(spelt_alike(counts)) > 2:
            yield Problem("info", target, message, remedy)
        if sorted(counts.values())[-2] < rows_needed:
            message = f"Only one class has {counted(rows_needed, 'row')}, which the split needs of two."
            yield Problem("error", target, message, "Add rows, or choose a split into fewer parts.")
        # Spellings of one label are not classes
        yield from () if spelling else _small_classes(target, counts, len(counts))
        return
    if len(counts) - len(spelt_alike(counts)) > 2:
        message = f"The label has {len(counts)} classes ({quoted(list(counts))}); {classes.positive!r} is predicted "
        remedy = "To predict all classes together, choose no positive class."
        yield Problem("info", target, f"{message}against the others.", remedy, *ALL_CLASSES)
    inside = counts[classes.positive]
    for name, rows in zip(classes.names, (sum(counts.values()) - inside, inside), strict=True):
        if rows < rows_needed:
            message = f"Class {name!r} has {counted(rows, 'row')}; the split needs {rows_needed}."
            yield Problem(
                "error", target, message, "Add rows of this class, or choose a split into fewer parts."
            )
        elif rows < COMFORTABLE:
            message = f"Class {name!r} has only {rows} rows, so every estimate is uncertain."
            remedy = "Pay attention to bands and intervals, or use cross-validation."
            yield Problem("warning", target, message, remedy)


def _small_classes(target: str, counts: Mapping[str, int], most: int) -> Iterator[Problem]:
    """Classes of several with hardly any rows; ``most`` is how many classes there may be once they are gone."""
    few = {name: rows for name, rows in counts.items() if rows < FEWEST}
    if few:
        message = f"{_some(few, counts)} fewer than {FEWEST} rows: {_with_rows(few)}."
        remedy = "These rows are too few to calibrate and evaluate a class. Exclude or merge small classes."
        found = Problem("warning", target, message, remedy)
        remedies = list(_remedies(few, counts, most))
        if remedies:
            found = replace(found, fix=remedies[0][0], action=remedies[0][1], also=tuple(remedies[1:]))
        yield found
    scarce = {name: rows for name, rows in counts.items() if FEWEST <= rows < COMFORTABLE}
    if scarce:
        message = f"{_some(scarce, counts)} fewer than {COMFORTABLE} rows: {_with_rows(scarce)}."
        remedy = "Estimates for such a class are uncertain. Pay attention to bands and intervals."
        yield Problem("warning", target, message, remedy)


def _remedies(few: Mapping[str, int], counts: Mapping[str, int], most: int) -> Iterator[tuple[Any, str]]:
    """Excluding small classes, and merging them: with the next larger ones, until all have rows enough."""
    if 2 <= len(counts) - len(few) <= most:
        yield {"data_params": {"drop_labels": tuple(few)}}, "Exclude small classes"
    merged: list[str] = []
    for name in sorted(counts, key=lambda name: counts[name]):
        if len(merged) >= max(2, len(few)) and sum(counts[each] for each in merged) >= FEWEST:
            break
        merged.append(name)
    one = name_of_others(counts)
    merged = [name for name in merged if name != one]
    left = len(counts) - len(merged) + (one not in counts)
    if 2 <= left <= most:
        action = f"Merge {listed([repr(name) for name in merged], 4)} into {one!r}"
        yield {"data_params": {"join_labels": tuple(merged)}}, action


def _some(few: Mapping[str, int], counts: Mapping[str, int]) -> str:
    return f"{len(few)} of {len(counts)} classes {'has' if len(few) == 1 else 'have'}"


def _with_rows(few: Mapping[str, int]) -> str:
    return listed([f"{name!r} ({rows})" for name, rows in few.items()], 6)


def _spelling(target: str, counts: dict[str, int]) -> Iterator[Problem]:
    """Labels that are one label spelt twice, and labels that are none; what to do about it is for a person to say."""
    other = spelt_alike(counts)
    if other:
        kept = len(counts) - len(other)
        message = f"{len(counts)} labels seem to be spellings of only {kept}: " + ", ".join(
            f"{name!r} = {meant!r}" for name, meant in list(other.items())[:5]
        )
        yield Problem(
            "warning",
            target,
            f"{message}{' …' if len(other) > 5 else ''}.",
            "Merge these labels, or correct the file. Until then, each spelling is a class.",
            {"data_params": {"merge_labels": True}},
            "Merge spellings",
        )
    unknown = not_known({name: rows for name, rows in counts.items() if name not in other})
    none = [name for name in counts if other.get(name, name) in unknown]
    if none:
        rows = sum(counts[name] for name in none)
        yield Problem(
            "warning",
            target,
            f"{quoted(none)} ({counted(rows, 'row')}) may mean that the label is unknown, but now counts as a class.",
            "Exclude these rows, unless the label is a real class.",
            {"data_params": {"drop_labels": tuple(none)}},
            "Exclude these rows",
        )


def _feature(column: Column) -> Iterator[Problem]:
    name = column.name
    match column.kind:
        case "empty":
            yield Problem("warning", name, "All values are missing.", "The column is excluded.")
        case "constant":
            yield Problem("warning", name, "Every row has the same value.", "The column is excluded.")
        case "identifier":
            message = "Looks like an identifier: its values identify rows instead of describing them."
            yield Problem(
                "warning",
                name,
                message,
                "The column is excluded. If part of it has a meaning, put that part into a separate column.",
            )
        case "text":
            message = f"Looks like free text: {column.distinct:,} different values."
            yield Problem(
                "warning", name, message, "The column is excluded. Turn the text into numbers or categories."
            )
        case "date":
            yield Problem("info", name, "Holds dates.", "Dates become days since 1970, month and weekday.")
        case "mixed":
            strays = column.strays or {}
            rows = counted(sum(strays.values()), "row")
            message = f"Numbers and text are mixed: {rows} without a number ({quoted(list(strays), 3)})."
            remedy = "These cells count as missing. Correct the cells that should be numbers."
            yield Problem("warning", name, message, remedy)
    if column.infinite:
        message = f"Values that are infinite or beyond ±{BEYOND:g}: {column.infinite:,}."
        yield Problem(
            "warning",
            name,
            message,
            "These values count as missing. Replace them with the correct numbers, or leave the cells empty.",
        )


def _duplicates(frame: pd.DataFrame, columns: Mapping[str, Column]) -> Iterator[Problem]:
    unlike = any(column.distinct == len(frame) for column in columns.values())
    repeated = 0 if unlike else int(repeats(frame).sum())
    if repeated:
        message = f"{repeated:,} of {len(frame):,} rows repeat an earlier row exactly."
        remedy = f"{FLATTER} Remove repeated rows, unless they are different cases."
        fix = {"data_params": {"drop_repeated": True}}
        yield Problem("warning", None, message, remedy, fix, "Remove repeated rows")

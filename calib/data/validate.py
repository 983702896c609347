"""What a person should know of a table before trusting what is made of it: a list of Problems, each with its remedy."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pandas as pd

from calib.data.columns import Column, inspect
from calib.data.errors import DataError
from calib.data.target import choose_classes, class_counts, guess_target, labels
from calib.data.typed import typed_frame
from calib.kernel.records import Problem
from calib.kernel.wording import counted, quoted

COMFORTABLE = 30  # rows of a class below which a diagram is mostly noise


def validate(
    frame: pd.DataFrame,
    target: str | None,
    positive: object = None,
    exclude: Collection[str] = (),
    rows_needed: int = 3,
) -> list[Problem]:
    """Problems of a table, errors first. An empty list: nothing stands out.

    exclude : columns that will not be used, about which nothing is said
    rows_needed : rows each class needs for the split asked for (training, calibration and test: one each)

    >>> [p.severity for p in validate(pd.DataFrame({"x": [1, 2], "y": ["a", "a"]}), "y")]
    ['error']
    """
    try:
        typed = typed_frame(frame)
    except DataError as error:
        return [Problem("error", None, error.message, error.remedy)]
    found = [*_target(frame, target, positive, rows_needed)]
    left_out = {str(target), *map(str, exclude)}
    for name in sorted(set(map(str, exclude)) - set(typed.columns)):
        found.append(Problem("error", None, f"There is no column {name!r} to leave out.", "Take it off the list."))
    features = [inspect(typed[name], name) for name in typed.columns if name not in left_out]
    for column in features:
        found.extend(_feature(column))
    if not any(column.usable for column in features):
        found.append(Problem("error", None, "No column is left to learn from.", "Bring a table with more columns."))
    found.extend(_duplicates(typed))
    order = {"error": 0, "warning": 1, "info": 2}
    return sorted(found, key=lambda problem: order[problem.severity])


def _target(frame: pd.DataFrame, target: str | None, positive: object, rows_needed: int) -> Iterator[Problem]:
    if target is None or str(target) not in map(str, frame.columns):
        guess = guess_target(frame)
        hint = f"Choose the column that holds the label{f', perhaps {guess!r}' if guess else ''}."
        said = "No label column is chosen." if target is None else f"There is no column {str(target)!r}."
        yield Problem("error", None, said, hint)
        return
    target = str(target)
    missing = int(labels(frame, target).isna().sum())
    if missing:
        said = f"{missing:,} of {len(frame):,} rows have no label."
        yield Problem("warning", target, said, "They are left out. Fill in the label to use them.")
    counts = class_counts(frame, target)
    try:
        classes = choose_classes(counts, positive)
    except DataError as error:
        yield Problem("error", target, error.message, error.remedy)
        return
    if len(counts) > 2:
        said = f"The label has {len(counts)} classes ({quoted(list(counts))}), and two are needed."
        remedy = "Choose the positive class; it is set against the rest." + (
            f" Without a choice it is the rarest, {classes.positive!r}." if positive is None else ""
        )
        yield Problem("warning" if positive is None else "info", target, said, remedy)
    inside = counts[classes.positive]
    for name, rows in zip(classes.names, (sum(counts.values()) - inside, inside), strict=True):
        if rows < rows_needed:
            said = f"Class {name!r} has {counted(rows, 'row')}; the split asked for needs {rows_needed}."
            yield Problem("error", target, said, "Add rows of this class, or choose a split into fewer parts.")
        elif rows < COMFORTABLE:
            said = f"Class {name!r} has only {rows} rows, so that every estimate is uncertain."
            yield Problem("warning", target, said, "Read the bands and intervals, or use cross-validated evaluation.")


def _feature(column: Column) -> Iterator[Problem]:
    name = column.name
    match column.kind:
        case "empty":
            yield Problem("warning", name, "All values are missing.", "The column is left out.")
        case "constant":
            yield Problem("warning", name, "Every row has the same value.", "The column is left out.")
        case "identifier":
            said = "Looks like an identifier: its values name rows instead of describing them."
            yield Problem(
                "warning", name, said, "The column is left out. Give a meaning it may carry a column of its own."
            )
        case "text":
            said = f"Looks like free text: {column.distinct:,} different values."
            yield Problem("warning", name, said, "The column is left out. Turn the text into numbers or categories.")
        case "date":
            yield Problem("info", name, "Holds dates.", "They become days since 1970, month and weekday.")
        case "mixed":
            strays = column.strays or {}
            said = f"Mixed types: among numbers, {sum(strays.values()):,} are none ({quoted(list(strays), 3)})."
            yield Problem("warning", name, said, "They count as missing. Correct in the file those that mean a number.")
    if column.infinite:
        said = f"{counted(column.infinite, 'infinite value')}."
        yield Problem("warning", name, said, "They count as missing. Replace them in the file by what they mean.")


def _duplicates(frame: pd.DataFrame) -> Iterator[Problem]:
    repeated = int(frame.duplicated().sum())
    if repeated:
        said = f"{repeated:,} of {len(frame):,} rows repeat an earlier row exactly."
        remedy = "Copies on both sides of a split flatter the model. Remove them unless they are different cases."
        yield Problem("warning", None, said, remedy)

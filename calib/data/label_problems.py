"""List the problems of a label column: missing labels, spellings, small classes, and which classes are predicted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from calib.data.class_tables import ClassTables
from calib.data.errors import DataError, ReadingQuestion
from calib.data.label import (
    MOST_PREDICTED,
    MOST_TRAINED,
    Classes,
    Labels,
    alternative_spellings,
    choose_classes,
    guess_target,
    name_of_others,
    target_candidates,
)
from calib.data.label_meaning import ask_about_labels
from calib.kernel.records import Problem
from calib.kernel.wording import counted, listed, quoted, short_class

COMFORTABLE = 30  # rows of a class; with fewer, a diagram is mostly noise
FEWEST_OF_LABEL = 10  # rows of one of several classes; with fewer, nothing can be said about it
ALL_CLASSES = ({"positive": None}, "All classes together")


def label_problems(
    target: str,
    label: Labels,
    positive: object = None,
    rows_needed: int = 3,
    content: str = "features",
    tables: ClassTables | None = None,
    labels_as: str | None = None,
) -> Iterator[Problem]:
    """List the problems of a label column.

    Parameters
    ----------
    target, label
        Name and labels of the column.
    positive, rows_needed, content, labels_as
        Arguments of ``validate``.
    tables
        Columns of all classes, if the table contains predictions of them.

    Examples
    --------
    >>> from calib.data.label import coded_labels
    >>> [p.message for p in label_problems("y", coded_labels(pd.DataFrame({"y": ["a", "a"]}), "y"))]
    ["The label column contains only the label 'a', but two classes are needed."]
    """
    predictions = content == "predictions"
    missing, counts = int((~label.there).sum()), label.counts
    if missing:
        message = f"{missing:,} of {len(label.codes):,} rows have no label."
        yield Problem(
            "warning", target, message, "These rows are excluded. Fill in the label to use these rows."
        )
    try:
        ask_about_labels(target, counts, labels_as)
    except ReadingQuestion as question:
        yield from _spelling(target, counts)
        yield problem_of(question, target)
        return
    if predictions and tables is None and positive is None and len(counts) > 2:
        return  # what the scores are decides which classes there are
    joint = positive is None and (not predictions or tables is not None)
    most = MOST_PREDICTED if predictions else MOST_TRAINED
    try:
        classes = choose_classes(
            counts, positive, joint=joint, most=most, confirmed=predictions and tables is not None
        )
    except DataError as error:
        yield Problem("error", target, error.message, error.remedy)
        if joint and 2 < len(counts) <= MOST_PREDICTED:
            yield from _small_classes(target, counts, most)
        return
    yield from (spelling := list(_spelling(target, counts)))
    several = len(counts) - len(alternative_spellings(counts)) > 2
    if not classes.together:
        if several:
            yield against_the_rest(target, counts, classes.positive, predictions and tables is None)
        yield from _few_rows(target, counts, classes, rows_needed)
        return
    if sorted(counts.values())[-2] < rows_needed:
        message = (
            f"Only one class has at least {counted(rows_needed, 'row')}, but the split needs at least two."
        )
        yield Problem("error", target, message, "Add rows, or choose a split with fewer parts.")
    if predictions:
        yield from _rare_classes(target, counts, tables)
    elif several:
        names = quoted([*map(short_class, counts)])
        message = f"The label has {len(counts):,} classes ({names}), which are predicted together."
        remedy = "You can also predict one class against the rest."
        yield Problem("info", target, message, remedy)
    # Spellings of one label are not classes of their own
    yield from () if spelling or predictions else _small_classes(target, counts, len(counts))


def problem_of(error: DataError, column: str | None = None) -> Problem:
    """Return an error as a Problem, with its remedies as buttons."""
    return _with_fixes(Problem("error", column, error.message, error.remedy), error.fixes)


def _with_fixes(problem: Problem, fixes: Sequence[tuple[Any, str]]) -> Problem:
    if not fixes:
        return problem
    (fix, action), *also = fixes
    return replace(problem, fix=fix, action=action, also=tuple(also))


def label_not_chosen(frame: pd.DataFrame, target: str | None) -> Problem:
    """Report that no column, or one that does not exist, is named as the label."""
    guess = guess_target(frame)
    likely = [guess] if guess else target_candidates(frame)
    hint = f"Choose the column that contains the label{f', perhaps {quoted(likely)}' if likely else ''}."
    message = (
        "You have not chosen a label column." if target is None else f"Column {str(target)!r} was not found."
    )
    return Problem("error", None, message, hint)


def against_the_rest(target: str, counts: Mapping[str, int], positive: str, single: bool) -> Problem:
    """Report that one of several classes is predicted; ``single`` if all together would need further columns."""
    which = f"{len(counts):,} classes ({quoted(list(counts))})"
    message = f"The label has {which}; {positive!r} is predicted against the other classes."
    if single:
        remedy = "To evaluate all classes together, the table needs one column per class."
        return Problem("info", target, message, remedy)
    return Problem("info", target, message, "You can also predict all classes together.", *ALL_CLASSES)


def _few_rows(
    target: str, counts: Mapping[str, int], classes: Classes, rows_needed: int
) -> Iterator[Problem]:
    """Report each of two classes with too few rows."""
    inside = counts[classes.positive]
    for name, rows in zip(classes.names, (sum(counts.values()) - inside, inside), strict=True):
        if rows < rows_needed:
            message = f"Class {name!r} has {counted(rows, 'row')}; the split needs {rows_needed}."
            yield Problem(
                "error", target, message, "Add rows of this class, or choose a split with fewer parts."
            )
        elif rows < COMFORTABLE:
            message = f"Class {name!r} has only {rows} rows, so every estimate is uncertain."
            remedy = "Take bands and intervals into account, or use cross-validation."
            yield Problem("warning", target, message, remedy)


def _rare_classes(target: str, counts: Mapping[str, int], tables: ClassTables | None) -> Iterator[Problem]:
    """Report classes of existing predictions with few or no rows, whose estimates are uncertain."""
    rows = {name: counts.get(name, 0) for name in (tables.names if tables else counts)}
    if message := _with_few_rows(rows, 0, COMFORTABLE):
        yield Problem("info", target, message, "Estimates for such a class are uncertain.")


def _small_classes(target: str, counts: Mapping[str, int], most: int) -> Iterator[Problem]:
    """Report small classes; ``most`` is the largest number of classes after a remedy."""
    if message := _with_few_rows(counts, 0, FEWEST_OF_LABEL):
        few = [name for name, rows in counts.items() if rows < FEWEST_OF_LABEL]
        remedy = (
            "There are too few rows to calibrate and evaluate such a class. Exclude or merge small classes."
        )
        yield _with_fixes(Problem("warning", target, message, remedy), [*_remedies(few, counts, most)])
    if message := _with_few_rows(counts, FEWEST_OF_LABEL, COMFORTABLE):
        remedy = "Estimates for such a class are uncertain. Take bands and intervals into account."
        yield Problem("warning", target, message, remedy)


def _with_few_rows(counts: Mapping[str, int], least: int, below: int) -> str:
    """Say which classes have at least ``least`` rows, but fewer than ``below``; "" if there are none."""
    few = [f"{name!r} ({rows})" for name, rows in counts.items() if least <= rows < below]
    have = f"{len(few)} of {len(counts):,} classes {'has' if len(few) == 1 else 'have'}"
    return f"{have} fewer than {below} rows: {listed(few, 6)}." if few else ""


def _remedies(few: Sequence[str], counts: Mapping[str, int], most: int) -> Iterator[tuple[Any, str]]:
    """Yield remedies: exclude small classes, or merge them and the next larger ones into one class."""
    if 2 <= len(counts) - len(few) <= most:
        yield {"data_params": {"drop_labels": tuple(few)}}, "Exclude small classes"
    merged: list[str] = []
    for name in sorted(counts, key=lambda name: counts[name]):
        if len(merged) >= max(2, len(few)) and sum(counts[each] for each in merged) >= FEWEST_OF_LABEL:
            break
        merged.append(name)
    one = name_of_others(counts)
    merged = [name for name in merged if name != one]
    left = len(counts) - len(merged) + (one not in counts)
    if 2 <= left <= most:
        action = f"Merge {listed([repr(name) for name in merged], 4)} into {one!r}"
        yield {"data_params": {"join_labels": tuple(merged)}}, action


def _spelling(target: str, counts: dict[str, int]) -> Iterator[Problem]:
    """Report labels that seem to be spellings of one label; the user decides."""
    other = alternative_spellings(counts)
    if other:
        shown = ", ".join(f"{name!r} = {meant!r}" for name, meant in list(other.items())[:5])
        only = f"{len(counts)} labels seem to be spellings of only {len(counts) - len(other)}"
        message = f"{only}: {shown}{' …' if len(other) > 5 else ''}."
        remedy = "Merge these labels, or correct the file. Until then, each spelling is treated as a class."
        button = {"data_params": {"merge_labels": True}}, "Merge spellings"
        yield Problem("warning", target, message, remedy, *button)

"""Ask which class scores are the probability of, with what follows from each answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import NoReturn

import numpy as np

from calib.data.conventions import conventional
from calib.data.errors import ReadingQuestion
from calib.data.label import (
    Labels,
    alternative_spellings,
)
from calib.data.ranking import column_aucs
from calib.data.score_columns import add_up
from calib.data.score_meaning import (
    Scaled,
    as_recipe,
)
from calib.kernel.read_as import Answer
from calib.kernel.wording import listed, number, percent

MOST_ASKED = 6  # classes that a question offers
STATE_CLASS = 'State the positive class: pos_label in Python, "positive" in a Recipe.'


def ask_about_two(
    P: np.ndarray, label: Labels, names: Sequence[str], columns: Sequence[str], question: ReadingQuestion
) -> NoReturn:
    """Ask how two columns, one per class, are to be brought together if they do not add up to 1."""
    own = tuple(
        Answer(
            {"positive": name, **as_recipe(scores=(column,))},
            f"Use only {column!r}, as the probability of {name!r}",
            consequence(P[:, k], label, name, None),
        )
        for k, (name, column) in enumerate(zip(names, columns, strict=True))
    )
    models: tuple[Answer, ...] = ()
    if (positive := conventional(names)) is not None:
        options = {"positive": positive, **as_recipe(scores=tuple(columns))}
        models = (Answer(options, f"Two models: both columns are probabilities of {positive!r}"),)
    raise ReadingQuestion(
        question.message, (*question.answers, *own[::-1], *models), question.remedy
    ) from None


def ask_for_class(
    label: Labels,
    counts: Mapping[str, int],
    found: Mapping[str, Scaled],
    named: Mapping[str, str | None],
    hard: Collection[str] = (),
) -> NoReturn:
    """Ask which class the scores are the probability of, with the consequences of each answer."""
    column, each = next(iter(found.items()))
    kind = "the probability of" if each.kind == "probability" else "a score for"
    only_named = len(counts) > 2 and all(named.values())
    able = [name for name in counts if not only_named or name in named.values()]
    names = sorted(able, key=lambda name: -counts[name])[:MOST_ASKED]
    known: Collection[str] = next((pair for pair in combinations(counts, 2) if conventional(pair)), ())
    rest = tuple(name for name in counts if name not in known)
    exclude = Answer(
        as_recipe(drop_labels=rest),
        f"Exclude {listed([repr(name) for name in rest])}",
        "Two classes remain.",
    )
    spelt = len(counts) - len(alternative_spellings(counts)) == 2 < len(counts)
    merge = (Answer(as_recipe(merge_labels=True), "Merge spellings of one label", "Two classes remain."),)
    columns = "" if len(found) == 1 else " This choice applies to all score columns."
    raise ReadingQuestion(
        f"{column!r} may be {kind} {listed([repr(name) for name in names], last='or')}. Neither the name of "
        f"the column nor a convention answers this question.{columns}",
        (merge if spelt else (exclude,) if len(rest) == 1 and len(counts) == 3 else ())
        + tuple(
            Answer(
                {"positive": name},
                f"{'Probability of' if each.kind == 'probability' else 'Score for'} {name!r}",
                consequence(each.values, label, name, each.kind),
            )
            for name in names
        )
        + tuple(
            Answer(
                as_recipe(scores_as="right", predicted=name, scores=(column,)),
                f"Confidence of the class in {name!r}",
            )
            for name in hard
            if each.kind == "probability"
        ),
        STATE_CLASS,
    )


def ask_which_is_which(label: Labels, counts: Mapping[str, int], found: Mapping[str, Scaled]) -> None:
    """Ask which of two columns that add up to 1 belongs to which of two classes, if no name says so."""
    columns = [column for column, each in found.items() if each.kind == "probability"]
    pairs = (pair for pair in combinations(columns, 2) if add_up([found[column].values for column in pair]))
    if len(counts) != 2 or (pair := next(pairs, None)) is None or np.ptp(found[pair[0]].values) == 0:
        return
    negative, positive = _in_order(counts)
    raise ReadingQuestion(
        f"{pair[0]!r} and {pair[1]!r} add up to 1, so each belongs to one class. The column names "
        f"do not show which column belongs to which class.",
        tuple(
            Answer(
                {"positive": positive, **as_recipe(scores=(column,))},
                f"{column!r} is the probability of {positive!r}, and {other!r} of {negative!r}",
                consequence(found[column].values, label, positive, None),
            )
            for column, other in (pair, pair[::-1])
        ),
        STATE_CLASS,
    )


def _in_order(counts: Mapping[str, int]) -> tuple[str, str]:
    """Return (negative, positive) of two labels: by convention, else in sorted order."""
    first, second = counts
    return (second, first) if conventional(list(counts)) == first else (first, second)


def consequence(values: np.ndarray, label: Labels, name: str, kind: str | None) -> str:
    """Say in one sentence what follows if scores (n,) are the probability of a class."""
    known = np.isfinite(values) & label.there
    if not known.any():
        return ""
    y, scores = label.are(name)[known].astype(np.intp), values[known]
    area = number(float(column_aucs(scores[:, None], y)[0]))
    first = number(float(scores[0]))
    if kind == "margin":
        return f"If {first} is a score for {name!r}, the AUC is {area}."
    share = f"{percent(y.mean())} {name!r}"
    return (
        f"If {first} is the probability of {name!r}, the AUC is {area}, mean "
        f"{number(float(scores.mean()))} for {share}."
    )

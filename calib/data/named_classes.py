"""Find the class that a score column is named after, such as yes for ``p_yes``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from calib.data.class_tables import (
    FILLERS,
    PROBABILITY_WORDS,
    ROUNDING_OF_TWO_DECIMALS,
    SCORE_WORDS,
)
from calib.data.conventions import NEGATIONS, NEGATIVE_WORDS


def named_class(column: str, names: Sequence[str]) -> str | None:
    """Return the label whose probability a column contains according to its name, or None.

    >>> [named_class(name, ["no", "yes"]) for name in ("p_yes", "probNo", "P(yes) of model 2", "no", "p_model")]
    ['yes', 'no', 'yes', 'no', None]
    >>> named_class("forest_dead", ["alive", "dead"]), named_class("model_a", ["a", "b"])
    ('dead', None)
    >>> named_class("prob_1", ["0", "1"]), named_class("score_1", ["0", "1"])
    ('1', None)
    >>> named_class("p_not_dead", ["alive", "dead"])
    'alive'
    >>> named_class("P(y=0)", ["0", "1"]), named_class("p_1", ["-1", "1"]), named_class("p_-1", ["-1", "1"])
    ('0', '1', '-1')
    """
    if column in names:
        return column
    words, found = _words(column), []
    for name in sorted(names, key=len):
        label = _words(name)
        # A number after "score" may number the model.
        marks = PROBABILITY_WORDS if all(word.lstrip("-").isdecimal() for word in label) else SCORE_WORDS
        for i, word in enumerate(words):
            beside = (words[i + 1 : i + 1 + len(label)], words[max(0, i - len(label)) : i])
            itself = words[i : i + len(label)] == label and len(min(label, key=len, default="")) > 1
            itself = itself and not name.lstrip("-").isdecimal()
            if label and (itself or (word in marks and label in beside)):
                found.append(_other_if_negated(words, name, names))
    return found[-1] if found else None


def _other_if_negated(words: Sequence[str], name: str, names: Sequence[str]) -> str | None:
    """Return the other of two classes if a word like "not" stands before the class, as in ``p_not_dead``."""
    label = _words(name)
    before = {words[i - 1] for i in range(1, len(words)) if words[i : i + len(label)] == label}
    if not before & NEGATIONS or name[0] in "-0123456789":
        return name
    return next((other for other in names if other != name), None) if len(names) == 2 else None


def classes_of_columns(values: Mapping[str, np.ndarray], names: list[str]) -> dict[str, str | None]:
    """Return score column → class that ends its name, if columns of all classes sum to one, else ``named_class``."""
    ends = {column: _at_the_end(column, names) for column in values}
    if len(values) == len(names) and set(ends.values()) == set(names) and add_up(list(values.values())):
        return ends
    named = {column: named_class(column, names) for column in values}
    known = [name for name in named.values() if name is not None]
    if len(names) == len(named) == 2 and len(known) == 1 and add_up(list(values.values())):
        other = next(name for name in names if name not in known)
        return {column: name or other for column, name in named.items()}
    return named


def _at_the_end(column: str, names: list[str]) -> str | None:
    fitting = [name for name in names if column.casefold().endswith(name.casefold())]
    return max(fitting, key=len, default=None)


def _words(text: str) -> list[str]:
    text = re.sub(r"\w+\s*=+", "", text)  # P(y=0) is P(0)
    words = re.findall(r"(?<![^\W_])-\d+|[^\W\d_]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).casefold())
    return [word for word in words if word not in FILLERS]


def seems_negative(column: str, target: str) -> bool:
    """Tell whether a column is named after an outcome that is negative by convention, and the label is not.

    >>> seems_negative("p_survival", "died"), seems_negative("p_alive", "alive"), seems_negative("p", "died")
    (True, False, False)
    """
    words, of = _words(column), tuple(word[:6] for word in _words(target))
    outcomes = (
        word
        for word in words
        if word in NEGATIVE_WORDS or re.match("non(event|case|default|churn|fraud)|surviv", word)
    )
    return bool(SCORE_WORDS & set(words)) and any(not word.startswith(of) for word in outcomes)


def add_up(columns: Collection[np.ndarray]) -> bool:
    """Tell whether columns (n,) sum to one in every row, except for rounding."""
    return bool(np.nanmax(np.abs(sum(columns) - 1), initial=0.0) <= ROUNDING_OF_TWO_DECIMALS * len(columns))

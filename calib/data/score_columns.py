"""Find the score columns of a table, single or one per class, and the class that each is named after."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from calib.data.class_tables import (
    FILLERS,
    PROBABILITY_WORDS,
    ROUNDING_OF_TWO_DECIMALS,
    SCORE_WORDS,
    ClassTables,
    are_margins,
    called_predictions,
    class_tables,
    few_rows,
    sum_to_one,
)
from calib.data.column_types import typed_frame
from calib.data.columns import (
    SCORE_NAME,
    Column,
    as_float,
    events_and_trials,
    has_fractions,
    in_unit_interval,
    inspect,
    is_number,
)
from calib.data.conventions import NEGATIONS, NEGATIVE_WORDS
from calib.data.errors import ReadingQuestion, as_answer
from calib.data.label import Labels, coded_labels, guess_target
from calib.kernel.read_as import MOST_NAMED_SCORES
from calib.kernel.wording import listed

MOST_SCORE_COLUMNS = 20  # most columns of a table of one label and scores
FEW_SCORES = 3  # up to this many columns in [0, 1] with a label are scores, whatever their names
NOT_SCORES = ("weight", "time", "part", "identifier")  # roles of columns of numbers that are not scores
# Names of labels in tables of predictions
TRUTH = frozenset(("y_true", "ytrue", "truth", "actual", "actuals"))
MODEL_NAME = re.compile(r"(?i)(^|[_\W\d])(model|classifier|clf)")
# Names of what is often saved beside probabilities
BESIDE_SCORES = re.compile(
    r"(?i)(^|[_\W\d])(entropy|(un|in)certaint(y|ies)|std(dev|err)?|sd|se|var(iance)?|brier|log_?loss|resid(ual)?s?|"
    r"ci|interval|threshold|cutoff|lower|upper|lcl|ucl|lwr|upr|rank|percentile|decile|quantile|shap)($|[_\W\d])"
)


def score_columns(frame: pd.DataFrame, target: str) -> list[str]:
    """Choose the score columns: by name, values in [0, 1] or margins; else every column of numbers.

    A constant column counts only if there is no other: a model may give everybody the same score.

    The label, identifiers, and columns named like weights, times or folds are never scores.

    Parameters
    ----------
    frame : DataFrame
        Table, as ``read_table`` returns it.
    target : str
        Label column.
    """
    typed = typed_frame(frame)
    found = inspect_others(str(target), typed)
    numbers = _numbers(found)
    scores = [c.name for c in numbers if c.role == "score" or _is_margin(typed[c.name])]
    scores = [name for name in scores if not BESIDE_SCORES.search(name)] or scores
    return scores or [c.name for c in numbers] or _constants(typed, found)


def inspect_others(target: str, typed: pd.DataFrame) -> list[Column]:
    """Inspect all columns except the label."""
    return [inspect(column, name) for name, column in typed.items() if name != target]


def _constants(typed: pd.DataFrame, found: Sequence[Column]) -> list[str]:
    """Return the names of columns with the same finite number in every row."""
    alone = [column.name for column in found if column.kind == "constant" and column.role not in NOT_SCORES]
    return [name for name in alone if is_number(typed[name]) and np.isfinite(as_float(typed[name])).all()]


def _numbers(found: Sequence[Column]) -> list[Column]:
    """Return the columns of numbers that can be scores."""
    return [column for column in found if column.kind == "number" and column.role not in NOT_SCORES]


def _is_margin(column: pd.Series) -> bool:
    """Tell whether a column has positive and negative values that are not all whole."""
    values = as_float(column)
    values = values[np.isfinite(values)]
    return bool(values.size and values.min() < 0 < values.max() and (values != np.floor(values)).any())


def looks_like_predictions(frame: pd.DataFrame) -> bool:
    """Tell whether a table clearly contains labels with scores rather than features.

    All columns of numbers must then be scores, except weights, times, folds and identifiers. Other columns may be
    words or dates, if the scores are named like scores or the label like a true label.

    Parameters
    ----------
    frame : DataFrame
        Table, as ``read_table`` returns it.

    Examples
    --------
    >>> looks_like_predictions(pd.DataFrame({"y": [0, 1, 1], "p_forest": [0.2, 0.7, 0.9]}))
    True
    """
    target = guess_target(frame)
    if target is None:
        return False
    typed = typed_frame(frame)
    if _has_class_tables(typed, target):
        return True
    if frame.shape[1] > MOST_SCORE_COLUMNS:
        return False
    found = inspect_others(target, typed)
    if (pair := events_and_trials(typed, target)) is not None:
        found = [column for column in found if column.name not in pair]
    scores = [column.name for column in _numbers(found)]
    scores = scores or list(filter(SCORE_NAME.search, _constants(typed, found)))
    if not scores:
        return False
    labels = set(coded_labels(frame, target).counts)
    named = [name for name in scores if SCORE_NAME.search(name) or name in labels]
    unit = [name for name in scores if in_unit_interval(typed[name])]
    if not all(name in named or name in unit or _is_margin(typed[name]) for name in scores):
        return False
    if any(column.role not in NOT_SCORES for column in found if column.name not in scores):
        clear = named == scores or target.lower() in TRUTH or any(MODEL_NAME.search(name) for name in scores)
        return clear and bool(unit)
    return named == scores or (len(scores) <= FEW_SCORES and bool(unit))


def _has_class_tables(typed: pd.DataFrame, target: str) -> bool:
    """Tell whether every class has a column of probabilities or logits, with hardly any other columns of numbers."""
    tables = tables_of(typed, target, list(coded_labels(typed, target).counts), sure=False)
    if tables is None:
        return False
    seen = few_rows(typed)
    if any(sum_to_one(seen, each) and has_fractions(seen[each[0]]) for each in tables.columns.values()):
        return True
    clear = all(called_predictions(columns[0]) for columns in tables.columns.values())
    return clear and not _numbers(inspect_others(target, typed.drop(columns=tables.all_columns)))


def scores_among_features(typed: pd.DataFrame, target: str) -> list[str]:
    """Return features that seem to be predictions of another model, by name and with values in [0, 1]."""
    called = [name for name in typed if SCORE_NAME.search(name) or MODEL_NAME.search(name)]
    numbers = _numbers(inspect_others(target, typed[called]))
    return [column.name for column in numbers if in_unit_interval(typed[column.name])]


def evaluate_or_train(frame: pd.DataFrame, target: str) -> ReadingQuestion | None:
    """Return the question whether a table's scores are to be evaluated or are features, or None if this is clear.

    It is unclear if a column beside others is named like a score, and its values lie in [0, 1] or its whole name is a
    word for a score.

    >>> table = pd.DataFrame({"score": [310, 540, 800], "country": ["fr", "de", "fr"], "fraud": [1, 0, 0]})
    >>> print(evaluate_or_train(table, "fraud"))
    'score' may be predictions to evaluate, or a feature for training a model.
    >>> evaluate_or_train(table.drop(columns="score"), "fraud")
    """
    called = [str(name) for name in frame if SCORE_NAME.search(str(name)) and str(name) != target]
    if not called or looks_like_predictions(frame):
        return None
    found = _numbers(inspect_others(target, typed_frame(frame[called])))
    scores = [c.name for c in found if in_unit_interval(frame[c.name]) or SCORE_NAME.fullmatch(c.name)]
    if not scores:
        return None
    named = listed(list(map(repr, scores)), MOST_NAMED_SCORES)
    features = "a feature" if len(scores) == 1 else "features"
    return ReadingQuestion(
        f"{named} may be predictions to evaluate, or {features} for training a model.",
        (
            as_answer(f"Evaluate {named}", "No model is trained.", {"content": "predictions"}),
            as_answer(
                "Train a model", f"{named} and all other columns are features.", {"content": "features"}
            ),
        ),
    )


def with_columns(typed: pd.DataFrame, target: str, label: Labels) -> set[str | None]:
    """Return the labels after which a column of numbers is named."""
    names = [name for name in typed if name != target and is_number(typed[name])]
    labels = list(label.counts)
    return {named_class(name, labels) for name in names if len(labels) <= MOST_SCORE_COLUMNS}


def tables_of(
    typed: pd.DataFrame,
    target: str,
    labels: Sequence[str],
    scores: Sequence[str] | None = None,
    positive: object = None,
    scores_as: str | None = None,
    sure: bool = True,
) -> ClassTables | None:
    """Return the columns of each class, if the table has them; None if single columns are scores.

    Parameters
    ----------
    typed
        Typed table without the columns that have a role.
    labels
        Distinct labels, in sorted order.
    scores, positive, scores_as
        Arguments of ``prepare_predictions``. Chosen columns are scores of the chosen class, whatever their names.
    sure
        Argument of ``class_tables``.
    """
    if scores and positive is not None:
        return None
    candidates = [str(score) for score in scores] if scores else [name for name in typed if name != target]
    if not set(candidates) <= set(typed):
        return None
    tables = class_tables(typed, labels, candidates, 2, sure)
    return None if tables is None else _without_margins(few_rows(typed), tables)


def _without_margins(seen: pd.DataFrame, tables: ClassTables) -> ClassTables:
    """Leave out columns of margins (``rawPrediction``) beside probabilities of the same classes."""
    sums = [sum_to_one(seen, columns) for columns in tables.columns.values()]
    kept = {
        model: columns
        for (model, columns), summed in zip(tables.columns.items(), sums, strict=True)
        if summed or not are_margins(columns)
    }
    return dataclasses.replace(tables, columns=kept) if any(sums) else tables


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

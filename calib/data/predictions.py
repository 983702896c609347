"""Read existing predictions: a label and one or more score columns, without a model.

The class of the scores never depends on how well they agree with the labels. A person states it, columns are named
after it (``p_yes``), predicted classes beside a column show it, or it is positive by convention (1 of 0 and 1).
Otherwise a ``ReadingQuestion`` is raised, also if a convention decided but the scores rank the classes in reverse.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from calib.data.class_tables import (
    AS_LOGITS,
    FILLERS,
    PROBABILITY_WORDS,
    ROUNDING,
    SCORE_WORDS,
    ClassTables,
    are_margins,
    called_predictions,
    cells,
    class_tables,
    few_rows,
    sum_to_one,
    to_probabilities,
    wrong_sums,
)
from calib.data.column_types import typed_frame
from calib.data.columns import (
    SCORE_NAME,
    Column,
    as_float,
    has_fractions,
    in_unit_interval,
    inspect,
    is_number,
    positions,
)
from calib.data.conventions import NEGATIONS, NEGATIVE_WORDS, PREDICTED, conventional
from calib.data.duplicates import left_out as repeated_left_out
from calib.data.duplicates import repeats
from calib.data.errors import DataError, ReadingQuestion
from calib.data.events import events_and_trials
from calib.data.join import both_files_phrase
from calib.data.label_meaning import (
    Counted,
    ask_about_labels,
    ask_about_shares,
    counted_events,
    shares_of,
)
from calib.data.ranking import auc_interval, class_draws, column_aucs
from calib.data.roles import Read, read_roles, weight_note
from calib.data.score_meaning import (
    CONFIDENCE,
    Beside,
    Scaled,
    as_recipe,
    ask_about_confidence,
    beside_predictions,
    named_probability,
    predicted_column,
    predicted_columns,
    read_scale,
    refuse_classes,
)
from calib.data.table import about
from calib.data.target import (
    MOST_PREDICTED,
    POSITIVE,
    Classes,
    Labels,
    alternative_spellings,
    choose_classes,
    coded_labels,
    guess_target,
)
from calib.kernel.read_as import Answer, ReadAs, ScoreReading
from calib.kernel.records import Dataset, Problem
from calib.kernel.rows import Rows
from calib.kernel.wording import counted, listed, number, percent, quoted, row_numbers, with_interval

MOST_SCORES = 20  # most columns of a table of one label and scores
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
ROWS_AT_ONCE = 4096
FEW_LINES = 20  # fewer may coincide by chance
GROUPED = 0.5  # share of lines whose score also occurs in the other class


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
    found = _inspect_others(str(target), typed)
    numbers = _numbers(found)
    scores = [c.name for c in numbers if c.role == "score" or _is_margin(typed[c.name])]
    scores = [name for name in scores if not BESIDE_SCORES.search(name)] or scores
    return scores or [c.name for c in numbers] or _constants(typed, found)


def _inspect_others(target: str, typed: pd.DataFrame) -> list[Column]:
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
    if frame.shape[1] > MOST_SCORES:
        return False
    found = _inspect_others(target, typed)
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
    if any(
        sum_to_one(seen, columns) and has_fractions(seen[columns[0]]) for columns in tables.columns.values()
    ):
        return True
    clear = [called_predictions(columns[0]) for columns in tables.columns.values()]
    every = set(tables.all_columns)
    beside = [inspect(column, name) for name, column in typed.items() if name not in (*every, target)]
    return all(clear) and not _numbers(beside)


def scores_among_features(typed: pd.DataFrame, target: str) -> list[str]:
    """Return features that seem to be predictions of another model, by name and with values in [0, 1]."""
    called = [name for name in typed if SCORE_NAME.search(name) or MODEL_NAME.search(name)]
    numbers = _numbers(_inspect_others(target, typed[called]))
    return [column.name for column in numbers if in_unit_interval(typed[column.name])]


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


def _classes_of_columns(values: Mapping[str, np.ndarray], names: list[str]) -> dict[str, str | None]:
    """Return score column → class that ends its name, if columns of all classes sum to one, else ``named_class``."""
    ends = {column: _at_the_end(column, names) for column in values}
    if len(values) == len(names) and set(ends.values()) == set(names) and _add_up(list(values.values())):
        return ends
    named = {column: named_class(column, names) for column in values}
    known = [name for name in named.values() if name is not None]
    if len(names) == len(named) == 2 and len(known) == 1 and _add_up(list(values.values())):
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


@dataclasses.dataclass(frozen=True)
class Stated:
    """What a person stated about a table of predictions: parameters of ``prepare_predictions``."""

    positive: object = None
    scores: tuple[str, ...] = ()
    scores_as: str | None = None
    labels_as: str | None = None
    predicted: str | None = None
    trials: str | None = None
    wrong_scores: str | None = None


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
    typed, target = typed_frame(frame), str(target)
    stated = Stated(
        positive, tuple(map(str, scores or ())), scores_as, labels_as, predicted, trials, wrong_scores
    )
    label, lines, counting = _labels(frame, typed, target, stated)
    known = read_roles(typed, roles or {}, target, about(frame).notes, weight_as)
    if lines is not None and known.counts:
        raise DataError("weight: this table already counts events and trials.", "Remove the role weight.")
    counts = known.per_class(label) if lines is None else lines.counts
    taken = {*map(str, (roles or {}).values()), *counting}
    others = typed.drop(columns=[name for name in typed if name in taken])
    found = _read_scores(others, target, label, counts, stated, both_files_phrase(frame))
    scored = known.rows & found.scored
    rows = label.there & scored
    if not rows.any():
        raise DataError("No row has both a label and finite scores.", "Fill in missing labels and scores.")
    left_out = (*_left_out(label.there, found.missing), *known.notes)
    if drop_repeated:
        again = repeats(typed)
        rows, left_out = rows & ~again, (*left_out, *repeated_left_out(again))
    used = {*found.values, *taken, *([found.beside] if found.beside else [])}
    notes = [*([lines.note] if lines else []), *found.notes, *left_out, *_unused(typed, target, used)]
    data = Dataset(
        name=name or about(frame).name or "predictions",
        X=found.table(rows),
        y=(label.are(found.classes.positive) if found.right is None else found.right)[rows].astype(np.intp),
        classes=found.classes.names,
        predictions=True,
        read=len(frame),
        left_out=left_out,
        unlabelled=known.unlabelled(label.there),
        **found.of_all_classes(label, rows),
        **_without_label(found, scored & ~label.there, known),
        **known.of(rows),
    )
    classes, why, reading = found.classes, found.why, found.reading(target, tuple(counts))
    if lines is not None:
        data = lines.on(data, rows)
    del label, known, found, scored, rows  # free arrays as long as the table
    notes += weight_note((roles or {}).get("weight"), data.weight, data.n) if lines is None else []
    if why == "convention" and positive is None:
        _ask_if_reversed(data)
    notes += [f"{problem.column}: {problem.message}" for problem in ranking_problems(data)]
    return dataclasses.replace(data, notes=(classes.note, *notes), read_as=reading)


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
    ask_about_labels(target, label.counts, stated.labels_as, _with_columns(typed, target, label))
    return label, None, ()


def _with_columns(typed: pd.DataFrame, target: str, label: Labels) -> set[str | None]:
    """Return the labels after which a column of numbers is named."""
    names = [name for name in typed if name != target and is_number(typed[name])]
    return (
        {named_class(name, list(label.counts)) for name in names}
        if len(label.counts) <= MOST_SCORES
        else set()
    )


def _read_scores(
    typed: pd.DataFrame, target: str, label: Labels, counts: Mapping[str, int], stated: Stated, where: str
) -> _Scores:
    """Read the scores as one column per class, or as single columns."""
    hard = [name for name in predicted_columns(typed, target, list(counts)) if not named_probability(name)]
    beside = predicted_column(typed, target, list(counts), hard, stated.predicted)
    left = typed.drop(columns=[name for name in hard if name not in stated.scores])
    tables = tables_of(left, target, list(counts), stated.scores, stated.positive, stated.scores_as)
    if tables is None:
        return _single_columns(left, target, label, counts, stated, beside, hard, where)
    if stated.positive is None and len(tables.names) > 2:
        return _of_all_classes(left, target, counts, tables, stated)
    return _of_one_class(left, label, counts, tables, stated, where)


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


def refuse_merged(frame: pd.DataFrame, target: str, scores: Collection[str] = ()) -> None:
    """Refuse to merge labels of a table in which every class has its own column."""
    labels = list(coded_labels(frame, target).counts)
    if tables_of(typed_frame(frame), target, labels, list(scores) or None) is not None:
        raise DataError(
            "Classes cannot be merged here, because each has a column of its own.",
            "Remove data_params.join_labels, or add up the columns of these classes in the file.",
        )


@dataclasses.dataclass(frozen=True, eq=False)
class _Scores:
    """Scores of all rows of a table.

    Attributes
    ----------
    classes
        Classes of the scores.
    why
        Reason for the positive class, as in ``ReadAs``.
    values
        Column → float64 (n,).
    missing
        Reason for excluding a row → bool (n,), the rows to which it does not apply.
    readings
        Meaning of each score.
    others
        Other possible readings.
    beside
        Column of predicted classes, if the scores are their confidences.
    right
        Whether the prediction is right, bool (n,), if this is what the scores are the probability of.
    tables, whole
        For all classes together, their columns, and all values as one array (n, k).
    """

    classes: Classes
    why: str
    values: Mapping[str, np.ndarray]
    missing: Mapping[str, np.ndarray]
    readings: tuple[ScoreReading, ...]
    notes: tuple[str, ...] = ()
    others: tuple[Answer, ...] = ()
    beside: str | None = None
    right: np.ndarray | None = None
    tables: ClassTables | None = None
    whole: np.ndarray | None = None

    @property
    def scored(self) -> np.ndarray:
        """Mask (n,), true if no score of the row is missing."""
        return np.logical_and.reduce(list(self.missing.values()))

    def table(self, rows: np.ndarray) -> pd.DataFrame:
        """Return the scores of the chosen rows, bool (n,)."""
        index = positions(rows)
        if self.whole is None:
            return pd.DataFrame({column: given[rows] for column, given in self.values.items()}, index=index)
        # Without a copy, which is large for a thousand classes
        values = self.whole if rows.all() else self.whole[rows]
        return pd.DataFrame(values, columns=list(self.values), index=index, copy=False)

    def of_all_classes(self, label: Labels, rows: np.ndarray) -> dict[str, Any]:
        """Return the fields of a Dataset of all classes together, or an empty dict."""
        if self.tables is None:
            return {}
        names = self.tables.names
        return {"names": names, "labels": label.among(names)[rows], "columns": dict(self.tables.columns)}

    def reading(self, target: str, labels: tuple[str, ...]) -> ReadAs:
        """Return the record of how the table was read."""
        positive = self.classes.positive if self.tables is None else None
        names = labels if self.tables is None else self.tables.names
        return ReadAs(target, positive, self.why, self.readings, names, self.others)


def _single_columns(
    typed: pd.DataFrame,
    target: str,
    label: Labels,
    counts: Mapping[str, int],
    stated: Stated,
    beside: Beside | None,
    hard: Sequence[str],
    where: str,
) -> _Scores:
    """Read scores of one class, one column per model."""
    if len(counts) < 2:
        choose_classes(counts)  # refuses
    columns = _chosen(typed, target, stated.scores, hard)
    found = {
        column: read_scale(_scores(typed, column, target), column, stated.scores_as, stated.wrong_scores)
        for column in columns
    }
    if beside is not None or stated.scores_as in ("right", "confidence"):
        shown = _shown_by(found, label, counts, stated, beside)
        confident = [column for column, (what, _) in shown.items() if what == "confidence"]
        if confident:
            return _confidences({c: found[c] for c in confident}, label, counts, stated, beside, where)
    else:
        shown = {}
    if stated.positive is None and len(counts) > 2:
        _refuse_confidence(columns)
    named = _classes_of_columns({column: each.values for column, each in found.items()}, list(counts))
    named |= {column: list(counts)[code] for column, (what, code) in shown.items() if what == "class"}
    positive, why = _positive(counts, named, stated)
    if shown and why == "named":
        why = "predicted"
    if not stated.scores and not any(named.values()):
        _ask_which_is_which(label, counts, found)
    if positive is None or (why == "convention" and any(_seems_negative(column, target) for column in found)):
        _ask_for_class(label, counts, found, named, hard)
    classes = choose_classes(counts, positive, _why_in_words(why, named, counts), where, most=MOST_PREDICTED)
    notes = [each.note for each in found.values() if each.note]
    if not stated.scores:
        others = [name for name in _other_classes(named, classes.positive) if not CONFIDENCE.search(name)]
        if len(counts) > 2 and len(others) == len(found):
            raise DataError(
                f"No score column is for {classes.positive!r}: {listed(list(map(repr, others)), 4)} "
                f"{'is' if len(others) == 1 else 'are'} named after other classes.",
                "Choose one of these classes, or choose the score columns.",
            )
        for column in others:
            if len(counts) > 2 or found[column].kind != "probability":
                del found[column]
            else:
                notes.append(f"{column!r} is the probability of {named[column]!r}, so 1 − {column} is used.")
                found[column] = found[column]._replace(values=1 - found[column].values)
    able = {
        name: rows
        for name, rows in counts.items()
        if len(counts) == 2 or not any(named.values()) or name in named.values()
    }
    readings = tuple(
        ScoreReading((column,), each.kind, classes.positive, each.scale) for column, each in found.items()
    )
    return _Scores(
        classes,
        why,
        {column: each.values for column, each in found.items()},
        _reasons(found),
        readings,
        tuple(notes),
        (*_other_positives(able, classes.positive), *_other_meanings(found, beside, stated)),
    )


def _seems_negative(column: str, target: str) -> bool:
    """Tell whether a column is named after an outcome that is negative by convention, and the label is not.

    >>> _seems_negative("p_survival", "died"), _seems_negative("p_alive", "alive"), _seems_negative("p", "died")
    (True, False, False)
    """
    words, of = _words(column), tuple(word[:6] for word in _words(target))
    outcomes = (
        word
        for word in words
        if word in NEGATIVE_WORDS or re.match("non(event|case|default|churn|fraud)|surviv", word)
    )
    return bool(SCORE_WORDS & set(words)) and any(not word.startswith(of) for word in outcomes)


def _reasons(found: Mapping[str, Scaled]) -> dict[str, np.ndarray]:
    """Return reasons for excluding rows by single columns → the rows to which they do not apply."""
    reasons = {}
    for column, each in found.items():
        if each.wrong is not None and each.wrong.any():
            reasons[f"because {column!r} is not between 0 and 1"] = ~each.wrong
        there = np.isfinite(each.values) if each.wrong is None else np.isfinite(each.values) | each.wrong
        reasons[f"because {column!r} is missing or infinite"] = there
    return reasons


def _shown_by(
    found: Mapping[str, Scaled],
    label: Labels,
    counts: Mapping[str, int],
    stated: Stated,
    beside: Beside | None,
) -> dict[str, tuple[str, int]]:
    """Return what the predicted classes beside the scores show of each column, as in ``beside_predictions``."""
    if beside is None:
        raise DataError(
            f"scores_as is {stated.scores_as!r}, but no column of predicted classes was found.",
            "Set predicted to this column.",
        )
    if stated.scores_as in ("right", "confidence"):
        return dict.fromkeys(found, ("confidence", -1))
    if stated.scores_as not in (None, "percentages"):
        return {}
    shown = {}
    for column, each in found.items():
        if (what := beside_predictions(each.values, column, beside.codes, len(counts))) is None:
            continue
        if what[0] == "ask":
            ask_about_confidence(column, beside.column, list(counts)[what[1]])
        shown[column] = what
    return shown


def _confidences(
    found: Mapping[str, Scaled],
    label: Labels,
    counts: Mapping[str, int],
    stated: Stated,
    beside: Beside | None,
    where: str,
) -> _Scores:
    """Read confidences of predicted classes: the probability of the positive class of two, else of being right."""
    assert beside is not None
    codes, texts = beside.codes, list(counts)
    positive, why = (
        (stated.positive, "stated") if stated.positive is not None else (conventional(texts), "convention")
    )
    in_right = stated.scores_as == "right" or (
        stated.scores_as in (None, "percentages") and (len(counts) > 2 or positive is None)
    )
    if not in_right and len(counts) > 2:
        raise DataError(
            "scores_as is 'confidence', but the label has more than two classes.", "Set scores_as to 'right'."
        )
    missing = _reasons(found) | {f"because {beside.column!r} is missing": codes >= 0}
    both = tuple(
        Answer({"positive": None, **as_recipe(scores_as=key, predicted=beside.column)}, words)
        for key, words in (
            ("right", "Probability that the prediction is right"),
            ("confidence", "Probability of a class"),
        )
        if (key == "right") != in_right and (key == "right" or len(counts) == 2)
    )
    if in_right:
        kind, of, right = "right", beside.column, codes == label.among(texts)
        note = f"{POSITIVE}: the prediction in {beside.column!r} is right, not wrong."
        classes = Classes(("wrong", "right"), "right", note)
        values, why = {column: each.values for column, each in found.items()}, "named"
    else:
        if positive is None:
            _ask_for_class(label, counts, _for_class(found, codes, 1), {})
        classes = choose_classes(counts, positive, _why_in_words(why, {}, counts), where)
        kind, of, right = "confidence", beside.column, None
        values = {
            c: each.values for c, each in _for_class(found, codes, texts.index(classes.positive)).items()
        }
        both += _other_positives(counts, classes.positive)
    scale = "" if in_right else f"converted to the probability of {classes.positive!r}"
    readings = tuple(ScoreReading((column,), kind, of, scale) for column in found)
    notes = tuple(each.note for each in found.values() if each.note)
    return _Scores(classes, why, values, missing, readings, notes, both, beside.column, right)


def _for_class(found: Mapping[str, Scaled], codes: np.ndarray, code: int) -> dict[str, Scaled]:
    """Convert confidences of the predicted class, of two, to probabilities of one class."""
    return {
        column: each._replace(values=np.where(codes == code, each.values, 1 - each.values))
        for column, each in found.items()
    }


def _refuse_confidence(columns: Sequence[str]) -> None:
    """Refuse confidences with a label of several classes, because the predicted class is unknown."""
    if called := [column for column in columns if CONFIDENCE.search(column)]:
        raise DataError(
            f"{called[0]!r} seems to be the probability of the predicted class, but the table does not say whether it "
            "was right.",
            "Add the column of predicted classes. Or add one column of probabilities per class. If it is the "
            "probability of one class, choose this class.",
        )


def _of_all_classes(
    typed: pd.DataFrame, target: str, counts: Mapping[str, int], tables: ClassTables, stated: Stated
) -> _Scores:
    """Read probabilities of all classes, for one or several models."""
    counts = {name: counts.get(name, 0) for name in tables.names}
    classes = choose_classes(counts, joint=True, most=MOST_PREDICTED, confirmed=True)
    whole, missing, notes = cells(typed, tables.all_columns), {}, [tables.note] if tables.note else []
    readings = []
    for i, (model, columns) in enumerate(tables.columns.items()):
        P = whole[:, i * len(tables.names) : (i + 1) * len(tables.names)]
        missing[f"because a probability of {model!r} is missing or infinite"] = np.isfinite(P).all(axis=1)
        there, note = _converted(P, model, columns, stated, missing)
        if stated.scores_as is None and there.any() and ((P[there] == 0) | (P[there] == 1)).all():
            refuse_classes(columns)
        notes += filter(None, [note])
        readings.append(ScoreReading(columns, "classes", target, SCALES.get(_scale_of(note), "")))
    values = dict(zip(tables.all_columns, whole.T, strict=True))
    return _Scores(
        classes, "named", values, missing, tuple(readings), tuple(notes), (), None, None, tables, whole
    )


SCALES = {
    "softmax": "as the softmax of its logits",
    "divided": "each row divided by its sum",
    "percentages": "from percentages",
}


def _scale_of(note: str) -> str:
    """Return the key of ``SCALES`` that a note of ``to_probabilities`` speaks of, or ""."""
    return next(
        (key for key in ("softmax", "percentages") if key in note), "divided" if "was not 1" in note else ""
    )


def _converted(
    P: np.ndarray,
    model: str,
    columns: Sequence[str],
    stated: Stated,
    missing: dict[str, np.ndarray],
    joint: bool = True,
) -> tuple[np.ndarray, str]:
    """Convert predictions of K classes in place; return the rows that are used and a note. Add to ``missing``."""
    there = np.isfinite(P).all(axis=1)
    if stated.wrong_scores == "exclude":
        wrong = wrong_sums(P, there)
        missing[f"because {model!r} does not sum to 1"] = ~wrong
        there &= ~wrong
    return there, to_probabilities(P, there, model, stated.scores_as, joint, columns)


def _of_one_class(
    typed: pd.DataFrame,
    label: Labels,
    counts: Mapping[str, int],
    tables: ClassTables,
    stated: Stated,
    where: str,
) -> _Scores:
    """Read probabilities of the positive class from columns of all classes, for one or several models."""
    known = {name: counts.get(name, 0) for name in tables.names}
    positive, why = (
        (stated.positive, "stated") if stated.positive is not None else (conventional(list(known)), "named")
    )
    words = "as chosen" if why == "stated" else f"by convention for {listed([repr(name) for name in known])}"
    classes = choose_classes(known, positive, words, where, most=MOST_PREDICTED, confirmed=True)
    place, two = tables.names.index(classes.positive), len(tables.names) == 2
    values, missing, readings = dict[str, np.ndarray](), dict[str, np.ndarray](), list[ScoreReading]()
    notes = [tables.note] if tables.note else []
    for model, columns in tables.columns.items():
        P, column = cells(typed, columns), columns[place]
        try:
            _, note = _converted(P, model, columns, stated, missing, two and stated.positive is None)
        except ReadingQuestion as question:
            if not two or stated.positive is not None:
                raise
            _ask_about_two(P, label, tables.names, columns, question)
        notes += filter(None, [note])
        values[column] = P[:, place].copy()  # a copy, so that the other classes are freed
        missing[f"because {column!r} is missing or infinite"] = np.isfinite(P[:, place])
        readings.append(
            ScoreReading((column,), "probability", classes.positive, SCALES.get(_scale_of(note), ""))
        )
    others = _other_positives(known, classes.positive)
    return _Scores(classes, why, values, missing, tuple(readings), tuple(notes), others)


def _ask_about_two(
    P: np.ndarray, label: Labels, names: Sequence[str], columns: Sequence[str], question: ReadingQuestion
) -> NoReturn:
    """Ask how two columns, one per class, are to be brought together if they do not add up to 1."""
    own = tuple(
        Answer(
            {"positive": name, **as_recipe(scores=(column,))},
            f"Only {column!r}, the probability of {name!r}",
            consequence(P[:, k], label, name, None),
        )
        for k, (name, column) in enumerate(zip(names, columns, strict=True))
    )
    models: tuple[Answer, ...] = ()
    if (positive := conventional(names)) is not None:
        options = {"positive": positive, **as_recipe(scores=tuple(columns))}
        models = (Answer(options, f"Two models: both are probabilities of {positive!r}"),)
    raise ReadingQuestion(
        question.message, (*question.answers, *own[::-1], *models), question.remedy
    ) from None


def _other_positives(counts: Mapping[str, int], positive: str) -> tuple[Answer, ...]:
    """Return the readings with another positive class."""
    names = sorted((name for name in counts if name != positive), key=lambda name: -counts[name])
    return tuple(Answer({"positive": name}, f"Probability of {name!r}") for name in names[:MOST_ASKED])


def _other_meanings(found: Mapping[str, Scaled], beside: Beside | None, stated: Stated) -> tuple[Answer, ...]:
    """Return the readings of the same columns with another scale or meaning."""
    answers = []
    if beside is not None and all(each.kind == "probability" for each in found.values()):
        options = as_recipe(scores_as="right", predicted=beside.column)
        answers.append(Answer({"positive": None, **options}, "Probability that the prediction is right"))
    if any(each.kind == "margin" for each in found.values()):
        answers.append(Answer(as_recipe(scores_as="logits"), "Logits", "Their sigmoid is used."))
    if any(each.scale for each in found.values()) or stated.scores_as == "logits":
        answers.append(Answer(as_recipe(scores_as="margins"), "Not probabilities"))
    return tuple(answers)


def _unused(typed: pd.DataFrame, target: str, used: Collection[str]) -> list[str]:
    unused = [column for column in typed.columns if column != target and column not in used]
    return [f"Not used as scores: {', '.join(unused)}."] if unused else []


def _without_label(found: _Scores, rows: np.ndarray, known: Read) -> dict[str, Any]:
    """Return the Dataset fields of the unlabelled rows, bool (n,): their scores and times."""
    if not rows.any():
        return {}
    return {"unlabelled_scores": found.table(rows), "unlabelled_time": known.of(rows).get("time")}


def _chosen(typed: pd.DataFrame, target: str, scores: Sequence[str], hard: Sequence[str]) -> list[str]:
    """Return the chosen score columns, else those that look like scores; ``hard`` are columns of predicted classes."""
    chosen = list(scores) or score_columns(typed, target)
    if chosen:
        return chosen
    if hard:
        refuse_classes([name for name in hard if PREDICTED.search(name)] or hard)
    for column in _inspect_others(target, typed):
        if column.kind == "mixed":
            _refuse_text(column)
    raise DataError("There is no column of scores.", "Add a column with a probability or score for each row.")


def _refuse_text(column: Column) -> NoReturn:
    """Refuse a score column that holds text, and quote the cells if the others are numbers."""
    cells = f" ({quoted(list(column.strays), 3)})" if column.strays else ""
    raise DataError(
        f"Score column {column.name!r} contains values that are not numbers{cells}.",
        "Correct them, or choose another column.",
    )


def _left_out(labelled: np.ndarray, missing: Mapping[str, np.ndarray]) -> list[str]:
    reasons = {"because the label is missing": ~labelled}
    reasons |= {why: ~there for why, there in missing.items()}
    return [
        f"Excluded {why}: {counted(int(out.sum()), 'row')} ({row_numbers(out)})."
        for why, out in reasons.items()
        if out.any()
    ]


def _positive(
    counts: Mapping[str, int], named: Mapping[str, str | None], stated: Stated
) -> tuple[object | None, str]:
    """Return (the positive class, key of the reason in ``WHY``), or (None, "") if a person must say."""
    if stated.positive is not None:
        return stated.positive, "stated"
    names = {label for label in named.values() if label is not None}
    if len(names) == 1:
        return names.pop(), "named"
    if len(counts) > 2:
        return None, ""
    positive = conventional(list(counts))
    if names:  # columns of both classes: each is read by its name
        return positive or min(counts, key=lambda name: counts[name]), "named"
    return positive, "convention" if positive is not None else ""


def _why_in_words(why: str, named: Mapping[str, str | None], counts: Mapping[str, int]) -> str:
    if why == "named":
        return f"because it is named in {listed([repr(column) for column in named if named[column]])}"
    if why == "predicted":
        return "because the predicted classes show it"
    if why == "convention":
        return f"by convention for {listed([repr(name) for name in counts])}"
    return "as chosen"


def _other_classes(named: Mapping[str, str | None], positive: str) -> list[str]:
    """Return the columns that are named after another class than the positive one."""
    return [column for column, name in named.items() if name not in (None, positive)]


MOST_ASKED = 6  # classes that a question offers
STATE_CLASS = 'State the positive class: pos_label in Python, "positive" in a Recipe.'


def _ask_for_class(
    label: Labels,
    counts: Mapping[str, int],
    found: Mapping[str, Scaled],
    named: Mapping[str, str | None],
    hard: Sequence[str] = (),
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
        "Two classes are left.",
    )
    spelt = len(counts) - len(alternative_spellings(counts)) == 2 < len(counts)
    merge = (Answer(as_recipe(merge_labels=True), "Merge spellings of one label", "Two classes are left."),)
    columns = "" if len(found) == 1 else " This holds for all score columns."
    raise ReadingQuestion(
        f"{column!r} may be {kind} {listed([repr(name) for name in names], last='or')}. Neither its name nor a "
        f"convention decides.{columns}",
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


def _ask_which_is_which(label: Labels, counts: Mapping[str, int], found: Mapping[str, Scaled]) -> None:
    """Ask which of two columns that add up to 1 belongs to which of two classes, if no name says so."""
    columns = [column for column, each in found.items() if each.kind == "probability"]
    pairs = (pair for pair in combinations(columns, 2) if _add_up([found[column].values for column in pair]))
    if len(counts) != 2 or (pair := next(pairs, None)) is None or np.ptp(found[pair[0]].values) == 0:
        return
    negative, positive = _in_order(counts)
    raise ReadingQuestion(
        f"{pair[0]!r} and {pair[1]!r} add up to 1, so each belongs to one class. Their names do not say which.",
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
        return f"If {first} is a score for {name!r}: AUC {area}."
    share = f"{percent(y.mean())} {name!r}"
    return f"If {first} is the probability of {name!r}: AUC {area}, mean {number(float(scores.mean()))} for {share}."


def _ask_if_reversed(data: Dataset) -> None:
    """Ask if a convention decided, but all scores clearly rank the classes in reverse."""
    draws = class_draws(Rows(data.y, weight=data.weight, cluster=data.cluster))
    if data.joint or draws is None or (data.weight is None and _is_grouped(data)):
        return
    areas = column_aucs(data.X.to_numpy(dtype=float), data.y, data.weight)
    intervals = [auc_interval(float(area), *draws) for area in areas]
    if not all(high < 0.5 for _, high in intervals):
        return
    negative, positive = data.classes
    column, result = str(data.X.columns[0]), f"AUC {with_interval(float(areas[0]), *intervals[0])}"
    raise ReadingQuestion(
        f"{column!r} is read as a score for {positive!r} by convention, but it ranks the classes in reverse: {result}.",
        (
            Answer({"positive": negative}, f"Score for {negative!r}", f"AUC {number(1 - float(areas[0]))}."),
            Answer(
                {"positive": positive}, f"Score for {positive!r}, as read", f"AUC {number(float(areas[0]))}."
            ),
        ),
        STATE_CLASS,
    )


def _add_up(columns: Collection[np.ndarray]) -> bool:
    """Tell whether columns (n,) sum to one in every row, except for rounding."""
    return bool(np.nanmax(np.abs(sum(columns) - 1), initial=0.0) <= ROUNDING * len(columns))


def of_classes(data: Dataset, model: str) -> np.ndarray:
    """Return the probabilities of all classes (n, K) from a Dataset, without a copy if possible."""
    columns = list(data.columns[model])
    return (data.X if len(columns) == data.X.shape[1] else data.X[columns]).to_numpy()


def ranking_problems(data: Dataset) -> list[Problem]:
    """Report score columns that rank the two classes in reverse or no better than chance, one Problem each.

    For all classes together, report predictions whose most probable class is right no more often than by chance.

    >>> table = pd.DataFrame({"y": [0] * 20 + [1] * 20, "p": np.linspace(0.9, 0.1, 40)})
    >>> ranking_problems(prepare_predictions(table, "y", "1"))[0].message
    "These scores rank the classes in reverse: AUC 0 [0, 0.101]. These scores seem to be for class '0'."
    """
    if data.joint:
        return [problem for model in data.columns if (problem := _agreement(data, model)) is not None]
    draws = class_draws(Rows(data.y, weight=data.weight, cluster=data.cluster))
    if draws is None:
        return []
    if data.weight is None and _is_grouped(data):
        return [_without_counts(str(column)) for column in data.X.columns]
    found = []
    for column, area in zip(
        data.X.columns, column_aucs(data.X.to_numpy(dtype=float), data.y, data.weight), strict=True
    ):
        interval = auc_interval(float(area), *draws)
        if interval[0] <= 0.5:
            found.append(_ranks(data, str(column), float(area), interval))
    return found


def _agreement(data: Dataset, model: str) -> Problem | None:
    """Return a warning if the most probable class is right no more often than a randomly drawn one."""
    assert data.labels is not None
    columns, rows = data.columns[model], Rows(data.y, weight=data.weight, cluster=data.cluster)
    P, guess = of_classes(data, model), np.empty(data.n, dtype=np.intp)
    for start in range(0, data.n, ROWS_AT_ONCE):  # in batches, because NumPy would copy a read-only array
        guess[start : start + ROWS_AT_ONCE] = P[start : start + ROWS_AT_ONCE].argmax(axis=1)
    share = np.bincount(data.labels, rows.weights, minlength=len(columns)) / rows.weights.sum()
    right, chance = data.labels == guess, share[guess]
    gain = right - chance
    if rows.freedom <= 0 or rows.mean(gain) > rows.quantile(0.95) * rows.standard_error(gain):
        return None
    return Problem(
        "warning",
        model,
        f"The most probable class is right in {percent(rows.mean(right))} of the rows, no more often than by chance "
        f"({percent(rows.mean(chance))}).",
        f"Check that {columns[0]!r} is the column of class {data.names[0]!r}, and that each row has its own label.",
    )


def _is_grouped(data: Dataset) -> bool:
    """Tell whether rows come from GROUP BY of scores and label: none are equal, and most scores occur once per class.

    Without their counts, such lines rank the classes no better than chance, whatever the scores are worth.
    """
    if data.n < FEW_LINES or 2 * repeats(data.X).sum() <= GROUPED * data.n:
        return False
    return not any(repeats(data.X[data.y == label]).any() for label in (0, 1))


def _without_counts(column: str) -> Problem:
    return Problem(
        "warning",
        column,
        "Most scores occur once in each class, as in a table of counts. If this is such "
        "a table, the scores cannot be evaluated without the counts.",
        "On the Data page, choose the column of counts under “Weight or count”.",
    )


def scale_problems(data: Dataset) -> list[Problem]:
    """Report score columns that are read as margins, with the remedy if they are logits.

    >>> table = pd.DataFrame({"y": [0, 1, 1], "margin": [-2.5, 1.0, 3.0]})
    >>> scale_problems(prepare_predictions(table, "y"))[0].remedy
    'If they are logits (log-odds), their sigmoid is the probability.'
    """
    if data.joint:
        return []
    ends = zip(map(str, data.X.columns), data.X.min(), data.X.max(), strict=True)
    return [_margins(column, low, high) for column, low, high in ends if low < 0 or high > 1]


def _margins(column: str, low: float, high: float) -> Problem:
    message = (
        f"Scores from {number(low)} to {number(high)} are not probabilities, so they cannot be evaluated "
    )
    remedy = "If they are logits (log-odds), their sigmoid is the probability."
    return Problem("info", column, f"{message}without a calibrator.", remedy, AS_LOGITS.fix, AS_LOGITS.label)


def _ranks(data: Dataset, column: str, area: float, interval: tuple[float, float]) -> Problem:
    """Return the warning about scores whose AUC is not clearly above one half."""
    negative, positive = data.classes
    result = f"AUC {with_interval(area, *interval)}"
    # "not a" means several labels, none of which could be chosen.
    switch = {"positive": negative} if area < 0.5 and negative != f"not {positive}" else None
    action = f"Make {negative!r} the positive class" if switch else ""
    scores = data.X[column]
    if scores.min() == scores.max():
        message = f"Every row has the same score, {number(float(scores.iloc[0]))}, so these scores cannot rank rows."
        remedy = "Check that you chose the right score column."
        switch, action = None, ""
    elif interval[1] < 0.5:
        message = f"These scores rank the classes in reverse: {result}. These scores seem to be for class {negative!r}."
        remedy = f"The positive class is {positive!r}: choose the class that these scores predict."
    else:
        backwards = ", or even in reverse" if area < 0.5 else ""
        message = f"These scores rank the classes no better than chance{backwards}: {result}."
        remedy = f"Check that they are scores for class {positive!r}, and that each score is in the row of its label."
    return Problem("warning", column, message, remedy, switch, action)


def _scores(frame: pd.DataFrame, column: str, target: str) -> np.ndarray:
    if column not in frame.columns or column == target:
        raise DataError(f"There is no score column {column!r}.", f"Choose one of {', '.join(frame.columns)}.")
    if not is_number(frame[column]):
        _refuse_text(inspect(frame[column], column))
    return as_float(frame[column]).copy()

"""Read existing predictions: a label and one or more score columns, without a model.

The class of the scores never depends on how well they agree with the labels. Columns are named after it (``p_yes``),
or it is positive by convention (1 of 0 and 1), or it is the minority class. If the scores then rank the classes in
reverse, a problem is reported.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping, Sequence
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
    called_predictions,
    cells,
    class_tables,
    few_rows,
    sum_to_one,
    to_probabilities,
    to_sigmoid,
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
from calib.data.duplicates import left_out as repeated_left_out
from calib.data.duplicates import repeats
from calib.data.errors import DataError
from calib.data.join import both_files_phrase
from calib.data.ranking import auc_interval, class_draws, column_aucs
from calib.data.roles import Read, read_roles, weight_note
from calib.data.table import about
from calib.data.target import (
    MOST_PREDICTED,
    Classes,
    Labels,
    choose_classes,
    coded_labels,
    conventional,
    guess_target,
)
from calib.kernel.records import Dataset, Problem
from calib.kernel.rows import Rows
from calib.kernel.wording import counted, listed, number, percent, quoted, row_numbers, with_interval

MOST_SCORES = 20  # most columns of a table of one label and scores
FEW_SCORES = 3  # up to this many columns in [0, 1] with a label are scores, whatever their names
NOT_SCORES = ("weight", "time", "part", "identifier")  # roles of columns of numbers that are not scores
# Names of labels in tables of predictions
TRUTH = frozenset(("y_true", "ytrue", "truth", "actual", "actuals"))
CONFIDENCE = re.compile(
    r"(?i)(^|[_\W\d])(conf(idence)?|max_?prob(ability)?|top_?1?_?prob(ability)?)($|[_\W\d])"
)
MODEL_NAME = re.compile(r"(?i)(^|[_\W\d])(model|classifier|clf)")
ROWS_AT_ONCE = 4096
FEW_LINES = 20  # fewer may coincide by chance
MOST_WRONG = 0.05  # largest share of values outside [0, 1] in a column that seems to hold probabilities
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
    >>> named_class("prob_1", ["0", "1"]), named_class("score_1", ["0", "1"])
    ('1', None)
    """
    if column in names:
        return column
    words, found = _words(column), []
    for name in sorted(names, key=len):
        label = _words(name)
        # A number after "score" may number the model.
        marks = PROBABILITY_WORDS if all(word.isdecimal() for word in label) else SCORE_WORDS
        for i, word in enumerate(words):
            beside = (words[i + 1 : i + 1 + len(label)], words[max(0, i - len(label)) : i])
            if label and word in marks and label in beside:
                found.append(name)
    return found[-1] if found else None


def _classes_of_columns(values: Mapping[str, np.ndarray], names: list[str]) -> dict[str, str | None]:
    """Return score column → class that ends its name, if columns of all classes sum to one, else ``named_class``."""
    ends = {column: _at_the_end(column, names) for column in values}
    if len(values) == len(names) and set(ends.values()) == set(names) and _add_up(list(values.values())):
        return ends
    return {column: named_class(column, names) for column in values}


def _at_the_end(column: str, names: list[str]) -> str | None:
    fitting = [name for name in names if column.casefold().endswith(name.casefold())]
    return max(fitting, key=len, default=None)


def _words(text: str) -> list[str]:
    words = re.findall(r"[^\W\d_]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).casefold())
    return [word for word in words if word not in FILLERS]


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
) -> Dataset:
    """Prepare a Dataset whose X (n, k) contains the score columns as float64, for calibration without a model.

    Rows without a label or with a missing or infinite score are excluded. ``notes`` report these rows, and scores that
    rank the classes in reverse.

    If three or more classes have one column each, X holds the probabilities of all classes (``columns``).

    Parameters
    ----------
    positive
        Positive class. None takes all classes together if each has a column; else the class that the score columns
        are named after (``p_yes``), else the one that is positive by convention (1 of 0 and 1, yes of no and yes …),
        else the minority class.
    scores
        Score columns; None takes ``score_columns``. If two of them sum to one, or a class was chosen among one
        column per class, only the column of the positive class is used.
    roles
        weight, time, cluster and part → the column with this role, which is then not a score.
    weight_as
        Meaning of whole weights, as in ``read_roles``.
    drop_repeated
        Whether to exclude rows that repeat an earlier row in every column.
    scores_as
        "logits" converts scores outside [0, 1] with the sigmoid, or one column per class with the softmax. "shares"
        divides the columns of all classes by their sum. None recognises logits of all classes.

    Raises
    ------
    DataError
        If no Dataset can be made, or the probabilities of all classes do not sum to 1.

    Examples
    --------
    >>> table = pd.DataFrame({"y": [1, 0, 1, 1], "s": [0.1, 0.9, 0.2, 0.8]})
    >>> prepare_predictions(table, "y").classes, prepare_predictions(table.rename(columns={"s": "p_0"}), "y").classes
    (('0', '1'), ('1', '0'))
    >>> three = pd.DataFrame({"y": ["a", "b", "c"], "p_a": [0.7, 0.2, 0], "p_b": [0.2, 0.8, 0], "p_c": [0.1, 0, 1]})
    >>> prepare_predictions(three, "y").columns
    {'predictions': ('p_a', 'p_b', 'p_c')}
    """
    typed, target = typed_frame(frame), str(target)
    label = coded_labels(frame, target)
    known = read_roles(typed, roles or {}, target, about(frame).notes, weight_as)
    counts = known.per_class(label)
    taken = {str(column) for column in (roles or {}).values()}
    others = typed.drop(columns=[name for name in typed if name in taken])
    tables = tables_of(others, target, list(counts), scores, positive, scores_as)
    if tables is None:
        found = _single_columns(others, target, counts, positive, scores, scores_as, both_files_phrase(frame))
    elif positive is None and len(tables.names) > 2:
        found = _of_all_classes(others, counts, tables, scores_as)
    else:
        found = _of_one_class(others, counts, tables, positive, scores_as, both_files_phrase(frame))
    scored = known.rows & found.scored
    rows = label.there & scored
    if not rows.any():
        raise DataError("No row has both a label and finite scores.", "Fill in missing labels and scores.")
    left_out = (*_left_out(label.there, found.missing), *known.notes)
    if drop_repeated:
        again = repeats(typed)
        rows, left_out = rows & ~again, (*left_out, *repeated_left_out(again))
    notes = [*found.notes, *left_out, *_unused(typed, target, {*found.values, *taken})]
    data = Dataset(
        name=name or about(frame).name or "predictions",
        X=found.table(rows),
        y=label.are(found.classes.positive)[rows].astype(np.intp),
        classes=found.classes.names,
        predictions=True,
        read=len(frame),
        left_out=left_out,
        unlabelled=known.unlabelled(label.there),
        **found.of_all_classes(label, rows),
        **_without_label(found, scored & ~label.there, known),
        **known.of(rows),
    )
    classes = found.classes
    del label, known, found, scored, rows  # free arrays as long as the table
    notes += weight_note((roles or {}).get("weight"), data.weight, data.n)
    notes += [f"{problem.column}: {problem.message}" for problem in ranking_problems(data)]
    return dataclasses.replace(data, notes=(classes.note, *notes))


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
    # For two classes a single column suffices, unless a softmax needs both
    return class_tables(typed, labels, candidates, 2 if scores_as == "logits" else 3, sure)


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
    values
        Column → float64 (n,).
    missing
        Beginning of a message ("'p' is") → bool (n,), the rows in which the score is present.
    tables, whole
        For all classes together, their columns, and all values as one array (n, k).
    """

    classes: Classes
    values: Mapping[str, np.ndarray]
    missing: Mapping[str, np.ndarray]
    notes: tuple[str, ...] = ()
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


def _single_columns(
    typed: pd.DataFrame,
    target: str,
    counts: Mapping[str, int],
    positive: object,
    scores: Sequence[str] | None,
    scores_as: str | None,
    where: str,
) -> _Scores:
    """Read scores of one class, one column per model."""
    values = {column: _scores(typed, column, target) for column in _chosen(typed, target, scores)}
    if positive is None and len(counts) > 2:
        _refuse_confidence(list(values))
    named = _classes_of_columns(values, list(counts))
    chosen_class, why = (positive, "as chosen") if positive is not None else _positive(counts, named)
    classes = choose_classes(counts, chosen_class, why, where, most=MOST_PREDICTED)
    for column in [] if scores else _other_classes(values, named, classes.positive, len(counts)):
        del values[column]
    notes = _sigmoids(values) if scores_as == "logits" else ()
    missing = {f"{column!r} is": np.isfinite(given) for column, given in values.items()}
    return _Scores(classes, values, missing, notes)


def _refuse_confidence(columns: Sequence[str]) -> None:
    """Refuse confidences with a label of several classes, because the predicted class is unknown."""
    if called := [column for column in columns if CONFIDENCE.search(column)]:
        raise DataError(
            f"{called[0]!r} seems to be the probability of the predicted class, but the table does not say whether it "
            "was right.",
            "Add a column that says so, and choose it as the label; or one column of probabilities per class. If it is "
            "the probability of one class, choose this class.",
        )


def _sigmoids(values: dict[str, np.ndarray]) -> tuple[str, ...]:
    """Convert columns outside [0, 1] with the sigmoid, in place; return the notes."""
    notes = []
    for column, given in values.items():
        known = given[np.isfinite(given)]
        if known.size and not (known.min() >= 0 and known.max() <= 1):
            values[column], note = to_sigmoid(given, column)
            notes.append(note)
    return tuple(notes)


def _of_all_classes(
    typed: pd.DataFrame, counts: Mapping[str, int], tables: ClassTables, scores_as: str | None
) -> _Scores:
    """Read probabilities of all classes, for one or several models."""
    counts = {name: counts.get(name, 0) for name in tables.names}
    classes = choose_classes(counts, joint=True, most=MOST_PREDICTED, confirmed=True)
    whole, missing, notes = cells(typed, tables.all_columns), {}, [tables.note] if tables.note else []
    for i, model in enumerate(tables.columns):
        P = whole[:, i * len(tables.names) : (i + 1) * len(tables.names)]
        there = np.isfinite(P).all(axis=1)
        missing[f"a probability of {model!r} is"] = there
        notes += filter(None, [to_probabilities(P, there, model, scores_as)])
    return _Scores(
        classes, dict(zip(tables.all_columns, whole.T, strict=True)), missing, tuple(notes), tables, whole
    )


def _of_one_class(
    typed: pd.DataFrame,
    counts: Mapping[str, int],
    tables: ClassTables,
    positive: object,
    scores_as: str | None,
    where: str,
) -> _Scores:
    """Read probabilities of the positive class from columns of all classes, for one or several models."""
    chosen_class, why = (positive, "as chosen") if positive is not None else _positive(counts, {})
    classes = choose_classes(counts, chosen_class, why, where, most=MOST_PREDICTED, confirmed=True)
    place = tables.names.index(classes.positive)
    values, missing, notes = {}, {}, [tables.note] if tables.note else []
    for model, columns in tables.columns.items():
        P = cells(typed, columns)
        there = np.isfinite(P).all(axis=1)
        notes += filter(None, [to_probabilities(P, there, model, scores_as, joint=False)])
        values[columns[place]] = P[:, place].copy()  # a copy, so that the other classes are freed
        missing[f"{columns[place]!r} is"] = np.isfinite(P[:, place])
    return _Scores(classes, values, missing, tuple(notes))


def _unused(typed: pd.DataFrame, target: str, used: Collection[str]) -> list[str]:
    unused = [column for column in typed.columns if column != target and column not in used]
    return [f"Not used as scores: {', '.join(unused)}."] if unused else []


def _without_label(found: _Scores, rows: np.ndarray, known: Read) -> dict[str, Any]:
    """Return the Dataset fields of the unlabelled rows, bool (n,): their scores and times."""
    if not rows.any():
        return {}
    return {"unlabelled_scores": found.table(rows), "unlabelled_time": known.of(rows).get("time")}


def _chosen(typed: pd.DataFrame, target: str, scores: Sequence[str] | None) -> list[str]:
    """Return the chosen score columns, else those that look like scores."""
    chosen = [str(score) for score in scores] if scores else score_columns(typed, target)
    if chosen:
        return chosen
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
    reasons |= {f"because {what} missing or infinite": ~there for what, there in missing.items()}
    return [
        f"Excluded {why}: {counted(int(out.sum()), 'row')} ({row_numbers(out)})."
        for why, out in reasons.items()
        if out.any()
    ]


def _positive(counts: Mapping[str, int], named: Mapping[str, str | None]) -> tuple[str | None, str]:
    """Return (the positive class, the reason), or (None, …) if the minority class is to be used."""
    names = {label for label in named.values() if label is not None}
    if len(names) == 1:
        return (
            names.pop(),
            f"because it is named in {listed([repr(column) for column in named if named[column]])}",
        )
    return conventional(list(counts)), f"by convention for {listed([repr(name) for name in counts])}"


def _other_classes(
    values: Mapping[str, np.ndarray], named: Mapping[str, str | None], positive: str, classes: int
) -> list[str]:
    """Return the columns of other classes, if the positive class has a column too.

    With two classes, each column may be a different model, so only columns that sum to one with it are returned.
    """
    columns = [column for column in values if named[column] == positive]
    others = [column for column in values if named[column] not in (None, positive)]
    if classes > 2:
        return others if columns else []
    return [column for column in others if any(_add_up((values[column], values[mine])) for mine in columns)]


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
    >>> ranking_problems(prepare_predictions(table, "y"))[0].message
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
    """Report score columns that are not probabilities: percentages, logits, or probabilities with a few wrong values.

    >>> table = pd.DataFrame({"y": [0, 1, 1], "p": [2.5, 70.0, 99.0]})
    >>> scale_problems(prepare_predictions(table, "y"))[0].remedy
    'If they are percentages, divide them by 100.'
    """
    if data.joint:
        return []
    ends = zip(map(str, data.X.columns), data.X.min(), data.X.max(), strict=True)
    found = [
        _wrong_values(data, column, low, high) or _scale(column, low, high) for column, low, high in ends
    ]
    return [problem for problem in found if problem is not None]


def _wrong_values(data: Dataset, column: str, low: float, high: float) -> Problem | None:
    """Return a warning if nearly all scores are probabilities: a few values make the whole column margins."""
    if low >= 0 and high <= 1:
        return None
    scores = data.X[column].to_numpy()
    outside = (scores < 0) | (scores > 1)
    if outside.mean() > MOST_WRONG:
        return None
    first, wrong = int(np.argmax(outside)), int(outside.sum())
    found = f"row {int(data.row_numbers[first]):,}: {number(float(scores[first]))}"
    return Problem(
        "warning",
        column,
        f"{wrong:,} of {data.n:,} scores {'is' if wrong == 1 else 'are'} not between 0 and 1 ({found}). So no score of "
        "the column is treated as a probability, and the uncalibrated model is not shown.",
        "If the others are probabilities, correct the values, or remove their rows from the file.",
    )


def _scale(column: str, low: float, high: float) -> Problem | None:
    scores = f"Scores from {number(low)} to {number(high)}"
    if low < 0:
        message = f"{scores} are not probabilities, so they cannot be evaluated without a calibrator."
        remedy = "If they are logits (log-odds), their sigmoid is the probability."
        return Problem("info", column, message, remedy, *AS_LOGITS)
    if high <= 100 and high > 50:
        message = f"{scores} are not treated as probabilities, which must be between 0 and 1."
        return Problem("warning", column, message, "If they are percentages, divide them by 100.")
    return None


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

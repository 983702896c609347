"""Decide what single score columns are, or ask: probabilities, percentages, logits, margins, confidences or classes.

Names and the predictions beside a column decide, never how well it agrees with the labels. The last functions ask which
class scores are the probability of, with what follows from each answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pandas as pd
from scipy.special import expit

from calib.data.class_tables import LABELLED, LOGIT_WORDS, name_words
from calib.data.columns import ROUNDING_OF_PROBABILITY, as_float, clip_rounding, has_fractions, is_number
from calib.data.conventions import PREDICTED, conventional, number_text
from calib.data.errors import DataError, ReadingQuestion, as_answer, no_column
from calib.data.label import Labels, alternative_spellings, coded_labels
from calib.data.ranking import column_aucs
from calib.data.score_columns import add_up
from calib.kernel.checks import clipped_note
from calib.kernel.read_as import Answer
from calib.kernel.wording import counted, listed, number, percent, quoted, row_numbers

CONFIDENCE = re.compile(
    r"(?i)(^|[_\W\d])(conf(idence)?|certainty|max_?prob(ability)?|top_?1?_?prob(ability)?|"
    r"konfidenz|confiance)($|[_\W\d])"
)
PERCENT_NAME = re.compile(r"(?i)(^|[_\W\d])(pct|perc|percent\w*)($|[_\W\d])|%")
MOST_WRONG = 0.05  # largest share of values outside [0, 1] in a column that seems to hold probabilities
FEWEST_KNOWN = 2  # known values below which a column's scale is not judged
WHOLE_SCALE = 100
MOST_ASKED = 6  # classes that a question offers
STATE_CLASS = 'State the positive class: pos_label in Python, "positive" in a Recipe.'


class Scaled(NamedTuple):
    """Values (n,) of a score, ``kind`` of its meaning, note on the conversion, reason → rows bool (n,) to exclude."""

    values: np.ndarray
    kind: str
    scale: str = ""
    note: str = ""
    wrong: Mapping[str, np.ndarray] = {}  # never mutated


def is_logit(column: str) -> bool:
    """Tell whether a column is named like a logit.

    >>> is_logit("logit_yes"), is_logit("log_odds"), is_logit("logistic")
    (True, True, False)
    """
    words = name_words(column)
    return bool(words & LOGIT_WORDS) or {"log", "odds"} <= words or "logodds" in words


def read_scale(values: np.ndarray, column: str, scores_as: str | None, wrong_scores: str | None) -> Scaled:
    """Return the scores of one column as probabilities if they are, else as margins; or ask.

    Parameters
    ----------
    values : (n,)
        Missing ones are NaN.
    scores_as, wrong_scores
        Key of ``SCORES_AS`` and of ``WRONG_SCORES``, as stated by a person; None if not.

    Raises
    ------
    ReadingQuestion
        If the scale is not clear.
    DataError
        If values are not what was stated.

    Examples
    --------
    >>> found = read_scale(np.array([0.25, 1.0000001]), "p", None, None)
    >>> found.values, found.kind, found.note
    (array([0.25, 1.  ]), 'probability', "'p': 1 value slightly outside [0, 1] because of rounding is clipped.")
    >>> read_scale(np.array([12.0, 90.0]), "risk_percent", None, None)[:3]
    (array([0.12, 0.9 ]), 'probability', 'divided by 100')
    """
    known = values[np.isfinite(values)]
    if not known.size:
        return Scaled(values, "probability")
    low, high = float(known.min()), float(known.max())
    if scores_as in (None, "probabilities", "right", "confidence", "shares") and _is_unit(low, high):
        if scores_as is None and known.size >= FEWEST_KNOWN and ((known == 0) | (known == 1)).all():
            refuse_classes([column], {"scores": (column,), "scores_as": "probabilities"})
        if wrong_scores == "certain":
            return _without((values == 0) | (values == 1), values, column, "is exactly 0 or 1")
        return _clipped(values, column)
    if scores_as == "margins":
        return Scaled(values, "margin")
    called = scores_as in (None, "right", "confidence") and PERCENT_NAME.search(column)
    if called or scores_as == "percentages" or _is_percent_confidence(known, scores_as):
        return _percentages(values, column, low, high)
    if scores_as == "logits":
        return Scaled(values, "probability") if _is_unit(low, high) else _sigmoid(values, column)
    if scores_as is None and is_logit(column):
        return _sigmoid(values, column)
    outside = np.isfinite(values) & (
        (values < -ROUNDING_OF_PROBABILITY) | (values > 1 + ROUNDING_OF_PROBABILITY)
    )
    if wrong_scores == "exclude":
        return _without(outside, values, column, "is not between 0 and 1")
    one_code = 2 * outside.sum() < known.size and len(np.unique(values[outside])) == 1
    if scores_as is not None or one_code or outside.sum() <= MOST_WRONG * known.size:
        _ask_about_wrong(values, column, outside, scores_as, high)
    if low >= -ROUNDING_OF_PROBABILITY and high <= WHOLE_SCALE:
        _ask_about_percentages(column, low, high)
    return Scaled(values, "margin")


def _is_percent_confidence(known: np.ndarray, scores_as: str | None) -> bool:
    """Tell whether values (n,) that were stated to be confidences are percentages: most are above 1, none above 100."""
    stated = scores_as in ("right", "confidence")
    return stated and known.min() >= 0 and known.max() <= WHOLE_SCALE and (known > 1).mean() > 1 - MOST_WRONG


def _is_unit(low: float, high: float) -> bool:
    return low >= -ROUNDING_OF_PROBABILITY and high <= 1 + ROUNDING_OF_PROBABILITY


def _without(rows: np.ndarray, values: np.ndarray, column: str, why: str) -> Scaled:
    found = _clipped(np.where(rows, np.nan, values), column)
    return found._replace(wrong={f"because {column!r} {why}": rows})


def _clipped(values: np.ndarray, column: str) -> Scaled:
    after = clip_rounding(values)
    return Scaled(after, "probability", note=clipped_note(values, after, repr(column)))


def _percentages(values: np.ndarray, column: str, low: float, high: float) -> Scaled:
    if not (low >= -ROUNDING_OF_PROBABILITY and high <= WHOLE_SCALE * (1 + ROUNDING_OF_PROBABILITY)):
        raise DataError(
            f"{column!r} was read as percentages, but contains {number(low if low < 0 else high)}.",
            "Percentages lie between 0 and 100. Correct the values, or state scores_as.",
        )
    note = f"{column!r}: percentages are divided by 100."
    return Scaled(np.clip(values / WHOLE_SCALE, 0, 1), "probability", "divided by 100", note)


def _sigmoid(values: np.ndarray, column: str) -> Scaled:
    note = f"{column}: the column contains logits, so their sigmoid is used."
    return Scaled(expit(values), "probability", "as the sigmoid of its logits", note)


def _ask_about_wrong(
    values: np.ndarray, column: str, outside: np.ndarray, scores_as: str | None, high: float
) -> NoReturn:
    """Ask what to do with a few values outside [0, 1] in a column of probabilities."""
    wrong, total = int(outside.sum()), int(np.isfinite(values).sum())
    first = int(np.argmax(outside))
    state: dict[str, Any] = {} if scores_as is None else {"scores_as": scores_as}
    excluded = f"{counted(wrong, 'row')} {'is' if wrong == 1 else 'are'} excluded: {row_numbers(outside)}."
    answers = [as_answer("Exclude these rows", excluded, **state, wrong_scores="exclude")]
    if scores_as is None and values[outside].min() >= 0 and high <= WHOLE_SCALE:
        answers.append(as_answer("Percentages", "Divided by 100.", scores_as="percentages"))
    if scores_as is None:
        only = "Only calibrators for arbitrary scores can be used."
        answers.append(as_answer("Not probabilities", only, scores_as="margins"))
    raise ReadingQuestion(
        f"{wrong:,} of {total:,} scores in {column!r} {'is' if wrong == 1 else 'are'} not between 0 and 1 "
        f"(row {first + 1:,}: {number(float(values[first]))}). The other scores look like probabilities.",
        tuple(answers),
        "Exclude these rows, or correct the file.",
    )


def _ask_about_percentages(column: str, low: float, high: float) -> NoReturn:
    raise ReadingQuestion(
        f"Scores from {number(low)} to {number(high)} in {column!r} may be percentages, or other scores "
        "that are not probabilities.",
        (
            as_answer(
                "Percentages", f"{number(high)} becomes {number(high / 100)}.", scores_as="percentages"
            ),
            as_answer(
                "Not probabilities",
                "Only calibrators for arbitrary scores can be used, such as Platt scaling.",
                scores_as="margins",
            ),
        ),
    )


def refuse_classes(columns: Sequence[str], certain: Mapping[str, Any] | None = None) -> NoReturn:
    """Refuse columns of predicted classes, which are not probabilities.

    ``certain`` are the options of ``data_params`` that evaluate numbers 0 and 1 nevertheless.
    """
    verb = "contains" if len(columns) == 1 else "contain"
    raise DataError(
        f"{listed(list(map(repr, columns)), 4)} {verb} predicted classes, not probabilities, so calibration cannot be "
        "evaluated.",
        "Save probabilities: predict_proba() instead of predict().",
        (({"data_params": certain}, "Evaluate as 0 % and 100 %"),) if certain else (),
    )


def named_probability(column: str) -> bool:
    """Tell whether a word in a column's name says that it contains probabilities, logits or margins.

    >>> named_probability("p_1"), named_probability("y_pred"), named_probability("pred_class")
    (True, False, False)
    """
    return bool((LABELLED - {"class"}) & name_words(column))


def predicted_columns(typed: pd.DataFrame, target: str, texts: Collection[str]) -> list[str]:
    """Return columns, other than the label, that contain only labels: predicted classes.

    Parameters
    ----------
    texts
        Labels, as spelt in the file.

    Examples
    --------
    >>> table = pd.DataFrame({"y": ["a", "b"], "guess": ["b", "b"], "p": [0.1, 0.9]})
    >>> predicted_columns(table, "y", ["a", "b"])
    ['guess']
    >>> predicted_columns(pd.DataFrame({"y": [0, 1], "guess": ["no", "yes"]}), "y", ["0", "1"])
    ['guess']
    """
    known = set(map(number_text, texts))
    others = [(name, column) for name, column in typed.items() if name != target]
    return [
        name for name, column in others if _holds_only(column, known) or _other_words(typed, name, [*texts])
    ]


def _other_words(typed: pd.DataFrame, column: str, texts: Sequence[str]) -> dict[str, str]:
    """Return the words of predicted classes → labels, if a convention orders both: no and yes beside 0 and 1."""
    positive = conventional(texts)
    if positive is None or not PREDICTED.search(column) or typed[column].iloc[:1000].nunique() != 2:
        return {}
    words = coded_labels(typed, column).texts
    if (yes := conventional(words)) is None:
        return {}
    negative, no = (
        next(name for name in names if name != one) for names, one in ((texts, positive), (words, yes))
    )
    return {yes: positive, no: negative}


def _holds_only(column: pd.Series, known: Collection[str]) -> bool:
    for part in (column.iloc[:1000], column) if len(column) > 1000 else (column,):
        if is_number(part) and has_fractions(part):
            return False
        finite = pd.Series(as_float(part)).where(np.isfinite) if is_number(part) else part
        values = finite.dropna().unique()
        if not 0 < len(values) <= len(known):
            return False
        if not {number_text(str(value).strip()) for value in values} <= set(known):
            return False
    return True


@dataclass(frozen=True, eq=False)
class Beside:
    """Predicted classes beside a score: their column, and codes (n,) among the labels, −1 if missing."""

    column: str
    codes: np.ndarray


def _beside(typed: pd.DataFrame, column: str, texts: Sequence[str]) -> Beside:
    known, found = {number_text(text): place for place, text in enumerate(texts)}, coded_labels(typed, column)
    words = _other_words(typed, column, texts)
    places = [known.get(number_text(words.get(text, text)), -1) for text in found.texts]
    return Beside(column, np.array([*places, -1])[found.codes])


def predicted_column(
    typed: pd.DataFrame, target: str, texts: Sequence[str], found: Collection[str], stated: str | None
) -> Beside | None:
    """Return the predicted classes beside the scores: the stated column, else the only one that is named so.

    Raises
    ------
    DataError
        If the stated column does not exist or contains other values than labels.
    """
    if stated is not None:
        if stated not in typed or stated == target:
            raise no_column(f"predicted: column {stated!r}", typed)
        if stated not in found:
            raise DataError(
                f"predicted: {stated!r} contains values other than the labels {quoted(list(texts))}.",
                "Choose the column of predicted classes.",
            )
        return _beside(typed, stated, texts)
    named = [name for name in found if PREDICTED.search(name)]
    named = named or [name for name in found if not is_number(typed[name])]
    return _beside(typed, named[0], texts) if len(named) == 1 else None


def beside_predictions(
    values: np.ndarray, column: str, codes: np.ndarray, classes: int
) -> tuple[str, int] | None:
    """Say what a score beside predicted classes is: ("confidence", −1), ("class", code of its class), ("ask", code).

    Parameters
    ----------
    values, codes : (n,)
        Scores, and positions of the predicted classes, −1 if missing.
    classes
        Number of classes.

    Returns
    -------
    tuple or None
        None if the predicted classes say nothing. With two classes, a score that is at least as high in all rows
        predicted as one class as in all others, and below one half somewhere, is a probability of that class.
    """
    known = np.isfinite(values) & (codes >= 0)
    if not known.any() or not _is_unit(float(values[known].min()), float(values[known].max())):
        return None
    least, named = float(values[known].min()), bool(CONFIDENCE.search(column))
    if classes > 2:
        return ("confidence", -1) if named or least >= 1 / classes - ROUNDING_OF_PROBABILITY else None
    sides = [values[known & (codes == k)] for k in (0, 1)]
    if all(side.size for side in sides):
        for k, (higher, lower) in ((1, sides[::-1]), (0, sides)):
            if least < 0.5 - ROUNDING_OF_PROBABILITY and lower.max() <= higher.min():
                return ("ask" if named else "class"), k
        if least >= 0.5 - ROUNDING_OF_PROBABILITY:
            return "confidence", -1
    return ("confidence", -1) if named else None


def as_right(beside: str) -> Answer:
    """Return the answer that scores are the probability that the predictions in a column are right."""
    label = "Probability that the prediction is right"
    return as_answer(label, "", {"positive": None}, scores_as="right", predicted=beside)


def ask_about_confidence(column: str, beside: str, label: str) -> NoReturn:
    """Ask whether a column named like a confidence is one, if the predicted classes beside it say otherwise."""
    raise ReadingQuestion(
        f"The name of {column!r} suggests the confidence in the class in {beside!r}, but the values are "
        f"higher wherever {beside!r} is {label!r}.",
        (
            as_answer(
                f"Probability of {label!r}",
                "",
                {"positive": label},
                scores_as="probabilities",
                predicted=beside,
            ),
            as_right(beside),
        ),
    )


def ask_about_two(
    P: np.ndarray, label: Labels, names: Sequence[str], columns: Sequence[str], question: ReadingQuestion
) -> NoReturn:
    """Ask how two columns, one per class, are to be brought together if they do not add up to 1."""
    answers = list(question.answers)
    for name, column, values in [*zip(names, columns, P.T, strict=True)][::-1]:
        use = f"Use only {column!r}, as the probability of {name!r}"
        what = consequence(values, label, name, None)
        answers.append(as_answer(use, what, {"positive": name}, scores=(column,)))
    if (positive := conventional(names)) is not None:
        models = f"Two models: both columns are probabilities of {positive!r}"
        answers.append(as_answer(models, "", {"positive": positive}, scores=tuple(columns)))
    raise ReadingQuestion(question.message, tuple(answers), question.remedy) from None


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
    pairs = {name: [other for other in counts if other != name] for name in counts if len(counts) == 3}
    rest, answers = [name for name, pair in pairs.items() if conventional(pair)][-1:], []
    if len(counts) - len(alternative_spellings(counts)) == 2 < len(counts):
        answers.append(as_answer("Merge spellings of one label", "Two classes remain.", merge_labels=True))
    elif rest:
        answers.append(as_answer(f"Exclude {rest[0]!r}", "Two classes remain.", drop_labels=tuple(rest)))
    for name in names:
        what = f"{'Probability of' if each.kind == 'probability' else 'Score for'} {name!r}"
        answers.append(as_answer(what, consequence(each.values, label, name, each.kind), {"positive": name}))
    for name in hard if each.kind == "probability" else ():
        what = f"Confidence of the class in {name!r}"
        answers.append(as_answer(what, scores_as="right", predicted=name, scores=(column,)))
    columns = "" if len(found) == 1 else " This choice applies to all score columns."
    raise ReadingQuestion(
        f"{column!r} may be {kind} {listed([repr(name) for name in names], last='or')}. Neither the name of "
        f"the column nor a convention answers this question.{columns}",
        tuple(answers),
        STATE_CLASS,
    )


def ask_which_is_which(label: Labels, counts: Mapping[str, int], found: Mapping[str, Scaled]) -> None:
    """Ask which of two columns that add up to 1 belongs to which of two classes, if no name says so."""
    columns = [column for column, each in found.items() if each.kind == "probability"]
    pairs = (pair for pair in combinations(columns, 2) if add_up([found[column].values for column in pair]))
    if len(counts) != 2 or (pair := next(pairs, None)) is None or np.ptp(found[pair[0]].values) == 0:
        return
    (negative, positive), answers = _in_order(counts), []
    for column, other in (pair, pair[::-1]):
        reading = f"{column!r} is the probability of {positive!r}, and {other!r} of {negative!r}"
        what = consequence(found[column].values, label, positive, None)
        answers.append(as_answer(reading, what, {"positive": positive}, scores=(column,)))
    raise ReadingQuestion(
        f"{pair[0]!r} and {pair[1]!r} add up to 1, so each belongs to one class. The column names "
        f"do not show which column belongs to which class.",
        tuple(answers),
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

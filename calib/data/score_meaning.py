"""Decide what single score columns are, or ask: probabilities, percentages, logits, margins, confidences or classes.

Names and the predictions beside a column decide, never how well it agrees with the labels.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pandas as pd
from scipy.special import expit

from calib.data.class_tables import LABELLED, LOGIT_WORDS
from calib.data.columns import ROUNDING_OF_PROBABILITY, as_float, clip_rounding, is_number
from calib.data.conventions import PREDICTED, conventional, number_text
from calib.data.errors import DataError, ReadingQuestion
from calib.data.label import coded_labels
from calib.kernel.checks import clipped_note
from calib.kernel.read_as import Answer
from calib.kernel.wording import counted, listed, number, quoted, row_numbers

CONFIDENCE = re.compile(
    r"(?i)(^|[_\W\d])(conf(idence)?|certainty|max_?prob(ability)?|top_?1?_?prob(ability)?|"
    r"konfidenz|confiance)($|[_\W\d])"
)
PERCENT_NAME = re.compile(r"(?i)(^|[_\W\d])(pct|perc|percent\w*)($|[_\W\d])|%")
MOST_WRONG = 0.05  # largest share of values outside [0, 1] in a column that seems to hold probabilities
FEWEST_KNOWN = 2  # known values below which a column's scale is not judged
WHOLE_SCALE = 100


class Scaled(NamedTuple):
    """Values (n,) of a score, ``kind`` of its meaning, note on the conversion, rows bool (n,) to exclude and why."""

    values: np.ndarray
    kind: str
    scale: str = ""
    note: str = ""
    wrong: np.ndarray | None = None
    why_wrong: str = "is not between 0 and 1"


def as_recipe(**options: Any) -> dict[str, Any]:
    """Return fields of a Recipe that set options of ``data_params``."""
    return {"data_params": options}


def is_logit(column: str) -> bool:
    """Tell whether a column is named like a logit.

    >>> is_logit("logit_yes"), is_logit("log_odds"), is_logit("logistic")
    (True, True, False)
    """
    words = set(re.findall(r"[^\W\d_]+", column.casefold()))
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
        return _without_certain(values, column) if wrong_scores == "certain" else _clipped(values, column)
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
        return _clipped(np.where(outside, np.nan, values), column)._replace(wrong=outside)
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


def _without_certain(values: np.ndarray, column: str) -> Scaled:
    certain = (values == 0) | (values == 1)
    found = _clipped(np.where(certain, np.nan, values), column)
    return found._replace(wrong=certain, why_wrong="is exactly 0 or 1")


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
    state = {} if scores_as is None else {"scores_as": scores_as}
    excluded = f"{counted(wrong, 'row')} {'is' if wrong == 1 else 'are'} excluded: {row_numbers(outside)}."
    answers = [Answer(as_recipe(**state, wrong_scores="exclude"), "Exclude these rows", excluded)]
    if scores_as is None:
        if values[outside].min() >= 0 and high <= WHOLE_SCALE:
            answers.append(Answer(as_recipe(scores_as="percentages"), "Percentages", "Divided by 100."))
        answers.append(
            Answer(
                as_recipe(scores_as="margins"),
                "Not probabilities",
                "Only calibrators for arbitrary scores can be used.",
            )
        )
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
            Answer(
                as_recipe(scores_as="percentages"),
                "Percentages",
                f"{number(high)} becomes {number(high / 100)}.",
            ),
            Answer(
                as_recipe(scores_as="margins"),
                "Not probabilities",
                "Only calibrators for arbitrary scores can be used, such as Platt scaling.",
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
        ((as_recipe(**certain), "Evaluate as 0 % and 100 %"),) if certain else (),
    )


def named_probability(column: str) -> bool:
    """Tell whether a word in a column's name says that it contains probabilities, logits or margins.

    >>> named_probability("p_1"), named_probability("y_pred"), named_probability("pred_class")
    (True, False, False)
    """
    return bool((LABELLED - {"class"}) & set(re.findall(r"[^\W\d_]+", column.casefold())))


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
        if is_number(part):
            values = as_float(part)
            values = np.unique(values[np.isfinite(values)])
            if len(values) > len(known) or (values != np.floor(values)).any():
                return False
        else:
            values = part.dropna().unique()
            if len(values) > len(known):
                return False
        if not len(values) or not {number_text(str(value).strip()) for value in values} <= set(known):
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
            raise DataError(
                f"predicted: column {stated!r} was not found.", f"Choose one of {', '.join(typed)}."
            )
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


def ask_about_confidence(column: str, beside: str, label: str) -> NoReturn:
    """Ask whether a column named like a confidence is one, if the predicted classes beside it say otherwise."""
    options = {"predicted": beside}
    raise ReadingQuestion(
        f"The name of {column!r} suggests the confidence in the class in {beside!r}, but the values are "
        f"higher wherever {beside!r} is {label!r}.",
        (
            Answer(
                {"positive": label, **as_recipe(scores_as="probabilities", **options)},
                f"Probability of {label!r}",
            ),
            Answer(
                {"positive": None, **as_recipe(scores_as="right", **options)},
                "Probability that the prediction is right",
            ),
        ),
    )

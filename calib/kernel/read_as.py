"""How a table was read: its label, the positive class and why, and what each score column is (``ReadAs``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from calib.kernel.wording import listed, short_class

SCORE_KINDS = {
    "probability": ("the probability of {}", "probabilities of {}"),
    "logit": ("the log-odds (logit) of {}", "log-odds (logits) of {}"),
    "margin": ("a score for {} that is not a probability", "scores for {} that are not probabilities"),
    "right": ("the probability that {} is right", "probabilities that {} is right"),
    "confidence": ("the confidence of the class in {}", "confidences of the class in {}"),
    "classes": ("one probability per class of {}", "one probability per class of {}"),
}
"""Meaning of a score column → its words for one and for several columns; {} is ``ScoreReading.of``."""
WHY = {
    "stated": "as stated",
    "named": "by its name",
    "predicted": "as the predicted classes show",
    "convention": "by convention",
}
"""Reason for the positive class → its words; the minority class of a table of features has none of these."""
MOST_NAMED_SCORES = 4  # score columns that a sentence names


@dataclass(frozen=True)
class ScoreReading:
    """Meaning of the columns of one score.

    Attributes
    ----------
    columns
        One column, or one column per class.
    kind
        Key of ``SCORE_KINDS``.
    of
        Class, column or label that the meaning refers to.
    scale
        Conversion of the values, as in "divided by 100"; empty if there is none.
    """

    columns: tuple[str, ...]
    kind: str
    of: str
    scale: str = ""


@dataclass(frozen=True)
class Answer:
    """One way to read a table.

    Attributes
    ----------
    fix
        Fields of a Recipe that state this reading.
    label
        Label of its button.
    consequence
        What follows from it, as one sentence; or empty.
    """

    fix: Mapping[str, Any]
    label: str
    consequence: str = ""


@dataclass(frozen=True)
class ReadAs:
    """Record of how a table was read.

    Attributes
    ----------
    target
        Label column; for arrays, "y".
    positive
        Positive class; None if all classes are predicted together.
    why
        Key of ``WHY``: the positive class was stated, a column is named after it, or a convention decides; or, for a
        table of features, "minority".
    scores
        Meaning of the score columns; empty for a table of features.
    classes
        All classes.
    others
        Other possible readings, for a change.

    Examples
    --------
    >>> score = ScoreReading(("risk",), "probability", "dead")
    >>> print(ReadAs("status", "dead", "convention", (score,), ("alive", "dead")))
    'risk' is read as the probability of 'dead', by convention. The label is 'status'.
    """

    target: str
    positive: str | None
    why: str
    scores: tuple[ScoreReading, ...] = ()
    classes: tuple[str, ...] = ()
    others: tuple[Answer, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return self.sentence

    @property
    def sentence(self) -> str:
        """Reading in one line."""
        if self.scores:
            label = "" if any(score.kind == "classes" for score in self.scores) else self._label
            return f"{self.of_scores}{label}"
        if self.positive is None:
            return (
                f"{self.target!r} is the label, and its {len(self.classes):,} classes are predicted together."
            )
        why = WHY.get(self.why, "because it is the minority class")
        return (
            f"{self.target!r} is the label, and {short_class(self.positive)!r} is the positive class, {why}."
        )

    @property
    def _label(self) -> str:
        return f" The label is {self.target!r}."

    @property
    def of_scores(self) -> str:
        """Reading of the score columns: one sentence per meaning, which several columns may share."""
        alike: dict[tuple[str, str, str], list[str]] = {}
        for score in self.scores:
            named = repr(score.columns[0]) if len(score.columns) == 1 else _ends(score.columns)
            alike.setdefault((score.kind, score.of, score.scale), []).append(named)
        found = []
        for (kind, of, scale), columns in alike.items():
            one = len(columns) == 1 and kind != "classes"
            verb = "is" if one else "are"
            how = f", {scale}" if scale else ""
            why = (
                f", {WHY[self.why]}" if self.why in WHY and kind in ("probability", "logit", "margin") else ""
            )
            words = SCORE_KINDS[kind][not one].format(repr(short_class(of)))
            found.append(f"{listed(columns, MOST_NAMED_SCORES)} {verb} read as {words}{how}{why}.")
        return " ".join(found)


def _ends(columns: tuple[str, ...]) -> str:
    return (
        listed(list(map(repr, columns)))
        if len(columns) <= MOST_NAMED_SCORES
        else f"{columns[0]!r} … {columns[-1]!r}"
    )

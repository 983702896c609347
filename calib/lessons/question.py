"""A question of a lesson: a choice of answers, or a guess placed in the picture, which is sorted into the answers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from calib.kernel import checks
from calib.kernel.checks import InputError

KINDS = ("choice", "panel", "mark", "curve")
NEEDED = ("text", "answers", "right", "why")
PLACED = {"mark": ("cuts", "at"), "curve": ("cuts", "over")}


@dataclass(frozen=True)
class Question:
    """A question with its answers, of which one is right.

    Attributes
    ----------
    text
        The question.
    answers
        Choices.
    right
        Number of the right answer, from 1.
    why
        One explanation per answer.
    kind
        How the reader guesses: by a ``choice``, by clicking a ``panel`` of the picture (the answers are its panels, in
        order), by placing a ``mark``, or by drawing a ``curve`` in a diagram whose axes run from 0 to 1.
    told
        Sentence that follows the explanation.
    cuts
        Values that sort a guess in the picture into the answers: the first answer is below the first value. Days are
        milliseconds since 1970.
    at
        Where the mark moves up and down; None: it moves sideways over the whole picture.
    over
        The part of the horizontal axis over which the distance of the curve from the diagonal is averaged.
    """

    text: str
    answers: tuple[str, ...]
    right: int
    why: tuple[str, ...]
    kind: str = "choice"
    told: str = ""
    cuts: tuple[float, ...] = ()
    at: float | None = None
    over: tuple[float, float] = (0.0, 1.0)

    def answer_to(self, guess: float | Sequence[Sequence[float]]) -> int:
        """Return the number of the answer that a guess in the picture stands for.

        Parameters
        ----------
        guess : float or sequence of (x, y)
            Value of a mark, or points of a curve.

        Examples
        --------
        >>> asked = Question("?", ("below", "near", "above"), 3, ("", "", ""), "curve", cuts=(-0.05, 0.05))
        >>> asked.answer_to([(0.25, 0.45), (0.75, 0.95)]), asked.answer_to([(0.25, 0.25), (0.75, 0.75)])
        (3, 2)
        """
        return bisect_right(self.cuts, self.value_of(guess)) + 1

    def value_of(self, guess: float | Sequence[Sequence[float]]) -> float:
        """Return the number that the cuts sort: the mark's value, or the curve's mean distance from the diagonal."""
        if self.kind == "mark":
            return float(guess)  # type: ignore[arg-type]
        low, high = self.over
        gaps = [y - x for x, y in guess if low <= x <= high]  # type: ignore[union-attr]
        return sum(gaps) / len(gaps)


def question(values: Mapping[str, Any], name: str) -> Question:
    """Read a question from a table of TOML; an error calls it ``name``."""
    kind = checks.one_of(values.get("kind", "choice"), KINDS, f"kind of {name}")
    optional = ("kind", "told", *PLACED.get(kind, ()))
    if not set(NEEDED) <= set(values) <= {*NEEDED, *optional}:
        raise InputError(
            f"the fields of {name} must be {', '.join(NEEDED)} and, if needed, {', '.join(optional)}, "
            f"but are {', '.join(values)}."
        )
    answers, why = tuple(values["answers"]), tuple(values["why"])
    if len(why) != len(answers) or not 1 <= values["right"] <= len(answers):
        raise InputError(f"{name}: why needs one text per answer, and right must be the number of an answer.")
    cuts = tuple(map(_number, values.get("cuts", ())))
    if kind in PLACED and (len(cuts) != len(answers) - 1 or list(cuts) != sorted(set(cuts))):
        raise InputError(f"{name}: cuts must be rising values, one fewer than answers.")
    over = tuple(map(float, values.get("over", (0, 1))))
    if len(over) != 2 or not 0 <= over[0] < over[1] <= 1:
        raise InputError(f"{name}: over must be two rising values from 0 to 1.")
    at = values.get("at")
    return Question(
        values["text"],
        answers,
        values["right"],
        why,
        kind,
        values.get("told", ""),
        cuts,
        None if at is None else float(at),
        over,
    )


def _number(value: float | date) -> float:
    if isinstance(value, date):
        return 1000 * datetime.combine(value, time(), UTC).timestamp()
    return float(value)

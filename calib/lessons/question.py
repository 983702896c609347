"""A question of a lesson: a choice of answers, or a guess placed in the picture, which is sorted into the answers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.wording import counted

QUESTION_KINDS = ("choice", "mark", "curve")
NEEDED_FIELDS = ("text", "answers", "right", "why")
SKETCH = {"lines", "axes", "traces", "panels"}
PLACED_FIELDS: dict[str, tuple[str, ...]] = {
    "choice": ("ghosts", "story", "step"),
    "mark": ("cuts", "at", "truth"),
    "curve": ("over", "truth"),
}
TOLERANCE = 0.1
"""The largest distance from the truth at which a guess in a picture is right; of a curve, its mean over the rows."""
TOLERANCE_TEXT = "Up to 10 percentage points off is right."
EXACT_GUESS = "Your guess is exact."  # the explanation says its number
ONE_SIDED = 0.8  # share of the gap on one side, from which a curve is simply too high or too low

Drawn = Sequence[Sequence[float]]  # points (x, y) of a curve


@dataclass(frozen=True)
class Question:
    """A question with its answers, of which one is right.

    Attributes
    ----------
    text
        The question, without how to place a mark or draw a curve: a live quiz asks it with the answers as choices.
    answers
        Choices.
    right
        Number of the right answer, from 1.
    why
        One explanation per answer.
    kind
        How the reader guesses: by a ``choice``, by placing a ``mark``, or by drawing a ``curve`` in a diagram whose
        axes run from 0 to 1.
    remark
        Sentence that follows the explanation.
    cuts
        Values that sort a mark into the answers: the first answer is below the first value. A curve's answers are
        below, near and above the diagonal.
    at
        Horizontal position of a mark, which moves up and down.
    over
        The part of the horizontal axis on which the curve is drawn, and its distance from the diagonal averaged.
    truth
        What the picture then shows: the value of the mark, or points of the curve as (x, y, rows).
    shows
        What the picture shows before the answer, since it does not tell it: names of traces.
    ghosts
        For each answer of a choice, what it would look like in the picture, where the guess stays: ``lines`` of points
        (x, y), a single point as a ring, with the number of their ``axes``; the names of ``traces``; or the numbers of
        ``panels``. Empty if it cannot be drawn.
    story, step
        Of a question at the end: what it is about, and the number of the step whose picture a live quiz shows with it,
        by default the last step.
    """

    text: str
    answers: tuple[str, ...]
    right: int
    why: tuple[str, ...]
    kind: str = "choice"
    remark: str = ""
    cuts: tuple[float, ...] = ()
    at: float | None = None
    over: tuple[float, float] = (0.0, 1.0)
    truth: float | tuple[tuple[float, float, float], ...] | None = None
    shows: tuple[str, ...] = ()
    ghosts: tuple[Mapping[str, Any], ...] = ()
    story: str = ""
    step: int = 0

    def sketch(self, answer: int) -> Mapping[str, Any]:
        """Return what an answer, from 1, would look like in the picture."""
        return self.ghosts[answer - 1] if self.ghosts else {}

    def answer_to(self, guess: float | Drawn) -> int:
        """Return the number of the answer that matches a guess in the picture: the right one if the truth is near.

        Parameters
        ----------
        guess : float or sequence of (x, y)
            Value of a mark, or points of a curve.

        Examples
        --------
        >>> asked = Question("?", ("below", "near", "above"), 3, ("", "", ""), "curve")
        >>> asked.answer_to([(0.25, 0.45), (0.75, 0.95)]), asked.answer_to([(0.25, 0.25), (0.75, 0.75)])
        (3, 2)
        """
        if self.truth is not None and self.distance(guess) <= TOLERANCE:
            return self.right
        cuts = (-TOLERANCE, TOLERANCE) if self.kind == "curve" else self.cuts
        return bisect_right(cuts, self.value_of(guess)) + 1

    def value_of(self, guess: float | Drawn) -> float:
        """Return the number that sorts a guess: the mark's value, or the curve's mean distance from the diagonal."""
        if self.kind == "mark":
            return float(guess)  # type: ignore[arg-type]
        low, high = self.over
        gaps = [y - x for x, y in guess if low <= x <= high]  # type: ignore[union-attr]
        return sum(gaps) / len(gaps)

    def is_right(self, answer: int, guess: float | Drawn | None = None) -> bool:
        """Tell whether an answer is right; a guess in the picture must be near the truth, as an S-shape is not.

        >>> asked = Question("?", ("below", "near", "above"), 2, ("", "", ""), "curve",
        ...                  truth=((0.25, 0.25, 10), (0.75, 0.75, 10)))
        >>> asked.is_right(2, [(0.25, 0.2), (0.75, 0.65)]), asked.is_right(2, [(0.25, 0.5), (0.75, 0.5)])
        (True, False)
        """
        if guess is None or self.truth is None:
            return answer == self.right
        return self.distance(guess) <= TOLERANCE

    def distance(self, guess: float | Drawn) -> float:
        """Return how far a guess is from the truth: of a curve, the mean absolute distance over the rows."""
        if self.kind == "mark":
            return round(abs(float(guess) - float(self.truth)), 9)  # type: ignore[arg-type]
        off, rows = self._off(guess)  # type: ignore[arg-type]
        return round(float(np.average(np.abs(off), weights=rows)), 9)

    def _off(self, guess: Drawn) -> tuple[np.ndarray, np.ndarray]:
        """Return (the guess less the truth at each of its points, the rows there), each (k,)."""
        x, y, rows = np.array(self.truth).T
        return np.interp(x, *np.array(guess).T) - y, rows

    def between(self, guess: Drawn) -> tuple[list[float], list[float], list[float]]:
        """Return x, the guess and the truth in their common range, to shade the area between them."""
        (x, y, _), (a, b) = np.array(self.truth).T, np.array(guess).T
        low, high = max(x[0], a[0]), min(x[-1], a[-1])
        both = np.union1d(x, a)
        both = both[(both >= low) & (both <= high)]
        return both.tolist(), np.interp(both, a, b).tolist(), np.interp(both, x, y).tolist()

    def how_far(self, guess: float | Drawn) -> str:
        """Say how far a guess is from the truth; empty without a truth.

        >>> asked = Question("?", ("low", "high"), 1, ("", ""), "mark", cuts=(0.5,), at=0.7, truth=0.27)
        >>> asked.how_far(0.5), asked.how_far(0.268)
        ('You guessed 50 %, which is 23 percentage points too high. Up to 10 percentage points off is right.',
         'Your guess is exact.')
        """
        if self.truth is None:
            return ""
        return self._curve_is_off(guess) if self.kind == "curve" else self._mark_is_off(guess)  # type: ignore[arg-type]

    def _curve_is_off(self, guess: Drawn) -> str:
        off, rows = self._off(guess)
        mean = self.distance(guess)
        side = float(np.average(off, weights=rows)) / mean if mean else 0.0
        way = "too high" if side > ONE_SIDED else "too low" if side < -ONE_SIDED else "off"
        points = round(100 * mean, 0 if mean <= TOLERANCE or mean >= TOLERANCE + 0.005 else 1)
        return f"On average your curve is {points:g} percentage points {way}. {TOLERANCE_TEXT}"

    def _mark_is_off(self, guess: float) -> str:
        off = round(100 * guess) - round(100 * float(self.truth))  # type: ignore[arg-type]
        if not off:
            return EXACT_GUESS
        side = "high" if off > 0 else "low"
        return (
            f"You guessed {100 * guess:.0f} %, which is {counted(abs(off), 'percentage point')} too {side}. "
            f"{TOLERANCE_TEXT}"
        )


def question(values: Mapping[str, Any], name: str) -> Question:
    """Read a question from a table of TOML; an error calls it ``name``."""
    kind = checks.one_of(values.get("kind", "choice"), QUESTION_KINDS, f"kind of {name}")
    optional = ("kind", "told", "shows", *PLACED_FIELDS.get(kind, ()))
    if not set(NEEDED_FIELDS) <= set(values) <= {*NEEDED_FIELDS, *optional}:
        raise InputError(
            f"the fields of {name} must be {', '.join(NEEDED_FIELDS)} and, if needed, {', '.join(optional)}, "
            f"but are {', '.join(values)}."
        )
    answers, why = tuple(values["answers"]), tuple(values["why"])
    if len(why) != len(answers) or not 1 <= values["right"] <= len(answers):
        raise InputError(
            f"{name}: `why` needs one string per answer, and `right` must be the number of an answer."
        )
    cuts = tuple(map(float, values.get("cuts", ())))
    if kind == "curve" and len(answers) != 3:
        raise InputError(f"{name}: the answers must be below, near and above the diagonal.")
    if kind == "mark" and (len(cuts) != len(answers) - 1 or list(cuts) != sorted(set(cuts))):
        raise InputError(f"{name}: cuts must be rising values, one fewer than answers.")
    ghosts = tuple(values.get("ghosts", ()))
    if ghosts and (len(ghosts) != len(answers) or not all(set(one) <= SKETCH for one in ghosts)):
        raise InputError(
            f"{name}: ghosts needs one table per answer, with {', '.join(sorted(SKETCH))} or nothing in it."
        )
    over = tuple(map(float, values.get("over", (0, 1))))
    if len(over) != 2 or not 0 <= over[0] < over[1] <= 1:
        raise InputError(f"{name}: over must be two rising values from 0 to 1.")
    at, truth = values.get("at"), values.get("truth")
    if isinstance(truth, list):
        truth = tuple((float(x), float(y), float(rows)) for x, y, rows in truth)
    elif truth is not None:
        truth = float(truth)
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
        truth,
        tuple(values.get("shows", ())),
        ghosts,
        values.get("story", ""),
        values.get("step", 0),
    )

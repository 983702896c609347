"""Lessons, each a sequence of Recipes with text in one TOML file, which is checked when it is read."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from math import ceil
from typing import Any

from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.lessons.question import Question, question
from calib.metrics import METRICS
from calib.recipe import Recipe

REPLACED = {
    "why_calibrate": "seventy",
    "reliability_diagram": "bins",
    "not_useful": "enough",
    "when_it_helps": "platt",
    "deep_trees": "enough",
    "out_of_bag": "platt",
    "still_calibrated": "still",
    "fair_on_average": "whom",
}
"""Former lesson → part of the story that took its place, to which its old links lead."""
STEP_OF_FORMER = {"labels_to_steps": (1, 1, 2, 3, 5, 4), "two_probabilities": (8, 6, 7, 9, 10)}
"""Former lesson → where its steps are in the lesson on Venn–Abers."""
PICTURE = ("part", "pins", "without", "name")
"""Fields of a step's ``picture``."""
MOST_WORDS, STEP_LEVEL, QUESTION_LEVEL = 130, 2, 1
"""Words per minute, minutes for the picture of a step, and minutes for a question."""


@dataclass(frozen=True)
class Step:
    """One step of a lesson: a page with all its settings, and text.

    Attributes
    ----------
    page
        Stem of the page's script.
    title
        Question of the step.
    text
        Short Markdown text.
    look
        Where to look; continues “Look at”.
    recipe
        Settings; all others have their defaults.
    point
        One sentence to remember.
    heading
        Short finding above the picture, once answered, as long as no setting is changed; without one, the figure's own.
    chart
        Key of the chart, if it is not the first chart of the page.
    beside
        Keys of metrics whose numbers are in a table beside the text.
    place
        Name in an address, such as venn_abers:3.
    question
        What the reader guesses before the picture shows its data; None: the experiment of its page asks, if any.
    picture
        What its picture shows: ``part``, the range of predictions whose marks are shown; ``pins``, single rows as
        (name, prediction, label); ``without``: names of traces that are explained later, and left out; ``name``:
        what the model is called instead of “Uncalibrated”, if nothing needs to be calibrated.
    moving
        Whether the page draws the reliability diagram of the model, and of its first calibrator, by a script, in which
        the marks move into their places.
    """

    page: str
    title: str
    text: str
    look: str
    recipe: Recipe
    place: str
    point: str = ""
    heading: str = ""
    chart: str = ""
    beside: tuple[str, ...] = ()
    question: Question | None = None
    picture: Mapping[str, Any] = field(default_factory=dict)
    moving: bool = False

    def departed(self, recipe: Recipe) -> bool:
        """Tell whether a reader has changed settings of this step; predictions do not count."""
        return _without_answers(recipe) != _without_answers(self.recipe)


@dataclass(frozen=True)
class Lesson:
    """A lesson: a sequence of steps, and questions at the end.

    >>> lesson = LESSONS["venn_abers"]
    >>> lesson.steps[0].place
    'venn_abers:1'
    """

    key: str
    title: str
    summary: str
    steps: tuple[Step, ...]
    questions: tuple[Question, ...] = ()
    when: str = ""
    """For teachers: which hour of a course it suits, and what it needs before it."""

    @property
    def minutes(self) -> int:
        """Approximate length from words, pictures and questions, rounded up to five minutes.

        >>> QUIZZES["bank"].minutes
        25
        """
        texts = [text for step in self.steps for text in (step.title, step.text, step.look)]
        asked = [*self.questions, *(step.question for step in self.steps if step.question)]
        texts += [text for one in asked for text in (one.text, *one.answers, *one.why)]
        words = sum(len(text.split()) for text in texts)
        return 5 * ceil(
            (words / MOST_WORDS + STEP_LEVEL * len(self.steps) + QUESTION_LEVEL * len(self.questions)) / 5
        )


def parse_step(text: str) -> tuple[Lesson, int]:
    """Return the lesson and the number of the step, from 1, that an address names.

    Parameters
    ----------
    text : str
        ``lesson:step``, such as "venn_abers:2"; ``lesson`` alone is its first step. Former names of steps are known.

    Raises
    ------
    InputError
        If there is no such lesson or step.

    Examples
    --------
    >>> lesson, number = parse_step("two_probabilities:1")
    >>> lesson.key, number
    ('venn_abers', 8)
    >>> parse_step("venn_abers:11")
    Traceback (most recent call last):
    ...
    calib.kernel.checks.InputError: lesson must be a step of venn_abers from 1 to 10, but is 'venn_abers:11'.
    """
    key, _, number = (text if ":" in text else f"{text}:1").partition(":")
    if not re.fullmatch("[1-9][0-9]*", number):
        raise InputError(
            f"lesson must be the name of a lesson and the number of a step, such as {key}:1, but is {text!r}."
        )
    if key in STEP_OF_FORMER and int(number) <= len(STEP_OF_FORMER[key]):
        key, number = "venn_abers", str(STEP_OF_FORMER[key][int(number) - 1])
    lesson = LESSONS[checks.one_of(key, LESSONS, "lesson")]
    if not 1 <= int(number) <= len(lesson.steps):
        raise InputError(f"lesson must be a step of {key} from 1 to {len(lesson.steps)}, but is {text!r}.")
    return lesson, int(number)


def read(key: str, text: str) -> Lesson:
    """Read a lesson from a TOML text; an error names the lesson's key."""
    try:
        values = tomllib.loads(text.replace(" %", "\u00a0%"))  # no line begins with the sign
        questions = tuple(
            question(one, f"question {i}") for i, one in enumerate(values.pop("questions", ()), start=1)
        )
        when = values.pop("when", "")
        _only(values, ("title", "summary", "steps"))
        steps = tuple(_step(key, i, one) for i, one in enumerate(values["steps"], start=1))
    except (tomllib.TOMLDecodeError, InputError) as error:
        raise InputError(f"Lesson {key}: {error}") from None
    for i, one in enumerate(questions, start=1):
        if not 0 <= one.step <= len(steps):
            raise InputError(f"Lesson {key}: the step of question {i} must be from 1 to {len(steps)}.")
    return Lesson(key, values["title"], values["summary"].strip(), steps, questions, when)


def _step(key: str, number: int, values: dict[str, Any]) -> Step:
    try:
        point, chart = values.pop("point", "").strip(), values.pop("chart", "")
        heading = values.pop("heading", "")
        beside = tuple(checks.one_of(one, tuple(METRICS), "beside") for one in values.pop("beside", ()))
        asked = values.pop("question", None)
        moving = checks.switch(values.pop("moving", False), "moving")
        picture = values.pop("picture", {})
        if unknown := set(picture) - {*PICTURE}:
            raise InputError(
                f"picture can only have the fields {', '.join(PICTURE)}, not {', '.join(sorted(unknown))}."
            )
        _only(values, ("page", "title", "text", "look", "recipe"))
        recipe = Recipe(**values["recipe"])
        own = None if asked is None else question(asked, "question")
        if moving and not (
            values["page"] == "explore_reliability"
            and own
            and own.kind == "curve"
            and own.truth
            and own.shows
        ):
            raise InputError(
                "moving needs the page explore_reliability and the question of a curve that `shows` the model."
            )
    except (TypeError, InputError) as error:
        raise InputError(f"step {number}: {error}") from None
    return Step(
        values["page"],
        values["title"],
        values["text"].strip(),
        values["look"].strip(),
        recipe,
        f"{key}:{number}",
        point,
        heading,
        chart,
        beside,
        own,
        picture,
        moving,
    )


def _only(values: Mapping[str, Any], names: tuple[str, ...]) -> None:
    if set(values) != set(names):
        raise InputError(
            f"the fields must be {', '.join(names)} and nothing else, but are {', '.join(values)}."
        )


def _without_answers(recipe: Recipe) -> Recipe:
    return recipe.replace(
        settings={name: value for name, value in recipe.settings if not name.endswith(".guess")}
    )


class _Lessons(Mapping[str, Lesson]):
    """Mapping that reads each lesson at its first use, when all settings of its Recipes are declared."""

    def __init__(self, folder: str, keys: tuple[str, ...]) -> None:
        self._folder, self._keys = files(__name__).joinpath(folder), keys
        self._read: dict[str, Lesson] = {}

    def __getitem__(self, key: str) -> Lesson:
        if key not in self._keys:
            raise KeyError(key)
        if key not in self._read:
            text = self._folder.joinpath(f"{key}.toml").read_text(encoding="utf-8")
            self._read[key] = read(key, text)
        return self._read[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


LESSONS: Mapping[str, Lesson] = _Lessons("", ("venn_abers",))
"""Key → lesson, each ``<key>.toml`` in this folder."""
QUIZZES: Mapping[str, Lesson] = _Lessons("quizzes", ("bank", "diagram"))
"""Key → questions for a live quiz, written as a lesson; a reader meets them in the story."""

__all__ = ["LESSONS", "QUIZZES", "REPLACED", "STEP_OF_FORMER", "Lesson", "Question", "Step", "parse_step"]

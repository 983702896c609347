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

ORDER = (
    "why_calibrate",
    "reliability_diagram",
    "labels_to_steps",
    "two_probabilities",
    "not_useful",
    "when_it_helps",
    "three_classes",
)
"""Lessons in the order of the list, each after the lessons that it needs; each is ``<key>.toml`` in this folder."""
REPLACED = {
    "deep_trees": "enough",
    "out_of_bag": "platt",
    "still_calibrated": "still",
    "fair_on_average": "whom",
}
"""Former lesson → step of the story that took its place, to which its old links lead."""
PICTURE = ("metric", "levels", "pins", "before", "after", "without", "known", "name", "lines", "against")
"""Fields of a step's ``picture``."""
WORDS, STEP, QUESTION = 130, 2, 1
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
        Further parts beside the text: keys of metrics or of scores of all classes, or "advice".
    place
        Name in an address, such as three_classes:3.
    question
        What the reader guesses before the picture shows its data; None: the experiment of its page asks, if any.
    controls
        Names of fields or settings whose controls are in the step, such as bins or decide.cost_miss.
    picture
        What its picture shows beyond the page's own: the ``metric`` of scores or setups, ``levels`` by name to compare
        with, ``pins``, single rows that move with the marks, as (name, prediction, label), and the range of predictions
        that moving marks show ``before`` and ``after`` the answer; ``without``: names of traces that are explained
        later, and left out; ``known``: options of the figure until the answer, for a state that the reader knows, such
        as five bins; ``name``: what the model is called instead of “Uncalibrated”, if nothing needs to be calibrated;
        ``lines``: keys of the lines in colour; ``against``: the place of an earlier step whose model has a row in the
        table of numbers, under that step's ``name``.
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
    controls: tuple[str, ...] = ()
    picture: Mapping[str, Any] = field(default_factory=dict)
    moving: bool = False

    @property
    def scores(self) -> dict[str, Any]:
        """Return the options of the figure of scores."""
        return {name: self.picture[name] for name in ("metric", "levels") if name in self.picture}

    def departed(self, recipe: Recipe) -> bool:
        """Tell whether a reader has changed settings of this step; predictions do not count."""
        return _without_answers(recipe) != _without_answers(self.recipe)


@dataclass(frozen=True)
class Lesson:
    """A lesson: a sequence of steps, and questions at the end.

    >>> lesson = LESSONS["reliability_diagram"]
    >>> lesson.steps[0].place
    'reliability_diagram:1'
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

        >>> LESSONS["when_it_helps"].minutes
        15
        """
        texts = [text for step in self.steps for text in (step.title, step.text, step.look)]
        asked = [*self.questions, *(step.question for step in self.steps if step.question)]
        texts += [text for one in asked for text in (one.text, *one.answers, *one.why)]
        words = sum(len(text.split()) for text in texts)
        return 5 * ceil((words / WORDS + STEP * len(self.steps) + QUESTION * len(self.questions)) / 5)


def parse_step(text: str) -> tuple[Lesson, int]:
    """Return the lesson and the number of the step, from 1, that an address names.

    Parameters
    ----------
    text : str
        ``lesson:step``, such as "three_classes:2"; ``lesson`` alone is its first step.

    Raises
    ------
    InputError
        If there is no such lesson or step.

    Examples
    --------
    >>> parse_step("three_classes:9")
    Traceback (most recent call last):
    ...
    calib.kernel.checks.InputError: lesson must be a step of three_classes from 1 to 4, but is 'three_classes:9'.
    """
    key, _, number = (text if ":" in text else f"{text}:1").partition(":")
    if not re.fullmatch("[1-9][0-9]*", number):
        raise InputError(
            f"lesson must be the name of a lesson and the number of a step, such as {key}:1, but is {text!r}."
        )
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
    return Lesson(key, values["title"], values["summary"].strip(), steps, questions, when)


def _step(key: str, number: int, values: dict[str, Any]) -> Step:
    try:
        point, chart = values.pop("point", "").strip(), values.pop("chart", "")
        heading = values.pop("heading", "")
        beside = tuple(
            checks.one_of(one, (*METRICS.everything(), "advice"), "beside")
            for one in values.pop("beside", ())
        )
        asked, controls = values.pop("question", None), tuple(values.pop("controls", ()))
        moving = checks.switch(values.pop("moving", False), "moving")
        picture = values.pop("picture", {})
        if unknown := set(picture) - {*PICTURE}:
            raise InputError(f"picture must have {', '.join(PICTURE)}, not {', '.join(sorted(unknown))}.")
        _only(values, ("page", "title", "text", "look", "recipe"))
        recipe = Recipe(**values["recipe"])
        _check_controls(controls, recipe)
        own = None if asked is None else question(asked, "question")
        if moving and not (values["page"] == "explore_reliability" and own):
            raise InputError("moving needs the page explore_reliability and a question.")
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
        controls,
        picture,
        moving,
    )


def _check_controls(controls: tuple[str, ...], recipe: Recipe) -> None:
    for name in controls:
        try:
            recipe.value(name)
        except (KeyError, AttributeError):
            raise InputError(
                f"controls must be fields or settings of a Recipe, but {name} is neither."
            ) from None


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

    def __init__(self) -> None:
        self._read: dict[str, Lesson] = {}

    def __getitem__(self, key: str) -> Lesson:
        if key not in ORDER:
            raise KeyError(key)
        if key not in self._read:
            text = files(__name__).joinpath(f"{key}.toml").read_text(encoding="utf-8")
            self._read[key] = read(key, text)
        return self._read[key]

    def __iter__(self) -> Iterator[str]:
        return iter(ORDER)

    def __len__(self) -> int:
        return len(ORDER)


LESSONS: Mapping[str, Lesson] = _Lessons()
"""Key → lesson, in order."""

__all__ = ["LESSONS", "REPLACED", "Lesson", "Question", "Step", "parse_step"]

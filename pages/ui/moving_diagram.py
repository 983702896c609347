"""Draw a reliability diagram whose marks move; Plotly draws it until the script is loaded."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from calib.calibrators import label_of
from calib.evaluate import Evaluation
from calib.export.playground import CALIBRATED, STYLE, marks_of
from calib.lessons import parse_step
from pages.ui import browser, placed_guess, state
from pages.ui.posed_question import current_question

LOW_HISTOGRAM = 40  # units of the histogram's height, low so that the diagram is large


def over_the_chart(arguments: dict[str, Any]) -> None:
    """Draw the arguments of ``calibrated.js`` over the chart in the container with the key "moving"."""
    # Not isolated, because a guess is placed over it (scripts/guess.js)
    browser.component("moving_diagram", CALIBRATED, STYLE, isolate=False)(key="calibrated", data=arguments)


def in_step(evaluation: Evaluation) -> None:
    """Draw the marks of the model in a lesson's step, and with a switch those of its calibrator.

    While the question is open, only its ``shows`` are drawn: the model, because the calibrator is the answer.
    """
    lesson, number = parse_step(state.lesson_open())
    step = lesson.steps[number - 1]
    keys = list(evaluation.predictions)[:2]
    if current_question().empty:
        keys = [key for key in keys if label_of(key) in step.question.shows]
    marks = marks_of(evaluation, keys)
    # two neighbouring points with enough rows
    has_a_line = any(one[2] and other[2] for one, other in pairwise(marks["curves"][0]))
    dotted = f"Dotted: {label_of(keys[0]).lower()}." if has_a_line else ""
    arguments = marks | {"calibrates": label_of(keys[-1]), "words": ["", dotted], "on": True}
    if ghost := current_question().ghost:
        arguments["guess"] = placed_guess.drawn(ghost)
    over_the_chart(arguments | {"under": LOW_HISTOGRAM})

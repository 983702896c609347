"""A lesson to take to class: of every step question, picture and finding; exercises; solutions on their own sheet."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from calib.experiments import SKIP, Experiment, shown
from calib.export import chromium
from calib.export.cards import drawn, of_what_is_shown
from calib.export.pages import page
from calib.figures import LIGHT, Theme
from calib.figures.projector import for_a_room
from calib.kernel.progress import Watch
from calib.lessons import Lesson, Step

# Pixels at most, with type as for a room: printed so small that two steps fill a sheet of A4. What is lower than on a
# page (DESK) is narrower, too, so that nothing is stretched
WIDTH, HEIGHT, DESK = 1528, 740, 940
PRINTED = 0.42  # of that size: 24 pixels are 7.5 points then
LETTERS = "ABCDEFGH"
NOT_ASKED: dict[str, Any] = {"question": "", "answers": (), "solution": ""}


def lesson_handout(lesson: Lesson, theme: Theme = LIGHT, watch: Watch | None = None) -> bytes:
    """Return the handout as one HTML page that loads nothing; ``handout_pdf`` prints it."""
    parts = []
    for step, chart in drawn(lesson, watch or Watch()):
        figure = _on_paper(chart.draw(theme))
        words = {"title": step.title, "text": step.text, "point": step.point, "finding": chart.record.title}
        drawing = {"figure": figure, "alt": chart.record.alt}
        parts.append(words | drawing | _asked(step))
    told: dict[str, Any] = {"parts": parts, "questions": lesson.questions, "printed": PRINTED}
    return page("handout.html", lesson.title, theme, summary=lesson.summary, **told)


def handout_pdf(lesson: Lesson, watch: Watch | None = None) -> bytes:
    """Print the handout on A4 sheets.

    Raises
    ------
    NoBrowser
        Where no browser is there to print it.
    """
    return chromium.print_pdf(lesson_handout(lesson, watch=watch).decode())


def _on_paper(figure: go.Figure) -> go.Figure:
    """Make a figure as wide as the sheet, whatever window prints it, and keep its shape."""
    larger = for_a_room(of_what_is_shown(figure), highest=HEIGHT)
    width = DESK * larger.layout.height / figure.layout.height
    return larger.update_layout(width=min(WIDTH, width))


def _asked(step: Step) -> dict[str, Any]:
    """The question of a Learn page with its answers and solution, where the step asks it."""
    if not step.page.startswith("learn_"):
        return NOT_ASKED
    settings = dict(step.recipe.settings)
    experiment: Experiment = shown(settings, step.page.removeprefix("learn_"))
    if not experiment.right or settings.get(f"{experiment.key}.guess") == SKIP:
        return NOT_ASKED
    right = experiment.right - 1
    solution = (
        f"{LETTERS[right]}, {experiment.answers[right]}: {experiment.why[right] if experiment.why else ''}"
    )
    return {"question": experiment.question, "answers": experiment.answers, "solution": solution}

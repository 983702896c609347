"""A lesson to take to class: every step's question with room for a guess; exercises; pictures and solutions apart."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from calib.experiments import SKIP, Experiment, shown
from calib.export import chromium
from calib.export.cards import drawn, of_what_is_shown
from calib.export.pages import page
from calib.figures import LIGHT, Theme
from calib.figures.emptied import without_data
from calib.figures.projector import for_a_room
from calib.kernel.progress import Watch
from calib.lessons import Lesson, Question, Step

# Pixels at most, with type as for a room: printed so small that two steps fill a sheet of A4. What is lower than on a
# page (DESK) is narrower, too, so that nothing is stretched
WIDTH, HEIGHT, DESK = 1528, 740, 940
GUESSED = 540  # pixels of the height of an empty picture, in which a guess is drawn
NARROW = 800  # pixels of the width up to which an empty picture leaves room for text beside it
SQUARE = 0.84  # of the height of a reliability diagram and its histogram: all the width that they need
PRINTED = 0.42  # of that size: 24 pixels are 7.5 points then
LETTERS = "ABCDEFGH"


def lesson_handout(lesson: Lesson, theme: Theme = LIGHT, watch: Watch | None = None) -> bytes:
    """Return the handout as one HTML page that loads nothing; ``handout_pdf`` prints it."""
    parts = []
    for step, chart in drawn(lesson, watch or Watch()):
        figure = chart.draw(theme)
        words = {"title": step.title, "text": step.text, "point": step.point, "finding": chart.record.title}
        drawing = {"figure": _on_paper(figure), "alt": chart.record.alt, "before": _before(step, figure)}
        drawing["square"] = _is_square(figure)
        drawing["narrow"] = bool(drawing["before"]) and drawing["before"].layout.width <= NARROW
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


def _on_paper(figure: go.Figure, highest: int = HEIGHT) -> go.Figure:
    """Make a figure as wide as the sheet, whatever window prints it, and keep its shape."""
    larger = for_a_room(of_what_is_shown(figure), highest=highest)
    wide = SQUARE if _is_square(figure) else DESK / figure.layout.height
    width = wide * larger.layout.height
    return larger.update_layout(width=min(WIDTH, width))


def _is_square(figure: go.Figure) -> bool:
    return bool(figure.layout.yaxis.scaleanchor)


def _before(step: Step, figure: go.Figure) -> go.Figure | None:
    """What is on paper before the answer: empty axes for a mark or a curve, or what does not tell it."""
    asked, experiment = step.question, _experiment(step)
    highest = GUESSED if _is_square(figure) else HEIGHT
    if asked is None:
        return _on_paper(figure, highest) if experiment is not None and experiment.posed else None
    if "all" in asked.shows:
        return _on_paper(figure, highest)
    if asked.kind in ("mark", "curve") or asked.shows:
        empty = go.Figure(without_data(figure.to_dict(), kept=asked.shows))
        return _on_paper(_alone(empty) if _is_square(empty) else empty, GUESSED)
    return None


def _alone(figure: go.Figure) -> go.Figure:
    """A reliability diagram as high as the picture, without the histogram below it: a guess needs the room."""
    figure.data = [trace for trace in figure.data if trace.yaxis in (None, "y")]
    return figure.update_layout(yaxis_domain=[0, 1], yaxis2_visible=False, xaxis_anchor="y")


def _experiment(step: Step) -> Experiment | None:
    """Return the experiment on the Learn page of a step, if it asks."""
    if not step.page.startswith("learn_"):
        return None
    settings = dict(step.recipe.settings)
    experiment: Experiment = shown(settings, step.page.removeprefix("learn_"))
    return experiment if experiment.right and settings.get(f"{experiment.key}.guess") != SKIP else None


def _asked(step: Step) -> dict[str, Any]:
    """The question of a step, or of the Learn page that asks in it, with its answers and solution."""
    asked = step.question or _experiment(step)
    if asked is None:
        return {"question": "", "answers": (), "solution": ""}
    right = asked.right - 1
    why, told = asked.why[right] if asked.why else "", getattr(asked, "told", "")
    solution = f"{LETTERS[right]}, {asked.answers[right]}: {why} {told}".strip()
    question = asked.text if isinstance(asked, Question) else asked.question
    return {"question": question, "answers": asked.answers, "solution": solution}

"""A lesson to take to class: questions with space for guesses, exercises, and separate pictures and solutions."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from calib.experiments import asking_experiment
from calib.export import chromium
from calib.export.cards import for_paper, pictured_steps
from calib.export.pages import page
from calib.figures import LIGHT, Theme
from calib.figures.narrowing import without_data
from calib.figures.projector import for_projector
from calib.kernel.progress import Watch
from calib.lessons import Lesson, Question, Step

# Largest size in pixels, with type as for a projector; printed so small that two steps fill a sheet of A4. A figure
# lower than on a page (DESK) becomes narrower, too, so that nothing is stretched
HANDOUT_WIDTH, HANDOUT_HEIGHT, DESK = 1528, 740, 940
GUESSED = 540  # height in pixels of an empty picture, into which a guess is drawn
NARROW = 800  # up to this width in pixels, an empty picture leaves space for text beside it
WIDTH_OF_SQUARE = 0.84  # width of a reliability diagram with its histogram, relative to its height
HANDOUT_SCALE = 0.42  # scale on paper: 24 pixels become 7.5 points
CHOICE_LETTERS = "ABCDEFGH"


def lesson_handout(lesson: Lesson, theme: Theme = LIGHT, watch: Watch | None = None) -> bytes:
    """Return the handout as one HTML page that loads nothing; ``handout_pdf`` prints it."""
    parts = []
    for step, chart in pictured_steps(lesson, watch or Watch()):
        figure = chart.draw(theme)
        words = {"title": step.title, "text": step.text, "point": step.point, "finding": chart.record.title}
        drawing = {"figure": _on_paper(figure), "alt": chart.record.alt, "before": _before(step, figure)}
        drawing["square"] = _is_square(figure)
        drawing["narrow"] = bool(drawing["before"]) and drawing["before"].layout.width <= NARROW
        parts.append(words | drawing | _question_of(step))
    values: dict[str, Any] = {"parts": parts, "questions": lesson.questions, "printed": HANDOUT_SCALE}
    return page("handout.html", lesson.title, theme, summary=lesson.summary, **values)


def handout_pdf(lesson: Lesson, watch: Watch | None = None) -> bytes:
    """Print the handout on A4 sheets.

    Raises
    ------
    NoBrowser
        If no browser is available.
    """
    return chromium.print_pdf(lesson_handout(lesson, watch=watch).decode())


def _on_paper(figure: go.Figure, highest: int = HANDOUT_HEIGHT) -> go.Figure:
    """Make a figure as wide as the sheet, independently of the printing window, and keep its shape."""
    larger = for_projector(for_paper(figure), highest=highest)
    wide = WIDTH_OF_SQUARE if _is_square(figure) else DESK / figure.layout.height
    width = wide * larger.layout.height
    return larger.update_layout(width=min(HANDOUT_WIDTH, width))


def _is_square(figure: go.Figure) -> bool:
    return bool(figure.layout.yaxis.scaleanchor)


def _before(step: Step, figure: go.Figure) -> go.Figure | None:
    """Return the picture before the answer: axes to draw on, with what does not tell it; None without a question."""
    question, experiment = step.question, asking_experiment(dict(step.recipe.settings), step.page)
    if question is None and experiment is None:
        return None
    if not question and experiment.posed:  # type: ignore[union-attr]  # one of them asks
        return _on_paper(figure, GUESSED if _is_square(figure) else HANDOUT_HEIGHT)
    empty = go.Figure(without_data(figure.to_dict(), kept=question.shows if question else ()))
    if _is_square(empty):  # as high as the picture, without the histogram, so that a guess has space
        empty.data = [trace for trace in empty.data if trace.yaxis in (None, "y")]
        empty.update_layout(yaxis_domain=[0, 1], yaxis2_visible=False, xaxis_anchor="y")
    return _on_paper(empty, GUESSED)


def _question_of(step: Step) -> dict[str, Any]:
    """Return the question of a step, or of its Learn page, with the answers and the solution."""
    posed = step.question or asking_experiment(dict(step.recipe.settings), step.page)
    if posed is None:
        return {"question": "", "answers": (), "solution": ""}
    right = posed.right - 1
    why, remark = posed.why[right] if posed.why else "", getattr(posed, "remark", "")
    solution = f"{CHOICE_LETTERS[right]}, {posed.answers[right]}: {why} {remark}".strip()
    question = posed.text if isinstance(posed, Question) else posed.question
    return {"question": question, "answers": posed.answers, "solution": solution}

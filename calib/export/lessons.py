"""A lesson on paper: its summary card, and the handout to take to class.

The card shows the picture and the sentence to remember of every step on the two sides of one sheet. The handout has
questions with space for guesses, exercises, and separate pictures and solutions.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go

from calib.analysis.explain import explain, widest_row
from calib.calibrators import label_of
from calib.evaluate import Evaluation, Fitted, calibrate, fit
from calib.experiments import Experiment, asking_experiment, chosen_experiment
from calib.export import chromium
from calib.export.charts import Chart
from calib.export.pages import page
from calib.export.playground import pinned
from calib.figures import FIGURES, LIGHT, Theme, formatted_metrics
from calib.figures.narrowing import renamed, without_data
from calib.figures.projector import for_projector
from calib.kernel.progress import Watch
from calib.lessons import Lesson, Question, Step
from calib.recipe import Recipe
from calib.sources import load


def named_numbers(step: Step, evaluation: Evaluation) -> pd.DataFrame | None:
    """Return the numbers of a step, one row per calibrator; None if it names none."""
    if not step.beside:
        return None
    named = step.picture.get("name", label_of("none"))
    return formatted_metrics(evaluation, list(step.beside)).rename(index={label_of("none"): named})


# Pixels on a side of a sheet, with type as for a projector: height of all rows, width of a column, height of a picture
SHEET, CARD_WIDTH, PICTURE_HEIGHT = 2150, 970, 780
ROW_OF_WORDS = 80  # pixels that the words of a row of pictures take
CARD_SCALE = 0.362  # scale on paper: 24 pixels become 6.5 points
COLUMNS_PER_SHEET = 2
STEPS_PER_SIDE = 6  # more would make pictures of two panels too low to read


class Staged(NamedTuple):
    """Contents of a step: its chart, and the metrics that it names or None."""

    chart: Chart
    numbers: pd.DataFrame | None


class _StepCache:
    """Cache of the evaluation and the fitted model of one step; ``fits`` shares fitted models among steps."""

    def __init__(self, recipe: Recipe, fits: dict[str, Fitted] | None = None) -> None:
        self.recipe, self._fits = recipe, {} if fits is None else fits

    @cached_property
    def fitted(self) -> Fitted:
        key = self.recipe.digest("fit")
        if key not in self._fits:
            self._fits[key] = fit(self.recipe, load(self.recipe))
        return self._fits[key]

    @cached_property
    def evaluation(self) -> Evaluation:
        return calibrate(self.recipe, self.fitted)


def staged(step: Step, watch: Watch | None = None) -> Staged:
    """Return all contents of a step, from one fit."""
    made = _StepCache(step.recipe)
    chart = _chart(step, made, watch or Watch())
    return Staged(chart, named_numbers(step, made.evaluation) if step.beside else None)


def picture(step: Step, watch: Watch | None = None) -> Chart:
    """Return the chart that a step names, else the first chart of its page.

    Pages that have only tables get the reliability diagram of the step's Recipe.
    """
    return _chart(step, _StepCache(step.recipe), watch or Watch())


def _chart(step: Step, made: _StepCache, watch: Watch) -> Chart:
    settings, (section, _, page_key) = dict(step.recipe.settings), step.page.partition("_")
    if section != "explore" and (experiment := chosen_experiment(settings, page_key)):
        return _of_experiment(step, experiment, watch)
    key = (step.chart or ("pairs" if step.page == "explore_venn_abers" else "reliability")).removesuffix(
        "_rows"
    )
    source: Any = made.evaluation
    if key == "explained":
        source = explain(source, made.fitted, widest_row(source))
    # No lesson explains the numbers in the corner, and a diagram of 25 bins has 25 marks
    options = {"corner": False, "faint": True} if key == "reliability" else {}
    moved = {"moved": _moved(step, made.evaluation)} if "pins" in step.picture else {}
    return Chart(key, FIGURES[key].prepare(source, **options), picture={**step.picture, **moved})


def _moved(step: Step, evaluation: Evaluation) -> list[tuple[str, float, float]]:
    """Return (name, prediction before, prediction after) of the rows that a step names."""
    before, after = (found.p for found in list(evaluation.predictions.values())[:2])
    rows = pinned(evaluation, step.picture["pins"])
    return [(row["name"], float(before[row["row"]]), float(after[row["row"]])) for row in rows]


def _of_experiment(step: Step, experiment: Experiment, watch: Watch) -> Chart:
    key, values = step.chart or experiment.key, experiment.values(dict(step.recipe.settings))
    simulation = next(name for name, figures in experiment.runs.items() if key in figures)
    numbers = experiment.numbers(values, simulation)
    found = experiment.simulate(simulation, random_state=step.recipe.seed, watch=watch, **numbers)
    record = FIGURES[key].prepare(found, **experiment.view(values, key))
    return Chart(key, record, picture=step.picture)


def pictured_steps(lesson: Lesson, watch: Watch) -> Iterator[tuple[Step, Chart]]:
    """Yield every step with its picture."""
    fits: dict[str, Fitted] = {}
    for i, step in enumerate(lesson.steps):
        watch.step(i / len(lesson.steps), step.title)
        within = watch.within(i / len(lesson.steps), (i + 1) / len(lesson.steps))
        yield step, _chart(step, _StepCache(step.recipe, fits), within)


def lesson_card(lesson: Lesson, theme: Theme = LIGHT, watch: Watch | None = None) -> bytes:
    """Return the summary card as one HTML page that loads nothing and prints on a sheet of A4, six steps on a side.

    Its pictures are images; without a browser that draws them, the page holds Plotly, which is ten times as large.
    """
    steps, charts = zip(*pictured_steps(lesson, watch or Watch()), strict=True)
    figures = list(_on_a_sheet([chart.draw(theme) for chart in charts]))
    images = _images(figures) if chromium.can_draw() else [""] * len(figures)
    parts = [
        {
            "title": step.title,
            "point": step.point,
            "alt": renamed(chart.record.alt, step.picture),
            "figure": figure,
            "image": image,
        }
        for step, chart, figure, image in zip(steps, charts, figures, images, strict=True)
    ]
    return page(
        "card.html",
        lesson.title,
        theme,
        summary=lesson.summary,
        parts=parts,
        per_side=STEPS_PER_SIDE,
        printed=CARD_SCALE,
        drawn_already=any(images),
    )


def _images(figures: Sequence[go.Figure]) -> list[str]:
    """Draw figures as data addresses."""
    files = chromium.draw_files(figures, ("svg",))
    return [f"data:image/svg+xml;base64,{b64encode(file['svg']).decode()}" for file in files]


def _on_a_sheet(figures: Sequence[go.Figure]) -> Iterator[go.Figure]:
    """Yield the figures as they are on the sides of a sheet."""
    for start in range(0, len(figures), STEPS_PER_SIDE):
        yield from _on_a_side(figures[start : start + STEPS_PER_SIDE])


def _on_a_side(figures: Sequence[go.Figure]) -> Iterator[go.Figure]:
    """Yield the figures with legible type; rows share a side of the sheet in proportion to their heights on a page."""
    heights = [figure.layout.height for figure in figures]
    rows = [
        max(heights[start : start + COLUMNS_PER_SHEET]) for start in range(0, len(heights), COLUMNS_PER_SHEET)
    ]
    room = SHEET - ROW_OF_WORDS * len(rows)
    for i, figure in enumerate(figures):
        highest = min(PICTURE_HEIGHT, room * rows[i // COLUMNS_PER_SHEET] / sum(rows))
        yield for_projector(for_paper(figure), highest=highest).update_layout(width=CARD_WIDTH)


def for_paper(figure: go.Figure) -> go.Figure:
    """Remove hidden traces from the legend, because nobody can click it on paper."""
    return figure.update_traces(showlegend=False, selector={"visible": "legendonly"})


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

"""A lesson on one sheet: the picture and the sentence to remember of every step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go

from calib.analysis.decision import decide
from calib.analysis.depth import depth_scores, sweep_depths
from calib.analysis.explain import explain, widest_row
from calib.analysis.recommendation.advice import recommend
from calib.analysis.watch.over_time import over_time
from calib.evaluate import Evaluation, Fitted, calibrate, evaluate, fit
from calib.experiments import chosen_experiment
from calib.export.charts import Chart
from calib.export.named_numbers import named_numbers
from calib.export.pages import page
from calib.figures import FIGURES, LIGHT, Theme
from calib.figures.projector import for_projector
from calib.kernel.progress import Watch
from calib.lessons import Lesson, Step
from calib.lessons.narrowing import renamed
from calib.recipe import Recipe
from calib.sources import load
from calib.study.papers.ten_setups import setup_recipes, setup_table

# Pixels on a sheet: height of all rows of pictures, width of a column, height of a picture; type as for a projector
SHEET, WIDTH, HIGHEST = 2150, 970, 780
PRINTED = 0.362  # scale on paper: 24 pixels become 6.5 points
COLUMNS = 2

FIRST = {
    "explore_venn_abers": "pairs",
    "explore_decide": "costs",
    "explore_trees": "depth",
    "explore_out_of_bag": "setups",
    "explore_groups": "audit",
    "explore_watch": "watch_evidence",
}
"""Page → the chart of a step that names none; other pages show the reliability diagram."""


class Staged(NamedTuple):
    """Contents of a step: its chart, the metrics that it names or None, and its advice (answer first) or nothing."""

    chart: Chart
    numbers: pd.DataFrame | None
    advice: tuple[str, ...]


class _StepCache:
    """Cache of the evaluation and the fitted model of one step."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe

    @cached_property
    def fitted(self) -> Fitted:
        return fit(self.recipe, load(self.recipe))

    @cached_property
    def evaluation(self) -> Evaluation:
        return calibrate(self.recipe, self.fitted)


def staged(step: Step, watch: Watch | None = None) -> Staged:
    """Return all contents of a step, from one fit."""
    made = _StepCache(step.recipe)
    chart = _chart(step, made, watch or Watch())
    numbers = [key for key in step.beside if key != "advice"]
    found = recommend(made.evaluation) if "advice" in step.beside else None
    return Staged(
        chart,
        named_numbers(step, made.evaluation, lambda recipe: _StepCache(recipe).evaluation)
        if numbers
        else None,
        (found.answer, *found.reasons) if found else (),
    )


def picture(step: Step, watch: Watch | None = None) -> Chart:
    """Return the chart that a step names, else the first chart of its page.

    Pages that have only tables get the reliability diagram of the step's Recipe.
    """
    return _chart(step, _StepCache(step.recipe), watch or Watch())


def _chart(step: Step, made: _StepCache, watch: Watch) -> Chart:
    if step.page.startswith("learn_"):
        return _of_experiment(step, watch)
    key = (step.chart or FIRST.get(step.page, "reliability")).removesuffix("_rows")
    options = {"metric": dict(step.recipe.settings)["trees.metric"]} if key == "depth" else {}
    if key == "scores":
        options = step.scores
    record = FIGURES[key].prepare(_source(key, made, watch), **options)
    return Chart(key, record, picture=step.picture)


def _source(key: str, made: _StepCache, watch: Watch) -> Any:
    """Return the object that the figure of an Explore page is prepared from."""
    recipe = made.recipe
    if key == "depth":
        return [depth_scores(recipe, each) for each in sweep_depths(recipe, load(recipe), watch)]
    if key == "explained":
        return explain(made.evaluation, made.fitted, widest_row(made.evaluation))
    if key == "widths":
        others = set(dict(recipe.settings).get("venn_abers.beside", ())) - {recipe.placement}
        data = made.fitted.dataset
        return [
            made.evaluation,
            *(evaluate(recipe.replace(placement=one), data) for one in sorted(others)),
        ]
    if key in ("costs", "net_benefit"):
        return decide(made.evaluation, **recipe.stated_settings("decide", "cost_false_alarm", "cost_miss"))
    if key.startswith("watch_"):
        return over_time(made.evaluation, next(iter(made.evaluation.predictions)))
    if key == "setups":
        data = made.fitted.dataset
        return setup_table({place: evaluate(one, data) for place, one in setup_recipes(recipe, data).items()})
    return made.evaluation


def _of_experiment(step: Step, watch: Watch) -> Chart:
    settings = dict(step.recipe.settings)
    experiment = chosen_experiment(settings, step.page.removeprefix("learn_"))
    key, values = step.chart or experiment.key, experiment.values(settings)
    simulation = next(name for name, figures in experiment.runs.items() if key in figures)
    numbers = experiment.numbers(values, simulation)
    found = experiment.simulate(simulation, random_state=step.recipe.seed, watch=watch, **numbers)
    record = FIGURES[key].prepare(found, **experiment.view(values, key))
    return Chart(key, record, picture=step.picture)


def pictured_steps(lesson: Lesson, watch: Watch) -> Iterator[tuple[Step, Chart]]:
    """Yield every step with its picture."""
    for i, step in enumerate(lesson.steps):
        watch.step(i / len(lesson.steps), step.title)
        yield step, picture(step, watch.within(i / len(lesson.steps), (i + 1) / len(lesson.steps)))


def lesson_card(lesson: Lesson, theme: Theme = LIGHT, watch: Watch | None = None) -> bytes:
    """Return the summary card as one HTML page that loads nothing and prints on A4."""
    steps, charts = zip(*pictured_steps(lesson, watch or Watch()), strict=True)
    figures = [chart.draw(theme) for chart in charts]
    parts = [
        {
            "title": step.title,
            "point": step.point,
            "alt": renamed(chart.record.alt, step.picture),
            "figure": figure,
        }
        for step, chart, figure in zip(steps, charts, _on_a_sheet(figures), strict=True)
    ]
    return page("card.html", lesson.title, theme, summary=lesson.summary, parts=parts, printed=PRINTED)


def _on_a_sheet(figures: Sequence[go.Figure]) -> Iterator[go.Figure]:
    """Yield the figures with legible type; rows share the sheet in proportion to their heights on a page."""
    heights = [figure.layout.height for figure in figures]
    rows = [max(heights[start : start + COLUMNS]) for start in range(0, len(heights), COLUMNS)]
    for i, figure in enumerate(figures):
        highest = min(HIGHEST, SHEET * rows[i // COLUMNS] / sum(rows))
        yield for_projector(for_paper(figure), highest=highest).update_layout(width=WIDTH)


def for_paper(figure: go.Figure) -> go.Figure:
    """Remove hidden traces from the legend, because nobody can click it on paper."""
    return figure.update_traces(showlegend=False, selector={"visible": "legendonly"})

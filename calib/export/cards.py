"""A lesson on one sheet: of every step its picture and the sentence to remember."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from calib.analysis.decision import decide
from calib.analysis.depth import depth_scores, sweep
from calib.evaluate import evaluate
from calib.experiments import shown
from calib.export.charts import Chart
from calib.export.pages import page
from calib.figures import FIGURES, LIGHT, Theme, formatted_metrics
from calib.kernel.progress import Watch
from calib.lessons import Lesson, Step
from calib.metrics import METRICS
from calib.sources import load

HEIGHT = 340  # pixels, which print at six tenths: three rows fill a sheet


def picture(step: Step, watch: Watch | None = None) -> Chart:
    """The chart that a step of a Learn page names, else the first one of its page; the reliability diagram of its
    Recipe for pages with tables only.
    """
    watch, recipe = watch or Watch(), step.recipe
    if step.page.startswith("learn_"):
        return _of_experiment(step, watch)
    if step.page == "explore_trees":
        tables = [depth_scores(recipe, fit) for fit in sweep(recipe, load(recipe), watch)]
        return Chart("depth", FIGURES["depth"].prepare(tables, metric=dict(recipe.settings)["trees.metric"]))
    evaluation = evaluate(recipe, load(recipe))
    if step.page == "explore_venn_abers":
        return Chart("pairs", FIGURES["pairs"].prepare(evaluation))
    if step.page == "explore_decide":
        costs = recipe.given("decide", "cost_false_alarm", "cost_miss")
        return Chart("costs", FIGURES["costs"].prepare(decide(evaluation, **costs)))
    return Chart("reliability", FIGURES["reliability"].prepare(evaluation))


def _of_experiment(step: Step, watch: Watch) -> Chart:
    settings = dict(step.recipe.settings)
    experiment = shown(settings, step.page.removeprefix("learn_"))
    key, values = step.chart or experiment.key, experiment.values(settings)
    simulation = next(name for name, figures in experiment.runs.items() if key in figures)
    numbers = experiment.numbers(values, simulation)
    found = experiment.simulate(simulation, random_state=step.recipe.seed, watch=watch, **numbers)
    return Chart(key, FIGURES[key].prepare(found, **experiment.view(values, key)))


def numbers(step: Step) -> pd.DataFrame | None:
    """The metrics that a step names, as text, the best of each marked; None where it names none."""
    keys = [key for key in step.beside if key in METRICS]
    return formatted_metrics(evaluate(step.recipe, load(step.recipe)), keys) if keys else None


def drawn(lesson: Lesson, watch: Watch) -> Iterator[tuple[Step, Chart]]:
    """Every step with its picture, one after the other."""
    for i, step in enumerate(lesson.steps):
        watch.step(i / len(lesson.steps), step.title)
        yield step, picture(step, watch.within(i / len(lesson.steps), (i + 1) / len(lesson.steps)))


def lesson_card(lesson: Lesson, theme: Theme = LIGHT, watch: Watch | None = None) -> bytes:
    """The sheet, as one HTML page that loads nothing and prints on A4."""
    parts = []
    for step, chart in drawn(lesson, watch or Watch()):
        figure = chart.draw(theme)
        figure.update_layout(height=HEIGHT, showlegend=False)
        parts.append({"title": step.title, "point": step.point, "figure": figure, "alt": chart.record.alt})
    return page("card.html", lesson.title, theme, summary=lesson.summary, parts=parts)

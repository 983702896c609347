"""A lesson on one sheet: of every step its picture and the sentence to remember."""

from __future__ import annotations

from calib.analysis.decision import decide
from calib.analysis.depth import depth_scores, sweep
from calib.evaluate import evaluate
from calib.experiments import shown
from calib.export.charts import Chart
from calib.export.pages import page
from calib.figures import FIGURES, LIGHT, Theme
from calib.kernel.progress import Watch
from calib.lessons import Lesson, Step
from calib.sources import load

HEIGHT = 340  # pixels, which print at six tenths: three rows fill a sheet


def picture(step: Step, watch: Watch | None = None) -> Chart:
    """The first picture of a step's page; of pages with tables only, the reliability diagram of its Recipe."""
    watch, recipe = watch or Watch(), step.recipe
    if step.page.startswith("learn_"):
        settings = dict(recipe.settings)
        experiment = shown(settings, step.page.removeprefix("learn_"))
        values = experiment.values(settings)
        found = experiment.simulate(random_state=recipe.seed, watch=watch, **experiment.numbers(values))
        return Chart(
            experiment.key, FIGURES[experiment.key].prepare(found, **experiment.view(values, experiment.key))
        )
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


def lesson_card(lesson: Lesson, theme: Theme = LIGHT, watch: Watch | None = None) -> bytes:
    """The sheet, as one HTML page that loads nothing and prints on A4."""
    watch, parts = watch or Watch(), []
    for i, step in enumerate(lesson.steps):
        watch.step(i / len(lesson.steps), step.title)
        chart = picture(step, watch.within(i / len(lesson.steps), (i + 1) / len(lesson.steps)))
        figure = chart.draw(theme)
        figure.update_layout(height=HEIGHT, showlegend=False)
        parts.append({"title": step.title, "point": step.point, "figure": figure, "alt": chart.record.alt})
    return page("card.html", lesson.title, theme, summary=lesson.summary, parts=parts)

"""The views of a page: its experiments, the playground, and the lesson with its questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from calib.experiments import chosen_experiment
from calib.recipe import Recipe
from pages.ui import lesson_layout, state
from pages.ui.learn import experiments, kept, lessons, playground, triangle
from pages.ui.learn.variations import variation_of

SHOW_OF_VIEW: Mapping[str, Callable[[Recipe], None]] = {
    "playground": playground.show,
    "triangle": triangle.show,
    "lesson": lessons.contents,
    "questions": lessons.questions,
}


def show(recipe: Recipe, page: str) -> None:
    """Show the view of this page that the Recipe chooses."""
    experiment = chosen_experiment(dict(recipe.settings), page)
    if experiment is None:
        with lesson_layout.words():
            experiments.choose_view(recipe, page)
        if page == "two_probabilities" and state.lesson_open() is None:  # a step keeps them itself (frame.py)
            kept.keep()
        SHOW_OF_VIEW[recipe.setting(f"{page}.experiment")](recipe)
    else:
        experiments.show(recipe, experiment, variation_of(experiment.key))

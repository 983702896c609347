"""Compute Evaluations without any page; they are frozen, so tests share those of the same Recipe."""

from functools import lru_cache

from calib.evaluate import Evaluation, evaluate
from calib.recipe import Recipe
from calib.sources import load


@lru_cache(16)
def evaluated(recipe: Recipe) -> Evaluation:
    """Return the Evaluation of a Recipe whose data need no upload."""
    return evaluate(recipe, load(recipe))


def of_address(**query: str) -> Evaluation:
    """Return the Evaluation of a page's address."""
    return evaluated(Recipe.from_query(query))

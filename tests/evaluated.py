"""What ``calib`` computes without any page. An Evaluation is frozen, so that tests share those of the same Recipe."""

from functools import lru_cache

from calib.evaluate import Evaluation, evaluate
from calib.recipe import Recipe
from calib.sources import load


@lru_cache(16)
def evaluated(recipe: Recipe) -> Evaluation:
    """The evaluation of a Recipe whose data need no upload."""
    return evaluate(recipe, load(recipe))


def of_address(**query: str) -> Evaluation:
    """The evaluation of what stands in a page's address."""
    return evaluated(Recipe.from_query(query))

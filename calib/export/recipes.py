"""Named Recipes as a file: ``calib.recipes`` version 1, {"format", "version", "recipes": {name: fields}}."""

from __future__ import annotations

import json
from collections.abc import Mapping

from calib.kernel.checks import InputError
from calib.kernel.fields import parse
from calib.recipe import Recipe

RECIPES_FORMAT, RECIPES_VERSION = "calib.recipes", 1
MOST_RECIPES = 200
MOST_BYTES_OF_RECIPES = 5_000_000  # of a file: 200 Recipes take one at most


def write_recipes(recipes: Mapping[str, Recipe]) -> str:
    """Write Recipes to a file.

    Parameters
    ----------
    recipes
        By name.

    Examples
    --------
    >>> read_recipes(write_recipes({"a": Recipe(seed=1)})) == {"a": Recipe(seed=1)}
    True
    """
    fields = {name: json.loads(recipe.to_json()) for name, recipe in recipes.items()}
    return (
        json.dumps(
            {"format": RECIPES_FORMAT, "version": RECIPES_VERSION, "recipes": fields},
            indent=2,
            ensure_ascii=False,
        )
        + "\n"
    )


def read_recipes(content: str | bytes, name: str = "Recipe") -> dict[str, Recipe]:
    """Read the Recipes of a file; a file with only the fields of one Recipe gives one called ``name``.

    Parameters
    ----------
    content : str or bytes
        The file's content, UTF-8 JSON.
    name : str
        The name of a single Recipe.

    Raises
    ------
    InputError
        If the file cannot be used; the message names the Recipe and the field.
    """
    top = parse(content, "The Recipe file", MOST_BYTES_OF_RECIPES)
    if "format" not in top:
        return {name: _recipe(top.value, name)}
    top.choice("format", [RECIPES_FORMAT])
    top.choice("version", [RECIPES_VERSION])
    named = top.object("recipes").value
    top.check_nothing_else()
    if not named or len(named) > MOST_RECIPES:
        raise top.refuse("recipes", f"must contain 1 to {MOST_RECIPES} named Recipes")
    return {name: _recipe(fields, name) for name, fields in named.items()}


def _recipe(fields: object, name: str) -> Recipe:
    try:
        return Recipe.from_json(json.dumps(fields))
    except InputError as error:
        raise InputError(f"The Recipe {name!r} cannot be used: {error}") from None
    except TypeError as error:
        raise InputError(f"The Recipe {name!r} cannot be used: {error}.") from None

"""Recipes go to a file and come back; what is no Recipe is refused by its name and field."""

import json

import pytest

from calib import Recipe
from calib.export import read_recipes, write_recipes
from calib.kernel.checks import InputError

KEPT = {
    "plain": Recipe(),
    'Größe "x" <b>': Recipe(
        model="decision_tree",
        params={"max_depth": 3},
        calibrators=("beta",),
        settings={"decide.cost_miss": 9, "reliability.selection": ("beta:0.1:0.2",)},
    ),
}


def test_recipes_come_back_equal_and_in_order():
    found = read_recipes(write_recipes(KEPT))
    assert found == KEPT
    assert list(found) == list(KEPT)


def test_one_recipe_as_the_command_line_takes_it_is_read_too():
    assert read_recipes(b'{"model": "naive_bayes"}', "mine") == {"mine": Recipe(model="naive_bayes")}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "calib.calibrator"}, "format must be one of 'calib.recipes'"),
        ({"version": 9}, "version must be one of 1"),
        ({"recipes": {}}, "recipes must contain 1 to"),
        ({"recipes": []}, "recipes must be an object"),
        ({"recipes": {"bad": {"bins": 1}}}, "'bad' cannot be used: bins must be a whole number"),
        ({"recipes": {"bad": {"magic": 1}}}, "'bad' cannot be used: 'magic' is not a field"),
        ({"recipes": {"bad": [1]}}, "'bad' cannot be used"),
        ({"recipes": {"bad": {"calibrators": 5}}}, "'bad' cannot be used"),
        ({"recipes": {"bad": {"calibrators": [["none"]]}}}, "'bad' cannot be used"),
        ({"recipes": {"bad": {"model": []}}}, "'bad' cannot be used: model"),
        ({"recipes": {"bad": {"params": 3}}}, "'bad' cannot be used: params"),
        ({"recipes": {"bad": {"seed": 1e400}}}, "'bad' cannot be used|finite|no number"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_what_cannot_be_used_is_refused_by_name(change, words):
    with pytest.raises(InputError, match=words):
        read_recipes(json.dumps(json.loads(write_recipes(KEPT)) | change).replace("Infinity", "1e400"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"seed": 1, "seed": 2}', "'seed' is given twice"),
        (
            '{"format": "calib.recipes", "version": 1, "recipes": {"a": {}, "a": {"seed": 1}}}',
            "'a' is given twice",
        ),
        (
            '{"format": "calib.recipes", "version": 1, "recipes": {"a": {}}, "recipe": {}}',
            "recipe is not a known",
        ),
        ('{"settings": {"decide.cost_mis": 9}}', "decide.cost_mis' is not a known"),
    ],
)
def test_what_would_be_dropped_unsaid_is_refused_by_name(text, words):
    with pytest.raises(InputError, match=words):
        read_recipes(text)


def test_what_is_no_json_gives_one_sentence():
    with pytest.raises(InputError, match="not valid JSON"):
        read_recipes(b"\x80\x04pickle")

"""Two small evaluations, made once, and whether a Chromium is here."""

import os

import pytest

from calib import Recipe, evaluate
from calib.export import find_chromium
from calib.sources import load


@pytest.fixture(scope="session")
def evaluations():
    recipes = {
        "Naive Bayes": Recipe(
            data="sample:loans", model="naive_bayes", calibrators=("none", "platt", "venn_abers")
        ),
        "Tree, <i>cross</i>": Recipe(
            data="sample:loans", model="decision_tree", params={"max_depth": 4}, placement="cv", cv=3, bins=10
        ),
    }
    return {name: evaluate(recipe, load(recipe)) for name, recipe in recipes.items()}


@pytest.fixture(scope="session")
def chromium() -> str:
    path = find_chromium()
    if path is None:
        message = "no Chromium on the PATH or in BROWSER_PATH"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    return path

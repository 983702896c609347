"""A base rate stated in a browser: before and after, and the calibrator that is downloaded is for it."""

import json

import numpy as np

from calib import Recipe, evaluate
from calib.export import read_calibrator
from calib.kernel.wording import number
from calib.sources import load

QUERY = {"data": "sample:breast_cancer", "model": "naive_bayes", "calibrators": "none,venn_abers"}


def test_a_stated_rate_is_shown_before_and_after_and_stands_in_the_calibrator(tab):
    tab.open("explore_reliability", **QUERY, **{"reliability.details": "base_rate"})
    tab.unfold("Base rate")
    tab.by_key("base_rate").locator("input").fill("2")
    tab.by_key("base_rate").locator("input").press("Enter")
    tab.settle()
    recipe = Recipe.from_query(tab.recipe_query())
    assert recipe.base_rate == 0.02
    evaluation = evaluate(recipe, load(recipe))
    own = number(evaluation.metrics.brier["none"])
    tab.page.get_by_text("Base rate: 2%").wait_for()
    assert tab.headline()["Brier score"].split(" → ")[0] == own
    content = tab.open("explore_compare", **tab.recipe_query()).download(
        tab.page.get_by_role("button", name="Calibrator (JSON)").last.click
    )
    assert json.loads(content)["base_rate"]["stated"] == 0.02
    said, wanted = read_calibrator(content).predict(evaluation.scores), evaluation.predictions["venn_abers"]
    for name in ("p0", "p1", "p"):
        np.testing.assert_array_equal(getattr(said, name), getattr(wanted, name))

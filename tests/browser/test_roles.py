"""Roles set on an uploaded table in a browser: splits in time and by cluster, counts, a base rate, as calib has it."""

import numpy as np
import pandas as pd
import pytest

from calib.analysis.label_shift import estimate_of_rows
from calib.analysis.recommendation.advice import recommend
from calib.analysis.split_optimism import random_recipe, split_optimism
from calib.data import TableFile
from calib.evaluate import evaluate, fit
from calib.recipe import Recipe
from calib.sources import digest, load
from tests.browser import files

RNG = np.random.default_rng(2)
N = 400


def visits() -> bytes:
    """Visits by day of patients who come back, ever more of them late."""
    patient, day = np.repeat(np.arange(80), 5), np.sort(RNG.integers(0, 200, N))
    x = RNG.normal(size=N).round(3)
    late = RNG.random(N) < 1 / (1 + np.exp(-(x + day / 100 - 1)))
    date = (np.datetime64("2024-01-01") + day.astype("timedelta64[D]")).astype(str)
    label = np.where(late, "late", "on time")
    return files.as_csv(pd.DataFrame({"patient_id": patient + 500, "date": date, "x": x, "outcome": label}))


def judged(tab, content):
    """(Recipe, Dataset, Evaluation) of the page's own link and the same file, without the page."""
    recipe = Recipe.from_query(tab.recipe_query())
    data = load(recipe, {digest(content): TableFile("visits.csv", content)})
    return recipe, data, evaluate(recipe, data)


@pytest.mark.soak
def test_a_split_in_time_is_proposed_taken_and_set_against_a_random_one(tab):
    content = visits()
    tab.open("explore_data", model="logistic_regression", calibrators="none,platt").upload(
        "visits.csv", content
    )
    assert "time" not in tab.recipe_query()
    tab.press("Split by time")
    assert tab.by_key("time").locator("input").input_value() == "date"
    tab.go("Reliability")
    recipe, data, evaluation = judged(tab, content)
    assert (recipe.time, recipe.split) == ("date", "time")
    assert data.time[np.setdiff1d(np.arange(N), evaluation.rows)].max() < data.time[evaluation.rows].min()
    assert tab.headline()["Brier score"] == files.headline_of(evaluation)[1]
    tab.press("Start")
    found = split_optimism(evaluation, evaluate(random_recipe(recipe), data))
    told = tab.page.get_by_text("would have given a Brier score")
    told.wait_for()
    assert told.inner_text() in (found.sentence("none"), found.sentence("platt"))


@pytest.mark.soak
def test_a_cluster_is_chosen_by_hand_and_its_split_beside_the_model(tab):
    content = visits()
    tab.open("explore_data", model="logistic_regression", calibrators="none,platt").upload(
        "visits.csv", content
    )
    tab.unfold("Other sources and column roles").unfold("Roles of other columns")
    tab.pick("cluster", "patient_id")
    tab.settle()
    assert "split" not in tab.recipe_query()
    tab.go("Reliability")
    tab.pick("split", "By cluster")
    tab.settle()
    recipe, data, evaluation = judged(tab, content)
    assert (recipe.cluster, recipe.split) == ("patient_id", "cluster")
    tested = set(data.cluster[evaluation.rows])
    assert tested.isdisjoint(np.delete(data.cluster, evaluation.rows))
    assert tab.headline()["Brier score"] == files.headline_of(evaluation)[1]


@pytest.mark.soak
def test_counts_are_proposed_and_judged_as_their_rows(tab):
    score = np.arange(1, 100) / 100
    n = RNG.integers(1000, 10**7, 99)
    ones = RNG.binomial(n, score**1.5)
    table = pd.DataFrame(
        {"score": np.repeat(score, 2), "label": [0, 1] * 99, "count": np.c_[n - ones, ones].ravel()}
    )
    content = files.as_csv(table)
    tab.open("explore_data").upload("visits.csv", content)
    assert tab.recipe_query()["content"] == "predictions"
    tab.press("Use as counts")
    tab.go("Reliability")
    recipe, _, evaluation = judged(tab, content)
    assert recipe.weight == "count"
    assert f"{evaluation.size:,} test rows" in tab.page.get_by_test_id("stMain").inner_text()
    assert tab.headline()["Brier score"] == files.headline_of(evaluation)[1]


@pytest.mark.soak
def test_a_base_rate_is_stated_then_estimated_from_rows_without_labels_and_taken(tab):
    table = files.churn()
    content, fewer = files.as_csv(table), table.sort_values("outcome", ascending=False)[:280]
    unlabelled = fewer.drop(columns="outcome")  # all who stayed, and a third of those who left
    query = {"model": "logistic_regression", "calibrators": "none,platt"}
    tab.open("explore_data", **query).upload("visits.csv", content).go("Reliability")
    tab.unfold("Base rate").type_number("base_rate", 5)
    recipe, data, evaluation = judged(tab, content)
    assert recipe.base_rate == 0.05
    assert tab.headline()["Brier score"] == files.headline_of(evaluation)[1]
    tab.page.locator("summary").get_by_text("Details", exact=True).click()
    tab.settle().segment("reliability.details", "Base rate")
    tab.upload("rows.csv", files.as_csv(unlabelled), "unlabelled")
    key = recommend(evaluation).choice
    found = estimate_of_rows(evaluation, fit(recipe, data), unlabelled, key)
    tab.page.get_by_text(found.finding).wait_for()
    tab.by_key("take_rate").get_by_role("button").click()
    assert judged(tab.settle(), content)[0].base_rate == float(f"{found.rate:.4g}")

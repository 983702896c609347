"""The optimism of a random split: by hand on made evaluations, and against the truth of the sample sets."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

from calib.analysis.split_optimism import random_recipe, split_optimism
from calib.evaluate import evaluate, fit
from calib.metrics import brier_score
from calib.recipe import Recipe
from calib.sources import load
from tests.analysis.given import given_evaluation, known_truth
from tests.intervals import joined

FOLDER = Path(__file__).parents[2] / "sample_data"
SPEC = importlib.util.spec_from_file_location("make_samples", FOLDER / "make.py")
MADE = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(MADE)

DATED = Recipe(
    data="sample:dated",
    time="ordered",
    split="time",
    model="logistic_regression",
    calibrators=("none", "platt"),
)
CALLS = Recipe(
    data="sample:customers",
    cluster="customer_id",
    split="cluster",
    params={"n_estimators": 50},
    calibrators=("none", "platt"),
    evaluation="folds",
    folds=5,
)


def expected(evaluation, truth, key):
    """The Brier score that predictions are expected to have, labels drawn from the truth."""
    p = evaluation.predictions[key].p
    return float(np.mean((p - truth) ** 2 + truth * (1 - truth)))


@pytest.mark.parametrize(("recipe", "truth"), [(DATED, MADE.dated_truth), (CALLS, MADE.customers_truth)])
def test_the_honest_splits_number_is_the_truth_and_the_random_splits_is_not(recipe, truth):
    data = load(recipe)
    honest, random = evaluate(recipe, data), evaluate(random_recipe(recipe), data)
    found = split_optimism(honest, random).table.set_index(["calibrator", "metric"])
    known = truth(getattr(MADE, recipe.data.partition(":")[2])())[honest.rows]
    for key in recipe.calibrators:
        line = found.loc[(key, "brier")]
        half = (line.upper - line.lower) / 2
        assert abs(line.honest - expected(honest, known, key)) < half
        assert line.random < expected(honest, known, key) - half
        assert line.lower > 0
        assert line.honest == pytest.approx(honest.metrics.loc[key, "brier"])
        assert line.random == pytest.approx(random.metrics.loc[key, "brier"])
    assert "too optimistic by" in split_optimism(honest, random).sentence("platt")


def test_what_comes_after_the_table_costs_what_the_split_in_time_said():
    """The model of the honest split on the orders of the following months, of which the table knows nothing."""
    data = load(DATED)
    honest, random = evaluate(DATED, data), evaluate(random_recipe(DATED), data)
    later = MADE.dated(4000, first_day=504, days=216, seed=9)
    X, y = later[list(data.X)], (later["target"] == "returned").to_numpy().astype(int)
    cost = brier_score(y, fit(DATED, data).parts[0].placed.score(X).scores)
    claims = [each.metrics.loc["none", "brier"] for each in (honest, random)]
    assert abs(claims[0] - cost) < 0.02
    assert claims[1] < cost - 0.05


def test_the_counts_show_the_line_that_they_were_drawn_from():
    recipe = Recipe(
        data="sample:counts", content="predictions", weight="count", calibrators=("none", "isotonic")
    )
    evaluation = evaluate(recipe, load(recipe))
    assert evaluation.size + evaluation.calibration_size == pytest.approx(1e9, rel=1e-3)
    line = evaluation.metrics.loc["none"]
    assert (line.slope, line.intercept) == (pytest.approx(0.7, abs=1e-3), pytest.approx(-0.3, abs=1e-3))
    truth = MADE.counts_truth(evaluation.scores)
    np.testing.assert_allclose(evaluation.predictions["isotonic"].p, truth, atol=0.02)
    known = np.average((evaluation.scores - truth) ** 2 + truth * (1 - truth), weights=evaluation.weight)
    assert line.brier == pytest.approx(known, abs=1e-4)


def test_the_reaches_of_two_means_add_up_by_their_squares():
    y, _, p, _ = known_truth(0, 300, lambda p: p**2)
    one, two = given_evaluation(y, {"none": p}), given_evaluation(y[:150], {"none": p[:150]})
    line = split_optimism(one, two).table.set_index("metric").loc["brier"]
    (low, high), (below, above) = (
        joined(each.y, (each.y - each.predictions["none"].p) ** 2) for each in (one, two)
    )
    assert line.lower == pytest.approx(line.value - np.hypot(line.honest - low, above - line.random))
    assert line.upper == pytest.approx(line.value + np.hypot(high - line.honest, line.random - below))


def test_an_infinite_loss_has_no_interval():
    y, p = np.array([0, 1, 0, 1] * 5), np.array([0.0, 1.0, 1.0, 0.4] * 5)
    evaluation = given_evaluation(y, {"none": p})
    table = split_optimism(evaluation, evaluation).table.set_index("metric")
    assert np.isnan(table.loc["log_loss", ["value", "lower", "upper"]].to_numpy(dtype=float)).all()
    assert table.loc["brier", "value"] == 0


def test_the_read_me_says_what_the_truth_expects_of_the_honest_splits():
    table, _, _ = (FOLDER / "README.md").read_text(encoding="utf-8").partition("\n## ")
    lines = re.findall(r"^\| `(\w+)\.csv.*?\|.*?\| (.*) \|$", table, re.M)
    told = {name: re.findall(r"\b0\.\d\d\b", shows) for name, shows in lines}
    customers = CALLS.replace(evaluation="holdout", params={})
    for recipe, truth, key, order in (
        (DATED, MADE.dated_truth, "none", ("honest", "random", "truth")),
        (customers, MADE.customers_truth, "platt", ("random", "honest", "truth")),
    ):
        data = load(recipe)
        honest, random = evaluate(recipe, data), evaluate(random_recipe(recipe), data)
        known = expected(honest, truth(getattr(MADE, data.name)())[honest.rows], key)
        found = {"honest": honest.metrics.brier[key], "random": random.metrics.brier[key], "truth": known}
        assert told[data.name] == [f"{found[which]:.2f}" for which in order]

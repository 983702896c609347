"""Models side by side: the uncalibrated ones are compared first, by intervals worked out by hand."""

import numpy as np
import pytest

from calib import Recipe, evaluate, load_sample
from calib.analysis.differences import answer, same_rows
from calib.figures import formatted_side_by_side
from calib.kernel.wording import change, number, some_of
from tests.intervals import joined
from tests.saying import assert_says

MODELS = {"Bayes": "naive_bayes", "Tree": "decision_tree", "Line": "logistic_regression"}


@pytest.fixture(scope="module")
def evaluations():
    data = load_sample("loans")
    return {
        name: evaluate(Recipe(data="sample:loans", model=model, calibrators=("none", "platt")), data)
        for name, model in MODELS.items()
    }


def test_the_best_uncalibrated_model_comes_first_and_the_others_with_paired_intervals(evaluations):
    said = answer(evaluations)
    losses = {name: (one.predictions["none"].p - one.y) ** 2 for name, one in evaluations.items()}
    best = min(losses, key=lambda name: losses[name].mean())
    assert_says(said, "Without calibration", best, "lowest Brier score", number(losses[best].mean()))
    for name in set(MODELS) - {best}:
        y, ends = (
            evaluations[best].y,
            joined(evaluations[best].y, losses[name] - losses[best], level=1 - 0.05 / 3),
        )
        gap = change(float(np.mean(losses[name] - losses[best])), *ends)
        assert f"{name} {gap}" in said
        assert (f"{name} {gap}, no clear difference" in said) == (ends[0] <= 0)
    scores = {name: one.metrics.loc["platt", "brier"] for name, one in evaluations.items()}
    lowest = min(scores, key=lambda name: scores[name])
    loss = {name: (one.predictions["platt"].p - one.y) ** 2 for name, one in evaluations.items()}
    sure = sum(
        joined(y, loss[name] - loss[lowest], level=1 - 0.05 / 3)[0] > 0 for name in set(MODELS) - {lowest}
    )
    clear = f"{some_of(sure, 2, 'other')} {'is' if sure < 2 else 'are'} clearly different"
    assert_says(said, "After calibration", lowest, "lowest", number(scores[lowest]), clear)


def test_the_uncalibrated_models_stand_first_in_the_table(evaluations):
    table = formatted_side_by_side(evaluations, ["brier"])
    assert table["Calibrator"].tolist() == ["Uncalibrated"] * 3 + ["Platt scaling"] * 3
    assert table.iloc[:, 0].tolist() == [*MODELS] * 2


def test_other_rows_have_no_interval_and_one_model_no_answer(evaluations):
    recipe = Recipe(data="sample:loans", model="naive_bayes", calibrators=("none",), seed=1)
    other = evaluate(recipe, load_sample("loans"))
    assert not same_rows([evaluations["Bayes"], other])
    assert "on other test rows" in answer({"a": evaluations["Bayes"], "b": other})
    assert answer({"a": other}) == ""

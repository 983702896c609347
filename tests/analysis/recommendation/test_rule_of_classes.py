"""The advice for three or more classes by its rules, and the script that judges it on predictions written out."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.naive_bayes import GaussianNB

from calib import Evaluation, Recipe, evaluate, load_sample
from calib.analysis.recommendation.advice import recommend, why_not_chosen
from calib.analysis.recommendation.rule import START_OF_CLASSES, advise, lowest_expected
from calib.evaluate import calibrate, fit
from calib.kernel.records import Dataset
from scripts.arena_sizes import grid
from scripts.judge_joint_advice import advised, judged, strategies
from tests.saying import assert_says


def predictions(seed=0, n=600):
    """Labels drawn from the first probabilities; the others are flatter, sharper, and certain once too often."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet([1, 1, 1], n)
    y = np.array([rng.choice(3, p=row) for row in P])
    flat, sharp = (P**power / (P**power).sum(axis=1, keepdims=True) for power in (0.4, 3))
    near = P**0.98 / (P**0.98).sum(axis=1, keepdims=True)
    certain = P.copy()
    certain[:, 0] = 0
    certain /= certain.sum(axis=1, keepdims=True)
    return y, {"right": P, "flat": flat, "sharp": sharp, "near": near, "certain": certain}


def of(**named):
    y, P = predictions()
    found = Evaluation.from_predictions(y, {name: P[kind] for name, kind in named.items()})
    return advise(found), recommend(found)


def test_the_first_method_compared_stays_unless_another_is_clearly_better():
    assert START_OF_CLASSES[0] == "auto"
    found, told = of(none="sharp", isotonic="flat", auto="right")
    assert (found.start, found.choice) == ("auto", "auto")
    assert told.answer == "Use automatic calibration."
    found, told = of(none="flat", auto="sharp", isotonic="right")
    assert (found.start, found.choice) == ("auto", "isotonic")
    y, P = predictions()
    scores = [((P[kind] - np.eye(3)[y]) ** 2).sum(axis=1).mean() for kind in ("right", "sharp")]
    assert f"→ {scores[0]:.4f}, " in told.reasons[0]
    assert f"better than automatic calibration ({scores[1]:.3f} on these rows)" in told.reasons[0]
    assert of(none="right", platt="sharp")[1].answer == "Leave the probabilities as they are."


@pytest.mark.parametrize(
    ("none", "reason"),
    [
        ("flat", "Brier score over all classes"),  # clearly lower
        ("near", "These rows show no clear change, so our benchmark decides: Brier score over all classes"),
        ("certain", "Automatic calibration avoids an infinite log loss (now 0."),
    ],
)
def test_a_method_that_does_not_clearly_lower_the_score_is_advised_with_its_reason(none, reason):
    found, told = of(none=none, auto="right")
    assert found.choice == "auto"
    assert (found.table.upper["auto"] < 0) == (none != "near")
    assert told.reasons[0].startswith(reason)


def test_prior_and_test_rows_are_weighted_by_their_precisions():
    """The prior is +0.02 ± 0.03 times the uncertainty of 0.5; the rows say −0.02, first ± 0.01, then ± 0.05."""
    before = pd.DataFrame({"difference": [0, 0.02], "deviation": [0, 0.03]}, ["auto", "structured_matrix"])

    def chosen(error, key="structured_matrix", never=()):
        ends = [[0, 0], [-0.02, -0.02 + norm.ppf(0.975) * error]]
        gaps = pd.DataFrame(ends, ["auto", key], ["gap", "gap_upper"])
        return lowest_expected(gaps, never, before, "auto", 0.5)

    weights = [1 / 0.015**2, 1 / np.array([0.01, 0.05]) ** 2]
    means = (0.01 * weights[0] - 0.02 * weights[1]) / (weights[0] + weights[1])
    assert means[0] < 0 < means[1]
    assert [chosen(0.01), chosen(0.05)] == ["structured_matrix", "auto"]
    assert chosen(0.01, never=["structured_matrix"]) == "auto"
    assert [chosen(error, "isotonic") for error in (0.009, 0.011)] == [
        "isotonic",
        "auto",
    ]  # no prior: clearly


def test_a_method_that_gave_what_came_a_zero_replaces_no_other():
    y, P = predictions()
    better = P["right"].copy()
    better[np.flatnonzero(y == 0)[:1]] = [0, 0.5, 0.5]
    joint = Evaluation.from_predictions(y, {"platt": P["flat"], "isotonic": better})
    assert advise(joint).choice == "platt"
    assert of(none="certain", isotonic="certain")[1].reasons[0].startswith("The uncalibrated model gave")


def test_the_scripts_lines_and_regrets_are_those_of_their_definition():
    y, P = predictions()
    named = {"none": P["sharp"], "auto": P["flat"], "platt": P["right"], "isotonic": P["certain"]}
    lines = judged(y, named, seen=200)
    hit = np.eye(3)[y]
    loss = {key: ((each - hit) ** 2).sum(axis=1) for key, each in named.items()}
    assert lines.loc["auto", "brier"] == pytest.approx(loss["auto"][200:].mean())
    assert lines.loc["platt", "gap"] == pytest.approx((loss["platt"] - loss["auto"])[:200].mean())
    chances = P["certain"][200:][np.arange(400), y[200:]]
    assert lines.loc["isotonic", "log_loss"] == pytest.approx(-np.log(np.maximum(chances, 1e-15)).mean())
    assert lines[["infinite", "never"]].to_numpy().tolist() == [[False] * 2] * 3 + [[True] * 2]
    lines = lines.reset_index().assign(data="a", model="m", size=500)
    arena = pd.DataFrame(
        {
            **{"data": [f"s{i}" for i in range(5) for _ in range(2)], "model": "m", "repeat": 0, "size": 500},
            **{"method": ["auto", "platt"] * 5, "brier": [0.2, 0.1] * 5, "log_loss": 0.5, "infinite": 0.0},
            "uncertainty": 0.5,
        }
    )
    assert advised(lines, grid(arena)) == "platt"
    found = strategies(lines, arena)
    assert found.loc["always automatic calibration", "brier"] == pytest.approx(
        loss["auto"][200:].mean() - loss["platt"][200:].mean()
    )
    assert found.loc["the advice", "brier"] == 0


def test_all_calibrators_may_be_refused():
    recipe = Recipe(model="naive_bayes", placement="none")
    fitted = fit(recipe, load_sample("all_digits"))
    found = calibrate(recipe.replace(calibrators=("platt",)), fitted)
    assert "needs calibration scores" in found.refused["platt"]
    assert found.whole.classes == 10


def test_digits_are_advised_on():
    recipe = Recipe(model="naive_bayes", calibrators=("none", "structured_matrix"))
    found = advise(evaluate(recipe, load_sample("all_digits")).whole)
    assert found.choice == "structured_matrix"


@pytest.mark.parametrize("content", ["features", "predictions"])
def test_the_confidence_gets_the_recommendation_of_all_classes_and_its_calibrator(content):
    table = load_sample("all_digits")
    recipe = Recipe(model="naive_bayes", calibrators=("none", "isotonic", "temperature", "structured_matrix"))
    if content == "predictions":
        names = table.names
        P = GaussianNB(var_smoothing=0.1).fit(table.X, table.coded).predict_proba(table.X)
        table = Dataset(
            "given",
            pd.DataFrame(P, columns=names),
            table.coded == 1,
            labels=table.coded,
            names=names,
            predictions=True,
            columns={"p": names},
        )
        recipe = recipe.replace(content="predictions")
    evaluation = evaluate(recipe, table)
    found, joint = evaluation.recommendation(), recommend(evaluation.whole)
    assert (found.choice, found.answer, found.reasons[0]) == (joint.choice, joint.answer, joint.reasons[0])
    if found.choice not in (None, "none"):
        assert found.fit().predict(np.full((1, 10), 0.1)).shape == (1, 10)
    assert evaluation.of(3).recommendation().answer.startswith(("Use ", "Leave ", "Too few", "The model"))


def test_the_reason_against_a_method_is_its_own():
    """A probability of 0 for the class that came, or a Brier score of all classes that is not expected to be lower."""
    y, P = predictions()
    named = {"structured_matrix": P["right"], "certain": P["certain"], "sharp": P["sharp"]}
    found = Evaluation.from_predictions(y, named)
    assert advise(found).choice == "structured_matrix"
    assert_says(why_not_chosen(found, "certain"), "gave the true class a probability of 0")
    assert_says(why_not_chosen(found, "sharp"), "not expected to be better", "all classes")

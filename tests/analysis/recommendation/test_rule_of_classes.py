"""The advice for three or more classes by its rules, and the script that judges it on predictions written out."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from calib import Evaluation, Recipe, evaluate, load_sample
from calib.analysis.recommendation.advice import recommend, why_not_chosen
from calib.analysis.recommendation.rule import START_OF_CLASSES, advise
from calib.evaluate import calibrate, fit
from calib.kernel.records import Dataset
from scripts.judge_joint_advice import elsewhere, followed, halves, judged, regrets
from tests.saying import assert_says


def predictions(seed=0, n=600):
    """Labels drawn from the first probabilities; the others are flatter, sharper, and certain once too often."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet([1, 1, 1], n)
    y = np.array([rng.choice(3, p=row) for row in P])
    flat, sharp = (P**power / (P**power).sum(axis=1, keepdims=True) for power in (0.4, 3))
    certain = P.copy()
    certain[:, 0] = 0
    certain /= certain.sum(axis=1, keepdims=True)
    return y, {"right": P, "flat": flat, "sharp": sharp, "certain": certain}


def of(**named):
    y, P = predictions()
    found = Evaluation.from_predictions(y, {name: P[kind] for name, kind in named.items()})
    return advise(found), recommend(found)


def test_the_first_method_compared_stays_unless_another_is_clearly_better():
    assert START_OF_CLASSES[0] == "structured_matrix"
    found, told = of(none="sharp", platt="right", structured_matrix="right")
    assert (found.start, found.choice) == ("structured_matrix", "structured_matrix")
    assert told.answer == "Use structured matrix scaling."
    found, told = of(none="flat", structured_matrix="sharp", isotonic="right")
    assert (found.start, found.choice) == ("structured_matrix", "isotonic")
    y, P = predictions()
    scores = [((P[kind] - np.eye(3)[y]) ** 2).sum(axis=1).mean() for kind in ("right", "sharp")]
    assert f"→ {scores[0]:.4f}, " in told.reasons[0]
    assert f"better than structured matrix scaling ({scores[1]:.3f})" in told.reasons[0]
    assert of(none="right", platt="sharp")[1].answer == "Leave the probabilities as they are."


def test_a_method_that_gave_what_came_a_zero_replaces_no_other():
    y, P = predictions()
    better = P["right"].copy()
    better[np.flatnonzero(y == 0)[:1]] = [0, 0.5, 0.5]
    joint = Evaluation.from_predictions(y, {"platt": P["flat"], "isotonic": better})
    assert advise(joint).choice == "platt"
    assert of(none="certain", isotonic="certain")[1].reasons[0].startswith("The uncalibrated model gave")


def test_regrets_and_halves_of_the_script_are_those_of_their_definition():
    y, P = predictions()
    P["none"] = P.pop("sharp")
    table = judged(y, P, seed=3)
    seen, fresh = halves(len(y), 3)
    assert sorted([*seen, *fresh]) == list(range(600))
    hit = np.eye(3)[y[fresh]]
    assert table.loc["flat", "brier"] == pytest.approx(((P["flat"][fresh] - hit) ** 2).sum(axis=1).mean())
    chances = P["certain"][fresh][np.arange(300), y[fresh]]
    assert table.loc["certain", "log_loss"] == pytest.approx(-np.log(np.maximum(chances, 1e-15)).mean())
    assert table["infinite"].to_dict() == {"right": False, "flat": False, "certain": True, "none": False}
    assert set(table["then"]) == {"right"}, "it is clearly better than each of the others"
    rows = regrets(table.reset_index().assign(data="a", model="m", placement="split", repeat=0))
    assert rows.set_index("method").loc["right", "brier"] == 0
    assert followed(rows, "flat")["brier"].tolist() == [0]


def test_what_is_chosen_elsewhere_is_best_on_the_other_sets():
    sets = pd.Index(["a", "b", "c"], name="data")
    tables = {
        "x": pd.DataFrame({"brier": [9.0, 1, 1], "log_loss": 0.0, "infinite": 0.0}, sets),
        "y": pd.DataFrame({"brier": [1.0, 3, 3], "log_loss": 0.0, "infinite": 0.0}, sets),
    }
    means, chosen = elsewhere(tables, "brier")
    assert dict(chosen) == {"x": 1, "y": 2}  # without a, x is best
    assert means["brier"] == pytest.approx((9 + 3 + 3) / 3)


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
    """A probability of 0 for the class that came, or a Brier score of all classes that is not clearly lower."""
    y, P = predictions()
    named = {"structured_matrix": P["right"], "certain": P["certain"], "sharp": P["sharp"]}
    found = Evaluation.from_predictions(y, named)
    assert advise(found).choice == "structured_matrix"
    assert_says(why_not_chosen(found, "certain"), "gave the true class a probability of 0")
    assert_says(why_not_chosen(found, "sharp"), "not clearly better", "all classes")

"""A calibrator from outside: what it gets for nothing, and what it must promise."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from calib import CalibratedClassifier, Recipe, evaluate
from calib.calibrators import (
    CALIBRATORS,
    MERGE,
    IntervalCalibrator,
    ScoreCalibrator,
    complexity_of,
    interval_methods,
    label_of,
    register,
)
from calib.export import bundle, calibrator_json, check_exportable
from calib.kernel.checks import InputError
from calib.kernel.records import Parameter
from calib.sources import load


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """What a test registers is gone after it."""
    monkeypatch.setattr(CALIBRATORS, "_held", dict(CALIBRATORS))


class Mine(ScoreCalibrator):
    key, label, source, input = "mine", "Mine", "here", "score"

    def _learn(self, scores, y, weights):
        self.threshold_ = scores[y == 1].mean() if y.any() else np.inf
        self.rows_ = len(y)

    def _map(self, scores):
        return np.where(scores > self.threshold_, 0.75, 0.25)


class Wide(IntervalCalibrator):
    key, label, source = "wide", "Wide", "here"
    parameters = (MERGE,)

    def __init__(self, merge="log"):
        self.merge = merge

    def _learn(self, scores, y, weights):
        self.labels_ = y

    def _pairs(self, scores):
        return np.tile([0.25, 0.75], (len(scores), 1))


def test_the_base_brings_fitting_forgetting_checks_and_weights():
    assert register(Mine) is Mine
    assert CALIBRATORS["mine"] is Mine
    fitted = Mine().fit([0, 1, 2, 3], [0, 0, 1, 1], sample_weight=[1, 0, 3, 2])
    assert (fitted.threshold_, fitted.rows_, fitted.notes_) == (2.4, 6, ())
    assert fitted.predict([2, 3]).tolist() == [0.25, 0.75]
    with pytest.raises(InputError, match="scores must be finite"):
        fitted.predict([np.nan])
    with pytest.raises(InputError, match="Lengths differ"):
        Mine().fit([1], [0, 1])
    with pytest.raises(InputError, match="Mine counts rows"):
        Mine().fit([1, 2], [0, 1], sample_weight=[0.5, 1])


def test_it_is_a_decorator_too():
    @register
    class Other(Mine):
        key = "other"

    assert CALIBRATORS["other"] is Other


def test_one_from_outside_goes_through_the_whole_chain_and_says_that_it_cannot_be_kept():
    register(Mine)
    register(Wide)
    assert label_of("mine") == "Mine"
    assert tuple(interval_methods()) == ("venn", "venn_abers", "wide")
    assert sorted(["mine", "venn_abers", "none"], key=complexity_of) == ["none", "venn_abers", "mine"]
    recipe = Recipe(
        data="sample:breast_cancer",
        model="naive_bayes",
        calibrators=("none", "mine", "wide"),
        settings={"venn_abers.interval": "wide"},
    )
    assert Recipe.from_query(recipe.to_query()) == recipe
    data = load(recipe)
    evaluation = evaluate(recipe, data)
    assert list(evaluation.metrics.index) == ["none", "mine", "wide"]
    assert evaluation.predictions["wide"].p.tolist() == [0.5] * len(evaluation.y)
    for key in ("mine", "wide"):
        for ask in (check_exportable, calibrator_json):
            with pytest.raises(InputError, match=f"{label_of(key)} cannot be saved"):
                ask(evaluation, key)
    assert len(bundle({"one": evaluation})) > 10_000
    X = data.X.iloc[:, :2]
    model = CalibratedClassifier(GaussianNB(), calibrator="mine").fit(X, data.y)
    assert set(model.predict_proba(X)[:, 1]) == {0.25, 0.75}


def test_out_of_bag_refuses_one_that_cannot_leave_single_rows_out():
    register(Mine)
    register(Wide)
    recipe = Recipe(
        data="sample:breast_cancer",
        placement="oob",
        params={"n_estimators": 10},
        calibrators=("mine", "wide"),
    )
    evaluation = evaluate(recipe, load(recipe))
    assert list(evaluation.predictions) == ["mine"]
    assert "Wide does not support out-of-bag calibration" in evaluation.refused["wide"]


def test_one_that_fails_on_these_rows_is_refused_and_the_others_answer():
    class Fragile(Mine):
        key, label = "fragile", "Fragile"

        def _learn(self, scores, y, weights):
            if len(y) != 40:
                raise KeyError("forty")
            super()._learn(scores, y, weights)

    register(Fragile)
    recipe = Recipe(data="sample:breast_cancer", model="naive_bayes", calibrators=("fragile", "platt"))
    evaluation = evaluate(recipe, load(recipe))
    assert evaluation.refused == {"fragile": "Fragile fails on these data: KeyError: 'forty'."}
    assert list(evaluation.predictions) == ["platt"]


def test_the_example_in_contributing_runs():
    text = (Path(__file__).parents[2] / "docs/adding.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    names: dict = {}
    exec(block, names)
    assert CALIBRATORS["mine"] is names["Mine"]
    assert names["Mine"]().fit([0.2, 0.8], [0, 1]).predict([0.2]).tolist() == [0.35]


def broken(**attributes):
    return type("Broken", (Mine,), {"key": "broken", **attributes})


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (Mine(), "is not a class that derives from"),
        (dict, "is not a class that derives from"),
        (broken(key="Mine"), "Broken: key must be lower-case"),
        (broken(key="platt"), "'platt' is taken"),
        (broken(label=None), "Broken: label must be"),
        (broken(source=None), "Broken: source must"),
        (broken(input="margin"), "Broken: input must be one of 'score'"),
        (broken(gives_interval=True), "derive from IntervalCalibrator"),
        (broken(parameters=(Parameter("a", "A", "number", 1.0),)), "parameters must list every option"),
        (broken(__init__=lambda self, a=1: setattr(self, "a", a)), "parameters must list every option"),
        (broken(_learn=lambda self, scores, y, weights: 1 / 0), "fails on 40 rows.*ZeroDivisionError"),
        (broken(_learn=lambda self, scores, y, weights: None), "fails on 40 rows.*AttributeError"),
        (broken(_map=lambda self, scores: scores * 2), "one probability per score"),
        (broken(_map=lambda self, scores: scores * np.nan), "one probability per score"),
        (broken(_map=lambda self, scores: scores[:3]), "one probability per score"),
        (broken(_map=lambda self, scores: None), "one probability per score"),
        (
            type("Broken", (Wide,), {"key": "broken", "_map": lambda self, scores: scores}),
            "within the interval",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_one_that_breaks_a_promise_is_refused_by_name(method, words):
    with pytest.raises(InputError, match=words):
        register(method)
    assert "broken" not in CALIBRATORS

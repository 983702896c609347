"""A model from outside is fitted beside ours; one that breaks a promise is refused by name."""

import dataclasses

import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.preprocessing import StandardScaler

from calib import Recipe, evaluate
from calib.__main__ import main
from calib.kernel.checks import InputError
from calib.kernel.records import Parameter
from calib.models import MODELS, ModelEntry, register
from calib.sources import load
from tests.saying import assert_says


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """What a test registers is gone after it."""
    monkeypatch.setattr(MODELS, "_held", dict(MODELS))


def make(alpha, random_state):
    return BernoulliNB(alpha=alpha)


MINE = ModelEntry(
    "mine", "Mine", make, (Parameter("alpha", "Alpha", "number", 1.0, 0.1, 9.0, help="Smoothing."),)
)


def test_it_is_fitted_with_the_recipes_settings():
    assert register(MINE) is MINE
    recipe = Recipe(data="sample:breast_cancer", model="mine", params={"alpha": 2.0}, calibrators=("none",))
    assert Recipe.from_query(recipe.to_query()) == recipe
    assert list(evaluate(recipe, load(recipe)).predictions) == ["none"]
    with pytest.raises(InputError, match="params.alpha must .*from 0.1 to 9"):
        recipe.replace(params={"alpha": 0})


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (BernoulliNB, "is not a calib.models.ModelEntry"),
        (dataclasses.replace(MINE, key="svm"), "'svm' is taken"),
        (dataclasses.replace(MINE, key=""), "key must be lower-case"),
        (dataclasses.replace(MINE, label=""), "label must be"),
        (dataclasses.replace(MINE, score="logit"), "mine: score must be one of"),
        (dataclasses.replace(MINE, score="margin"), "gives a margin"),
        (
            dataclasses.replace(MINE, make=lambda alpha, random_state: RidgeClassifier()),
            "gives a probability",
        ),
        (
            dataclasses.replace(MINE, make=lambda alpha, random_state: StandardScaler()),
            "neither probabilities nor",
        ),
        (
            dataclasses.replace(MINE, make=lambda alpha: BernoulliNB()),
            "mine: the function `make` fails with the default settings",
        ),
        (
            dataclasses.replace(MINE, parameters=()),
            "mine: the function `make` fails with the default settings",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_one_that_breaks_a_promise_is_refused_by_name(entry, words):
    with pytest.raises(InputError, match=words):
        register(entry)
    assert "mine" not in MODELS


def test_one_that_fails_on_these_rows_alone_is_told_on_the_command_line_without_a_traceback(tmp_path, capsys):
    class Frail(BernoulliNB):
        def fit(self, X, y, sample_weight=None):
            raise TypeError("no such rows")

    register(ModelEntry("frail", "Frail", lambda random_state: Frail(), ()))
    (tmp_path / "recipe.json").write_text(Recipe(model="frail").to_json(), encoding="utf-8")
    (tmp_path / "data.csv").write_text("x,target\n" + "1,a\n2,b\n" * 40, encoding="utf-8")
    assert main(["evaluate", str(tmp_path / "recipe.json"), str(tmp_path / "data.csv")]) == 2
    said = capsys.readouterr().err
    assert_says(said, "fails", "TypeError: no such rows", "Try other settings")

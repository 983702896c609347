"""A metric from outside is measured beside ours; one that breaks a promise is refused by name."""

import dataclasses

import numpy as np
import pytest

from calib import Recipe, evaluate
from calib.__main__ import main
from calib.kernel.checks import InputError
from calib.metrics import METRICS, Metric, register
from calib.metrics.base import check_metric
from calib.sources import load
from tests.pages.app import messages, page, settled


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """What a test registers is gone after it."""
    monkeypatch.setattr(METRICS, "_held", dict(METRICS))


def largest(y, p, bins=2, strategy="uniform"):
    return float(np.max(p)) + bins / 100


MINE = Metric("mine", "Mine", largest, None, "The largest probability.")


def test_it_stands_in_the_table_with_the_recipes_bins():
    assert register(MINE) is MINE
    recipe = Recipe(
        data="sample:breast_cancer",
        model="naive_bayes",
        calibrators=("none",),
        settings={"trees.metric": "mine"},
        bins=7,
    )
    evaluation = evaluate(recipe, load(recipe))
    assert evaluation.metrics.loc["none", "mine"] == evaluation.predictions["none"].p.max() + 0.07


def fails(y, p):
    raise KeyError("no")


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (largest, "is not a calib.metrics.Metric"),
        (dataclasses.replace(MINE, key="brier"), "'brier' is taken"),
        (dataclasses.replace(MINE, key="a b"), "key must be lower-case"),
        (dataclasses.replace(MINE, label=""), "label must be"),
        (dataclasses.replace(MINE, needs="labels"), "mine: needs must be one of"),
        (dataclasses.replace(MINE, higher_is_better=1), "mine: higher_is_better must be one of"),
        (dataclasses.replace(MINE, function=fails), "mine: .*KeyError"),
        (dataclasses.replace(MINE, function=lambda y, p: None), "mine: .*TypeError"),
        (dataclasses.replace(MINE, format="x"), "mine: .*ValueError"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_one_that_breaks_a_promise_is_refused_by_name(metric, words):
    with pytest.raises(InputError, match=words):
        register(metric)
    assert "mine" not in METRICS


@pytest.mark.parametrize("way", ["package", "command", "page"])
def test_one_that_fails_on_these_rows_alone_is_told_by_its_name(way, tmp_path, capsys):
    def frail(y, p):
        return float(1 / (len(y) < 30))

    register(dataclasses.replace(MINE, function=frail))
    recipe = Recipe(data="sample:breast_cancer", model="naive_bayes", calibrators=("none",))
    told = "Mine fails on these data: ZeroDivisionError: "
    if way == "package":
        with pytest.raises(InputError, match=told):
            evaluate(recipe, load(recipe)).metrics  # noqa: B018
    elif way == "command":
        (tmp_path / "recipe.json").write_text(recipe.to_json(), encoding="utf-8")
        load(recipe).X.assign(target=load(recipe).y).to_csv(tmp_path / "data.csv", index=False)
        assert main(["evaluate", str(tmp_path / "recipe.json"), str(tmp_path / "data.csv")]) != 0
        assert told in capsys.readouterr().err
    else:
        at = settled(page("explore_reliability", **recipe.to_query()))
        assert any(told in message for message in messages(at))
        assert not at.exception


@pytest.mark.parametrize("key", METRICS.shipped)
def test_every_shipped_metric_passes_the_check_of_a_plug_in(key):
    check_metric(METRICS[key])

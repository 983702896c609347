"""Tables as people have them: odd names, odd labels, gaps, too few rows. Each page answers, or says what is wrong."""

import numpy as np
import pandas as pd
import pytest

from calib import Recipe, evaluate
from calib.data import TableFile
from calib.sources import digest, load
from tests.pages.app import bring, faults, go, headline, messages, page
from tests.sweep import sweep

RNG = np.random.default_rng(0)
N = 120
X = RNG.normal(size=N).round(3)
Y = np.where(X + RNG.normal(size=N) > 0, "yes", "no")

GOOD = {
    "three classes": {"x": X, "target": np.where(X > 1, "high", Y)},
    "numbers as labels": {"x": X, "target": np.where(Y == "yes", 2.5, -1.0)},
    "truth values as labels": {"x": X, "target": Y == "yes"},
    "labels with gaps": {"x": X, "target": np.where(RNG.random(N) < 0.2, None, Y)},
    "names with commas, brackets and quotes": {
        'a,"b"': X,
        "[c]": X**2,
        "d=e&f#g": RNG.random(N),
        "target": Y,
    },
    "names in other scripts": {"größe": X, "体重": X**2, "🙂": RNG.random(N), "target": Y},
    "infinite and missing numbers": {
        "x": np.where(X > 1, np.inf, X),
        "z": np.where(X < 0, np.nan, X),
        "target": Y,
    },
    "a category for every row but a few": {"x": X, "who": [f"name {i // 2}" for i in range(N)], "target": Y},
    "dates and truth values": {
        "d": pd.date_range("2020-01-01", periods=N).astype(str),
        "b": X > 0,
        "target": Y,
    },
    "one feature that gives the label away": {"x": (Y == "yes").astype(int), "target": Y},
    "a column called y_pred beside features": {"y_pred": X, "c": RNG.choice(["a", "b"], N), "target": Y},
    "repeated rows": {"x": np.round(X), "target": Y},
}
BAD = {
    "one class": ({"x": X, "target": ["same"] * N}, "class"),
    "only gaps in the label": ({"x": X, "target": [None] * N}, "target"),
    "nothing to learn from": ({"fixed": [1] * N, "target": Y}, "No usable feature"),
    "one row of a class": ({"x": X, "target": ["rare"] + ["often"] * (N - 1)}, "rare"),
}


def csv(columns) -> bytes:
    return pd.DataFrame(columns).to_csv(index=False).encode()


@pytest.mark.parametrize("what", GOOD)
def test_an_odd_table_is_evaluated(what):
    content = csv(GOOD[what])
    recipe = Recipe(data=f"upload:{digest(content)}", target="target", model="naive_bayes")
    data = load(recipe, {digest(content): TableFile("odd.csv", content)})
    evaluation = evaluate(recipe, data)
    assert data.n <= N
    assert evaluation.refused == {}
    assert np.isfinite(evaluation.metrics["brier"]).all()


SHOWN = ("three classes", "names with commas, brackets and quotes")  # the others by make soak


@pytest.mark.parametrize("what", sweep(GOOD, *SHOWN))
def test_an_odd_table_is_shown_and_evaluated(what):
    at = page("explore_data", model="naive_bayes")
    bring(at, "odd.csv", csv(GOOD[what]))
    assert faults(at) == []
    assert at.session_state["recipe"].target == "target"
    assert int(headline(at)["Rows"]) <= N
    go(at, "explore_reliability")
    assert faults(at) == []
    assert len(at.get("plotly_chart")) == 1


@pytest.mark.parametrize("what", BAD)
def test_a_table_that_cannot_be_used_says_why_on_every_page(what):
    columns, words = BAD[what]
    at = page("explore_data", model="naive_bayes")
    bring(at, "bad.csv", csv(columns))
    assert not at.exception
    if at.session_state["recipe"].target is None:
        at.selectbox(key="target").set_value("target").run()
    assert not at.exception
    assert any(words in text for text in messages(at)), messages(at)
    go(at, "explore_reliability")
    assert not at.exception
    assert at.error
    assert len(at.get("plotly_chart")) == 0


def test_odd_names_travel_in_a_link_and_back():
    at = page("explore_data", model="naive_bayes")
    bring(at, "odd.csv", csv(GOOD["names with commas, brackets and quotes"]))
    at.segmented_control(key="content").set_value("features").run()
    at.multiselect(key="exclude").set_value(['a,"b"', "d=e&f#g"]).run()
    assert faults(at) == []
    recipe = at.session_state["recipe"]
    assert recipe.exclude == ('a,"b"', "d=e&f#g")
    assert Recipe.from_query(recipe.to_query()) == recipe
    assert Recipe.from_query(dict(at.query_params)) == recipe


def test_the_last_good_data_come_back_when_they_are_chosen_again():
    at = page("explore_data", model="naive_bayes")
    bring(at, "good.csv", csv(GOOD["three classes"]))
    good = at.session_state["recipe"]
    bring(at, "bad.csv", csv(BAD["one class"][0]))
    at.selectbox(key="data").set_value(good.data).run()
    assert faults(at) == []
    assert at.session_state["recipe"] == good

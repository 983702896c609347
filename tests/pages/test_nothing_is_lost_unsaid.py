"""What a person stated stays; where it cannot, the page names it in one sentence."""

import numpy as np
import pandas as pd
import pytest

from calib import Recipe
from tests.pages.app import bring, faults, messages, page, settled
from tests.saying import assert_any_says, assert_says

RNG = np.random.default_rng(4)
ROWS = 120
TABLE = pd.DataFrame(
    {
        "x": RNG.normal(size=ROWS).round(3),
        "age": RNG.integers(20, 80, ROWS),
        "day": [f"2024-{1 + i // 28:02}-{1 + i % 28:02}" for i in range(ROWS)],
        "who": [f"p{i // 3}" for i in range(ROWS)],
        "w": 1 + RNG.integers(0, 3, ROWS),
    }
)
TABLE["target"] = np.where(RNG.random(ROWS) < 1 / (1 + np.exp(-TABLE["x"])), "yes", "no")
FIRST = TABLE.to_csv(index=False).encode()
OTHER = TABLE.assign(x=TABLE["x"] + 1).to_csv(index=False).encode()
KEPT = " Kept from the previous data set: "
REMOVED = "Removed, because it does not apply after this change: "


def removed(at) -> str:
    """What the page says it removed, or nothing."""
    said = next((text.removeprefix(REMOVED) for text in messages(at) if text.startswith(REMOVED)), "")
    return said.partition(KEPT)[0]


def brought(**stated):
    """The Data page with the first file, and these fields stated in its address."""
    at = bring(page("explore_data", model="naive_bayes", calibrators="none,platt"), "first.csv", FIRST)
    link = Recipe.from_query(dict(at.query_params)).replace(**stated).to_query()
    again = bring(page("explore_data", **link), "first.csv", FIRST)
    assert Recipe.from_query(dict(again.query_params)) == Recipe.from_query(link)
    assert (removed(again), faults(again)) == ("", [])
    return again


def test_a_link_and_the_file_that_it_asks_for_change_nothing():
    stated = {"base_rate": 0.01, "cluster": "who", "weight": "w", "exclude": ("age",), "positive": "no"}
    recipe = brought(**stated).session_state["recipe"]
    assert {name: getattr(recipe, name) for name in stated} == stated


def test_another_file_says_what_was_stated_of_the_one_before():
    at = bring(brought(base_rate=0.01, cluster="who", weight="w", exclude=("age",)), "other.csv", OTHER)
    recipe = at.session_state["recipe"]
    assert (recipe.base_rate, recipe.cluster, recipe.weight, recipe.exclude) == (None, None, None, ())
    gone = "Exclude columns (age), Weight or count (w), Cluster (who) and Deployment base rate (1 %)."
    assert removed(at) == gone
    assert recipe.file == "other.csv"


def test_another_file_says_nothing_where_nothing_was_stated():
    at = bring(brought(), "other.csv", OTHER)
    assert at.session_state["recipe"].file == "other.csv"
    assert removed(at) == ""


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("target", "w", "Positive class (no) and Deployment base rate (1 %)."),
        ("positive", "yes", "Deployment base rate (1 %)."),
    ],
)
def test_a_base_rate_is_not_taken_for_that_of_another_class(key, value, said):
    at = brought(base_rate=0.01, positive="no")
    at.selectbox(key=key).set_value(value).run()
    assert at.session_state["recipe"].base_rate is None
    assert removed(at) == said


def test_a_data_set_chosen_in_the_sidebar_says_so_too():
    at = page("explore_data", data="sample:loans", model="naive_bayes", base_rate="0.01")
    assert at.session_state["recipe"].base_rate == 0.01
    at.selectbox(key="data").set_value("sample:breast_cancer").run()
    assert at.session_state["recipe"].base_rate is None
    assert removed(at) == "Deployment base rate (1 %)."


def test_other_data_open_no_tab_of_the_last_ones_and_name_every_setting_that_is_kept():
    own = {"reliability.details": "rows", "decide.cost_miss": "9"}
    at = page(data="sample:breast_cancer", model="naive_bayes", bins="9", **own)
    settled(at.selectbox(key="data").set_value("sample:digits").run())
    recipe = at.session_state["recipe"]
    assert recipe.setting("reliability.details") == "metrics"
    assert recipe.setting("decide.cost_miss") != 9
    assert "Selected rows" in removed(at)
    assert "9" in removed(at)
    (kept,) = (text.partition(KEPT)[2] for text in messages(at) if KEPT in text)
    assert "Naive Bayes" in kept
    assert "Bins (9)" in kept
    fresh = page(data="sample:breast_cancer")
    settled(fresh.selectbox(key="data").set_value("sample:digits").run())
    assert not any("Kept from" in text for text in messages(fresh))


def test_calibrators_that_nobody_chose_change_with_the_number_of_classes_without_a_word():
    at = page(data="sample:breast_cancer", model="naive_bayes")
    for data in ("all_digits", "breast_cancer"):
        settled(at.selectbox(key="data").set_value(f"sample:{data}").run())
        assert not any("Calibrators" in text for text in messages(at))
    assert at.session_state["recipe"].calibrators == Recipe().calibrators


def test_another_split_says_what_of_the_one_before_it_does_not_use():
    at = brought(time="day", split="time", data_params={"gap": 3.0}, evaluation="folds", folds=3)
    at.switch_page("pages/explore_reliability.py").run()
    settled(at)
    at.selectbox(key="split").set_value("random").run()
    settled(at)
    assert at.session_state["recipe"].data_params == ()
    assert removed(at) == "Gap (3.0) and Evaluated on (Cross-validation)."
    assert faults(at) == []


def test_a_role_that_takes_anothers_column_says_so():
    at = brought(time="day", split="time", data_params={"gap": 3.0})
    at.selectbox(key="cluster").set_value("day").run()
    assert_says(removed(at), "Gap (3.0)", "Date or time (day)", "Split (By time)")
    assert faults(at) == []


def test_options_go_with_their_calibrator_and_settings_with_their_model():
    at = page(
        data="sample:digits",
        model="decision_tree",
        params='{"leaf":"m","m":5}',
        calibrators="none,isotonic",
        options='{"isotonic.between":"nearest"}',
    )
    at.multiselect(key="calibrators").set_value(["none"]).run()
    assert settled(at).session_state["recipe"].options == ()
    assert removed(at) == "Isotonic regression: Between scores (nearest)."
    at.selectbox(key="params.leaf").set_value("laplace").run()
    assert settled(at).session_state["recipe"].params == (("leaf", "laplace"),)
    assert "(5" in removed(at)
    at.selectbox(key="model").set_value("naive_bayes").run()
    assert settled(at).session_state["recipe"].params == ()
    assert "(Laplace)" in removed(at)
    assert faults(at) == []


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"decide.cost_mis": "9"}, "'decide.cost_mis' is not a known setting"),
        ({"options": '{"venn.bins":5}'}, "not among the calibrators none, auto"),
        ({"data_params": '{"gap":5}'}, "data_params.gap is an option of split='time'"),
        (
            {"data": "synthetic:gaussian", "data_params": '{"clusters":5}'},
            "data_params: 'clusters' is not a known",
        ),
        ({"params": '{"max_depth":5,"max_depth":6}'}, "params: 'max_depth' is given twice"),
    ],
    ids=str,
)
def test_a_link_with_what_has_no_effect_is_refused_by_name(query, words):
    at = page("explore_data", **query)
    assert any("The link could not be followed" in text and words in text for text in messages(at))
    assert not at.exception


def test_a_link_that_names_a_cluster_of_data_without_one_is_refused():
    at = page(data="synthetic:gaussian", model="naive_bayes", cluster="who")
    assert_any_says(messages(at), "cluster:", "'who'")

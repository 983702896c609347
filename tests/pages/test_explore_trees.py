"""The Trees page: its numbers are those of scikit-learn and evaluate; nothing that is drawn otherwise grows again."""

from threading import Event

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from calib import Recipe
from calib.analysis import depth
from calib.analysis.depth import UNLIMITED, at_depth, depth_recipe, depth_scores, sweep_depths
from calib.analysis.grown_tree import grown_tree
from calib.figures import FIGURES
from calib.figures.depth import best_cells
from calib.kernel.wording import brief, class_named, duration
from calib.metrics import brier_score
from calib.sources import load
from tests.evaluated import evaluated
from tests.pages.app import at_once, bring, faults, go, headline, jobs_of, messages, page, settled, titles
from tests.saying import assert_any_says
from tests.waiting import LIMIT, until

STEM = "explore_trees"
SMALL = {
    "data": "synthetic:gaussian",
    "data_params": '{"n":120}',
    "params": '{"n_estimators":2,"min_samples_leaf":3}',
    "calibrators": "none,platt",
}


def opened(**query):
    return page(STEM, **(SMALL | query))


def recipe_of(**query):
    return Recipe.from_query(SMALL | query)


@pytest.fixture(scope="module")
def points():
    recipe = recipe_of()
    return {point.key: point for point in sweep_depths(recipe, load(recipe))}


def table(at, column="rule"):
    return next(frame.value for frame in at.dataframe if column in frame.value)


def test_the_picture_is_that_of_the_sweep(points):
    at = opened()
    assert faults(at) == []
    scores = [depth_scores(recipe_of(), point) for point in points.values()]
    record = FIGURES["depth"].prepare(scores)
    tree = grown_tree(recipe_of(), at_depth(points, "tree", "frequency", "3"))
    losses = FIGURES["depth_losses"].prepare(scores).title
    expected = {
        record.title,
        losses,
        FIGURES["tree"].prepare(tree).title,
        f"The tree as {len(tree.table())} rules",
    }
    assert expected <= set(titles(at))
    assert len(at.get("plotly_chart")) == 6  # two of depth, three diagrams, one tree
    for growth, value, where in best_cells(scores, "brier"):
        name = {"tree": "Tree, held out", "forest": "Forest, held out", "forest_oob": "Forest, out of bag"}[
            growth
        ]
        shown = next(metric for metric in at.metric if metric.label.endswith(name))
        assert (shown.value, shown.delta) == (brief(value), where)


def test_the_best_uncalibrated_numbers_are_scikit_learns():
    at = opened(calibrators="none")
    data = load(recipe_of())
    X, y = data.X.to_numpy(), data.y
    train, test = map(np.sort, train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=0))
    own, _ = train_test_split(np.arange(len(train)), test_size=1 / 3, stratify=y[train], random_state=0)
    rows = train[own]
    leaf = {"min_samples_leaf": 3, "random_state": 0}
    for name, make in (
        ("Tree, held out", lambda limit: DecisionTreeClassifier(max_depth=limit, **leaf)),
        ("Forest, held out", lambda limit: RandomForestClassifier(2, max_depth=limit, **leaf)),
    ):
        best = np.inf
        for limit in [*range(1, 12), None]:
            model = make(limit).fit(X[rows], y[rows])
            members = getattr(model, "estimators_", [model])
            for laplace in (False, True):
                p = np.mean(
                    [leaf_probabilities(member.tree_, X[test], laplace) for member in members], axis=0
                )
                best = min(best, brier_score(y[test], p))
        assert headline(at)[f"Brier score · {name}"] == brief(best)


def leaf_probabilities(tree, X, laplace):
    leaf = tree.apply(X.astype(np.float32))
    n = tree.weighted_n_node_samples[leaf]
    ones = np.rint(tree.value[leaf, 0, 1] * n)
    return (ones + 1) / (n + 2) if laplace else ones / n


def test_diagrams_are_those_of_evaluate_at_the_depths_chosen():
    at = opened(**{"trees.growth": "forest_oob", "trees.leaves": "laplace", "trees.depths": "1,4,max"})
    headings = [text.value.replace("\\", "") for text in at.main.markdown if "leaves" in text.value]
    assert [heading.split(":")[0].strip("*") for heading in headings[:2]] == ["Depth 1", "Depth 4"]
    assert headings[2].startswith("**Fully grown, depth")
    helps = [text.help.replace("\\", "") for text in at.main.markdown if "leaves" in text.value]
    for limit, said in zip((1, 4, None), helps, strict=True):
        recipe = depth_recipe(recipe_of(), "forest_oob", limit, "laplace")
        assert FIGURES["reliability"].prepare(evaluated(recipe)).title == said


@pytest.mark.parametrize(
    "query",
    [{}, {"trees.leaves": "laplace", "trees.depth": "2", "trees.interval": "venn", "merge": "square"}],
)
def test_the_rules_are_those_of_the_calibrated_tree(points, query):
    at = opened(**query)
    recipe = recipe_of(**query)
    expected = grown_tree(
        recipe,
        at_depth(points, "tree", recipe.setting("trees.leaves"), str(recipe.setting("trees.depth"))),
        method=recipe.setting("trees.interval"),
    ).table()
    pd.testing.assert_frame_equal(table(at).rename(columns={"own": "score"}), expected)
    named = class_named(load(recipe).classes[1])  # labels may be 1 and 2
    assert any(text.value.endswith(f"the share of these rows in {named}.") for text in at.caption)


def test_a_row_is_led_through_the_tree(points):
    row = int(load(recipe_of()).X.index[11]) + 1
    at = opened(**{"trees.row": str(row), "trees.depth": "4"})
    tree = grown_tree(recipe_of(), at_depth(points, "tree", "frequency", "4"))
    way = table(at, "condition")
    assert way["node"].tolist() == list(tree.path_of(row))
    assert way["condition"].tolist() == [tree.nodes[i].condition or "every row" for i in tree.path_of(row)]
    assert FIGURES["tree"].prepare(tree, row=row).title in titles(at)
    at.number_input(key="trees.row").set_value(100_000).run()
    assert_any_says(messages(at), "Row 100000", "not", "120 rows")
    assert FIGURES["tree"].prepare(tree).title in titles(at)


@pytest.mark.soak
def test_a_branch_can_be_drawn_alone_and_left_again(points):
    at = opened(**{"trees.node": "1"})
    node = grown_tree(recipe_of(), at_depth(points, "tree", "frequency", "3")).nodes[1]
    assert any(node.rule in text.value.replace("\\", "") for text in at.main.markdown)
    at.button(key="whole_tree").click().run()
    assert at.session_state["recipe"].setting("trees.node") is None
    other = opened(**{"trees.node": "1"})
    other.slider(key="trees.depth").set_value(2).run()
    assert other.session_state["recipe"].setting("trees.node") is None  # another tree has other nodes


@pytest.mark.soak
def test_nothing_but_the_forests_own_settings_grows_again(monkeypatch):
    at = opened()
    fits, real = [], depth.fit
    monkeypatch.setattr(depth, "fit", lambda *args: fits.append(args[0]) or real(*args))
    at.selectbox(key="trees.metric").select("ece").run()
    at.slider(key="bins").set_value(7).run()
    at.multiselect(key="calibrators").set_value(["none", "beta", "rank"]).run()
    at.multiselect(key="trees.depths").set_value(["3"]).run()
    at.slider(key="trees.depth").set_value(2).run()
    settled(at)
    assert faults(at) == []
    assert fits == []
    at.number_input(key="params.n_estimators").set_value(5).run()
    assert dict(settled(at).session_state["recipe"].params)["n_estimators"] == 5
    # a tree has no number of trees
    assert {dict(recipe.params).get("n_estimators") for recipe in fits} == {None, 5}


def test_metrics_are_offered_where_they_are_there():
    at = opened(calibrators="none,platt")
    names = set(at.selectbox(key="trees.metric").options)
    assert {"Brier score", "TCE", "Log loss"} <= names
    assert "Mean width" not in names
    real = page(STEM, data="sample:breast_cancer", params='{"n_estimators":2,"min_samples_leaf":40}')
    assert "TCE" not in real.selectbox(key="trees.metric").options
    assert "Mean width" in real.selectbox(key="trees.metric").options
    assert any("synthetic data" in text.value for text in real.caption)
    assert not any("losses" in chart.key for chart in real.get("plotly_chart"))


@pytest.mark.soak
def test_a_model_that_is_no_tree_lends_no_settings():
    at = opened(model="svm", params="{}", data_params='{"n":40}', **{"trees.depths": UNLIMITED})
    assert "do not apply" in at.selectbox(key="trees.metric").help
    assert faults(at) == []


def test_a_cancelled_sweep_keeps_its_picture_and_goes_on(monkeypatch):
    from pages.ui import jobs

    monkeypatch.setattr(jobs, "SECONDS_WITHOUT_PROGRESS", 0.0)
    at = at_once(STEM, **SMALL)
    at.button(key="cancel_depths").click().run()
    assert any("Cancelled" in text for text in messages(at))
    assert not at.metric
    assert at.selectbox(key="trees.metric").value == "brier"
    at.button(key="fit_again_depths").click().run()
    assert faults(settled(at)) == []
    assert len(at.metric) == 3


def test_dear_forests_wait_for_a_press_beside_their_price_and_the_tree_is_there_at_once(monkeypatch):
    from pages.ui import jobs

    monkeypatch.setattr(jobs, "UNASKED", -1.0)
    at = opened(**{"trees.depths": "2", "trees.growth": "tree"})
    assert any(
        "Forests of all depths" in text.value and "model fits take about" in text.value
        for text in at.main.markdown
    )
    assert not at.metric
    assert any(title.startswith("The tree of depth 3") for title in titles(at))
    at.button(key="start_depths").click().run()
    assert len(settled(at).metric) == 3
    assert faults(at) == []
    at = go(go(at, "explore_decide"), STEM)
    assert len(at.metric) == 3  # agreed once


def test_trees_of_many_rows_wait_for_a_click_beside_their_time(monkeypatch):
    from pages.ui import evaluations, jobs
    from pages.ui.explore import trees

    asked = []
    monkeypatch.setattr(jobs, "UNASKED", 10.0)
    monkeypatch.setattr(trees, "FEWEST_ESTIMATED", 100)
    monkeypatch.setattr(
        evaluations, "expected_seconds", lambda recipe, *_, short: asked.append(recipe) or 10.0
    )
    at = opened(seed="7")
    seconds = depth.tree_seconds(120, 10.0)
    assert any(f"Fitting 120 rows takes about {duration(seconds)}" in text.value for text in at.markdown)
    assert asked == [depth_recipe(recipe_of(seed="7"), "tree")]
    assert not jobs_of(at, "depths")
    at = settled(at.button(key="start_depths").click().run())
    assert (len(at.metric), faults(at)) == (3, [])
    monkeypatch.setattr(evaluations, "expected_seconds", lambda *_, short: 0.1)
    assert len(opened(seed="8").metric) == 3  # a short time asks nothing


@pytest.mark.soak
def test_growing_rests_while_another_page_is_open_and_goes_on_afterwards(monkeypatch):
    from pages.ui import jobs
    from pages.ui.explore import trees

    monkeypatch.setattr(jobs, "SECONDS_WITHOUT_PROGRESS", 0.0)
    whole, begun, let_go = trees.sweep_depths, Event(), Event()

    def held(recipe, data, watch, points, forests):
        """The forests wait after the first one, until they are called off."""
        for point in whole(recipe, data, watch, points, forests):
            yield point
            if forests and not let_go.is_set():
                begun.set()
                watch.cancel.wait(LIMIT)

    monkeypatch.setattr(trees, "sweep_depths", held)
    at = at_once(STEM, **SMALL)
    until(lambda: at.run() and begun.is_set(), "first the tree, then the forests are grown")
    *_, forests = jobs_of(at, "depths")
    assert not forests.future.done()
    go(at, "explore_data")
    assert forests.cancelled
    let_go.set()
    at = go(at, STEM)
    assert not any("Cancelled" in text for text in messages(at))
    assert len(at.metric) == 3


def test_predictions_made_elsewhere_have_no_trees_and_the_page_says_why():
    at = page(STEM, data="sample:predictions", content="predictions")
    assert any("feature columns" in text for text in messages(at))
    assert not at.get("plotly_chart")


def test_a_table_too_small_to_split_is_refused_with_the_remedy():
    at = go(bring(page("explore_data"), "four.csv", b"a,target\n1,x\n2,y\n3,x\n4,x\n"), STEM)
    assert any("minority class has 1 row" in text for text in messages(at))
    assert not at.exception


@pytest.mark.soak
def test_names_in_the_file_are_shown_as_text():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 2)).round(2)
    lines = ["<b>x</b>,*y*,target"] + [f"{a},{b},{'=no' if a > 0 else '[yes](http://x.y)'}" for a, b in x]
    at = go(bring(page("explore_data"), "odd.csv", "\n".join(lines).encode()), STEM)
    settled(at)
    assert faults(at) == []
    assert any("<b>x</b>" in rule for rule in table(at)["rule"])
    record_titles = " ".join(element.value for element in at.main.subheader)
    assert "<b>" not in record_titles.replace("\\<b\\>", "")


def test_the_source_of_the_page_gives_its_numbers(points):
    at = opened(**{"trees.depths": "2"})
    printed = []
    exec(next(code.value for code in at.code if "sweep" in code.value), {"print": printed.append})
    recipe = recipe_of()
    scores = [depth_scores(recipe, point) for point in points.values()]
    assert printed[0] == FIGURES["depth"].prepare(scores).to_frame().round(4).to_string(max_rows=60)
    assert printed[1] == table(at).rename(columns={"own": "score"}).to_string(max_rows=60)


def test_a_split_in_time_grows_no_forest_out_of_bag_and_says_why():
    dated = {"data": "sample:dated", "time": "ordered", "split": "time"}
    params = '{"n_estimators":2,"min_samples_leaf":200}'
    at = page(STEM, **dated, params=params, **{"trees.growth": "forest_oob"})
    assert faults(at) == []
    (why,) = [text for text in messages(at) if "Forest, out of bag" in text]
    assert "later rows would score earlier rows" in why
    growth = at.segmented_control(key="trees.growth")
    assert growth.options == ["Tree, held out", "Forest, held out"]
    assert growth.value == "tree"
    assert "Not grown yet." not in [caption.value for caption in at.caption]
    at = go(at, "explore_reliability")
    assert not any("Out of bag" in option for option in at.selectbox(key="placement").options)
    assert any("Not offered: Out of bag" in caption.value for caption in at.sidebar.caption)


def test_the_tree_is_drawn_from_a_node_without_a_click_too():
    at = opened()
    chosen = at.selectbox(key="trees.node")
    assert chosen.value is None
    branch = chosen.options[1]
    at = settled(chosen.select(branch).run())
    assert branch.startswith(f"Node {at.query_params['trees.node'][0]}: ")
    assert at.selectbox(key="trees.node").value == int(at.query_params["trees.node"][0])

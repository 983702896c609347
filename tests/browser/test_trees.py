"""In a real browser: depths grow while one looks, a clicked node is drawn from there, a row is led through the tree."""

import io

import pandas as pd
import pytest

from calib import Recipe
from calib.analysis.depth import grow
from calib.analysis.grown_tree import grown_tree
from calib.figures import FIGURES
from calib.sources import load
from tests.saying import assert_any_says

QUERY = {
    "data": "synthetic:gaussian",
    "data_params": '{"n":200}',
    "params": '{"min_samples_leaf":10,"n_estimators":2}',
    "trees.depths": "2",
}


@pytest.fixture(scope="module")
def tree():
    recipe = Recipe.from_query(QUERY)
    return grown_tree(recipe, grow(recipe, load(recipe), "tree", 3)[0])


@pytest.mark.soak  # a click on a chart: test_selection.py
def test_a_node_clicked_is_drawn_from_there_and_its_first_line_leads_up_again(tab, tree):
    tab.open("explore_trees", **QUERY)
    record = FIGURES["tree"].prepare(tree)
    assert record.title in tab.chart_titles()
    marks = [t for t in FIGURES["tree"].draw(record).data if t.mode == "markers+text"]
    numbers = [int(known[0]) for trace in marks for known in trace.customdata]
    which = next(i for i, n in enumerate(numbers) if n and not tree.nodes[n].leaf)
    tab.click_chart(
        "tree", *[place for trace in marks for place in zip(trace.x, trace.y, strict=True)][which]
    )
    assert tab.recipe_query()["trees.node"] == str(numbers[which])
    assert tab.page.get_by_text(f"The drawing starts at node {numbers[which]}:").count() == 1
    parent = tree.nodes[numbers[which]].parent
    tab.press("Whole tree")
    assert "trees.node" not in tab.recipe_query()
    assert parent == 0 or parent in record.shown


@pytest.mark.soak
def test_a_rows_way_is_lit_and_the_rules_come_home_as_they_stand(tab, tree):
    tab.open("explore_trees", **QUERY)
    tab.type_number("trees.row", 17)
    assert FIGURES["tree"].prepare(tree, row=17).title in tab.chart_titles()
    content = tab.download(lambda: tab.by_key("download_tree_rules.csv").get_by_role("button").click())
    table = pd.read_csv(io.BytesIO(content), encoding="utf-8-sig", dtype={"label": str})
    pd.testing.assert_frame_equal(table, tree.table(), check_dtype=False)


@pytest.mark.soak
def test_a_long_sweep_shows_what_is_grown_and_how_far_it_is(tab):
    tab.page.goto(f'{tab.address}/explore_trees?data=sample:breast_cancer&params={{"n_estimators":300}}')
    progress = tab.page.get_by_test_id("stProgress")
    growing = progress.get_by_text("Growing trees: Forest")
    ask = tab.by_key("start_depths").get_by_role("button")  # on a slow machine forests are dear
    growing.or_(ask).wait_for()
    if ask.count():
        ask.click()
    growing.wait_for()
    tab.by_key("chart_depth").wait_for()
    tab.by_key("chart_tree").wait_for()  # the tree is there before the forests are
    assert progress.count() == 1
    tab.by_key("cancel_depths").get_by_role("button").click()
    tab.settle()
    assert_any_says(tab.alerts(), "Cancelled", "Results so far")
    assert tab.by_key("chart_depth").count() == 1

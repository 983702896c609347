"""Learn pages in a browser: ask, show on one click, follow a slider, and come back from the copied link."""

import json
from urllib.parse import parse_qsl, urlsplit


def test_a_prediction_a_move_and_the_link_back(tab, new_tab):
    tab.open("learn_algorithms")
    assert tab.page.get_by_test_id("stPlotlyChart").count() == 0
    tab.press("Skip").press("Next move")
    seen = tab.chart_titles()
    assert seen[0].startswith("Move 2 of 6")
    query = dict(parse_qsl(urlsplit(tab.link()).query))
    assert json.loads(query["learn"]) == {"pooling.guess": "skip", "pooling.step": 1}
    other = new_tab().open("learn_algorithms", **query)
    assert other.chart_titles() == seen


def test_the_losses_stack_and_follow_the_depth(tab):
    tab.open("learn_cl_gl", learn='{"cl_gl.guess":"skip","cl_gl.leaf":"laplace","cl_gl.n":200}')
    before = tab.chart_titles()
    assert len(before) == 3
    tab.slide("learn.cl_gl.depth", -4)
    after = tab.chart_titles()
    assert after[2] == before[2]
    assert after[:2] != before[:2]
    assert json.loads(tab.recipe_query()["learn"])["cl_gl.depth"] == 8

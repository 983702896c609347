"""Other data: nothing of the last data set is left on the page, also while the new model is being fitted."""

import json

import numpy as np
import pandas as pd

from tests.waiting import until

SLOW = {"model": "large_forest", "params": json.dumps({"n_estimators": 300})}
TEXT = "() => document.querySelector('.stMain').innerText"
# All that stands on the page at the first moment at which its heading names these data
ONCE_NAMED = """name => document.querySelector('.st-key-heading')?.innerText.includes(name)
    && document.querySelector('.stMain').innerText"""
# How far what is seen of the page's words, numbers, tables and charts is faded, once a picture is drawn
SHARES = """() => [...document.querySelectorAll(
        '.stMain :is(.stMarkdown, .stMetric, .stDataFrame, .stPlotlyChart, .stHeading, .stAlert)')]
    .filter(at => at.checkVisibility() && !at.closest('.st-key-heading, [class*="st-key-running_"]')
        && at.innerText.trim())
    .map(at => { let share = 1; for (let up = at; up; up = up.parentElement) share *= getComputedStyle(up).opacity
        return [share, at.innerText.slice(0, 60)] })"""


def csv(rows, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 4))
    label = np.where(rng.random(rows) < 1 / (1 + np.exp(-2 * x[:, 0])), "ill", "well")
    return pd.DataFrame(x, columns=list("abcd")).assign(label=label).to_csv(index=False).encode()


def begun(tab):
    tab.page.get_by_test_id("stProgress").wait_for()


def left(text):
    """What may not be seen of the first data set, which has 300 rows, 90 of them test rows."""
    return [
        words for words in ("90 test rows", "first.csv", "Brier", "Which calibrator", "→") if words in text
    ]


def test_nothing_of_the_last_data_set_is_seen_while_the_model_of_the_next_is_fitted(tab):
    tab.open("explore_data", **SLOW).upload("first.csv", csv(300, 0))
    tab.go("Reliability")
    assert "90 test rows" in tab.page.evaluate(TEXT)
    assert "first.csv" in tab.by_key("heading").inner_text()
    tab.go("Data").upload("second.csv", csv(20_000, 1))
    tab.in_menu("Reliability").click()
    begun(tab)
    text = tab.page.evaluate(TEXT)
    assert "second.csv" in text
    assert "Fitting the model" in text
    assert left(text) == []
    assert tab.page.locator(".stMain :is(.stPlotlyChart, .stMetric, .stDataFrame)").count() == 0
    tab.by_key("cancel_fits").get_by_role("button").click()
    tab.settle()
    assert left(tab.page.evaluate(TEXT)) == []

    # On the page itself: back to the first, which is there at once, and to the second again
    tab.choose("data", "first.csv")
    assert "90 test rows" in tab.page.evaluate(TEXT)
    tab.pick("data", "second.csv")
    text = tab.page.wait_for_function(ONCE_NAMED, arg="second.csv").json_value()
    assert left(text) == []
    begun(tab)
    tab.by_key("cancel_fits").get_by_role("button").click()
    tab.settle()


def test_another_model_of_the_same_data_leaves_the_last_picture_greyed_as_a_whole(tab):
    few = {"model": "large_forest", "params": json.dumps({"n_estimators": 5})}
    tab.open("explore_reliability", data="sample:digits", **few).unfold("Model settings")
    assert {share for share, _ in tab.page.evaluate(SHARES)} == {1}
    trees = tab.by_key("params.n_estimators").locator("input")
    trees.fill("2000")
    trees.press("Enter")
    begun(tab)
    tab.page.wait_for_function(
        "() => document.querySelector('.stApp').dataset.testScriptState === 'notRunning'"
    )
    assert len(tab.page.evaluate(SHARES)) > 10
    until(
        lambda: not [words for share, words in tab.page.evaluate(SHARES) if share > 0.5],
        "nothing of the last picture is left ungreyed",
    )
    progress = tab.page.get_by_test_id("stProgress")
    assert progress.evaluate("at => getComputedStyle(at.closest('.stElementContainer')).opacity") == "1"
    tab.by_key("cancel_fits").get_by_role("button").click()
    tab.settle()

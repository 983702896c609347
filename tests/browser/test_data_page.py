"""A table as people have them is brought to the page: it proposes, and a click does what it proposes."""

import numpy as np
import pandas as pd
import pytest

from calib.data import TableFile
from calib.sources import digest, load
from tests.browser import files
from tests.saying import assert_says

RNG = np.random.default_rng(0)
N = 200
X = RNG.normal(size=N).round(3)
Y = np.where(X + RNG.normal(size=N) > 0, "yes", "no")


def again(tab, name, content):
    """The Dataset of the page's own link and the same file, without the page."""
    recipe = files.Recipe.from_query(tab.recipe_query())
    return load(recipe, {digest(content): TableFile(name, content)})


@pytest.mark.soak
def test_a_title_and_labels_spelt_several_ways_are_put_right_by_clicks(tab):
    spelt = np.where(np.arange(N) % 5 == 0, np.where(Y == "yes", "YES", "No"), Y).astype(object)
    spelt[:3] = "unknown"
    key = RNG.integers(0, 60, N)
    content = b"Customers of 2020\n\n" + files.as_csv(
        pd.DataFrame({"customer_id": key, "x": X, "target": spelt})
    )
    tab.open("explore_data").upload("messy.csv", content)
    assert tab.recipe_query()["data_params"] == '{"header":3}'
    assert tab.by_key("data_params.header").locator("input").input_value() == "3"
    asked = tab.by_key("question")
    assert "may mean that the label is missing" in asked.inner_text()
    tab.press("Missing: exclude these rows")
    assert asked.count() == 0
    for label, gone in (
        ("Merge spellings", "seem to be spellings of only"),
        ("Split by cluster", "looks like an identifier"),
    ):
        assert any(gone in text for text in tab.alerts())
        tab.press(label)
        assert not any(gone in text for text in tab.alerts())
    data = again(tab, "messy.csv", content)
    assert list(data.X.columns) == ["x"]
    assert sorted(data.classes) == ["no", "yes"]
    np.testing.assert_array_equal(data.y, Y[3:] == data.classes[1])
    assert tab.headline()["Rows"].startswith(str(N - 3))


@pytest.mark.soak
def test_scores_that_run_backwards_are_turned_only_by_the_switch(tab):
    p = (1 / (1 + np.exp(-2 * X))).round(4)
    content = files.as_csv(pd.DataFrame({"y": (Y == "no").astype(int), "model": p}))
    tab.open("explore_data").upload("scores.csv", content)
    tab.go("Reliability")
    assert_says(tab.by_key("question").inner_text(), "in reverse", "AUC")
    assert "positive" not in tab.recipe_query()
    tab.press("Score for '0'")
    assert tab.recipe_query()["positive"] == "0"
    assert not any("in reverse" in text for text in tab.alerts())


@pytest.mark.soak
def test_the_label_is_asked_for_where_several_columns_could_be_it(tab):
    table = pd.DataFrame({"surgery": RNG.choice(["no", "yes"], N), "lesion": Y, "pulse": X})
    content = files.as_csv(table.assign(outcome=RNG.choice([1, 2, 3], N)))
    tab.open("explore_data").upload("colic.csv", content)
    assert "target" not in tab.recipe_query()
    tab.segment("likely_target", "lesion")
    assert tab.recipe_query()["target"] == "lesion"
    assert tab.headline()["Rows"].startswith(str(N))


def test_on_a_phone_the_next_step_is_on_the_first_screen_and_no_toolbar_covers_a_table_before_a_tap(new_tab):
    tab = new_tab(width=390)
    table = pd.DataFrame({"code": [f"c{i}" for i in range(N)], "x": X, "target": Y})
    tab.open("explore_data").upload("mine.csv", files.as_csv(table))
    tab.page.locator(".stMain").evaluate("main => main.scrollTo(0, 0)")
    button = tab.by_key("see_diagram").bounding_box()
    assert button["y"] + button["height"] < 800
    grid = tab.page.locator(".stDataFrame").first
    grid.hover()  # as a finger that scrolls
    toolbar = grid.locator(".stElementToolbar")
    assert not toolbar.is_visible()
    grid.click()
    toolbar.wait_for(state="visible")

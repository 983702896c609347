"""What a page weighs and how still it stands: its words, and its shifts while a model changes."""

import numpy as np
import pandas as pd
import pytest

from pages.ui.current import PAGES
from scripts import count_words
from scripts.take_pictures import OWN, STEMS, query
from tests.sweep import sweep

STATES = [
    (stem, parameters)
    for stem in STEMS
    for parameters in (
        [OWN.get(stem, {}), query(stem)] if query(stem) != OWN.get(stem, {}) else [query(stem)]
    )
]
"""Every page with its question open, and again with it skipped."""
QUICK = [("explore_reliability", {}), ("learn_labs", {})]
STANDS = ("explore_reliability", "explore_compare", "explore_groups", "explore_trees")
SHIFTS = """() => {
    window.shifted = 0;
    const add = list => list.getEntries().forEach(entry => window.shifted += entry.value);
    new PerformanceObserver(add).observe({type: "layout-shift"});
}"""
MOST_SHIFT = 0.1  # what web.dev calls good


def laptop(new_tab, path, **query):
    tab = new_tab(width=count_words.WIDTH)
    tab.page.set_viewport_size({"width": count_words.WIDTH, "height": count_words.HEIGHT})
    return tab.open(path, **query)


@pytest.mark.parametrize("state", sweep(STATES, *QUICK), ids=lambda state: "-".join([state[0], *state[1]]))
def test_a_first_screen_and_a_page_have_few_words(new_tab, state):
    stem, parameters = state
    words = count_words.visible_words(laptop(new_tab, "" if stem == "start" else stem, **parameters).page)
    assert len(words.first) <= count_words.FIRST_SCREEN, " ".join(words.first)
    assert len(words.page) <= count_words.WHOLE_PAGE


def registry(rows: int = 1500) -> bytes:
    """A table with long names of classes and columns, importance weights and clusters."""
    rng = np.random.default_rng(1)
    X, hospital = rng.normal(size=(rows, 3)), rng.integers(0, 60, rows)
    z = X.sum(axis=1) + rng.normal(size=60)[hospital]
    table = pd.DataFrame(
        X, columns=[f"standardised laboratory measurement {i} at admission" for i in range(3)]
    )
    table["sampling weight of the survey"] = rng.lognormal(0, 0.7, rows).round(4)
    table["hospital identifier"] = hospital
    yes = rng.random(rows) < 1 / (1 + np.exp(-z))
    table["target"] = np.where(
        yes, "Intermediate or uncertain diagnosis of the registry", "No diagnosis of the registry"
    )
    return table.to_csv(index=False).encode()


@pytest.mark.soak
def test_long_names_weights_and_clusters_do_not_fill_the_first_screen_with_words(new_tab):
    tab = laptop(new_tab, "explore_data").upload("the registry of admissions 2024.csv", registry())
    tab.unfold("Other sources and column roles")
    tab.by_key("roles").locator("summary").click()
    tab.settle().choose("weight", "sampling weight of the survey").choose("cluster", "hospital identifier")
    for page in PAGES["Explore"][1:]:
        words = count_words.visible_words(tab.go(page.name).page)
        assert len(words.first) <= count_words.FIRST_SCREEN, (page.name, " ".join(words.first))
        assert len(words.page) <= count_words.WHOLE_PAGE, page.name


def test_a_link_opens_its_entry_of_the_glossary(new_tab):
    tab = laptop(new_tab, "learn_glossary#log-loss")
    entry = tab.page.locator("details", has=tab.page.locator("#log-loss"))
    entry.locator("p").wait_for()
    assert tab.page.locator(".glossary details[open]").count() == 1


def test_folded_text_and_charts_do_not_count_but_headings_and_buttons_do(tab):
    tab.page.set_content(
        '<div data-testid="stMain"><h2>Two words</h2><button>Press</button><svg><text>no</text></svg>'
        '<details><summary>Details</summary><p>not these</p></details><p style="margin-top:2000px">Far below</p></div>'
    )
    words = count_words.visible_words(tab.page)
    assert words.first == ["Two", "words", "Press", "Details"]
    assert words.page == [*words.first, "Far", "below"]


@pytest.mark.parametrize("stem", sweep(STANDS, "explore_reliability"))
def test_the_old_picture_stays_until_the_new_one_replaces_it(new_tab, stem):
    tab = laptop(new_tab, stem)
    tab.page.evaluate(SHIFTS)
    # Its fit takes longer than a page waits before it shows progress
    tab.choose("model", "Gradient boosting")
    assert tab.recipe_query()["model"] == "gradient_boosting"
    assert tab.page.evaluate("window.shifted") <= MOST_SHIFT

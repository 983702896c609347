"""What a page weighs and how still it stands: its words, and its shifts while a model changes."""

import pytest

from scripts import count_words
from scripts.take_pictures import OWN
from tests.sweep import sweep

PAGES = [
    "",
    *(f"explore_{name}" for name in ("reliability", "venn_abers", "trees", "out_of_bag", "decide", "groups")),
    *("explore_data", "explore_watch", "explore_compare", "learn_playground", "learn_three_classes"),
]
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


@pytest.mark.parametrize("path", sweep(PAGES, "explore_reliability", "explore_data"))
def test_a_first_screen_and_a_page_have_few_words(new_tab, path):
    words = count_words.visible_words(laptop(new_tab, path, **OWN.get(path, {})).page)
    assert len(words.first) <= count_words.FIRST_SCREEN, " ".join(words.first)
    assert len(words.page) <= count_words.WHOLE_PAGE


def test_folded_text_and_charts_do_not_count_but_headings_and_buttons_do(tab):
    tab.page.set_content(
        '<div data-testid="stMain"><h2>Two words</h2><button>Press</button><svg><text>no</text></svg>'
        '<details><summary>Details</summary><p>not these</p></details><p style="margin-top:2000px">Far below</p></div>'
    )
    words = count_words.visible_words(tab.page)
    assert words.first == ["Two", "words", "Press", "Details"]
    assert words.page == [*words.first, "Far", "below"]


def test_the_old_picture_stays_until_the_new_one_replaces_it(new_tab):
    tab = laptop(new_tab, "explore_reliability")
    tab.page.evaluate(SHIFTS)
    before = tab.headline()
    tab.choose(
        "model", "Gradient boosting"
    )  # whose fit takes longer than a page waits before it shows progress
    assert tab.headline() != before
    assert tab.page.evaluate("window.shifted") <= MOST_SHIFT

"""What a person sees before scrolling, measured: on a laptop of 1366 × 768, on one of 1440 × 900 and on a phone."""

import pytest

from pages.ui import current
from tests.browser.accessibility import tab_stops
from tests.sweep import sweep
from tests.waiting import until

QUICK = {"data": "sample:breast_cancer", "model": "naive_bayes"}
EXPLORE = ["reliability", "venn_abers", "trees", "out_of_bag", "decide", "compare"]
# A page whose sidebar would hold nothing
BARE = ["", "learn_labs", "learn_two_probabilities", "learn_glossary", "study_run"]
# [top, bottom] of the first picture, of the question and of what is at the top of the words beside the picture
BOX = "element => { const {top, bottom} = element.getBoundingClientRect(); return [top, bottom] }"
ONE_LINE = """element => {
    const style = getComputedStyle(element), range = document.createRange()
    range.selectNodeContents(element)
    return [parseFloat(style.fontSize), new Set([...range.getClientRects()].map(box => Math.round(box.top))).size]
}"""
# The lowest of what a chart draws: legend, axis titles and tick labels
DRAWN = """chart => Math.max(...[...chart.querySelectorAll('.legend, .g-xtitle, .xtick')]
    .map(part => part.getBoundingClientRect().bottom))"""


def opened(new_tab, path, width, height, **query):
    tab = new_tab(width=width)
    tab.page.set_viewport_size({"width": width, "height": height})
    return tab.open(path, **query)


def question(tab):
    """(font size, number of lines) of the page's question."""
    return tab.page.locator("h1").evaluate(ONE_LINE)


@pytest.mark.parametrize("name", sweep(EXPLORE, "reliability"))
def test_question_finding_and_three_quarters_of_the_first_picture_are_on_a_laptops_first_screen(
    new_tab, name
):
    tab = opened(new_tab, f"explore_{name}", 1366, 768, **QUICK)
    size, lines = question(tab)
    assert size <= 28
    assert lines == 1
    assert tab.page.locator(".st-key-heading").inner_text().count("Data:") == 1
    top, bottom = tab.page.get_by_test_id("stPlotlyChart").first.evaluate(BOX)
    assert top + 0.75 * (bottom - top) <= 768
    sentence = tab.page.locator(".stMain h2").first.evaluate(BOX)
    assert question_bottom(tab) <= sentence[0] < sentence[1] <= top + 1
    changes = tab.by_key("headline").get_by_test_id("stMetric")
    if changes.count():  # beside the picture, in rows, never above it
        assert min(number.evaluate(BOX)[0] for number in changes.all()) >= top - 1


def question_bottom(tab):
    return tab.page.locator("h1").evaluate(BOX)[1]


def test_the_whole_diagram_its_numbers_and_the_controls_of_the_model_need_no_scrolling(new_tab):
    tab = opened(new_tab, "explore_reliability", 1440, 900, **QUICK)
    _all_of_it_is_in_sight(tab, 900)
    tab.page.set_viewport_size({"width": 1366, "height": 768})
    _all_of_it_is_in_sight(tab.settle(), 768)
    tops = [tab.by_key(key).bounding_box()["y"] for key in ("data", "model", "placement", "calibrators")]
    assert tops == sorted(tops)
    assert tops[-1] < 700


def _all_of_it_is_in_sight(tab, height):
    """Check the diagram with histogram and legend, and the numbers beside it."""
    chart = tab.page.locator(".js-plotly-plot").first
    assert chart.locator(".legend").count() == 1
    assert chart.evaluate(DRAWN) <= height
    left, right = chart.bounding_box(), tab.by_key("headline").bounding_box()
    assert right["x"] >= left["x"] + left["width"], "the numbers stand beside the picture"
    assert right["y"] + right["height"] <= height
    assert tab.page.locator("summary").get_by_text("Details", exact=True).is_visible()
    tops = [row.bounding_box()["y"] for row in tab.by_key("headline").get_by_test_id("stMetric").all()]
    assert len(set(tops)) == len(tops) == 4, "one row per metric"


@pytest.mark.parametrize("path", sweep(BARE, "", "learn_labs"))
def test_there_is_no_sidebar_where_there_are_no_controls(new_tab, path):
    tab = opened(new_tab, path, 1366, 768)
    assert tab.page.get_by_test_id("stSidebar").count() == 0
    assert tab.page.get_by_test_id("stTopNavSection").all_inner_texts() == list(current.PAGES)


def test_a_phone_reaches_every_page_and_start_explains_its_mark_under_the_diagram(new_tab):
    tab = opened(new_tab, "", 390, 844)
    door, chart, mark = (
        tab.page.locator(part).first.bounding_box()
        for part in (".st-key-doors", ".stPlotlyChart", ".st-key-mark")
    )
    assert door["y"] < chart["y"] < 400
    assert chart["y"] + chart["height"] <= mark["y"]
    assert tab.page.locator(".modebar-btn").count() == 0, "no toolbar lies over the mark"
    assert "Expand sidebar" in tab_stops(tab)
    tab.page.get_by_test_id("stExpandSidebarButton").click()
    names = [page.name for pages in current.PAGES.values() for page in pages]
    links = tab.page.get_by_test_id("stSidebarNavLink")
    assert set(names) <= {text.strip() for text in links.all_inner_texts()}
    links.get_by_text("Simulations", exact=True).click()
    assert tab.settle().page.url.endswith("/study_simulations")
    closed = tab.page.locator(".stSidebar[data-collapsed=true]")
    until(lambda: closed.count() == 1, "the menu closes once it has been used")

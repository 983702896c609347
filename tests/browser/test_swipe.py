"""A swipe that begins on a picture scrolls the page of a phone, and a tap on a mark tells its values."""

import re

import pytest
from playwright.sync_api import expect

from calib.lessons import LESSONS
from tests.sweep import sweep
from tests.waiting import until

QUICK = {"data": "sample:breast_cancer", "model": "naive_bayes", "curve": "binned", "bins": "5"}
MOVING = next(step for step in LESSONS["venn_abers"].steps if step.moving)
DOWN = "document.querySelector('.stMain').scrollTop"


class Finger:
    """One finger on a phone."""

    def __init__(self, tab):
        self.tab, self.touch = tab, tab.page.context.new_cdp_session(tab.page)

    def act(self, kind, *points):
        places = [{"x": x, "y": y} for x, y in points]
        self.touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

    def swipe_up(self, x, y, by=250, steps=10):
        self.act("touchStart", (x, y))
        for i in range(1, steps + 1):
            self.act("touchMove", (x, y - by * i / steps))
        self.act("touchEnd")


def middle(picture):
    picture.evaluate("picture => picture.scrollIntoView({block: 'center'})")
    box = picture.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize(
    "path", sweep(["explore_reliability", "study_simulations", "explore_decide"], "explore_reliability")
)
def test_a_swipe_on_a_picture_scrolls_the_page(new_tab, path):
    query = QUICK if path.startswith("explore") else {}
    tab = new_tab(width=390, has_touch=True, is_mobile=True).open(path, **query)
    plot = tab.page.locator(".js-plotly-plot .nsewdrag").first
    place = middle(plot)
    before = tab.page.evaluate(DOWN)
    Finger(tab).swipe_up(*place)
    until(
        lambda: tab.page.wait_for_timeout(50) or tab.page.evaluate(DOWN) > before + 100, "the page scrolled"
    )
    axes = "chart => [chart._fullLayout.xaxis.range, chart._fullLayout.dragmode]"
    assert tab.page.locator(".zoombox").count() == 0, tab.page.locator(".js-plotly-plot").first.evaluate(axes)


def test_a_tap_on_a_mark_tells_its_values_and_picks_its_rows(new_tab):
    tab = new_tab(width=390, has_touch=True, is_mobile=True).open("explore_reliability", **QUICK)
    chart = tab.page.locator('[class*="st-key-chart_reliability"] .js-plotly-plot').first
    mark = """chart => {
        const trace = chart._fullData.find(({ mode, customdata }) => mode?.includes("markers") && customdata)
        return [trace.x.at(-1), trace.y.at(-1)]
    }"""
    place = tab.place(chart, *chart.evaluate(mark))
    tab.page.touchscreen.tap(*place)
    expect(chart.locator(".hoverlayer .hovertext").first).to_contain_text("predicted")
    tab.page.get_by_text("Uncalibrated from 0.8 to 1").first.wait_for()
    assert tab.settle().recipe_query()["reliability.selection"] == "none:0.8:1.0"


def test_a_picture_of_a_script_scrolls_and_tells_too(new_tab):
    tab = new_tab(width=390, has_touch=True, is_mobile=True)
    tab.open(MOVING.page, **MOVING.recipe.to_query(), lesson=MOVING.place, guess="off")
    place, before = middle(tab.page.locator("svg.moving")), tab.page.evaluate(DOWN)
    Finger(tab).swipe_up(*place)
    until(
        lambda: tab.page.wait_for_timeout(50) or tab.page.evaluate(DOWN) > before + 100, "the page scrolled"
    )
    assert tab.page.locator("svg.moving .values text").count() == 0
    until(
        lambda: tab.page.evaluate(DOWN) == (tab.page.wait_for_timeout(300), tab.page.evaluate(DOWN))[1],
        "it stands",
    )
    mark = tab.page.locator("svg.moving .marks circle").first
    tab.page.touchscreen.tap(*middle(mark))
    expect(tab.page.locator("svg.moving .values")).to_contain_text(re.compile(r"\d+ rows"))

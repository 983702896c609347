"""Light and dark, wide and narrow, by mouse and by keyboard."""

import pytest

from pages.ui import frame

PATHS = [page.script.removeprefix("pages/").removesuffix(".py") for pages in frame.PAGES.values() for page in pages]
WIDTHS = "elements => elements.map(element => [element.clientWidth, element.scrollWidth])"
BACKGROUND = "element => getComputedStyle(element).backgroundColor"


def brightness(color: str) -> float:
    return sum(int(part) for part in color.strip("rgba()").split(",")[:3]) / 3


@pytest.mark.parametrize("path", PATHS)
def test_a_telephone_needs_no_sideways_scrolling(new_tab, path):
    tab = new_tab(width=390).open(path, data="sample:breast_cancer")
    assert tab.page.locator("html, .stMain").evaluate_all(WIDTHS) == [[390, 390], [390, 390]]


def test_dark_mode_is_dark_on_the_page_and_in_the_chart(new_tab):
    tab = new_tab(color_scheme="dark").open("explore_reliability")
    assert brightness(tab.page.locator(".stApp").evaluate(BACKGROUND)) < 60
    chart = tab.page.locator(".stPlotlyChart .main-svg").first
    assert brightness(chart.evaluate("element => getComputedStyle(element).backgroundColor")) < 60
    ticks = tab.page.locator(".stPlotlyChart .xtick text").first
    assert brightness(ticks.evaluate("element => getComputedStyle(element).fill")) > 120


def test_the_light_page_is_light(tab):
    tab.open("explore_reliability")
    assert brightness(tab.page.locator(".stApp").evaluate(BACKGROUND)) > 230
    assert brightness(tab.page.locator(".stPlotlyChart .main-svg").first.evaluate(BACKGROUND)) > 230


def test_diagrams_are_square_on_fixed_axes(tab):
    tab.open("explore_reliability")
    axes = "({_fullLayout: {xaxis, yaxis}}) => [xaxis, yaxis].map(axis => [axis._length, ...axis.range])"
    chart = tab.page.locator(".js-plotly-plot").first
    before = chart.evaluate(axes)
    (width, *x_range), (height, *y_range) = before
    assert width == pytest.approx(height, rel=0.01)
    assert x_range == y_range == pytest.approx([0, 1], abs=0.03)
    assert tab.slide("bins", 8).recipe_query() == {"bins": "28"}
    assert chart.evaluate(axes) == before


def test_every_chart_says_what_it_shows_to_those_who_cannot_see_it(tab):
    tab.open("explore_reliability")
    labels = tab.page.get_by_test_id("stPlotlyChart").evaluate_all(
        "charts => charts.map(c => c.getAttribute('aria-label') || c.querySelector('[aria-label]')?.ariaLabel)"
    )
    assert labels
    assert all("ECE" in label for label in labels)


def test_the_main_controls_are_reached_by_the_keyboard_alone(tab):
    tab.open("explore_reliability")
    within = """() => { const at = document.activeElement, keyed = at.closest('[class*="st-key-"]')
        return keyed ? [...keyed.classList].find(name => name.startsWith('st-key-')).slice(7) : at.innerText }"""
    reached = []
    for _ in range(60):
        tab.page.keyboard.press("Tab")
        reached.append(tab.page.evaluate(within))
    for key in ("data", "model", "placement", "calibrators", "bins", "binning", "Copy link", "Show Python"):
        assert any(key in str(name) for name in reached), key


def test_a_model_is_chosen_by_the_keyboard_alone(tab):
    tab.open("explore_reliability", data="sample:breast_cancer")
    tab.by_key("model").locator("input").focus()
    tab.page.keyboard.type("naive")
    tab.page.keyboard.press("Enter")
    assert tab.settle().recipe_query()["model"] == "naive_bayes"

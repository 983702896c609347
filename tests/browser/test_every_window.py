"""Light and dark, wide and narrow, by mouse and by keyboard."""

from itertools import pairwise
from math import nan

import pytest

from calib.experiments import EXPERIMENTS
from calib.recipe import Recipe
from pages.ui import current
from tests.browser.accessibility import faint_words, findings, tab_stops, unfold
from tests.browser.labels import type_in_charts
from tests.sweep import sweep
from tests.waiting import until

QUICK = {"data": "sample:breast_cancer", "model": "naive_bayes"}
IN_SHORT = ("explore_reliability",)  # the other pages by make soak
PATHS = [
    page.script.removeprefix("pages/").removesuffix(".py")
    for pages in current.PAGES.values()
    for page in pages
]
WIDTHS = "elements => elements.map(element => [element.clientWidth, element.scrollWidth])"
LEVELS = "headings => headings.map(heading => Number(heading.tagName[1]))"
# [left, top, width, height] of the first heading, the first chart and the numbers
PLACES = """elements => ['h2', '.stPlotlyChart', '.stMetric'].flatMap((kind, i) =>
    elements.filter(element => element.matches(kind)).slice(0, i < 2 ? 1 : 4)).map(element => {
        const {left, top, width, height} = element.getBoundingClientRect()
        return [left, top, width, height]
    })"""
BACKGROUND = "element => getComputedStyle(element).backgroundColor"


def brightness(color: str) -> float:
    return sum(int(part) for part in color.strip("rgba()").split(",")[:3]) / 3


# The colours of an element and of what it stands on, [red, green, blue], translucent ones laid over each
# other.
INKS = """element => {
    const parts = color => { const [r, g, b, a = 1] = color.match(/[\\d.]+/g).map(Number); return [[r, g, b], a] }
    const over = ([color, alpha], below) => below.map((v, i) => color[i] * alpha + v * (1 - alpha))
    const chain = []
    for (let at = element; at; at = at.parentElement) chain.unshift(getComputedStyle(at))
    const paper = chain.reduce((below, style) => over(parts(style.backgroundColor), below), [255, 255, 255])
    const [color, alpha] = parts(chain.at(-1).color)
    return [over([color, chain.reduce((a, style) => a * style.opacity, alpha)], paper), paper]
}"""


def contrast(element) -> float:
    """WCAG 2.2's ratio of an element's text to its background."""

    def luminance(color) -> float:
        parts = [v / 255 / 12.92 if v / 255 <= 0.03928 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in color]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted(map(luminance, element.evaluate(INKS)))
    return (high + 0.05) / (low + 0.05)


def text_stands_out(tab) -> None:
    caption = tab.page.get_by_test_id("stCaptionContainer").locator("p").first
    chosen = tab.by_key("reliability.details").get_by_role("radio", name="Metrics").locator("p")
    tag = tab.by_key("calibrators").get_by_text("Isotonic regression", exact=True).first
    for element in (
        caption,
        chosen,
        tag,
        tab.page.locator("h1"),
        tab.page.get_by_test_id("stMetricLabel").first,
    ):
        assert contrast(element) >= 4.5, element.inner_text()


@pytest.mark.parametrize("path", sweep(PATHS, *IN_SHORT))
def test_a_telephone_needs_no_sideways_scrolling_and_shows_the_finding_first(new_tab, path):
    tab = new_tab(width=390).open(path, data="sample:breast_cancer")
    assert tab.page.locator("html, .stMain").evaluate_all(WIDTHS) == [[390, 390], [390, 390]]
    assert all(wide <= room for room, wide in tab.page.locator(".katex-display").evaluate_all(WIDTHS))
    assert type_in_charts(tab)[1:] == ([], [])
    levels = tab.page.locator(".stMain :is(h1, h2, h3, h4, h5, h6)").filter(visible=True).evaluate_all(LEVELS)
    assert levels[0] == 1
    assert all(below - above <= 1 for above, below in pairwise(levels)), levels
    tab.page.get_by_test_id("stExpandSidebarButton").click()
    open_page = tab.page.get_by_test_id("stSidebar").locator("a[aria-current=page]").inner_text()
    assert tab.page.title().startswith(f"{open_page} · ")
    tab.page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    if tab.by_key("finding").count():  # sentence, chart, numbers, in this order
        sentence, chart, *numbers = (
            tab.by_key("finding").locator("h2, .stPlotlyChart, .stMetric").evaluate_all(PLACES)
        )
        assert sentence[1] < chart[1] < 500
        assert all(chart[1] + chart[3] <= top for _, top, *_ in numbers)  # Groups has some after its search
        assert all(above[1] < below[1] for above, below in pairwise(numbers))
    if path == "explore_reliability":
        top, high, below = tab.page.locator(".js-plotly-plot").first.evaluate(STACKED)
        assert 0 < below - (top + high) < 40, "the histogram stands right under the square diagram"


def test_on_a_phone_no_link_of_the_start_page_is_cut_off(new_tab):
    links = new_tab(width=390).open("").page.locator(".stMain .stPageLink p").evaluate_all(WIDTHS)
    assert links
    assert all(wide <= room for room, wide in links)


# Where a diagram begins, how high it is, and where the histogram below it begins
STACKED = """chart => {
    const {yaxis, yaxis2} = chart._fullLayout;
    return [yaxis._offset, yaxis._length, yaxis2._offset];
}"""


def test_dark_mode_is_dark_on_the_page_and_in_the_chart_and_text_stands_out(new_tab):
    tab = new_tab(color_scheme="dark").open("explore_reliability", **QUICK)
    assert brightness(tab.page.locator(".stApp").evaluate(BACKGROUND)) < 60
    chart = tab.page.locator(".stPlotlyChart .main-svg").first
    assert brightness(chart.evaluate("element => getComputedStyle(element).backgroundColor")) < 60
    ticks = tab.page.locator(".stPlotlyChart .xtick text").first
    assert brightness(ticks.evaluate("element => getComputedStyle(element).fill")) > 120
    text_stands_out(tab)

    def paper() -> float:
        colour = chart.evaluate("element => getComputedStyle(element).backgroundColor")
        return brightness(colour) if colour else nan  # while it is drawn anew

    tab.page.emulate_media(color_scheme="light")
    until(lambda: paper() > 200, "the open page's charts follow the system")
    tab.page.get_by_test_id("stMainMenuButton").click()
    tab.page.get_by_test_id("stMainMenuPopover").locator(":text-is('Dark')").last.click()
    until(lambda: paper() < 60, "they follow the menu")


@pytest.mark.soak
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


@pytest.mark.soak
def test_every_chart_says_what_it_shows_to_those_who_cannot_see_it(tab):
    tab.open("explore_reliability")
    labels = tab.page.get_by_test_id("stPlotlyChart").evaluate_all(
        "charts => charts.map(c => c.getAttribute('aria-label') || c.querySelector('[aria-label]')?.ariaLabel)"
    )
    assert labels
    assert all("ECE" in label for label in labels)


def test_the_light_page_is_light_its_text_stands_out_and_the_keyboard_reaches_all_and_shows_where_it_is(tab):
    tab.open("explore_reliability", **QUICK)
    assert brightness(tab.page.locator(".stApp").evaluate(BACKGROUND)) > 230
    assert brightness(tab.page.locator(".stPlotlyChart .main-svg").first.evaluate(BACKGROUND)) > 230
    text_stands_out(tab)
    assert findings(tab) == []
    assert faint_words(tab) == []
    reached = tab_stops(tab)
    for name in (
        *("data", "model", "placement", "calibrators", "View"),  # the sidebar
        *("Copy link", "Show Python", "Download"),  # page and chart
        *("reliability-details", "Search: Metric table", "Excluded or imputed"),  # what stands below
    ):
        assert any(name in stop for stop in reached), name
    assert not tab.page.get_by_test_id("stMetricValue").first.evaluate(CUT)
    tools = tab.page.get_by_role("toolbar", name="Chart tools").get_by_role("button")
    names = [tool.get_attribute("aria-label") for tool in tools.all()]
    assert len({stop for stop in reached if any(name and stop.endswith(name) for name in names)}) == 1
    tools.first.focus()  # one stop; arrow keys go on from there
    for key, place in (("ArrowDown", 1), ("End", -1), ("ArrowRight", 0), ("ArrowUp", -1), ("Home", 0)):
        tab.page.keyboard.press(key)
        assert tab.page.evaluate("document.activeElement.ariaLabel") == names[place]
    tab.unfold("Base rate")
    tab.by_key("base_rate").locator("input").focus()
    tab.page.keyboard.type("20\n")  # the field is drawn anew, beside a button that takes the number away
    tab.by_key("base_rate").locator("input:focus").wait_for()
    assert tab.settle().recipe_query()["base_rate"] == "0.2"
    tab.by_key("empty_base_rate").get_by_role("button").press("Enter")
    tab.by_key("view").locator("button:focus").wait_for()  # what stands now where that was
    assert "base_rate" not in tab.settle().recipe_query()


# By how many pixels the toolbar of each chart covers a plot
COVERED = """charts => charts.map(chart => {
    const bar = chart.querySelector(".modebar").getBoundingClientRect(), box = chart.getBoundingClientRect()
    const full = chart._fullLayout, named = letter => RegExp(`^${letter}axis\\\\d*$`)
    const axes = letter => Object.keys(full).filter(name => named(letter).test(name)).map(name => full[name])
    return Math.max(0, ...axes("x").flatMap(x => axes("y").map(y => {
        const left = box.left + x._offset, top = box.top + y._offset
        const wide = Math.min(bar.right, left + x._length) - Math.max(bar.left, left)
        const high = Math.min(bar.bottom, top + y._length) - Math.max(bar.top, top)
        return high > 0 ? wide : 0
    })))
})"""


@pytest.mark.parametrize("path", sweep([path for path in PATHS if "explore" in path], "explore_decide"))
def test_the_toolbar_of_a_chart_lies_beside_its_marks(new_tab, path):
    tab = new_tab().open(path, **QUICK)
    charts = tab.page.locator(".js-plotly-plot:has(.modebar)")
    assert charts.evaluate_all(COVERED) == [0] * charts.count()


# Whether a headline number that is the names of two setups is cut off
CUT = """value => {
    value.querySelector("p").textContent = "Iso-oob and VAP-oob"
    return value.firstElementChild.scrollWidth > value.firstElementChild.clientWidth
}"""
# Names of what stays under the bar on top when the keyboard comes to it, wherever the page was before
UNDER_THE_BAR = """() => {
    const main = document.querySelector(".stMain"), bar = document.querySelector(".stAppHeader")
    return [...main.querySelectorAll("button, summary")].filter(e => e.checkVisibility()).filter(element => {
        document.activeElement.blur()
        main.scrollBy(0, element.getBoundingClientRect().top - 5)
        element.focus()
        const {left, right, top, bottom} = element.getBoundingClientRect()
        const seen = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
        // What is in the bar itself has to be on top of it
        return element.closest(".st-key-tools") ? !element.contains(seen) : top < bar.getBoundingClientRect().bottom
    }).map(element => element.innerText || element.ariaLabel)
}"""


def test_what_the_keyboard_comes_to_is_not_under_the_bar_on_top(new_tab):
    tab = new_tab().experiment("theorem")
    tab.page.set_viewport_size({"width": 1280, "height": 600})
    assert tab.settle().page.evaluate(UNDER_THE_BAR) == []


@pytest.mark.soak
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PATHS)
def test_nothing_grave_is_found_on_any_page_with_all_of_it_unfolded(new_tab, path, scheme):
    tab = unfold(new_tab(color_scheme=scheme).open(path, **({} if path.startswith("learn") else QUICK)))
    assert findings(tab) == []
    assert faint_words(tab) == []


@pytest.mark.soak
@pytest.mark.parametrize("path", PATHS)
def test_the_keyboard_shows_where_it_is_on_every_page(new_tab, path):
    tab = new_tab(color_scheme="dark").open(path, **({} if path.startswith("learn") else QUICK))
    assert len(tab_stops(tab)) >= 20


@pytest.mark.soak
def test_a_model_is_chosen_by_the_keyboard_alone(tab):
    tab.open("explore_reliability", data="sample:breast_cancer")
    tab.by_key("model").locator("input").focus()
    tab.page.keyboard.type("naive", delay=80)
    tab.page.get_by_role("option", name="Naive Bayes", exact=True).wait_for()
    tab.page.keyboard.press("Enter")
    assert tab.settle().recipe_query()["model"] == "naive_bayes"


@pytest.mark.soak
def test_on_a_telephone_the_open_sidebar_does_not_cover_the_page(new_tab):
    tab = new_tab(width=390).open("explore_reliability", data="sample:breast_cancer")
    box = "element => element.getBoundingClientRect().toJSON()"
    tab.page.get_by_test_id("stExpandSidebarButton").click()
    tab.choose("model", "Naive Bayes")
    sidebar, main = (tab.page.locator(part).evaluate(box) for part in (".stSidebar", ".stMain"))
    assert tab.by_key("model").is_visible()  # still open, for the next choice
    assert sidebar["bottom"] <= main["top"]
    assert main["bottom"] <= 900
    assert main["height"] > 400
    tab.page.get_by_role("button", name="Show Python").click(trial=True)  # nothing unseen lies over it
    assert tab.page.locator("html, .stMain").evaluate_all(WIDTHS) == [[390, 390], [390, 390]]


@pytest.mark.soak
@pytest.mark.parametrize("key", EXPERIMENTS)
def test_on_a_phone_the_picture_of_a_learn_page_is_on_the_first_screen_and_its_answers_below(new_tab, key):
    tab = new_tab(width=390)
    tab.page.set_viewport_size({"width": 390, "height": 844})
    settings = {f"{EXPERIMENTS[key].page}.experiment": key, f"{key}.guess": "ask"}
    tab.open(EXPERIMENTS[key].script, **Recipe(settings=settings).to_query())
    chart, answers = (
        tab.page.locator(name).first.bounding_box() for name in (".stPlotlyChart", ".st-key-answers_guess")
    )
    assert chart["y"] <= 600, "a picture begins there, and is not only announced"
    assert chart["y"] < answers["y"] < 2.5 * 844, "and answers below it, whatever panels it has"
    assert type_in_charts(tab)[1:] == ([], [])

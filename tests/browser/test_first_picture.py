"""What a newcomer sees: a diagram at once; and what a link shows to the first visitors."""

from urllib.parse import urlencode

import pytest

from tests.browser.driver import serving
from tests.browser.test_cold_links import LINKS, wait_for
from tests.where import where


@pytest.mark.soak
def test_the_start_page_opens_on_a_diagram_of_a_sample(tab):
    tab.open()
    assert tab.page.locator(".stPlotlyChart .scatterlayer .trace").count() >= 2
    assert tab.by_key("mark").count() == 1
    assert tab.recipe_query() == {}


def test_the_first_visits_of_a_fresh_server_show_axes_first_one_diagram_in_the_end_and_a_links_values(
    new_tab,
):
    former, expected = LINKS["learn_validity"]
    stem, view = where("theorem")
    query = view | {name: value for name, value in former.items() if name != "theorem.guess"}  # its default
    with serving() as address:
        tab, linked = new_tab(address), new_tab(address)
        linked.page.goto(f"{address}/{stem}?{urlencode(query)}", wait_until="commit")
        tab.page.goto(address)
        tab.page.get_by_test_id("stPlotlyChart").wait_for(
            state="attached"
        )  # the page's own script may be drawing
        assert tab.page.get_by_text("explore trees").count() == 0  # Streamlit's own list of the scripts
        assert tab.settle().page.get_by_test_id("stPlotlyChart").count() == 1
        assert tab.by_key("mark").count() == 1
        assert tab.in_menu("Trees").count() == 1
        assert tab.faults() == []
        wait_for(linked, expected)
        assert linked.settle().recipe_query() == query
        linked.page.goto("about:blank")  # the server goes before the tab

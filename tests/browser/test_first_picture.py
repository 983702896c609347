"""What a newcomer sees: a diagram at once."""

import pytest

from tests.browser.driver import serving


@pytest.mark.soak
def test_the_start_page_opens_on_a_diagram_of_a_sample(tab):
    tab.open()
    assert tab.page.locator(".stPlotlyChart .scatterlayer .trace").count() >= 4
    assert "Brier score" in " ".join(tab.headline())
    assert any("lowers the Brier score from" in title for title in tab.chart_titles())
    assert tab.recipe_query() == {}


def test_the_first_visit_of_a_fresh_server_shows_axes_first_and_one_diagram_in_the_end(new_tab):
    with serving() as address:
        tab = new_tab(address)
        tab.page.goto(address)
        tab.page.get_by_test_id("stPlotlyChart").wait_for()
        assert tab.page.get_by_text("explore trees").count() == 0  # Streamlit's own list of the scripts
        assert tab.settle().page.get_by_test_id("stPlotlyChart").count() == 1
        assert any("lowers the Brier score from" in title for title in tab.chart_titles())
        assert tab.page.get_by_test_id("stSidebar").get_by_role("link", name="Trees", exact=True).count() == 1
        assert tab.faults() == []

"""What a newcomer sees: a diagram at once, and what is true of every page."""


def test_the_start_page_opens_on_a_diagram_of_a_sample(tab):
    tab.open()
    assert tab.page.locator(".stPlotlyChart .scatterlayer .trace").count() >= 4
    assert "Brier score" in " ".join(tab.headline())
    assert any("lowers the Brier score from" in title for title in tab.chart_titles())
    assert tab.recipe_query() == {}

"""A click on a segment shows only its rows on every page, and one click shows all rows again."""

from calib.analysis.audit.of_evaluation import audited
from tests.evaluated import of_address

QUERY = {
    "data": "sample:hidden_group", "content": "predictions", "calibrators": "none", "groups.resamples": "99",
}  # fmt: skip


def test_a_clicked_segment_is_the_filter_of_every_page_until_it_is_ended(tab):
    made = audited(of_address(**QUERY), "none", resamples=99)
    worst = made.found.segments.iloc[made.causes[0].line]
    tab.open("explore_groups", **QUERY)
    lanes = tab.page.locator('[class*="st-key-chart_audit"] .js-plotly-plot').first
    tab.click_mark(lanes, worst["predicted"], 0)
    tab.page.wait_for_url("**segment=**")
    tab.settle()
    tab.page.get_by_text("The other pages show only these rows").wait_for()
    tab.go("Reliability")
    tab.page.get_by_text("Only test rows with age from 60 and employment = self-employed").wait_for()
    tab.page.get_by_text(f"{worst['rows']:,} rows").first.wait_for()
    tab.page.get_by_role("button", name="Show all rows").click()
    tab.page.wait_for_url(lambda address: "segment=" not in address)
    tab.settle()
    tab.page.get_by_text("10,000 rows").first.wait_for()
    assert tab.faults() == []

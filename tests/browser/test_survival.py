"""Time to event, centres and optimism in a browser."""

import pytest

from pages.ui.explore.survival import RELAPSES

TRAINED = {
    "data": "sample:breast_cancer", "model": "random_forest", "calibrators": "none",
    "reliability.details": "optimism", "reliability.resamples": "200",
}  # fmt: skip


def test_the_sample_opens_by_a_click_and_a_key_moves_the_horizon(tab):
    tab.open("explore_survival")
    tab.page.get_by_role("link", name="Show a sample with censored patients").click()
    tab.page.get_by_text("Predicted risk by 5").first.wait_for()
    tab.settle()
    tab.page.get_by_role("slider").first.focus()
    tab.page.keyboard.press("ArrowLeft")
    tab.page.get_by_text("Predicted risk by 4").first.wait_for()
    tab.page.wait_for_url("**survival.horizon=4*")
    tab.page.get_by_text("In a new centre the calibration slope").first.wait_for()
    assert tab.faults() == []


@pytest.mark.soak  # its words: tests/pages/test_explore_survival.py
def test_centres_of_a_column_on_groups(tab):
    tab.open("explore_groups", **RELAPSES, **{"groups.view": "centres"})
    tab.page.get_by_text("In a new centre the calibration slope").first.wait_for()
    assert tab.faults() == []


def test_validate_begins_by_a_click_and_continues_after_a_cancel(tab):
    tab.open("explore_reliability", **TRAINED)
    tab.page.get_by_role("button", name="Start", exact=True).click()
    tab.page.get_by_role("button", name="Cancel").click()
    tab.page.get_by_text("Finished fits are kept").wait_for()
    tab.page.get_by_role("button", name="Continue").click()
    tab.page.get_by_role("button", name="Cancel").wait_for()
    assert tab.faults() == []

"""A figure of several panels: side by side on a desk, one below the other on a phone, whole when it is taken along."""

from itertools import pairwise

import pytest

QUERY = {"tree_depth.guess": "skip", "tree_depth.n": "100", "tree_depth.trees": "10"}
PANELS = 4


def boxes(tab):
    charts = tab.open("learn_tree_depth", **QUERY).page.get_by_test_id("stPlotlyChart").all()
    assert tab.faults() == []
    return [chart.bounding_box() for chart in charts[:PANELS]]


@pytest.mark.soak
def test_panels_share_a_line_on_a_desk_and_stack_on_a_phone(new_tab):
    desk, phone = boxes(new_tab(width=1400)), boxes(new_tab(width=390))
    assert len({round(box["y"]) for box in desk}) == 1
    assert [box["x"] for box in desk] == sorted(box["x"] for box in desk)
    assert len({round(box["x"]) for box in phone}) == 1
    for above, below in pairwise(phone):
        assert below["y"] >= above["y"] + above["height"]
    assert min(box["width"] for box in phone) > 280


@pytest.mark.soak
def test_all_panels_are_in_one_picture_taken_along(tab):
    tab.open("learn_tree_depth", **QUERY)
    tab.page.locator(".st-key-tree_depth_downloads button").first.click()
    html = tab.download(
        lambda: tab.page.get_by_role("button", name="Interactive chart (HTML)").first.click()
    ).decode()
    for name in ("Depth 2", "Depth 4", "Depth 8", "No limit"):
        assert name in html

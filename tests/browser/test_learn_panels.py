"""Figures of several panels: side by side on a desk, a strip near its controls on a phone, whole when taken along."""

from itertools import pairwise

import pytest

QUERY = {"tree_depth.guess": "skip", "tree_depth.n": "100", "tree_depth.trees": "10"}
PANELS = 4


def boxes(tab):
    """The places of the panels, and of the button that plays them and the slider that it moves."""
    panels = [chart.bounding_box() for chart in tab.page.get_by_test_id("stPlotlyChart").all()[:PANELS]]
    play, depth = (tab.by_key(key).first.bounding_box() for key in ("play_tree_depth", "tree_depth.depth"))
    return panels, play, depth


@pytest.mark.parametrize("width", [1366, pytest.param(390, marks=pytest.mark.soak)])
def test_panels_share_a_line_and_the_control_that_matters_is_in_sight_with_them(new_tab, width):
    """On a desk the control is beside the panels, on a phone below them."""
    panels, play, depth = boxes(new_tab(width=width).experiment("tree_depth", **QUERY))
    assert len({round(box["y"]) for box in panels}) == 1
    for left, right in pairwise(panels):
        assert right["x"] >= left["x"] + left["width"]
    assert min(box["width"] for box in panels) > 200
    first, last = (
        edge(box["y"] + box["height"] * below for box in (panels[0], play, depth))
        for edge, below in ((min, 0), (max, 1))
    )
    if width == 390:
        assert min(play["y"], depth["y"]) > panels[0]["y"]
        assert last - first < 844, "a phone shows them at once"
    else:
        assert max(box["x"] + box["width"] for box in (play, depth)) <= panels[0]["x"]
        assert last <= 768, "a low window shows them at once"


@pytest.mark.soak
def test_all_panels_are_in_one_picture_taken_along(tab):
    tab.experiment("tree_depth", **QUERY)
    tab.page.locator(".st-key-tree_depth_downloads button").first.click()
    html = tab.download(
        lambda: tab.page.get_by_role("button", name="Interactive chart (HTML)").first.click()
    ).decode()
    for name in ("Depth 2", "Depth 4", "Depth 8", "No limit"):
        assert name in html

"""Rows picked on the diagram: by a click and by a box, listed with their features, marked, downloaded, shared."""

import io

import numpy as np
import pandas as pd
import pytest

from calib.analysis.curves import binned_curve
from calib.analysis.selection import selected_frame
from tests.evaluated import of_address

QUERY = {
    "data": "sample:breast_cancer", "model": "naive_bayes", "calibrators": "none,platt", "bins": "10",
    "reliability.faint": "true",
}  # fmt: skip


@pytest.fixture(scope="module")
def evaluation():
    return of_address(**QUERY)


def chart(tab):
    return tab.page.locator('[class*="st-key-chart_reliability"] .js-plotly-plot').first


def draw_box(tab, x0, y0, x1, y1):
    chart(tab).hover()
    chart(tab).locator('.modebar-btn[data-title="Box Select"]').click()
    tab.page.mouse.move(*tab.place(chart(tab), x0, y0))
    tab.page.mouse.down()
    tab.page.mouse.move(*tab.place(chart(tab), (x0 + x1) / 2, (y0 + y1) / 2), steps=4)
    tab.page.mouse.move(*tab.place(chart(tab), x1, y1), steps=4)
    tab.page.mouse.up()
    tab.page.wait_for_url("**reliability.selection=**")
    return tab.settle()


def downloaded(tab) -> pd.DataFrame:
    button = tab.page.get_by_role("button", name="Rows (CSV)")
    return pd.read_csv(io.BytesIO(tab.download(button.click)), encoding="utf-8-sig")


def expected(evaluation, selection):
    return selected_frame(evaluation, selection)


def test_a_click_on_a_bin_lists_marks_and_downloads_its_rows(tab, evaluation):
    none, curve = (
        binned_curve(evaluation.y, evaluation.predictions[key].p, bins=10) for key in ("none", "platt")
    )
    apart = np.hypot(curve.mean_p[:, None] - none.mean_p, curve.observed[:, None] - none.observed)[
        :, none.count > 0
    ]
    # The mark farthest from those of the other
    b = int(np.argmax(np.where(curve.count > 0, apart.min(axis=1), 0)))
    tab.open("explore_reliability", **QUERY)
    tab.click_mark(chart(tab), curve.mean_p[b], curve.observed[b])
    selection = (f"platt:{b / 10!r}:{(b + 1) / 10!r}",)
    assert tab.recipe_query()["reliability.selection"] == selection[0]
    assert f"{curve.count[b]} rows" in tab.page.get_by_test_id("stMain").inner_text()
    table = downloaded(tab)
    pd.testing.assert_frame_equal(
        table, expected(evaluation, selection).reset_index(drop=True), check_dtype=False
    )
    rings = chart(tab).evaluate(
        "plot => plot._fullData.filter(t => t.marker?.symbol === 'circle-open').flatMap(t => [...t.x])"
    )
    assert rings == pytest.approx([curve.mean_p[b]])

    tab.press("Clear")
    assert "reliability.selection" not in tab.recipe_query()
    tab.click_mark(chart(tab), curve.mean_p[b], curve.observed[b])  # the same mark once more
    assert tab.recipe_query()["reliability.selection"] == selection[0]


@pytest.mark.soak
def test_a_box_picks_the_bins_inside_it_and_a_link_shows_them_to_others(tab, new_tab, evaluation):
    tab.open("explore_reliability", **QUERY)
    draw_box(tab, 0.42, -0.01, 0.95, 1.01)
    parts = []
    for key in ("none", "platt"):
        curve = binned_curve(evaluation.y, evaluation.predictions[key].p, bins=10)
        inside = np.flatnonzero((curve.mean_p > 0.42) & (curve.mean_p < 0.95))
        parts.append((curve, inside))
    table = downloaded(tab)
    picked = np.zeros(len(evaluation.y), bool)
    for key, (_, inside) in zip(("none", "platt"), parts, strict=True):
        picked |= np.isin(np.minimum(np.floor(evaluation.predictions[key].p * 10 + 1e-9), 9), inside)
    assert sorted(table["row"]) == sorted(evaluation.dataset.X.index[evaluation.rows[picked]] + 1)

    other = new_tab()
    other.page.goto(tab.link())
    other.settle()
    assert sorted(downloaded(other)["row"]) == sorted(table["row"])

"""What is downloaded can be opened, holds the numbers of the page, and looks like it."""

import io
import re
from xml.etree import ElementTree

import pandas as pd
import pytest

from calib.figures import DARK, LIGHT, MARKS
from tests.evaluated import of_address

QUERY = {"data": "sample:breast_cancer", "model": "naive_bayes"}
SVG = "{http://www.w3.org/2000/svg}svg"
SHOWN = ("platt", "isotonic", "venn_abers")


@pytest.fixture(scope="module")
def evaluation():
    return of_address(**QUERY)


def popover(tab):
    """The Download popover of the reliability diagram, open."""
    tab.by_key("reliability_downloads").get_by_role("button", name="Download").click()
    body = tab.page.get_by_test_id("stPopoverBody")
    body.wait_for()
    return body


def read_csv(content: bytes, **options) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(content), encoding="utf-8-sig", **options)


def css(color: str) -> str:
    return "rgb({}, {}, {})".format(*(int(color[i : i + 2], 16) for i in (1, 3, 5)))


@pytest.mark.soak
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_the_menu_saves_an_svg_with_its_title_in_the_colours_of_the_page_and_there_is_no_camera(
    new_tab, theme
):
    tab = new_tab(color_scheme=theme.name).open("explore_reliability", **QUERY)
    chart = tab.page.get_by_test_id("stPlotlyChart").first
    chart.hover()
    assert chart.locator(".modebar-btn").count()
    assert not chart.locator('.modebar-btn[data-title^="Download plot"]').count()
    content = tab.download(popover(tab).get_by_role("button", name="Picture (SVG)").click)
    root = ElementTree.fromstring(content)
    assert root.tag == SVG
    words = " ".join(root.itertext())
    assert "Predicted probability" in words
    assert "Reliability diagram" in words
    assert "Venn–Abers" in words
    text = content.decode().lower()
    assert "#0000" not in text
    assert not re.search(r"rgb\(0, 0, [1-9]\d?\)", text)  # Streamlit's placeholders are #000001, #000002, …
    colours = (theme.paper, theme.uncalibrated, *(MARKS[key].color for key in SHOWN))
    assert [colour for colour in colours if css(colour) not in text] == []


@pytest.mark.soak
def test_the_menu_saves_a_png(tab):
    tab.open("explore_reliability", **QUERY)
    content = tab.download(popover(tab).get_by_role("button", name="Picture (PNG)").click)
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
    assert min(width, height) > 800  # twice the size on the page


@pytest.mark.soak
def test_the_metrics_and_predictions_are_those_of_evaluate(tab, evaluation):
    tab.open("explore_reliability", **QUERY)
    button = tab.page.get_by_role("button", name="Metrics (CSV)")
    table = read_csv(tab.download(button.click), index_col=0)
    pd.testing.assert_frame_equal(table, evaluation.metrics.rename_axis("calibrator"))
    button = tab.page.get_by_role("button", name="Predictions (CSV)")
    table = read_csv(tab.download(button.click))
    pd.testing.assert_frame_equal(table, evaluation.frame(), check_dtype=False)


@pytest.mark.soak
def test_the_html_opens_without_a_network(tab, new_tab, tmp_path):
    body = popover(tab.open("explore_reliability", **QUERY))
    (tmp_path / "chart.html").write_bytes(
        tab.download(body.get_by_role("button", name="Interactive chart").click)
    )
    alone = new_tab(fresh=True, offline=True)
    alone.page.goto((tmp_path / "chart.html").as_uri())
    alone.page.wait_for_selector(".js-plotly-plot .main-svg")
    assert alone.page.locator(".trace.scatter").count() >= 8
    assert "Reliability diagram" in alone.page.get_by_role("img").first.get_attribute("aria-label")
    assert "#0000" not in re.sub(r"<script>.*?</script>", "", alone.page.content(), count=1, flags=re.S)

"""A figure is drawn once for what it shows, and anew for anything else."""

import json
import re

import numpy as np
import plotly.graph_objects as go
import pytest

from calib.figures import DARK, LIGHT
from calib.recipe import Recipe
from pages.ui import chart, session_cache
from tests.browser import files
from tests.pages.app import bring, faults, headline, page, settled


@pytest.fixture
def drawn():
    return []


@pytest.fixture
def draw(drawn):
    def bars(record, theme):
        drawn.append((record, theme))
        return go.Figure(go.Bar(y=record["y"], marker={"color": theme.ink}))

    chart._figures.clear()
    return bars


def test_the_same_numbers_are_drawn_once_whoever_asks(draw, drawn):
    figures = [chart._drawn({"y": np.arange(3)}, LIGHT, draw, None, None) for _ in range(2)]
    assert len(drawn) == 1
    assert figures[0] == figures[1]
    assert figures[0]["data"] == draw({"y": np.arange(3)}, LIGHT).to_dict()["data"]


@pytest.mark.parametrize(
    "other",
    [
        ({"y": np.arange(4)}, LIGHT, None, None),
        ({"y": np.arange(3)}, DARK, None, None),
        ({"y": np.arange(3)}, LIGHT, 300, None),
        ({"y": np.arange(3)}, LIGHT, None, (1, True)),
    ],
    ids=["numbers", "theme", "height", "room"],
)
def test_whatever_changes_the_picture_draws_it_anew(draw, drawn, other):
    before = chart._drawn({"y": np.arange(3)}, LIGHT, draw, None, None)
    record, theme, height, room = other
    assert chart._drawn(record, theme, draw, height, room) != before
    assert len(drawn) == 2
    assert chart._drawn({"y": np.arange(3)}, LIGHT, draw, None, None) == before
    assert len(drawn) == 2


@pytest.mark.parametrize(
    "record", [{"y": np.zeros(200_000)}, {"y": [1], "key": lambda: 0}], ids=["large", "no bytes"]
)
def test_what_cannot_be_kept_is_drawn_every_time(draw, drawn, record):
    for _ in range(2):
        assert len(chart._drawn(record, LIGHT, draw, None, None)["data"]) == 1
    assert len(drawn) == 2


def test_a_kept_figure_is_one_piece_of_bytes(draw):
    """As lists and numbers it would take several times what the bound counts, and keep whole regions of memory."""
    chart._drawn({"y": list(range(3000))}, LIGHT, draw, None, None)
    (figure,) = chart._figures().cache.values()
    assert isinstance(figure, bytes)
    assert len(figure) <= chart._figures().cache.currsize < len(figure) + 100


def test_figures_and_results_of_an_upload_are_kept_with_its_session_alone(draw):
    at = bring(page("explore_data", model="naive_bayes"), "mine.csv", files.as_csv(files.churn(300)))
    chart._figures.clear()
    at = settled(at.switch_page("pages/explore_reliability.py").run())
    assert headline(at)
    assert faults(at) == []
    assert len(chart._figures().cache) == len(session_cache.shared()) == 0
    assert len(at.session_state["kept"].cache("figures", 0)) > 0
    page("explore_reliability", model="naive_bayes")
    assert len(chart._figures().cache) > 0
    assert len(session_cache.shared()) > 0


def test_of_the_pictures_of_a_chart_a_session_holds_on_to_the_latest_alone():
    """Streamlit keeps the callbacks of all of them."""
    at = page("explore_reliability", model="naive_bayes")
    for bins in (11, 13, 11):
        at = settled(at.slider(key="bins").set_value(bins).run())
    assert faults(at) == []
    known = at._session_state._state._new_widget_state.widget_metadata
    callbacks = [known[name].callback for name in known if name.endswith("-chart_reliability")]
    assert len(callbacks) > 1
    assert {each.args for each in callbacks} == {("chart_reliability",)}


def grey_lines(content: str) -> set[str]:
    """Legend groups that are not in colour, of a figure as JSON."""
    groups = re.findall(r'"legendgroup":\s*"(\w+)"', content)
    return {group for group in groups if is_grey(json.loads(content), group)}


def is_grey(figure: dict, group: str) -> bool:
    own = [trace for trace in figure["data"] if trace.get("legendgroup") == group]
    return all(trace.get("visible") == "legendonly" for trace in own)


def test_lines_in_colour_are_a_view_that_pages_links_and_downloads_share(downloads):
    at = page(data="sample:breast_cancer", model="naive_bayes")

    def grey() -> set[str]:
        on_page = grey_lines(at.get("plotly_chart")[0].proto.spec)
        html = downloads["Interactive chart (HTML)"]().decode()
        start = html.index("[{", html.index("Plotly.newPlot"))
        data, _ = json.JSONDecoder().raw_decode(html[start:])
        assert {one for one in on_page if is_grey({"data": data}, one)} == on_page
        assert not any(is_grey({"data": data}, one) for one in set(Recipe().calibrators) - on_page)
        return on_page

    fits = at.session_state["recipe"].digest("fit")
    assert grey() == {"auto", "isotonic", "venn_abers"}
    pills = next(group for group in at.get("button_group") if group.label == "Lines in colour")
    settled(pills.set_value([*pills.value, "venn_abers"]).run())
    assert grey() == {"auto", "isotonic"}
    assert at.query_params["reliability.lines"] in ("none,platt,venn_abers", ["none,platt,venn_abers"])
    assert at.session_state["recipe"].digest("fit") == fits
    linked = page(data="sample:breast_cancer", model="naive_bayes", **{"reliability.lines": "venn_abers"})
    assert grey_lines(linked.get("plotly_chart")[0].proto.spec) == {"none", "auto", "platt", "isotonic"}
    assert faults(linked) == []


def test_under_a_chart_stands_one_sentence_of_at_most_twenty_words():
    at = page(data="sample:breast_cancer", model="naive_bayes")
    folded = {text.value for fold in at.expander for text in fold.caption}
    record = next(text.value for text in at.caption if text.value.startswith("Curves show the observed"))
    assert record not in folded
    assert len(record.split()) <= 20
    assert record.count(". ") == 0
    assert any("Click or tap a mark" in text for text in folded)  # what can be done is folded too

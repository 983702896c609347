"""A figure is drawn once for what it shows, and anew for anything else."""

import numpy as np
import plotly.graph_objects as go
import pytest

from calib.figures import DARK, LIGHT
from pages.ui import chart
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
    assert figures[0] == figures[1] == draw({"y": np.arange(3)}, LIGHT).to_dict()


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


def test_a_figure_of_what_was_brought_is_kept_with_its_session_alone(draw):
    at = bring(page("explore_data", model="naive_bayes"), "mine.csv", files.as_csv(files.churn(300)))
    chart._figures.clear()
    at = settled(at.switch_page("pages/explore_reliability.py").run())
    assert headline(at)
    assert faults(at) == []
    assert len(chart._figures().cache) == 0
    assert len(at.session_state["kept"].cache("figures", 0)) > 0
    page("explore_reliability", model="naive_bayes")
    assert len(chart._figures().cache) > 0


def test_of_the_pictures_of_a_chart_a_session_holds_on_to_the_latest_alone():
    at = page("explore_reliability", model="naive_bayes")
    for bins in (11, 13, 11):
        at = settled(at.slider(key="bins").set_value(bins).run())
    assert faults(at) == []
    known = at._session_state._state._new_widget_state.widget_metadata
    assert len([name for name in known if name.endswith("-chart_reliability")]) == 1

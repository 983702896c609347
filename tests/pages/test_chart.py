"""A figure is drawn once for what it shows, and anew for anything else."""

import numpy as np
import plotly.graph_objects as go
import pytest

from calib.figures import DARK, LIGHT
from pages.ui import chart


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
    figures = [chart._drawn({"y": np.arange(3)}, LIGHT, draw, None, False) for _ in range(2)]
    assert len(drawn) == 1
    assert figures[0] == figures[1] == draw({"y": np.arange(3)}, LIGHT).to_dict()


@pytest.mark.parametrize(
    "other",
    [
        ({"y": np.arange(4)}, LIGHT, None, False),
        ({"y": np.arange(3)}, DARK, None, False),
        ({"y": np.arange(3)}, LIGHT, 300, False),
        ({"y": np.arange(3)}, LIGHT, None, True),
    ],
    ids=["numbers", "theme", "height", "room"],
)
def test_whatever_changes_the_picture_draws_it_anew(draw, drawn, other):
    before = chart._drawn({"y": np.arange(3)}, LIGHT, draw, None, False)
    record, theme, height, room = other
    assert chart._drawn(record, theme, draw, height, room) != before
    assert len(drawn) == 2
    assert chart._drawn({"y": np.arange(3)}, LIGHT, draw, None, False) == before
    assert len(drawn) == 2


@pytest.mark.parametrize(
    "record", [{"y": np.zeros(200_000)}, {"y": [1], "key": lambda: 0}], ids=["large", "no bytes"]
)
def test_what_cannot_be_kept_is_drawn_every_time(draw, drawn, record):
    for _ in range(2):
        assert len(chart._drawn(record, LIGHT, draw, None, False)["data"]) == 1
    assert len(drawn) == 2

"""A figure for a room: what is written is legible from the back, lies on nothing else, and fits the page."""

import numpy as np
import plotly.graph_objects as go
import pytest

from calib.figures.narrowing import unpacked
from calib.figures.panels import panels
from calib.figures.projector import for_projector
from calib.figures.theme import DARK, LIGHT, layout


def test_for_a_room_the_names_of_lower_panels_lie_below_the_scales_above_them():
    of = for_projector(
        panels(LIGHT, [("a", "note")] * 4, 2, height=260, between=34, xaxis={}, yaxis={}).update_xaxes(
            showticklabels=True
        )
    )
    margin = of.layout.margin
    inner = of.layout.height - margin.t - margin.b
    (_, below), (above, top) = of.layout.yaxis3.domain, of.layout.yaxis.domain
    assert 0 < below < above < top == 1
    assert of.layout.yaxis3.domain[0] == 0
    assert sorted(one.y for one in of.layout.annotations) == [below, below, 1, 1]
    line = 1.25 * 24
    assert (above - below) * inner >= 3 * line, "a scale and two lines of a name"
    assert margin.t >= 2 * line


def test_for_a_room_the_title_of_an_upper_scale_lies_above_the_name_of_the_panel_below():
    name = {"text": "<b>below</b>", "x": 0, "y": 1, "xref": "x2 domain", "yref": "y2 domain"}
    rows = {"yaxis": {"domain": [0.55, 1]}, "yaxis2": {"domain": [0, 0.45]}, "xaxis2": {"anchor": "y2"}}
    sides = {"t": 30, "b": 60}
    made = layout(LIGHT, height=500, margin=sides, xaxis_title_text="p", annotations=[name], **rows)
    of = for_projector(go.Figure(layout=made))
    inner = of.layout.height - of.layout.margin.t - of.layout.margin.b
    gap = (of.layout.yaxis.domain[0] - of.layout.yaxis2.domain[1]) * inner
    assert gap >= 3 * 1.25 * 24 + of.layout.xaxis.title.standoff, "a scale, its title and a name"


def test_for_a_room_figures_in_two_rows_share_the_page():
    figure = go.Figure(layout=layout(LIGHT, height=400))
    assert for_projector(figure, 2).layout.height == 500 < for_projector(figure).layout.height


def test_for_a_room_type_and_marks_are_seen_from_the_back_and_charts_fit_under_a_title():
    title = {"text": "p", "font": {"size": 14}}
    marks = go.Scatter(
        x=[0.0, 1.0],
        y=[0.5, 0.5],
        marker={"size": np.array([5, 10])},
        line={"width": 2},
        textfont={"size": 12},
    )
    upright = {"type": "line", "line": {"width": 1}}
    figure = go.Figure(
        marks,
        layout(LIGHT, height=640, xaxis_title=title, annotations=[{"font": {"size": 9}}], shapes=[upright]),
    )
    larger = for_projector(figure)
    assert larger.layout.height == 1000
    template = larger.layout.template.layout
    sizes = (template.font, larger.layout.xaxis.title.font, larger.layout.annotations[0].font)
    assert all(font.size >= 24 for font in (*sizes, larger.data[0].textfont))
    assert unpacked(larger.to_plotly_json()["data"][0]["marker"]["size"]) == [8, 16]
    assert (larger.data[0].line.width, larger.layout.shapes[0].line.width) == (3.2, 1.6)
    assert list(larger.data[0].x) == [0.0, 1.0]
    assert figure.layout.height == 640
    assert larger.layout.template.layout.margin.t == 16
    assert [for_projector(go.Figure(layout=layout(DARK, height=h))).layout.height for h in (300, 4000)] == [
        500,
        4000,
    ]
    assert for_projector(go.Figure(layout=layout(DARK, height=300)), fills=True).layout.height == 1000


def test_in_a_lesson_a_square_diagram_is_at_least_800_pixels_high_above_its_histogram():
    made = layout(
        LIGHT, height=640, yaxis={"domain": [0.24, 1], "scaleanchor": "x"}, yaxis2={"domain": [0, 0.19]}
    )
    larger = for_projector(go.Figure(layout=made), fills=True).layout
    inner = larger.height - larger.margin.t - larger.margin.b
    (low, high), (_, top) = larger.yaxis.domain, larger.yaxis2.domain
    assert (high - low) * inner >= 800
    assert low > top
    assert larger.height <= 1080 - 67, "under the row of the product's name"


def test_for_a_room_many_numbers_of_a_scale_are_every_second_one_with_the_last_and_names_are_all():
    def written(texts):
        made = layout(LIGHT, height=400, xaxis={"tickvals": [*range(len(texts))], "ticktext": texts})
        return for_projector(go.Figure(layout=made)).layout.xaxis.ticktext

    numbers = [str(10 * i) for i in range(1, 12)] + ["no limit"]
    assert [text for text in written(numbers) if text] == ["20", "40", "60", "80", "100", "no limit"]
    assert list(written([f"name {i}" for i in range(12)])) == [f"name {i}" for i in range(12)]
    assert list(written(["1", "2", "3"])) == ["1", "2", "3"]


def test_for_a_room_the_last_number_of_an_axis_that_ends_with_its_picture_has_room_above():
    assert for_projector(go.Figure(layout=layout(LIGHT, height=400))).layout.margin.t >= 24


@pytest.mark.parametrize(("lanes", "whole"), [(1, True), (8, False)])
def test_names_keep_their_lines_where_lanes_are_high(lanes, whole):
    figure = go.Figure(
        layout={
            "height": 64 * lanes + 104,
            "yaxis": {
                "tickvals": list(range(lanes)),
                "ticktext": ["age = 60 to 79<br>work = none<br>476 rows"] * lanes,
            },
        }
    )
    texts = for_projector(figure, highest=700).layout.yaxis.ticktext
    assert {"<br>" in text for text in texts} == {whole}

"""A chosen answer is sketched in the picture: its lines and points on the right axes, its trace, its panels."""

import json

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.io.json import to_json_plotly

from calib.figures import LIGHT
from calib.figures.panels import heading
from calib.figures.theme import rgba
from calib.kernel.checks import InputError
from calib.lessons import Question
from calib.lessons.question import question
from pages.ui.placed_guess import (
    ANSWER_LABEL,
    GUESS_DASHES,
    GUESS_LABEL,
    GUESS_LINE,
    GUESS_RING,
    LINE_HEIGHT,
    PALE,
    PAPER_OPACITY,
    Ghost,
    drawn,
    with_ghost,
)

TEXTS = {"text": "Which?", "answers": ("a", "b", "c"), "right": 2, "why": ("a.", "b.", "c.")}


def figure():
    """Two panels, one below the other, with one horizontal axis."""
    made = go.Figure(
        [
            go.Scatter(x=np.array([1.0, 10.0]), y=np.array([0.1, 0.2]), name="up", mode="lines"),
            go.Scatter(
                x=np.array([1.0, 10.0]), y=np.array([0.3, 0.4]), name="down", mode="lines", yaxis="y2"
            ),
        ],
        layout={"xaxis": {"type": "log", "range": [0, 1]}, "yaxis": {"domain": [0.6, 1]}, "yaxis2": {}},
    )
    return json.loads(to_json_plotly(made.to_dict()))


def added(sketch, answer=1, panel=0, panels=1):
    """What a figure has more with the sketch of an answer: traces, shapes, and their words."""
    ghosts = tuple(sketch if number == answer else {} for number in (1, 2, 3))
    whole = with_ghost(figure(), Ghost(Question(**TEXTS, ghosts=ghosts), answer), LIGHT, panel, panels)
    more = [one for one in whole["data"] if "name" not in one]
    return more, whole["layout"]["shapes"], whole["layout"]["annotations"]


def test_lines_and_rings_are_on_the_axes_of_their_panel_with_words_above_it():
    (line, ring), shapes, words = added({"lines": [[[1, 0.5], [9, 0.5]], [[9, 0.7]]], "axes": 2})
    assert (line["x"], line["y"], line["mode"]) == ([1, 9], [0.5, 0.5], "lines")
    assert (ring["x"], ring["y"], ring["marker"]["symbol"]) == ([9], [0.7], "circle-open")
    assert {(one["xaxis"], one["yaxis"]) for one in (line, ring)} == {("x", "y2")}, (
        "they share a horizontal axis"
    )
    assert shapes == []
    (one,) = words
    assert (one["text"], one["xref"], one["yref"]) == (f"{GUESS_RING} {GUESS_LABEL}", "x domain", "y2 domain")


KINDS = [
    Question(**TEXTS, ghosts=({"lines": [[[9, 0.5]]]}, {}, {})),
    Question(**TEXTS, kind="mark", cuts=(0.3, 0.6), at=0.5, truth=0.4),
    Question(**TEXTS, kind="curve", cuts=(-0.1, 0.1), truth=((0.2, 0.2, 9.0), (0.8, 0.8, 9.0))),
]


@pytest.mark.parametrize("asked", KINDS, ids=lambda asked: f"{asked.kind} at {asked.at}")
def test_the_name_of_a_guess_is_above_the_plot_and_covers_no_data(asked):
    guess = [(0.2, 0.25), (0.8, 0.75)] if asked.kind == "curve" else 1 if asked.kind == "choice" else 0.9
    layout = with_ghost(figure(), Ghost(asked, guess), LIGHT, 0, 1)["layout"]
    (words,) = layout["annotations"]
    assert words["text"].endswith(GUESS_LABEL)
    assert (words["y"], words["yanchor"]) == (1, "bottom")
    assert words["yref"] in ("paper", "y domain")
    assert layout["margin"]["t"] >= LINE_HEIGHT, "there is room above the plot"
    assert words["bgcolor"] == rgba(LIGHT.paper, PAPER_OPACITY)


@pytest.mark.parametrize(
    ("title", "lifted"), [("Pools", False), ("Calibrated model: false alarms by number of groups", True)]
)
def test_the_name_of_a_guess_is_over_the_name_of_a_panel_that_needs_the_width(title, lifted):
    content = figure()
    content["layout"]["annotations"] = [heading(title, "y")]
    ghosts = ({"lines": [[[9, 0.5]]]}, {}, {})
    layout = with_ghost(content, Ghost(Question(**TEXTS, ghosts=ghosts), 1), LIGHT, 0, 1)["layout"]
    assert (layout["annotations"][-1].get("yshift", 0) > 0) is lifted
    assert layout["margin"]["t"] >= LINE_HEIGHT + layout["annotations"][-1].get("yshift", 0)


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("asked", KINDS, ids=lambda asked: f"{asked.kind} at {asked.at}")
def test_the_name_of_a_guess_is_over_the_names_of_levels(asked, rows):
    content = figure()
    ends = {"x": [2, 2], "y": [0, 1], "text": ["", "Venn–Abers: 0.0275" + "<br> " * (rows - 1)]}
    content["data"].append({"type": "scatter", "mode": "lines+text", "textposition": "top left", **ends})
    guess = [(0.2, 0.25), (0.8, 0.75)] if asked.kind == "curve" else 1 if asked.kind == "choice" else 0.9
    layout = with_ghost(content, Ghost(asked, guess), LIGHT, 0, 1)["layout"]
    (words,) = layout["annotations"]
    assert words["yshift"] == rows * (LINE_HEIGHT - 6)
    assert layout["margin"]["t"] >= LINE_HEIGHT + words["yshift"]


def test_the_name_of_a_guess_ends_at_a_square_plot_which_is_narrower_than_the_picture():
    for asked, guess in zip(KINDS[1:], (0.9, [(0.2, 0.25), (0.8, 0.75)]), strict=True):
        (words,) = with_ghost(figure(), Ghost(asked, guess), LIGHT, 0, 1)["layout"]["annotations"]
        assert words["xref"] == "x domain"


def test_in_half_of_the_width_a_short_name_needs_it_all():
    content = figure()
    content["layout"] |= {"annotations": [heading("2 dimensions", "y")]}
    content["layout"]["xaxis"] |= {"domain": [0, 0.45]}
    ghosts = ({"lines": [[[9, 0.5]]]}, {}, {})
    layout = with_ghost(content, Ghost(Question(**TEXTS, ghosts=ghosts), 1), LIGHT, 0, 1)["layout"]
    assert layout["annotations"][-1]["yshift"] > 0


def test_a_ring_on_a_category_lies_above_all():
    content = figure()
    content["layout"]["xaxis"] = {}
    for one in content["data"]:
        one["x"] = ["16", "112", "368"]
    ghosts = ({"lines": [[["112", 0.5]]]}, {}, {})
    whole = with_ghost(content, Ghost(Question(**TEXTS, ghosts=ghosts), 1), LIGHT, 0, 1)
    assert whole["data"][-1]["x"] == ["112"], "a ring is above all"


def test_a_wide_pale_line_lies_under_a_trace():
    (copy,), _, _ = added({"traces": ["down"]})
    ghosts = ({"traces": ["down"]}, {}, {})
    whole = with_ghost(figure(), Ghost(Question(**TEXTS, ghosts=ghosts), 1), LIGHT, 0, 1)
    assert whole["data"][0] == copy, "the first is the lowest"
    assert (copy["x"], copy["y"]) == ([1.0, 10.0], [0.3, 0.4])
    assert (copy["yaxis"], copy["line"]["color"]) == ("y2", rgba(LIGHT.guess, PALE))
    copies, _, words = added({"traces": ["up", "down"]})
    assert (len(copies), [one["text"] for one in words]) == (2, [f"{GUESS_LINE} {GUESS_LABEL}"]), (
        "one guess, one label"
    )
    assert added({"traces": ["of another picture"]})[0] == []


def test_a_level_guess_ends_at_its_ring_which_is_whole_at_the_edge_of_the_plot():
    """Beyond the ring the line would run through the name of data at its level."""
    asked = Question(**TEXTS, kind="mark", cuts=(0.3, 0.6), at=1.0, truth=0.7)
    whole = with_ghost(figure(), Ghost(asked, 0.7), LIGHT, 0, 1)
    level, _ = whole["layout"]["shapes"]
    assert (level["x0"], level["x1"], level["xref"]) == (0, 1.0, "x")
    ring = whole["data"][-1]
    assert (ring["x"], ring["y"], ring["cliponaxis"]) == ([1.0], [0.7], False)


def test_a_line_lies_over_bars_which_would_hide_it():
    content = figure()
    content["data"].append({"type": "bar", "x": [1], "y": [1]})
    ghosts = ({"lines": [[[1, 0.5], [9, 0.5]]]}, {}, {})
    last = with_ghost(content, Ghost(Question(**TEXTS, ghosts=ghosts), 1), LIGHT, 0, 1)["data"][-1]
    assert last["x"] == [1, 9]


def test_a_line_on_names_leaves_them_in_their_order():
    """An axis has its names in the order in which traces bring them: the guessed row became the first."""
    content = figure()
    content["data"] = [{"type": "scatter", "x": [1, 2, 3], "y": ["before", "divided", "after"]}]
    ghosts = ({"lines": [[[1, "divided"], [9, "divided"]]]}, {}, {})
    whole = with_ghost(content, Ghost(Question(**TEXTS, ghosts=ghosts), 1), LIGHT, 0, 1)
    assert [one["y"][0] for one in whole["data"]] == ["divided", "before"], "the guess is under the marks"
    assert whole["layout"]["yaxis"]["categoryarray"] == ["before", "divided", "after"]
    assert "categoryarray" not in whole["layout"]["xaxis"]


def test_panels_of_the_answer_and_of_the_guess_have_frames():
    ghosts = ({"panels": [1]}, {"panels": [2]}, {"panels": [1, 2]})
    for guess, told in (
        (1, {ANSWER_LABEL, GUESS_LABEL}),
        (2, {f"{GUESS_LABEL}: right"}),
        (3, {GUESS_LABEL, f"{GUESS_LABEL}: right"}),
    ):
        ghost = Ghost(Question(**TEXTS, ghosts=ghosts), guess)
        layout = with_ghost(figure(), ghost, LIGHT, 0, 1)["layout"]
        assert {one["text"] for one in layout["annotations"]} == told
        assert {one["yref"] for one in layout["shapes"]} <= {"y domain", "y2 domain"}
        assert {one["xref"] for one in layout["shapes"]} == {"x domain"}, (
            "no axis that the figure does not have"
        )


def test_a_picture_in_parts_has_the_sketch_in_its_own_part():
    sketch = {"lines": [[[1, 0.5]]], "axes": 2}
    assert added(sketch, panel=0, panels=2)[0] == []
    (ring,), _, _ = added(sketch, panel=1, panels=2)
    assert (ring["xaxis"], ring["yaxis"]) == ("x", "y")


def test_an_answer_without_a_sketch_leaves_the_picture_as_it_is():
    assert added({}, answer=3) == ([], [], [])


def test_a_moving_picture_gets_the_drawn_curve_and_the_area_to_the_truth():
    found = drawn(Ghost(KINDS[-1], [(0.2, 0.25), (0.8, 0.75)]))
    assert found["label"] == f"{GUESS_DASHES} {GUESS_LABEL}"
    assert found["curve"] == [(0.2, 0.25), (0.8, 0.75)]
    assert found["area"] == pytest.approx(np.array([(0.2, 0.25), (0.8, 0.75), (0.8, 0.8), (0.2, 0.2)]))


@pytest.mark.parametrize("ghosts", [[{}], [{"line": []}, {}, {}]])
def test_sketches_that_do_not_fit_the_answers_are_refused(ghosts):
    with pytest.raises(InputError, match="ghosts needs one table per answer"):
        question(TEXTS | {"answers": list(TEXTS["answers"]), "ghosts": ghosts}, "question")

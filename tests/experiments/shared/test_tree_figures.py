"""Titles and answers follow the numbers, also where they turn; rings lie at the least."""

import numpy as np
import pytest

from calib.experiments.shared.gaussian_plane import PredictionErrors, SettingCurve, SideBySide
from calib.figures import FIGURES
from tests.saying import assert_says

TRUTH = np.tile([0.25, 0.5], 50)


def at_distance(name, tce):
    """A model that is off by the root of its TCE everywhere."""
    return PredictionErrors(name, TRUTH, TRUTH + np.sqrt(tce))


def side_by_side(names, distances, **settings):
    shown = tuple(map(at_distance, names, distances))
    return SideBySide(shown, len(shown), settings)


@pytest.mark.parametrize(
    ("distances", "answer"), [((0.04, 0.01, 0.02), 2), ((0.01, 0.02, 0.03), 1), ((3e-2, 2e-2, 1e-2), 3)]
)
def test_the_depth_that_is_closest_is_named(distances, answer):
    names = ["Depth 2", "Depth 4", "Depth 8", "No limit"]
    record = FIGURES["tree_depth"].prepare(side_by_side(names, (*distances, 0.023), model="tree"))
    assert record.answer == answer
    assert_says(record.title, "closest", f"depth {2**answer}", "TCE 0.010", "0.023 without a limit")


def test_the_readers_own_depth_may_be_the_closest_and_is_no_answer():
    record = FIGURES["tree_depth"].prepare(
        side_by_side(["Depth 2", "Depth 4", "Depth 8", "Depth 5"], (0.04, 0.01, 0.02, 0.0025), model="forest")
    )
    assert_says(record.title, "Of depths 2, 4 and 8", "forest", "depth 4", "TCE 0.010", "0.040 at depth 2")
    assert "and 0.0025 at depth 5" in record.title, "which nobody was asked about"
    assert record.answer == 2


@pytest.mark.parametrize(
    ("distances", "answer", "said"),
    [
        (
            (0.0188, 0.01477, 0.01531, 0.01465),  # the forest curtailed below 200 rows
            None,
            "The forest is about equally close to the truth at depth 4, at depth 8 and without a limit: TCE 0.015, "
            "against 0.019 at depth 2",
        ),
        (
            (0.019, 0.0147, 0.02, 0.01465),
            2,
            "The forest is about equally close to the truth at depth 4 and without",
        ),
        ((0.02, 0.02, 0.02, 0.02), None, "at depth 2, at depth 4, at depth 8 and without a limit: TCE 0.020"),
        (
            (0.03, 0.02, 0.02, 0.01),
            None,
            "Of depths 2, 4 and 8, the forest is about equally close to the truth at",
        ),
    ],
)
def test_no_depth_wins_among_numbers_that_read_the_same(distances, answer, said):
    names = ["Depth 2", "Depth 4", "Depth 8", "No limit"]
    record = FIGURES["tree_depth"].prepare(side_by_side(names, distances, model="forest"))
    assert said in record.title
    assert record.answer == answer


@pytest.mark.parametrize(
    ("distances", "answer"),
    [((0.05, 0.03, 0.029), 2), ((0.05, 0.04, 0.03), 1), ((0.05, 0.049, 0.03), 3), ((0.03, 0.04, 0.02), None)],
)
def test_the_second_gain_is_held_against_the_first(distances, answer):
    record = FIGURES["tree_count"].prepare(side_by_side(["5 trees", "50 trees", "500 trees"], distances))
    assert record.answer == answer


def test_of_the_three_ways_the_closest_is_the_answer():
    names = [
        f"{who}, {how}" for who in ("One tree", "100 trees") for how in ("frequency", "Laplace", "curtailed")
    ]
    for best in range(3):
        distances = [0.1, 0.05, 0.05, 0.05, 0.001, 0.001]
        distances[1 + best] = 0.01
        record = FIGURES["leaf_estimates"].prepare(side_by_side(names, distances, curtail=30, trees=100))
        assert record.answer == 1 + best


def test_rings_lie_at_the_least_sum_and_the_dotted_line_at_the_own_setting():
    tree = {
        "tce": np.array([3.0, 1, 2]),
        "calibration": np.array([0.0, 0.5, 1.9]),
        "grouping": np.array([3.0, 0.5, 0.1]),
    }
    tree |= {"leaf_calibration": tree["calibration"], "leaf_grouping": tree["grouping"]}
    forest = {name: values[::-1] / 10 for name, values in tree.items()}
    found = SettingCurve((1, 4, None), {"tree": tree, "forest": forest}, None, {"trees": 100})
    record = FIGURES["tree_depth_curve"].prepare(found)
    one = "one tree", "depth 4", "0.10", "fully grown 0.30", "forest"
    assert_says(record.title, "CL + GL", "lowest", "depth 4", "1.0", "fully grown 2.0", *one)
    figure = FIGURES["tree_depth_curve"].draw(record)
    rings = [trace for trace in figure.data if trace.name == "least"]
    assert [(ring.x[0], ring.y[0]) for ring in rings] == [(1, 1.0), (1, pytest.approx(0.1))]
    assert [shape.x0 for shape in figure.layout.shapes] == [2, 2]
    assert [len(part.shown) for part in FIGURES["tree_depth_curve"].panels(record)] == [1, 1]

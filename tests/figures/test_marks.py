"""Marks are groups of rows: every row counted once, means by brute force, cells only where points are too many."""

from collections import defaultdict

import numpy as np
import pytest

from calib.figures.marks import CELLS_OF_AXIS, MOST_MARKS, gather, mark_traces
from calib.figures.theme import DARK, LIGHT
from tests.saying import assert_says


def rows(n, seed=0, levels=None):
    rng = np.random.default_rng(seed)
    x, y = rng.random(n), rng.random(n)
    if levels:
        x, y = np.round(x * levels) / levels, np.round(y * levels) / levels
    return x, y, rng.integers(0, 2, n), rng.random(n), rng.permutation(n) + 100


def test_equal_points_share_a_mark():
    x, y, labels, value, number = rows(500, levels=5)
    marks = gather(x, y, labels, value, number)
    members = defaultdict(list)
    for i, place in enumerate(zip(x, y, strict=True)):
        members[place].append(i)
    assert not marks.cells
    assert {(a, b): n for a, b, n in zip(marks.x, marks.y, marks.count, strict=True)} == {
        place: len(group) for place, group in members.items()
    }
    for i, place in enumerate(zip(marks.x, marks.y, strict=True)):
        group = members[place]
        assert marks.share[i] == pytest.approx(np.mean(labels[group]))
        assert marks.value[i] == pytest.approx(np.mean(value[group]))
        assert marks.row[i] == number[group[0]]
    assert "36 different points" in marks.note


def test_rows_that_are_all_alike_have_one_place():
    same = np.full(3, 0.5)
    assert_says(gather(same, same, np.array([0, 1, 0]), same, np.arange(3)).note, "3 rows", "same point")


def test_rows_apart_are_drawn_one_by_one_without_a_note():
    x, y, *rest = rows(50)
    marks = gather(x, y, *rest)
    assert sorted(zip(marks.x, marks.y, strict=True)) == sorted(zip(x, y, strict=True))
    assert marks.note == ""


def test_too_many_points_are_gathered_in_cells():
    x, y, labels, value, number = rows(20_000)
    marks = gather(x, y, labels, value, number)
    assert marks.cells
    assert len(marks.count) <= CELLS_OF_AXIS**2 < MOST_MARKS
    assert marks.count.sum() == 20_000
    assert (marks.share * marks.count).sum() == pytest.approx(labels.sum())
    assert (marks.value * marks.count).sum() == pytest.approx(value.sum())
    assert "20,000 rows are grouped in cells" in marks.note
    place = {int(name): i for i, name in enumerate(number)}
    for i in range(0, len(marks.count), 50):  # a mark's row lies in its cell
        own = place[int(marks.row[i])]
        assert abs(x[own] - marks.x[i]) <= 1 / CELLS_OF_AXIS
        assert abs(y[own] - marks.y[i]) <= 1 / CELLS_OF_AXIS


def test_rows_on_one_line_are_gathered_too():
    x, _, *rest = rows(6_000)
    marks = gather(x, np.zeros(6_000), *rest)
    assert marks.cells
    assert len(marks.count) == CELLS_OF_AXIS


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_the_classes_differ_in_symbol_and_area_says_how_many(theme):
    x = np.array([0.1, 0.1, 0.1, 0.1, 0.5, 0.9])
    marks = gather(x, x, np.array([0, 0, 0, 0, 1, 1]), x, np.arange(6))
    traces = mark_traces(marks, theme, ("no", "yes"), "label", "here", (0, 1))
    assert [trace.name for trace in traces] == ["no (class 0)", "yes (class 1)"]
    assert [trace.marker.symbol for trace in traces] == ["circle", "diamond"]
    assert (traces[0].marker.size[0] / traces[1].marker.size[0]) ** 2 == pytest.approx(4)
    both = mark_traces(
        gather(x, x, np.array([0, 1, 0, 1, 1, 0]), x, np.arange(6)), theme, ("no", "yes"), "label", "", (0, 1)
    )
    assert [trace.marker.symbol for trace in both] == ["circle", "diamond", "square"]


def test_names_of_classes_are_text():
    traces = mark_traces(gather(*rows(5)), LIGHT, ("<b>no</b>", "yes & no"), "label", "here", (0, 1))
    assert [trace.name for trace in traces[:2]] == [
        "&lt;b&gt;no&lt;/b&gt; (class 0)",
        "yes &amp; no (class 1)",
    ]

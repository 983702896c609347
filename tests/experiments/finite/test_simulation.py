"""The finite example as the page runs it: presets, ties, edits, and what cannot be a line."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib.experiments import EXPERIMENTS
from calib.experiments.finite import FIRST_POINTS
from calib.experiments.finite.simulation import ForecastLine, fewest_cuts
from calib.kernel.checks import InputError
from calib.synthetic import FiniteExample

simulate = EXPERIMENTS["finite"].simulate


@st.composite
def lines(draw):
    x = sorted(draw(st.lists(st.integers(-500, 500), min_size=2, max_size=8, unique=True)))
    labels = draw(st.lists(st.sampled_from([None, 0, 1]), min_size=len(x), max_size=len(x)).filter(any_label))
    points = tuple(
        (at / 10, draw(st.integers(0, 1000)) / 1000, label) for at, label in zip(x, labels, strict=True)
    )
    return ForecastLine(points, tuple(i for i in range(len(x) - 1) if draw(st.booleans())))


def any_label(labels):
    return any(label is not None for label in labels)


def test_the_page_starts_with_the_paper_s_example():
    assert ForecastLine.of(FIRST_POINTS).example == FiniteExample()


@pytest.mark.parametrize(
    ("name", "cuts", "printed"),
    [
        ("one_leaf", (), (0.0, 0.15, 0.5)),
        ("one_split", (6.5,), None),
        ("pure_leaves", (3.5, 8.5, 9.5), (0.29, 0.12, 0.75)),
    ],
)
def test_the_presets_are_the_paper_s_partitions_with_its_values(name, cuts, printed):
    found = simulate()
    row, part = found.rows[name], FiniteExample().partition(cuts)
    ours = [
        float(values[row]) for values in (found.every.calibration, found.every.grouping, found.every.loss)
    ]
    assert ours == pytest.approx([part.calibration, part.grouping, part.loss], abs=1e-12)
    assert [gap + 1.5 for gap in found.cuts(name)] == list(cuts)
    assert printed is None or tuple(round(value, 2) for value in ours) == printed


@given(lines())
def test_a_line_comes_back_from_its_text(line):
    assert ForecastLine.of(str(line)) == line


@given(lines())
def test_presets_and_the_best_are_what_they_are_called(line):
    found = simulate(line=str(line))
    every, count = found.every, found.every.cuts.sum(axis=1)
    loss = every.loss.round(12)
    for row, cuts in enumerate(every.cuts):
        leaf = np.append(0, np.cumsum(cuts))
        labelled = {
            number for number, (_, _, label) in zip(leaf, line.points, strict=True) if label is not None
        }
        assert every.labelled[row] == (labelled == set(leaf.tolist()))
    assert found.cuts("own") == line.cuts
    assert found.cuts("one_leaf") == ()
    assert len(found.cuts("one_split")) == 1
    one = (count == 1) & every.labelled
    assert loss[found.rows["one_split"]] == loss[one if one.any() else count == 1].min()
    least = found.rows["least"]
    best = every.labelled & (loss == loss[every.labelled].min())
    assert best[least]
    assert count[least] == count[best].min()
    pure = found.rows["pure_leaves"]
    labels = [label for _, _, label in line.points]
    assert all(every.p[pure][i] == label for i, label in enumerate(labels) if label is not None)
    changes = sum(
        a != b for a, b in zip(*[[y for y in labels if y is not None][i:] for i in (0, 1)], strict=False)
    )
    assert count[pure] == changes  # no cut too many


@given(lines())
def test_one_is_drawn_of_all_that_cost_the_same_and_it_has_the_fewest_cuts(line):
    every = simulate(line=str(line)).every
    places = {
        row: (round(every.calibration[row], 9), round(every.grouping[row], 9))
        for row in np.flatnonzero(every.labelled).tolist()
    }
    shown = fewest_cuts(every)
    assert sorted({places[row] for row in shown}) == sorted(set(places.values()))
    assert len(shown) == len(set(places.values()))
    count = every.cuts.sum(axis=1)
    for row in shown:
        assert count[row] == min(count[other] for other, place in places.items() if place == places[row])


@pytest.mark.parametrize(("label", "cut"), [*product([None, 0, 1], [False, True])])
def test_a_label_turns_and_a_cut_moves_and_nothing_else_changes(label, cut):
    line = ForecastLine(((0.0, 0.5, label), (1.0, 0.25, 1), (2.5, 1.0, None)), (0,) if cut else ())
    turned = line.turned(0)
    assert turned.points == ((0.0, 0.5, 0 if label == 1 else 1), *line.points[1:])
    assert turned.cuts == line.cuts
    if cut:
        assert line.moved(0, 1) == line.cut_at([1])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1:1.2:0 2:0.5:1", "probabilities must lie in [0, 1], but the probability at position 1 is 1.2"),
        ("1:-0.1:0 2:0.5:1", "the probability at position 1 is -0.1"),
        ("1:nan:0 2:0.5:1", "the probability at position 1 is nan"),
        ("nan:0.1:0 2:0.5:1", "'nan:0.1:0' is not"),
        ("inf:0.1:0 2:0.5:1", "'inf:0.1:0' is not"),
        ("1e300:0.1:0 2:0.5:1", "'1e300:0.1:0' is not"),
        ("1:0.1:2 2:0.5:1", "'1:0.1:2' is not"),
        ("1:x 2:0.5:1", "'1:x' is not"),
        ("1 2:0.5:1", "'1' is not"),
        ("1:0.1:0:1 2:0.5:1", "'1:0.1:0:1' is not"),
        ("1:0.1 2:0.5", "at least one point must have a label"),
        ("1:0.1:0", "from 2 to 13 points, but has 1"),
        ("", "from 2 to 13 points, but has 0"),
        (" ".join(f"{i}:0.5:1" for i in range(14)), "from 2 to 13 points, but has 14"),
        ("1:0.1:0 1:0.5:1", "positions must rise from point to point, but 1 is followed by 1"),
        ("2:0.1:0 1:0.5:1", "but 2 is followed by 1"),
        ("| 1:0.1:0 2:0.5:1", "between two points"),
        ("1:0.1:0 2:0.5:1 |", "one follows the last point"),
        ("1:0.1:0 | | 2:0.5:1", "only one cut"),
        (7, "from 2 to 13 points, but has 0"),
    ],
)
def test_what_is_no_line_is_refused_by_one_message(text, words):
    with pytest.raises(InputError, match="line") as refused:
        simulate(line=text)
    assert words in str(refused.value)


def test_thirteen_points_are_all_there_at_once():
    found = simulate(line=" ".join(f"{i}:{i / 13:.3f}:{i % 2}" for i in range(13)))
    assert found.every.loss.shape == (4096,)
    assert np.isfinite(found.every.loss).all()

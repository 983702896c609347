"""Moves of pool-adjacent-violators: one pool fewer each time, to the isotonic fit and the lower convex hull."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib.experiments import EXPERIMENTS
from calib.kernel.checks import InputError
from calib.kernel.isotonic_regression import pool_adjacent_violators, pool_ties

simulate = EXPERIMENTS["pooling"].simulate

POINTS = st.lists(st.tuples(st.integers(-5, 9), st.integers(0, 1)), min_size=1, max_size=20)


def moves_on(points):
    return simulate(points=" ".join(f"{score}:{label}" for score, label in points))


def lower_hull(x, y):
    """Andrew's monotone chain, in whole numbers."""
    hull = []
    for point in zip(x.tolist(), y.tolist(), strict=True):
        while len(hull) > 1:
            (x0, y0), (x1, y1) = hull[-2:]
            if (x1 - x0) * (point[1] - y0) <= (y1 - y0) * (point[0] - x0):
                hull.pop()
            else:
                break
        hull.append(point)
    return hull


@given(POINTS)
def test_the_last_state_is_the_isotonic_fit_and_the_lower_hull(points):
    moves = moves_on(points)
    scores, labels = (np.array(values) for values in zip(*points, strict=True))
    tied = pool_ties(scores.astype(float), labels)
    expected = pool_adjacent_violators(tied.sums, tied.weights)
    assert np.array_equal(moves.scores, tied.scores)
    assert moves.fitted(moves.moves) == pytest.approx(expected.fitted, abs=1e-12)
    objects, ones = moves.diagram()
    ends = list(moves.states[-1])
    hull = lower_hull(objects, ones)
    chords = list(zip(objects[ends].tolist(), ones[ends].tolist(), strict=True))
    # Pools with equal shares are no violators: their corners lie on the hull's edges
    assert set(hull) <= set(chords)
    assert np.interp(objects, *zip(*hull, strict=True)) == pytest.approx(
        np.interp(objects, *zip(*chords, strict=True))
    )


@given(POINTS)
def test_a_move_joins_the_leftmost_pair_that_falls_and_nothing_else(points):
    moves = moves_on(points)
    assert moves.moves <= len(moves.scores) - 1
    for state, (before, after) in enumerate(pairwise(moves.states)):
        shares = [Fraction(*moves.ratio(state, pool)) for pool in range(len(before) - 1)]
        left = moves.joined[state]
        assert shares[left] > shares[left + 1]
        assert all(a <= b for a, b in pairwise(shares[: left + 1]))
        assert set(before) - set(after) == {before[left + 1]}
        a0, n0 = moves.ratio(state, left)
        a1, n1 = moves.ratio(state, left + 1)
        assert moves.ratio(state + 1, left) == (a0 + a1, n0 + n1)
    last = [Fraction(*moves.ratio(moves.moves, pool)) for pool in range(len(moves.states[-1]) - 1)]
    assert all(a <= b for a, b in pairwise(last))


@given(POINTS)
def test_the_mean_label_never_changes(points):
    moves = moves_on(points)
    for state in range(moves.moves + 1):
        assert (moves.fitted(state) * moves.rows).sum() == pytest.approx(moves.ones.sum(), abs=1e-9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it has none"),
        ("0.1:2", "'0.1:2' is not"),
        ("a:1", "'a:1' is not"),
        ("nan:1", "'nan:1' is not"),
        ("0.3", "'0.3' is not"),
        ("1:0 " * 61, "it has 61"),
        (5, "it has none"),
    ],
)
def test_points_that_are_none_are_refused_by_name(text, message):
    with pytest.raises(InputError, match=f"points must .*1 to 60 .*{message}"):
        simulate(points=text)

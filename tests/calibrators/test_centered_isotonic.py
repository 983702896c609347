"""Centred isotonic regression: the pools of the isotonic fit at their centres, straight lines between."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from calib.calibrators.centered_isotonic import CenteredIsotonic


def by_definition(scores, y, at):
    """Oron and Flournoy's algorithm, pool by pool, on scikit-learn's isotonic fit."""
    fitted = IsotonicRegression().fit_transform(scores, y)
    points = []
    for value in np.unique(fitted.round(12)):
        pool = np.sort(scores[fitted.round(12) == value])
        points += [(end, value) for end in (pool[0], pool[-1])] if value in (0, 1) else [(pool.mean(), value)]
    x, v = zip(*points, strict=True)
    return np.interp(at, x, v)


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=1, max_size=60))
def test_it_is_the_published_algorithm(rows):
    scores = np.array([score for score, _ in rows], dtype=float)
    y = np.array([float(label) for _, label in rows])
    at = np.linspace(-1, 31, 65)
    assert CenteredIsotonic().fit(scores, y.astype(int)).predict(at) == pytest.approx(
        by_definition(scores, y, at)
    )


def test_between_the_centres_it_rises_strictly_where_isotonic_regression_is_flat():
    rng = np.random.default_rng(0)
    scores = np.sort(rng.random(2000))
    y = (rng.random(2000) < 0.2 + 0.6 * scores).astype(int)
    p = CenteredIsotonic().fit(scores, y).predict(scores)
    inner = (p > p.min()) & (p < p.max())
    assert (np.diff(p[inner]) > 0).all()
    assert len(np.unique(IsotonicRegression().fit_transform(scores, y))) < 100

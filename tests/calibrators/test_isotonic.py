from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from calib.calibrators import Isotonic
from tests import exact

rows = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1)), min_size=1, max_size=12)


def expected_at(distinct, fit, score, between):
    """The three rules in fractions, straight from their descriptions."""
    if score <= distinct[0]:
        return fit[0]
    if score >= distinct[-1]:
        return fit[-1]
    i = max(i for i, x in enumerate(distinct) if x <= score)
    low, high = distinct[i], distinct[i + 1]
    if between == "linear":
        return fit[i] + (fit[i + 1] - fit[i]) * Fraction(score - low) / (high - low)
    return fit[i] if between == "step" or score - low <= high - score else fit[i + 1]


@pytest.mark.parametrize("between", ["linear", "step", "nearest"])
@given(rows)
def test_values_on_between_and_beyond_scores_are_the_definition(between, data):
    scores, y = ([float(value) for value in column] for column in zip(*data, strict=True))
    distinct, means, weights = exact.labelled(scores, [int(label) for label in y])
    fit = exact.isotonic(means, weights)
    new = [i / 4 for i in range(-4, 33)]
    p = Isotonic(between=between).fit(scores, y).predict(new)
    expected = [float(expected_at([Fraction(x) for x in distinct], fit, Fraction(x), between)) for x in new]
    np.testing.assert_allclose(p, expected, atol=1e-15)
    if between != "linear":
        assert p.tolist() == expected


@pytest.mark.parametrize("weighted", [False, True])
def test_linear_is_scikit_learns(weighted):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=500).round(1)
    y = (rng.random(500) < 1 / (1 + np.exp(-scores))).astype(int)
    weights = rng.uniform(0.1, 2, 500) if weighted else None
    new = rng.normal(0, 2, 1000)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(scores, y, weights).predict(new)
    np.testing.assert_allclose(Isotonic().fit(scores, y, weights).predict(new), theirs, atol=1e-12)


def test_scores_one_unit_apart_are_kept_apart():
    """scikit-learn takes these for ties and answers one half at both."""
    low, high = 0.5, np.nextafter(0.5, 1)
    assert Isotonic(between="step").fit([low, high], [0, 1]).predict([low, high]).tolist() == [0, 1]


def test_nearest_takes_the_lower_of_two_equally_near():
    isotonic = Isotonic(between="nearest").fit([1, 2], [0, 1])
    assert isotonic.predict([1.25, 1.5, np.nextafter(1.5, 2)]).tolist() == [0, 0, 1]


@given(rows)
def test_dummy_objects_are_two_more_objects_at_the_ends(data):
    scores, y = zip(*data, strict=True)
    added = Isotonic(between="step").fit([-100, *scores, 100], [1, *y, 0]).predict(scores)
    p = Isotonic(between="step", regularise=True).fit(scores, y).predict(scores)
    assert p.tolist() == added.tolist()
    assert ((p > 0) & (p < 1)).all()


def test_dummy_objects_are_no_scores_to_interpolate_to():
    isotonic = Isotonic(regularise=True).fit([1, 2, 3, 4], [0, 0, 1, 1])
    np.testing.assert_allclose(
        isotonic.predict([-1e9, 1, 2, 2.5, 3, 1e9]), [1 / 3, 1 / 3, 1 / 3, 0.5, 2 / 3, 2 / 3]
    )


def test_only_the_ends_of_pools_are_kept():
    rng = np.random.default_rng(3)
    isotonic = Isotonic().fit(rng.random(10_000), rng.integers(0, 2, 10_000))
    assert len(isotonic.scores_) == len(isotonic.values_) < 200

"""Offset calibration moves all odds by one ratio, until the mean is the frequency."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit

from calib.calibrators.offset import Offset
from calib.kernel.checks import InputError

PROBABILITIES = st.floats(1e-6, 1 - 1e-6)


@given(st.lists(st.tuples(PROBABILITIES, st.booleans()), min_size=2, max_size=50))
def test_the_mean_becomes_the_frequency_and_odds_keep_their_ratios(rows):
    scores, y = np.array([p for p, _ in rows]), np.array([int(label) for _, label in rows])
    if len(set(y)) < 2:
        with pytest.raises(InputError, match="Intercept only"):
            Offset().fit(scores, y)
        return
    p = Offset().fit(scores, y).predict(scores)
    assert p.mean() == pytest.approx(y.mean(), abs=1e-9)
    moved, rounding = logit(p) - logit(scores), 1e-15 / (p * (1 - p))  # which the log-odds of a p near 1 show
    middle = np.argmin(rounding)
    assert (np.abs(moved - moved[middle]) < 1e-9 + rounding).all()


def test_a_thinned_class_is_put_back():
    """Of the negatives one in ten was kept: the odds are ten times too high, as prior correction has it."""
    rng = np.random.default_rng(0)
    p = rng.uniform(0.01, 0.5, 400_000)
    y = (rng.random(400_000) < p).astype(int)
    thinned = p / (p + (1 - p) / 10)
    assert np.exp(Offset().fit(thinned, y).c_) == pytest.approx(0.1, rel=0.02)

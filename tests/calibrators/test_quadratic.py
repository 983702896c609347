"""Quadratic calibration is logistic regression on the logit and its square, without a penalty."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from calib.calibrators.quadratic import Quadratic
from calib.kernel.checks import InputError
from calib.kernel.fields import Fields


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0.02, 0.98, n)
    return scores, (rng.random(n) < scores**1.5).astype(int)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_unpenalised_logistic_regression_on_the_logit_and_its_square(seed):
    scores, y = drawn(500, seed)
    columns = np.column_stack([logit(scores), logit(scores) ** 2])
    peer = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(columns, y)
    assert Quadratic().fit(scores, y).predict(scores) == pytest.approx(
        peer.predict_proba(columns)[:, 1], abs=1e-6
    )


def test_at_the_maximum_no_coefficient_can_gain():
    scores, y = drawn(400)
    residuals = y - Quadratic().fit(scores, y).predict(scores)
    powers = np.column_stack([np.ones(400), logit(scores), logit(scores) ** 2])
    assert residuals @ powers == pytest.approx(np.zeros(3), abs=1e-6)


@given(
    st.lists(
        st.tuples(st.sampled_from((0.1, 0.2, 0.5, 0.7, 0.8, 0.9)), st.booleans(), st.integers(1, 3)),
        min_size=2,
        max_size=10,
    )
)
def test_few_rows_with_ties_and_weights_have_the_largest_likelihood_too(rows):
    """It is concave: where residuals know nothing of the columns, nothing is likelier."""
    scores, y, weights = map(np.array, zip(*rows, strict=True))
    fitted = Quadratic().fit(scores, y.astype(int), sample_weight=weights)
    powers = np.column_stack([np.ones(len(y)), logit(scores), logit(scores) ** 2])
    assert (weights * (y - fitted.predict(scores))) @ powers == pytest.approx(np.zeros(3), abs=1e-5)


def test_two_scores_tell_a_line_and_no_curve():
    """The squares of the log-odds of 0.2 and 0.8 are the same but for rounding."""
    fitted = Quadratic().fit([0.8, 0.8, 0.2, 0.8, 0.2, 0.8], [1, 1, 0, 0, 1, 1])
    assert fitted.predict([0.2, 0.8]) == pytest.approx([0.5, 0.75])
    assert fitted.coefficients_[2] == 0


def test_what_is_right_already_is_left_nearly_alone():
    rng = np.random.default_rng(0)
    scores = rng.uniform(0.01, 0.99, 200_000)
    fitted = Quadratic().fit(scores, (rng.random(200_000) < scores).astype(int))
    assert fitted.coefficients_ == pytest.approx([0, 1, 0], abs=0.02)


def fitted_within(seed, low=0.0, high=1.0):
    """Fitted on calibrated data of 1,000 rows: (fitted, its parabola, the ends and the slopes there)."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(low, high, 1000)
    fitted = Quadratic().fit(p, (rng.random(1000) < p).astype(int))
    parabola = np.poly1d(fitted.coefficients_[::-1])
    ends = logit([p.min(), p.max()])
    return fitted, parabola, ends, parabola.deriv()(ends)


def test_beyond_the_calibration_scores_the_map_goes_on_along_its_tangents():
    fitted, parabola, (low, high), slopes = fitted_within(2)
    assert (slopes > 0).all()
    assert expit(parabola(36.04)) < 0.003  # which the parabola itself gives a score of 1
    assert fitted.predict([1.0]) > 0.999
    for end, slope, away in ((low, slopes[0], -1), (high, slopes[1], 1)):
        x = end + away * np.arange(5.0)
        assert logit(fitted.predict(expit(x))) == pytest.approx(parabola(end) + slope * (x - end), rel=1e-4)
    x = np.linspace(low, high, 50)
    assert logit(fitted.predict(expit(x))) == pytest.approx(parabola(x), rel=1e-9, abs=1e-9)


def test_an_end_that_falls_keeps_its_value_and_a_note_says_from_where_the_curve_falls():
    fitted, parabola, (low, high), slopes = fitted_within(11, 0.35, 0.65)
    assert slopes[1] < 0 < slopes[0]
    top = expit(high)
    assert fitted.predict([(1 + top) / 2, 1.0]) == pytest.approx(fitted.predict([top])[0], abs=1e-15)
    (note,) = fitted.notes_
    told = list(map(float, re.findall(r"0\.\d+", note)))
    x = np.linspace(low, high, 200_001)
    assert told == pytest.approx([expit(x[parabola(x).argmax()]), top], abs=1e-4)


def test_a_curve_that_rises_throughout_has_no_note_and_one_that_falls_throughout_says_so():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.2, 0.8, 20_000)
    y = (rng.random(20_000) < p).astype(int)
    assert Quadratic().fit(p, y).notes_ == ()
    (note,) = Quadratic().fit(p, 1 - y).notes_
    assert "reverses the ranking" in note


def test_a_file_from_before_the_ends_were_kept_is_read_as_it_was():
    old = Fields({"coefficients": [0.5, 1.0, -0.25], "clip": 2.220446049250313e-16}, "The file")
    assert Quadratic.from_map(old).predict([0.9]) == pytest.approx(
        expit(np.polyval([-0.25, 1, 0.5], logit(0.9)))
    )
    with pytest.raises(InputError, match="ends must not decrease"):
        Quadratic.from_map(Fields(old.value | {"ends": [1.0, -1.0]}, "The file"))


def test_separated_classes_are_said_to_be():
    fitted = Quadratic().fit([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
    assert fitted.bounded_
    assert fitted.predict([0.1, 0.9]) == pytest.approx([0, 1], abs=1e-9)
    assert any("separate" in note for note in fitted.notes_)

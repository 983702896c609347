"""Quadratic calibration is logistic regression on the logit and its square, without a penalty."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from calib.calibrators.quadratic import Quadratic


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


def test_separated_classes_are_said_to_be():
    fitted = Quadratic().fit([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
    assert fitted.bounded_
    assert fitted.predict([0.1, 0.9]) == pytest.approx([0, 1], abs=1e-9)
    assert any("separate" in note for note in fitted.notes_)

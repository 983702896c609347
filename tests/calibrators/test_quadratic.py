"""Quadratic calibration is logistic regression on the logit and its square, without a penalty."""

import numpy as np
import pytest
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

"""The posterior is Bayes' rule by densities, the model is its formula, and errors are those of labels without noise."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from calib.calibrators import JOINT
from calib.experiments.three_classes import ANGLES, error, model, posterior, three_classes
from calib.metrics import expected_calibration_error

CENTRES = 1.5 * np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])


def test_the_posterior_is_bayes_rule():
    X = np.random.default_rng(0).normal(size=(50, 2))
    density = np.column_stack([multivariate_normal(centre).pdf(X) for centre in CENTRES])
    np.testing.assert_allclose(
        posterior(X, CENTRES), density / density.sum(axis=1, keepdims=True), atol=1e-12
    )


def test_the_model_is_a_prior_shift_and_a_temperature():
    """With sharpness 1 it is Bayes' rule for classes with shares proportional to the weights."""
    X = np.random.default_rng(1).normal(size=(50, 2))
    q = posterior(X, CENTRES)
    joint = np.array([2.0, 1.0, 0.5]) * np.column_stack([multivariate_normal(c).pdf(X) for c in CENTRES])
    np.testing.assert_allclose(model(q, 2.0, 1.0), joint / joint.sum(axis=1, keepdims=True), atol=1e-12)
    power = q**2 / (q**2).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model(q, 1.0, 2.0), power, atol=1e-12)
    np.testing.assert_allclose(model(q, 1.0, 1.0), q, atol=1e-12)


def test_an_error_is_the_ece_of_many_labels():
    rng = np.random.default_rng(2)
    q, p = rng.random(200), rng.random(200)
    many = np.repeat(q, 5000)
    y = rng.random(len(many)) < many
    assert error(q, p) == pytest.approx(expected_calibration_error(y, np.repeat(p, 5000), 15), abs=0.003)
    assert error(q, q) == 0


def test_a_model_that_favours_none_and_is_not_sharpened_has_no_error():
    found = three_classes({"tilt": 1.0, "sharpness": 1.0, "distance": 1.5, "rows": 2000})
    assert found.confidence["none"] == pytest.approx(0, abs=1e-9)
    assert found.classes["none"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("tilt", "sharpness", "method"), [(3.0, 1.0, "vector"), (1.0, 2.0, "temperature")])
def test_a_calibrator_of_the_form_of_the_error_finds_the_posterior(tilt, sharpness, method):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 50_000)
    q = posterior(CENTRES[y] + rng.normal(size=(len(y), 2)), CENTRES)
    P = model(q, tilt, sharpness)
    assert np.abs(P - q).mean() > 0.04
    np.testing.assert_allclose(JOINT[method]().fit(P, y).predict(P), q, atol=0.03)

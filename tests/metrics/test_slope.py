import math

import numpy as np
import pytest
from hypothesis import given
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from calib.metrics import (
    calibration_line,
)

from .cases import labelled, random_case


@pytest.mark.parametrize("seed", range(4))
def test_calibration_line_is_an_unpenalised_logistic_regression(seed):
    y, p = random_case(seed, 800)
    line = calibration_line(y, p)
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(logit(p)[:, None], y)
    assert line.slope == pytest.approx(model.coef_[0, 0], abs=1e-5)
    assert line.intercept == pytest.approx(model.intercept_[0], abs=1e-5)
    residual = y - expit(line.intercept + line.slope * logit(p))  # the score equations, to rounding
    assert np.abs([residual.mean(), (residual * logit(p)).mean()]).max() < 1e-9
    assert expit(line.in_the_large + logit(p)).mean() == pytest.approx(y.mean(), abs=1e-9)


def test_calibration_line_recovers_a_known_distortion():
    rng = np.random.default_rng(0)
    true_logit = rng.normal(size=200_000)
    y = rng.random(true_logit.size) < expit(true_logit)
    line = calibration_line(y, expit(2 * true_logit - 0.5))  # so true = 0.25 + 0.5 · said
    assert line.slope == pytest.approx(0.5, abs=0.01)
    assert line.intercept == pytest.approx(0.25, abs=0.02)


def test_certain_predictions_leave_the_line_alone_when_right_and_end_it_when_wrong():
    y, p = random_case(2, 300)
    line = calibration_line(y, p)
    assert calibration_line(np.r_[y, 1, 0], np.r_[p, 1.0, 0.0]) == line
    wrong = calibration_line(np.r_[y, 0], np.r_[p, 1.0])
    assert math.isnan(wrong.slope)
    assert math.isnan(wrong.intercept)
    assert math.isnan(wrong.in_the_large)


def test_line_of_degenerate_data():
    separated = calibration_line([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9])
    assert separated.slope == math.inf
    assert math.isnan(separated.intercept)
    assert calibration_line([1, 0], [0.2, 0.7]).slope == -math.inf
    constant = calibration_line([1, 1, 1, 0], [0.5, 0.5, 0.5, 0.5])
    assert math.isnan(constant.slope)
    assert constant.in_the_large == pytest.approx(math.log(3), abs=1e-12)
    assert calibration_line([1, 1], [0.2, 0.7]).in_the_large == math.inf
    assert calibration_line([0, 0], [0.2, 0.7]).in_the_large == -math.inf
    assert math.isnan(calibration_line([1, 0], [1.0, 0.0]).slope)


@given(labelled())
def test_calibration_line_always_comes_to_an_end(case):
    y, p = case
    line = calibration_line(y, p)
    inside = (p > 0) & (p < 1)
    if math.isfinite(line.slope):
        residual = y[inside] - expit(line.intercept + line.slope * logit(p[inside]))
        assert abs(residual.mean()) < 1e-5


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("far", [-50, -100, -300, -700])
def test_one_far_mistake_does_not_throw_newton_off(share, far):
    """Undamped Newton steps overshoot here, up to overflow."""
    x = np.random.default_rng(0).normal(size=200)
    y = (x > np.quantile(x, share)).astype(int)
    x[0], y[0] = far, 1
    p = expit(x)
    line = calibration_line(y, p)
    residual = y - expit(line.intercept + line.slope * logit(p))
    assert np.abs([residual.mean(), (residual * logit(p)).mean()]).max() < 1e-8


def test_line_of_nearly_separated_data_is_still_the_maximum():
    rng = np.random.default_rng(1)
    predicted = np.sort(rng.random(400))
    y = (predicted > 0.5).astype(int)
    y[[198, 203]] = 1 - y[[198, 203]]
    line = calibration_line(y, predicted)
    residual = y - expit(line.intercept + line.slope * logit(predicted))
    assert np.abs([residual.mean(), (residual * logit(predicted)).mean()]).max() < 1e-9


def test_in_the_large_of_predictions_hundreds_of_logits_apart():
    y, p = np.array([1, 1, 0, 0]), np.array([1e-12, 1 - 1e-12, 0.3, 1e-300])
    predicted = expit(calibration_line(y, p).in_the_large + logit(p))
    assert predicted.sum() == pytest.approx(2, abs=1e-9)

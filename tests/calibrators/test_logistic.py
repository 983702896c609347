"""Logistic recalibration is logistic regression on the log-odds, without a penalty."""

import numpy as np
import pytest
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from calib.calibrators.logistic import Logistic


@pytest.mark.parametrize("seed", range(3))
def test_it_is_unpenalised_logistic_regression_on_the_log_odds(seed):
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0.02, 0.98, 500)
    y = (rng.random(500) < scores**1.5).astype(int)
    column = logit(scores)[:, None]
    peer = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(column, y)
    fitted = Logistic().fit(scores, y)
    assert fitted.coefficients_ == pytest.approx([peer.intercept_[0], peer.coef_[0, 0]], abs=1e-5)
    assert fitted.predict(scores) == pytest.approx(peer.predict_proba(column)[:, 1], abs=1e-6)


def test_an_overconfident_model_has_its_slope_found():
    """Log-odds of twice the truth's size, and a level raised by one: slope 1/2, intercept −1/2."""
    rng = np.random.default_rng(0)
    truth = rng.normal(0, 1, 400_000)
    y = (rng.random(400_000) < 1 / (1 + np.exp(-truth))).astype(int)
    scores = 1 / (1 + np.exp(-(2 * truth + 1)))
    assert Logistic().fit(scores, y).coefficients_ == pytest.approx([-0.5, 0.5], abs=0.01)

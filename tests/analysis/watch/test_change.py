"""Correction after an alarm: against other fits of the same line, and its intervals cover what was changed."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import chi2
from sklearn.linear_model import LogisticRegression

from calib.analysis.watch import watch
from calib.analysis.watch.change import correct
from calib.kernel.checks import InputError
from scripts.watch_intervals import AFTER_ALARM, CORRECTED, correction
from tests.analysis.watch.test_watcher import stream


def test_a_line_has_the_coefficients_and_errors_of_another_fit():
    y, p = stream(4000, shift=0.4, slope=0.7)
    found = correct(y, p, "recalibration")
    other = LogisticRegression(C=1e12, tol=1e-10).fit(logit(p)[:, None], y)
    assert found.intercept[1] == pytest.approx(other.intercept_[0], abs=1e-4)
    assert found.slope[1] == pytest.approx(other.coef_[0, 0], abs=1e-4)
    q = other.predict_proba(logit(p)[:, None])[:, 1]
    design = np.column_stack([np.ones(4000), logit(p)])
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ (design * (q * (1 - q))[:, None]))))
    for ends, error in zip((found.intercept, found.slope), errors, strict=True):
        assert ends[2] - ends[1] == pytest.approx(3.2905 * error, rel=1e-3)
        assert ends[1] - ends[0] == pytest.approx(ends[2] - ends[1])


@pytest.mark.parametrize("mean", [0, -3])
def test_an_offset_has_the_interval_of_its_likelihood_ratio(mean):
    """By a grid of offsets: those whose likelihood is not rejected at 0.1 %."""
    rng = np.random.default_rng(0)
    x = rng.normal(mean, 1, 600)
    y = (rng.random(600) < expit(x + 0.5)).astype(float)
    found = correct(y, expit(x), "offset")
    grid = np.linspace(-1, 2, 30_001)
    likelihood = [float(y @ (x + c) - np.logaddexp(0, x + c).sum()) for c in grid]
    inside = grid[2 * (max(likelihood) - np.array(likelihood)) <= chi2.ppf(0.999, 1)]
    assert found.intercept == pytest.approx(
        (inside[0], grid[int(np.argmax(likelihood))], inside[-1]), abs=2e-4
    )
    assert found.slope == (1, 1, 1)
    assert found.gap[1] == pytest.approx(y.mean() - expit(x).mean())


def test_the_gap_is_that_since_the_change_and_not_since_the_start():
    y, p = stream(3000, shift=0.8, calm=2000)
    found = watch(y, p)
    fitted = correct(y[found.since :], p[found.since :], found.advice)
    truth = (expit(logit(p) + 0.8) - p)[2000:].mean()
    assert fitted.gap[0] < truth < fitted.gap[2]
    assert found.level[2] < truth  # of all rows


def test_predictions_of_exactly_0_or_1_count_in_the_gap_only():
    y, p = stream(500, shift=0.5)
    with_ends = correct(np.append(y, [0, 1, 1]), np.append(p, [0, 1, 0]), "offset")
    assert with_ends.intercept == correct(y, p, "offset").intercept
    assert with_ends.rows == 503
    assert with_ends.observed == pytest.approx((y.sum() + 2) / 503)


def test_rows_without_a_correction_are_refused():
    with pytest.raises(InputError, match="one class"):
        correct(np.ones(5), np.full(5, 0.5), "offset")
    with pytest.raises(InputError, match="separate"):
        correct(np.array([0.0, 0, 1, 1]), np.array([0.1, 0.2, 0.8, 0.9]), "recalibration")
    with pytest.raises(InputError, match="advice"):
        correct(np.array([0.0, 1]), np.array([0.1, 0.2]), "nothing")


@pytest.mark.parametrize(
    ("name", "calm", "runs"),
    [
        ("level + 0.5", 500, 12),
        *(pytest.param(name, calm, 200, marks=pytest.mark.soak) for name in CORRECTED for calm in (0, 500)),
    ],
)
@pytest.mark.parametrize("after", AFTER_ALARM)
def test_the_interval_of_the_correction_contains_the_change(name, calm, runs, after):
    inside = [correction(name, seed, calm, after) for seed in range(runs)]
    known = [each for each in inside if each is not None]
    assert len(known) >= 0.85 * runs
    # 93 %, less what chance takes from it in one of 1,000 such tests
    assert np.mean(known) >= 0.93 - 3.1 * np.sqrt(0.93 * 0.07 / len(known))

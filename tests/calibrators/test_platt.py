import numpy as np
import pytest
from scipy.special import expit
from sklearn.calibration import _SigmoidCalibration

from calib.calibrators import Platt
from tests.vectors import vector


def overlapping(seed, n=400):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    return scores, (rng.random(n) < expit(2 * scores - 0.5)).astype(int), rng


@pytest.mark.parametrize("name", ["platt_small", "platt_sklearn_test"])
def test_reference_vectors(name):
    case = vector(name)
    platt = Platt().fit(case["scores"], case["labels"])
    assert (
        pytest.approx(case["platt_A"], abs=1e-12),
        pytest.approx(case["platt_B"], abs=1e-12),
    ) == (platt.A_, platt.B_)
    np.testing.assert_allclose(platt.predict(case["scores"]), case["p"], atol=1e-12)


@pytest.mark.parametrize("scale", [1, 1e-4, 1e6, 1e200])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("separable", [False, True])
def test_agrees_with_scikit_learn(scale, weighted, separable):
    scores, y, rng = overlapping(0)
    y = (scores > 0.2).astype(int) if separable else y
    weights = rng.uniform(0.1, 3, len(y)) if weighted else None
    theirs = _SigmoidCalibration().fit(scores * scale, y, weights)
    ours = Platt().fit(scores * scale, y, weights)
    new = rng.normal(size=100) * scale
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), atol=1e-6)


def test_gradient_vanishes_at_platts_targets():
    scores, y, _ = overlapping(1)
    platt = Platt().fit(scores, y)
    positive = y.sum()
    negative = len(y) - positive
    targets = np.where(y, (positive + 1) / (positive + 2), 1 / (negative + 2))
    residual = platt.predict(scores) - targets
    np.testing.assert_allclose([residual.sum(), residual @ scores], 0, atol=1e-9)


@pytest.mark.parametrize(("scale", "shift"), [(1e-300, 0), (1e300, 0), (1, 1e6), (-1, 0)])
def test_scale_and_shift_of_the_scores_do_not_matter(scale, shift):
    scores, y, _ = overlapping(2)
    p = Platt().fit(scores, y).predict(scores)
    moved = scale * scores + shift
    np.testing.assert_allclose(Platt().fit(moved, y).predict(moved), p, atol=1e-9)


def test_separable_data_stay_off_0_and_1():
    platt = Platt().fit([-2, -1, 1, 2], [0, 0, 1, 1])
    p = platt.predict([-2, -1, 1, 2])
    assert np.isfinite([platt.A_, platt.B_]).all()
    np.testing.assert_allclose(p.mean(), (2 * 1 / 4 + 2 * 3 / 4) / 4)
    assert ((p > 0.1) & (p < 0.9)).all()

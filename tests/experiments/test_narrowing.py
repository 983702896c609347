"""Widths fall as powers of n: −1 for fixed categories, about −2/3 for isotonic pools."""

import numpy as np
import pytest

from calib.calibrators import VennAbers
from calib.experiments import EXPERIMENTS
from calib.experiments.narrowing import CALIBRATION_SIZES, _widths
from calib.experiments.shared.one_feature import NormalClasses

simulate = EXPERIMENTS["narrowing"].simulate


def test_a_category_shrinks_like_one_over_n_and_isotonic_pools_slower():
    venn, abers = (simulate(random_state=0, method=method, draws=20) for method in ("venn", "venn_abers"))
    assert venn.slope == pytest.approx(-1, abs=0.02)
    assert -0.75 < abers.slope < -0.55
    assert (np.diff(abers.mean) < 0).all()
    assert (abers.low <= abers.mean).all()
    assert (abers.mean <= abers.high).all()
    assert abers.sizes.tolist() == list(CALIBRATION_SIZES)


def test_the_slope_is_that_of_a_straight_line_through_the_logarithms():
    found = simulate(random_state=1, draws=10)
    x, y = np.log(found.sizes[found.sizes >= 100]), np.log(found.mean[found.sizes >= 100])
    assert found.slope == pytest.approx(
        ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum(), abs=1e-9
    )


def test_widths_are_p1_minus_p0_of_the_inductive_predictor():
    rng = np.random.default_rng(7)
    widths = _widths("venn_abers", NormalClasses(1.0), 30, rng)
    rng = np.random.default_rng(7)
    (x, y), (new, _) = NormalClasses(1.0).draw((30,), rng), NormalClasses(1.0).draw((400,), rng)
    p0, p1 = VennAbers().fit(x, y).predict_interval(new).T
    assert np.array_equal(widths, p1 - p0)

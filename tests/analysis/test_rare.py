"""Whether predictions are mostly small: by the median over rows, each counted as often as it stands."""

from dataclasses import replace

import numpy as np
import pytest

from calib.analysis.rare import small_median
from calib.kernel.records import Predictions
from tests.figures.evaluations import evaluation


@pytest.mark.parametrize(
    ("p", "weight", "median"),
    [
        ([0.01, 0.02, 0.9], None, 0.02),
        ([0.01, 0.06, 0.9], None, None),
        ([0.01, 0.06, 0.9], [3.0, 1.0, 1.0], 0.01),
    ],
)
def test_half_of_the_rows_decide(p, weight, median):
    weights = None if weight is None else np.array(weight)
    said = Predictions(np.array([0, 0, 1]), np.array(p), weight=weights)
    found = small_median(replace(evaluation(), predictions={"none": said}))
    assert found == (None if median is None else pytest.approx(median))
    assert small_median(replace(evaluation(), predictions={})) is None

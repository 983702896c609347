"""Whether predictions are mostly small: by the median over rows, each counted as often as it stands."""

from dataclasses import replace

import numpy as np
import pytest

from calib.analysis.decision import small_median, thresholds_in_use
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
    predicted = Predictions(np.array([0, 0, 1]), np.array(p), weight=weights)
    found = small_median(replace(evaluation(), predictions={"none": predicted}))
    assert found == (None if median is None else pytest.approx(median))
    assert small_median(replace(evaluation(), predictions={})) is None


def test_thresholds_end_where_no_rule_gains_a_twentieth_of_a_perfect_one():
    rng = np.random.default_rng(0)
    p = rng.beta(0.4, 60, 20_000)
    y = (rng.random(20_000) < p).astype(int)
    found = replace(evaluation(), y=y, weight=None, predictions={"none": Predictions(y, p)})
    end = thresholds_in_use(found)
    tried = np.arange(1, 1000) / 1000
    gains = [np.mean((p > t) * np.where(y == 1, 1.0, -t / (1 - t))) for t in tried]
    last = tried[np.array(gains) >= 0.05 * y.mean()].max()
    assert 2 * y.mean() <= end
    assert last - 0.001 <= end <= 2.5 * max(last, 2 * y.mean())
    assert end in (0.01, 0.02, 0.05, 0.1)
    common = replace(found, predictions={"none": Predictions(y, np.full(len(y), 0.3))})
    assert thresholds_in_use(common) is None

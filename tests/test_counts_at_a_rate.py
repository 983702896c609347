"""A table of counts at a stated base rate: every interval is that of the rows which it counts, each worth its class."""

import numpy as np
import pandas as pd
import pytest

from calib import Dataset, Recipe, evaluate
from calib.analysis.differences import differences
from calib.analysis.validation import net_benefits, performance
from calib.evaluate import Evaluation
from calib.metrics.bootstrap import bootstrap_interval
from calib.metrics.confidence import INTERVALS

RNG = np.random.default_rng(3)
SCORE = np.round(np.linspace(0.05, 0.95, 19), 2).repeat(2)
Y = np.tile([0, 1], 19)
COUNT = RNG.binomial(60, np.where(Y == 1, SCORE, 1 - SCORE)) + 1
RATE = 0.1


def judged(counted: bool) -> Evaluation:
    """All rows calibrate and all are judged, so that nothing but the form of the table differs."""
    times = np.ones(len(Y), dtype=int) if counted else COUNT
    score, y = np.repeat(SCORE, times), np.repeat(Y, times)
    part = np.tile([0, 2], len(y))
    data = Dataset(
        "rows",
        pd.DataFrame({"s": np.repeat(score, 2)}),
        np.repeat(y, 2),
        predictions=True,
        weight=np.repeat(COUNT.astype(float), 2) if counted else None,
        part=part,
    )
    recipe = Recipe(calibrators=("none", "platt"), split="file", part="part", base_rate=RATE, bins=10)
    return evaluate(recipe, data)


@pytest.fixture(scope="module")
def both() -> tuple[Evaluation, Evaluation]:
    return judged(True), judged(False)


def test_intervals_of_counts_at_a_stated_rate_are_those_of_their_rows(both):
    counts, rows = (performance(one, tuple(INTERVALS)).set_index(["metric", "calibrator"]) for one in both)
    pd.testing.assert_frame_equal(counts, rows, rtol=1e-6, atol=1e-9)
    pd.testing.assert_frame_equal(*(net_benefits(one) for one in both), rtol=1e-9, atol=1e-12)


def test_differences_and_resamples_are_those_of_the_rows(both):
    ends = [differences(one, ("auc", "ece", "brier"), random_state=1).table for one in both]
    pd.testing.assert_frame_equal(*ends, rtol=1e-6, atol=1e-9)
    counts, rows = both
    for metric in ("brier", "auc", "log_loss"):
        held = {"random_state": 2, "repeats": 2000}
        one = bootstrap_interval(
            metric,
            counts.y,
            counts.predictions["none"].p,
            sample_weight=counts.weight,
            counts=counts.counts,
            **held,
        )
        other = bootstrap_interval(
            metric, rows.y, rows.predictions["none"].p, sample_weight=rows.weight, **held
        )
        assert one.value == pytest.approx(other.value, rel=1e-9)
        assert one.standard_error == pytest.approx(other.standard_error, rel=0.08)

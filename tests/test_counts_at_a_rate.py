"""A table of counts at a stated base rate: every interval is that of the rows which it counts, each worth its class."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from calib import Dataset, Recipe, evaluate
from calib.analysis.curves import binned_curve, corp_curve, curve_of, histogram, smooth_curve
from calib.analysis.differences import differences
from calib.analysis.label_shift import estimate_base_rate
from calib.analysis.sample_size import sample_size
from calib.analysis.validation import net_benefits, performance, rows_needed
from calib.evaluate import Evaluation
from calib.kernel.base_rate import class_weights
from calib.metrics import (
    METRICS,
    interval_bins,
    interval_summary,
)
from calib.metrics.bootstrap import bootstrap_interval
from calib.metrics.confidence_intervals import INTERVALS, confidence_interval

RNG = np.random.default_rng(3)
SCORE = np.round(np.linspace(0.05, 0.95, 19), 2).repeat(2)
Y = np.tile([0, 1], 19)
COUNT = RNG.binomial(60, np.where(Y == 1, SCORE, 1 - SCORE)) + 1
RATE = 0.1


def judged(counted: bool, clusters: int = 0) -> Evaluation:
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
        cluster=np.repeat(np.repeat(np.arange(len(Y)) % clusters, times), 2) if clusters else None,
    )
    recipe = Recipe(
        calibrators=("none", "platt"),
        split="file",
        part="part",
        cluster="cluster" if clusters else None,
        base_rate=RATE,
        bins=10,
    )
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


def test_every_metric_and_needed_rows_of_counts_at_a_stated_rate_are_those_of_their_rows(both):
    counts, rows = both
    pd.testing.assert_frame_equal(counts.measured(METRICS), rows.measured(METRICS), rtol=1e-9, atol=1e-12)
    p, times = counts.predictions["platt"].p, counts.counts.astype(int)
    one = sample_size(counts.y, p, sample_weight=counts.weight, counts=counts.counts)
    other = sample_size(counts.y.repeat(times), p.repeat(times), sample_weight=rows.weight)
    assert one.rows == other.rows
    assert [each.rows for each in one.needed] == [each.rows for each in other.needed]
    pairs = np.column_stack([p, p + 0.02]).clip(0, 1)
    lines, spelt = (
        interval_summary(y, ends, sample_weight=each.weight, counts=each.counts, calibration_size=400)
        for y, ends, each in ((counts.y, pairs, counts), (rows.y, pairs.repeat(times, axis=0), rows))
    )
    assert lines.valid == spelt.valid
    assert lines.observed == pytest.approx(spelt.observed)


@pytest.mark.parametrize("factor", [0.001, 0.37, 250.3])
def test_the_scale_of_weights_that_are_no_counts_does_not_matter_to_what_counts_rows(factor):
    p = RNG.random(300)
    y, weights = (RNG.random(300) < p).astype(int), RNG.gamma(1, size=300)
    pairs = np.column_stack([p * 0.9, p])
    for of in (
        lambda w: [(each.rows, each.here) for each in sample_size(y, p, sample_weight=w).needed],
        lambda w: dataclasses.astuple(estimate_base_rate(p, 0.5, sample_weight=w))[:3],
        lambda w: dataclasses.astuple(interval_summary(y, pairs, sample_weight=w)),
        lambda w: interval_bins(y, pairs, p, sample_weight=w).to_frame(),
        lambda w: binned_curve(y, p, sample_weight=w).to_frame(),
        lambda w: corp_curve(y, p, band="confidence", repeats=40, sample_weight=w).to_frame(),
        lambda w: smooth_curve(y, p, sample_weight=w).to_frame(),
        lambda w: class_weights(y, 0.2, w),
        lambda w: [confidence_interval(key, y, p, w) for key in INTERVALS],
    ):
        np.testing.assert_allclose(
            np.asarray(of(factor * weights), float), np.asarray(of(weights), float), rtol=1e-6
        )


def test_curves_and_needed_rows_of_counts_at_a_stated_rate_are_those_of_their_rows(both):
    for kind in ("binned", "smoothed", "corp"):
        one, other = (curve_of(each, "platt", kind).to_frame() for each in both)
        pd.testing.assert_frame_equal(one, other, rtol=1e-6, atol=1e-9)
    one, other = (rows_needed(each)[1] for each in both)
    assert (one.rows, [each.rows for each in one.needed]) == (
        other.rows,
        [each.rows for each in other.needed],
    )
    bars, own = (
        histogram(each.y, each.predictions["none"].p, bins=10, sample_weight=each.weight) for each in both
    )
    np.testing.assert_allclose(bars.count, own.count)


def test_rows_needed_of_counts_in_clusters_at_a_stated_rate_are_those_of_their_rows():
    """The table of counts asked for a quarter of the rows that its rows, one by one, asked for."""
    one, other = (rows_needed(judged(counted, clusters=12))[1] for counted in (True, False))
    assert [each.rows for each in one.needed] == [each.rows for each in other.needed]
    assert one.rows == other.rows

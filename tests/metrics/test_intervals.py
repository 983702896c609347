import numpy as np
import pytest
from hypothesis import given

from calib.kernel.checks import InputError
from calib.metrics import (
    accuracy,
    interval_bins,
    interval_summary,
    predicted_label_intervals,
    predicted_label_summary,
)

from .cases import pairs


@given(pairs())
def test_summary_is_the_means_of_the_sorted_pairs(case):
    y, intervals = case
    s = interval_summary(y, intervals)
    low, high = [min(pair) for pair in intervals], [max(pair) for pair in intervals]
    assert s.lower == pytest.approx(np.mean(low), abs=1e-12)
    assert s.upper == pytest.approx(np.mean(high), abs=1e-12)
    assert s.width == pytest.approx(np.mean(np.subtract(high, low)), abs=1e-12)
    assert s.observed == pytest.approx(np.mean(y), abs=1e-12)
    if s.lower <= s.observed <= s.upper:
        assert s.valid


def test_well_outside_is_not_valid_and_a_little_outside_is():
    y = np.repeat([0, 1], 50)
    assert interval_summary(y, np.tile([0.4, 0.6], (100, 1))).valid
    assert interval_summary(y, np.tile([0.52, 0.55], (100, 1))).valid
    assert interval_summary(y, np.tile([0.45, 0.48], (100, 1))).valid
    assert not interval_summary(y, np.tile([0.7, 0.9], (100, 1))).valid
    assert not interval_summary(y, np.tile([0.1, 0.3], (100, 1))).valid


def test_what_was_certain_and_wrong_is_not_valid():
    assert not interval_summary([1, 1, 1], [[0, 0], [0, 0], [0, 0]]).valid
    assert interval_summary([0, 0, 0], [[0, 0], [0, 0], [0, 0]]).valid
    assert not interval_summary([0, 0, 0], [[1, 1], [1, 1], [1, 1]]).valid


def test_a_rare_event_that_did_not_come_contradicts_nothing():
    assert interval_summary(np.zeros(100, int), np.tile([0.01, 0.02], (100, 1))).valid


def test_exact_probabilities_are_called_invalid_once_in_twenty():
    rng = np.random.default_rng(0)
    valid = []
    for _ in range(2000):
        p = rng.beta(1, 3, size=300)
        valid.append(interval_summary(rng.random(300) < p, np.column_stack([p, p])).valid)
    assert np.mean(valid) == pytest.approx(0.95, abs=0.015)


def test_narrow_intervals_of_a_small_calibration_set_are_valid_once_its_size_is_known():
    """A Venn predictor with one category of 200 rows: [k/201, (k + 1)/201], on 2000 test rows."""
    rng = np.random.default_rng(1)
    knowing, not_knowing = [], []
    for _ in range(1000):
        k, y = rng.binomial(200, 0.3), rng.random(2000) < 0.3
        intervals = np.tile([k / 201, (k + 1) / 201], (2000, 1))
        knowing.append(interval_summary(y, intervals, calibration_size=200).valid)
        not_knowing.append(interval_summary(y, intervals).valid)
    assert np.mean(knowing) > 0.94
    assert np.mean(not_knowing) < 0.7


@given(pairs())
def test_predicted_label_has_the_larger_lower_probability(case):
    _, intervals = case
    labels, ends = predicted_label_intervals(intervals)
    for label, (low, high), pair in zip(labels, ends, intervals, strict=True):
        p0, p1 = sorted(pair)
        assert label == (1 if p0 > 1 - p1 else 0)  # eq. 5
        assert (low, high) == ((p0, p1) if label else (1 - p1, 1 - p0))  # eq. 6
        assert low >= (1 - p1 if label else p0)


@given(pairs())
def test_every_merge_rule_predicts_that_label(case):
    _, intervals = case
    p0, p1 = np.sort(intervals, axis=1).T
    labels, _ = predicted_label_intervals(intervals)
    clear = np.abs(p0 + p1 - 1) > 1e-6  # nearer the square rule is ½ to rounding
    for merged in (p1 / (1 - p0 + p1), p1 + p0**2 / 2 - p1**2 / 2, (p0 + p1) / 2):
        np.testing.assert_array_equal((merged > 0.5)[clear], (labels == 1)[clear])


@given(pairs())
def test_predicted_label_summary_observes_the_accuracy(case):
    y, intervals = case
    s = predicted_label_summary(y, intervals)
    _, ends = predicted_label_intervals(intervals)
    assert s.observed == pytest.approx(np.mean(predicted_label_intervals(intervals)[0] == y))
    assert [s.lower, s.upper] == pytest.approx(ends.mean(axis=0).tolist(), abs=1e-12)
    midpoint = intervals.mean(axis=1)
    if (np.abs(midpoint - 0.5) > 1e-9).all():
        assert s.observed == pytest.approx(accuracy(y, midpoint), abs=1e-12)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_interval_bins_are_summaries_of_their_members(strategy):
    rng = np.random.default_rng(4)
    by = rng.random(203) ** 2
    intervals = np.column_stack([by, rng.random(203)])
    y = (rng.random(203) < by).astype(int)
    b = interval_bins(y, intervals, by, bins=7, strategy=strategy)
    assert b.count.sum() == 203
    for k in range(7):
        last = k == 6
        inside = (by >= b.edges[k]) & ((by <= b.edges[k + 1]) if last else (by < b.edges[k + 1]))
        s = interval_summary(y[inside], intervals[inside])
        assert b.count[k] == inside.sum()
        assert [b.lower[k], b.upper[k], b.width[k], b.observed[k]] == pytest.approx(
            [s.lower, s.upper, s.width, s.observed], abs=1e-12
        )
        assert b.center[k] == pytest.approx(by[inside].mean(), abs=1e-12)


def test_empty_bins_say_nothing_and_margins_can_be_binned():
    b = interval_bins([1, 0], [[0.2, 0.3], [0.1, 0.9]], [0.05, 0.95], bins=10, strategy="uniform")
    assert b.count.tolist() == [1] + [0] * 8 + [1]
    assert np.isnan(b.lower[1:-1]).all()
    assert np.isnan(b.observed[1:-1]).all()
    margins = interval_bins([1, 0, 1], np.full((3, 2), 0.5), [-5.0, 2.0, 7.0], bins=2)
    assert margins.count.sum() == 3
    with pytest.raises(InputError, match="by"):
        interval_bins([1, 0], np.full((2, 2), 0.5), [-5.0, 2.0], strategy="uniform")


@pytest.mark.parametrize(
    ("y", "intervals", "says"),
    [
        ([1, 0], [[0.1, 0.2]], "Lengths differ"),
        ([1], [0.1, 0.2], "shape"),
        ([1], [[0.1, 0.2, 0.3]], "shape"),
        ([1], [[0.1, 1.2]], r"\[0, 1\]"),
        ([1], [[0.1, float("nan")]], "NaN"),
        ([2], [[0.1, 0.2]], "labels 0 and 1"),
        (np.empty(0, int), np.empty((0, 2)), "empty"),
    ],
)
def test_bad_input_is_refused_by_name(y, intervals, says):
    for function in (interval_summary, predicted_label_summary):
        with pytest.raises(InputError, match=says):
            function(y, intervals)

"""Metrics of K classes by their definitions, written out row by row, and beside scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.metrics import log_loss as sklearn_log_loss

from calib.kernel.checks import InputError
from calib.metrics import (
    accuracy,
    auc,
    brier_score,
    classwise_calibration_error,
    confidence_calibration_error,
    expected_calibration_error,
    log_loss,
    top_label_calibration_error,
)

RNG = np.random.default_rng(3)
N, K = 400, 4
P = RNG.dirichlet(np.full(K, 0.7), N)
Y = np.array([RNG.choice(K, p=row) for row in P])
WEIGHT = RNG.integers(1, 4, N)


def ece(hit, p, bins):
    """The definition, bin by bin."""
    place = np.minimum((p * bins).astype(int), bins - 1)
    return sum(abs(hit[place == b].mean() - p[place == b].mean()) * (place == b).mean() for b in set(place))


def test_scores_are_scikit_learns():
    assert log_loss(Y, P) == pytest.approx(sklearn_log_loss(Y, P), abs=1e-12)
    assert brier_score(Y, P) == pytest.approx(brier_score_loss(Y, P, scale_by_half=False), abs=1e-12)
    assert accuracy(Y, P) == np.mean(P.argmax(axis=1) == Y)
    assert auc(Y, P) == pytest.approx(roc_auc_score(Y, P, multi_class="ovr", average="macro"), abs=1e-12)


@pytest.mark.parametrize("bins", [5, 15])
def test_calibration_errors_are_their_definitions(bins):
    top, first = P.max(axis=1), P.argmax(axis=1)
    assert confidence_calibration_error(Y, P, bins) == pytest.approx(ece(first == Y, top, bins), abs=1e-12)
    by_hand = sum((first == k).mean() * ece(Y[first == k] == k, top[first == k], bins) for k in range(K))
    assert top_label_calibration_error(Y, P, bins) == pytest.approx(by_hand, abs=1e-12)
    by_hand = np.mean([ece(k == Y, P[:, k], bins) for k in range(K)])
    assert classwise_calibration_error(Y, P, bins) == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.parametrize(
    "metric",
    [
        *(log_loss, brier_score, accuracy, auc),
        *(confidence_calibration_error, top_label_calibration_error, classwise_calibration_error),
    ],
)
def test_whole_weights_repeat_rows(metric):
    repeated = metric(np.repeat(Y, WEIGHT), np.repeat(P, WEIGHT, axis=0))
    assert metric(Y, P, sample_weight=WEIGHT) == pytest.approx(repeated, abs=1e-12)


def test_of_two_classes_the_brier_score_is_twice_and_the_others_are_those_of_two():
    p = RNG.random(N)
    y, both = (RNG.random(N) < p).astype(int), np.column_stack([1 - p, p])
    assert brier_score(y, both) == pytest.approx(2 * brier_score(y, p), abs=1e-12)
    assert log_loss(y, both) == pytest.approx(log_loss(y, p), abs=1e-12)
    assert auc(y, both) == pytest.approx(auc(y, p), abs=1e-12)
    by_class = (expected_calibration_error(y, p, 15) + expected_calibration_error(1 - y, 1 - p, 15)) / 2
    assert classwise_calibration_error(y, both) == pytest.approx(by_class, abs=1e-12)


def test_bias_correction_takes_away_what_chance_adds():
    """Labels are drawn from P, so each error is due to chance; corrected, the mean of many is near 0."""
    draws = [np.array([RNG.choice(K, p=row) for row in P]) for _ in range(20)]
    plain = np.mean([confidence_calibration_error(y, P, 10) for y in draws])
    corrected = np.mean([confidence_calibration_error(y, P, 10, debiased=True) for y in draws])
    assert corrected < 0.75 * plain


@pytest.mark.parametrize(
    ("y", "p", "said"),
    [
        ([0, 3], [[0.5, 0.3, 0.2]] * 2, "from 0 to 2, but contains 3"),
        ([0, 0.5], [[0.5, 0.3, 0.2]] * 2, "from 0 to 2"),
        ([0, 1], [[0.5, 0.3, 0.1]] * 2, "2 of 2 do not .row 0 sums to 0.9"),
        ([0, 1], [[1.5, -0.3, -0.2]] * 2, "must lie in"),
        ([0], [[0.5, 0.3, 0.2]] * 2, "Lengths differ"),
        ([], np.empty((0, 3)), "y is empty"),
    ],
)
def test_bad_input_is_refused_by_name(y, p, said):
    for metric in (log_loss, classwise_calibration_error):
        with pytest.raises(InputError, match=said):
            metric(y, p)

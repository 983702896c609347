import math

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given

from calib.kernel.checks import InputError
from calib.metrics import accuracy, accuracy_gap, auc, brier_score, log_loss, log_loss_clipped, rmse

from .cases import labelled, random_case


@pytest.mark.parametrize("decimals", [None, 2, 1])
def test_scores_agree_with_scikit_learn(decimals):
    y, p = random_case(1, 2000, decimals)
    p = np.clip(p, 0.01, 0.99)
    assert brier_score(y, p) == pytest.approx(sklearn.metrics.brier_score_loss(y, p), abs=1e-14)
    assert rmse(y, p) == pytest.approx(sklearn.metrics.root_mean_squared_error(y, p), abs=1e-14)
    assert log_loss(y, p) == pytest.approx(sklearn.metrics.log_loss(y, p), abs=1e-14)
    assert log_loss(y, p, base=2) == pytest.approx(sklearn.metrics.log_loss(y, p) / math.log(2), abs=1e-14)
    assert accuracy(y, p) == pytest.approx(sklearn.metrics.accuracy_score(y, p > 0.5), abs=1e-14)
    assert auc(y, p) == pytest.approx(sklearn.metrics.roc_auc_score(y, p), abs=1e-12)


@given(labelled())
def test_auc_is_the_share_of_ordered_pairs(case):
    y, p = case
    ones, zeros = p[y == 1], p[y == 0]
    if ones.size == 0 or zeros.size == 0:
        assert math.isnan(auc(y, p))
        return
    wins = sum((a > b) + 0.5 * (a == b) for a in ones for b in zeros)
    assert auc(y, p) == pytest.approx(wins / (ones.size * zeros.size), abs=1e-12)


@given(labelled())
def test_log_loss_is_infinite_exactly_when_a_certain_prediction_is_wrong(case):
    y, p = case
    wrong = any(p_i == 1 - y_i for y_i, p_i in zip(y, p, strict=True))
    assert math.isinf(log_loss(y, p)) == wrong
    assert log_loss(y, p) >= 0
    assert math.isfinite(log_loss_clipped(y, p))


def test_right_and_certain_costs_nothing_and_is_no_negative_zero():
    assert str(log_loss([1, 0], [1.0, 0.0])) == "0.0"
    assert log_loss([1], [0.0]) == math.inf


def test_tiny_probabilities_are_not_lost():
    assert log_loss([0], [1e-20]) / 1e-20 == pytest.approx(1, rel=1e-12)
    assert log_loss([1], [1e-300]) == pytest.approx(300 * math.log(10), rel=1e-12)


def test_clipped_log_loss_is_scikit_learns():
    y, p = np.array([1, 0, 1, 0, 1]), np.array([0.0, 1.0, 1.0, 0.25, 1e-18])
    assert log_loss_clipped(y, p) == pytest.approx(sklearn.metrics.log_loss(y, p), rel=1e-12)
    P = np.array([[0.0, 0.25, 0.75], [1.0, 0.0, 0.0], [0.5, 0.25, 0.25]])
    ours, theirs = log_loss_clipped([0, 0, 2], P), sklearn.metrics.log_loss([0, 0, 2], P, labels=[0, 1, 2])
    assert ours == pytest.approx(theirs, rel=1e-12)


@given(labelled())
def test_accuracy_gap_is_mean_confidence_minus_accuracy(case):
    y, p = case
    confidence = np.mean([max(v, 1 - v) for v in p])
    assert accuracy_gap(y, p) == pytest.approx(confidence - accuracy(y, p), abs=1e-12)


def test_one_half_predicts_class_zero():
    assert accuracy([0, 0], [0.5, np.nextafter(0.5, 1)]) == 0.5


@pytest.mark.parametrize(
    "metric", [accuracy, accuracy_gap, auc, brier_score, log_loss, log_loss_clipped, rmse]
)
@pytest.mark.parametrize(
    ("y", "p", "says"),
    [
        ([1, 0], [0.5], "Lengths differ"),
        ([1, 2], [0.5, 0.5], "labels 0 and 1"),
        ([-1, 1], [0.5, 0.5], "labels 0 and 1"),
        ([1, 0], [0.5, float("nan")], "NaN"),
        ([1, 0], [0.5, 1.5], r"\[0, 1\]"),
        ([], [], "empty"),
    ],
)
def test_bad_input_is_refused_by_name(metric, y, p, says):
    with pytest.raises(InputError, match=says):
        metric(y, p)


@pytest.mark.parametrize("base", [1, 0.5, -2, float("nan"), "2"])
def test_a_base_that_is_none_is_refused(base):
    with pytest.raises(InputError, match="base"):
        log_loss([1], [0.5], base=base)

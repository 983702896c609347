import math

import numpy as np
import pytest
import scipy.stats

from calib.kernel.checks import InputError
from calib.metrics import (
    METRICS,
    accuracy,
    auc,
    bootstrap_interval,
    brier_score,
    expected_calibration_error,
    interval_summary,
    log_loss,
)

from .cases import random_case


@pytest.mark.parametrize("bins", [5, 20])
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_ece_options_reach_the_resamples(bins, strategy):
    y, p = random_case(1, 80)
    found = bootstrap_interval("ece", y, p, repeats=50, random_state=0, bins=bins, strategy=strategy)
    same = bootstrap_interval(
        lambda y, p: expected_calibration_error(y, p, bins, strategy), y, p, repeats=50, random_state=0
    )
    assert vars(found) == pytest.approx(vars(same), abs=1e-12)


@pytest.mark.parametrize("metric", [brier_score, log_loss, auc, accuracy])
def test_intervals_agree_with_scipys_percentile_bootstrap(metric):
    y, p = random_case(2, 100)
    ours = bootstrap_interval(metric, y, p, repeats=4000, level=0.9, random_state=0)
    theirs = scipy.stats.bootstrap(
        (y, p),
        metric,
        paired=True,
        vectorized=False,
        n_resamples=4000,
        confidence_level=0.9,
        method="percentile",
        rng=np.random.default_rng(1),
    )
    tolerance = 0.15 * theirs.standard_error
    assert ours.lower == pytest.approx(theirs.confidence_interval.low, abs=tolerance)
    assert ours.upper == pytest.approx(theirs.confidence_interval.high, abs=tolerance)
    assert ours.standard_error == pytest.approx(theirs.standard_error, rel=0.05)


def test_the_standard_error_of_a_mean_is_the_textbooks():
    y, p = random_case(3, 400)
    losses = (y - p) ** 2
    found = bootstrap_interval("brier", y, p, repeats=5000, random_state=0)
    assert found.standard_error == pytest.approx(losses.std() / 20, rel=0.05)
    assert found.bias == pytest.approx(0, abs=4 * found.standard_error / math.sqrt(5000))


def test_intervals_cover_the_true_brier_score():
    rng = np.random.default_rng(4)
    covered = []
    for seed in range(200):
        p = rng.random(150)
        found = bootstrap_interval("brier", rng.random(150) < p, p, repeats=300, level=0.9, random_state=seed)
        covered.append(found.lower <= 1 / 6 <= found.upper)  # ∫ p(1 − p) dp
    assert np.mean(covered) == pytest.approx(0.9, abs=0.05)


def test_ece_of_calibrated_predictions_shows_its_bias():
    rng = np.random.default_rng(7)
    p = rng.random(500)
    found = bootstrap_interval("ece", rng.random(500) < p, p, random_state=0)
    assert found.bias > found.standard_error


def test_resamples_of_one_class_do_not_count_for_auc():
    y, p = np.array([0, 0, 0, 0, 1]), np.array([0.1, 0.2, 0.3, 0.4, 0.35])
    found = bootstrap_interval("auc", y, p, repeats=2000, random_state=0)
    assert found.repeats / 2000 == pytest.approx(1 - 0.8**5 - 0.2**5, abs=0.04)
    assert 0 <= found.lower <= found.upper <= 1
    none = bootstrap_interval("auc", [1, 1], [0.2, 0.3], repeats=10, random_state=0)
    assert math.isnan(none.value)
    assert math.isnan(none.lower)


@pytest.mark.filterwarnings("error")
def test_one_resample_has_no_spread():
    y, p = random_case(5, 50)
    found = bootstrap_interval("brier", y, p, repeats=1, random_state=0)
    assert found.lower == found.upper == found.value + found.bias != found.value
    assert math.isnan(found.standard_error)


def test_infinite_losses_stay_infinite():
    y, p = np.array([1, 0, 1, 0]), np.array([0.0, 0.5, 0.5, 0.5])
    found = bootstrap_interval("log_loss", y, p, repeats=500, level=0.5, random_state=0)
    assert found.value == math.inf
    assert found.lower == pytest.approx(math.log(2))  # a third of the resamples miss the wrong one
    assert found.upper == math.inf


def test_metrics_of_intervals_and_posteriors_can_be_resampled():
    y, p = random_case(8, 50)
    intervals = np.column_stack([p * 0.9, p])
    found = bootstrap_interval("width", y, intervals, repeats=50, random_state=0)
    assert found.lower <= interval_summary(y, intervals).width <= found.upper
    truth = p**1.1
    assert bootstrap_interval("tce", truth, p, repeats=50, random_state=0).value == METRICS["tce"].function(
        truth, p
    )


def test_the_seed_decides_and_another_seed_differs():
    y, p = random_case(9, 50)
    first, again, other = (bootstrap_interval("ece", y, p, repeats=50, random_state=s) for s in (0, 0, 1))
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"metric": "breir"}, "metric"),
        ({"repeats": 0}, "repeats"),
        ({"level": 1.0}, "level"),
        ({"level": 1.5}, "level"),
        ({"y": [1]}, "Lengths differ"),
        ({"p": [0.2, 1.3]}, r"\[0, 1\]"),
    ],
)
def test_bad_input_is_refused_by_name(arguments, says):
    with pytest.raises(InputError, match=says):
        bootstrap_interval(
            **({"metric": "brier", "y": [1, 0], "p": [0.2, 0.3], "random_state": 0} | arguments)
        )


def test_an_option_the_metric_does_not_have_is_refused():
    with pytest.raises(TypeError, match="bins"):
        bootstrap_interval("brier", [1, 0], [0.2, 0.3], random_state=0, bins=5)

import inspect
import math
import re
from dataclasses import FrozenInstanceError, asdict, replace

import numpy as np
import pytest

from calib import metrics
from calib.kernel.checks import InputError
from calib.metrics import METRICS, corp_decomposition, murphy_decomposition

from .cases import random_case


def arguments(metric, n=60, seed=0):
    y, p = random_case(seed, n, decimals=2)
    p = p.clip(0.01, 0.99)
    if metric.needs == "intervals":
        return y, np.column_stack([p, (p + 0.1).clip(0, 1)])
    return (p**1.2 if metric.needs == "posterior" else y), p


every = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS.keys())


def test_the_keys_that_studies_and_tables_name_are_there():
    assert {
        "accuracy",
        "auc",
        "brier",
        "log_loss",
        "ece",
        "reliability",
        "resolution",
        "tce",
    } <= METRICS.keys()
    assert [key for key, metric in METRICS.items() if metric.key != key] == []
    assert len({metric.label for metric in METRICS.values()}) == len(METRICS)


@every
def test_entries_are_complete(metric):
    assert re.fullmatch("[a-z][a-z0-9_]*", metric.key)
    assert metric.needs in {"probabilities", "intervals", "posterior"}
    assert metric.higher_is_better in (True, False, None)
    assert metric.help.endswith(".")
    assert ">>>" in metric.function.__doc__
    assert float(format(0.1234, metric.format).rstrip("%")) > 0
    assert metric.target is None or metric.higher_is_better is None
    assert metric.binned == ({"bins", "strategy"} <= inspect.signature(metric.function).parameters.keys())
    with pytest.raises(FrozenInstanceError):
        metric.key = "other"


@every
def test_functions_give_a_number_do_not_touch_their_input_and_ignore_the_order_of_rows(metric):
    first, second = arguments(metric)
    kept = first.copy(), second.copy()
    value = metric.function(first, second)
    assert type(value) is float
    assert math.isfinite(value)
    np.testing.assert_array_equal(first, kept[0])
    np.testing.assert_array_equal(second, kept[1])
    shuffled = np.random.default_rng(0).permutation(len(first))
    assert metric.function(first[shuffled], second[shuffled]) == pytest.approx(value, abs=1e-9)
    assert metric.function(first.tolist(), second.tolist()) == value


@every
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_whole_weights_are_repeated_rows_and_zero_weights_absent_ones(metric, strategy):
    first, second = arguments(metric)
    weights = np.random.default_rng(4).integers(0, 4, len(first))
    options = {"bins": 7, "strategy": strategy} if metric.binned else {}
    repeated = metric.function(
        np.repeat(first, weights, axis=0), np.repeat(second, weights, axis=0), **options
    )
    assert metric.function(first, second, sample_weight=weights, **options) == pytest.approx(
        repeated, abs=1e-9
    )
    assert metric.function(first, second, sample_weight=np.ones(len(first)), **options) == pytest.approx(
        metric.function(first, second, **options), abs=1e-12
    )
    for wrong in (weights[1:], -weights, weights * 0):
        with pytest.raises(InputError, match="sample_weight"):
            metric.function(first, second, sample_weight=wrong)


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (metrics.murphy_decomposition, {"bins": 9}),
        (metrics.corp_decomposition, {}),
        (metrics.corp_decomposition, {"loss": "log"}),
        (metrics.loss_decomposition, {}),
        (metrics.loss_decomposition, {"loss": "log"}),
        (metrics.loss_decomposition, {"groups": 6}),
        (metrics.loss_decomposition, {"groups": 6, "loss": "log"}),
        (metrics.calibration_line, {}),
        (metrics.interval_summary, {"calibration_size": 30}),
        (metrics.predicted_label_summary, {}),
        (metrics.log_loss, {"base": 2}),
    ],
)
def test_weights_are_repetitions_in_every_term_too(function, options):
    needs = {
        "loss_decomposition": "posterior",
        "interval_summary": "intervals",
        "predicted_label_summary": "intervals",
    }
    metric = replace(METRICS["brier"], needs=needs.get(function.__name__, "probabilities"))
    first, second = arguments(metric)
    weights = np.random.default_rng(6).integers(0, 4, len(first))
    predicted = function(first, second, sample_weight=weights, **options)
    repeated = function(np.repeat(first, weights, axis=0), np.repeat(second, weights, axis=0), **options)
    if isinstance(predicted, float):
        assert predicted == pytest.approx(repeated, abs=1e-12)
    else:
        assert asdict(predicted) == pytest.approx(asdict(repeated), abs=1e-9)


@every
@pytest.mark.parametrize("factor", [0.001, 0.37, 250.3])
def test_the_scale_of_weights_that_are_no_counts_does_not_matter(metric, factor):
    first, second = arguments(metric)
    weights = np.random.default_rng(5).random(len(first)) + 0.1
    equal = np.full(len(first), factor)
    assert metric.function(first, second, sample_weight=equal) == metric.function(
        first, second, sample_weight=np.ones(len(first))
    )
    if metric.key in ("miscalibration_chance", "debiased_ce"):
        with pytest.raises(InputError, match="counts rows"):
            metric.function(first, second, sample_weight=factor * weights)
        return
    one, other = (metric.function(first, second, sample_weight=each * weights) for each in (1, factor))
    assert one == pytest.approx(other, rel=1e-9, abs=1e-12)


def test_p_values_of_weighted_rows_are_uniform_where_the_probabilities_are_right():
    """Weights that depend on p, as at a stated base rate: what Kish's factor alone gets wrong."""
    rng, weights = np.random.default_rng(7), None
    found = {metrics.spiegelhalter_test: [], metrics.cumulative_differences: []}
    for _ in range(400):
        p = rng.beta(1, 3, 400)
        weights = 0.01 + p**2 * rng.lognormal(0, 1, 400)
        y = (rng.random(400) < p).astype(int)
        found[metrics.spiegelhalter_test].append(metrics.spiegelhalter_test(y, p, weights).pvalue)
        found[metrics.cumulative_differences].append(metrics.cumulative_differences(y, p, weights).kuiper_p)
    z, walk = (np.mean(np.array(each) < 0.05) for each in found.values())
    assert 0.02 <= z <= 0.08
    assert walk <= 0.08  # the walk has few steps that count: it is cautious


@pytest.mark.parametrize("of", [metrics.spiegelhalter_test, metrics.cumulative_differences])
def test_counts_that_are_worth_more_than_rows_are_those_of_the_repeated_rows(of):
    rng = np.random.default_rng(9)
    p, counts = rng.random(60), rng.integers(1, 30, 60)
    y = (rng.random(60) < p).astype(int)
    worth = np.where(y == 1, 0.3, 1.7)
    lines = of(y, p, counts * worth, counts=counts)
    rows = of(*(np.repeat(each, counts) for each in (y, p, worth)))
    for name in ("statistic", "pvalue") if hasattr(lines, "pvalue") else ("kuiper", "kuiper_p", "sigma"):
        assert getattr(lines, name) == pytest.approx(getattr(rows, name), rel=1e-9)
    with pytest.raises(InputError, match="counts"):
        of(y, p, counts * worth, counts=counts - 1)


@every
def test_bad_input_is_refused_by_name(metric):
    first, second = arguments(metric)
    broken = second.copy()
    broken.flat[3] = np.nan
    for bad in (broken, second + 2):
        with pytest.raises(InputError, match="NaN" if bad is broken else r"\[0, 1\]"):
            metric.function(first, bad)
    if metric.key != "group_entropy":
        with pytest.raises(InputError, match="Lengths differ"):
            metric.function(first[:-1], second)
        with pytest.raises(InputError, match=r"labels 0 and 1|posterior"):
            metric.function(first + 1, second)


@pytest.mark.parametrize(
    "key", [k for k, m in METRICS.items() if m.needs == "probabilities" and m.higher_is_better is not None]
)
def test_the_direction_is_that_of_a_perfect_forecast(key):
    metric = METRICS[key]
    y, p = arguments(metric, 200)
    perfect, predicted = metric.function(y, y.astype(float)), metric.function(y, p)
    assert perfect > predicted if metric.higher_is_better else perfect < predicted


@pytest.mark.parametrize("key", ["slope", "intercept", "spiegelhalter_z", "accuracy_gap"])
def test_targets_are_what_calibrated_predictions_come_near(key):
    rng = np.random.default_rng(1)
    p = rng.beta(2, 2, size=100_000)
    value = METRICS[key].function(rng.random(p.size) < p, p)
    assert value == pytest.approx(METRICS[key].target, abs=3 if key == "spiegelhalter_z" else 0.03)


def test_entries_hand_on_the_right_term():
    y, p = random_case(3)
    murphy, corp = murphy_decomposition(y, p), corp_decomposition(y, p)
    for key in ("reliability", "resolution", "uncertainty", "within"):
        assert METRICS[key].function(y, p) == getattr(murphy, key)
    for key in ("miscalibration", "discrimination"):
        assert METRICS[key].function(y, p) == getattr(corp, key)
    line, test = metrics.calibration_line(y, p), metrics.spiegelhalter_test(y, p)
    assert METRICS["slope"].function(y, p) == line.slope
    assert METRICS["intercept"].function(y, p) == line.intercept
    assert METRICS["spiegelhalter_z"].function(y, p) == test.statistic
    assert METRICS["spiegelhalter_p"].function(y, p) == test.pvalue
    assert METRICS["group_entropy"].function(y, p) == metrics.group_entropy(p)
    intervals = np.column_stack([p * 0.9, p])
    summary = metrics.interval_summary(y, intervals)
    for key in ("lower", "upper", "width"):
        assert METRICS[key].function(y, intervals) == getattr(summary, key)


@pytest.mark.whole_registry
def test_everything_public_is_documented_with_an_example():
    for name in metrics.__all__:
        item = getattr(metrics, name)
        if inspect.isfunction(item):
            assert item.__doc__, name
            assert name in {"metric_value"} or ">>>" in item.__doc__, name

import math
from types import SimpleNamespace

import numpy as np
import pytest

from calib.kernel.checks import InputError
from calib.kernel.records import Predictions
from calib.metrics import (
    METRICS,
    Metric,
    expected_calibration_error,
    metric_table,
    metric_value,
    true_calibration_error,
)
from calib.metrics.base import NumberOf

from .cases import random_case


@pytest.fixture
def predictions():
    y, p = random_case(0, 300)
    pair = np.sort(np.column_stack([p * 0.9, p]), axis=1)
    return {"none": Predictions(y, p), "venn_abers": Predictions(y, p, pair[:, 0], pair[:, 1])}


@pytest.mark.whole_registry
def test_rows_are_methods_and_cells_are_the_metrics_of_each(predictions):
    table = metric_table(predictions)
    assert list(table.index) == ["none", "venn_abers"]
    assert list(table.columns) == [k for k, m in METRICS.items() if m.everyday and m.needs != "posterior"]
    assert (table.dtypes == np.float64).all()
    predicted = predictions["none"]
    for key in table.columns:
        if METRICS[key].needs == "probabilities":
            assert table.loc["none", key] == METRICS[key].function(predicted.y, predicted.p)


def test_intervals_are_nan_where_a_method_has_none(predictions):
    table = metric_table(predictions)
    assert table.loc["none", ["lower", "upper", "width"]].isna().all()
    predicted = predictions["venn_abers"]
    assert table.loc["venn_abers", "lower"] == pytest.approx(predicted.lower.mean(), abs=1e-12)
    assert table.loc["venn_abers", "width"] == pytest.approx(
        (predicted.upper - predicted.lower).mean(), abs=1e-12
    )


def test_binned_metrics_take_the_bins_and_strategy(predictions):
    table = metric_table(predictions, bins=7, strategy="quantile")
    predicted = predictions["none"]
    assert table.loc["none", "ece"] == expected_calibration_error(predicted.y, predicted.p, 7, "quantile")
    assert table.loc["none", "ece"] != metric_table(predictions).loc["none", "ece"]


def test_the_posterior_adds_its_column(predictions):
    p = predictions["none"].p
    table = metric_table(predictions, posterior=p**1.1)
    assert table.loc["none", "tce"] == true_calibration_error(p**1.1, p)


def test_columns_can_be_chosen_also_those_for_published_tables_only(predictions):
    table = metric_table(predictions, metrics=["log_loss_clipped", "squared_ece", "tce"])
    assert list(table.columns) == ["log_loss_clipped", "squared_ece", "tce"]
    assert table["tce"].isna().all()
    with pytest.raises(InputError, match="metrics"):
        metric_table(predictions, metrics=["breir"])


SHARED = [key for key, metric in METRICS.items() if isinstance(metric.function, NumberOf)]


@pytest.mark.parametrize("key", SHARED)
def test_a_number_of_a_shared_result_is_that_of_its_function(key):
    y, p = random_case(1, 200)
    weight = np.random.default_rng(1).integers(1, 4, 200).astype(float)
    metric, predicted = METRICS[key], Predictions(y, p, 0.9 * p, p, weight=weight)
    second = np.column_stack([0.9 * p, p]) if metric.needs == "intervals" else p
    assert metric_value(metric, predicted) == metric.function(y, second, sample_weight=weight)


def test_what_several_numbers_are_of_is_worked_out_once():
    y, p = random_case(0, 50)
    calls = []

    def of(y, p):
        calls.append(len(y))
        return SimpleNamespace(a=y.mean(), b=p.mean())

    first, second = (Metric(k, k, NumberOf(of, k), None, "") for k in "ab")
    predicted = Predictions(y, p)
    assert (metric_value(first, predicted), metric_value(second, predicted)) == (y.mean(), p.mean())
    assert calls == [50]
    assert metric_value(first, Predictions(y[:9], p[:9])) == y[:9].mean()
    assert calls == [50, 9]


def test_an_infinite_log_loss_stays_infinite():
    table = metric_table({"isotonic": Predictions(np.array([1, 0]), np.array([0.0, 0.0]))})
    assert table.loc["isotonic", "log_loss"] == math.inf


def test_no_methods_make_an_empty_table():
    assert metric_table({}).shape == (
        0,
        len([m for m in METRICS.values() if m.everyday and m.needs != "posterior"]),
    )

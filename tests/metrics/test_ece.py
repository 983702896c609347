import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import LabelEncoder, minmax_scale

from calib.kernel.checks import InputError
from calib.metrics import (
    accuracy,
    brier_score,
    excess_brier,
    expected_calibration_error,
    group_entropy,
    log_loss_clipped,
    maximum_calibration_error,
    squared_ece,
    true_calibration_error,
)

from .. import shared
from ..vectors import vector
from .cases import decimals, labelled, random_case


def gaps_by_definition(y, p, bins):
    """(rows, |frequency − mean p|) of each filled bin [b/B, (b + 1)/B), the last one closed; exact."""
    found = []
    for b in range(bins):
        low, high = Fraction(b, bins), Fraction(b + 1, bins)
        inside = [i for i, v in enumerate(p) if low <= v < high or (v == high == 1)]
        if inside:
            ones, predicted = sum(int(y[i]) for i in inside), sum(p[i] for i in inside)
            found.append((len(inside), abs(Fraction(ones, len(inside)) - predicted / len(inside))))
    return found


@given(labelled(decimals), st.sampled_from([1, 2, 3, 7, 10, 20, 100]))
def test_bin_errors_equal_their_definition_in_exact_fractions(case, bins):
    y, p = case
    gaps = gaps_by_definition(y, [Fraction(round(v * 100), 100) for v in p], bins)
    assert expected_calibration_error(y, p, bins) == pytest.approx(
        float(sum(n * g for n, g in gaps) / len(y)), abs=1e-12
    )
    assert maximum_calibration_error(y, p, bins) == pytest.approx(float(max(g for _, g in gaps)), abs=1e-12)


@given(labelled(decimals), st.sampled_from([1, 2, 3, 7, 10, 20]))
def test_squared_ece_bins_class_zero_and_weighs_all_bins_alike(case, bins):
    y, p = case
    gaps = gaps_by_definition(1 - y, [1 - Fraction(round(v * 100), 100) for v in p], bins)
    assert squared_ece(y, p, bins) == pytest.approx(float(sum(g * g for _, g in gaps) / len(gaps)), abs=1e-12)


@pytest.mark.parametrize(("case", "value"), [("ece20", "ece_float"), ("ece20_edges", "left_closed_float")])
def test_ece_of_the_reference_vectors(case, value):
    given_ = vector(case)
    assert expected_calibration_error(given_["y"], given_["p"]) == pytest.approx(given_[value], abs=1e-12)


def test_mce_of_the_reference_vectors():
    case = vector("ece20")
    assert maximum_calibration_error(case["y"], case["p"]) == pytest.approx(case["mce_float"], abs=1e-12)


def test_decimals_on_an_edge_open_their_bin():
    # 0.15 belongs with 0.17, not with 0.13; 0.29 · 100 is 28.999… in floating point
    assert expected_calibration_error([1, 0], [0.15, 0.17], bins=20) == pytest.approx(0.34, abs=1e-12)
    assert expected_calibration_error([1, 0], [0.13, 0.15], bins=20) == pytest.approx(
        (0.87 + 0.15) / 2, abs=1e-12
    )
    assert expected_calibration_error([1, 0], [0.29, 0.295], bins=100) == pytest.approx(
        abs(1 - 0.585) / 2, abs=1e-12
    )


def test_quantile_ece_without_ties_is_that_of_equal_parts_of_the_sorted_predictions():
    y, p = random_case(3, 999)
    order = np.argsort(p)
    parts = zip(np.array_split(y[order], 9), np.array_split(p[order], 9), strict=True)
    expected = sum(len(a) * abs(a.mean() - b.mean()) for a, b in parts) / 999
    # edges lie between two values except where (n − 1) i / B is whole: 998 i / 9 never is for i = 1 … 8
    assert expected_calibration_error(y, p, 9, "quantile") == pytest.approx(expected, abs=1e-12)


@pytest.mark.soak
def test_published_means_of_the_default_forest_on_spect():
    """Tables 5–8 of Shaker & Hüllermeier (2025), RF_d: ten folds, seeds 0 … 4, scaled, forests seeded 0 … 49."""
    data = pd.read_csv(shared.path("datasets/spect.csv"))
    X = minmax_scale(data.drop(columns="target").to_numpy(float))
    y = LabelEncoder().fit_transform(data["target"])
    folds = [f for seed in range(5) for f in StratifiedKFold(10, shuffle=True, random_state=seed).split(X, y)]
    metrics = {"acc": accuracy, "brier": brier_score, "logloss": log_loss_clipped, "ece": squared_ece}
    values = {name: [] for name in metrics}
    for seed, (train, test) in enumerate(folds):
        p = RandomForestClassifier(random_state=seed).fit(X[train], y[train]).predict_proba(X[test])[:, 1]
        for name, metric in metrics.items():
            values[name].append(metric(y[test], p))
    for name, found in values.items():
        table = pd.read_csv(shared.path(f"reference/rf_calibration_2025_{name}.csv"), index_col="dataset")
        assert np.mean(found) == pytest.approx(table.loc["spect", "RF_d"], abs=2e-5), name


def test_true_calibration_error_and_excess_brier_agree_in_expectation():
    rng = np.random.default_rng(5)
    posterior = rng.random(400_000)
    p = posterior**1.3
    y = rng.random(posterior.size) < posterior
    assert true_calibration_error(posterior, p) == pytest.approx(np.mean((p - posterior) ** 2), abs=1e-15)
    assert excess_brier(y, p, posterior) == pytest.approx(true_calibration_error(posterior, p), abs=5e-4)


@given(labelled())
def test_group_entropy_is_the_entropy_of_equal_predictions(case):
    _, p = case
    counts = pd.Series(p).value_counts().to_numpy() / len(p)
    assert group_entropy(p) == pytest.approx(-sum(c * math.log2(c) for c in counts), abs=1e-12)
    assert 0 <= group_entropy(p) <= math.log2(len(p)) + 1e-12


@pytest.mark.parametrize("metric", [expected_calibration_error, maximum_calibration_error, squared_ece])
def test_bin_options_are_checked(metric):
    for bins in (0, 2.5, True, "20"):
        with pytest.raises(InputError, match="bins"):
            metric([1, 0], [0.5, 0.5], bins=bins)
    with pytest.raises(InputError, match="strategy"):
        metric([1, 0], [0.5, 0.5], strategy="quantiles")


def test_posterior_is_checked():
    with pytest.raises(InputError, match="posterior"):
        true_calibration_error([0.5, 1.2], [0.5, 0.5])
    with pytest.raises(InputError, match="Lengths differ"):
        true_calibration_error([0.5], [0.5, 0.5])

"""The forests of the long experiments: each is scikit-learn's, each calibrator is fitted on what it may see."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.isotonic import IsotonicRegression

from calib.calibrators import CALIBRATORS
from calib.experiments.shared.forest_comparison import Calibrated, ForestSettings, baselines, measured, search
from calib.experiments.shared.long_run import BASELINES, FOREST_MEASURES
from calib.metrics import loss_decomposition
from calib.models import ProbabilityForest
from calib.synthetic import GaussianPair

FOUND = ForestSettings({"max_depth": 3, "min_samples_leaf": 5, "leaf": "laplace"}, curtail=7)


@pytest.fixture(scope="module")
def objects():
    pair = GaussianPair.random(2, 0)
    return pair.sample(150, 1), pair.sample(80, 2), pair.sample(300, 3)


def row(table, method, base=""):
    (found,) = table[(table["method"] == method) & (table["base"] == base)].to_dict("records")
    return found


def test_the_forests_without_calibration_are_scikit_learns(objects):
    data, _, test = objects
    table = baselines(data, test, FOUND, 5)
    assert list(table["method"]) == list(BASELINES)
    for method, trees in (("rf_d", 100), ("rf_large", 500)):
        other = RandomForestClassifier(trees, random_state=5).fit(data.X, data.y).predict_proba(test.X)[:, 1]
        assert row(table, method)["tce"] == pytest.approx(np.mean((other - test.posterior) ** 2), abs=1e-12)
    opt = (
        ProbabilityForest(100, random_state=5, **FOUND.forest).fit(data.X, data.y).predict_proba(test.X)[:, 1]
    )
    assert row(table, "rf_opt")["brier"] == pytest.approx(np.mean((opt - test.y) ** 2), abs=1e-12)
    curtailed = (
        ProbabilityForest(100, random_state=5, curtail=7).fit(data.X, data.y).predict_proba(test.X)[:, 1]
    )
    assert row(table, "ct")["brier"] == pytest.approx(np.mean((curtailed - test.y) ** 2), abs=1e-12)


def test_calibrators_learn_from_the_first_objects_of_the_pool_alone(objects):
    train, pool, test = objects
    table = Calibrated(train, pool, test, FOUND, 5).table(40)
    of_scores = [key for key, method in CALIBRATORS.items() if method.input != "features"]
    assert sorted(set(table["method"])) == sorted(of_scores)
    forest = RandomForestClassifier(100, random_state=5).fit(train.X, train.y)
    scores, new = (forest.predict_proba(data.X)[:, 1] for data in (pool, test))
    assert row(table, "none", "default")["brier"] == pytest.approx(np.mean((new - test.y) ** 2), abs=1e-12)
    isotonic = IsotonicRegression(out_of_bounds="clip").fit(scores[:40], pool.y[:40]).predict(new)
    assert row(table, "isotonic", "default")["brier"] == pytest.approx(
        np.mean((isotonic - test.y) ** 2), abs=1e-9
    )


def test_rank_sees_laplace_leaves(objects):
    """A fully grown tree's pure leaves are all alike: by votes of 0 and 1, Borda's sum is the mean vote again."""
    train, pool, test = objects
    table = Calibrated(train, pool, test, FOUND, 5).table(80)
    assert row(table, "rank", "default")["tce"] != pytest.approx(
        row(table, "isotonic", "default")["tce"], abs=1e-6
    )


def test_measures_by_their_definitions(objects):
    *_, test = objects
    p = np.round(np.clip(test.posterior + 0.1, 0, 1), 1)
    got, pi = measured(test, p), test.posterior
    assert set(got) == set(FOREST_MEASURES)
    assert got["tce"] == pytest.approx(np.mean((p - pi) ** 2), abs=1e-12)
    assert got["irreducible"] == pytest.approx(np.mean(pi * (1 - pi)), abs=1e-12)
    assert got["excess"] == pytest.approx(np.mean((p - test.y) ** 2) - np.mean((pi - test.y) ** 2), abs=1e-12)
    parts = loss_decomposition(pi, p, "brier", corrected=False)
    assert got["tce"] == pytest.approx(parts.calibration + parts.grouping, abs=1e-9)
    _, n = np.unique(p, return_counts=True)
    assert got["group_entropy"] == pytest.approx(-sum(k / len(p) * np.log2(k / len(p)) for k in n), abs=1e-12)
    # Tenths are bins of their own
    assert got["bin_entropy"] == pytest.approx(got["group_entropy"], abs=1e-12)
    bins = [int(value * 20 + 1e-9) if value < 1 else 19 for value in p]
    off = [abs(sum(test.y[i] - p[i] for i in range(len(p)) if bins[i] == b)) for b in range(20)]
    assert got["ece"] == pytest.approx(sum(off) / len(p), abs=1e-12)


@pytest.mark.soak
def test_a_search_finds_settings_that_a_forest_takes(objects):
    data, *_ = objects
    found = search(data.X.to_numpy(), data.y, 0, draws=2)
    assert search(data.X.to_numpy(), data.y, 0, draws=2) == found
    ProbabilityForest(3, random_state=0, **found.forest).fit(data.X, data.y)
    assert 1 <= found.curtail <= 99

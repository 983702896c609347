"""Calibration-set size: nested calibration sets; the results made beforehand against the paper and against today."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from calib.learn import EXPERIMENTS
from calib.simulations import SIMULATIONS, calibration_size
from calib.simulations.calibration_size import cells, kept_results, one_repetition, sweep
from calib.simulations.searched import shipped

PRESET = EXPERIMENTS["calibration_size"].values({})


@pytest.fixture(scope="module")
def kept():
    """Means by share and method, calibrators over the tuned forest."""
    table = SIMULATIONS["calibration_size"](random_state=0).table
    return table[table["base"] != "default"]


def wide(table, measure="tce"):
    return table.pivot_table(index="share", columns="method", values=measure)


def test_a_cell_depends_on_its_seed_and_settings_alone():
    first = one_repetition(1, 0, sizes=10, n_train=60, n_test=50)
    assert one_repetition(1, 0, sizes=10, n_train=60, n_test=50).equals(first)
    assert not one_repetition(2, 0, sizes=10, n_train=60, n_test=50)["tce"].equals(first["tce"])
    assert sorted(first["share"].unique()) == pytest.approx(np.arange(1, 11) / 10)


def test_calibration_sets_grow_and_nothing_else_does():
    """The forest that others calibrate is the same at every size; so is the test set."""
    table = one_repetition(0, 0, sizes=10, n_train=60, n_test=50)
    base = table[(table["method"] == "none") & (table["base"] == "default")]
    assert base["tce"].nunique() == 1
    assert table["irreducible"].nunique() == 1
    data = sweep(0, 0, 60, 50)
    small, large = data.calibration(0.1), data.calibration(1.0)
    assert large.X.iloc[: small.n].equals(small.X)


def test_forests_without_calibration_learn_from_both_sets():
    table = one_repetition(0, 0, sizes=10, n_train=60, n_test=50)
    data = sweep(0, 0, 60, 50)
    both = np.vstack([data.train.X, data.calibration(0.5).X])
    forest = RandomForestClassifier(100, random_state=0).fit(both, np.append(data.train.y, data.calibration(0.5).y))
    p = forest.predict_proba(data.test.X.to_numpy())[:, 1]
    (tce,) = table[(table["method"] == "rf_d") & (table["share"] == 0.5)]["tce"]
    assert tce == pytest.approx(np.mean((p - data.test.posterior) ** 2), abs=1e-12)


def test_cells_are_the_repetitions():
    assert len(cells(0, PRESET)) == 100
    assert kept_results(0, PRESET) is not None
    assert kept_results(1, PRESET) is None
    assert kept_results(0, PRESET | {"repetitions": 5}) is None


def test_what_was_made_beforehand_is_what_the_code_computes(kept):
    """The uncalibrated default forest over all repetitions, by scikit-learn: mean TCE."""
    table = SIMULATIONS["calibration_size"](random_state=0).table
    found = table[(table["method"] == "none") & (table["base"] == "default")]["tce"]
    assert found.nunique() == 1
    expected = []
    for repetition in range(100):
        data = sweep(repetition, 0)
        forest = RandomForestClassifier(100, random_state=repetition).fit(data.train.X, data.train.y)
        expected.append(np.mean((forest.predict_proba(data.test.X)[:, 1] - data.test.posterior) ** 2))
    assert found.iloc[0] == pytest.approx(np.mean(expected), rel=1e-4)


def test_the_mixtures_were_searched():
    assert {calibration_size.case(i) for i in range(calibration_size.MIXTURES)} <= set(shipped())

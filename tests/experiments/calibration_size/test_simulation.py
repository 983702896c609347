"""Calibration-set size: nested calibration sets; the results made beforehand against the paper and against today."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from calib.experiments import EXPERIMENTS
from calib.experiments.calibration_size import PUBLISHED_ENTROPY, settled
from calib.experiments.calibration_size import simulation as calibration_size
from calib.experiments.calibration_size.simulation import SIZE_RUN, one_repetition, sweep
from calib.experiments.shared.forest_comparison import stored_searches

simulate = EXPERIMENTS["calibration_size"].simulate

PRESET = EXPERIMENTS["calibration_size"].values({})


@pytest.fixture(scope="module")
def kept():
    """Means by share and method, calibrators over the tuned forest."""
    table = simulate(random_state=0).table
    return table[table["base"] != "default"]


def wide(table, measure="tce"):
    return table.pivot_table(index="share", columns="method", values=measure)


@pytest.fixture(scope="module")
def cell():
    return one_repetition(0, 0, sizes=2, n_train=60, n_test=50)


@pytest.mark.soak
def test_a_cell_depends_on_its_seed_and_settings_alone(cell):
    assert one_repetition(0, 0, sizes=2, n_train=60, n_test=50).equals(cell)
    assert not np.array_equal(sweep(1, 0, 60, 50).train.y, sweep(0, 0, 60, 50).train.y)
    assert sorted(cell["share"].unique()) == [0.5, 1.0]


def test_calibration_sets_grow_and_nothing_else_does(cell):
    """The forest that others calibrate is the same at every size; so is the test set."""
    base = cell[(cell["method"] == "none") & (cell["base"] == "default")]
    assert np.ptp(base["tce"]) == 0
    assert np.ptp(cell["irreducible"]) == 0
    data = sweep(0, 0, 60, 50)
    small, large = data.calibration(0.1), data.calibration(1.0)
    assert large.X.iloc[: small.n].equals(small.X)


def test_forests_without_calibration_learn_from_both_sets(cell):
    data = sweep(0, 0, 60, 50)
    both = np.vstack([data.train.X, data.calibration(0.5).X])
    forest = RandomForestClassifier(100, random_state=0).fit(
        both, np.append(data.train.y, data.calibration(0.5).y)
    )
    p = forest.predict_proba(data.test.X.to_numpy())[:, 1]
    (tce,) = cell[(cell["method"] == "rf_d") & (cell["share"] == 0.5)]["tce"]
    assert tce == pytest.approx(np.mean((p - data.test.posterior) ** 2), abs=1e-12)


def test_cells_are_the_repetitions():
    assert len(SIZE_RUN.chunks(0, PRESET)) == 100
    assert SIZE_RUN.stored_results(0, PRESET) is not None
    assert SIZE_RUN.stored_results(1, PRESET) is None
    assert SIZE_RUN.stored_results(0, PRESET | {"repetitions": 5}) is None


@pytest.mark.soak
def test_what_was_made_beforehand_is_what_the_code_computes(kept):
    """The uncalibrated default forest over all repetitions, by scikit-learn: mean TCE."""
    table = simulate(random_state=0).table
    found = table[(table["method"] == "none") & (table["base"] == "default")]["tce"]
    assert np.ptp(found) < 1e-9
    expected = []
    for repetition in range(100):
        data = sweep(repetition, 0)
        forest = RandomForestClassifier(100, random_state=repetition).fit(data.train.X, data.train.y)
        expected.append(np.mean((forest.predict_proba(data.test.X)[:, 1] - data.test.posterior) ** 2))
    assert found.iloc[0] == pytest.approx(np.mean(expected), rel=1e-4)


def test_the_mixtures_were_searched():
    assert {calibration_size.case(i) for i in range(calibration_size.MIXTURES)} <= set(stored_searches())


def test_rf_opt_has_the_lowest_tce(kept):
    """Appendix C.3.2 of the paper: no calibrator comes as low, even with as many objects as trained the forest."""
    tce = wide(kept).loc[1.0]
    assert tce.idxmin() == "rf_opt"


def test_the_order_of_data_needs(kept):
    """The paper's: PPA, beta, Platt, Venn–Abers, isotonic, rank; Platt here settles before beta, at a larger error."""
    needs = settled(kept, "tce")
    assert needs["ppa"] == min(needs.values())
    assert max(needs[key] for key in ("ppa", "beta", "platt")) < min(
        needs[key] for key in ("venn_abers", "isotonic")
    )
    assert needs["venn_abers"] <= needs["isotonic"] <= needs["rank"]
    assert wide(kept).loc[1.0, "platt"] > wide(kept).loc[1.0, "beta"]
    assert 0.2 <= needs["venn_abers"] <= 0.35  # about two hundred of 800


def test_settled_by_hand():
    shares = np.arange(1, 11) / 10
    line = {
        "ppa": np.ones(10),
        "platt": np.where(shares < 0.35, 2.0, 1.0),
        "beta": np.append(np.full(9, 1.0), 9.0),
    }
    rows = [
        {"share": share, "method": method, "tce": line.get(method, np.ones(10))[i]}
        for method in ("platt", "isotonic", "beta", "venn_abers", "ppa", "rank")
        for i, share in enumerate(shares)
    ]
    found = settled(pd.DataFrame(rows), "tce")
    assert found["ppa"] == 0.1
    assert found["platt"] == 0.4
    assert found["beta"] == 1.0  # it never settles


def test_with_a_dozen_objects_venn_abers_is_worse_than_isotonic(kept):
    assert wide(kept).loc[0.02, "venn_abers"] > wide(kept).loc[0.02, "isotonic"]


def test_entropies_are_in_the_order_of_table_3(kept):
    """The level depends on the mixtures and how they overlap; the paper's own are not known."""
    mean = kept.groupby("method")["group_entropy"].mean()
    published = pd.Series(PUBLISHED_ENTROPY)
    assert mean[published.index].corr(published, method="spearman") > 0.75
    assert mean.max() <= np.log2(PRESET["n_test"])


def test_few_different_predictions_go_with_a_small_ece_not_with_a_small_tce(kept):
    last = kept[kept["share"] == 1.0].set_index("method")
    assert last["ece"].corr(last["group_entropy"], method="spearman") > 0.6
    assert last["ece"].idxmin() == last["tce"].idxmax() == "venn"

"""A cell is the house's own chain on its rows: one fit, every setup, every metric; what fails is told."""

import gc
import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from calib import Dataset
from calib.calibrators import VennAbers, merge_pair
from calib.evaluate import Fitted
from calib.kernel.records import Predictions
from calib.metrics import brier_score, expected_calibration_error, log_loss
from calib.study import cell as cell_module
from calib.study import load_protocol, load_sets, pooled_predictions, read_protocol, study_cells
from calib.study.cell import Task, pack, run, unpack
from calib.study.grid import rows_of_cell
from tests.saying import assert_says

from .small import FAILING, PROTOCOL, table

FRAME = table()
DATA = Dataset("one", FRAME[["a", "b", "c"]], (FRAME["target"] == "yes").to_numpy().astype(int))
SMALL = read_protocol(PROTOCOL, "small.toml")


def results(protocol, setups=None, number=0, data=DATA):
    found = run(Task(study_cells(protocol, ["one"], setups)[number], data, protocol.metrics))
    return {one.setup: one for one in found}


def test_numbers_are_those_of_a_plain_loop():
    """Split, naive Bayes and Brier score by scikit-learn; the held-out share by its positions."""
    cell = study_cells(SMALL, ["one"])[0]
    train, test = rows_of_cell(cell, DATA)
    found = results(SMALL)
    from sklearn.model_selection import train_test_split

    fit, held_out = train_test_split(
        np.arange(len(train)), test_size=1 / 3, stratify=DATA.y[train], random_state=cell.seed
    )
    X, y = DATA.X.to_numpy()[train], DATA.y[train]
    model = GaussianNB().fit(X[fit], y[fit])
    p = model.predict_proba(DATA.X.to_numpy()[test])[:, 1]
    assert found["Raw"].metrics["brier"] == pytest.approx(brier_score(DATA.y[test], p), abs=1e-12)
    calibrator = VennAbers().fit(model.predict_proba(X[held_out])[:, 1], y[held_out])
    assert found["VAP"].metrics["log_loss"] == pytest.approx(
        log_loss(DATA.y[test], calibrator.predict(p)), abs=1e-12
    )
    assert np.isnan(found["Raw"].metrics["width"])
    assert found["VAP"].sizes == (60, 20, 30)


def test_numbers_of_three_classes_are_those_of_a_plain_loop():
    """Out-of-fold naive Bayes, one against the rest with isotonic regression; and what the store keeps of it."""
    from sklearn.isotonic import IsotonicRegression
    from sklearn.model_selection import train_test_split

    rng = np.random.default_rng(0)
    coded = rng.integers(0, 3, 240)
    X = rng.normal(size=(3, 2))[coded] + rng.normal(size=(240, 2))
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "target": np.array(["x", "y", "z"])[coded]})
    text = PROTOCOL.replace('"later"', '"all"').replace('"reliability", "width"', '"classwise_ece"')
    protocol = read_protocol(text.replace("venn_abers", "isotonic"), "s.toml")
    (data,) = load_sets(["one.csv"], protocol.data, {"one.csv": frame}).values()
    found = results(protocol, data=data)
    cell = study_cells(protocol, ["one"])[0]
    train, test = rows_of_cell(cell, data)
    assert np.bincount(coded[test]).tolist() == pytest.approx([80 / 3] * 3, abs=8), "stratified by class"
    fit, held = train_test_split(
        np.arange(len(train)), test_size=1 / 3, stratify=coded[train], random_state=cell.seed
    )
    model = GaussianNB().fit(X[train][fit], coded[train][fit])
    before, after = model.predict_proba(X[train][held]), model.predict_proba(X[test])
    each = [
        IsotonicRegression(out_of_bounds="clip")
        .fit(before[:, k], coded[train][held] == k)
        .predict(after[:, k])
        for k in range(3)
    ]
    P = np.column_stack(each)
    P /= P.sum(axis=1, keepdims=True)
    one_hot = np.eye(3)[coded[test]]
    kept, stored = unpack(found["Raw"].predictions), unpack(found["VAP"].predictions)
    np.testing.assert_allclose(kept.p, after, atol=1e-12)
    np.testing.assert_allclose(stored.p, P, atol=1e-9)
    np.testing.assert_array_equal(stored.y, coded[test])
    assert found["Raw"].metrics["brier"] == pytest.approx(((after - one_hot) ** 2).sum(axis=1).mean())
    assert found["VAP"].metrics["accuracy"] == pytest.approx((P.argmax(axis=1) == coded[test]).mean())
    errors = [expected_calibration_error(one_hot[:, k], after[:, k], 20) for k in range(3)]
    assert found["Raw"].metrics["classwise_ece"] == pytest.approx(np.mean(errors))
    confidence = pooled_predictions({("one", "Raw", 0): kept}, "one", ["Raw"])["Raw"]
    np.testing.assert_array_equal(confidence.p, kept.p.max(axis=1))
    np.testing.assert_array_equal(confidence.y, kept.p.argmax(axis=1) == kept.y)


def test_kept_labels_are_columns_of_the_kept_probabilities():
    whole = Predictions(np.array([0, 3]), np.full((2, 3), 1 / 3))
    with pytest.raises(ValueError, match="invalid"):
        unpack(pack({"": whole}))


def test_one_fit_serves_its_cell(monkeypatch):
    fits = []
    fit = cell_module.fit_rows
    monkeypatch.setattr(
        cell_module, "fit_rows", lambda *args, **more: fits.append(args) or fit(*args, **more)
    )
    protocol = load_protocol("venn_forests_2019")
    for cell in study_cells(protocol, ["one"], repeats=1, folds=2):
        assert len(run(Task(cell, DATA, protocol.metrics))) == 5
    assert len(fits) == 2 * 2  # folds × (held out, out of bag), for ten setups


def test_a_metric_has_its_own_merge_rule():
    text = PROTOCOL.replace("[metrics]", '[metrics]\nmerge = { brier = "square" }')
    found = results(read_protocol(text, "s.toml"))["VAP"]
    plain, square = unpack(found.predictions), unpack(found.predictions, "square")
    np.testing.assert_array_equal(square.p, merge_pair(plain.p0, plain.p1, "square"))
    assert found.metrics["brier"] == pytest.approx(np.mean((square.p - square.y) ** 2), abs=1e-15)
    np.testing.assert_array_equal(plain.p, merge_pair(plain.p0, plain.p1, "log"))
    assert found.metrics["log_loss"] == pytest.approx(log_loss(plain.y, plain.p), abs=1e-15)


def test_what_a_calibrator_cannot_do_fails_alone():
    found = results(read_protocol(FAILING, "s.toml"))
    assert found["VAP"].error == ""
    assert_says(found["Raw"].error, "uncalibrated model needs probabilities", "margins")
    assert "InputError" in found["Raw"].traceback
    assert found["Raw"].metrics == {}


def test_a_fit_that_fails_is_told_of_every_setup_with_its_traceback():
    rare = np.zeros(90, dtype=int)
    rare[0] = 1
    found = results(SMALL, data=Dataset("one", DATA.X, rare))
    assert {one.error for one in found.values()} == {
        "The minority class has 1 row, fewer than the 3 folds. Use fewer folds, or exclude this data set."
    }
    assert all("Traceback" in one.traceback and "rows_of" in one.traceback for one in found.values())


def test_the_calibration_rows_of_2025_are_the_first_of_nine_folds_of_the_training_rows():
    protocol = load_protocol("rf_calibration_2025")
    cell = next(c for c in study_cells(protocol, ["one"], ["Platt"]) if (c.repeat, c.fold) == (2, 4))
    assert cell.seed == 24
    train, _ = rows_of_cell(cell, DATA)
    from calib.study.papers.models import FirstFold

    rest, held_out = next(StratifiedKFold(9, shuffle=True, random_state=2).split(train, DATA.y[train]))
    placed = FirstFold(9, 2).fit(GaussianNB(), DATA.X.iloc[train], DATA.y[train], random_state=24)
    np.testing.assert_array_equal(placed.index, held_out)
    model = GaussianNB().fit(DATA.X.to_numpy()[train][rest], DATA.y[train][rest])
    expected = model.predict_proba(DATA.X.to_numpy()[train][held_out])[:, 1]
    np.testing.assert_allclose(placed.scores, expected, atol=1e-12)


@pytest.mark.parametrize("pair", [False, True])
def test_packed_predictions_come_back_bit_by_bit(pair):
    rng = np.random.default_rng(0)
    p, y = rng.random(50), rng.integers(0, 2, 50)
    p0, p1 = (rng.random(50), rng.random(50)) if pair else (None, None)  # full Venn–Abers may cross
    back = unpack(pack({"": Predictions(y, p, p0=p0, p1=p1)}))
    np.testing.assert_array_equal(back.p, p)
    np.testing.assert_array_equal(back.y, y)
    if pair:
        np.testing.assert_array_equal(back.pairs, np.column_stack([p0, p1]))
        np.testing.assert_array_equal(back.lower, np.minimum(p0, p1))
    else:
        assert back.lower is None


def test_all_setups_of_2014_and_the_quick_ones_of_2025_have_a_result():
    """The searches take too long for here; their settings are in test_papers."""
    small = Dataset("one", pd.DataFrame(DATA.X.to_numpy()[:60], columns=list("abc")), DATA.y[:60])
    protocol = load_protocol("venn_abers_2014")
    for cell in study_cells(protocol, ["one"], repeats=1):
        if "NN" not in cell.setups[0].name and "JB" not in cell.setups[0].name:
            assert [one.error for one in run(Task(cell, small, protocol.metrics))] == [""] * len(cell.setups)
    protocol = load_protocol("rf_calibration_2025")
    for cell in study_cells(protocol, ["one"], ["RF_d", "RF_d_laplace"], repeats=1, folds=2):
        assert [one.error for one in run(Task(cell, DATA, protocol.metrics))] == [""]


def test_warnings_of_a_model_are_notes_of_its_results(recwarn):
    text = PROTOCOL.replace('model = "naive_bayes"', 'model = "neural_network"\nparams = { max_iter = 2 }')
    found = results(read_protocol(text, "s.toml"))
    assert [len(one.notes) for one in found.values()] == [1, 1]
    assert found["VAP"].notes[0].startswith("Stochastic Optimizer: Maximum iterations (2) reached")
    assert len(recwarn) == 0


def test_the_whole_forest_answers_the_same_out_of_bag_and_without_calibration_rows():
    """So that the searched forest of 2025 can share its fit with the setups that calibrate it out of bag."""
    forest = '{ name = "Forest", calibrator = "none", placement = "none"'
    assert forest in PROTOCOL
    text = PROTOCOL.replace(forest, forest.replace('placement = "none"', 'placement = "oob_whole"'))
    one, other = (results(read_protocol(t, "s.toml"), ["Forest"])["Forest"] for t in (PROTOCOL, text))
    np.testing.assert_array_equal(unpack(one.predictions).p, unpack(other.predictions).p)


def sent(seed):
    """What a worker is sent of one cell: 200 columns of its own, 200 kB."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(120, 200))).rename(columns="x{}".format)
    data = Dataset("one", X, (X["x0"] + rng.normal(size=120) > 0).to_numpy().astype(int))
    return pickle.dumps(Task(study_cells(SMALL, ["one"])[seed], data, SMALL.metrics))


def living():
    """How many records and models there are."""
    gc.collect()
    kinds = Dataset, Fitted, Predictions, BaseEstimator
    return sum(issubclass(type(one), kinds) for one in gc.get_objects())


def test_a_worker_keeps_nothing_of_a_cell_that_is_done():
    """After three more cells with data of their own no record or model more than after the first, nor their bytes."""
    first, *others = [sent(seed) for seed in range(4)]
    run(pickle.loads(first))
    before = living()
    tracemalloc.start()
    try:
        for task in others:
            assert not any(result.error for result in run(pickle.loads(task)))
        assert living() <= before
        assert tracemalloc.get_traced_memory()[0] < len(first)
    finally:
        tracemalloc.stop()

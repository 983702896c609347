"""The chain: what a change costs, that nothing leaks, and that its numbers are those of the parts called by hand."""

import gc
import importlib
import weakref

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from calib import Recipe, evaluate
from calib.calibrators import CALIBRATORS
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.metrics import brier_score, expected_calibration_error, metric_table
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.synthetic import GaussianPair

chain = importlib.import_module("calib.evaluate")  # the package's name "evaluate" is the function


@pytest.fixture(scope="module")
def data():
    return GaussianPair([0, 0, 0], [1, 1, 2], [1, 1, 0], [1, 2, 1]).sample(600, random_state=1)


SMALL = Recipe(params={"n_estimators": 20}, calibrators=("none", "platt", "isotonic", "beta", "venn_abers"))


def test_the_numbers_are_those_of_the_steps_done_by_hand(data):
    evaluation = evaluate(SMALL, data)
    rows = np.arange(data.n)
    train, test = map(np.sort, train_test_split(rows, test_size=0.3, stratify=data.y, random_state=0))
    X = data.X.to_numpy()
    fit_rows, held_out = train_test_split(
        np.arange(len(train)), test_size=1 / 3, stratify=data.y[train], random_state=0
    )
    forest = RandomForestClassifier(20, random_state=0).fit(X[train][fit_rows], data.y[train][fit_rows])
    scores = forest.predict_proba(X[test])[:, 1]
    np.testing.assert_array_equal(evaluation.rows, test)
    np.testing.assert_allclose(evaluation.predictions["none"].p, scores, atol=1e-12)
    method = CALIBRATORS["venn_abers"]().fit(forest.predict_proba(X[train][held_out])[:, 1], data.y[train][held_out])
    said = evaluation.predictions["venn_abers"]
    np.testing.assert_allclose(np.column_stack([said.p0, said.p1]), method.predict_interval(scores), atol=1e-12)
    assert evaluation.metrics.loc["none", "brier"] == pytest.approx(brier_score(data.y[test], scores))
    assert evaluation.metrics.loc["none", "ece"] == pytest.approx(expected_calibration_error(data.y[test], scores, 20))


def test_a_calibrator_change_fits_no_model_and_a_view_change_calls_nothing(data, monkeypatch):
    fitted = chain.fit(SMALL, data)
    before = chain.calibrate(SMALL, fitted)
    monkeypatch.setattr(chain, "fit", None)
    monkeypatch.setattr(chain, "make_estimator", None)
    after = chain.calibrate(SMALL.replace(calibrators=("venn_abers",), merge="square"), fitted)
    assert list(after.predictions) == ["venn_abers"]
    monkeypatch.setattr(chain, "calibrate", None)
    viewed = before.with_view(SMALL.replace(bins=5, binning="quantile"))
    assert viewed.predictions is before.predictions
    expected = expected_calibration_error(before.y, before.predictions["platt"].p, 5, "quantile")
    assert viewed.metrics.loc["platt", "ece"] == pytest.approx(expected)


def test_margins_are_refused_by_the_methods_that_need_probabilities_and_taken_by_the_others(data):
    evaluation = evaluate(Recipe(model="svm", calibrators=tuple(CALIBRATORS)), data)
    needing = {key for key, method in CALIBRATORS.items() if method.input != "score"}
    assert set(evaluation.refused) == needing
    assert set(evaluation.predictions) == set(CALIBRATORS) - needing
    assert "margins" in evaluation.refused["beta"]


def test_folds_judge_every_row_once(data):
    evaluation = evaluate(SMALL.replace(evaluation="folds", folds=4), data)
    np.testing.assert_array_equal(np.sort(evaluation.rows), np.arange(data.n))
    np.testing.assert_array_equal(evaluation.y, data.y[evaluation.rows])
    np.testing.assert_allclose(evaluation.posterior, data.posterior[evaluation.rows])


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(data):
    one, two, other = (evaluate(SMALL.replace(seed=seed), data) for seed in (5, 5, 6))
    pd.testing.assert_frame_equal(one.metrics, two.metrics)
    assert not one.metrics.equals(other.metrics)


def test_test_labels_never_reach_a_fit(data):
    """Turning every test label round changes no prediction."""
    first = evaluate(SMALL, data)
    y = data.y.copy()
    y[first.rows] = 1 - y[first.rows]

    def same_split(recipe, dataset):
        yield np.setdiff1d(np.arange(data.n), first.rows), first.rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain, "split", same_split)
        turned = evaluate(SMALL, Dataset("turned", data.X, y))
    for key, said in first.predictions.items():
        np.testing.assert_array_equal(said.p, turned.predictions[key].p)


def test_predictions_made_elsewhere_are_split_into_calibration_and_test(data):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"theirs": data.posterior**2, "other": rng.random(data.n)})
    evaluation = evaluate(Recipe(score="theirs", test_size=0.4), Dataset("theirs", X, data.y, predictions=True))
    assert len(evaluation.y) + len(evaluation.calibration_y) == data.n
    np.testing.assert_array_equal(evaluation.predictions["none"].p, X["theirs"].to_numpy()[evaluation.rows])
    table = evaluation.metrics
    assert table.loc["venn_abers", "brier"] < table.loc["none", "brier"]
    with pytest.raises(InputError, match="score.*theirs, other"):
        evaluate(Recipe(score="mine"), Dataset("theirs", X, data.y, predictions=True))


@pytest.mark.parametrize("placement", ["split", "cv", "train"])
@pytest.mark.parametrize("evaluation", ["holdout", "folds"])
def test_one_score_outside_0_to_1_makes_margins_of_all_wherever_it_falls(data, placement, evaluation):
    for row in range(0, 60, 20):
        scores = data.posterior.copy()
        scores[row] = 1.25
        theirs = Dataset("theirs", pd.DataFrame({"s": scores}), data.y, predictions=True)
        recipe = Recipe(
            calibrators=("none", "beta", "platt", "venn_abers"), placement=placement, evaluation=evaluation, cv=3
        )
        said = evaluate(recipe, theirs)
        assert not said.probability
        assert list(said.predictions) == ["platt", "venn_abers"]
        assert set(said.refused) == {"none", "beta"}


def test_too_few_rows_of_a_class_are_refused_with_the_remedy():
    X = pd.DataFrame({"x": np.arange(30.0)})
    y = np.array([1] + [0] * 29)
    with pytest.raises(InputError, match="rarer class has 1"):
        evaluate(Recipe(), Dataset("few", X, y))
    with pytest.raises(InputError, match="rarer class has 3.*10"):
        evaluate(Recipe(evaluation="folds"), Dataset("few", X, np.array([1] * 3 + [0] * 27)))


@pytest.mark.parametrize("model", [key for key in MODELS if key not in ("given", "tuned_forest")])
def test_every_model_goes_through_the_chain(model, data):
    small = {"n_estimators": 10} if any(p.name == "n_estimators" for p in MODELS[model].parameters) else {}
    evaluation = evaluate(Recipe(model=model, params=small, calibrators=("isotonic", "venn_abers")), data)
    assert evaluation.metrics.loc["venn_abers", "auc"] > 0.7
    assert evaluation.predictions["venn_abers"].p.min() > 0
    assert np.isfinite(evaluation.metrics.loc["venn_abers", "log_loss"])


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("model", ["random_forest", "naive_bayes", "svm"])
def test_every_calibrator_answers_or_is_refused_by_name_in_every_placement(model, placement):
    """Typed columns with gaps; margins need methods taking any score; without a calibration set only none answers."""
    rng = np.random.default_rng(0)
    n, x = 120, rng.normal(size=120)
    kind = pd.Categorical(np.where(rng.random(n) < 0.1, None, rng.choice(list("abc"), n)))
    X = pd.DataFrame({"x": np.where(rng.random(n) < 0.1, np.nan, x), "kind": kind, "flag": rng.random(n) < 0.5})
    small = Dataset("small", X, (rng.random(n) < 1 / (1 + np.exp(-2 * x))).astype(int))
    recipe = Recipe(
        model=model,
        params={"n_estimators": 5} if model == "random_forest" else {},
        placement=placement,
        calibrators=tuple(CALIBRATORS),
        cv=3,
        test_size=0.05 if placement == "full" else 0.3,
        evaluation="holdout" if placement == "full" else "folds",
        folds=2,
    )
    if placement.startswith("oob") and model != "random_forest":
        with pytest.raises(InputError, match="bagged ensemble"):
            evaluate(recipe, small)
        return
    said = evaluate(recipe, small)
    assert said.predictions.keys() | said.refused.keys() == CALIBRATORS.keys()
    assert said.predictions.keys() & said.refused.keys() == set()
    assert list(said.metrics.index) == list(said.predictions)
    assert said.probability == (model != "svm")
    for key, reason in said.refused.items():
        assert CALIBRATORS[key].label.lower() in reason.lower() or key == "rank", reason
    for key, predictions in said.predictions.items():
        assert np.array_equal(predictions.y, small.y[said.rows])
        assert ((predictions.p >= 0) & (predictions.p <= 1)).all(), key
        if CALIBRATORS[key].gives_interval:
            assert ((predictions.lower <= predictions.p) & (predictions.p <= predictions.upper)).all(), key
    assert ("venn_abers" in said.predictions) == (placement != "none")


def test_the_frame_holds_what_the_predictions_hold(data):
    evaluation = evaluate(SMALL, data)
    frame = evaluation.frame()
    assert list(frame["row"]) == list(data.X.index[evaluation.rows] + 1)
    np.testing.assert_array_equal(frame["venn_abers_upper"], evaluation.predictions["venn_abers"].upper)


@pytest.mark.parametrize("changes", [{}, {"evaluation": "folds", "folds": 3}], ids=str)
def test_the_expected_cost_counts_the_fits_that_a_placement_makes(changes, data, monkeypatch):
    fits, whole = [], GaussianNB.fit
    monkeypatch.setattr(GaussianNB, "fit", lambda self, *args, **more: fits.append(1) or whole(self, *args, **more))
    small = Dataset("small", data.X[:60], data.y[:60])
    recipe = Recipe(model="naive_bayes", calibrators=("none",), cv=3, **changes)
    evaluation = evaluate(recipe, small)
    for placement in ("none", "split", "cv", "train", "full"):
        fits.clear()
        evaluate(recipe.replace(placement=placement), small)
        expected, seconds = chain.expected_cost(evaluation, placement)
        assert len(fits) == expected
        assert seconds == pytest.approx(evaluation.seconds * expected / chain.expected_cost(evaluation, "split")[0])


def test_a_metric_is_worked_out_once_and_binned_ones_again_for_other_bins(data, monkeypatch):
    evaluation = evaluate(SMALL, data)
    everything = evaluation.metrics
    pd.testing.assert_frame_equal(evaluation.measured(["brier", "ece"]), everything[["brier", "ece"]])
    asked = []
    real = chain.metric_value
    monkeypatch.setattr(
        chain, "metric_value", lambda metric, *a, **k: asked.append(metric.key) or real(metric, *a, **k)
    )
    same = evaluation.with_view(SMALL.replace(band="confidence", selection=("none:0:0.5",)))
    pd.testing.assert_frame_equal(same.metrics, everything)
    assert set(asked) <= {"tce"}  # a mean against the posterior, of which the predictions know nothing
    asked.clear()
    other = evaluation.with_view(SMALL.replace(bins=7))
    assert not np.allclose(other.metrics["ece"], everything["ece"])
    assert set(asked) == {"ece", "mce", "tce"}
    pd.testing.assert_frame_equal(other.metrics, metric_table(other.predictions, bins=7, posterior=other.posterior))


def test_an_evaluation_is_frozen_and_what_was_worked_out_goes_with_it(data):
    evaluation = evaluate(SMALL, data)
    before = dict(vars(evaluation))
    evaluation.measured(["brier"])
    table = evaluation.metrics
    table.loc[:, "brier"] = 0  # the caller's own
    assert vars(evaluation) == before
    assert (evaluation.metrics["brier"] > 0).all()
    gone = weakref.ref(evaluation.predictions["none"])
    del evaluation, before
    gc.collect()
    assert gone() is None

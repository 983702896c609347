"""The chain: what a change costs, that nothing leaks, and that its numbers are those of the parts called by hand."""

import gc
import importlib
import weakref
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB

from calib import Recipe, evaluate
from calib.calibrators import CALIBRATORS, name_of
from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.metrics import brier_score, expected_calibration_error, metric_table
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.synthetic import GaussianPair
from tests.analysis.given import given_evaluation
from tests.saying import assert_says

# Imported by name, since ``calib.evaluate`` as an attribute of ``calib`` is the function
chain, fitting, record = (
    importlib.import_module(f"calib.evaluate{name}") for name in ("", ".fitting", ".record")
)


@pytest.fixture(scope="module")
def data():
    return GaussianPair([0, 0, 0], [1, 1, 2], [1, 1, 0], [1, 2, 1]).sample(600, random_state=1)


SMALL = Recipe(params={"n_estimators": 20}, calibrators=("none", "platt", "isotonic", "beta", "venn_abers"))


def test_an_array_gives_the_numbers_of_its_table(data):
    values = data.X.to_numpy()
    recipe = SMALL.replace(model="naive_bayes", params=())
    part = np.where(np.arange(data.n) < 400, "train", "test")
    for chosen, fields in (
        (recipe, {}),
        (recipe.replace(split="file", part="part"), {"part": part.tolist()}),
    ):
        found, expected = (evaluate(chosen, Dataset("mine", X, data.y, **fields)) for X in (values, data.X))
        pd.testing.assert_frame_equal(found.metrics, expected.metrics)
    assert found.rows.tolist() == list(range(400, data.n))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        *[
            ({role: "who"}, f"{role}: the Recipe specifies the column 'who', but the Dataset has no {role}")
            for role in ("weight", "time", "cluster", "part")
        ],
        (
            {"positive": "yes"},
            "positive: the Recipe specifies 'yes', but the positive class of the Dataset is '1'",
        ),
        ({"exclude": ("x2",)}, "exclude: the Dataset still has the column 'x2'"),
    ],
    ids=str,
)
def test_a_dataset_that_is_not_as_the_recipe_says_is_refused_by_the_field(data, fields, words):
    with pytest.raises(InputError, match=words):
        evaluate(SMALL.replace(**fields), data)
    given = {role: np.arange(data.n) % 3 for role in ("weight", "time", "cluster", "part") if role in fields}
    given = {role: values + (role == "weight") for role, values in given.items()}
    if given:
        chain.check_dataset(SMALL.replace(**fields), replace(data, **given))


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
    method = CALIBRATORS["venn_abers"]().fit(
        forest.predict_proba(X[train][held_out])[:, 1], data.y[train][held_out]
    )
    predictions = evaluation.predictions["venn_abers"]
    np.testing.assert_allclose(
        np.column_stack([predictions.p0, predictions.p1]), method.predict_interval(scores), atol=1e-12
    )
    assert evaluation.metrics.loc["none", "brier"] == pytest.approx(brier_score(data.y[test], scores))
    assert evaluation.metrics.loc["none", "ece"] == pytest.approx(
        expected_calibration_error(data.y[test], scores, 20)
    )


def test_a_calibrator_change_fits_no_model_and_a_view_change_calls_nothing(data, monkeypatch):
    fitted = chain.fit(SMALL, data)
    before = chain.calibrate(SMALL, fitted)
    monkeypatch.setattr(chain, "fit", None)
    monkeypatch.setattr(fitting, "make_estimator", None)
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
        patch.setattr(fitting, "split", same_split)
        turned = evaluate(SMALL, Dataset("turned", data.X, y))
    for key, predictions in first.predictions.items():
        np.testing.assert_array_equal(predictions.p, turned.predictions[key].p)


def test_uncalibrated_predictions_need_no_test_set_unless_the_split_states_unseen_rows(data):
    made = Dataset(
        "theirs",
        pd.DataFrame({"p": np.linspace(0, 1, data.n)}),
        data.y,
        predictions=True,
        time=np.arange(data.n),
    )
    alone = evaluate(Recipe(calibrators=("none",)), made)
    assert list(alone.rows) == list(range(data.n))
    assert not any("Calibrators are fitted" in note for note in alone.notes)
    assert len(evaluate(Recipe(calibrators=("none", "platt")), made).rows) == 0.3 * data.n
    assert len(evaluate(Recipe(calibrators=("none",), time="day", split="time"), made).rows) < data.n


def test_predictions_made_elsewhere_are_split_into_calibration_and_test(data):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"theirs": data.posterior**2, "other": rng.random(data.n)})
    evaluation = evaluate(
        Recipe(score="theirs", test_size=0.4), Dataset("theirs", X, data.y, predictions=True)
    )
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
            calibrators=("none", "beta", "platt", "venn_abers"),
            placement=placement,
            evaluation=evaluation,
            cv=3,
        )
        result = evaluate(recipe, theirs)
        assert not result.probability
        assert list(result.predictions) == ["platt", "venn_abers"]
        assert set(result.refused) == {"none", "beta"}


def test_too_few_rows_of_a_class_are_refused_with_the_remedy():
    X = pd.DataFrame({"x": np.arange(30.0)})
    y = np.array([1] + [0] * 29)
    with pytest.raises(InputError, match="minority class has 1"):
        evaluate(Recipe(), Dataset("few", X, y))
    with pytest.raises(InputError, match="minority class has 3.*10"):
        evaluate(Recipe(evaluation="folds"), Dataset("few", X, np.array([1] * 3 + [0] * 27)))


@pytest.mark.parametrize("model", [key for key in MODELS if key not in ("given", "tuned_forest")])
def test_every_model_goes_through_the_chain(model, data):
    small = {"n_estimators": 10} if any(p.name == "n_estimators" for p in MODELS[model].parameters) else {}
    evaluation = evaluate(Recipe(model=model, params=small, calibrators=("isotonic", "venn_abers")), data)
    assert evaluation.metrics.loc["venn_abers", "auc"] > 0.6
    assert evaluation.predictions["venn_abers"].p.min() > 0
    assert np.isfinite(evaluation.metrics.loc["venn_abers", "log_loss"])


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("model", ["random_forest", "naive_bayes", "svm"])
def test_every_calibrator_answers_or_is_refused_by_name_in_every_placement(model, placement):
    """Typed columns with gaps; margins need methods taking any score; without a calibration set only none answers."""
    rng = np.random.default_rng(0)
    n, x = 120, rng.normal(size=120)
    kind = pd.Categorical(np.where(rng.random(n) < 0.1, None, rng.choice(list("abc"), n)))
    X = pd.DataFrame(
        {"x": np.where(rng.random(n) < 0.1, np.nan, x), "kind": kind, "flag": rng.random(n) < 0.5}
    )
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
    evaluation = evaluate(recipe, small)
    assert evaluation.predictions.keys() | evaluation.refused.keys() == CALIBRATORS.keys()
    assert evaluation.predictions.keys() & evaluation.refused.keys() == set()
    assert list(evaluation.metrics.index) == list(evaluation.predictions)
    assert evaluation.probability == (model != "svm")
    for key, reason in evaluation.refused.items():
        names = (CALIBRATORS[key].label.lower(), name_of(key).lower())
        assert any(name in reason.lower() for name in names), reason
    for key, predictions in evaluation.predictions.items():
        assert np.array_equal(predictions.y, small.y[evaluation.rows])
        assert ((predictions.p >= 0) & (predictions.p <= 1)).all(), key
        if CALIBRATORS[key].gives_interval:
            assert ((predictions.lower <= predictions.p) & (predictions.p <= predictions.upper)).all(), key
    assert ("venn_abers" in evaluation.predictions) == (placement != "none")


def test_the_frame_holds_what_the_predictions_hold(data):
    evaluation = evaluate(SMALL, data)
    frame = evaluation.frame()
    assert list(frame["row"]) == list(data.X.index[evaluation.rows] + 1)
    np.testing.assert_array_equal(frame["venn_abers_upper"], evaluation.predictions["venn_abers"].upper)


@pytest.mark.parametrize("changes", [{}, {"evaluation": "folds", "folds": 3}], ids=str)
def test_the_expected_cost_counts_the_fits_that_a_placement_makes(changes, data, monkeypatch):
    fits, whole = [], GaussianNB.fit
    monkeypatch.setattr(
        GaussianNB, "fit", lambda self, *args, **more: fits.append(1) or whole(self, *args, **more)
    )
    small = Dataset("small", data.X[:60], data.y[:60])
    recipe = Recipe(model="naive_bayes", calibrators=("none",), cv=3, **changes)
    evaluation = evaluate(recipe, small)
    for placement in ("none", "split", "cv", "train", "full"):
        fits.clear()
        evaluate(recipe.replace(placement=placement), small)
        expected, seconds = chain.expected_cost(evaluation, placement)
        assert len(fits) == expected
        assert seconds == pytest.approx(
            evaluation.seconds * expected / chain.expected_cost(evaluation, "split")[0]
        )


def test_a_metric_is_worked_out_once_and_binned_ones_again_for_other_bins(data, monkeypatch):
    evaluation = evaluate(SMALL, data)
    everything = evaluation.metrics
    pd.testing.assert_frame_equal(evaluation.measured(["brier", "ece"]), everything[["brier", "ece"]])
    asked = []
    real = record.metric_value
    monkeypatch.setattr(
        record, "metric_value", lambda metric, *a, **k: asked.append(metric.key) or real(metric, *a, **k)
    )
    same = evaluation.with_view(
        SMALL.replace(band="confidence", **{"reliability.selection": ("none:0:0.5",)})
    )
    pd.testing.assert_frame_equal(same.metrics, everything)
    assert set(asked) <= {"tce"}  # a mean against the posterior, of which the predictions know nothing
    asked.clear()
    other = evaluation.with_view(SMALL.replace(bins=7))
    assert not np.allclose(other.metrics["ece"], everything["ece"])
    assert set(asked) == {"ece", "ece_chance", "mce", "tce"}
    pd.testing.assert_frame_equal(
        other.metrics, metric_table(other.predictions, bins=7, posterior=other.posterior)
    )


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


# What Platt is fitted on


@pytest.fixture(scope="module")
def noisy():
    return GaussianPair([0, 0, 0], [1, 1, 1], [1, 0.5, 0], [1, 1, 1]).sample(1200, random_state=0)


def scikit_learns_sigmoid(fitted, data):
    """Of the same model on the same calibration rows, for the test rows."""
    part = fitted.parts[0]
    held_out = part.train[part.placed.index]
    sigmoid = CalibratedClassifierCV(FrozenEstimator(part.placed.model), method="sigmoid")
    sigmoid.fit(data.X.iloc[held_out], data.y[held_out])
    return sigmoid.predict_proba(data.X.iloc[part.test])[:, 1]


@pytest.mark.parametrize("model", ["gradient_boosting", "logistic_regression", "svm"])
def test_platt_is_scikit_learns_sigmoid_where_the_model_has_a_decision_function(noisy, model):
    recipe = Recipe(model=model, calibrators=("platt",))
    fitted = chain.fit(recipe, noisy)
    theirs = scikit_learns_sigmoid(fitted, noisy)
    np.testing.assert_allclose(chain.calibrate(recipe, fitted).predictions["platt"].p, theirs, atol=1e-6)
    on_scores = chain.calibrate(recipe.replace(options={"platt.on": "score"}), fitted).predictions["platt"].p
    assert (
        np.abs(on_scores - theirs).max() < 1e-6 if model == "svm" else np.abs(on_scores - theirs).max() > 0.01
    )


def test_platt_across_folds_is_scikit_learns_without_an_ensemble(noisy):
    recipe = Recipe(model="gradient_boosting", calibrators=("platt",), placement="cv", cv=3, seed=4)
    evaluation = evaluate(recipe, noisy)
    part = chain.fit(recipe, noisy).parts[0]
    folds = StratifiedKFold(3, shuffle=True, random_state=4)
    theirs = CalibratedClassifierCV(
        chain.make_estimator(recipe, noisy), method="sigmoid", cv=folds, ensemble=False
    )
    theirs.fit(noisy.X.iloc[part.train], noisy.y[part.train])
    expected = theirs.predict_proba(noisy.X.iloc[part.test])[:, 1]
    np.testing.assert_allclose(evaluation.predictions["platt"].p, expected, atol=1e-6)


@pytest.mark.parametrize("on", ["auto", "log-odds", "score"])
def test_uploaded_probabilities_are_taken_at_their_log_odds_and_margins_as_they_come(on):
    rng = np.random.default_rng(0)
    margin = np.clip(rng.normal(size=400), -1.5, 1.5)  # as far out in both parts: further out is held (clip)
    y = (rng.random(400) < expit(2 * margin - 1)).astype(int)
    options = {} if on == "auto" else {"platt.on": on}
    predictions = {}
    for name, scores in {"margin": margin, "probability": expit(margin)}.items():
        table = Dataset(name, pd.DataFrame({"s": scores}), y, predictions=True)
        recipe = Recipe(content="predictions", calibrators=("platt",), options=options)
        predictions[name] = evaluate(recipe, table).predictions["platt"].p
    same = np.abs(predictions["margin"] - predictions["probability"]).max() < 1e-6
    assert same == (on != "score")


def test_the_notes_say_what_platt_was_fitted_on(data):
    for changes, words in (
        ({}, "Platt scaling: fitted on the log-odds of the scores."),
        ({"options": {"platt.on": "score"}}, "Platt scaling: fitted on the unchanged scores."),
        ({"model": "svm", "params": ()}, "Platt scaling: fitted on the unchanged scores."),
        ({"evaluation": "folds", "folds": 3}, "Platt scaling: fitted on the log-odds of the scores."),
    ):
        assert words in evaluate(SMALL.replace(**changes), data).notes
    (votes,) = [note for note in evaluate(SMALL, data).notes if "Platt scaling: scores" in note]
    assert_says(votes, "clipped to [0.025, 0.975]")


# Scores outside those that calibrated


@pytest.mark.parametrize("evaluation", ["holdout", "folds"])
def test_the_notes_count_test_scores_outside_those_that_calibrated(noisy, evaluation):
    keys = ("none", "platt", "beta", "isotonic", "venn_abers")
    recipe = Recipe(model="logistic_regression", calibrators=keys, evaluation=evaluation, folds=4)
    fitted = chain.fit(recipe, noisy)
    outside = total = 0
    for part in fitted.parts:
        seen = sorted(part.placed.scores)
        outside += sum(not seen[0] <= score <= seen[-1] for score in part.tests.scores)
        total += len(part.test)
    (note,) = [note for note in chain.calibrate(recipe, fitted).notes if "outside" in note]
    assert_says(note, f"{outside} of {total:,} test scores", "outside", "calibration scores")
    assert "extrapolated (Platt scaling and beta calibration)" in note
    assert "clamped (isotonic regression and Venn–Abers)" in note
    uncalibrated = chain.calibrate(recipe.replace(calibrators=("none",)), fitted)
    assert not any("outside" in note for note in uncalibrated.notes)


def test_nothing_is_outside_where_nothing_calibrates_or_every_object_does(data):
    few = Dataset("few", data.X[:40], data.y[:40])
    for placement in ("none", "full"):
        recipe = Recipe(model="naive_bayes", placement=placement, calibrators=("none", "venn_abers"))
        assert not any("outside" in note for note in evaluate(recipe, few).notes)


def test_rows_of_weights_that_are_fractions_are_counted_and_counts_stand_for_their_rows():
    found = given_evaluation(np.array([0, 1, 1]), {"none": np.array([0.1, 0.5, 0.9])})
    assert replace(found, weight=np.array([0.5, 1.5, 0.4])).tested == 3
    assert replace(found, weight=np.array([5.0, 1.0, 4.0])).tested == 10

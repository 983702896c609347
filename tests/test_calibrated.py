"""CalibratedClassifier: a scikit-learn classifier in every respect, and the placement's own numbers inside."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from calib.calibrated import CalibratedClassifier
from calib.calibrators import CALIBRATORS, Isotonic, Platt, VennAbers
from calib.kernel.checks import InputError
from calib.kernel.progress import Cancelled, Watch
from calib.models import ProbabilityForest
from calib.placements import PLACEMENTS

X, Y = make_classification(200, 5, n_informative=3, flip_y=0.2, random_state=0)
NEW = make_classification(25, 5, n_informative=3, random_state=1)[0]
WORDS = np.where(Y == 1, "yes", "no")
FOREST = ProbabilityForest(10, max_depth=4, random_state=0)
PAIRED = [key for key in PLACEMENTS if key != "none"]


# A forest draws its bags row by row, so no weight repeats rows in effect; scikit-learn's own class fails these, too.
BAGS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "bags are drawn row by row"
    for kind in ("dense", "sparse")
}


def checked(calibrator, placement):
    """Return a classifier for scikit-learn's checks.

    Predictions of a tree are equal for equal rows, dense or sparse. Those of a linear model differ in the last bit,
    and a step at a calibration row itself separates them. The few scores of a tree do not determine a curve of degree
    two, nor the edges of bins of which scikit-learn's checks of accuracy approve.
    """
    bagged = placement.startswith("oob") or calibrator == "rank"
    tree = DecisionTreeClassifier(max_depth=4 if calibrator == "histogram" else 2, random_state=0)
    smooth = calibrator == "quadratic" or (calibrator == "histogram" and placement != "train")
    model = LogisticRegression(tol=1e-12, max_iter=1000) if smooth else tree
    estimator = ProbabilityForest(5, random_state=0) if bagged else model
    return CalibratedClassifier(estimator, calibrator, placement, cv=3, random_state=0)


@parametrize_with_checks(
    [
        CalibratedClassifier(LogisticRegression(C=1), "platt", "cv", cv=3, random_state=0),
        checked("venn_abers", "split"),
        checked("isotonic", "cv"),
        checked("venn_abers", "oob"),
    ],
    expected_failed_checks=lambda made: BAGS if made.placement == "oob" else {},
)
def test_behaves_as_a_scikit_learn_classifier(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("bootstrap", "passes"), [(True, False), (False, True)])
def test_with_a_forest_that_draws_bags_scikit_learns_own_class_fails_the_same_two_checks(bootstrap, passes):
    forest = RandomForestClassifier(5, bootstrap=bootstrap, random_state=0)
    for name in BAGS:
        check, theirs = getattr(estimator_checks, name), CalibratedClassifierCV(forest, cv=3)
        with nullcontext() if passes else pytest.raises(AssertionError, match="not equivalent"):
            check("CalibratedClassifierCV", theirs)


def combinations():
    for placement, placed in PLACEMENTS.items():
        for key, method in CALIBRATORS.items():
            try:
                placed.check_takes(method)
            except InputError:
                continue
            yield key, placement


@pytest.mark.soak
@pytest.mark.parametrize(("calibrator", "placement"), combinations())
def test_every_calibrator_and_placement_behaves_as_a_scikit_learn_classifier(calibrator, placement):
    made = checked(calibrator, placement)
    bagged = isinstance(made.estimator, ProbabilityForest)
    results = check_estimator(made, on_fail=None, expected_failed_checks=BAGS if bagged else {})
    failed = {each["check_name"]: each["exception"] for each in results if each["status"] == "failed"}
    skipped = {each["check_name"] for each in results if each["status"] == "skipped"}
    assert failed == {}
    assert skipped <= {"check_array_api_input"}  # scikit-learn skips it, too


def test_platt_is_scikit_learns_sigmoid_and_on_the_score_where_asked():
    def said(calibrator):
        model = CalibratedClassifier(LogisticRegression(), calibrator, "cv", cv=4, random_state=1)
        return model.fit(X, Y).predict_proba(NEW)[:, 1]

    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    theirs = CalibratedClassifierCV(LogisticRegression(), method="sigmoid", cv=folds, ensemble=False).fit(
        X, Y
    )
    for calibrator in ("platt", Platt(), Platt(on="log-odds")):
        np.testing.assert_allclose(said(calibrator), theirs.predict_proba(NEW)[:, 1], atol=1e-6)
    assert np.abs(said(Platt(on="score")) - said("platt")).max() > 0.001


def test_a_change_of_scikit_learns_sigmoid_is_noticed():
    """Without a decision function it fits the probabilities themselves, which it discusses (scikit-learn #34312).

    If this fails on a new version, it may fit log-odds: see "Platt scaling: probabilities or log-odds?"
    in docs/measurements.md.
    """
    naive = GaussianNB().fit(X[:80], Y[:80])
    theirs = CalibratedClassifierCV(FrozenEstimator(naive), method="sigmoid").fit(X[80:], Y[80:])
    p, new = naive.predict_proba(X[80:])[:, 1], naive.predict_proba(NEW)[:, 1]
    expected = theirs.predict_proba(NEW)[:, 1]
    np.testing.assert_allclose(Platt(on="score").fit(p, Y[80:]).predict(new), expected, atol=1e-6)
    assert np.abs(Platt(on="log-odds").fit(p, Y[80:]).predict(new) - expected).max() > 0.01
    ours = CalibratedClassifier(FrozenEstimator(naive), Platt(on="score")).fit(X[80:], Y[80:])
    np.testing.assert_allclose(ours.predict_proba(NEW)[:, 1], expected, atol=1e-6)


def test_a_pipeline_within_is_searched_and_the_best_is_refitted():
    """Its calibrator and the step of its pipeline are found by name, scored on folds with its own probabilities."""
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    options = {"calibrator": ["platt", "isotonic"], "estimator__logisticregression__C": [0.01, 1.0]}
    search = GridSearchCV(
        CalibratedClassifier(inner, random_state=0), options, scoring="neg_log_loss", cv=StratifiedKFold(3)
    )
    search.fit(X, WORDS)
    losses = {}
    for calibrator in options["calibrator"]:
        for C in options["estimator__logisticregression__C"]:
            model = CalibratedClassifier(
                make_pipeline(StandardScaler(), LogisticRegression(C=C)), calibrator, random_state=0
            )
            p = cross_val_predict(model, X, WORDS, cv=StratifiedKFold(3), method="predict_proba")
            folds = [test for _, test in StratifiedKFold(3).split(X, WORDS)]
            parts = [log_loss(WORDS[test], p[test], labels=["no", "yes"]) for test in folds]
            losses[calibrator, C] = -np.mean(parts)
    found = search.cv_results_["params"]
    expected = [losses[each["calibrator"], each["estimator__logisticregression__C"]] for each in found]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected)
    again = clone(search.best_estimator_).fit(X, WORDS)
    assert np.array_equal(search.predict_proba(NEW), again.predict_proba(NEW))
    piped = make_pipeline(StandardScaler(), CalibratedClassifier(LogisticRegression(), random_state=0))
    scaled = StandardScaler().fit(X)
    alone = CalibratedClassifier(LogisticRegression(), random_state=0).fit(scaled.transform(X), WORDS)
    expected_p = alone.predict_proba(scaled.transform(NEW))
    assert np.array_equal(piped.fit(X, WORDS).predict_proba(NEW), expected_p)


def test_parameters_are_stored_and_cloned():
    model = CalibratedClassifier(FOREST, "platt", "cv", calibration_size=0.2, cv=3, random_state=4)
    assert is_classifier(model)
    assert clone(model).get_params(deep=False).keys() == {
        "estimator",
        "calibrator",
        "placement",
        "calibration_size",
        "cv",
        "random_state",
        "base_rate",
        "n_jobs",
    }
    model.set_params(estimator__n_estimators=3, calibrator=VennAbers(), calibrator__merge="square")
    assert clone(model).get_params()["estimator__n_estimators"] == 3
    assert clone(model).get_params()["calibrator__merge"] == "square"
    defaults = CalibratedClassifier(FOREST)
    assert (defaults.calibrator, defaults.placement, defaults.calibration_size) == (
        "venn_abers",
        "split",
        1 / 3,
    )
    assert (defaults.cv, defaults.random_state) == (5, None)


@pytest.mark.parametrize("placement", PAIRED)
def test_the_numbers_are_the_placements(placement):
    model = CalibratedClassifier(FOREST, "venn_abers", placement, random_state=2).fit(X, WORDS)
    placed = PLACEMENTS[placement]().fit(FOREST, X, Y, random_state=2)
    outcome = placed.predict(placed.calibrate(VennAbers()), placed.score(NEW[:5]))
    assert np.array_equal(model.predict_interval(NEW[:5]), np.column_stack([outcome.p0, outcome.p1]))
    proba = model.predict_proba(NEW[:5])
    assert np.array_equal(proba[:, 1], outcome.p)
    assert np.allclose(proba.sum(axis=1), 1)
    assert np.array_equal(model.predict(NEW[:5]), np.where(outcome.p > 0.5, "yes", "no"))
    assert model.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("placement", PAIRED)
def test_pairs_do_not_cross_except_in_full(placement):
    pair = (
        CalibratedClassifier(FOREST, placement=placement, random_state=0).fit(X, Y).predict_interval(NEW[:8])
    )
    assert pair.shape == (8, 2)
    assert ((pair >= 0) & (pair <= 1)).all()
    assert placement == "full" or (pair[:, 0] <= pair[:, 1]).all()


@pytest.mark.parametrize("placement", PAIRED)
def test_a_rows_answer_does_not_depend_on_its_neighbours(placement):
    model = CalibratedClassifier(FOREST, placement=placement, random_state=0).fit(X, Y)
    rows = NEW[:6]
    together = model.predict_interval(rows)
    assert np.array_equal(np.vstack([model.predict_interval(row[None]) for row in rows]), together)
    assert np.array_equal(model.predict_interval(rows[::-1])[::-1], together)


def test_out_of_bag_reference_is_a_row_of_the_training_set_whose_trees_score():
    model = CalibratedClassifier(FOREST, placement="oob", random_state=0).fit(X, Y)
    r = model.oob_reference(NEW)
    forest = model.placed_.model
    assert r.shape == (25,)
    free, votes = ~forest.in_bag(), forest.tree_scores(NEW)
    expected = [votes[j, free[r[j]]].mean() for j in range(25)]
    assert np.allclose(model.placed_.score(NEW).scores, expected)
    assert np.array_equal(model.oob_reference(np.vstack([NEW[::-1], NEW]))[25:], r)


@pytest.mark.parametrize("placement", ["split", "oob_whole"])
def test_only_oob_draws_references(placement):
    with pytest.raises(InputError, match=f"only with placement='oob'.*{placement}"):
        CalibratedClassifier(FOREST, placement=placement).fit(X, Y).oob_reference(NEW)


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(3)])
def test_a_fitted_model_answers_the_same_twice_whatever_the_seed(random_state):
    model = CalibratedClassifier(FOREST, placement="oob", random_state=random_state).fit(X, Y)
    assert np.array_equal(model.predict_proba(NEW), model.predict_proba(NEW))
    assert np.array_equal(model.oob_reference(NEW), model.oob_reference(NEW))


def test_works_inside_scikit_learns_tools():
    model = CalibratedClassifier(FOREST, placement="oob", random_state=0)
    assert cross_val_score(make_pipeline(StandardScaler(), model), X, WORDS, cv=3).min() > 0.6
    assert cross_val_predict(model, X, WORDS, cv=3, method="predict_proba").shape == (200, 2)
    search = GridSearchCV(
        model, {"calibrator": ["platt", "venn_abers"], "estimator__max_depth": [2, 4]}, cv=3
    )
    assert search.fit(X, WORDS).best_score_ > 0.6


def test_data_frames_of_mixed_types():
    frame = pd.DataFrame(
        {"town": np.array(["a", "b", "c"])[np.arange(200) % 3], "x": X[:, 0], "z": X[:, 1] > 0}
    )
    columns = ColumnTransformer([("one", OneHotEncoder(), ["town"])], remainder="passthrough")
    for placement in PAIRED:
        model = CalibratedClassifier(make_pipeline(columns, FOREST), placement=placement, random_state=0)
        model.fit(frame, WORDS)
        assert model.predict_interval(frame.head(4)).shape == (4, 2)
        assert model.n_features_in_ == 3
        assert model.feature_names_in_.tolist() == ["town", "x", "z"]


def test_a_fitted_pipeline_is_calibrated_on_all_rows_and_not_refitted():
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:80], Y[:80])
    model = CalibratedClassifier(FrozenEstimator(fitted), "isotonic").fit(X[80:], Y[80:])
    by_hand = (
        Isotonic().fit(fitted.predict_proba(X[80:])[:, 1], Y[80:]).predict(fitted.predict_proba(NEW)[:, 1])
    )
    assert np.array_equal(model.predict_proba(NEW)[:, 1], by_hand)


def test_margins_of_a_support_vector_machine():
    model = CalibratedClassifier(SVC(), random_state=0).fit(X, Y)
    assert np.mean(model.predict(X) == Y) > 0.7
    with pytest.raises(InputError, match="Beta calibration needs probabilities.*SVC .*margins"):
        CalibratedClassifier(SVC(), "beta").fit(X, Y)


def test_cancelling_a_fit_and_a_prediction():
    stopped = Watch()
    stopped.cancel.set()
    with pytest.raises(Cancelled):
        CalibratedClassifier(FOREST).fit(X, Y, watch=stopped)
    model = CalibratedClassifier(FOREST, placement="full").fit(X, Y)
    with pytest.raises(Cancelled):
        model.outcome(NEW, stopped)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"calibrator": "plat"}, "calibrator must be one of 'none', 'platt'"),
        ({"calibrator": 3}, "calibrator must be one of"),
        ({"placement": "holdout"}, "placement must be one of 'none', 'split'"),
        ({"placement": "oob", "estimator": GaussianNB()}, "GaussianNB is not bagged"),
        ({"placement": "oob", "estimator": RandomForestClassifier(bootstrap=False)}, "bootstrap=False"),
        ({"placement": "none"}, "needs calibration scores"),
        ({"calibration_size": 1.0}, "calibration_size must be"),
        ({"cv": 500, "placement": "cv"}, "cv=500 folds need"),
        ({"calibrator": VennAbers(merge="mean")}, "merge must be one of"),
    ],
)
def test_bad_options_are_refused_by_name(options, said):
    with pytest.raises(InputError, match=said):
        CalibratedClassifier(**({"estimator": FOREST} | options)).fit(X, Y)


def test_unfitted_use_and_intervals_that_do_not_exist():
    for method in ("predict", "predict_proba", "predict_interval", "oob_reference"):
        with pytest.raises(NotFittedError):
            getattr(CalibratedClassifier(FOREST), method)(NEW)
    with pytest.raises(InputError, match="'platt' .*no interval"):
        CalibratedClassifier(FOREST, "platt").fit(X, Y).predict_interval(NEW)

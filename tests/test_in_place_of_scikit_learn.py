"""CalibratedClassifier takes each call that users of scikit-learn's CalibratedClassifierCV make.

Sections: weights · who gets them · splitters · fitted estimators · inputs. ``tests/test_coming_from_scikit_learn.py``
holds the behaviours of scikit-learn's own tests.
"""

import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from calib import CalibratedClassifier
from calib.calibrators import CALIBRATORS, Isotonic, OneVsRest, Platt
from calib.kernel.checks import InputError
from calib.models import ProbabilityForest
from calib.placements import PLACEMENTS

X, Y = make_classification(240, 5, n_informative=3, flip_y=0.2, random_state=0)
NEW = make_classification(30, 5, n_informative=3, random_state=1)[0]
RNG = np.random.default_rng(0)
WHOLE = RNG.integers(0, 4, len(Y)).astype(float)
PARTLY = RNG.uniform(0.1, 2.0, len(Y))
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
IRIS, SPECIES = load_iris(return_X_y=True)
NAMED = np.array(["setosa", "versicolor", "virginica"])[SPECIES]


class Recorder(ClassifierMixin, BaseEstimator):
    """Naive Bayes that keeps the arguments of its fit; ``eval_set`` is as LightGBM, XGBoost and CatBoost take it."""

    def fit(self, X, y, sample_weight=None, eval_set=None, offset=None):
        self.given_ = {"X": X, "weight": sample_weight, "eval_set": eval_set, "offset": offset}
        self.model_ = GaussianNB().fit(X, y, sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


def fitted(*args, weight=None, rows=slice(None), estimator=TREE, **options):
    """Predictions for NEW of a classifier fitted on some rows."""
    model = CalibratedClassifier(estimator, *args, random_state=0, **options)
    return model.fit(X[rows], Y[rows], None if weight is None else weight[rows]).predict_proba(NEW)


# Weights


@pytest.mark.parametrize("placement", [key for key in PLACEMENTS if key != "none"])
def test_rows_of_weight_zero_are_left_out(placement):
    estimator = ProbabilityForest(10, random_state=0) if placement.startswith("oob") else TREE
    whole, kept = (WHOLE > 0).astype(float), np.flatnonzero(WHOLE)
    weighted = fitted("venn_abers", placement, weight=whole, estimator=estimator)
    ones = np.ones(len(Y))
    assert np.array_equal(
        weighted, fitted("venn_abers", placement, weight=ones, rows=kept, estimator=estimator)
    )


@pytest.mark.parametrize("calibrator", [key for key in CALIBRATORS if key not in ("rank", "none")])
@pytest.mark.parametrize("placement", ["train", "cv"])
def test_whole_weights_repeat_rows(placement, calibrator):
    """For cv, the folds are stated, because random ones would divide the repeated rows."""
    repeated = np.repeat(np.arange(len(Y)), WHOLE.astype(int))
    fold = np.arange(len(Y)) % 3
    options = (
        [{"cv": PredefinedSplit(fold)}, {"cv": PredefinedSplit(fold[repeated])}]
        if placement == "cv"
        else [{}, {}]
    )
    weighted = fitted(calibrator, placement, weight=WHOLE, **options[0])
    np.testing.assert_allclose(
        weighted, fitted(calibrator, placement, rows=repeated, **options[1]), atol=1e-6
    )


@pytest.mark.parametrize("calibrator", ["platt", "isotonic", "beta", "temperature", "logistic", "spline"])
@pytest.mark.parametrize("scale", [1e-3, 7.7, 1e9])
def test_the_scale_of_other_weights_has_no_effect(calibrator, scale):
    model = GaussianNB().fit(X[:100], Y[:100])
    first, second = (
        CalibratedClassifier(model, calibrator, "fitted").fit(X[100:], Y[100:], w[100:]).predict_proba(NEW)
        for w in (PARTLY, PARTLY * scale)
    )
    np.testing.assert_allclose(first, second, atol=1e-9)
    unweighted = CalibratedClassifier(model, calibrator, "fitted").fit(X[100:], Y[100:]).predict_proba(NEW)
    assert np.abs(first - unweighted).max() > 1e-3


@pytest.mark.parametrize("placement", ["split", "cv"])
def test_small_weights_are_no_small_number_of_rows(placement):
    """The sum of the weights says nothing about how many rows a fold may have."""
    np.testing.assert_allclose(
        *(
            fitted("platt", placement, weight=PARTLY * scale, estimator=GaussianNB(var_smoothing=0))
            for scale in (1e-3, 1.0)
        )
    )


def test_weights_reach_the_estimator_unchanged_and_with_their_rows():
    for scale in (1.0, 3.0):
        model = CalibratedClassifier(Recorder(), "isotonic", "cv", cv=3, random_state=0).fit(
            X, Y, PARTLY * scale
        )
        for each in (*model.placed_.fold_models, model.placed_.model):
            place = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in each.given_["X"]]
            assert np.array_equal(each.given_["weight"], PARTLY[place] * scale)


def test_weights_give_scikit_learns_isotonic_calibration():
    """With stated folds, isotonic regression of pooled weighted scores is ensemble=False."""
    cv = KFold(4)
    theirs = CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=cv, ensemble=False).fit(X, Y, PARTLY)
    ours = CalibratedClassifier(GaussianNB(), "isotonic", "cv", cv=cv).fit(X, Y, PARTLY)
    np.testing.assert_allclose(ours.predict_proba(NEW), theirs.predict_proba(NEW), atol=1e-9)


def test_an_estimator_without_weights_is_said():
    model = CalibratedClassifier(KNeighborsClassifier(), "platt", random_state=0)
    with pytest.warns(
        UserWarning, match="KNeighborsClassifier does not support weights.*Only the calibrator"
    ):
        model.fit(X, Y, PARTLY)
    assert "KNeighborsClassifier does not support weights" in model.notes_[0]
    plain = clone(model).fit(X, Y)
    assert np.array_equal(plain.placed_.scores, model.placed_.scores)
    assert not np.array_equal(plain.predict_proba(NEW), model.predict_proba(NEW))


@pytest.mark.parametrize(
    ("weight", "said"),
    [
        (np.zeros(len(Y)), "not all weights may be zero"),
        (-WHOLE, "must not be negative"),
        (WHOLE[1:], "Lengths differ"),
        (np.full(len(Y), np.nan), "must be finite"),
    ],
)
def test_weights_that_are_none_are_refused(weight, said):
    with pytest.raises(InputError, match=said):
        CalibratedClassifier(GaussianNB()).fit(X, Y, weight)


# Who gets them: arguments of fit, and scikit-learn's metadata routing


def test_arguments_of_fit_reach_the_estimator():
    offset, evaluation = np.arange(len(Y)), [(X[:20], Y[:20])]
    model = CalibratedClassifier(Recorder(), "platt", random_state=0)
    model.fit(X, Y, offset=offset, eval_set=evaluation)
    given = model.placed_.model.given_
    assert np.array_equal(X[given["offset"]], given["X"])
    assert given["eval_set"] is evaluation
    with pytest.raises(TypeError, match="unknown"):
        model.fit(X, Y, unknown=1)


def test_arguments_of_fit_reach_a_step_of_a_pipeline():
    pipe = make_pipeline(StandardScaler(), Recorder())
    model = CalibratedClassifier(pipe, "platt", random_state=0)
    model.fit(X, Y, PARTLY, recorder__offset=np.arange(len(Y)), standardscaler__sample_weight=PARTLY)
    scaler, last = model.placed_.model
    train = last.given_["offset"]
    assert np.array_equal(last.given_["weight"], PARTLY[train])
    assert np.array_equal(scaler.mean_, StandardScaler().fit(X[train], sample_weight=PARTLY[train]).mean_)


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("calibrator_asks", [True, False])
def test_routing_gives_weights_to_whom_asks(asked, calibrator_asks):
    with config_context(enable_metadata_routing=True):
        estimator = Recorder().set_fit_request(sample_weight=asked)
        calibrator = Isotonic().set_fit_request(sample_weight=calibrator_asks)
        model = CalibratedClassifier(estimator, calibrator, "train").fit(X, Y, sample_weight=PARTLY)
    given = model.placed_.model.given_["weight"]
    assert np.array_equal(given, PARTLY) if asked else given is None
    scores = GaussianNB().fit(X, Y, PARTLY if asked else None).predict_proba
    by_hand = Isotonic().fit(scores(X)[:, 1], Y, PARTLY if calibrator_asks else None)
    np.testing.assert_allclose(model.predict_proba(NEW)[:, 1], by_hand.predict(scores(NEW)[:, 1]))


def test_routing_asks_who_wants_the_weights():
    with config_context(enable_metadata_routing=True):
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            CalibratedClassifier(Recorder()).fit(X, Y, sample_weight=PARTLY)
        model = CalibratedClassifier(Recorder().set_fit_request(sample_weight=True), "platt", random_state=0)
        outer = cross_validate(
            model.set_fit_request(sample_weight=True).set_score_request(sample_weight=False),
            X,
            Y,
            cv=3,
            params={"sample_weight": PARTLY},
            return_estimator=True,
        )
        assert all(each.placed_.model.given_["weight"] is not None for each in outer["estimator"])


def test_routing_reaches_the_steps_of_a_pipeline_and_the_splitter():
    groups = np.arange(len(Y)) // 4
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        pipe = make_pipeline(scaler, Recorder().set_fit_request(sample_weight=False))
        model = CalibratedClassifier(pipe, "isotonic", "cv", cv=GroupKFold(3))
        model.fit(X, Y, sample_weight=PARTLY, groups=groups)
    assert model.placed_.model[-1].given_["weight"] is None
    assert np.array_equal(model.placed_.model[0].mean_, StandardScaler().fit(X, sample_weight=PARTLY).mean_)
    for fold in model.placed_.fold_index:
        rest = np.setdiff1d(np.arange(len(Y)), fold)
        assert not set(groups[fold]) & set(groups[rest])


# Splitters


@pytest.mark.parametrize(
    "cv",
    [
        KFold(4),
        StratifiedKFold(3),
        LeaveOneOut(),
        PredefinedSplit(np.arange(len(Y)) % 3),
        list(KFold(4, shuffle=True, random_state=1).split(X)),
    ],
    ids=lambda cv: type(cv).__name__,
)
def test_a_splitter_states_the_folds(cv):
    """The pooled scores are those of cross_val_predict, as with ensemble=False."""
    rows = slice(None, None, 4 if isinstance(cv, LeaveOneOut) else 1)
    model = CalibratedClassifier(GaussianNB(), "isotonic", "cv", cv=cv).fit(X[rows], Y[rows])
    expected = cross_val_predict(GaussianNB(), X[rows], Y[rows], cv=cv, method="predict_proba")[:, 1]
    np.testing.assert_allclose(model.placed_.scores, expected)
    by_hand = Isotonic().fit(expected, Y[rows])
    p = GaussianNB().fit(X[rows], Y[rows]).predict_proba(NEW)[:, 1]
    np.testing.assert_allclose(model.predict_proba(NEW)[:, 1], by_hand.predict(p))


def test_groups_go_to_the_splitter():
    groups = np.arange(len(Y)) // 6
    ours = CalibratedClassifier(GaussianNB(), "isotonic", "cv", cv=GroupKFold(3)).fit(X, Y, groups=groups)
    expected = cross_val_predict(GaussianNB(), X, Y, cv=GroupKFold(3), groups=groups, method="predict_proba")[
        :, 1
    ]
    np.testing.assert_allclose(ours.placed_.scores, expected)


def test_time_series_calibrate_with_later_rows_only():
    model = CalibratedClassifier(GaussianNB(), "platt", "cv", cv=TimeSeriesSplit(3)).fit(X, Y)
    assert model.placed_.index.min() == 60
    assert "60 of 240 training rows are not calibration rows" in model.notes_[0]
    for (train, test), each in zip(TimeSeriesSplit(3).split(X), model.placed_.fold_models, strict=True):
        expected = GaussianNB().fit(X[train], Y[train]).predict_proba(X[test])[:, 1]
        np.testing.assert_allclose(each.predict_proba(X[test])[:, 1], expected)


def test_a_splitter_at_split_holds_out_its_last_part():
    model = CalibratedClassifier(GaussianNB(), "platt", cv=TimeSeriesSplit(3)).fit(X, Y)
    assert model.placed_.index.tolist() == list(range(180, 240))
    one = ShuffleSplit(1, test_size=0.3, random_state=4)
    held = CalibratedClassifier(GaussianNB(), "platt", cv=one).fit(X, Y).placed_.index
    assert np.array_equal(held, next(one.split(X))[1])


def test_index_pairs_name_rows_although_some_have_weight_zero():
    weight, pairs = (np.arange(len(Y)) % 5 > 0).astype(float), list(KFold(3).split(X))
    model = CalibratedClassifier(GaussianNB(), "isotonic", "cv", cv=pairs).fit(X, Y, weight)
    kept = np.flatnonzero(weight)
    expected = np.empty(len(Y))
    for train, test in pairs:
        learn = np.intersect1d(train, kept)
        expected[test] = GaussianNB().fit(X[learn], Y[learn]).predict_proba(X[test])[:, 1]
    np.testing.assert_allclose(model.placed_.scores, expected[kept])


def test_folds_too_small_for_an_interval_are_refused_and_the_others_work():
    rows = slice(None, None, 6)
    model = CalibratedClassifier(GaussianNB(), "venn_abers", "cv", cv=LeaveOneOut())
    with pytest.raises(InputError, match="a fold has fewer than two calibration rows.*without intervals"):
        model.fit(X[rows], Y[rows])
    with pytest.raises(InputError, match="With this cv, all training rows are in one class.*StratifiedKFold"):
        CalibratedClassifier(GaussianNB(), "platt", "cv", cv=KFold(2)).fit(np.sort(X, axis=0), np.sort(Y))


@pytest.mark.parametrize("cv", ["five", 1, 2.5])
def test_a_number_of_folds_that_is_none_is_refused(cv):
    with pytest.raises(InputError, match="cv must be a whole number"):
        CalibratedClassifier(GaussianNB(), "platt", "cv", cv=cv).fit(X, Y)


def test_no_number_of_folds_means_five():
    assert len(CalibratedClassifier(TREE, "platt", "cv", cv=None).fit(X, Y).placed_.fold_models) == 5


def test_parallel_folds_are_the_same():
    one, two = (
        CalibratedClassifier(TREE, "venn_abers", "cv", random_state=0, n_jobs=jobs).fit(
            X, Y, PARTLY.round() + 1
        )
        for jobs in (None, 2)
    )
    assert np.array_equal(one.predict_interval(NEW), two.predict_interval(NEW))


# Fitted estimators


@pytest.mark.parametrize("wrap", [lambda model: model, FrozenEstimator], ids=["plain", "frozen"])
@pytest.mark.parametrize("partial", [False, True])
def test_a_fitted_estimator_is_calibrated_on_all_rows_and_never_fitted(wrap, partial):
    model = GaussianNB()
    _ = model.partial_fit(X[:80], Y[:80], classes=[0, 1]) if partial else model.fit(X[:80], Y[:80])
    before = pickle.dumps(model)
    made = CalibratedClassifier(wrap(model), "isotonic", "fitted").fit(X[80:], Y[80:])
    by_hand = Isotonic().fit(model.predict_proba(X[80:])[:, 1], Y[80:])
    assert np.array_equal(made.predict_proba(NEW)[:, 1], by_hand.predict(model.predict_proba(NEW)[:, 1]))
    assert pickle.dumps(model) == before
    theirs = CalibratedClassifierCV(FrozenEstimator(model), method="isotonic").fit(X[80:], Y[80:])
    np.testing.assert_allclose(made.predict_proba(NEW), theirs.predict_proba(NEW))


def test_fitting_a_fitted_estimator_again_is_said():
    model = GaussianNB().fit(X[:80], Y[:80])
    for placement in ("train", "split"):
        with pytest.warns(UserWarning, match="GaussianNB is already fitted.*choose placement='fitted'"):
            CalibratedClassifier(model, "isotonic", placement).fit(X[80:], Y[80:])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CalibratedClassifier(model, "isotonic", "fitted").fit(X[80:], Y[80:])
        CalibratedClassifier(FrozenEstimator(model), "isotonic", "train").fit(X[80:], Y[80:])
        CalibratedClassifier(GaussianNB(), "isotonic", "train").fit(X[80:], Y[80:])


def test_an_estimator_that_is_not_fitted_is_refused_with_the_way_out():
    for model in (GaussianNB(), make_pipeline(StandardScaler(), GaussianNB())):
        with pytest.raises(InputError, match="GaussianNB is not fitted.*FrozenEstimator"):
            CalibratedClassifier(model, "isotonic", "fitted").fit(X, Y)


@pytest.mark.parametrize("wrap", [lambda model: model, FrozenEstimator], ids=["plain", "frozen"])
def test_a_class_without_calibration_rows_keeps_its_column(wrap):
    """As the array interface gives it: three columns, and the missing class keeps its probability."""
    model = GaussianNB().fit(IRIS[::2], NAMED[::2])
    rows = np.flatnonzero((np.arange(150) % 2 == 1) & (NAMED != "virginica"))
    made = CalibratedClassifier(wrap(model), "platt", "fitted").fit(IRIS[rows], NAMED[rows])
    p = made.predict_proba(IRIS)
    P = model.predict_proba(IRIS)
    by_hand = OneVsRest(Platt(on="log-odds")).fit(P[rows], SPECIES[rows])
    assert p.shape == (150, 3)
    np.testing.assert_allclose(p, by_hand.predict(P))
    assert made.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert "No calibration row has the label 'virginica'." in made.notes_


def test_one_class_in_the_calibration_rows_is_answered_or_refused_by_name():
    model = GaussianNB().fit(X[:80], Y[:80])
    rows = 80 + np.flatnonzero(Y[80:] == 1)
    made = CalibratedClassifier(model, "venn_abers", "fitted").fit(X[rows], Y[rows])
    assert made.predict_proba(NEW).shape == (30, 2)
    with pytest.raises(InputError, match="Platt scaling needs rows of both classes"):
        CalibratedClassifier(model, "platt", "fitted").fit(X[rows], Y[rows])


def test_a_label_that_the_fitted_estimator_does_not_know_is_refused():
    model = GaussianNB().fit(X[:80], Y[:80])
    with pytest.raises(InputError, match="y has the labels 2, but the fitted estimator knows only 0 and 1"):
        CalibratedClassifier(model, "platt", "fitted").fit(X[80:], np.where(X[80:, 0] > 1, 2, Y[80:]))


def test_a_search_over_calibrators_and_placements():
    search = GridSearchCV(
        CalibratedClassifier(GaussianNB(), random_state=0),
        {"calibrator": ["platt", Isotonic()], "placement": ["split", "cv", "train"], "cv": [KFold(3), 4]},
        scoring="neg_brier_score",
        error_score="raise",
    ).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    frozen = FrozenEstimator(GaussianNB().fit(X[:80], Y[:80]))
    again = GridSearchCV(
        CalibratedClassifier(frozen, placement="fitted"),
        {"calibrator": ["platt", "isotonic"]},
        error_score="raise",
    ).fit(X[80:], Y[80:])
    assert again.best_estimator_.placed_.model.estimator is frozen.estimator


# Inputs


def tables():
    polars = pytest.importorskip("polars")
    columns = [f"x{i}" for i in range(X.shape[1])]
    return {
        "pandas": pd.DataFrame(X, columns=columns),
        "polars": polars.DataFrame(X, schema=columns),
        "csr": sp.csr_array(X),
        "csc": sp.csc_matrix(X),
        "list": X.tolist(),
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "csr", "csc", "list"])
@pytest.mark.parametrize("placement", ["split", "cv", "train", "fitted"])
def test_every_kind_of_table_gives_the_same(kind, placement):
    table = tables()[kind]
    model = LogisticRegression(tol=1e-10)
    frozen = FrozenEstimator(model.fit(table, Y)) if placement == "fitted" else clone(model)
    made = CalibratedClassifier(frozen, "platt", placement, random_state=0).fit(table, Y, PARTLY)
    plain = FrozenEstimator(clone(model).fit(X, Y)) if placement == "fitted" else clone(model)
    expected = CalibratedClassifier(plain, "platt", placement, random_state=0).fit(X, Y, PARTLY)
    np.testing.assert_allclose(made.predict_proba(table), expected.predict_proba(X), atol=1e-7)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (np.where(Y, "yes", "no"), ["no", "yes"]),
        (np.where(Y, "yes", "no").astype(object), ["no", "yes"]),
        (Y.astype(bool), [False, True]),
        (pd.Series(Y == 1, dtype="boolean"), [False, True]),
        (pd.Series(Y, dtype="Int64"), [0, 1]),
        (pd.Series(np.where(Y, "yes", "no"), dtype="string"), ["no", "yes"]),
        (pd.Series(np.where(Y, "yes", "no")).astype("category"), ["no", "yes"]),
        (2 * Y - 1, [-1, 1]),
        (Y.astype(float), [0.0, 1.0]),
        (Y.tolist(), [0, 1]),
    ],
    ids=str,
)
def test_every_kind_of_label_gives_the_same(labels, classes):
    model = CalibratedClassifier(TREE, "isotonic", random_state=0).fit(X, labels)
    assert model.classes_.tolist() == classes
    assert np.array_equal(model.predict_proba(NEW), fitted("isotonic"))
    assert set(model.predict(NEW).tolist()) <= set(classes)


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(Y == 1, dtype="boolean").mask(np.arange(len(Y)) == 3),
        np.where(np.arange(len(Y)) == 3, None, Y),
        np.where(np.arange(len(Y)) == 3, np.nan, Y),
    ],
    ids=["boolean", "object", "float"],
)
def test_a_missing_label_is_named_by_its_position(labels):
    with pytest.raises(InputError, match="1 of 240 are missing .the first at position 3."):
        CalibratedClassifier(TREE).fit(X, labels)


@pytest.mark.parametrize("size", [1.0, 1e-300, 1e5, 1e300])
@pytest.mark.parametrize("calibrator", ["platt", "isotonic", "venn", "venn_abers"])
def test_margins_of_any_size(size, calibrator):
    """A calibrator of margins depends on their order or their ratios only, so their size changes nothing."""

    class Margins(ClassifierMixin, BaseEstimator):
        def __init__(self, size=1.0):
            self.size = size

        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def decision_function(self, X):
            return X[:, 0] / np.abs(X).max() * self.size

    def said(size):
        return CalibratedClassifier(Margins(size), calibrator, random_state=0).fit(X, Y).predict_proba(NEW)

    assert np.isfinite(said(size)).all()
    np.testing.assert_allclose(said(size), said(1.0), atol=1e-4)


@pytest.mark.parametrize("estimator", [LinearSVC(), SVC(), SGDClassifier(random_state=0)])
@pytest.mark.parametrize("calibrator", ["platt", "isotonic", "temperature", "vector", "venn_abers", "none"])
def test_margins_of_three_classes(estimator, calibrator):
    scaled = make_pipeline(StandardScaler(), estimator)
    model = CalibratedClassifier(scaled, calibrator, "cv", cv=3, random_state=0).fit(IRIS, NAMED)
    p = model.predict_proba(IRIS)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (model.predict(IRIS) == NAMED).mean() > 0.85


def test_margins_of_three_classes_are_tempered_as_in_scikit_learn():
    """Temperature scaling of the softmax of margins is scikit-learn's of the decision function."""
    svm = LinearSVC().fit(IRIS[::2], NAMED[::2])
    ours = CalibratedClassifier(svm, "temperature", "fitted").fit(IRIS[1::2], NAMED[1::2])
    theirs = CalibratedClassifierCV(FrozenEstimator(svm), method="temperature").fit(IRIS[1::2], NAMED[1::2])
    np.testing.assert_allclose(ours.predict_proba(IRIS), theirs.predict_proba(IRIS), atol=1e-4)


def test_margins_per_pair_of_classes_are_refused():
    four = np.arange(len(Y)) % 4
    with pytest.raises(InputError, match="decision_function_shape='ovr'"):
        CalibratedClassifier(SVC(decision_function_shape="ovo"), random_state=0).fit(X, four)


def test_a_saved_model_predicts_the_same(tmp_path):
    model = CalibratedClassifier(GaussianNB().fit(X[:80], Y[:80]), "venn_abers", "fitted").fit(X[80:], Y[80:])
    joblib.dump(model, tmp_path / "model.joblib")
    for again in (joblib.load(tmp_path / "model.joblib"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.predict_interval(NEW), model.predict_interval(NEW))


def test_pandas_output_within_a_pipeline():
    pipe = make_pipeline(StandardScaler(), CalibratedClassifier(TREE, "isotonic", random_state=0))
    frame = pd.DataFrame(X, columns=list("abcde"))
    named = pipe.set_output(transform="pandas").fit(frame, Y)
    assert named[-1].feature_names_in_.tolist() == list("abcde")
    plain = clone(pipe).set_output(transform="default").fit(X, Y)
    assert np.array_equal(named.predict_proba(frame), plain.predict_proba(X))


# LightGBM, XGBoost and CatBoost: evaluation sets, early stopping and weights

PATIENCE = 3  # rounds without improvement after which a fit stops


def boosted(library, name, **options):
    """An unfitted classifier of many trees; skips by the name of what is missing."""
    made = getattr(pytest.importorskip(library), name)
    return made(learning_rate=0.3, n_estimators=300, random_state=0, **options)


def lightgbm():
    model = boosted("lightgbm", "LGBMClassifier", n_jobs=1, verbose=-1)
    return model, {"callbacks": [pytest.importorskip("lightgbm").early_stopping(PATIENCE, verbose=False)]}


def xgboost():
    options = {"n_jobs": 1, "max_depth": 3, "early_stopping_rounds": PATIENCE}
    return boosted("xgboost", "XGBClassifier", **options), {"verbose": False}


def catboost():
    options = {"thread_count": 1, "early_stopping_rounds": PATIENCE, "allow_writing_files": False}
    return boosted("catboost", "CatBoostClassifier", **options), {"verbose": False}


LIBRARIES = [lightgbm, xgboost, catboost]


def best_round(model):
    """The round at which boosting was best, under the name that its library gives it."""
    return getattr(model, "best_iteration_", None) or model.best_iteration


@pytest.mark.parametrize("library", LIBRARIES)
def test_boosting_stops_early_within_every_fold(library):
    base, given = library()
    given["eval_set"] = [(X[180:], Y[180:])]
    model = CalibratedClassifier(base, "platt", "cv", cv=3, random_state=0)
    model.fit(X[:180], Y[:180], PARTLY[:180], **given)
    assert all(0 < best_round(each) < 299 for each in model.placed_.fold_models)
    assert not model.placed_.params  # a saved model holds neither evaluation sets nor callbacks
    first = model.placed_.fold_models[0]
    cut = next(StratifiedKFold(3, shuffle=True, random_state=0).split(X[:180], Y[:180]))[0]
    alone = clone(base).fit(X[cut], Y[cut], sample_weight=PARTLY[cut], **given)
    assert np.array_equal(first.predict_proba(NEW), alone.predict_proba(NEW))


@pytest.mark.parametrize("library", LIBRARIES)
def test_fitted_boosting_keeps_its_trees_and_is_saved(library, tmp_path):
    base, given = library()
    base.fit(X[:120], Y[:120], eval_set=[(X[180:], Y[180:])], **given)
    before = base.predict_proba(NEW)
    model = CalibratedClassifier(base, "venn_abers", "fitted").fit(X[120:180], Y[120:180])
    assert np.array_equal(model.placed_.scores, base.predict_proba(X[120:180])[:, 1])
    assert np.array_equal(base.predict_proba(NEW), before)
    joblib.dump(model, tmp_path / "model")
    assert np.array_equal(joblib.load(tmp_path / "model").predict_interval(NEW), model.predict_interval(NEW))

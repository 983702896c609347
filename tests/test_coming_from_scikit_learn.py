"""Each behaviour in scikit-learn's test_calibration.py, and each call reported in public trackers, with what ours does.

docs/coming_from_scikit_learn.md lists both. Weights, splitters, fitted estimators and inputs are in
``tests/test_in_place_of_scikit_learn.py``.
"""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
import sklearn.tests
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.datasets import make_blobs, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.feature_extraction import DictVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from calib import CalibratedClassifier, check
from calib.analysis.curves import binned_curve
from calib.calibrators import CALIBRATORS, OneVsRest, Platt
from calib.kernel.checks import InputError

PAGE = (Path(__file__).parents[1] / "docs/coming_from_scikit_learn.md").read_text(encoding="utf-8")
X, Y = make_classification(200, 6, random_state=42)
RNG = np.random.default_rng(0)


def classifier(estimator, calibrator="platt", placement="split", **options):
    return CalibratedClassifier(estimator, calibrator, placement, random_state=0, **options)


def test_the_page_lists_every_test_of_scikit_learn():
    source = Path(sklearn.tests.__file__).with_name("test_calibration.py").read_text(encoding="utf-8")
    tests = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    theirs = {name for name in tests if name.startswith("test_")}
    assert theirs == set(re.findall(r"^\| `(test_\w+)`", PAGE, flags=re.M))


def test_the_page_names_tests_of_ours_that_exist():
    named = set(re.findall(r"`tests/(\w+\.py)::(test_\w+)`", PAGE))
    assert len(named) > 20
    for file, name in named:
        assert f"def {name}(" in (Path(__file__).parent / file).read_text(encoding="utf-8"), name


def test_the_page_lists_at_least_24_reported_calls():
    reported = PAGE.partition("## Reported calls")[2]
    assert len(re.findall(r"^\| \[", reported, flags=re.M)) >= 24


# scikit-learn's tests


@pytest.mark.parametrize("sparse", [False, True])
def test_labels_may_be_called_anything(sparse):
    from scipy.sparse import csr_array

    table = csr_array(X - X.min()) if sparse else X - X.min()
    first, *others = (
        classifier(MultinomialNB(), "isotonic", "cv").fit(table, y).predict_proba(table)[:, 1]
        for y in (Y, Y + 1, 2 * Y - 1)
    )
    for other in others:
        assert np.array_equal(first, other)
    turned = classifier(MultinomialNB(), "platt", "cv").fit(table, 1 - Y).predict_proba(table)[:, 0]
    np.testing.assert_allclose(
        turned, classifier(MultinomialNB(), "platt", "cv").fit(table, Y).predict_proba(table)[:, 1], atol=1e-6
    )


def test_too_many_folds_are_refused():
    with pytest.raises(InputError, match="cv=201 folds need at least 201 rows of each class"):
        classifier(MultinomialNB(), placement="cv", cv=201).fit(X - X.min(), Y)


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="calibrator must be one of"):
        classifier(MultinomialNB(), "sigmoid").fit(X - X.min(), Y)


@pytest.mark.parametrize(
    ("theirs", "ours"), [("sigmoid", "platt"), ("isotonic", "isotonic"), ("temperature", None)]
)
def test_pooled_folds_are_ensemble_false(theirs, ours):
    """For margins of two classes, temperature needs probabilities here, so it is compared for a probability."""
    model = LinearSVC(random_state=7) if ours else LogisticRegression()
    made = classifier(model, ours or "temperature", "cv", cv=KFold(3)).fit(X, Y)
    expected = CalibratedClassifierCV(model, method=theirs, cv=KFold(3), ensemble=False).fit(X, Y)
    np.testing.assert_allclose(made.predict_proba(X), expected.predict_proba(X), atol=1e-5)


def test_libsvms_numbers_of_platt_scaling():
    """Platt, Lin et al. on three rows; computed once with LIBSVM's code, as in scikit-learn's test."""
    made = Platt().fit([5, -4, 1.0], [1, 0, 0])
    np.testing.assert_allclose([made.A_, made.B_], [-0.20261354391187855, 0.65236314980010512], atol=1e-3)
    with pytest.raises(InputError, match="one-dimensional"):
        Platt().fit([[5, -4, 1.0]] * 2, [1, 0, 0])


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_temperature_keeps_the_order_and_lowers_the_loss(classes):
    X, y = make_classification(
        600,
        10,
        n_informative=10,
        n_redundant=0,
        n_classes=classes,
        n_clusters_per_class=1,
        class_sep=2,
        random_state=1,
    )
    base = LogisticRegression(C=np.inf, tol=1e-8, max_iter=200).fit(X[:300], y[:300])
    made = CalibratedClassifier(base, "temperature", "fitted").fit(X[300:], y[300:])
    before, after = base.predict_proba(X[300:]), made.predict_proba(X[300:])
    assert accuracy_score(y[300:], made.predict(X[300:])) == accuracy_score(y[300:], base.predict(X[300:]))
    assert log_loss(y[300:], after) <= log_loss(y[300:], before) + 1e-12
    if (
        classes == 2
    ):  # with more, rows are divided by sums of their own, so that only the order within a row is kept
        assert roc_auc_score(y[300:], before[:, 1]) == roc_auc_score(y[300:], after[:, 1])
    P = base.predict_proba(X[:300])
    own = CALIBRATORS["temperature"]().fit(P[:, 1] if classes == 2 else P, y[:300])
    assert own.predict(P[:, 1] if classes == 2 else P) == pytest.approx(
        P[:, 1] if classes == 2 else P, abs=1e-4
    )


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_bins_are_those_of_calibration_curve(strategy):
    p = RNG.random(300)
    y = (RNG.random(300) < p).astype(int)
    observed, mean = calibration_curve(y, p, n_bins=7, strategy=strategy)
    curve = binned_curve(y, p, bins=7, strategy=strategy)
    np.testing.assert_allclose(curve.observed, observed)
    np.testing.assert_allclose(curve.mean_p, mean)
    with pytest.raises(InputError, match="strategy must be one of"):
        binned_curve(y, p, strategy="percentile")
    with pytest.raises(InputError, match="must lie in"):
        binned_curve([1], [-0.1])


def test_missing_values_reach_a_pipeline_that_imputes_them():
    holed = X.copy()
    holed[0, 0] = np.nan
    pipe = make_pipeline(SimpleImputer(), RandomForestClassifier(3, random_state=0))
    for calibrator in ("platt", "isotonic", "temperature"):
        p = classifier(pipe, calibrator, "cv", cv=2).fit(holed, Y).predict_proba(holed)
        np.testing.assert_allclose(p.sum(axis=1), 1)


def test_a_fold_of_one_class_calibrates_with_the_others():
    """The labels are sorted, so two of three folds hold one class each."""
    y = np.sort(Y)
    p = classifier(LinearSVC(), "platt", "cv", cv=KFold(3)).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_a_class_that_a_fold_did_not_see_keeps_its_column():
    X = np.random.default_rng(1).normal(size=(12, 5))
    y = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    made = classifier(DecisionTreeClassifier(random_state=7), "platt", "cv", cv=KFold(3)).fit(X, y)
    assert made.placed_.scores.shape == (12, 4)
    assert (made.placed_.scores[:3, 0] == 0).all()  # in the first fold, no training row has class 0
    np.testing.assert_allclose(made.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("shape", [(30, 5, 2), (30, 5, 2, 6)])
def test_rows_may_be_tensors(shape):
    class Sums(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def decision_function(self, X):
            return X.reshape(len(X), -1).sum(axis=1)

    tensor, y = RNG.normal(size=shape), np.arange(30) % 2
    for placement in ("split", "cv", "train"):
        assert classifier(Sums(), "platt", placement).fit(tensor, y).predict_proba(tensor).shape == (30, 2)


def test_rows_may_be_dictionaries():
    rows = [
        {"state": state, "age": age} for state, age in zip("NTVCB" * 4, ("adult", "child") * 10, strict=True)
    ]
    y = np.arange(20) % 2
    pipe = Pipeline([("vectorizer", DictVectorizer()), ("clf", RandomForestClassifier(5, random_state=0))])
    made = CalibratedClassifier(pipe.fit(rows, y), "platt", "fitted").fit(rows, y)
    assert made.classes_.tolist() == [0, 1]
    assert not hasattr(made, "n_features_in_")
    assert made.predict_proba(rows).shape == (20, 2)
    assert classifier(clone(pipe), "platt", "cv", cv=2).fit(rows, y).predict(rows).shape == (20,)


def test_attributes():
    made = classifier(LinearSVC(C=1), cv=2).fit(X, Y)
    assert made.classes_.tolist() == [0, 1]
    assert made.n_features_in_ == 6


def test_other_features_than_the_fitted_models_are_refused():
    model = LinearSVC(C=1).fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features, but LinearSVC is expecting 6 features as input"):
        CalibratedClassifier(model, "platt", "fitted").fit(X[:, :3], Y)


def test_a_voting_classifier():
    vote = VotingClassifier([(f"lr{i}", LogisticRegression()) for i in range(3)], voting="soft")
    for made in (
        CalibratedClassifier(FrozenEstimator(vote.fit(X, Y)), "platt").fit(X, Y),
        classifier(clone(vote), "platt", "cv").fit(X, Y),
    ):
        assert made.predict_proba(X).shape == (200, 2)


def test_ten_collapsed_classes_are_not_degraded():
    X, y = make_blobs(500, n_features=100, random_state=1, centers=10, cluster_std=15.0)
    y = np.minimum(y, 2)
    one_hot = np.eye(3)[y[1::2]]
    for estimator in (LinearSVC(random_state=7), RandomForestClassifier(30, random_state=42)):
        model = clone(estimator).fit(X[::2], y[::2])
        made = classifier(estimator, "platt", "cv").fit(X[::2], y[::2])
        p = made.predict_proba(X[1::2])
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert made.score(X[1::2], y[1::2]) > 0.95 * model.score(X[1::2], y[1::2])
        if hasattr(model, "predict_proba"):
            before = ((one_hot - model.predict_proba(X[1::2])) ** 2).sum()
            assert ((one_hot - p) ** 2).sum() < 1.1 * before


def test_rows_of_zeros_become_uniform():
    class Zero(CALIBRATORS["none"]):
        def _map(self, scores):
            return np.zeros(len(scores))

    P = np.full((4, 3), 1 / 3)
    np.testing.assert_allclose(OneVsRest(Zero()).fit(P, [0, 1, 2, 0]).predict(P), 1 / 3)


@pytest.mark.parametrize("calibrator", ["platt", "isotonic", "temperature"])
def test_twice_the_rows_are_twice_the_weight(calibrator):
    """With interlaced rows, KFold divides the repeated rows like the rows themselves."""
    scaled, y = StandardScaler().fit_transform(X), Y
    twice, y_twice = np.repeat(scaled, 2, axis=0), np.repeat(y, 2)
    made = classifier(LogisticRegression(tol=1e-10), calibrator, "cv", cv=KFold(2))
    weighted = clone(made).fit(scaled, y, np.full(200, 2)).predict_proba(scaled)
    np.testing.assert_allclose(weighted, made.fit(twice, y_twice).predict_proba(scaled), atol=1e-6)


def test_large_scores_keep_their_order():
    y = np.repeat([1, 0], [134, 66])
    table = 1e5 * y[:, None] + RNG.normal(size=(200, 1))
    sgd = SGDClassifier(loss="squared_hinge", tol=1e-2, random_state=0)
    p = [
        cross_val_predict(classifier(sgd, key), table, y, method="predict_proba", cv=3)[:, 1]
        for key in ("platt", "isotonic")
    ]
    assert [roc_auc_score(y, each) for each in p] == [1.0, 1.0]


@pytest.mark.parametrize("weight", [None, np.ones(200)])
@pytest.mark.parametrize("calibrator", ["platt", "isotonic", "temperature", "venn_abers"])
def test_single_precision_probabilities(weight, calibrator):
    class Single(DummyClassifier):
        def predict_proba(self, X):
            return super().predict_proba(X).astype(np.float32)

    for made in (
        classifier(Single(), calibrator, "cv").fit(X, Y, weight),
        CalibratedClassifier(Single().fit(X, Y), calibrator, "fitted").fit(X, Y, weight),
    ):
        np.testing.assert_allclose(made.predict_proba(X)[:, 1], Y.mean(), atol=0.02)


def test_string_targets_as_a_list():
    labels = ["a"] * 10 + ["b"] * 10
    assert classifier(LinearSVC(), "platt", "cv", cv=3).fit(X[:20], labels).classes_.tolist() == ["a", "b"]


# Reported calls that the sections above do not hold


def test_several_targets_are_refused():
    with pytest.raises(ValueError, match="1d|one-dimensional|Unknown label type"):
        classifier(GaussianNB()).fit(X, np.column_stack([Y, 1 - Y]))


def test_scores_of_a_booster_are_calibrated_as_arrays():
    p = GaussianNB().fit(X[:80], Y[:80]).predict_proba(X[80:])[:, 1]
    by_array = CALIBRATORS["isotonic"]().fit(p, Y[80:]).predict(p)
    made = CalibratedClassifier(GaussianNB().fit(X[:80], Y[:80]), "isotonic", "fitted").fit(X[80:], Y[80:])
    assert np.array_equal(made.predict_proba(X[80:])[:, 1], by_array)


def test_weighted_curves():
    p = RNG.random(300)
    y, w = (RNG.random(300) < p).astype(int), RNG.integers(1, 4, 300)
    weighted, repeated = binned_curve(y, p, sample_weight=w), binned_curve(np.repeat(y, w), np.repeat(p, w))
    np.testing.assert_allclose(weighted.observed, repeated.observed)
    assert check(y, p, w).metrics["ece"].item() == pytest.approx(
        check(np.repeat(y, w), np.repeat(p, w)).metrics["ece"].item()
    )

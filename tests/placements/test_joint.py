"""K classes through CalibratedClassifier, beside scikit-learn's own and by the steps written out."""

from itertools import product

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB

from calib import CalibratedClassifier
from calib.calibrators import CALIBRATORS, INPUT_TABLES, JOINT, OneVsRest, Pairwise
from calib.kernel.checks import InputError
from calib.placements.cross_validation import merge_folds

RNG = np.random.default_rng(0)
NAMES = np.array(["dog", "ant", "cat", "bee"])
CODED = RNG.integers(0, 4, 400)
X = RNG.normal(size=(4, 3))[CODED] + RNG.normal(size=(400, 3))
Y, NEW = NAMES[CODED], RNG.normal(size=(50, 3))


@pytest.mark.parametrize(("ours", "theirs"), [("isotonic", "isotonic"), ("temperature", "temperature")])
def test_cross_calibration_is_scikit_learns(ours, theirs):
    model = GaussianNB()
    made = CalibratedClassifier(model, ours, "cv", cv=4, random_state=1).fit(X, Y)
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    other = CalibratedClassifierCV(model, method=theirs, cv=folds, ensemble=False).fit(X, Y)
    assert made.classes_.tolist() == other.classes_.tolist() == sorted(NAMES)
    np.testing.assert_allclose(made.predict_proba(NEW), other.predict_proba(NEW), atol=1e-6)
    np.testing.assert_array_equal(made.predict(NEW), other.predict(NEW))


def test_held_out_rows_by_hand():
    made = CalibratedClassifier(LogisticRegression(), "vector", random_state=3).fit(X, Y)
    coded = np.searchsorted(sorted(NAMES), Y)
    train, held = train_test_split(np.arange(400), test_size=1 / 3, stratify=coded, random_state=3)
    model = LogisticRegression().fit(X[train], Y[train])
    vector = JOINT["vector"]().fit(model.predict_proba(X[held]), coded[held])
    np.testing.assert_allclose(made.predict_proba(NEW), vector.predict(model.predict_proba(NEW)), atol=1e-9)


def test_out_of_bag_by_hand():
    forest = RandomForestClassifier(40, random_state=0)
    made = CalibratedClassifier(forest, Pairwise(), "oob_whole").fit(X, Y)
    own = RandomForestClassifier(40, random_state=0, oob_score=True).fit(X, Y)
    known = np.isfinite(own.oob_decision_function_).all(axis=1)
    coded = np.searchsorted(own.classes_, Y)
    pairwise = Pairwise().fit(own.oob_decision_function_[known], coded[known])
    np.testing.assert_allclose(made.predict_proba(NEW), pairwise.predict(own.predict_proba(NEW)), atol=1e-12)
    assert made.predict_interval(NEW).shape == (50, 4, 2)


@pytest.mark.parametrize(
    ("placement", "calibrator"),
    [
        ("none", "none"),
        *product(["split", "cv", "oob_whole", "train"], ["none", "platt", "venn_abers", *JOINT]),
    ],
)
def test_every_calibrator_in_every_placement(placement, calibrator):
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    made = CalibratedClassifier(forest, calibrator, placement, random_state=0).fit(X, Y)
    p = made.predict_proba(NEW)
    assert p.shape == (50, 4)
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-9)
    if calibrator == "none":
        np.testing.assert_array_equal(p, made.placed_.model.predict_proba(NEW))


@pytest.mark.parametrize("calibrator", [key for key, one in CALIBRATORS.items() if one.input in INPUT_TABLES])
@pytest.mark.parametrize("placement", ["split", "cv", "oob_whole", "train"])
def test_what_needs_more_than_a_score_is_refused(placement, calibrator):
    forest = RandomForestClassifier(5, random_state=0)
    with pytest.raises(InputError, match=r"needs .*\. Choose"):
        CalibratedClassifier(forest, calibrator, placement, random_state=0).fit(X, Y)


def test_pairs_of_folds_are_merged_as_those_of_two_classes():
    """Cross Venn–Abers of class k against the rest, before rows are divided by their sums."""
    made = CalibratedClassifier(GaussianNB(), "venn_abers", "cv", cv=4, random_state=1).fit(X, Y)
    ends = made.predict_interval(NEW)
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    coded = np.searchsorted(made.classes_, Y)
    for k in range(4):
        pairs = []
        for train, test in folds.split(X, coded):
            model = GaussianNB().fit(X[train], coded[train])
            own = CALIBRATORS["venn_abers"]().fit(model.predict_proba(X[test])[:, k], coded[test] == k)
            pairs.append(own.predict_interval(model.predict_proba(NEW)[:, k]))
        merged = merge_folds(*np.moveaxis(np.stack(pairs), -1, 0))
        np.testing.assert_allclose(ends[:, k], np.column_stack([merged.p0, merged.p1]), atol=1e-12)


@pytest.mark.parametrize("placement", ["split", "cv"])
def test_a_class_of_one_row_is_on_one_side(placement):
    y = np.append(Y, "eel")
    made = CalibratedClassifier(GaussianNB(), "isotonic", placement, random_state=0).fit(
        np.vstack([X, [9.0, 9.0, 9.0]]), y
    )
    p = made.predict_proba(NEW)
    assert made.classes_.tolist() == sorted([*NAMES, "eel"])
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-9)
    assert made.placed_.scores.shape == (len(made.placed_.y), 5)


def test_clusters_are_not_torn():
    who = np.repeat(np.arange(100), 4)
    made = CalibratedClassifier(GaussianNB(), "temperature", random_state=0).fit(X, Y, groups=who)
    assert made.predict_proba(NEW).shape == (50, 4)


def test_bad_input_is_refused_by_name():
    for call, said in (
        (
            lambda: CalibratedClassifier(GaussianNB(), placement="full").fit(X, Y),
            "supported by placement='full'",
        ),
        (lambda: CalibratedClassifier(GaussianNB(), "vector", "none").fit(X, Y), "needs calibration scores"),
        (lambda: CalibratedClassifier(GaussianNB(), "vector").fit(X, CODED > 1), "to three or more classes"),
        (
            lambda: CalibratedClassifier(GaussianNB(), base_rate=0.2).fit(X, Y),
            "base_rate must be one share for each of the",
        ),
        (
            lambda: CalibratedClassifier(GaussianNB(), placement="oob_whole").fit(X, Y),
            "need a bagged ensemble",
        ),
        (lambda: CalibratedClassifier(GaussianNB(), "vector").fit(X, Y).predict_interval(NEW), "no interval"),
        (lambda: CalibratedClassifier(GaussianNB(), OneVsRest("x")).fit(X, Y), "key must be one of"),
    ):
        with pytest.raises(InputError, match=said):
            call()

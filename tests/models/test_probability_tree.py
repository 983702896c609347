"""ProbabilityTree: scikit-learn's own trees, other leaves."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from calib.kernel.checks import InputError
from calib.models import ProbabilityTree

X, Y = make_classification(400, 6, n_informative=4, flip_y=0.2, random_state=0)
SETTINGS = [
    {},
    {"max_depth": 4, "criterion": "entropy"},
    {"splitter": "random", "max_features": 2},
    {"max_leaf_nodes": 15, "class_weight": "balanced"},
    {"min_samples_leaf": 7, "ccp_alpha": 0.005},
    {"monotonic_cst": [1, 0, 0, -1, 0, 0]},
]


def same_tree(a, b):
    return all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for name in (
            "children_left",
            "children_right",
            "feature",
            "threshold",
            "value",
            "weighted_n_node_samples",
        )
    )


@parametrize_with_checks([ProbabilityTree(leaf="laplace", curtail=3)])
def test_behaves_as_a_scikit_learn_classifier(estimator, check):
    check(estimator)


@pytest.mark.parametrize("settings", SETTINGS)
def test_defaults_reproduce_scikit_learn(settings):
    theirs = DecisionTreeClassifier(random_state=3, **settings).fit(X, Y)
    ours = ProbabilityTree(random_state=3, **settings).fit(X, Y)
    assert same_tree(ours.tree_, theirs.tree_)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-15)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("settings", SETTINGS)
def test_leaf_settings_leave_the_tree_alone(settings):
    theirs = DecisionTreeClassifier(random_state=3, **settings).fit(X, Y)
    assert same_tree(
        ProbabilityTree(random_state=3, leaf="laplace", curtail=20, **settings).fit(X, Y).tree_, theirs.tree_
    )


def test_laplace_leaves_count_the_training_objects_in_the_leaf():
    tree = ProbabilityTree(leaf="laplace", max_depth=5, random_state=0).fit(X, Y)
    leaves = tree.apply(X)
    for leaf in np.unique(leaves):
        inside = Y[leaves == leaf]
        assert np.allclose(
            tree.predict_proba(X[leaves == leaf])[:, 1], (inside.sum() + 1) / (len(inside) + 2)
        )


@pytest.mark.parametrize("leaf", ["frequency", "laplace", "m"])
def test_other_leaves_are_those_of_the_tree_grown_with_them(leaf):
    tree = ProbabilityTree(max_depth=5, curtail=4, random_state=0).fit(X, Y)
    grown = ProbabilityTree(leaf=leaf, max_depth=5, curtail=4, random_state=0).fit(X, Y)
    assert np.array_equal(tree.with_leaf(leaf).predict_proba(X), grown.predict_proba(X))
    assert tree.leaf == "frequency"
    with pytest.raises(InputError, match="leaf must be one of"):
        tree.with_leaf("fancy")


def test_label_follows_the_curtailed_probability():
    tree = ProbabilityTree(curtail=len(Y), random_state=0).fit(X, Y)
    majority = int(Y.mean() > 0.5)
    assert np.allclose(tree.predict_proba(X)[:, 1], Y.mean())
    assert set(tree.predict(X)) == {majority}


def test_any_two_labels_will_do():
    tree = ProbabilityTree(random_state=0).fit(X, np.where(Y == 1, "sick", "healthy"))
    assert tree.classes_.tolist() == ["healthy", "sick"]
    assert np.array_equal(tree.predict_proba(X), ProbabilityTree(random_state=0).fit(X, Y).predict_proba(X))


def test_one_class_is_refused():
    with pytest.raises(InputError, match="ProbabilityTree got 1 class"):
        ProbabilityTree().fit(X, np.zeros(400))


@pytest.mark.parametrize("curtail", [0, 20])
def test_of_three_classes_leaves_are_counts_of_each(curtail):
    y = np.arange(len(X)) % 3
    grown = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    frequency = ProbabilityTree(max_depth=4, random_state=0).fit(X, y)
    assert np.array_equal(frequency.predict_proba(X), grown.predict_proba(X))
    laplace = ProbabilityTree("laplace", curtail, max_depth=4, random_state=0).fit(X, y)
    path = grown.decision_path(X[:50]).toarray().astype(bool)
    seen = grown.decision_path(X).toarray().astype(bool)
    for i, nodes in enumerate(path):
        last = max(node for node in np.flatnonzero(nodes) if seen[:, node].sum() >= curtail)
        counts = np.bincount(y[seen[:, last]], minlength=3)
        assert laplace.predict_proba(X[i : i + 1])[0] == pytest.approx((counts + 1) / (counts.sum() + 3))


def test_refit_forgets():
    tree = ProbabilityTree(random_state=0).fit(X, Y)
    tree.fit(X[:100], 1 - Y[:100])
    assert np.array_equal(
        tree.predict_proba(X), ProbabilityTree(random_state=0).fit(X[:100], 1 - Y[:100]).predict_proba(X)
    )

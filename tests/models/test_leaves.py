"""Counts, estimates and curtailment of nodes against counting the training rows that pass through them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from calib.kernel.checks import InputError
from calib.models.leaves import check_leaf, curtailed, node_counts, node_probabilities, parents


def grown(n=150, seed=0, weights=None, **params):
    X, y = make_classification(n, 5, n_informative=3, n_redundant=0, flip_y=0.3, random_state=seed)
    return DecisionTreeClassifier(random_state=seed, **params).fit(X, y, sample_weight=weights), X, y


def passing(tree, X):
    """For every node the positions of the rows whose path holds it, by scikit-learn's own decision path."""
    return [np.flatnonzero(column) for column in tree.decision_path(X).toarray().T]


@pytest.mark.parametrize("params", [{}, {"max_depth": 3}, {"max_leaf_nodes": 12}, {"ccp_alpha": 0.01}])
def test_counts_are_those_of_the_objects_that_pass_through_each_node(params):
    tree, X, y = grown(**params)
    ones, n = node_counts(tree.tree_)
    for node, rows in enumerate(passing(tree, X)):
        assert (ones[node], n[node]) == (y[rows].sum(), len(rows))


def test_counts_are_weighted_by_sample_weights():
    weights = np.random.default_rng(0).choice([0.25, 0.5, 3.0], 150)
    tree, X, y = grown(weights=weights)
    ones, n = node_counts(tree.tree_)
    for node, rows in enumerate(passing(tree, X)):
        assert ones[node] == pytest.approx((weights * y)[rows].sum())
        assert n[node] == pytest.approx(weights[rows].sum())


@pytest.mark.parametrize(
    ("leaf", "estimate"),
    [
        ("frequency", lambda k, n, share: k / n),
        ("laplace", lambda k, n, share: (k + 1) / (n + 2)),
        ("m", lambda k, n, share: (k + 5 * share) / (n + 5)),
    ],
)
def test_estimates_are_exact_fractions_of_counts(leaf, estimate):
    tree, X, y = grown(min_samples_leaf=4)
    p = node_probabilities(tree.tree_, leaf, m=5)
    share = Fraction(int(y.sum()), len(y))
    for node, rows in enumerate(passing(tree, X)):
        exact = estimate(Fraction(int(y[rows].sum())), len(rows), share)
        assert p[node] == pytest.approx(float(exact), rel=1e-15)


def test_leaves_that_are_equal_in_exact_arithmetic_are_equal_as_floats():
    for seed in range(30):
        tree, _, _ = grown(400, seed, min_samples_leaf=3)
        ones, n = node_counts(tree.tree_)
        p = node_probabilities(tree.tree_, "laplace")
        exact = [Fraction(int(k) + 1, int(m) + 2) for k, m in zip(ones, n, strict=True)]
        assert len(set(p.tolist())) == len(set(exact))


def test_m_estimate_of_two_with_even_prior_is_laplace():
    tree, _, _ = grown()
    assert np.array_equal(
        node_probabilities(tree.tree_, "m", m=2, prior=0.5), node_probabilities(tree.tree_, "laplace")
    )


@given(seed=st.integers(0, 50), v=st.integers(0, 260), best_first=st.booleans())
def test_curtailment_climbs_to_the_first_ancestor_with_enough_objects(seed, v, best_first):
    tree, X, y = grown(200, seed, max_leaf_nodes=40 if best_first else None)
    through, parent, target = passing(tree, X), parents(tree.tree_), curtailed(tree.tree_, v)
    p = node_probabilities(tree.tree_, "laplace", curtail=v)
    for node in range(tree.tree_.node_count):
        climbed = node
        while len(through[climbed]) < v and parent[climbed] >= 0:
            climbed = parent[climbed]
        if len(through[climbed]) < v:
            climbed = node  # no ancestor is large enough: the leaf itself
        assert target[node] == climbed
        assert p[node] == (y[through[climbed]].sum() + 1) / (len(through[climbed]) + 2)


def test_curtailment_goes_on_from_the_answer_of_a_smaller_threshold():
    tree, _, _ = grown(300)
    step = None
    for v in range(1, 99):
        step = curtailed(tree.tree_, v, step)
        assert np.array_equal(step, curtailed(tree.tree_, v))


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (("entropy", 0, 2.0, None), "leaf"),
        (("laplace", -1, 2.0, None), "curtail"),
        (("laplace", 2.5, 2.0, None), "curtail"),
        (("m", 0, -1.0, None), "m"),
        (("m", 0, 2.0, 1.5), "prior"),
    ],
)
def test_settings_out_of_range_are_refused_by_name(settings, name):
    with pytest.raises(InputError, match=f"^{name} must"):
        check_leaf(*settings)


@pytest.mark.parametrize("seed", range(5))
def test_a_probability_never_exceeds_one_where_sums_of_weights_are_rounded(seed):
    """Weights of class 1 like 10/9 add up to whole numbers but for rounding: n_1 must not be made larger than n."""
    X, y = make_classification(400, 5, weights=[0.45], class_sep=3, random_state=seed)
    forest = RandomForestClassifier(20, class_weight="balanced_subsample", random_state=seed).fit(X, y)
    for tree in forest.estimators_:
        for leaf in ("frequency", "laplace", "m"):
            p = node_probabilities(tree.tree_, leaf)
            assert p.min() >= 0
            assert p.max() <= 1

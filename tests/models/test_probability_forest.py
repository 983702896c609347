"""ProbabilityForest: scikit-learn's own trees; votes and out-of-bag scores by definition."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from calib.kernel.checks import InputError
from calib.kernel.progress import Cancelled, Watch
from calib.models import ProbabilityForest

from .test_probability_tree import same_tree

X, Y = make_classification(300, 6, n_informative=4, flip_y=0.2, random_state=0)
SETTINGS = [
    {},
    {"max_depth": 3, "criterion": "entropy", "max_features": None},
    {"class_weight": "balanced"},
    {"class_weight": "balanced_subsample", "min_samples_leaf": 3},
    {"max_samples": 0.5},
    {"bootstrap": False},
]


# As with scikit-learn's own forest: a weight changes what is drawn, and is not the same as repeating the row.
@parametrize_with_checks(
    [ProbabilityForest(5)],
    expected_failed_checks=lambda _: {
        f"check_sample_weight_equivalence_on_{kind}_data": "bootstrap draws with weights"
        for kind in ("dense", "sparse")
    },
)
def test_behaves_as_a_scikit_learn_classifier(estimator, check):
    check(estimator)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("watched", [False, True])
def test_defaults_reproduce_scikit_learn(settings, watched):
    theirs = RandomForestClassifier(25, random_state=5, **settings).fit(X, Y)
    ours = ProbabilityForest(25, random_state=5, **settings).fit(X, Y, watch=Watch() if watched else None)
    assert len(ours.estimators_) == 25
    assert all(same_tree(a.tree_, b.tree_) for a, b in zip(ours.estimators_, theirs.estimators_, strict=True))
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-14)
    assert (ours.n_estimators, ours.warm_start) == (25, False)


@pytest.mark.parametrize("vote", ["probability", "class"])
def test_other_leaves_are_those_of_the_forest_grown_with_them(vote):
    forest = ProbabilityForest(9, vote=vote, random_state=0).fit(X, Y)
    grown = ProbabilityForest(9, vote=vote, leaf="laplace", random_state=0).fit(X, Y)
    assert np.array_equal(forest.with_leaf("laplace").predict_proba(X), grown.predict_proba(X))
    assert np.array_equal(forest.with_leaf("laplace").oob_scores(), grown.oob_scores(), equal_nan=True)
    assert forest.leaf == "frequency"


def test_leaves_and_votes_leave_the_trees_alone():
    theirs = RandomForestClassifier(10, random_state=5).fit(X, Y)
    ours = ProbabilityForest(10, random_state=5, leaf="laplace", curtail=9, vote="class").fit(X, Y)
    assert all(same_tree(a.tree_, b.tree_) for a, b in zip(ours.estimators_, theirs.estimators_, strict=True))


def test_watched_fit_with_a_generator_of_seeds_draws_what_one_fit_draws():
    one, many = np.random.RandomState(3), np.random.RandomState(3)
    a = ProbabilityForest(20, random_state=one).fit(X, Y)
    b = ProbabilityForest(20, random_state=many).fit(X, Y, watch=Watch())
    assert np.array_equal(a.predict_proba(X), b.predict_proba(X))
    assert one.randint(1000) == many.randint(1000)


def test_progress_rises_to_one_and_cancelling_stops_between_trees():
    shares = []
    watch = Watch(report=lambda share, what: shares.append(share))
    ProbabilityForest(30, random_state=0).fit(X, Y, watch=watch)
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == 1

    stopped = Watch(report=lambda share, what: stopped.cancel.set() if share > 0 else None)
    forest = ProbabilityForest(200, random_state=0)
    with pytest.raises(Cancelled):
        forest.fit(X, Y, watch=stopped)
    assert len(forest.estimators_) < 200
    assert (forest.n_estimators, forest.warm_start) == (200, False)


@pytest.mark.parametrize("vote", ["probability", "class"])
@pytest.mark.parametrize("leaf", ["frequency", "laplace"])
def test_probability_is_the_mean_of_the_trees_votes(vote, leaf):
    forest = ProbabilityForest(15, vote=vote, leaf=leaf, min_samples_leaf=4, random_state=0).fit(X, Y)
    scores = forest.tree_scores(X)
    assert scores.shape == (300, 15)
    assert np.allclose(scores.mean(axis=1), forest.predict_proba(X)[:, 1], atol=1e-15)
    if vote == "class":
        assert np.array_equal(scores, np.column_stack([tree.predict(X) for tree in forest.estimators_]))
    elif leaf == "frequency":
        theirs = np.column_stack([tree.predict_proba(X)[:, 1] for tree in forest.estimators_])
        assert np.allclose(scores, theirs, atol=1e-15)


def test_class_votes_that_are_equal_in_exact_arithmetic_are_equal_as_floats():
    forest = ProbabilityForest(30, vote="class", max_depth=2, random_state=0).fit(X, Y)
    assert set(forest.predict_proba(X)[:, 1].tolist()) <= {k / 30 for k in range(31)}


def test_laplace_leaves_count_the_bootstrap_sample():
    forest = ProbabilityForest(8, leaf="laplace", max_depth=4, random_state=0).fit(X, Y)
    for column, tree, drawn in zip(
        forest.tree_scores(X).T, forest.estimators_, forest.estimators_samples_, strict=True
    ):
        times, leaves = np.bincount(drawn, minlength=300), tree.apply(X)
        for leaf in np.unique(leaves):
            n, ones = times[leaves == leaf].sum(), (times * Y)[leaves == leaf].sum()
            assert np.allclose(column[leaves == leaf], (ones + 1) / (n + 2), rtol=1e-15)


def by_definition(forest, X):
    """Out-of-bag scores row by row: through every tree that did not draw it."""
    scores = np.full(len(X), np.nan)
    for i, row in enumerate(X):
        votes = [
            forest.tree_scores(row[None])[0, t]
            for t, drawn in enumerate(forest.estimators_samples_)
            if i not in drawn
        ]
        if votes:
            scores[i] = sum(votes) / len(votes)
    return scores


@pytest.mark.parametrize(
    "settings", [{}, {"vote": "class"}, {"leaf": "laplace"}, {"curtail": 20}, {"max_samples": 30}]
)
def test_out_of_bag_scores_by_definition(settings):
    forest = ProbabilityForest(6, random_state=1, **settings).fit(X[:80], Y[:80])
    scores = forest.oob_scores()
    assert np.isnan(scores).any() or "max_samples" in settings
    np.testing.assert_array_equal(scores, by_definition(forest, X[:80]))


def test_out_of_bag_scores_are_scikit_learns():
    theirs = RandomForestClassifier(60, oob_score=True, random_state=2).fit(X, Y)
    ours = ProbabilityForest(60, random_state=2).fit(X, Y)
    assert np.allclose(ours.oob_scores(), theirs.oob_decision_function_[:, 1], rtol=0, atol=1e-14)


def test_in_bag_marks_the_bootstrap_samples():
    forest = ProbabilityForest(7, random_state=0).fit(X, Y)
    bag = forest.in_bag()
    assert bag.shape == (300, 7)
    assert bag.dtype == bool
    for t, drawn in enumerate(forest.estimators_samples_):
        assert set(np.flatnonzero(bag[:, t])) == set(drawn.tolist())


def test_out_of_bag_scores_do_not_change_with_the_callers_array():
    mine = np.asarray(X, dtype=np.float32)
    forest = ProbabilityForest(10, random_state=0).fit(mine, Y)
    before = forest.oob_scores()
    mine[:] = 0
    np.testing.assert_array_equal(forest.oob_scores(), before)


def test_sparse_rows_score_as_dense_ones():
    thin = np.where(np.abs(X) > 0.7, X, 0)
    dense = ProbabilityForest(10, random_state=0).fit(thin, Y)
    sparse = ProbabilityForest(10, random_state=0).fit(csr_array(thin), Y)
    np.testing.assert_array_equal(sparse.oob_scores(), dense.oob_scores())
    np.testing.assert_array_equal(sparse.tree_scores(csr_array(thin)), dense.tree_scores(thin))


def test_missing_values_are_scikit_learns():
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    theirs = RandomForestClassifier(10, random_state=0).fit(holes, Y)
    ours = ProbabilityForest(10, random_state=0).fit(holes, Y)
    assert np.allclose(ours.predict_proba(holes), theirs.predict_proba(holes), atol=1e-15)
    assert np.isfinite(ours.oob_scores()).any()


def test_without_bootstrap_there_are_no_out_of_bag_scores():
    with pytest.raises(InputError, match="bootstrap=True"):
        ProbabilityForest(3, bootstrap=False).fit(X, Y).oob_scores()


@pytest.mark.parametrize(
    ("settings", "name"),
    [({"vote": "hard"}, "vote"), ({"leaf": "laplas"}, "leaf"), ({"curtail": -3}, "curtail")],
)
def test_misspelt_settings_are_refused_by_name(settings, name):
    with pytest.raises(InputError, match=f"^{name} must"):
        ProbabilityForest(3, **settings).fit(X, Y)


@pytest.mark.parametrize("vote", ["probability", "class"])
def test_of_three_classes_votes_and_out_of_bag_scores_are_scikit_learns(vote):
    y = np.argsort(X[:, 0]) % 3
    forest = ProbabilityForest(40, vote=vote, random_state=0).fit(X, y)
    theirs = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, y)
    if vote == "probability":
        assert forest.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-12)
        assert forest.oob_scores() == pytest.approx(theirs.oob_decision_function_, abs=1e-12, nan_ok=True)
    else:
        decided = np.stack([np.eye(3)[tree.predict(X).astype(int)] for tree in theirs.estimators_])
        assert forest.predict_proba(X) == pytest.approx(decided.mean(axis=0))
    assert forest.tree_scores(X[:5]).shape == (5, 40, 3)

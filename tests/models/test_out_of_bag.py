"""Out-of-bag means of other people's ensembles, by definition."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from calib.kernel.checks import InputError
from calib.kernel.progress import Cancelled, Watch
from calib.models import TunedForest
from calib.models.out_of_bag import ensemble_of, in_bag, mean_out_of_bag, refuse_without_bagging, vote_table

X, Y = make_classification(120, 6, n_informative=4, flip_y=0.2, random_state=0)
NEW = make_classification(40, 6, n_informative=4, random_state=1)[0]
ENSEMBLES = [
    RandomForestClassifier(9, random_state=0),
    ExtraTreesClassifier(9, bootstrap=True, random_state=0),
    BaggingClassifier(n_estimators=9, random_state=0),
    BaggingClassifier(GaussianNB(), 9, max_features=0.5, bootstrap_features=True, random_state=0),
    BaggingClassifier(n_estimators=9, bootstrap=False, max_samples=0.6, random_state=0),
]


def member_votes(ensemble, X):
    if isinstance(ensemble, BaggingClassifier):
        pairs = zip(ensemble.estimators_, ensemble.estimators_features_, strict=True)
        return np.column_stack([member.predict_proba(X[:, features])[:, 1] for member, features in pairs])
    return np.column_stack([tree.predict_proba(X)[:, 1] for tree in ensemble.estimators_])


@pytest.mark.parametrize("ensemble", ENSEMBLES)
@pytest.mark.parametrize("labels", [np.array([0, 1]), np.array(["a", "b"])])
def test_mean_of_the_votes_of_the_trees_that_did_not_see_the_reference(ensemble, labels):
    ensemble.fit(X, labels[Y])
    bag, reference = in_bag(ensemble), np.random.default_rng(0).integers(0, 120, 40)
    votes, scores = member_votes(ensemble, NEW), mean_out_of_bag(ensemble, NEW, bag, reference)
    samples = ensemble.estimators_samples_
    for row, r in enumerate(reference):
        free = [t for t in range(9) if r not in samples[t]]
        assert scores[row] == pytest.approx(
            votes[row, free].mean() if free else np.nan, nan_ok=True, abs=1e-15
        )


@pytest.mark.parametrize("ensemble", [*ENSEMBLES, BaggingClassifier(SVC(), 9, random_state=0)])
def test_votes_average_to_the_ensembles_probability(ensemble):
    """Members without probabilities, such as support-vector machines, vote with their labels."""
    ensemble.fit(X, np.array(["a", "b"])[Y])
    votes = vote_table(ensemble, NEW)
    assert votes.shape == (40, 9)
    np.testing.assert_allclose(votes.mean(axis=1), ensemble.predict_proba(NEW)[:, 1], atol=1e-12)


def test_a_member_that_saw_one_class_votes_for_it():
    y = np.zeros(60, dtype=int)
    y[:2] = 1  # so few that some samples of 30 hold class 0 only
    ensemble = BaggingClassifier(_ShareOfOnes(), 8, max_samples=30, random_state=0).fit(X[:60], y)
    assert min(len(member.classes_) for member in ensemble.estimators_) == 1
    bag = in_bag(ensemble)
    votes = np.array([member.share_ for member in ensemble.estimators_])
    by_hand = [votes[~seen].mean() if not seen.all() else np.nan for seen in bag]
    np.testing.assert_allclose(mean_out_of_bag(ensemble, X[:60], bag, np.arange(60)), by_hand)


class _ShareOfOnes(GaussianNB):
    """Predicts the share of class 1 in its sample; takes no weights, so that samples are really drawn."""

    def fit(self, X, y):
        self.classes_, self.share_ = np.unique(y), float(np.mean(y == 1))
        return self

    def predict_proba(self, X):
        p = np.full(len(X), self.share_)
        return np.column_stack([1 - p, p])[:, self.classes_]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (LogisticRegression(), "LogisticRegression is not bagged"),
        (GradientBoostingClassifier(), "GradientBoostingClassifier is not bagged"),
        (RandomForestClassifier(bootstrap=False), "bootstrap=False"),
        (ExtraTreesClassifier(), "bootstrap=False"),
        (BaggingClassifier(bootstrap=False), "bootstrap=False"),
    ],
)
def test_an_estimator_without_bagging_is_refused_with_the_remedy(model, said):
    with pytest.raises(InputError, match=said) as refusal:
        refuse_without_bagging(model)
    assert "split" in str(refusal.value)


def test_a_search_for_a_forest_is_accepted_and_opened():
    refuse_without_bagging(TunedForest())
    search = TunedForest(draws=1, n_estimators=3, cv=2, random_state=0).fit(X, Y)
    assert ensemble_of(search) is search.best_estimator_


def test_cancelling_stops_between_trees():
    ensemble = ENSEMBLES[0].fit(X, Y)
    watch = Watch(report=lambda share, what: watch.cancel.set())
    with pytest.raises(Cancelled):
        mean_out_of_bag(ensemble, X, in_bag(ensemble), np.arange(120), watch)

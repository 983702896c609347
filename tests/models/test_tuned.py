"""The two searches against doing by hand what they say they do."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from calib.kernel.checks import InputError
from calib.kernel.progress import Cancelled, Watch
from calib.models import CurtailedForest, ProbabilityForest, TunedForest
from calib.models.tuned import SPACE, curtailed_scores

X, Y = make_classification(150, 5, n_informative=3, flip_y=0.3, random_state=0)


@parametrize_with_checks([CurtailedForest(3, 2, cv=2), TunedForest(1, 2, cv=2)])
def test_behaves_as_a_scikit_learn_classifier(estimator, check):
    check(estimator)


def brier_by_hand(**settings):
    scores = []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, Y):
        forest = ProbabilityForest(7, random_state=0, **settings).fit(X[train], Y[train])
        scores.append(np.mean((forest.predict_proba(X[test])[:, 1] - Y[test]) ** 2))
    return np.mean(scores)


def test_scores_under_every_threshold_are_those_of_forests_fitted_with_it():
    forest = ProbabilityForest(6, random_state=0).fit(X, Y)
    scores = curtailed_scores(forest, X, 99)
    for v in (1, 2, 17, 50, 99):
        again = ProbabilityForest(6, random_state=0, curtail=v).fit(X, Y)
        assert np.allclose(scores[v - 1], again.predict_proba(X)[:, 1], rtol=0, atol=1e-15)


def test_curtailment_threshold_has_the_lowest_brier_score():
    search = CurtailedForest(30, 7, cv=3, random_state=0).fit(X, Y)
    by_hand = [brier_by_hand(curtail=v) for v in range(1, 31)]
    assert np.allclose(search.curve_, by_hand)
    assert search.best_params_ == {"curtail": int(np.argmin(by_hand)) + 1}
    again = ProbabilityForest(7, random_state=0, **search.best_params_).fit(X, Y)
    assert np.array_equal(search.predict_proba(X), again.predict_proba(X))
    assert np.array_equal(search.predict(X), again.predict(X))
    assert np.array_equal(search.best_estimator_.tree_scores(X), again.tree_scores(X))


def test_random_search_keeps_the_best_of_its_draws():
    search = TunedForest(4, 7, cv=3, random_state=0).fit(X, Y)
    assert len(search.trials_) == 4
    for settings, brier in search.trials_:
        assert set(settings) == set(SPACE)
        assert all(value in SPACE[name] for name, value in settings.items())
        assert brier == pytest.approx(brier_by_hand(**settings))
    best = min(search.trials_, key=lambda trial: trial[1])
    assert search.best_params_ == best[0]
    again = ProbabilityForest(7, random_state=0, **best[0]).fit(X, Y)
    assert np.array_equal(search.predict_proba(X), again.predict_proba(X))


def test_the_space_is_the_papers():
    assert SPACE["max_depth"] == [*range(2, 100), None]
    assert (SPACE["min_samples_split"], SPACE["min_samples_leaf"]) == (list(range(2, 11)), list(range(1, 11)))
    assert TunedForest().draws == 50
    assert TunedForest().cv == 5


@pytest.mark.parametrize("search", [TunedForest(5, 3, cv=2), CurtailedForest(5, 3, cv=2)])
def test_progress_and_cancelling(search):
    shares = []
    search.fit(X, Y, watch=Watch(report=lambda share, what: shares.append(share)))
    assert shares == sorted(shares)
    assert shares[-1] == 1
    stopped = Watch(report=lambda share, what: stopped.cancel.set() if share > 0.1 else None)
    with pytest.raises(Cancelled):
        search.fit(X, Y, watch=stopped)


def test_too_few_objects_for_the_folds_are_refused():
    y = np.zeros(150, dtype=int)
    y[:3] = 1
    with pytest.raises(InputError, match=r"\b5 folds .*minority class .*\b3\b"):
        TunedForest(1, 3).fit(X, y)

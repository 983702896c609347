"""What the papers did beside the Recipe: search spaces as printed, learners that answer, a forest's rows kept apart."""

import math

import numpy as np
import pytest
from sklearn.model_selection import ParameterSampler, RandomizedSearchCV

from calib.kernel.checks import InputError
from calib.models import ProbabilityForest, ProbabilityTree, gives_probability
from calib.models.out_of_bag import refuse_without_bagging
from calib.study.papers import models as papers
from calib.study.papers.models import PAPER_MODELS

RNG = np.random.default_rng(0)
X = RNG.random((80, 3))
Y = (X[:, 0] + RNG.normal(scale=0.3, size=80) > 0.5).astype(int)


@pytest.mark.parametrize(
    ("key", "settings"),
    [
        ("DT_opt", 3 * 2 * 99 * 9 * 10 * 3),  # Table 11
        ("SVM_opt", 4 * 4 * 3 * 5 * 3 * 2 * 2 * 3 * 2 * 3),  # Table 12
        ("LR_opt", 5 * 5 * 3 * 3),  # Table 13: four penalties and none
        ("DNN_opt", 5 * 2 * 2 * 3 * 3 * 3 * 2),  # Table 14
        ("GNB_opt", 10),  # Table 16
        ("RF_opt", 99 * 2 * 3 * 9 * 10 * 3 * 2),  # Table 2, depth None, and Laplace off and on
    ],
)
def test_search_spaces_have_the_printed_sizes(key, settings):
    search = PAPER_MODELS[key].build(random_state=0)
    spaces = search.param_distributions
    spaces = spaces if isinstance(spaces, list) else [spaces]
    assert sum(math.prod(len(values) for values in one.values()) for one in spaces) == settings
    assert search.n_iter == min(50, settings)
    assert (search.cv.n_splits, search.cv.shuffle) == (5, False)
    assert search.scoring == "neg_brier_score"


def test_a_model_declares_what_out_of_bag_takes_and_what_its_score_is():
    for key in PAPER_MODELS.keys() - papers.EXTRAS.keys():
        entry = PAPER_MODELS[key]
        model = entry.build(random_state=0)
        assert gives_probability(model) == (entry.score == "probability"), key
        try:
            refuse_without_bagging(model)
        except InputError:
            assert not entry.bagged, key
        else:
            assert entry.bagged, key


def test_boosting_has_the_printed_space():
    assert math.prod(map(len, papers.XGB.values())) == 99 * 4 * 5 * 5 * 5 * 5  # Table 15


@pytest.mark.parametrize(
    "key", ["RF_opt", "DT_opt", "LR_opt", "SVM_opt", "GNB_opt", "J48", "J48 Bagging", "SVM Platt"]
)
def test_learners_answer_and_repeat_themselves(key, monkeypatch):
    monkeypatch.setattr(papers, "DRAWS", 2)
    first, second = (PAPER_MODELS[key].build(random_state=3).fit(X, Y).predict_proba(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert np.mean((first[:, 1] - Y) ** 2) < 0.25


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_networks_answer(monkeypatch):
    monkeypatch.setattr(papers, "DRAWS", 1)
    ensemble = PAPER_MODELS["DNN_ens"].build(random_state=0).fit(X, Y)
    assert len({net.random_state for net in ensemble.estimators_}) == 10
    assert (
        ensemble.predict_proba(X).shape
        == PAPER_MODELS["DNN_opt"].build(random_state=0).fit(X, Y).predict_proba(X).shape
    )


def test_boosting_answers_where_it_is_installed(monkeypatch):
    pytest.importorskip("xgboost")
    monkeypatch.setattr(papers, "DRAWS", 2)
    assert (
        np.mean((PAPER_MODELS["XGB_opt"].build(random_state=0).fit(X, Y).predict_proba(X)[:, 1] - Y) ** 2)
        < 0.25
    )


def test_the_search_keeps_the_draw_with_the_best_brier_score(monkeypatch):
    """By hand: the draws of scikit-learn's sampler, the plain mean over five folds in order."""
    from sklearn.model_selection import StratifiedKFold

    monkeypatch.setattr(papers, "DRAWS", 4)
    search = PAPER_MODELS["DT_opt"].build(random_state=7).fit(X, Y)
    draws = list(ParameterSampler(papers.DT, 4, random_state=7))
    losses = []
    for settings in draws:
        folds = StratifiedKFold(5).split(X, Y)
        losses.append(
            np.mean(
                [
                    np.mean(
                        (
                            ProbabilityTree(random_state=7, **settings)
                            .fit(X[train], Y[train])
                            .predict_proba(X[test])[:, 1]
                            - Y[test]
                        )
                        ** 2
                    )
                    for train, test in folds
                ]
            )
        )
    assert search.best_params_ == draws[int(np.argmin(losses))]


def test_a_searched_forest_has_out_of_bag_rows(monkeypatch):
    from calib.calibrators import Isotonic, Rank
    from calib.placements import PLACEMENTS

    monkeypatch.setattr(papers, "DRAWS", 1)
    placed = PLACEMENTS["oob_whole"]().fit(
        PAPER_MODELS["RF_opt_laplace"].build(random_state=0), X, Y, random_state=0
    )
    forest = placed.model.best_estimator_
    assert forest.leaf == "laplace"
    np.testing.assert_array_equal(placed.scores, forest.oob_scores())
    tests = placed.score(X[:5])
    np.testing.assert_array_equal(tests.scores, forest.predict_proba(X[:5])[:, 1])
    for calibrator in (Isotonic(), Rank()):
        assert placed.predict(placed.calibrate(calibrator), tests).p.shape == (5,)


@pytest.mark.parametrize("seed", [0, 3])
def test_the_curtailment_threshold_is_that_of_scikit_learn_s_search_on_folds_in_order(seed, monkeypatch):
    """2025 drew 50 of the 99 thresholds, on folds that are not shuffled: rows in order change what it chooses."""
    monkeypatch.setattr(papers, "DRAWS", 6)
    order = np.argsort(X[:, 0])
    search = RandomizedSearchCV(
        ProbabilityForest(5, random_state=seed),
        {"curtail": list(range(1, 100))},
        n_iter=6,
        cv=5,
        scoring="neg_brier_score",
        random_state=seed,
    ).fit(X[order], Y[order])
    own = PAPER_MODELS["CT"].build(random_state=seed).set_params(n_estimators=5).fit(X[order], Y[order])
    assert own.best_params_ == search.best_params_
    np.testing.assert_array_equal(own.predict_proba(X), search.predict_proba(X))

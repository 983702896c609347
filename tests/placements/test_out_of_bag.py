"""Out-of-bag calibration against equations 10–11 of the 2019 paper, row by row."""

import numpy as np
import pytest
from scipy.stats import chisquare
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calib.calibrators import CALIBRATORS, Isotonic, Platt, Venn, VennAbers
from calib.kernel.checks import InputError
from calib.models import MODELS, ProbabilityForest, ProbabilityTree
from calib.placements import PLACEMENTS

from .helpers import NEW, X, Y

FEW_TREES = ProbabilityForest(7, max_depth=4, leaf="laplace", random_state=0)


class ByDefinition:
    """The out-of-bag predictor as the paper writes it: one row, one tree at a time."""

    def __init__(self, forest, X, y):
        self.forest, self.X, self.y = forest, X, y
        self.free = [
            [t for t, drawn in enumerate(forest.estimators_samples_) if i not in drawn] for i in range(len(X))
        ]
        self.members = [i for i in range(len(X)) if self.free[i]]
        self.scores = {i: self.score(X[i], i) for i in self.members}

    def score(self, x, r):
        votes = self.forest.tree_scores(x[None])[0]
        return sum(votes[t] for t in self.free[r]) / len(self.free[r])

    def venn(self, x, r):
        label = self.score(x, r) > 0.5
        category = [i for i in self.members if (self.scores[i] > 0.5) == label and i != r]
        ones = sum(self.y[i] for i in category)
        return ones / (len(category) + 1), (ones + 1) / (len(category) + 1)

    def venn_abers(self, x, r):
        score = self.score(x, r)
        others = [i for i in self.members if i != r]
        pair = []
        for label in (0, 1):
            scores = np.array([self.scores[i] for i in others] + [score])
            labels = np.array([self.y[i] for i in others] + [label])
            # scikit-learn pools scores that are nearly equal: rank them first, so that none are
            ranks = np.unique(scores, return_inverse=True)[1].astype(float)
            pair.append(IsotonicRegression().fit(ranks, labels).predict(ranks[-1:])[0])
        return tuple(pair)


@pytest.mark.parametrize("method", ["venn", "venn_abers"])
@pytest.mark.parametrize("vote", ["probability", "class"])
def test_equations_10_and_11(method, vote):
    forest = ProbabilityForest(7, max_depth=4, leaf="laplace", vote=vote, random_state=0)
    placed = PLACEMENTS["oob"]().fit(forest, X, Y, random_state=5)
    paper = ByDefinition(placed.model, X, Y)
    assert placed.index.tolist() == paper.members
    assert np.allclose(placed.scores, list(paper.scores.values()), atol=1e-15)
    tests = placed.score(NEW)
    outcome = placed.predict(placed.calibrate(CALIBRATORS[method]()), tests)
    for j, x in enumerate(NEW):
        r = placed.index[placed.reference(NEW)[j]]
        assert tests.scores[j] == pytest.approx(paper.score(x, r), abs=1e-15)
        expected = getattr(paper, method)(x, r)
        assert (outcome.p0[j], outcome.p1[j]) == pytest.approx(expected, abs=1e-12)


def test_other_calibrators_see_all_out_of_bag_scores_and_the_score_of_the_references_trees():
    placed = PLACEMENTS["oob"]().fit(FEW_TREES, X, Y, random_state=5)
    tests = placed.score(NEW)
    for on in ("score", "log-odds"):
        by_hand = Platt(on).fit(placed.scores, Y[placed.index]).predict(tests.scores)
        assert np.array_equal(placed.predict(placed.calibrate(Platt(on)), tests).p, by_hand)


def test_whole_ensemble_scores_with_every_tree_and_leaves_nothing_out():
    placed = PLACEMENTS["oob_whole"]().fit(FEW_TREES, X, Y, random_state=5)
    exact = PLACEMENTS["oob"]().fit(FEW_TREES, X, Y, random_state=5)
    assert np.array_equal(placed.scores, exact.scores)
    tests = placed.score(NEW)
    assert np.array_equal(tests.scores, placed.model.predict_proba(NEW)[:, 1])
    outcome = placed.predict(placed.calibrate(VennAbers()), tests)
    by_hand = VennAbers().fit(placed.scores, placed.y).predict_interval(tests.scores)
    assert np.array_equal(np.column_stack([outcome.p0, outcome.p1]), by_hand)


def borda(placed, votes, free, own, trees):
    """Mean over trees of the share of calibration rows, out of bag for the tree, with smaller votes; ties ½."""
    shares = []
    for t in trees:
        others = votes[free[:, t], t]
        shares.append(np.mean((others < own[t]) + 0.5 * (others == own[t])))
    return np.mean(shares)


@pytest.mark.parametrize("key", ["oob", "oob_whole"])
def test_rank_counts_among_the_objects_out_of_bag_for_each_tree(key):
    placed = PLACEMENTS[key]().fit(FEW_TREES, X, Y, random_state=5)
    votes, free = placed.model.tree_scores(X[placed.index]), ~placed.model.in_bag()[placed.index]
    scores = [borda(placed, votes, free, votes[i], np.flatnonzero(free[i])) for i in range(len(votes))]
    new, reference = placed.model.tree_scores(NEW), placed.reference(NEW)
    trees = [np.flatnonzero(free[r]) if key == "oob" else range(7) for r in reference]
    tests = [borda(placed, votes, free, new[j], trees[j]) for j in range(len(NEW))]
    by_hand = Isotonic().fit(scores, placed.y).predict(tests)
    outcome = placed.predict(placed.calibrate(CALIBRATORS["rank"]()), placed.score(NEW))
    assert np.allclose(outcome.p, by_hand, atol=1e-12)


def test_objects_that_every_tree_saw_are_left_out_counted_and_never_drawn():
    placed = PLACEMENTS["oob"]().fit(ProbabilityForest(3, random_state=0), X, Y, random_state=0)
    missing = np.flatnonzero(np.isnan(placed.model.oob_scores()))
    assert len(missing) > 10
    assert not set(missing) & set(placed.index)
    assert placed.notes[0].startswith(f"{len(missing)} of 150 training rows")
    many = np.random.default_rng(0).normal(size=(2000, 5))
    assert not set(missing) & set(placed.index[placed.reference(many)])
    assert np.isfinite(placed.score(many).scores).all()
    assert PLACEMENTS["oob"]().fit(ProbabilityForest(60, random_state=0), X, Y, random_state=0).notes == ()


def test_a_rows_answer_depends_on_its_values_and_the_seed_only():
    placed = PLACEMENTS["oob"]().fit(FEW_TREES, X, Y, random_state=5)
    alone = np.concatenate([placed.score(x[None]).scores for x in NEW])
    order = np.random.default_rng(0).permutation(len(NEW))
    assert np.array_equal(placed.score(NEW).scores, alone)
    assert np.array_equal(placed.score(NEW[order]).scores, alone[order])
    twice = np.vstack([NEW, NEW[:3]])
    assert np.array_equal(placed.reference(twice)[-3:], placed.reference(twice)[:3])
    assert np.array_equal(placed.reference(np.asfortranarray(NEW)), placed.reference(NEW))
    other = PLACEMENTS["oob"]().fit(FEW_TREES, X, Y, random_state=6)
    assert (other.reference(NEW) != placed.reference(NEW)).mean() > 0.8


def test_references_are_drawn_evenly():
    placed = PLACEMENTS["oob"]().fit(ProbabilityForest(20, random_state=0), X[:50], Y[:50], random_state=0)
    grid = np.stack(np.meshgrid(*[np.arange(10.0)] * 5), axis=-1).reshape(-1, 5)[:20_000]
    drawn = np.bincount(placed.reference(grid), minlength=len(placed.index))
    assert chisquare(drawn).pvalue > 1e-4


@pytest.mark.parametrize("preprocessing", [StandardScaler(), PCA(3), PCA(3, whiten=True)])
def test_preprocessing_that_rounds_by_batch_does_not_change_the_draw(preprocessing):
    """A matrix product of one row may differ in its last bit from that of many rows."""
    X, y = make_classification(300, 12, n_informative=5, random_state=0)
    rows = np.pi * X[200:]
    estimator = make_pipeline(preprocessing, FEW_TREES)
    placed = PLACEMENTS["oob"]().fit(estimator, np.pi * X[:200], y[:200], random_state=5)
    alone = np.concatenate([placed.reference(row[None]) for row in rows])
    assert np.array_equal(alone, placed.reference(rows))


@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(30, random_state=0),
        BaggingClassifier(ProbabilityTree(max_depth=3), 30, random_state=0),
        MODELS["tuned_forest"].build({"draws": 2, "n_estimators": 10}, 0),
        MODELS["curtailed_forest"].build({"n_estimators": 10}, 0),
    ],
)
def test_any_bagged_ensemble_will_do(ensemble):
    placed = PLACEMENTS["oob"]().fit(ensemble, X, Y, random_state=0)
    outcome = placed.predict(placed.calibrate(VennAbers()), placed.score(X))
    assert np.mean((outcome.p - Y) ** 2) < np.mean((Y.mean() - Y) ** 2)


def test_an_estimator_without_bagging_is_refused_before_it_is_fitted():
    with pytest.raises(InputError, match="LogisticRegression is not bagged.*random forest.*split.*cv"):
        PLACEMENTS["oob"]().fit(make_pipeline(StandardScaler(), LogisticRegression()), X, Y)


def test_one_tree_that_sees_everything_has_no_out_of_bag_objects():
    with pytest.raises(InputError, match=r"No row .*out of bag .*\b1 trees"):
        # A sample of 3000 draws from 6 rows holds all of them.
        PLACEMENTS["oob"]().fit(
            ProbabilityForest(1, max_samples=3000, random_state=0), X[:6], [0, 1, 0, 1, 0, 1]
        )


@pytest.mark.parametrize("calibrator", [Venn(), VennAbers()])
@pytest.mark.soak
def test_validity_by_simulation(calibrator):
    """mean p0 <= frequency <= mean p1 within sampling error, over many training sets."""
    rng = np.random.default_rng(0)
    lower, upper, observed = [], [], []
    for seed in range(150):
        x = rng.normal(size=(80, 2))
        y = (rng.random(80) < 1 / (1 + np.exp(-2 * x[:, 0] + 1))).astype(int)
        placed = PLACEMENTS["oob"]().fit(
            ProbabilityForest(12, min_samples_leaf=3, random_state=seed), x[:40], y[:40], random_state=seed
        )
        outcome = placed.predict(placed.calibrate(calibrator), placed.score(x[40:]))
        lower.append(outcome.p0.mean())
        upper.append(outcome.p1.mean())
        observed.append(y[40:].mean())
    difference = np.array(observed) - np.array(lower), np.array(upper) - np.array(observed)
    for gap in difference:
        assert gap.mean() > -3 * gap.std() / np.sqrt(len(gap))
    assert np.mean(upper) - np.mean(lower) < 0.2, (
        "the interval is narrow enough for the check to mean something"
    )

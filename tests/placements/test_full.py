"""Algorithm 1 by refitting, its crossings, its validity, and cancelling between rows."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from calib.calibrators import Venn, VennAbers, merge_pair
from calib.kernel.progress import Cancelled, Watch
from calib.models import ProbabilityTree
from calib.placements import PLACEMENTS

from .helpers import NEW, X, Y


def algorithm_1(estimator, X, y, x):
    """The pair by Vovk and Petej's Algorithm 1, word for word, with scikit-learn's isotonic regression."""
    pair = []
    for label in (0, 1):
        rows, labels = np.vstack([X, x]), np.append(y, label)
        scores = estimator.fit(rows, labels).predict_proba(rows)[:, 1]
        pair.append(IsotonicRegression().fit(scores, labels).predict(scores[-1:])[0])
    return pair


@pytest.mark.parametrize(
    "estimator", [GaussianNB(), ProbabilityTree(max_depth=3, min_samples_leaf=5, random_state=0)]
)
def test_full_venn_abers_by_definition(estimator):
    placed = PLACEMENTS["full"]().fit(estimator, X, Y)
    outcome = placed.predict(placed.calibrate(VennAbers()), placed.score(NEW))
    by_hand = np.array([algorithm_1(estimator, X, Y, x) for x in NEW])
    assert np.allclose(np.column_stack([outcome.p0, outcome.p1]), by_hand, atol=1e-12)
    assert np.allclose(outcome.p, merge_pair(by_hand[:, 0], by_hand[:, 1], "log"))


def test_transductive_venn_by_definition():
    placed = PLACEMENTS["full"]().fit(GaussianNB(), X, Y)
    outcome = placed.predict(placed.calibrate(Venn()), placed.score(NEW))
    for j, x in enumerate(NEW):
        for label, p in enumerate((outcome.p0[j], outcome.p1[j])):
            rows, labels = np.vstack([X, x]), np.append(Y, label)
            predicted = GaussianNB().fit(rows, labels).predict(rows)
            assert p == pytest.approx(labels[predicted == predicted[-1]].mean())


def test_the_pair_may_cross_and_the_interval_is_its_hull():
    tree = ProbabilityTree(max_depth=3, min_samples_leaf=5, random_state=0)
    rng = np.random.default_rng(0)
    placed = PLACEMENTS["full"]().fit(tree, X[:60], Y[:60])
    outcome = placed.predict(placed.calibrate(VennAbers()), placed.score(rng.normal(size=(200, 5)) * 2))
    crossed = outcome.p0 > outcome.p1
    assert 0 < crossed.sum() < 100
    assert np.array_equal(outcome.lower, np.minimum(outcome.p0, outcome.p1))
    assert ((outcome.lower <= outcome.p) & (outcome.p <= outcome.upper)).all()


def test_a_fully_grown_tree_says_nothing():
    placed = PLACEMENTS["full"]().fit(DecisionTreeClassifier(random_state=0), X, Y)
    outcome = placed.predict(placed.calibrate(VennAbers()), placed.score(NEW[:5]))
    assert outcome.p0.tolist() == [0] * 5
    assert outcome.p1.tolist() == [1] * 5
    assert "DecisionTreeClassifier separates the classes" in placed.notes[0]
    assert PLACEMENTS["full"]().fit(GaussianNB(), X, Y).notes == ()


def test_progress_and_cancelling_between_objects():
    placed = PLACEMENTS["full"]().fit(GaussianNB(), X, Y)
    shares = []
    placed.score(NEW, Watch(lambda share, what: shares.append(share)))
    assert shares == sorted(shares)
    assert shares[-1] == 1
    stopped = Watch(lambda share, what: stopped.cancel.set() if share > 0.3 else None)
    with pytest.raises(Cancelled):
        placed.score(NEW, stopped)


@pytest.mark.parametrize("calibrator", [Venn(), VennAbers()])
@pytest.mark.soak
def test_validity_theorem(calibrator):
    """E(Y − P_Y) = 0, exactly: the pair's selected end over many training sets, one new object each."""
    rng = np.random.default_rng(1)
    lower, upper, observed, gaps = [], [], [], []
    for _ in range(600):
        x = rng.normal(size=(25, 1))
        y = (rng.random(25) < 1 / (1 + np.exp(-3 * x[:, 0] + 1))).astype(int)
        if y[:24].sum() in (0, 1, 23, 24):
            continue
        placed = PLACEMENTS["full"]().fit(GaussianNB(), x[:24], y[:24])
        outcome = placed.predict(placed.calibrate(calibrator), placed.score(x[24:]))
        lower.append(outcome.lower[0])
        upper.append(outcome.upper[0])
        observed.append(y[24])
        gaps.append(y[24] - (outcome.p1[0] if y[24] else outcome.p0[0]))
    assert len(gaps) > 400
    error = np.std(observed) / np.sqrt(len(observed))
    assert np.mean(lower) <= np.mean(observed) + 3 * error
    assert np.mean(observed) <= np.mean(upper) + 3 * error
    # Training sets with fewer than two of a class are thrown away, which disturbs exchangeability a little.
    assert abs(np.mean(gaps)) < 4 * np.std(gaps) / np.sqrt(len(gaps)) + 0.01

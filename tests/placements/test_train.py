"""Training scores: DIR and SVA by composition, and why SVA is not valid."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from calib.calibrators import Isotonic, VennAbers
from calib.placements import PLACEMENTS

from .helpers import NEW, X, Y


def test_simplified_venn_abers_and_direct_isotonic_by_hand():
    placed = PLACEMENTS["train"]().fit(GaussianNB(), X, Y)
    model = GaussianNB().fit(X, Y)
    scores, new = model.predict_proba(X)[:, 1], model.predict_proba(NEW)[:, 1]
    tests = placed.score(NEW)
    sva = placed.predict(placed.calibrate(VennAbers()), tests)
    assert np.array_equal(np.column_stack([sva.p0, sva.p1]), VennAbers().fit(scores, Y).predict_interval(new))
    nearest = Isotonic(between="nearest")
    direct = placed.predict(placed.calibrate(nearest), tests)
    assert np.array_equal(direct.p, Isotonic(between="nearest").fit(scores, Y).predict(new))


class Remembers(ClassifierMixin, BaseEstimator):
    """The scoring function of proposition 2: 0 or 1 by sign on training objects, 2 on all others."""

    def fit(self, X, y):
        self.seen_, self.classes_ = np.sort(X[:, 0]), np.unique(y)
        return self

    def decision_function(self, X):
        known = np.isin(X[:, 0], self.seen_)
        return np.where(known, (X[:, 0] > 0).astype(float), 2.0)


def proposition_2(n, rng):
    x = rng.uniform(-1, 1, n)
    return x[:, None], (rng.random(n) < np.where(x > 0, 2 / 3, 1 / 3)).astype(int)


def test_the_counterexample_to_simplified_venn_abers():
    """About [2/3, 1] while the frequency is 1/2; the full predictor of the same scoring function is right."""
    rng = np.random.default_rng(0)
    x, y = proposition_2(3000, rng)
    new, labels = proposition_2(200, rng)
    placed = PLACEMENTS["train"]().fit(Remembers(), x, y)
    sva = placed.predict(placed.calibrate(VennAbers()), placed.score(new))
    assert np.allclose(sva.p0, 2 / 3, atol=0.04)
    assert np.allclose(sva.p1, 1)
    assert abs(labels.mean() - 1 / 2) < 0.1

    placed = PLACEMENTS["full"]().fit(Remembers(), x, y)
    full = placed.predict(placed.calibrate(VennAbers()), placed.score(new))
    expected = np.where(new[:, 0] > 0, 2 / 3, 1 / 3)
    assert np.allclose(full.p0, expected, atol=0.04)
    assert np.allclose(full.p1, expected, atol=0.04)
